/* SPDX-License-Identifier: MIT */
/* filter_block.h - the area filter (filter.h) inside one block of a tile.
 *
 * Kruskal's algorithm runs inside each block.  A component is closed until an edge that leaves the
 * block, no heavier than the present level, starts from it; from then on it is open, and a vertex
 * of a small graph.  The component of Kruskal's algorithm in the whole raster is the same as long
 * as the component is closed, and may be larger if the component is open.  So an edge out of a
 * closed component is decided in the block; an open component takes in closed ones by mass events;
 * and where two open components meet, their edge becomes a link of the small graph of a patch of
 * blocks (filter_patch.h).
 *
 * Unless the rule wants the forest, all components that weigh at least N are the same to the
 * others, and become one: no edge between two of them has filtered level 0. */
#ifndef QFZ_CPU_FILTER_BLOCK_H
#define QFZ_CPU_FILTER_BLOCK_H

#include "cpu/block.h"
#include "core/filter.h"

typedef struct qfz_filter_block {
    uint32_t first; /* its first gate */
    uint32_t seam;  /* its first edge across its seams */
    uint32_t n_seam;
} qfz_filter_block;

/* A tile, whose patches are processed in any order. */
typedef struct qfz_filter_graph {
    qfz_rule rule;         /* without alpha */
    qfz_cpu_blocks layout; /* blocks, and patches as blocks of a larger side */
    qfz_cpu_blocks patches;
    const qfz_image *tile;
    qfz_box box;              /* of the tile in the raster */
    const uint64_t *row_mass; /* NULL: 1 */
    bool is_open_ring; /* each valid pixel on the tile's ring is a vertex from the start on */
    uint8_t *zeroed;   /* NULL: not wanted */
    uint8_t *forest;   /* beside zeroed, edges that keep a level above 0; NULL: not wanted */

    qfz_filter_block *blocks;
    qfz_seam_edge *seams;
    uint32_t *gate; /* by ring pixel of each block: its vertex, if it has one: of the patch, and
                       once the patch has been processed, if the pixel lies at the patch's edge, of
                       the tile */
    /* The small graph of the tile: vertex 0 is heavy, as in a patch. */
    qfz_filter_items *items; /* enough room */
    uint64_t *weight;
    uint32_t *n_vertices;
} qfz_filter_graph;

/* The vertex of all components that weigh at least N. */
enum { QFZ_FILTER_HEAVY = 0 };

/* The small graph of one patch of blocks. */
typedef struct qfz_filter_patch {
    qfz_box box;            /* in the tile */
    qfz_box inner;          /* its pixels that no edge connects to another patch */
    qfz_filter_items items; /* enough room */
    uint64_t *weight;       /* of vertices */
    uint32_t n_vertices;
    uint32_t *edge_gates; /* the gates that pixels outside `inner` have */
    uint32_t n_edge_gates;
} qfz_filter_patch;

/* The working memory of one thread. */
size_t qfz_filter_block_bytes(int connectivity);

/* Processes block i of the patch: items between its vertices, its seam, gates, weights, and the
 * bits of its edges of filtered level 0 and of those of the forest. */
void qfz_filter_block_join(const qfz_filter_graph *graph, qfz_filter_patch *patch, int64_t i,
                           void *scratch);

#endif
