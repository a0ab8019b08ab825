/* SPDX-License-Identifier: MIT */
/* arc_edges.c - border edges of a tile, 64 pixels at a time.
 *
 * Rows of labels are compared with the row above and with themselves, one pixel further, into bits;
 * only where a bit is set, corners are visited. */
#include "regions/arc_edges.h"

#include <string.h>

#include "core/memory.h"
#include "core/simd.h"

enum { BITS = 64, AT_ONCE = 8 };

/* ------------------------------------------------------------------------------------ comparison
 */
/* Bit i of bits[]: a[i] differs from b[i], i < n; up to the next multiple of 64, bits are 0. */
QFZ_CLONES static void compare_narrow(const uint32_t *a, const uint32_t *b, int64_t n,
                                      uint64_t *bits)
{
    for (; n >= BITS; n -= BITS, a += BITS, b += BITS) {
        uint32_t any = 0;
        for (int i = 0; i < BITS; i++)
            any |= a[i] ^ b[i];
        *bits++ = any ? qfz_words_differ(a, b) : 0;
    }
    if (n == 0) return;
    *bits = 0;
    for (int64_t i = 0; i < n; i++)
        *bits |= (uint64_t)(a[i] != b[i]) << i;
}

QFZ_CLONES static void compare_wide(const uint64_t *a, const uint64_t *b, int64_t n, uint64_t *bits)
{
    for (; n > 0; n -= BITS, a += BITS, b += BITS) {
        const int64_t m = n < BITS ? n : BITS;
        uint64_t any = 0;
        for (int64_t i = 0; i < m; i++)
            any |= a[i] ^ b[i];
        uint64_t word = 0;
        for (int64_t i = 0; i < m && any; i++)
            word |= (uint64_t)(a[i] != b[i]) << i;
        *bits++ = word;
    }
}

static void compare(qfz_label_grid labels, const void *a, const void *b, int64_t n, uint64_t *bits)
{
    if (labels.is_wide)
        compare_wide(a, b, n, bits);
    else
        compare_narrow(a, b, n, bits);
}

/* --------------------------------------------------------------------------------------- corners
 */
/* Byte i of the result is bit i. */
static uint64_t spread(uint64_t eight_bits)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t each = eight_bits * ones & UINT64_C(0x8040201008040201);
    return (each + 0x7f * ones) >> 7 & ones;
}

/* The words of one row of corners: bit x is the edge that leaves corner x in a direction. */
typedef struct edge_bits {
    uint64_t to[4];
} edge_bits;

static void write_corners(uint8_t *corners, const edge_bits *edges)
{
    const uint64_t any = edges->to[0] | edges->to[1] | edges->to[2] | edges->to[3];
    memset(corners, 0, BITS);
    for (int i = 0; i < BITS && any >> i; i += AT_ONCE) {
        uint64_t eight = 0;
        if ((any >> i & UINT8_MAX) == 0) continue;
        for (int d = 0; d < 4; d++)
            eight |= spread(edges->to[d] >> i & UINT8_MAX) << d;
        memcpy(corners + i, &eight, sizeof eight);
    }
}

/* across: bit x + 1: pixel x differs from the pixel above; above, below: bit x: pixel x of the row
 * differs from the pixel on its left. */
static void write_row(uint8_t *corners, const uint64_t *across, const uint64_t *above,
                      const uint64_t *below, int64_t n_words)
{
    for (int64_t i = 0; i < n_words; i++) {
        edge_bits edges;
        edges.to[QFZ_ARC_EAST] = across[i] >> 1 | across[i + 1] << (BITS - 1);
        edges.to[QFZ_ARC_SOUTH] = below[i];
        edges.to[QFZ_ARC_WEST] = across[i];
        edges.to[QFZ_ARC_NORTH] = above[i];
        write_corners(corners + i * BITS, &edges);
    }
}

static qfz_status reserve(qfz_arcs *arcs, int64_t w, int64_t h, qfz_error *err)
{
    const int64_t n_words = w / BITS + 1, pitch = n_words * BITS;
    if (pitch * (h + 1) > arcs->corners_room) {
        QFZ_TRY(qfz_realloc((void **)&arcs->corners, pitch * (h + 1), 1, err));
        arcs->corners_room = pitch * (h + 1);
    }
    if (3 * (n_words + 1) > arcs->bits_room) {
        QFZ_TRY(qfz_realloc((void **)&arcs->bits, 3 * (n_words + 1), sizeof *arcs->bits, err));
        arcs->bits_room = 3 * (n_words + 1);
    }
    arcs->corners_pitch = pitch;
    return QFZ_OK;
}

/* Row 0 of the labels is the row above the tile. */
qfz_status qfz_arcs_find_edges(qfz_arcs *arcs, int64_t w, int64_t h, qfz_label_grid labels,
                               qfz_error *err)
{
    QFZ_TRY(reserve(arcs, w, h, err));
    const int64_t n_words = w / BITS + 1;
    uint64_t *const across = arcs->bits;
    uint64_t *above = across + n_words + 1, *below = above + n_words + 1;
    across[n_words] = 0;
    compare(labels, qfz_label_grid_at(labels, 0, 0), qfz_label_grid_at(labels, 0, 1), w + 1, above);
    for (int64_t y = 0; y <= h; y++) {
        const void *const row = qfz_label_grid_at(labels, y + 1, 0);
        compare(labels, row, qfz_label_grid_at(labels, y + 1, 1), w + 1, below);
        compare(labels, row, qfz_label_grid_at(labels, y, 0), w + 2, across);
        write_row(arcs->corners + y * arcs->corners_pitch, across, above, below, n_words);
        uint64_t *const done = above;
        above = below;
        below = done;
    }
    return QFZ_OK;
}
