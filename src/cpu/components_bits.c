/* SPDX-License-Identifier: MIT */
/* components_bits.c - comparisons of rows of pixels, as bits.
 *
 * 64 pixels at a time: a comparison leaves one byte per pixel, and the 64 bytes become one word.
 * Loops have constant lengths, so that the compiler vectorises them; the last pixels of a row
 * are copied to a block of full length. */
#include "cpu/components_bits.h"

#include <math.h>
#include <string.h>

enum { YES = UINT8_MAX };

/* One byte per pixel, YES or 0. */
typedef struct byte_row {
    uint8_t of[QFZ_WORD_PX];
} byte_row;

QFZ_INLINE uint64_t pack(const byte_row *row)
{
    return qfz_bits_of_bytes(row->of, 7);
}

QFZ_INLINE int block_px(int64_t at, int64_t n)
{
    return n - at < QFZ_WORD_PX ? (int)(n - at) : QFZ_WORD_PX;
}

/* ---- One byte per pixel ---------------------------------------------------------------------- */

QFZ_INLINE uint64_t nonzero_word(const uint8_t *bytes, uint8_t mask)
{
    byte_row common;
    for (int i = 0; i < QFZ_WORD_PX; i++)
        common.of[i] = bytes[i] & mask ? YES : 0;
    return pack(&common);
}

/* Bit i is set if byte i has any bit in common with the mask. */
QFZ_CLONES static void nonzero_bits(const uint8_t *bytes, uint8_t mask, int64_t n, uint64_t *bits)
{
    const int64_t whole = n / QFZ_WORD_PX;
    for (int64_t k = 0; k < whole; k++)
        bits[k] = nonzero_word(bytes + k * QFZ_WORD_PX, mask);
    if (n % QFZ_WORD_PX) {
        uint8_t tail[QFZ_WORD_PX] = {0};
        memcpy(tail, bytes + whole * QFZ_WORD_PX, (size_t)(n % QFZ_WORD_PX));
        bits[whole] = nonzero_word(tail, mask);
    }
}

void qfz_valid_bits(const qfz_image *image, int64_t p, int64_t n, uint64_t *bits)
{
    if (image->valid) {
        nonzero_bits(image->valid + p, UINT8_MAX, n, bits);
        return;
    }
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX)
        bits[at / QFZ_WORD_PX] = qfz_low_bits(n - at);
}

/* ---- Levels that are a sum or maximum of differences ----------------------------------------- */

/* Equal values differ by 0, infinite ones too.  By a mask, because the compiler does not
 * vectorise a choice between floats. */
QFZ_INLINE float float_difference(float a, float b)
{
    float difference = fabsf(a - b);
    uint32_t bits;
    memcpy(&bits, &difference, sizeof bits);
    bits &= -(uint32_t)(a != b);
    memcpy(&difference, &bits, sizeof bits);
    return difference;
}

/* A stretch of pixels and their neighbours; the values of band b begin at element b * band_px. */
typedef struct pixel_pairs {
    const void *a, *b;
    int64_t band_px, n;
    int n_bands;
} pixel_pairs;

#define INTEGER_DIFFERENCE(a, b, UNSIGNED)                                                         \
    ((UNSIGNED)((UNSIGNED)((a) > (b) ? (a) : (b)) - (UNSIGNED)((a) > (b) ? (b) : (a))))
#define FLOAT_DIFFERENCE(a, b, UNSIGNED) float_difference(a, b)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))

/* name: bit i is set if the level of pair i, as a number of type LEVEL, is at most limit.  One
 * band has a loop of its own, from which the compiler removes the loop over bands. */
