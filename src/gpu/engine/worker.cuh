/* SPDX-License-Identifier: MIT */
/* worker.cuh - the worker of the CUDA engine (core/engine.h): one stream of one device, and all
 * memory that its tiles need.  The workers of a device open together and share one allocation.
 *
 * A worker has one kind of work (qfz_kind); each kind has a struct of buffers and a file of
 * operations.  In device memory, buffers that are not in use at the same time overlap. */
#pragma once

#include "core/filter.h"
#include "core/histogram.h"
#include "gpu/curve/level_counts.cuh"
#include "gpu/filter/filter.cuh"
#include "gpu/saliency/saliency_tile.cuh"
#include "gpu/tree/forest_tree.cuh"
#include "gpu/features/gather.cuh"
#include "gpu/gpu.h"
#include "gpu/published/ha4_features.cuh"
#include "gpu/omega/omega.cuh"
#include "gpu/features/regions.cuh"
#include "gpu/device/staging.cuh"
#include "gpu/published/connect_tile.cuh"

/* Buffers for components and (alpha, omega)-components (engine_regions.cu). */
typedef struct qfz_region_room {
    bool published; /* label by `method`, a published one, instead of the default */
    qfz_method method;
    void *d_cached;            /* features by HA4: what both steps read */
    qfz_gpu_regions on_device; /* QFZ_OMEGA: overlaps d_scratch */

    /* In use until the regions are numbered. */
    uint32_t *d_root;
    void *d_scratch;
    void *d_number_scratch;

    /* In use after the numbering; these buffers overlap the ones above. */
    void *d_work;     /* work_bytes bytes: records, sums, or a plane of results */
    uint64_t *d_name; /* per region: its label */
    void *d_means;    /* QFZ_OMEGA, per region: its mean in one band */
    size_t work_bytes;
    char *d_pool; /* QFZ_OMEGA, pool_bytes bytes: d_name or d_means, and d_work, as needed */
    size_t pool_bytes;
    bool is_named;    /* d_name has the labels of this tile's regions ... */
    bool has_numbers; /* ... which are those of d_row_start and d_border_label */

    uint64_t *d_row_area;
    uint64_t *d_row_start, *d_border_label;    /* those of qfz_numbers */
    uint64_t *d_border_sums;                   /* per border region: its sum; later, its mean */
    uint32_t *d_border_region, *d_omega_level; /* those of the exterior, per ring pixel */
    uint32_t n_regions, n_border_regions;
    uint32_t *n_and_rows;              /* host copy of on_device.d_n */
    qfz_border_region *border_regions; /* host copy of on_device.d_border_regions */
} qfz_region_room;

/* Buffers for saliency (engine_levels.cu). */
typedef struct qfz_level_room {
    uint32_t *d_edge_levels; /* planes of levels, where edges are not the band itself */
    void *d_memory;          /* for saliency; or for a forest of the ring and for links */
    void *d_saliency;        /* the result, in d_memory: levels of 2 or 4 bytes */
    uint32_t *d_largest;     /* by CONNECT, in place of d_n_above */
    qfz_gpu_links links, external;
    uint32_t *d_n_links;
    uint32_t *d_n_above; /* joins above each of the limits of qfz_gpu_levels_above() */
} qfz_level_room;

/* Buffers for the alpha-tree (engine_tree.cu): by forest, which is the default, or by CONNECT. */
typedef struct qfz_tree_room {
    bool by_forest;
    char *d_forest; /* by forest: all memory, an allocation of its own of forest_bytes bytes */
    size_t forest_bytes;
    qfz_gpu_forest_tree tree;
    uint32_t *d_edge_levels; /* as above; CONNECT: this member and all that follow */
    void *d_scratch;
    uint32_t *d_parent, *d_level, *d_n_nodes;
} qfz_tree_room;

/* Buffers for the area filter (engine_filter.cu). */
typedef struct qfz_filter_room {
    uint32_t *d_edge_levels; /* as above */
    uint64_t *d_row_mass;
    qfz_gpu_filter on_device;
    qfz_gpu_edges edges;    /* of the tile at work */
    qfz_filter_items items; /* the graph of the ring */
    qfz_filter_sets sets;   /* of ring pixels, as the arrays up to at_zero */
    uint64_t *weight;       /* as sets.weight, before the summary, if the tile is kept */
    uint32_t *mark;
    uint64_t *at_zero;
    uint8_t *found; /* by item; found_room of them */
    int64_t found_room;
    qfz_gpu_filter_item *some_items; /* a part of a download */
} qfz_filter_room;

