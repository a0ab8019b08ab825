/* SPDX-License-Identifier: MIT */
/* engine_spans.c - the spans of the (alpha, omega)-regions of a tile. */
#include "core/span.h"
#include "cpu/worker.h"

/* A region in one band; lies in the memory of the sums. */
typedef struct extent {
    uint32_t least, greatest; /* orders of values */
    uint32_t wide;            /* 1: it exceeds omega in this band or in one before */
} extent;

_Static_assert(sizeof(extent) <= 2 * sizeof(uint64_t), "a sum has at least two words");

#define WIDEN(TYPE, ORDER)                                                                         \
    for (int64_t x = 0; x < w; x++) {                                                              \
        if (region[x] == 0) continue;                                                              \
        const uint32_t order = ORDER(((const TYPE *)values)[x]);                                   \
        extent *const e = extents + region[x] - 1;                                                 \
        if (order < e->least) e->least = order;                                                    \
        if (order > e->greatest) e->greatest = order;                                              \
    }                                                                                              \
    break

/* region: 1 + the region of each pixel, 0 where it is invalid. */
static void widen_row(qfz_type type, const void *values, const uint32_t *region, int64_t w,
                      extent *extents)
{
    switch (type) {
    case QFZ_U8: WIDEN(uint8_t, qfz_order_of_unsigned);
    case QFZ_I8: WIDEN(int8_t, qfz_order_of_signed);
    case QFZ_U16: WIDEN(uint16_t, qfz_order_of_unsigned);
    case QFZ_I16: WIDEN(int16_t, qfz_order_of_signed);
    case QFZ_U32: WIDEN(uint32_t, qfz_order_of_unsigned);
    case QFZ_I32: WIDEN(int32_t, qfz_order_of_signed);
    case QFZ_F32: WIDEN(float, qfz_order_of_float);
    }
}

static void widen_band(qfz_worker *worker, int band, extent *extents)
{
    const qfz_image *const tile = &worker->tile;
    const size_t row_bytes = (size_t)tile->w * qfz_type_bytes(tile->type);
    const char *row = (const char *)tile->pixels + (size_t)(band * tile->h) * row_bytes;
    for (uint32_t r = 0; r < worker->n_regions; r++) {
        extents[r].least = UINT32_MAX;
        extents[r].greatest = 0;
    }
    for (int64_t y = 0; y < tile->h; y++, row += row_bytes) {
        qfz_omega_contraction_row(&worker->omega, y, worker->region_of, worker->row);
        widen_row(tile->type, row, worker->row, tile->w, extents);
    }
}

/* The pixels of inner regions that are too wide. */
static uint64_t count_wide(const qfz_worker *worker, const extent *extents)
{
    uint64_t n = 0;
    for (uint32_t r = 0; r < worker->n_regions; r++)
        if (extents[r].wide && !(worker->is_border[r / 64] >> r % 64 & 1)) n += worker->count[r];
    return n;
}

qfz_status qfz_cpu_spans(qfz_worker *worker, uint64_t *spans, uint64_t *wide, qfz_error *err)
{
    (void)err;
    extent *const extents = (extent *)(void *)worker->sums;
    const qfz_rule *const rule = worker->rule;
    const int64_t words = qfz_span_words(rule->n_bands);
    worker->summed = -1;
    for (uint32_t r = 0; r < worker->n_regions; r++)
        extents[r].wide = 0;
    for (int b = 0; b < rule->n_bands; b++) {
        widen_band(worker, b, extents);
        for (uint32_t r = 0; r < worker->n_regions; r++)
            extents[r].wide |= qfz_orders_too_wide(rule->type, extents[r].least,
                                                   extents[r].greatest, rule->omega[b]);
        for (uint32_t s = 0; s < worker->n_border_regions; s++) {
            const extent *const e = &extents[worker->border_region_of[s]];
            qfz_span_write(spans + s * words, b, e->least, e->greatest);
        }
    }
    *wide = count_wide(worker, extents);
    return QFZ_OK;
}
