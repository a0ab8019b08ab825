/* SPDX-License-Identifier: MIT */
/* contract.h - an image contracted, block by block, to a small graph of the same minimax levels.
 *
 * Kruskal's algorithm runs inside each block.  A component is open once an edge that leaves the
 * block, and is no heavier than the current level, starts from it; the others are closed.  A
 * closed component's lightest way out lies in the block, so that it is hooked to its neighbour for
 * good (King, 1997: every component remembers the level it was hooked by, and the minimax level of
 * two pixels is the largest on the path between them).  Where two open ones meet, nobody can tell
 * yet: that is a link between two vertices of the small graph.  Its other links are the edges
 * between blocks.  It has one vertex for each open component, so never more than blocks have
 * pixels on their rings.
 *
 * Pixels are hooked along their lightest edges first (lightest.h), and Kruskal's algorithm begins
 * with the components that this makes: the block's nodes.
 *
 * The hooks of a block's nodes are numbered as they came, by ascending level, and a node has the
 * number of its hook; so whoever climbs from a node meets ascending numbers, and where two climbs
 * meet is found by moving the lower one.  Roots have the highest numbers: first those of closed
 * components, then the vertices, from the last down.  No climb is longer than 15 hooks. */
#ifndef QFZ_CPU_CONTRACT_H
#define QFZ_CPU_CONTRACT_H

#include "cpu/block.h"
#include "cpu/graph.h"

typedef struct qfz_contracted_block {
    uint32_t px;               /* its first pixel, counted block after block */
    uint32_t vertex;           /* its first vertex */
    uint32_t link;             /* its first link: across its seams, then inside */
    uint32_t n_seam, n_inside; /* links */
    uint32_t n_px, n_nodes, n_hooks, n_open;
    int64_t packed;  /* where what stays of it begins */
    int level_bytes; /* of each level there */
} qfz_contracted_block;

/* And invalid pixels are one. */
enum { QFZ_BLOCK_MAX_NODES = QFZ_CPU_BLOCK_PX + 1 };

/* Where the climb from a pixel on a block's ring ends: its vertex, QFZ_NONE if its component
 * reaches no other block, and the last level on the way, 0 if there is none. */
typedef struct qfz_gate {
    uint32_t vertex, level;
} qfz_gate;

typedef struct qfz_contraction {
    const qfz_rule *rule;
    int n_threads; /* the most */
    qfz_cpu_blocks layout;
    qfz_contracted_block *blocks;

    /* What climbs need: each thread's, and of the block that it is at.  stays: all blocks are
     * there, packed. */
    bool stays;
    uint32_t *first;  /* level of each pixel's hook, 0: the pixel is not hooked; see lightest.h */
    uint16_t *number; /* of each pixel's node, row by row */
    uint16_t *up;     /* of nodes by number: what it is hooked to; itself at a root */
    uint32_t *level;  /* of nodes' hooks by number */
    unsigned char *packed;
    int64_t packed_bytes, packed_room;

    qfz_gate *gate; /* of a block's ring, as many as it may have vertices, beginning alike */

    int64_t max_vertices;         /* of the largest image */
    uint32_t n_vertices;          /* numbers given; some stay unused */
    uint32_t *u, *v, *link_level; /* links; some rooms stay empty */
    int64_t link_room, ghost;     /* the first room for links from outside */
    qfz_graph graph;              /* of these links, once qfz_contract() is through */
    qfz_forest forest;

    void *scratch; /* for each thread */
} qfz_contraction;

/* The vertex of a block's node by number, QFZ_NONE if it is none. */
static inline uint32_t qfz_contracted_vertex(const qfz_contracted_block *block, uint32_t number)
{
    const uint32_t from_last = block->n_nodes - 1 - number;
    return from_last < block->n_open ? block->vertex + from_last : QFZ_NONE;
}

/* Memory for images up to h x w, in blocks of the given side; rule is borrowed.  stays: what a
 * climb needs is there once the image is contracted. */
qfz_status qfz_contraction_init(qfz_contraction *c, const qfz_rule *rule, int64_t h, int64_t w,
                                int64_t side, bool stays, int n_threads, qfz_error *err);
void qfz_contraction_fini(qfz_contraction *c);

/* As many bytes as qfz_contraction_init() takes for one thread, and what of one made for h x w is
 * in use: the rest of the room for what is packed has not been touched. */
int64_t qfz_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w, bool stays);
int64_t qfz_contraction_used_bytes(const qfz_contraction *c, int64_t h, int64_t w);

/* Two contractions of the same size exchange what they only work in: what they have found stays. */
void qfz_contraction_swap_rooms(qfz_contraction *a, qfz_contraction *b);

/* How many threads the image's blocks are worth. */
static inline int qfz_contraction_threads(const qfz_contraction *c)
{
    const int64_t n_blocks = c->layout.n_y * c->layout.n_x;
    return n_blocks < c->n_threads ? (int)n_blocks : c->n_threads;
}

/* Contracts an image; the graph is not sorted yet.  open_ring: every pixel on the image's ring is
 * to be found at a vertex by level 0. */
void qfz_contract(qfz_contraction *c, const qfz_image *image, bool open_ring);

/* Adds links between ring pixels of the image, whose ring must be open. */
void qfz_contraction_add_external(qfz_contraction *c, const qfz_links *external);

/* Of a block that stays, what climbs need; the thread's until it asks for another. */
typedef struct qfz_unpacked_block {
    const uint32_t *first;
    const uint16_t *number, *up;
    const uint32_t *level; /* of hooks */
} qfz_unpacked_block;

qfz_unpacked_block qfz_contraction_unpack(const qfz_contraction *c,
                                          const qfz_contracted_block *block);

/* Levels that fit 16 bits; QFZ_NONE becomes UINT16_MAX. */
void qfz_levels_narrow(const uint32_t *levels, int64_t n, uint16_t *narrow);

/* The gate of a pixel on the ring of its block. */
qfz_gate qfz_contraction_gate(const qfz_contraction *c, int64_t y, int64_t x);

/* Gives each vertex one of the ring's pixels, if it has any: mark[vertex] = its number, QFZ_NONE.
 * The others of its pixels are as near as level 0, which links, appended, tell. */
void qfz_contraction_mark_ring(const qfz_contraction *c, const uint8_t *ring_valid, uint32_t *mark,
                               qfz_links *links);

/* The links between ring pixels that stand for the image; its ring must be open.  The graph is
 * sorted and joined.  mark: scratch for n_vertices. */
void qfz_contraction_summarise(qfz_contraction *c, const uint8_t *ring_valid, uint32_t *mark,
                               qfz_links *links);

/* Of the thread that asks, while nobody contracts: 4 * QFZ_CPU_BLOCK_PX words, at least. */
void *qfz_contraction_scratch(const qfz_contraction *c);

/* levels as in engine.h, of the edges inside the image, all of which stays.  The forest must have
 * been grown. */
void qfz_contraction_saliency(const qfz_contraction *c, int level_bytes, void *levels);

#endif
