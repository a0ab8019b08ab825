/* SPDX-License-Identifier: MIT */
/* filter.cuh - the area filter (core/filter.h) of a tile in device memory: the edges of filtered
 * level 0, and the small graph of the tile's ring.
 *
 * Clusters of pixels grow in rounds, as in Boruvka's algorithm: at first each pixel is one; each
 * cluster finds its first edge, in the order of (level, position), and *picks* it if it is light.
 * A cluster has a root.  A pixel of it *arrives* with the last edge on the path to the root along
 * edges that were picked.  When Kruskal's algorithm comes to the cluster's first edge, the root's
 * component has exactly those pixels of the cluster that arrive before that edge.  So the cluster
 * is light, and the filtered level of the edge is 0, if they weigh less than N.  A cluster that is
 * not light never picks again.
 *
 * Two clusters that picked the same edge become one, which grows on if it is light.  Any other
 * cluster that picked an edge hangs on the cluster at its other end from then on, and nothing waits
 * for anything: its pixels arrive there with this edge, or later.  The number of clusters that
 * grow falls to a fourth in a round.
 *
 * In a tile that is a part of the raster, each valid pixel of the ring is open: more may belong to
 * its component than the tile shows.  An open pixel is a cluster that weighs N.  At the end, a
 * cluster that hangs on an open pixel is a mass event of that ring pixel: it weighs what it weighed
 * when it picked, unless it arrives later there, with a cluster that it hangs on.  Edges between
 * two open components, mass events, and the first edge of each open component to one that weighs N
 * are the graph of the ring, on which core/filter.h finds the rest.
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

/* A tile at work.  Pointers are to device memory; n pixels. */
typedef struct qfz_gpu_filter {
    int32_t h, w;
    int64_t y0, x0; /* of the tile in the raster */
    uint64_t least; /* N */
    bool is_open_ring;
    int32_t n_rounds;           /* calls of qfz_gpu_filter_round() before */
    const uint64_t *d_row_mass; /* h; NULL: 1 */

    uint32_t *d_up; /* per pixel: a pixel of its component; of a root: QFZ_FILTER_ROOT and flags */
    /* Per pixel of a cluster that grows or hangs on an open one: with which edge it arrives; of a
     * root: the cluster's first edge. */
    unsigned long long *d_first; /* level << 32 | higher half of the position */
    uint32_t *d_first_low;       /* lower half */
    uint64_t *d_mass; /* per such pixel: what arrived before that edge, 0 where the pixel was a part
                         of such a mass */
    uint32_t *d_zeroed; /* n bytes, in words: the result; bit d: the edge has filtered level 0, and
                           a level above 0; QFZ_FILTER_IN_FOREST << d (filter_forest.cu) */
    uint32_t
        *d_growing; /* by block: roots of clusters that grow, then what waits to arrive at one */
    uint2 *d_n_growing;  /* by block: the number of both together, and that of roots */
    uint16_t *d_edges;   /* by block: edges between clusters of which one grows */
    uint32_t *d_n_edges; /* by block: their number */
    uint8_t *d_side;     /* per pixel, of the forest (filter_forest.cu); over d_edges */
    uint32_t *d_target;  /* per root; over d_growing, which is not used any more */
    uint32_t *d_roots;   /* where they fit (filter_forest.cu); over d_edges, too */
    int64_t root_room;
    uint32_t *d_count; /* (filter_parts.cuh) */

    /* Per ring pixel whose component is open: the first edge to a component that weighs N. */
    unsigned long long *d_ring_first; /* as d_first */
    uint32_t *d_ring_first_low;
    uint32_t *d_ring_up, *d_ring_target; /* per ring pixel, of links (filter_forest.cu) */
    qfz_gpu_filter_item *d_items;        /* over d_growing, too */
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
 * masses are set.  Then a round at a time, until *d_picked is 0 on the device. */
qfz_status qfz_gpu_filter_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter);
qfz_status qfz_gpu_filter_round(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, const uint32_t **d_picked);

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

/* The forest: some rounds at a time, until *d_joined is 0 on the device.  The events of an open
 * ring are taken before. */
qfz_status qfz_gpu_filter_forest_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter);
qfz_status qfz_gpu_filter_forest_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                        const qfz_gpu_filter *filter, const uint32_t **d_joined);

/* Then, for an open ring: chooses the links in the same way. */
qfz_status qfz_gpu_filter_links_begin(qfz_gpu *gpu, const qfz_gpu_filter *filter);
qfz_status qfz_gpu_filter_links_rounds(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                       const qfz_gpu_filter *filter, const uint32_t **d_joined);
