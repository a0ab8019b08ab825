/* SPDX-License-Identifier: MIT */
/* filter_patch.h - the area filter (filter.h) inside a patch, a square of some blocks of a tile
 * (filter_block.h).
 *
 * What the blocks leave undecided is a small graph, whose vertices are their open components.
 * Kruskal's algorithm runs once more, in the patch's small graph: its links are those of the blocks
 * and the edges across seams inside the patch.  A component is open if one of its vertices has an
 * edge that may leave the patch; as in a block, all that concerns closed components is decided, and
 * open ones are the vertices of a small graph of the whole tile.  A patch's graph fits the
 * second-level cache, and the patches are shared out among the threads; the tile's graph, which one
 * thread processes, has vertices for pixels at the edges of patches only. */
#ifndef QFZ_CPU_FILTER_PATCH_H
#define QFZ_CPU_FILTER_PATCH_H

#include "cpu/filter_block.h"

/* Blocks along the side of a patch, at most. */
enum { QFZ_FILTER_PATCH_BLOCKS = 4 };

/* Upper bounds of what a patch leaves to the tile's graph. */
int64_t qfz_filter_patch_max_vertices(qfz_box patch);
int64_t qfz_filter_patch_max_items(qfz_box patch, uint64_t min_mass);

/* Items on the way to the tile's graph. */
typedef struct qfz_filter_buffer qfz_filter_buffer;

/* The working memory of one thread. */
typedef struct qfz_filter_patch_scratch {
    qfz_filter_patch patch;
    uint32_t *up;    /* by vertex: its set */
    uint32_t *outer; /* by vertex: the vertex of the tile's graph; QFZ_NONE: closed */
    qfz_filter_buffer *buffer;
    void *block;
} qfz_filter_patch_scratch;

/* For all patches of the graph and of smaller ones; and its bytes. */
qfz_status qfz_filter_patch_scratch_init(qfz_filter_patch_scratch *s, const qfz_filter_graph *graph,
                                         qfz_error *err);
void qfz_filter_patch_scratch_fini(qfz_filter_patch_scratch *s);
int64_t qfz_filter_patch_scratch_bytes(const qfz_filter_graph *graph);

/* Processes patch i and its blocks: vertices and items of the tile's graph, and the bits that are
 * certain. */
void qfz_filter_patch_join(const qfz_filter_graph *graph, int64_t i, qfz_filter_patch_scratch *s);

/* Adds the edges across the seams of patch i to the tile's graph; all patches have been processed.
 */
void qfz_filter_patch_add_crossing(const qfz_filter_graph *graph, int64_t i,
                                   qfz_filter_patch_scratch *s);

/* The gate of a pixel on the ring of its block. */
uint32_t qfz_filter_gate(const qfz_filter_graph *graph, int64_t y, int64_t x);

/* Sets the bit of an edge: found is ZEROED or KEPT (filter.h). */
void qfz_filter_set_bit(const qfz_filter_graph *graph, uint64_t position, int found);

#endif