/* Buffers for the levels of joins (engine_joins.cu). */
typedef struct qfz_joins_room {
    uint32_t *d_n;              /* of links, levels or runs */
    unsigned long long *d_bins; /* of levels below n_bins, where all of them are */
    uint32_t n_bins;            /* 0: levels are listed and sorted: d_levels and what follows it */
    char *d_tile;               /* the memory of the members below, carved for each tile anew */
    qfz_gpu_links links;
    void *d_forest, *d_links_scratch;
    uint32_t *d_edge_levels; /* as above */
    uint32_t *d_levels[2];   /* in the place of the forest, after its last use */
    qfz_gpu_level_run *d_runs;
    void *d_sort;
    qfz_gpu_level_run *runs; /* on the host: copy of d_runs */
    qfz_histogram settled;
} qfz_joins_room;

struct qfz_worker {
    qfz_worker_spec spec;
    bool by_connect;         /* saliency and (alpha, omega)-components: by CONNECT */
    qfz_gpu_connect version; /* of CONNECT, for trees, too */
    qfz_gpu gpu;
    qfz_staging staging;
    cudaEvent_t from, to; /* for time_part() */
    char *d_all, *h_all;  /* in the first worker: memory of all workers that opened together */
    char *d_memory;       /* this worker's part of d_all, d_bytes bytes */
    size_t d_bytes;
    size_t kept_bytes; /* the first bytes of d_memory, which do not change between tiles */
    qfz_image tile;    /* the loaded tile on the host; pixels is NULL, valid is borrowed */
    int plane;         /* of the planes of rule->n_cuts, the one in use */
    void *ring_values; /* of all planes of the tile, as in a summary */
    uint8_t *ring_valid;
    qfz_gpu_image image; /* the tile on the device */
    void *d_pixels;
    uint8_t *d_valid;
    float *d_weights;        /* of the rule; no room where it has none */
    uint8_t *d_zeroed;       /* the tile's edges of level 0; no room without an area filter */
    uint32_t *d_edges;       /* the tile's levels of edges; no room without edge_levels */
    qfz_region_room regions; /* the worker's kind decides which of these five is in use */
    qfz_level_room levels;
    qfz_tree_room trees;
    qfz_filter_room filter;
    qfz_joins_room joins;
};

/* Makes the worker's device the current device of the calling thread, and err the error that the
 * worker fills in.  Every operation of the engine's table begins with this call. */
qfz_status qfz_worker_enter(qfz_worker *worker, qfz_error *err);

/* Transfers to and from the device in the order of the stream.  qfz_worker_up() returns when h_from
 * may change; qfz_worker_down() synchronises: h_to has the bytes when it returns. */
qfz_status qfz_worker_up(qfz_worker *worker, void *d_to, const void *h_from, size_t bytes);
qfz_status qfz_worker_down(qfz_worker *worker, void *h_to, const void *d_from, size_t bytes);

/* The number of pixels of the loaded tile. */
static inline size_t qfz_worker_px(const qfz_worker *worker)
{
    return (size_t)worker->image.h * (size_t)worker->image.w;
}

/* Copies values, validity and levels of edges (if any) of the tile's ring to a summary. */
qfz_status qfz_worker_take_ring(const qfz_worker *worker, qfz_summary *summary);

/* Copies the first n links of `from` into `links`, which is empty. */
qfz_status qfz_worker_down_links(qfz_worker *worker, const qfz_gpu_links *from, uint32_t n,
                                 qfz_links *links);

/* Appends the first n range events of `from` to `ranges`. */
qfz_status qfz_worker_down_ranges(qfz_worker *worker, const qfz_gpu_ranges *from, uint32_t n,
                                  qfz_ranges *ranges);

/* True if invalid pixels become NaN when a tile is loaded, so that validity is not kept. */
bool qfz_worker_makes_nan(const qfz_worker *worker);

/* Runs the worker's kind of work on a small tile, so that CUDA loads all kernels (warm_up.cu). */
qfz_status qfz_worker_warm_up(qfz_worker *worker);

