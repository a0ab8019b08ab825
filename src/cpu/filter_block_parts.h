/* SPDX-License-Identifier: MIT */
/* filter_block_parts.h - the state of one block during the area filter, shared by filter_block.c,
 * filter_nodes.c, where a block begins, and filter_late.c.
 *
 * Pixels are hooked along their first edges (lightest.h), and the edges that are left join nodes: a
 * hook of a pixel that weighs less than N has filtered level 0, since the first edge that leaves a
 * light component has.  A node begins as the two pixels that share a hook, or as a pixel that is
 * not hooked.  The other pixels of its tree of hooks are late: each joins at the place of its own
 * hook in the order of edges.  All other edges of a late pixel come after that, so for the
 * connections between nodes it is a part of its node from the beginning.  Only weights depend on
 * when it joins, and few weights have to be known exactly: then the late pixels of a component are
 * counted.  So they are not sorted. */
#ifndef QFZ_CPU_FILTER_BLOCK_PARTS_H
#define QFZ_CPU_FILTER_BLOCK_PARTS_H

#include "cpu/filter_block.h"
#include "cpu/filter_order.h"
#include "cpu/lightest.h"

enum {
    QFZ_FILTER_MAX_RING = 4 * QFZ_CPU_BLOCK_SIDE,
    QFZ_FILTER_MAX_NODES = QFZ_CPU_BLOCK_PX + 1,
    QFZ_FILTER_CLOSED = UINT16_MAX /* in place of a vertex */
};

/* In the bits of a pixel, its edges of filtered level 0 come first, then those of the forest that
 * keep their level. */
enum { QFZ_FILTER_KEPT_SHIFT = QFZ_MAX_DIRS, QFZ_FILTER_ZEROED_BITS = (1 << QFZ_MAX_DIRS) - 1 };

/* The weight of a component as far as its late pixels have been counted, and with all of them; at
 * most N. */
typedef struct qfz_filter_bounds {
    uint64_t least, most;
} qfz_filter_bounds;

/* The nodes of a component are a ring.  Those late pixels of a node that have not been counted are
 * a list: the number of a pixel is its place and 1, and 0 is the end. */
typedef struct qfz_filter_late {
    uint16_t node[QFZ_FILTER_MAX_NODES];  /* the next one */
    uint16_t first[QFZ_FILTER_MAX_NODES]; /* of a node */
    uint16_t next[QFZ_FILTER_MAX_NODES];  /* of a pixel, by its number */
} qfz_filter_late;

typedef struct qfz_filter_scratch {
    uint16_t set[QFZ_FILTER_MAX_NODES]; /* as in spanning.h */
    /* Of the component with the node as its root: the weight, and the number of the vertex. */
    qfz_filter_bounds weight[QFZ_FILTER_MAX_NODES];
    uint16_t vertex[QFZ_FILTER_MAX_NODES];
    qfz_filter_late late;

    /* By pixel: the node, the level of the hook, and the bits of edges, above. */
    uint16_t node[QFZ_CPU_BLOCK_PX];
    uint32_t level[QFZ_CPU_BLOCK_PX];
    uint8_t joined[QFZ_CPU_BLOCK_PX];
    qfz_key_hooks hooks;
    qfz_lightest lightest;

    uint64_t open[QFZ_FILTER_MAX_RING];
    qfz_filter_order order;
    qfz_block_edges *edges;
} qfz_filter_scratch;

/* The block at work. */
typedef struct qfz_filter_view {
    const qfz_filter_graph *graph;
    qfz_filter_patch *patch;
    qfz_filter_block *block;
    qfz_box box;
    uint64_t least;    /* N */
    bool merges_heavy; /* all components that weigh enough are one */
    bool all_heavy;    /* each pixel weighs enough */
    qfz_filter_scratch *s;
    uint32_t first_vertex;
} qfz_filter_view;

/* True if the component is the same as all others that weigh enough. */
static inline bool qfz_filter_is_heavy(const qfz_filter_view *b, uint32_t root)
{
    return b->merges_heavy && b->s->weight[root].least == b->least;
}

static inline uint32_t qfz_filter_vertex(const qfz_filter_view *b, uint32_t root)
{
    return qfz_filter_is_heavy(b, root) ? QFZ_FILTER_HEAVY : b->first_vertex + b->s->vertex[root];
}

/* The weight of a pixel of row y of the block. */
static inline uint64_t qfz_filter_mass(const qfz_filter_view *b, uint32_t y)
{
    const uint64_t mass = b->graph->row_mass ? b->graph->row_mass[b->box.y0 + y] : 1;
    return mass < b->least ? mass : b->least;
}

/* filter_block.c: the component becomes a vertex, since an edge that leaves the block starts from
 * it.
 */
void qfz_filter_open(qfz_filter_view *b, uint32_t root);

/* filter_block.c: sets the gate of a pixel on the block's ring; its component is a vertex. */
void qfz_filter_set_gate(const qfz_filter_view *b, uint32_t place, uint32_t root);

/* filter_nodes.c: finds the block's edges and nodes, opens components on an open ring of the tile,
 * and adds the loops of the block's ring to the edges. */
void qfz_filter_nodes_find(qfz_filter_view *b);

/* filter_late.c: counts the late pixels of a closed component whose hooks precede an edge or a
 * loop, until the component weighs enough. */
void qfz_filter_late_count(const qfz_filter_view *b, uint32_t root, uint64_t record);

/* The late pixels of a component that has met, or is, an open one: of those that have not been
 * counted, each becomes a mass event of a vertex; and so does a single pixel. */
void qfz_filter_late_give(const qfz_filter_view *b, uint32_t root, uint32_t vertex);
void qfz_filter_late_give_one(const qfz_filter_view *b, uint32_t px, uint32_t vertex);

#endif
