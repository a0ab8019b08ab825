/* SPDX-License-Identifier: MIT */
/* contract.h - an image contracted, block by block, to a small graph with the same minimax levels.
 *
 * Kruskal's algorithm runs inside each block.  A component is open once an edge that leaves the
 * block, no heavier than the current level, starts from it; all others are closed.  The lightest
 * edge out of a closed component lies in the block, so the component is hooked to its neighbour for
 * good (King, 1997: every component stores the level of its hook, and the minimax level of two
 * pixels is the largest level on the path between them).  Where two open components meet, the block
 * alone cannot decide: their edge becomes a link between two vertices of the small graph.  The
 * other links of that graph are the edges between blocks.  The graph has one vertex for each open
 * component, so never more than the pixels on the rings of the blocks.
 *
 * Pixels are first hooked along their lightest edges (lightest.h); Kruskal's algorithm starts with
 * the resulting components, the nodes of the block.  Where many edges have level 0, the nodes are
 * what these join.
 *
 * Hooks are numbered in order of creation, by ascending level, and a node has the number of its
 * hook.  So a climb from a node meets ascending numbers, and two climbs meet if the one with the
 * lower number always moves.  Roots have the highest numbers: first the roots of closed components,
 * then the vertices, from the last one down.  No climb is longer than 15 hooks. */
#ifndef QFZ_CPU_CONTRACT_H
#define QFZ_CPU_CONTRACT_H

#include "cpu/block.h"
#include "cpu/graph.h"

typedef struct qfz_contracted_block {
    uint32_t px;               /* its first pixel, counted block after block */
    uint32_t vertex;           /* its first vertex */
    uint32_t link;             /* its first link; edges across its seams precede links inside */
    uint32_t n_seam, n_inside; /* links */
    uint32_t n_px, n_nodes, n_hooks, n_open;
    int64_t packed;  /* offset of its packed data */
    int level_bytes; /* bytes of a packed level */
} qfz_contracted_block;

/* All invalid pixels together are one more node. */
enum { QFZ_BLOCK_MAX_NODES = QFZ_CPU_BLOCK_PX + 1 };

/* The end of the climb from a pixel on a block's ring: its vertex, QFZ_NONE if its component
 * reaches no other block; and the level of the last hook, 0 if there is none. */
typedef struct qfz_gate {
    uint32_t vertex, level;
} qfz_gate;

typedef struct qfz_contraction {
    const qfz_rule *rule;
    int n_threads; /* upper bound */
    qfz_cpu_blocks layout;
    qfz_contracted_block *blocks;

    /* What climbs need, for the present block of each thread.  stays: the same of all blocks is
     * stored, packed. */
    bool stays;
    uint32_t *first;  /* level of each pixel's hook; 0: the pixel is not hooked; see lightest.h */
    uint16_t *number; /* of each pixel's node, row by row */
    uint16_t *up;     /* by node number: the node that a node is hooked to; itself at a root */
    uint32_t *level;  /* by node number: level of the hook */
    unsigned char *packed;
    int64_t packed_bytes, packed_room;

    qfz_gate *gate; /* of the ring pixels of each block, from the block's first vertex on */

    int64_t max_vertices;              /* of the largest image */
    uint32_t n_vertices;               /* vertex numbers assigned; some have no vertex */
    uint32_t *u, *v, *link_level;      /* links; some places stay empty */
    int64_t link_room, first_external; /* first_external: the first place for external links */
    qfz_graph graph;                   /* of these links, after qfz_contract() */
    qfz_forest forest;

    void *scratch; /* working memory of each thread */

    qfz_histogram
        *settled; /* borrowed, of each thread: the hooks of its blocks; NULL: not counted */
} qfz_contraction;

/* The vertex of a block's node, by node number; QFZ_NONE if the node is no vertex. */
static inline uint32_t qfz_contracted_vertex(const qfz_contracted_block *block, uint32_t number)
{
    const uint32_t from_last = block->n_nodes - 1 - number;
    return from_last < block->n_open ? block->vertex + from_last : QFZ_NONE;
}