/* The phase of CONNECT with which a part of the work ends. */
static inline qfz_connect_phase qfz_worker_phase(qfz_part part)
{
    switch ((int)part) {
    case QFZ_PART_LOCAL: return QFZ_CONNECT_LOCAL;
    case QFZ_PART_MERGED: return QFZ_CONNECT_MERGE;
    case QFZ_PART_FLATTENED: return QFZ_CONNECT_FLATTEN;
    default: return QFZ_CONNECT_READ;
    }
}

/* ---- Components and (alpha, omega)-components ------------------------------------------------ */

/* For each kind of work: _carve() carves device memory, and _open() allocates host memory, which
 * _close() frees; _work() is the part of the kind that qfz_engine_device.time measures; the other
 * functions are operations of the engine's table. */
void qfz_regions_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_regions_open(qfz_worker *worker);
void qfz_regions_close(qfz_worker *worker);
qfz_status qfz_regions_summarise(qfz_worker *worker, qfz_summary *summary);
qfz_status qfz_regions_partition(qfz_worker *worker, const qfz_exterior *exterior,
                                 qfz_partition *partition, qfz_error *err);
qfz_status qfz_regions_number(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err);
/* Makes d_name, unless it is there: sums and means of QFZ_OMEGA take its memory. */
qfz_status qfz_regions_need_names(qfz_worker *worker);
qfz_status qfz_regions_labels(qfz_worker *worker, bool wide, void *out, qfz_error *err);
qfz_status qfz_regions_border_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err);
qfz_status qfz_regions_spans(qfz_worker *worker, uint64_t *spans, uint64_t *wide, qfz_error *err);
qfz_status qfz_regions_features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                                uint32_t first_region, uint32_t n, uint64_t *records,
                                qfz_error *err);
qfz_status qfz_regions_paint(qfz_worker *worker, int band, const void *border_mean,
                             const void *invalid, void *out, qfz_error *err);
/* The same, the painted pixels staying in regions.d_work. */
qfz_status qfz_regions_paint_on_device(qfz_worker *worker, int band, const void *border_mean,
                                       const void *invalid, qfz_error *err);
qfz_status qfz_regions_work(qfz_worker *worker, qfz_part part);

/* Records of regions (engine_records.cu): the least size of d_work. */
size_t qfz_records_least_bytes(const qfz_rule *rule);
/* Computes the records of all regions, on the device: of numbered regions, or by HA4. */
qfz_status qfz_records_of_regions(qfz_worker *worker);
qfz_status qfz_records_of_segments(qfz_worker *worker);

/* ---- Saliency -------------------------------------------------------------------------------- */

/* Form, size and greatest level of the edges of the worker's largest tile; pointers are NULL. */
qfz_gpu_edges qfz_largest_edges(const qfz_worker_spec *spec);

void qfz_levels_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_levels_summarise(qfz_worker *worker, qfz_summary *summary);
qfz_status qfz_levels_saliency(qfz_worker *worker, const qfz_exterior *exterior, int level_bytes,
                               void *levels, qfz_error *err);
qfz_status qfz_levels_work(qfz_worker *worker, qfz_part part);

/* ---- Levels of joins ------------------------------------------------------------------------- */

void qfz_joins_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_joins_open(qfz_worker *worker);
void qfz_joins_close(qfz_worker *worker);
qfz_status qfz_joins_find(qfz_worker *worker, qfz_summary *summary, const qfz_histogram **settled,
                          qfz_error *err);

/* ---- Groups of tiles, in the memory of the worker's tile ------------------------------------- */

bool qfz_groups_fit(const qfz_worker *worker, const qfz_group_graph *graph);
qfz_status qfz_groups_summarise(qfz_worker *worker, const qfz_group_graph *graph,
                                qfz_summary *summary, qfz_error *err);
qfz_status qfz_groups_levels(qfz_worker *worker, const qfz_group_graph *graph,
                             qfz_exterior *members, uint32_t *cross_level, qfz_error *err);
qfz_status qfz_groups_regions(qfz_worker *worker, const qfz_group_graph *graph,
                              const qfz_exterior *own, qfz_group_regions *found, qfz_error *err);

/* ---- Area filter ----------------------------------------------------------------------------- */

