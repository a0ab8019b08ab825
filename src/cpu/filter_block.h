/* SPDX-License-Identifier: MIT */
/* filter_block.h - the area filter (filter.h) inside one block of a tile.
 *
 * Kruskal's algorithm runs inside each block.  A component is closed until an edge that leaves the
 * block, no heavier than the present level, starts from it; from then on it is open, and a vertex
 * of a small graph.  The component of Kruskal's algorithm in the whole raster is the same as long
 * as the component is closed, and may be larger if the component is open.  So an edge out of a
 * closed component is decided in the block; an open component takes in closed ones by mass events;
 * and where two open components meet, their edge becomes a link of the small graph.  Edges across
 * seams are the graph's other links.  The graph has at most one vertex for each pixel on the ring
 * of a block.
 *
 * Unless the rule wants the forest, all components that weigh at least N are the same to the
 * others, and become one: no edge between two of them has filtered level 0. */
#ifndef QFZ_CPU_FILTER_BLOCK_H
#define QFZ_CPU_FILTER_BLOCK_H

#include "cpu/block.h"
#include "core/filter.h"

typedef struct qfz_filter_block {
    uint32_t first; /* its first vertex, and its first gate */
    uint32_t seam;  /* its first edge across its seams */
    uint32_t n_seam;
} qfz_filter_block;

/* The small graph of a tile, whose blocks are processed in any order. */
typedef struct qfz_filter_graph {
    qfz_rule rule; /* without alpha */
    qfz_cpu_blocks layout;
    const qfz_image *tile;
    qfz_box box;              /* of the tile in the raster */
    const uint64_t *row_mass; /* NULL: 1 */
    bool is_open_ring; /* each valid pixel on the tile's ring is a vertex from the start on */
    uint8_t *zeroed;   /* NULL: not wanted */
    uint8_t *forest;   /* beside zeroed, edges that keep a level above 0; NULL: not wanted */

    qfz_filter_block *blocks;
    qfz_seam_edge *seams;
    uint32_t *gate;          /* by ring pixel of each block: its vertex, if it has one */
    uint32_t heavy;          /* the vertex of all components that weigh at least N */
    uint64_t *weight;        /* of vertices */
    qfz_filter_items *items; /* enough room */
} qfz_filter_graph;

/* The working memory of one thread. */
size_t qfz_filter_block_bytes(int connectivity);

/* Processes block i: items between its vertices, its seam, gates, weights, and the bits of its
 * edges of filtered level 0 and of those of the forest. */
void qfz_filter_block_join(const qfz_filter_graph *graph, int64_t i, void *scratch);

/* Adds the edges across the block's seams; all blocks have been processed. */
void qfz_filter_block_add_seam(const qfz_filter_graph *graph, int64_t i, void *scratch);

/* The gate of a pixel on the ring of its block. */
uint32_t qfz_filter_gate(const qfz_filter_graph *graph, int64_t y, int64_t x);

#endif