/* Allocates memory for images up to h x w, in blocks of the given side; rule is borrowed.  stays:
 * what climbs need is stored when the image is contracted. */
qfz_status qfz_contraction_init(qfz_contraction *c, const qfz_rule *rule, int64_t h, int64_t w,
                                int64_t side, bool stays, int n_threads, qfz_error *err);
void qfz_contraction_fini(qfz_contraction *c);

/* The bytes that qfz_contraction_init() allocates for one thread; and the bytes in use of a
 * contraction made for h x w, without the unused rest of the memory for packed blocks. */
int64_t qfz_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w, bool stays);
int64_t qfz_contraction_used_bytes(const qfz_contraction *c, int64_t h, int64_t w);

/* Two contractions of the same size exchange their working memory; results stay. */
void qfz_contraction_swap_rooms(qfz_contraction *a, qfz_contraction *b);

/* The number of threads that the image's blocks can use. */
static inline int qfz_contraction_threads(const qfz_contraction *c)
{
    const int64_t n_blocks = c->layout.n_y * c->layout.n_x;
    return n_blocks < c->n_threads ? (int)n_blocks : c->n_threads;
}

/* Contracts an image; the graph is not sorted.  open_ring: every valid pixel on the image's ring
 * reaches a vertex at level 0. */
void qfz_contract(qfz_contraction *c, const qfz_image *image, bool open_ring);

/* Adds external links between ring pixels of the image, whose ring must be open. */
void qfz_contraction_add_external(qfz_contraction *c, const qfz_links *external);

/* What climbs need of a stored block; overwritten by the thread's next call. */
typedef struct qfz_unpacked_block {
    const uint32_t *first;
    const uint16_t *number, *up;
    const uint32_t *level; /* by number of the hook */
} qfz_unpacked_block;

qfz_unpacked_block qfz_contraction_unpack(const qfz_contraction *c,
                                          const qfz_contracted_block *block);

/* Copies levels that fit 16 bits; QFZ_NONE becomes UINT16_MAX. */
void qfz_levels_narrow(const uint32_t *levels, int64_t n, uint16_t *narrow);

/* The gate of a pixel on the ring of its block. */
qfz_gate qfz_contraction_gate(const qfz_contraction *c, int64_t y, int64_t x);

/* Assigns one of the ring's pixels to each vertex that has any: mark[vertex] = number of the ring
 * pixel, or QFZ_NONE.  Links of level 0, appended, connect the vertex's other ring pixels to that
 * one. */
void qfz_contraction_mark_ring(const qfz_contraction *c, const uint8_t *ring_valid, uint32_t *mark,
                               qfz_links *links);

/* Fills links with the links between ring pixels that represent the image; its ring must be open.
 * Sorts the graph and joins its forest.  mark: working memory for n_vertices.  With c->settled, the
 * first histogram also counts the joins of the graph that become no link.  Returns the largest
 * level of those joins. */
uint32_t qfz_contraction_summarise(qfz_contraction *c, const uint8_t *ring_valid, uint32_t *mark,
                                   qfz_links *links);

/* qfz_level_bytes() of the largest level of the hooks inside blocks, which must be stored. */
int qfz_contraction_level_bytes(const qfz_contraction *c);

/* Counts all joins of the graph of an image whose ring is not open. */
void qfz_contraction_count_joins(qfz_contraction *c, uint32_t *mark);

/* Working memory of the calling thread, at least 8 * QFZ_CPU_BLOCK_PX words; not while an image is
 * being contracted. */
void *qfz_contraction_scratch(const qfz_contraction *c);

/* minimax_levels.c: levels of the edges inside the image, as in engine.h; the contraction must have
 * stored all blocks, and its forest must have been grown. */
void qfz_contraction_saliency(const qfz_contraction *c, int level_bytes, void *levels);

#endif
