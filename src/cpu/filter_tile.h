/* SPDX-License-Identifier: MIT */
/* filter_tile.h - the area filter (filter.h) of one tile: its patches (filter_patch.h), several at
 * a time, then the small graph that they leave. */
#ifndef QFZ_CPU_FILTER_TILE_H
#define QFZ_CPU_FILTER_TILE_H

#include "cpu/filter_patch.h"
#include "core/engine.h"

typedef struct qfz_filter_tile {
    qfz_filter_graph graph;
    int n_threads;
    qfz_filter_items items;
    qfz_filter_sets sets; /* of the vertices */
    uint64_t *weight;     /* of the vertices, as patches leave them, for keep() */
    uint32_t *ring;       /* by ring pixel of the tile: its vertex, if the pixel is valid */
    uint32_t *mark;       /* by vertex */
    uint64_t *at_zero;
    uint8_t *found;                    /* by item: as of qfz_filter_resolve() */
    qfz_filter_patch_scratch *scratch; /* of each thread */
} qfz_filter_tile;

/* Memory for tiles of at most h x w pixels, in blocks of the given side; and its bytes for one
 * thread. */
qfz_status qfz_filter_tile_init(qfz_filter_tile *f, const qfz_rule *rule, int64_t h, int64_t w,
                                int64_t side, int n_threads, qfz_error *err);
void qfz_filter_tile_fini(qfz_filter_tile *f);
int64_t qfz_filter_tile_bytes(const qfz_rule *rule, int64_t h, int64_t w);

/* As in qfz_engine_filter; the summary has the ring's values. */
qfz_status qfz_filter_tile_summarise(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                     const uint64_t *row_mass, const qfz_edge_bits *bits,
                                     qfz_summary *summary, qfz_error *err);
qfz_status qfz_filter_tile_resolve(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                   const uint64_t *row_mass, const qfz_exterior *exterior,
                                   const qfz_edge_bits *bits, qfz_error *err);

int64_t qfz_filter_tile_kept_bytes(const qfz_filter_tile *f);
qfz_status qfz_filter_tile_keep(const qfz_filter_tile *f, const qfz_edge_bits *bits,
                                qfz_filter_kept **kept, qfz_error *err);
qfz_status qfz_filter_tile_resolve_kept(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                        const qfz_filter_kept *kept, const qfz_exterior *exterior,
                                        const qfz_edge_bits *bits, qfz_error *err);
void qfz_filter_kept_drop(qfz_filter_kept *kept); /* NULL is allowed */

#endif
