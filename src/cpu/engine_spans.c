/* SPDX-License-Identifier: MIT */
/* engine_spans.c - the spans of the (alpha, omega)-regions of a tile. */
#include "core/span.h"
#include "cpu/fetch.h"
#include "cpu/min_max.h"
#include "cpu/worker.h"

/* The orders of values of a block's pixels, by stop, for each of four parts of its rows: pixels
 * side by side mostly have one stop, and each would wait for the stores of the one before.  Side by
 * side in memory, because a load also waits for a store a multiple of 4096 bytes away.  Lies in the
 * working memory of one thread. */
enum { PARTS = 4 };
typedef struct orders {
    uint32_t least, greatest;
} orders;
typedef orders by_stop[PARTS];

static const orders no_orders = {UINT32_MAX, 0};

/* A region in one band; lies in the memory of the sums. */
typedef struct extent {
    orders orders;
    uint32_t wide; /* 1: it exceeds omega in this band or in one before */
} extent;

_Static_assert(sizeof(extent) <= 2 * sizeof(uint64_t), "a sum has at least two words");

#define ORDERS(TYPE, ORDER)                                                                        \
    for (int64_t x = 0; x < w; x++)                                                                \
        order[x] = ORDER(((const TYPE *)values)[x]);                                               \
    break

static void find_orders(qfz_type type, const void *values, int64_t w, uint32_t *order)
{
    switch (type) {
    case QFZ_U8: ORDERS(uint8_t, qfz_order_of_unsigned);
    case QFZ_I8: ORDERS(int8_t, qfz_order_of_signed);
    case QFZ_U16: ORDERS(uint16_t, qfz_order_of_unsigned);
    case QFZ_I16: ORDERS(int16_t, qfz_order_of_signed);
    case QFZ_U32: ORDERS(uint32_t, qfz_order_of_unsigned);
    case QFZ_I32: ORDERS(int32_t, qfz_order_of_signed);
    case QFZ_F32: ORDERS(float, qfz_order_of_float);
    }
}

static void widen(orders *of, orders with)
{
    of->least = qfz_min(of->least, with.least);
    of->greatest = qfz_max(of->greatest, with.greatest);
}

static void widen_row(by_stop *t, const uint16_t *stop, const uint32_t *order, int64_t w)
{
    const int64_t n = w / PARTS;
    for (int64_t x = 0; x < n; x++)
        for (int k = 0; k < PARTS; k++)
            widen(&t[stop[k * n + x]][k], (orders){order[k * n + x], order[k * n + x]});
    for (int64_t x = PARTS * n; x < w; x++)
        widen(&t[stop[x]][0], (orders){order[x], order[x]});
}

static void widen_block(const qfz_worker *worker, const qfz_stop_block *block, int band,
                        extent *extents)
{
    const qfz_image *const tile = &worker->tile;
    const int64_t h = qfz_box_h(block->box), w = qfz_box_w(block->box);
    const int64_t bytes = (int64_t)qfz_type_bytes(tile->type);
    const uint32_t *const region = worker->region_of + block->first;
    by_stop *const t = worker->omega.c.scratch;
    uint32_t order[QFZ_CPU_BLOCK_SIDE];
    for (uint32_t s = 0; s < block->n; s++)
        for (int k = 0; k < PARTS; k++)
            t[s][k] = no_orders;
    for (int64_t y = 0; y < h; y++) {
        const int64_t at = (band * tile->h + block->box.y0 + y) * tile->w + block->box.x0;
        const char *const row = (const char *)tile->pixels + at * bytes;
        if (y + QFZ_FETCH_ROWS < h) qfz_fetch(row + QFZ_FETCH_ROWS * tile->w * bytes, w * bytes);
        find_orders(tile->type, row, w, order);
        widen_row(t, block->stop + y * w, order, w);
    }
    for (uint32_t s = 0; s < block->n; s++)
        for (int k = 0; k < PARTS && region[s] > 0; k++)
            widen(&extents[region[s] - 1].orders, t[s][k]);
}

static void widen_band(const qfz_worker *worker, int band, extent *extents)
{
    const qfz_cpu_blocks *const in = &worker->omega.c.layout;
    for (uint32_t r = 0; r < worker->n_regions; r++)
        extents[r].orders = no_orders;
    for (int64_t i = 0; i < in->n_y * in->n_x; i++) {
        const qfz_stop_block block = qfz_omega_contraction_block(&worker->omega, i);
        widen_block(worker, &block, band, extents);
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
            extents[r].wide |= qfz_orders_too_wide(rule->type, extents[r].orders.least,
                                                   extents[r].orders.greatest, rule->omega[b]);
        for (uint32_t s = 0; s < worker->n_border_regions; s++) {
            const orders *const e = &extents[worker->border_region_of[s]].orders;
            qfz_span_write(spans + s * words, b, e->least, e->greatest);
        }
    }
    *wide = count_wide(worker, extents);
    return QFZ_OK;
}