#define DEFINE_ROW(name, TYPE, UNSIGNED, LEVEL, DIFFERENCE, FOLD)                                  \
    QFZ_INLINE uint64_t name##_word(const TYPE *a, const TYPE *b, int64_t band_px, int n_bands,    \
                                    LEVEL limit)                                                   \
    {                                                                                              \
        LEVEL level[QFZ_WORD_PX];                                                                  \
        byte_row near;                                                                             \
        for (int i = 0; i < QFZ_WORD_PX; i++)                                                      \
            level[i] = DIFFERENCE(a[i], b[i], UNSIGNED);                                           \
        for (int band = 1; band < n_bands; band++) {                                               \
            a += band_px;                                                                          \
            b += band_px;                                                                          \
            for (int i = 0; i < QFZ_WORD_PX; i++)                                                  \
                level[i] = (LEVEL)FOLD(level[i], DIFFERENCE(a[i], b[i], UNSIGNED));                \
        }                                                                                          \
        for (int i = 0; i < QFZ_WORD_PX; i++)                                                      \
            near.of[i] = level[i] <= limit ? YES : 0;                                              \
        return pack(&near);                                                                        \
    }                                                                                              \
    static uint64_t name##_tail(const pixel_pairs *pairs, int64_t at, int px, LEVEL limit)         \
    {                                                                                              \
        uint64_t bits = 0;                                                                         \
        for (int i = 0; i < px; i++) {                                                             \
            LEVEL level = 0;                                                                       \
            for (int band = 0; band < pairs->n_bands; band++) {                                    \
                const TYPE a = ((const TYPE *)pairs->a)[band * pairs->band_px + at + i];           \
                const TYPE b = ((const TYPE *)pairs->b)[band * pairs->band_px + at + i];           \
                level = (LEVEL)FOLD(level, DIFFERENCE(a, b, UNSIGNED));                            \
            }                                                                                      \
            bits |= (uint64_t)(level <= limit) << i;                                               \
        }                                                                                          \
        return bits;                                                                               \
    }                                                                                              \
    QFZ_CLONES static void name(const pixel_pairs *pairs, LEVEL limit, uint64_t *bits)             \
    {                                                                                              \
        const TYPE *const a = pairs->a, *const b = pairs->b;                                       \
        const int64_t whole = pairs->n / QFZ_WORD_PX, tail = pairs->n % QFZ_WORD_PX;               \
        if (pairs->n_bands == 1)                                                                   \
            for (int64_t k = 0; k < whole; k++)                                                    \
                bits[k] = name##_word(a + k * QFZ_WORD_PX, b + k * QFZ_WORD_PX, 0, 1, limit);      \
        else                                                                                       \
            for (int64_t k = 0; k < whole; k++)                                                    \
                bits[k] = name##_word(a + k * QFZ_WORD_PX, b + k * QFZ_WORD_PX, pairs->band_px,    \
                                      pairs->n_bands, limit);                                      \
        if (tail) bits[whole] = name##_tail(pairs, whole * QFZ_WORD_PX, (int)tail, limit);         \
    }

DEFINE_ROW(max_u8, uint8_t, uint8_t, uint8_t, INTEGER_DIFFERENCE, LARGER)
DEFINE_ROW(max_i8, int8_t, uint8_t, uint8_t, INTEGER_DIFFERENCE, LARGER)
DEFINE_ROW(max_u16, uint16_t, uint16_t, uint16_t, INTEGER_DIFFERENCE, LARGER)
DEFINE_ROW(max_i16, int16_t, uint16_t, uint16_t, INTEGER_DIFFERENCE, LARGER)
DEFINE_ROW(max_u32, uint32_t, uint32_t, uint32_t, INTEGER_DIFFERENCE, LARGER)
DEFINE_ROW(max_i32, int32_t, uint32_t, uint32_t, INTEGER_DIFFERENCE, LARGER)
DEFINE_ROW(max_f32, float, float, float, FLOAT_DIFFERENCE, LARGER)

/* A sum of 257 differences of 8 bits fits 16 bits, one of QFZ_MAX_BANDS differences of 16 bits
 * fits 32. */
DEFINE_ROW(sum_u8, uint8_t, uint8_t, uint16_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_i8, int8_t, uint8_t, uint16_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_u16, uint16_t, uint16_t, uint32_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_i16, int16_t, uint16_t, uint32_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_f32, float, float, float, FLOAT_DIFFERENCE, SUM)

enum { MAX_SUM_BANDS = 257 };

/* A limit beyond the range of a type becomes the type's largest number: it, too, holds for all
 * pairs. */
typedef struct level_limits {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    float f32;
} level_limits;

