/* SPDX-License-Identifier: MIT */
/* filter_order.h - the edges of one block in the order of (level, position).
 *
 * A record of 64 bits has the level and as many higher bits of the position as fit, and the edge's
 * first pixel and direction, from which the complete position follows if two records tie.  A loop
 * is a mark at a pixel: it precedes all edges of its level. */
#ifndef QFZ_CPU_FILTER_ORDER_H
#define QFZ_CPU_FILTER_ORDER_H

#include "cpu/block.h"

enum {
    QFZ_RECORD_DIR_SHIFT = 14,
    QFZ_RECORD_EDGE_SHIFT = 16, /* 0: a loop */
    QFZ_RECORD_KEY_SHIFT = 17
};

/* The most bits of a digit of the radix sort. */
enum { QFZ_ORDER_DIGIT_BITS = 9 };

typedef struct qfz_filter_order {
    int64_t y0, x0;  /* of the block in the raster */
    uint32_t w;      /* of the block */
    uint32_t row_of; /* row_of * place >> 21: the row of a place; exact for 128 rows of w */
    int level_bits;
    const uint16_t *node; /* borrowed: of each pixel (lightest.h) */
    uint32_t count[2][1 << QFZ_ORDER_DIGIT_BITS];
} qfz_filter_order;

static inline uint32_t qfz_record_place(uint64_t record)
{
    return (uint32_t)record & ((1u << QFZ_RECORD_DIR_SHIFT) - 1);
}

static inline int qfz_record_dir(uint64_t record)
{
    return (int)(record >> QFZ_RECORD_DIR_SHIFT & 3);
}

static inline bool qfz_record_is_loop(uint64_t record)
{
    return !(record >> QFZ_RECORD_EDGE_SHIFT & 1);
}

static inline uint32_t qfz_record_level(const qfz_filter_order *order, uint64_t record)
{
    return (uint32_t)(record >> (64 - order->level_bits));
}

uint64_t qfz_record_position(const qfz_filter_order *order, uint64_t record);

/* The position of the edge of pixels p and q, p being the first one. */
uint64_t qfz_filter_order_position(const qfz_filter_order *order, uint32_t p, uint32_t q);

/* From the first pixel of an edge to the second one. */
static inline uint32_t qfz_record_step(const qfz_filter_order *order, uint64_t record)
{
    const uint32_t w = order->w, steps = 1u << 8 * QFZ_RIGHT | w << 8 * QFZ_BELOW |
                                         (w + 1) << 8 * QFZ_BELOW_RIGHT |
                                         (w - 1) << 8 * QFZ_BELOW_LEFT;
    return steps >> 8 * (uint32_t)qfz_record_dir(record) & UINT8_MAX;
}

/* Begins a block: box, in a tile that begins at (y0, x0) of the raster. */
void qfz_filter_order_start(qfz_filter_order *order, qfz_box box, int64_t y0, int64_t x0,
                            const uint16_t *node);

/* Turns n edges and loops (block.h) in list[0] into sorted records in list[0], which may change
 * places with list[1]; those of level 0 alone stay in their order, which does not matter.  list[1]:
 * for each record its number in place of the level, and the nodes of its two pixels, in the form of
 * an edge. */
void qfz_filter_order_make(qfz_filter_order *order, uint64_t *list[2], int32_t n);

/* A level up to which it is worth while to process the n > 0 edges and loops of a list by
 * themselves: level 0 if many have it, since these are not sorted; else that of about half. */
uint32_t qfz_filter_order_part(const uint64_t *list, int32_t n);

#endif