void qfz_filter_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_filter_open(qfz_worker *worker);
void qfz_filter_close(qfz_worker *worker);
/* As summarise(), resolve() and what follows of the engine's sub-table. */
qfz_status qfz_filter_find_summary(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                                   const qfz_edge_bits *bits, qfz_summary *summary, qfz_error *err);
qfz_status qfz_filter_find_bits(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                                const qfz_exterior *exterior, const qfz_edge_bits *bits,
                                qfz_error *err);
int64_t qfz_filter_kept_bytes(const qfz_worker *worker);
qfz_status qfz_filter_keep(const qfz_worker *worker, const qfz_edge_bits *bits,
                           qfz_filter_kept **kept, qfz_error *err);
qfz_status qfz_filter_resolve_kept(qfz_worker *worker, const qfz_image *tile, qfz_box box,
                                   const qfz_filter_kept *kept, const qfz_exterior *exterior,
                                   const qfz_edge_bits *bits, qfz_error *err);
void qfz_filter_drop(qfz_filter_kept *kept);
qfz_status qfz_filter_work(qfz_worker *worker);

/* ---- Edges of the host (engine_edges.cu) ----------------------------------------------------- */

/* The tile's levels of edges, and for all kinds of work but the area filter the plane of the edges
 * of level 0, where the rule has any.  Each operation that finds edges first calls _send(), which
 * uploads them once. */
void qfz_edges_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_edges_send(qfz_worker *worker);

/* ---- Alpha-tree ------------------------------------------------------------------------------ */

/* True if a tree by forest is possible: no level is QFZ_NONE, and the device has enough shared
 * memory. */
bool qfz_trees_can_by_forest(const qfz_worker *worker);
void qfz_trees_carve(qfz_worker *worker, qfz_carve *carve);
/* The device memory of trees by forest, which is not carved: bytes that suffice for most trees.
 * qfz_trees_build() allocates more for a tree that has more nodes. */
size_t qfz_trees_bytes(const qfz_worker *worker);
/* Allocates trees.d_forest, where a tree is by forest and there is none.  Between two trees the
 * caller may use a byte per pixel of it. */
qfz_status qfz_trees_room(qfz_worker *worker);
void qfz_trees_close(qfz_worker *worker);
qfz_status qfz_trees_build(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                           qfz_error *err);
qfz_status qfz_trees_work(qfz_worker *worker);

/* Where a tree goes, the host or the device: functions that copy bytes from the device, clear
 * bytes, and widen levels of 16 bits, which become `bytes` bytes. */
typedef struct qfz_tree_out {
    qfz_status (*take)(qfz_worker *worker, void *to, const void *d_from, size_t bytes);
    qfz_status (*clear)(qfz_worker *worker, void *to, size_t bytes);
    qfz_status (*widen)(qfz_worker *worker, void *to, const void *d_from, size_t bytes);
} qfz_tree_out;
qfz_status qfz_trees_fetch(qfz_worker *worker, const qfz_tree_out *out, uint32_t *parent,
                           uint32_t *level, int64_t *n_nodes);

/* ---- Input and output in device memory (engine_device_io.cu), as in the engine's table ------- */
qfz_status qfz_device_load(qfz_worker *worker, const qfz_image *tile, void *stream, qfz_error *err);
qfz_status qfz_device_load_cut(qfz_worker *worker, const qfz_image *image, const uint32_t *levels,
                               uint32_t alpha_level, void *stream, qfz_error *err);
qfz_status qfz_device_labels(qfz_worker *worker, uint32_t *labels, void *stream, qfz_error *err);
qfz_status qfz_device_paint(qfz_worker *worker, int band, const void *invalid, void *out,
                            void *stream, qfz_error *err);
qfz_status qfz_device_saliency(qfz_worker *worker, uint32_t *levels, void *stream, qfz_error *err);
qfz_status qfz_device_tree(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                           void *stream, qfz_error *err);
qfz_status qfz_device_fetch(qfz_device device, void *to, const void *from, int64_t bytes,
                            void *stream, qfz_error *err);

/* d_wide[i] = level first + i of n levels of levels.d_saliency, which have 16 bits. */
qfz_status qfz_device_widen_levels(qfz_worker *worker, size_t first, size_t n, uint32_t *d_wide);
