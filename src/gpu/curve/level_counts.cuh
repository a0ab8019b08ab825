/* SPDX-License-Identifier: MIT */
/* level_counts.cuh - how often each level occurs among the joins of a forest (forest/boruvka.cuh).
 *
 * Take the forest as a tree of pixels: a hook joins the pixel that stands for its component to the
 * pixel that stands for the other one.  The tree has n - 1 edges for n connected pixels, and the
 * greatest level on the path between any two is their minimax level.  The number of its edges of
 * levels up to l therefore is n less the number of l-components, which does not depend on the tree.
 * So the levels of the hooks, each as often as it occurs, are those of any minimum spanning forest,
 * whatever order broke ties.
 *
 * The same holds for the links of a boundary summary, which are a tree of the ring pixels with the
 * minimax levels of the whole tile, on the CPU engine as here: their levels are those of any such
 * tree.  Level by level there are no more of them than joins.  The difference are the joins that
 * are settled in the tile.
 *
 * The hooks are those of the components of blocks and of the vertices of the graph of all blocks,
 * except for roots; and in each component of the first round the tops of all pixels but one, which
 * has the least top.  If the component was active, this is one of the two pixels that chose the
 * same edge; if it waited from the first round on, it is the pixel that chose no edge, whose top
 * is 0. */
#pragma once

#include "gpu/forest/boruvka.cuh"

/* Adds the number of joins of each level to d_bins; there is a bin for each level that occurs. */
qfz_status qfz_gpu_levels_count(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                                unsigned long long *d_bins);

/* Writes the levels of all joins to d_levels, which has room for one for each pixel, in any order,
 * and their number to *d_n. */
qfz_status qfz_gpu_levels_list(qfz_gpu *gpu, const qfz_gpu_forest *forest, uint32_t *d_levels,
                               uint32_t *d_n);

/* d_n[i] = the number of joins whose level is above limit[i]. */
enum { QFZ_LEVEL_LIMITS = 2 };
qfz_status qfz_gpu_levels_above(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                                const uint32_t limit[QFZ_LEVEL_LIMITS], uint32_t *d_n);

/* Equal levels. */
typedef struct qfz_gpu_level_run {
    uint32_t level, n;
} qfz_gpu_level_run;

/* From levels in ascending order: the runs that begin at first .. end - 1, less the n_links levels
 * of links, which ascend as well.  Writes the runs that are left to d_runs, which has room for
 * end - first of them, in any order, and their number to *d_n. */
qfz_status qfz_gpu_level_runs(qfz_gpu *gpu, const uint32_t *d_levels, uint32_t n, uint32_t first,
                              uint32_t end, const uint32_t *d_links, uint32_t n_links,
                              qfz_gpu_level_run *d_runs, uint32_t *d_n);
