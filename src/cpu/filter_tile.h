/* SPDX-License-Identifier: MIT */
/* filter_tile.h - the area filter (filter.h) of one tile. */
#ifndef QFZ_CPU_FILTER_TILE_H
#define QFZ_CPU_FILTER_TILE_H

#include "cpu/filter.h"

typedef struct qfz_filter_tile {
    const qfz_rule *rule;
    qfz_filter_items items;
    qfz_filter_sets sets; /* of the pixels */
    uint32_t *mark;       /* by pixel */
    uint64_t *at_zero;
    uint32_t *edge; /* by item: pixel * QFZ_MAX_DIRS + direction */
} qfz_filter_tile;

/* Memory for tiles of at most h x w pixels; and its bytes. */
qfz_status qfz_filter_tile_init(qfz_filter_tile *f, const qfz_rule *rule, int64_t h, int64_t w,
                                qfz_error *err);
void qfz_filter_tile_fini(qfz_filter_tile *f);
int64_t qfz_filter_tile_bytes(const qfz_rule *rule, int64_t h, int64_t w);

/* As in qfz_engine_filter; the summary has the ring's values. */
qfz_status qfz_filter_tile_summarise(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                     const uint64_t *row_mass, qfz_summary *summary,
                                     qfz_error *err);
qfz_status qfz_filter_tile_resolve(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                   const uint64_t *row_mass, const qfz_exterior *exterior,
                                   uint8_t *zeroed, qfz_error *err);

#endif
