/* SPDX-License-Identifier: MIT */
/* components_bits.c - comparisons of rows of pixels, as bits.
 *
 * 64 pixels at a time: a comparison leaves one byte, 0 or 1, per pixel; the bytes become a word. */
#include "cpu/components_bits.h"

#include <string.h>

typedef struct answers {
    uint8_t yes[QFZ_WORD_PX];
} answers;

/* The product moves byte i, 0 or 1, of eight to bit i of the highest byte (little-endian). */
static inline uint64_t pack(const answers *a)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, a->yes + 8 * i, sizeof eight);
        word |= (eight * 0x0102040810204080u >> 56) << 8 * i;
    }
    return word;
}

static inline int block_px(int64_t at, int64_t n)
{
    return n - at < QFZ_WORD_PX ? (int)(n - at) : QFZ_WORD_PX;
}

void qfz_valid_bits(const qfz_image *image, int64_t p, int64_t n, uint64_t *bits)
{
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        const int px = block_px(at, n);
        answers a = {0};
        for (int i = 0; i < px; i++)
            a.yes[i] = !image->valid || image->valid[p + at + i];
        bits[at / QFZ_WORD_PX] = pack(&a);
    }
}

/* Edges that are stored: bit dir of the pixel that an edge starts from. */
static void stored_bits(const qfz_image *image, int dir, int64_t p, int64_t n, uint64_t *bits)
{
    const uint8_t *const edges = (const uint8_t *)image->pixels + p;
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        const int px = block_px(at, n);
        answers a = {0};
        for (int i = 0; i < px; i++)
            a.yes[i] = edges[at + i] >> dir & 1;
        bits[at / QFZ_WORD_PX] = pack(&a);
    }
}

static void level_bits(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q, int64_t n,
                       uint64_t *bits)
{
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        const int px = block_px(at, n);
        uint32_t keys[QFZ_WORD_PX];
        answers a = {0};
        qfz_levels(image, rule->distance, p + at, q + at, px, keys);
        for (int i = 0; i < px; i++)
            a.yes[i] = keys[i] <= rule->alpha_key;
        bits[at / QFZ_WORD_PX] = pack(&a);
    }
}

void qfz_join_bits(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                   int64_t n, uint64_t *bits)
{
    if (rule->edge_bits)
        stored_bits(image, dir, p, n, bits);
    else
        level_bits(image, rule, p, q, n, bits);
}
