/* SPDX-License-Identifier: MIT */
#include "cpu/filter_order.h"

#include <string.h>

#include "core/position.h"
#include "core/simd.h"

enum {
    ROW_SHIFT = 21,
    KEY_BITS = 64 - QFZ_RECORD_KEY_SHIFT,
    /* Bits of positions to sort by: at least, if a level has few edges; and if it has all. */
    SOME_BITS = 6,
    MOST_BITS = 16
};

/* ---- Records. */
uint64_t qfz_record_position(const qfz_filter_order *order, uint64_t record)
{
    const uint32_t place = qfz_record_place(record);
    const uint32_t y = place * order->row_of >> ROW_SHIFT, x = place - y * order->w;
    return qfz_position(order->y0 + y, order->x0 + x, qfz_record_dir(record));
}

/* Of the step from pixel x of a row to the second pixel of an edge: BELOW 1, BELOW_RIGHT 2,
 * BELOW_LEFT 3. */
QFZ_INLINE uint32_t dir_of(uint32_t step, uint32_t x, uint32_t w)
{
    const uint32_t is_right = (step == 1) & (x + 1 < w);
    const uint32_t below = 1u + (step > w) + 2u * (step < w);
    return below & (is_right - 1u);
}

uint64_t qfz_filter_order_position(const qfz_filter_order *order, uint32_t p, uint32_t q)
{
    const uint32_t step = q - p;
    const uint32_t y = p * order->row_of >> ROW_SHIFT, x = p - y * order->w;
    return qfz_position(order->y0 + y, order->x0 + x, (int)dir_of(step, x, order->w));
}

/* In place.  Without branches, so that the compiler vectorises the loop. */
QFZ_CLONES_512 static void make_records(const qfz_filter_order *order, uint64_t *list, int32_t n)
{
    const uint64_t row = (uint64_t)order->y0 << 34 | (uint64_t)order->x0 << 2;
    const uint32_t w = order->w, row_of = order->row_of;
    const int level_bits = order->level_bits;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t edge = list[i];
        const uint32_t p = qfz_edge_p(edge), step = qfz_edge_q(edge) - p;
        const uint32_t y = p * row_of >> ROW_SHIFT, x = p - y * w;
        const uint32_t is_edge = step != 0, dir = dir_of(step, x, w) & (0u - is_edge);
        const uint64_t level = qfz_edge_level(edge);
        const uint64_t position =
            qfz_mix64(row + ((uint64_t)y << 34 | (uint64_t)x << 2 | qfz_position_number(dir)));
        const uint64_t key =
            level << (64 - level_bits) | (position & (0 - (uint64_t)is_edge)) >> level_bits;
        list[i] = (key & ~(uint64_t)((1 << QFZ_RECORD_KEY_SHIFT) - 1)) |
                  (uint64_t)is_edge << QFZ_RECORD_EDGE_SHIFT |
                  (uint64_t)dir << QFZ_RECORD_DIR_SHIFT | p;
    }
}

/* ---- Sorting.  Positions are spread evenly, so their first digits order nearly all edges; an
 * insertion sort completes the order. */
static bool is_before(const qfz_filter_order *order, uint64_t a, uint64_t b)
{
    if (a >> QFZ_RECORD_KEY_SHIFT != b >> QFZ_RECORD_KEY_SHIFT) return a < b;
    if (qfz_record_is_loop(a) || qfz_record_is_loop(b))
        return a >> QFZ_RECORD_EDGE_SHIFT < b >> QFZ_RECORD_EDGE_SHIFT;
    return qfz_record_position(order, a) < qfz_record_position(order, b);
}

