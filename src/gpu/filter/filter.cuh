/* SPDX-License-Identifier: MIT */
/* filter.cuh - the area filter (core/filter.h) of a tile in device memory: the edges of filtered
 * level 0, and the small graph of the tile's ring.
 *
 * A component is light while it weighs less than N.  The first edge out of a light component, in
 * the order of (level, position), is in the minimum spanning forest, and its filtered level is 0.
 * The component marks this edge, and does nothing more until another light component marks the
 * same edge.  Whoever comes second joins the two, and if the result is light, finds its first edge.
 *
 * So every light component is exactly a component of Kruskal's algorithm, and its weight is right.
 * A component that waits needs no join: its edge is marked, whatever becomes of the component at
 * the other end.  Edges between two components that weigh N are never looked at.
 *
 * In a tile that is a part of the raster, each valid pixel of the ring is open: more may belong to
 * its component than the tile shows.  An open component marks no edge.  At the end, light
 * components join what their first edges lead to.  A light component that so joins an open one is a
 * mass event of that ring pixel.  Edges between two open components, mass events, and the first
 * edge of each open component to one that weighs N are the graph of the ring, on which
 * core/filter.h finds the rest.
 *
 * If the whole minimum spanning forest is wanted, the components that are left join along their
 * first edges in rounds (filter_forest.cu).  A closed component's first edge is in the forest. When
 * only open components are left, those edges between two of them that are in the forest of such
 * edges are links of the graph of the ring. */
#pragma once

#include "gpu/device/image.cuh"

/* An edge between the components of two ring pixels, or a mass event of ring pixel u, whose v is
 * QFZ_NONE (core/filter.h). */
typedef struct qfz_gpu_filter_item {
    uint32_t u, v, level, unused;
    uint64_t position, mass;
} qfz_gpu_filter_item;

/* A tile at work.  Pointers are to device memory; n pixels.
 *
 * The pixels of a light component that have edges out of it are a heap: the pixel with the first
 * edge is on top. */
typedef struct qfz_gpu_filter {
    int32_t h, w;
    int64_t y0, x0; /* of the tile in the raster */
    uint64_t least; /* N */
    bool is_open_ring;
    const uint64_t *d_row_mass; /* h; NULL: 1 */

    uint32_t *d_up;  /* per pixel: a pixel of its component; of a root: QFZ_FILTER_ROOT | its top */
    uint8_t *d_side; /* per pixel of a heap: its first edge (filter_grow.cuh) */
    uint32_t *d_left, *d_right; /* per pixel of a heap: what is below it */
    uint64_t *d_mass;           /* per root: its weight, at most N, or QFZ_GPU_FILTER_OPEN */
    uint32_t *d_zeroed;         /* n bytes, in words: the result; bit d: filtered level 0;
                                   QFZ_FILTER_IN_FOREST << d (filter_forest.cu) */
    uint32_t *d_leaving;        /* roots of components whose first edge leaves their block; then
                                   all roots, where they fit (filter_forest.cu) */
    int64_t leaving_room;
    uint32_t *d_count; /* (filter_parts.cuh) */

    /* Per ring pixel whose component is open: the first edge to a component that weighs N. */
    unsigned long long *d_first;         /* level << 32 | higher half of the position */
    uint32_t *d_first_low;               /* lower half */
    uint32_t *d_ring_up, *d_ring_target; /* per ring pixel, of links (filter_forest.cu) */
    qfz_gpu_filter_item *d_items;        /* over d_right, which is not used any more */
    int64_t item_room;
} qfz_gpu_filter;

/* In d_zeroed: the edge is in the forest, with a level above 0, whatever is outside the tile.  Its
 * filtered level may be 0 all the same, if an event of the ring says so. */
enum { QFZ_FILTER_IN_FOREST = 0x10 };

/* The weight of an open component; greater than every N. */
static const uint64_t QFZ_GPU_FILTER_OPEN = UINT64_MAX;

/* Sets the device pointers of *filter but d_row_mass, for tiles of at most h x w pixels. */
void qfz_gpu_filter_take(qfz_carve *carve, int32_t h, int32_t w, qfz_gpu_filter *filter);

/* Finds the edges of filtered level 0, as far as the tile shows: size, place, least, ring and row
 * masses are set. */
qfz_status qfz_gpu_filter_run(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_filter *filter);

/* Then, for an open ring or the forest: light components join what their first edges lead to. */
qfz_status qfz_gpu_filter_hook(qfz_gpu *gpu, const qfz_gpu_filter *filter);

/* Then, for an open ring: finds the first edges of open components to those that weigh N. */
qfz_status qfz_gpu_filter_end(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_filter *filter);

/* Kinds of items: mass events; all edges between open components; those of them that are links. */
enum { QFZ_FILTER_EVENTS = 1, QFZ_FILTER_LINKS = 2, QFZ_FILTER_CHOSEN_LINKS = 4 };

/* Then: the items of pixels first_px .. end_px - 1 into d_items, as far as there is room.
 * *d_n = on the device, their number. */
qfz_status qfz_gpu_filter_items(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, int kinds, int64_t first_px,
                                int64_t end_px, const uint32_t **d_n);

/* The forest, after _hook(): some rounds at a time, until *d_joined is 0 on the device.  The events
 * of an open ring are taken before. */
qfz_status qfz_gpu_filter_forest_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter);
qfz_status qfz_gpu_filter_forest_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                        const qfz_gpu_filter *filter, const uint32_t **d_joined);
qfz_status qfz_gpu_filter_forest_end(qfz_gpu *gpu, const qfz_gpu_filter *filter);

/* Then, for an open ring: chooses the links in the same way. */
qfz_status qfz_gpu_filter_links_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter);
qfz_status qfz_gpu_filter_links_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                       const qfz_gpu_filter *filter, const uint32_t **d_joined);
