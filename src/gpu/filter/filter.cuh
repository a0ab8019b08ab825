/* SPDX-License-Identifier: MIT */
/* filter.cuh - the area filter (core/filter.h) of a tile in device memory: the edges of filtered
 * level 0, and the small graph of the tile's ring.
 *
 * A component is light while it weighs less than N.  The first edge out of a light component, in
 * the order of (level, position), is in the minimum spanning forest, and its filtered level is 0.
 * In a round, every light component finds its first edge; it joins over this edge
 *
 *   a component that weighs N,
 *   another light one that chose the same edge,
 *   or a light one that itself joins, by this rule, one that weighs N in this round; else it waits.
 *
 * So every light component is exactly a component of Kruskal's algorithm, and its weight is
 * right.  Edges between two components that weigh N are never looked at: their level stays.
 *
 * In a tile that is a part of the raster, each valid pixel of the ring is open: more may belong to
 * its component than the tile shows.  An open component makes no choice.  A light component that
 * joins an open one is a mass event of that ring pixel.  When no light component is left, edges
 * between two open components, mass events, and the first edge of each open component to one that
 * weighs N are the graph of the ring, on which core/filter.h finds the rest. */
#ifndef QFZ_GPU_FILTER_CUH
#define QFZ_GPU_FILTER_CUH

#include "gpu/device/image.cuh"

/* An edge between the components of two ring pixels, or a mass event of ring pixel u, whose v is
 * QFZ_NONE (core/filter.h). */
typedef struct qfz_gpu_filter_item {
    uint32_t u, v, level, unused;
    uint64_t position, mass;
} qfz_gpu_filter_item;

/* A tile at work.  Pointers are to device memory; n pixels. */
typedef struct qfz_gpu_filter {
    int32_t h, w;
    int64_t y0, x0; /* of the tile in the raster */
    uint64_t least; /* N */
    bool is_open_ring;
    const uint64_t *d_row_mass; /* h; NULL: 1 */

    uint32_t *d_up;   /* per pixel: a pixel of its component, itself if it is the root */
    uint64_t *d_mass; /* per root: its weight, at most N, or QFZ_GPU_FILTER_OPEN */
    /* Per light root: its first edge, level << 32 | higher half of the position; lower half. */
    unsigned long long *d_first;
    uint32_t *d_first_low;
    uint32_t *d_target; /* per light root: where it joins (filter_parts.cuh) */
    uint32_t *d_zeroed; /* n bytes, in words: the result */

    /* Pixels with edges that are undecided, and light roots; of this round and of the next.  After
     * the last round the same memory has items. */
    uint32_t *d_px[2], *d_light[2];
    uint32_t *d_count; /* (filter_parts.cuh) */
    qfz_gpu_filter_item *d_items;
    int64_t item_room;
} qfz_gpu_filter;

/* The weight of an open component; greater than every N. */
static const uint64_t QFZ_GPU_FILTER_OPEN = UINT64_MAX;

/* Sets the device pointers of *filter but d_row_mass, for tiles of at most h x w pixels. */
void qfz_gpu_filter_take(qfz_carve *carve, int32_t h, int32_t w, qfz_gpu_filter *filter);

/* Begins a tile: size, place, least, ring and row masses are set.  *first = its first round. */
qfz_status qfz_gpu_filter_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, int *first);

/* Rounds first .. first + n - 1, n >= 1.  *d_n_light = on the device, the number of light
 * components after them; no round is left when it is 0. */
qfz_status qfz_gpu_filter_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                 const qfz_gpu_filter *filter, int first, int n,
                                 const uint32_t **d_n_light);

/* After the last round, for an open ring: finds the first edges of open components to those that
 * weigh N. */
qfz_status qfz_gpu_filter_end(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_filter *filter);

/* Then: the items of pixels first_px .. end_px - 1 into d_items, as far as there is room.
 * *d_n = on the device, their number. */
qfz_status qfz_gpu_filter_items(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, int64_t first_px, int64_t end_px,
                                const uint32_t **d_n);

#endif