static level_limits limits_of_level(uint32_t level)
{
    level_limits limits = {.u8 = level < UINT8_MAX ? (uint8_t)level : UINT8_MAX,
                           .u16 = level < UINT16_MAX ? (uint16_t)level : UINT16_MAX,
                           .u32 = level};
    memcpy(&limits.f32, &level, sizeof limits.f32);
    return limits;
}

static bool max_bits(qfz_type type, const pixel_pairs *pairs, level_limits limit, uint64_t *bits)
{
    switch (type) {
    case QFZ_U8: max_u8(pairs, limit.u8, bits); return true;
    case QFZ_I8: max_i8(pairs, limit.u8, bits); return true;
    case QFZ_U16: max_u16(pairs, limit.u16, bits); return true;
    case QFZ_I16: max_i16(pairs, limit.u16, bits); return true;
    case QFZ_U32: max_u32(pairs, limit.u32, bits); return true;
    case QFZ_I32: max_i32(pairs, limit.u32, bits); return true;
    case QFZ_F32: max_f32(pairs, limit.f32, bits); return true;
    }
    return false;
}

static bool sum_bits(qfz_type type, const pixel_pairs *pairs, level_limits limit, uint64_t *bits)
{
    if (pairs->n_bands > MAX_SUM_BANDS) return false;
    switch (type) {
    case QFZ_U8: sum_u8(pairs, limit.u16, bits); return true;
    case QFZ_I8: sum_i8(pairs, limit.u16, bits); return true;
    case QFZ_U16: sum_u16(pairs, limit.u32, bits); return true;
    case QFZ_I16: sum_i16(pairs, limit.u32, bits); return true;
    case QFZ_F32: sum_f32(pairs, limit.f32, bits); return true;
    default: return false;
    }
}

/* False if there is no specialised loop for the rule. */
static bool short_way(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q, int64_t n,
                      uint64_t *bits)
{
    const uint32_t infinity_level = 0x7f800000u;
    const size_t bytes = qfz_type_bytes(image->type);
    const pixel_pairs pairs = {.a = (const char *)image->pixels + (size_t)p * bytes,
                               .b = (const char *)image->pixels + (size_t)q * bytes,
                               .band_px = image->h * image->w,
                               .n = n,
                               .n_bands = image->n_bands};
    const level_limits limit = limits_of_level(rule->alpha_level);
    const bool is_float = qfz_type_is_float(image->type);
    const bool one_sum =
        image->n_bands == 1 &&
        (rule->distance == QFZ_L1 || (rule->distance == QFZ_L2 && is_float)); /* the same */
    if (rule->weights || (is_float && rule->alpha_level > infinity_level)) return false;
    if (rule->distance == QFZ_LINF || one_sum ||
        (rule->alpha_level == 0 && qfz_level_0_is_equal(rule)))
        return max_bits(image->type, &pairs, limit, bits);
    return rule->distance == QFZ_L1 && sum_bits(image->type, &pairs, limit, bits);
}

/* ---- Any rule
 * ---------------------------------------------------------------------------------- */

static void level_bits(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                       int64_t n, uint64_t *bits)
{
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        const int px = block_px(at, n);
        uint32_t levels[QFZ_WORD_PX];
        byte_row near = {0};
        qfz_edge_levels(image, rule, dir, p + at, q + at, px, levels);
        for (int i = 0; i < px; i++)
            near.of[i] = levels[i] <= rule->alpha_level ? YES : 0;
        bits[at / QFZ_WORD_PX] = pack(&near);
    }
}

/* Sets the bits of the edges that have level 0 by the image's word. */
static void join_zeroed(const uint8_t *zeroed, int dir, int64_t n, uint64_t *bits)
{
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        uint64_t some = 0;
        nonzero_bits(zeroed + at, (uint8_t)(1 << dir), block_px(at, n), &some);
        bits[at / QFZ_WORD_PX] |= some;
    }
}

void qfz_join_bits(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                   int64_t n, uint64_t *bits)
{
    if (rule->edge_bits) {
        nonzero_bits((const uint8_t *)image->pixels + p, (uint8_t)(1 << dir), n, bits);
        return;
    }
    if (image->edges || !short_way(image, rule, p, q, n, bits))
        level_bits(image, rule, dir, p, q, n, bits);
    if (image->zeroed) join_zeroed(image->zeroed + p, dir, n, bits);
}
