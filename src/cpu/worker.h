/* SPDX-License-Identifier: MIT */
/* worker.h - the state of a worker of the CPU engine, and its functions for regions. */
#ifndef QFZ_CPU_WORKER_H
#define QFZ_CPU_WORKER_H

#include "cpu/contract_omega.h"
#include "cpu/cpu.h"
#include "cpu/filter_tile.h"
#include "core/engine.h"

/* The results of a tile that a worker has, or that are cached. */
typedef enum qfz_cached_result {
    QFZ_CACHED_NOTHING = 0,
    QFZ_CACHED_GRAPH,  /* its contraction; its ring is open */
    QFZ_CACHED_REGIONS /* its regions with their means; QFZ_OMEGA only */
} qfz_cached_result;

struct qfz_worker {
    const qfz_rule *rule;
    qfz_kind kind;
    int n_threads;
    int64_t max_h, max_w;      /* of the largest tile */
    qfz_image tile;            /* borrowed pixels */
    qfz_cached_result found;   /* in this pass over the tile */
    qfz_cached_result resumed; /* in the pass before, if still usable */

    void *scratch; /* working memory of components and tree */

    qfz_contraction contraction; /* QFZ_LEVELS, QFZ_JOINS */
    qfz_omega_contraction omega; /* QFZ_OMEGA */
    qfz_filter_tile filter;      /* QFZ_FILTER */
    uint32_t *mark;              /* by vertex; see qfz_contraction_summarise() */
    qfz_histogram *settled;      /* QFZ_JOINS, of each thread */

    /* QFZ_COMPONENTS, QFZ_OMEGA: regions, numbered from 0 */
    uint32_t n_regions, n_border_regions;
    uint32_t *row_before; /* by row, h + 1 of them: number of regions that begin in rows before */
    uint64_t *is_border;  /* bit r % 64 of word r / 64: region r is a border region */
    uint32_t *border_of;  /* number of each region that is a border region, by region */
    uint32_t *border_region_of;
    uint32_t *row_inner; /* this and the next array are those of a qfz_partition */
    qfz_border_region *border_regions;
    uint64_t *name;     /* label of each region */
    bool keeps_numbers; /* labels are 1, 2, 3 ..., and name is not filled */
    uint32_t *row;      /* a row for each thread: 1 + region of each pixel, 0 where invalid */

    /* QFZ_COMPONENTS */
    qfz_runs *runs;
    uint32_t *ring; /* 1 + region of each ring pixel, 0 where invalid */

    /* QFZ_OMEGA */
    uint32_t *region_of; /* by stop: 1 + region, 0: the stop of invalid pixels */
    uint32_t *first, *count;
    uint64_t *sums; /* of each region, in one band */
    int summed;     /* the band of sums; -1: none */
    void *means;    /* of each region, in one band after the other */
};

/* Bytes of the means of one region. */
static inline size_t qfz_cpu_means_bytes(const qfz_rule *rule)
{
    return qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
}

/* Memory for the regions of tiles of at most h x w pixels. */
qfz_status qfz_cpu_regions_open(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err);
void qfz_cpu_regions_close(qfz_worker *worker);

/* The memory for QFZ_OMEGA alone; and finding its regions. */
qfz_status qfz_cpu_omega_open(qfz_worker *worker, int64_t h, int64_t w, qfz_error *err);
qfz_status qfz_cpu_omega_find(qfz_worker *worker, const qfz_exterior *exterior, qfz_error *err);

/* Fills the border regions of a summary; the tile has been partitioned. */
qfz_status qfz_cpu_components_summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err);

/* engine_joins.c: the histograms of QFZ_JOINS, for a contraction that is open; and joins() of the
 * engine's table. */
qfz_status qfz_cpu_joins_open(qfz_worker *worker, qfz_error *err);
void qfz_cpu_joins_close(qfz_worker *worker);
qfz_status qfz_cpu_joins(qfz_worker *worker, qfz_summary *summary, const qfz_histogram **settled,
                         qfz_error *err);

/* Sets is_border and border_of from border_region_of. */
void qfz_cpu_mark_border_regions(qfz_worker *worker);

/* As in the engine's table (engine.h). */
int64_t qfz_cpu_cached_bytes(const qfz_worker *worker);
qfz_status qfz_cpu_store(qfz_worker *worker, qfz_cached **cached, qfz_error *err);
bool qfz_cpu_resume(qfz_worker *worker, const qfz_image *tile, qfz_cached *cached);
bool qfz_cpu_needs_pixels(const qfz_worker *worker);
void qfz_cpu_drop(qfz_cached *cached);
qfz_status qfz_cpu_partition(qfz_worker *worker, const qfz_exterior *exterior,
                             qfz_partition *partition, qfz_error *err);
qfz_status qfz_cpu_number(qfz_worker *worker, const qfz_numbers *numbers, qfz_error *err);
qfz_status qfz_cpu_labels(qfz_worker *worker, bool wide, void *out, qfz_error *err);
qfz_status qfz_cpu_border_sums(qfz_worker *worker, int band, uint64_t *sums, qfz_error *err);
qfz_status qfz_cpu_spans(qfz_worker *worker, uint64_t *spans, uint64_t *wide, qfz_error *err);
qfz_status qfz_cpu_features(qfz_worker *worker, qfz_box box, const uint64_t *row_area,
                            uint32_t first_region, uint32_t n, uint64_t *records, qfz_error *err);
qfz_status qfz_cpu_paint(qfz_worker *worker, int band, const void *border_mean, const void *invalid,
                         void *out, qfz_error *err);

#endif
