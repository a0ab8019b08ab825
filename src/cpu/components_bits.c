/* SPDX-License-Identifier: MIT */
/* components_bits.c - comparisons of rows of pixels, as bits.
 *
 * 64 pixels at a time: a comparison leaves one byte per pixel; the bytes become a word.
 * Loops have constant lengths, so that the compiler makes vectors of them; what is left at the end
 * of a row is copied to a block of full length. */
#include "cpu/components_bits.h"

#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define YES UINT8_MAX

/* One byte per pixel, YES or 0. */
typedef struct answers {
    uint8_t of[QFZ_WORD_PX];
} answers;

#ifdef __SSE2__ /* a third of the time of what follows, and no less plain */
QFZ_INLINE uint64_t pack(const answers *a)
{
    uint64_t word = 0;
    for (int i = 0; i < 4; i++) {
        const __m128i part = _mm_loadu_si128((const __m128i *)(a->of + 16 * i));
        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(part) << 16 * i;
    }
    return word;
}
#else
/* The product moves the lowest bit of byte i of eight to bit i of the highest (little-endian). */
QFZ_INLINE uint64_t pack(const answers *a)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, a->of + 8 * i, sizeof eight);
        word |= (eight & 0x0101010101010101u) * 0x0102040810204080u >> 56 << 8 * i;
    }
    return word;
}
#endif

QFZ_INLINE int block_px(int64_t at, int64_t n)
{
    return n - at < QFZ_WORD_PX ? (int)(n - at) : QFZ_WORD_PX;
}

/* ---- One byte per pixel ---------------------------------------------------------------------- */

QFZ_INLINE uint64_t nonzero_word(const uint8_t *bytes, uint8_t mask)
{
    answers a;
    for (int i = 0; i < QFZ_WORD_PX; i++)
        a.of[i] = bytes[i] & mask ? YES : 0;
    return pack(&a);
}

/* Bit i: has byte i any bit in common with the mask? */
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

/* Equal values differ by 0, infinite ones too.  By mask: the compiler makes no vector of a choice
 * between floats. */
QFZ_INLINE float float_difference(float a, float b)
{
    float difference = fabsf(a - b);
    uint32_t bits;
    memcpy(&bits, &difference, sizeof bits);
    bits &= -(uint32_t)(a != b);
    memcpy(&difference, &bits, sizeof bits);
    return difference;
}

/* A stretch of pixels and their neighbours: band b's begin at element b * band_px. */
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

/* name: bit i = is the level of pair i, as a number of type LEVEL, no more than limit?  One band
 * has a loop of its own, from which the compiler drops that over bands. */
#define DEFINE_ROW(name, TYPE, UNSIGNED, LEVEL, DIFFERENCE, FOLD)                                  \
    QFZ_INLINE uint64_t name##_word(const TYPE *a, const TYPE *b, int64_t band_px, int n_bands,    \
                                    LEVEL limit)                                                   \
    {                                                                                              \
        LEVEL level[QFZ_WORD_PX];                                                                  \
        answers near;                                                                              \
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

/* Sums of 257 differences of 8 bits fit 16, those of QFZ_MAX_BANDS of 16 bits fit 32. */
DEFINE_ROW(sum_u8, uint8_t, uint8_t, uint16_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_i8, int8_t, uint8_t, uint16_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_u16, uint16_t, uint16_t, uint32_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_i16, int16_t, uint16_t, uint32_t, INTEGER_DIFFERENCE, SUM)
DEFINE_ROW(sum_f32, float, float, float, FLOAT_DIFFERENCE, SUM)

enum { MAX_SUM_BANDS = 257 };

/* A limit beyond the type's range holds for all pairs: its largest number does as well. */
typedef struct key_limits {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    float f32;
} key_limits;

static key_limits limits_of_key(uint32_t key)
{
    key_limits limits = {.u8 = key < UINT8_MAX ? (uint8_t)key : UINT8_MAX,
                         .u16 = key < UINT16_MAX ? (uint16_t)key : UINT16_MAX,
                         .u32 = key};
    memcpy(&limits.f32, &key, sizeof limits.f32);
    return limits;
}

static bool max_bits(qfz_type type, const pixel_pairs *pairs, key_limits limit, uint64_t *bits)
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

static bool sum_bits(qfz_type type, const pixel_pairs *pairs, key_limits limit, uint64_t *bits)
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

/* False if there is no short way.  A level of 0 means equal values under every distance of
 * integers; of floats, the square of a difference may vanish. */
static bool short_way(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q, int64_t n,
                      uint64_t *bits)
{
    const uint32_t infinity_key = 0x7f800000u;
    const size_t bytes = qfz_type_bytes(image->type);
    const pixel_pairs pairs = {.a = (const char *)image->pixels + (size_t)p * bytes,
                               .b = (const char *)image->pixels + (size_t)q * bytes,
                               .band_px = image->h * image->w,
                               .n = n,
                               .n_bands = image->n_bands};
    const key_limits limit = limits_of_key(rule->alpha_level);
    const bool is_float = qfz_type_is_float(image->type);
    const bool one_sum = rule->distance == QFZ_L1 && image->n_bands == 1;
    if (is_float && rule->alpha_level > infinity_key) return false;
    if (rule->distance == QFZ_LINF || one_sum || (rule->alpha_level == 0 && !is_float))
        return max_bits(image->type, &pairs, limit, bits);
    return rule->distance == QFZ_L1 && sum_bits(image->type, &pairs, limit, bits);
}

/* ---- The general way ------------------------------------------------------------------------- */

static void level_bits(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q,
                       int64_t n, uint64_t *bits)
{
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        const int px = block_px(at, n);
        uint32_t keys[QFZ_WORD_PX];
        answers a = {0};
        qfz_levels(image, rule->distance, p + at, q + at, px, keys);
        for (int i = 0; i < px; i++)
            a.of[i] = keys[i] <= rule->alpha_level ? YES : 0;
        bits[at / QFZ_WORD_PX] = pack(&a);
    }
}

void qfz_join_bits(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                   int64_t n, uint64_t *bits)
{
    if (rule->edge_bits) {
        nonzero_bits((const uint8_t *)image->pixels + p, (uint8_t)(1 << dir), n, bits);
    } else if (!short_way(image, rule, p, q, n, bits)) {
        level_bits(image, rule, p, q, n, bits);
    }
}
