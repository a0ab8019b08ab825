/* SPDX-License-Identifier: MIT */
/* worker.cuh - the CUDA engine's worker: one stream of one device, and all memory that its tiles
 * need, taken when it opens, together with others. */
#ifndef QFZ_GPU_WORKER_CUH
#define QFZ_GPU_WORKER_CUH

#include "gpu/saliency/saliency_tile.cuh"
#include "gpu/tree/forest_tree.cuh"
#include "gpu/features/gather.cuh"
#include "gpu/gpu.h"
#include "gpu/published/ha4_features.cuh"
#include "gpu/omega/omega.cuh"
#include "gpu/features/regions.cuh"
#include "gpu/device/staging.cuh"
#include "gpu/published/canonical_tree.cuh"

/* Components and (alpha, omega)-components (engine_regions.cu). */
typedef struct qfz_region_room {
    bool published; /* label by this method, not by what is fastest */
    qfz_gpu_method method;
    qfz_gpu_segments segments; /* the tile as such methods see it */
    bool one_value;            /* all valid pixels have the same, so far ... */
    bool has_value;            /* ... namely this: */
    char value[4];
    void *d_cached;            /* for features: blocks' runs, or what HA4's two steps share */
    qfz_gpu_regions on_device; /* QFZ_OMEGA: in the place of d_scratch */
    uint32_t *d_root;          /* these three are of use until regions are numbered, */
    void *d_scratch;           /* and the next three, which lie in the same place, */
    void *d_number_scratch;
    void *d_work;        /* from then on: records, sums, what is made for all pixels */
    uint64_t *d_name;    /* of regions, their labels */
    void *d_means;       /* QFZ_OMEGA: of regions, in one band */
    size_t work_bytes;   /* of d_work */
    uint64_t *d_records; /* where d_work has flat zones: some of their records */
    size_t records_bytes;
    qfz_gpu_areas areas; /* of the features that are gathered */
    uint64_t *d_row_area;
    uint64_t *d_row_start, *d_border_label;    /* qfz_numbers */
    uint64_t *d_border_sums;                   /* of border_regions; and their means */
    uint32_t *d_border_region, *d_omega_level; /* an answer's, of ring pixels */
    uint32_t n_regions, n_border_regions;
    uint32_t *n_and_rows;              /* the host's copy of regions' d_n */
    qfz_border_region *border_regions; /* and of d_border_regions */
} qfz_region_room;

/* Saliency (engine_levels.cu). */
typedef struct qfz_level_room {
    uint32_t *d_keys; /* planes of keys, where edges are not read from the band */
    void *d_memory;   /* of the saliency, or the ring's forest and scratch memory for links */
    void *d_saliency; /* keys of 2 or 4 bytes, when they are made */
    qfz_gpu_links links, external;
    uint32_t *d_n_links;
} qfz_level_room;

/* The alpha-tree (engine_tree.cu). */
typedef struct qfz_tree_room {
    bool by_forest; /* not by CONNECT: what is fastest */
    char *d_forest; /* memory of its own, for all that then is needed */
    size_t forest_bytes;
    qfz_gpu_forest_tree tree;
    qfz_gpu_connect version; /* by CONNECT: this and what follows */
    uint32_t *d_keys;        /* as above */
    void *d_scratch;
    uint32_t *d_parent, *d_level, *d_n_nodes;
} qfz_tree_room;

struct qfz_worker {
    qfz_worker_spec spec;
    qfz_gpu gpu;
    qfz_staging staging;
    cudaEvent_t from, to; /* around what is timed */
    char *d_all, *h_all;  /* of the first of those that were opened together: memory of all */
    char *d_memory;       /* the worker's own part of it */
    size_t d_bytes;
    qfz_image tile;    /* the host's, without pixels; validity is borrowed */
    void *ring_values; /* of the tile, as in a summary */
    uint8_t *ring_valid;
    qfz_gpu_image image; /* the same on the device */
    void *d_pixels;
    uint8_t *d_valid;
    qfz_region_room regions; /* one of these is in use, by the worker's kind */
    qfz_level_room levels;
    qfz_tree_room trees;
};

/* Makes the worker's device current for the calling thread, and err the place of failures. */
qfz_status qfz_worker_enter(qfz_worker *worker, qfz_error *err);

/* Transfers to and from the device in the order of the stream; down waits. */
qfz_status qfz_worker_up(qfz_worker *worker, void *d_to, const void *h_from, size_t bytes);
qfz_status qfz_worker_down(qfz_worker *worker, void *h_to, const void *d_from, size_t bytes);