__attribute__((noinline)) static void insert(const qfz_filter_order *order, uint64_t *list,
                                             int32_t at)
{
    const uint64_t own = list[at];
    for (; at > 0 && is_before(order, own, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = own;
}

static void insert_each(const qfz_filter_order *order, uint64_t *list, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        if (list[i] >> QFZ_RECORD_KEY_SHIFT <= list[i - 1] >> QFZ_RECORD_KEY_SHIFT)
            insert(order, list, i);
}

/* Works on the two halves of the list at a time: consecutive edges of one half often have the same
 * digit, and each would wait for the store of the one before. */
static void sort_by_digit(uint32_t (*restrict count)[1 << QFZ_ORDER_DIGIT_BITS],
                          const uint64_t *restrict from, uint64_t *restrict to, int32_t n,
                          int shift, int bits)
{
    const uint32_t mask = (1u << bits) - 1;
    const int32_t half = n / 2;
    const uint64_t *const second = from + half;
    uint32_t sum = 0;
    memset(count[0], 0, sizeof count[0][0] << bits);
    memset(count[1], 0, sizeof count[1][0] << bits);
    for (int32_t i = 0; i < half; i++) {
        count[0][from[i] >> shift & mask]++;
        count[1][second[i] >> shift & mask]++;
    }
    if (n % 2) count[1][second[half] >> shift & mask]++;
    for (uint32_t d = 0; d <= mask; d++) {
        for (int k = 0; k < 2; k++) {
            const uint32_t was = count[k][d];
            count[k][d] = sum;
            sum += was;
        }
    }
    for (int32_t i = 0; i < half; i++) {
        to[count[0][from[i] >> shift & mask]++] = from[i];
        to[count[1][second[i] >> shift & mask]++] = second[i];
    }
    if (n % 2) to[count[1][second[half] >> shift & mask]++] = second[half];
}

static void sort(qfz_filter_order *order, uint64_t *list[2], int32_t n)
{
    const int level_bits = order->level_bits;
    const int some = (level_bits + SOME_BITS + QFZ_ORDER_DIGIT_BITS - 1) / QFZ_ORDER_DIGIT_BITS;
    const int passes = some < 2 ? 2 : some;
    const int most = level_bits + MOST_BITS, room = passes * QFZ_ORDER_DIGIT_BITS;
    const int bits = ((most < room ? most : room) + passes - 1) / passes;
    for (int pass = passes; pass > 0; pass--) {
        uint64_t *const from = list[0];
        sort_by_digit(order->count, from, list[1], n, 64 - pass * bits, bits);
        list[0] = list[1];
        list[1] = from;
    }
    insert_each(order, list[0], n);
}

/* ---- Edges of records. */
static void make_edges(const qfz_filter_order *order, const uint64_t *records, int32_t n,
                       uint64_t *edges)
{
    const uint16_t *const node = order->node;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t record = records[i];
        const uint32_t p = qfz_record_place(record);
        const uint32_t step = qfz_record_is_loop(record) ? 0 : qfz_record_step(order, record);
        edges[i] = qfz_edge_of((uint32_t)i, node[p], node[p + step]);
    }
}

void qfz_filter_order_start(qfz_filter_order *order, qfz_box box, int64_t y0, int64_t x0,
                            const uint16_t *node)
{
    order->node = node;
    order->y0 = y0 + box.y0;
    order->x0 = x0 + box.x0;
    order->w = (uint32_t)qfz_box_w(box);
    order->row_of = ((1u << ROW_SHIFT) + order->w - 1) / order->w;
}

void qfz_filter_order_make(qfz_filter_order *order, uint64_t *list[2], int32_t n)
{
    uint64_t any = 0;
    for (int32_t i = 0; i < n; i++)
        any |= list[0][i];
    order->level_bits = 32 - __builtin_clz(qfz_edge_level(any) | 1);
    make_records(order, list[0], n);
    if (qfz_edge_level(any) > 0) sort(order, list, n);
    make_edges(order, list[0], n, list[1]);
}

/* ---- Parts. */
uint32_t qfz_filter_order_part(const uint64_t *list, int32_t n)
{
    enum { SOME = 65 };
    uint32_t sorted[SOME];
    for (int i = 0; i < SOME; i++) {
        const uint32_t level = qfz_edge_level(list[(int64_t)n * i / SOME]);
        int at = i;
        for (; at > 0 && sorted[at - 1] > level; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = level;
    }
    return sorted[SOME / 8] == 0 ? 0 : sorted[SOME * 3 / 4];
}