/* The first n of links on the device, into links that are empty. */
qfz_status qfz_worker_down_links(qfz_worker *worker, const qfz_gpu_links *from, uint32_t n,
                                 qfz_links *links);

/* The first n of ranges, likewise. */
qfz_status qfz_worker_download_ranges(qfz_worker *worker, const qfz_gpu_ranges *from, uint32_t n,
                                      qfz_ranges *ranges);

/* Does once what the worker is for, so that its device has loaded all kernels (warm_up.cu). */
qfz_status qfz_worker_warm_up(qfz_worker *worker);

/* ---- The kinds of work: memory on the device out of a carve, memory of the host, operations of
 * the engine's table, and what is timed. */
qfz_status qfz_regions_choose(qfz_worker *worker); /* the method; before its memory is carved */
/* Another tile comes; some of its rows do, maybe the last ones. */
void qfz_regions_load(qfz_worker *worker);
void qfz_regions_rows(qfz_worker *worker, const qfz_rows *rows);
void qfz_regions_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_regions_open(qfz_worker *worker);
void qfz_regions_close(qfz_worker *worker);
qfz_status qfz_regions_summarise(qfz_worker *worker, qfz_summary *summary);
qfz_status qfz_regions_partition(qfz_worker *worker, const qfz_exterior *answer,
                                 qfz_partition *partition, qfz_error *err);
qfz_status qfz_regions_number(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err);
qfz_status qfz_regions_labels(qfz_worker *worker, bool wide, void *out, qfz_error *err);
qfz_status qfz_regions_border_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err);
qfz_status qfz_regions_features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                                uint32_t first_region, uint32_t n, uint64_t *records,
                                qfz_error *err);
qfz_status qfz_regions_paint(qfz_worker *worker, int band, const void *border_mean,
                             const void *invalid, void *out, qfz_error *err);
qfz_status qfz_regions_work(qfz_worker *worker, qfz_part part);

/* Of those, regions' records (engine_records.cu): the memory that they need at the least, where
 * flat zones pass through; then those of all regions, which stay on the device, after numbering, or
 * as HA4 makes them, without labels. */
size_t qfz_records_least_bytes(const qfz_rule *rule);
void qfz_records_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_records_of_regions(qfz_worker *worker);
qfz_status qfz_records_of_segments(qfz_worker *worker);

/* What the edges of the worker's largest tile will be like. */
qfz_gpu_edges qfz_largest_edges(const qfz_worker_spec *spec);

void qfz_levels_carve(qfz_worker *worker, qfz_carve *carve);
qfz_status qfz_levels_summarise(qfz_worker *worker, qfz_summary *summary);
qfz_status qfz_levels_saliency(qfz_worker *worker, const qfz_exterior *answer, int level_bytes,
                               void *keys, qfz_error *err);
qfz_status qfz_levels_work(qfz_worker *worker, qfz_part part);

/* Groups of tiles, in the memory of the tile's. */
bool qfz_groups_fit(const qfz_worker *worker, const qfz_group_graph *graph);
qfz_status qfz_groups_summarise(qfz_worker *worker, const qfz_group_graph *graph,
                                qfz_summary *summary, qfz_error *err);
qfz_status qfz_groups_levels(qfz_worker *worker, const qfz_group_graph *graph,
                             qfz_exterior *members, uint32_t *cross_level, qfz_error *err);
qfz_status qfz_groups_regions(qfz_worker *worker, const qfz_group_graph *graph,
                              const qfz_exterior *own, qfz_group_regions *found, qfz_error *err);

qfz_status qfz_trees_choose(qfz_worker *worker); /* the method */
void qfz_trees_carve(qfz_worker *worker, qfz_carve *carve);
/* What is not carved: as many bytes as most trees take.  Others take more when they turn out to. */
size_t qfz_trees_bytes(const qfz_worker *worker);
qfz_status qfz_trees_open(qfz_worker *worker);
/* Memory of trees by forests is there, trees.d_forest: between two of them a byte a pixel at least.
 */
qfz_status qfz_trees_room(qfz_worker *worker);
void qfz_trees_close(qfz_worker *worker);
qfz_status qfz_trees_build(qfz_worker *worker, uint32_t *parent, uint32_t *level, int64_t *n_nodes,
                           qfz_error *err);
qfz_status qfz_trees_work(qfz_worker *worker);

#endif
