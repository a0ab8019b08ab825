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

/* ---- Bands that each have to differ by no more than a limit ---------------------------------- */

#define INTEGER_NEAR(a, b, limit, UNSIGNED) \
    ((UNSIGNED)((UNSIGNED)((a) > (b) ? (a) : (b)) - (UNSIGNED)((a) > (b) ? (b) : (a))) <= (limit))
#define FLOAT_NEAR(a, b, limit, UNSIGNED) (((a) == (b)) | (fabsf((a) - (b)) <= (limit)))

/* row_<TYPE>: bit i of bits &= are a[i] and b[i] no more than limit apart? */
#define DEFINE_ROW(name, TYPE, LIMIT, NEAR)                                                        \
    QFZ_INLINE uint64_t name##_word(const TYPE *a, const TYPE *b, LIMIT limit)                     \
    {                                                                                              \
        answers near;                                                                              \
        for (int i = 0; i < QFZ_WORD_PX; i++)                                                      \
            near.of[i] = NEAR(a[i], b[i], limit, LIMIT) ? YES : 0;                                        \
        return pack(&near);                                                                        \
    }                                                                                              \
    QFZ_CLONES static void name(const void *plane, int64_t p, int64_t q, int64_t n, LIMIT limit,   \
                                uint64_t *bits)                                                    \
    {                                                                                              \
        const TYPE *const a = (const TYPE *)plane + p, *const b = (const TYPE *)plane + q;         \
        const int64_t whole = n / QFZ_WORD_PX * QFZ_WORD_PX;                                       \
        for (int64_t at = 0; at < whole; at += QFZ_WORD_PX)                                        \
            bits[at / QFZ_WORD_PX] &= name##_word(a + at, b + at, limit);                          \
        if (whole < n) {                                                                           \
            TYPE tail_a[QFZ_WORD_PX] = {0}, tail_b[QFZ_WORD_PX] = {0};                             \
            memcpy(tail_a, a + whole, (size_t)(n - whole) * sizeof(TYPE));                         \
            memcpy(tail_b, b + whole, (size_t)(n - whole) * sizeof(TYPE));                         \
            bits[whole / QFZ_WORD_PX] &= name##_word(tail_a, tail_b, limit);                       \
        }                                                                                          \
    }

DEFINE_ROW(row_u8, uint8_t, uint8_t, INTEGER_NEAR)
DEFINE_ROW(row_i8, int8_t, uint8_t, INTEGER_NEAR)
DEFINE_ROW(row_u16, uint16_t, uint16_t, INTEGER_NEAR)
DEFINE_ROW(row_i16, int16_t, uint16_t, INTEGER_NEAR)
DEFINE_ROW(row_u32, uint32_t, uint32_t, INTEGER_NEAR)
DEFINE_ROW(row_i32, int32_t, uint32_t, INTEGER_NEAR)
DEFINE_ROW(row_f32, float, float, FLOAT_NEAR)

/* A limit beyond the type's range holds for all pairs: its largest number does as well. */
static void band_bits(const qfz_image *image, int band, uint32_t limit, int64_t p, int64_t q,
                      int64_t n, uint64_t *bits)
{
    const size_t band_bytes = (size_t)(image->h * image->w) * qfz_type_bytes(image->type);
    const void *const plane = (const char *)image->pixels + (size_t)band * band_bytes;
    const uint8_t limit_8 = limit < UINT8_MAX ? (uint8_t)limit : UINT8_MAX;
    const uint16_t limit_16 = limit < UINT16_MAX ? (uint16_t)limit : UINT16_MAX;
    float limit_float;
    memcpy(&limit_float, &limit, sizeof limit_float);
    switch (image->type) {
    case QFZ_U8: row_u8(plane, p, q, n, limit_8, bits); break;
    case QFZ_I8: row_i8(plane, p, q, n, limit_8, bits); break;
    case QFZ_U16: row_u16(plane, p, q, n, limit_16, bits); break;
    case QFZ_I16: row_i16(plane, p, q, n, limit_16, bits); break;
    case QFZ_U32: row_u32(plane, p, q, n, limit, bits); break;
    case QFZ_I32: row_i32(plane, p, q, n, limit, bits); break;
    case QFZ_F32: row_f32(plane, p, q, n, limit_float, bits); break;
    }
}

/* Can each band be compared with alpha by itself?  A level of 0 means equal values under every
 * distance of integers; of floats, the square of a difference may vanish. */
static bool is_by_band(const qfz_image *image, const qfz_rule *rule)
{
    const uint32_t infinity_key = 0x7f800000u;
    const bool one_band = image->n_bands == 1 && rule->distance == QFZ_L1;
    const bool largest = rule->distance == QFZ_LINF || one_band;
    if (qfz_type_is_float(image->type)) return largest && rule->alpha_key <= infinity_key;
    return largest || rule->alpha_key == 0;
}

/* ---- The general way ------------------------------------------------------------------------- */

static void level_bits(const qfz_image *image, const qfz_rule *rule, int64_t p, int64_t q, int64_t n,
                       uint64_t *bits)
{
    for (int64_t at = 0; at < n; at += QFZ_WORD_PX) {
        const int px = block_px(at, n);
        uint32_t keys[QFZ_WORD_PX];
        answers a = {0};
        qfz_levels(image, rule->distance, p + at, q + at, px, keys);
        for (int i = 0; i < px; i++)
            a.of[i] = keys[i] <= rule->alpha_key ? YES : 0;
        bits[at / QFZ_WORD_PX] = pack(&a);
    }
}

void qfz_join_bits(const qfz_image *image, const qfz_rule *rule, int dir, int64_t p, int64_t q,
                   int64_t n, uint64_t *bits)
{
    if (rule->edge_bits) {
        nonzero_bits((const uint8_t *)image->pixels + p, (uint8_t)(1 << dir), n, bits);
    } else if (is_by_band(image, rule)) {
        for (int64_t at = 0; at < n; at += QFZ_WORD_PX)
            bits[at / QFZ_WORD_PX] = qfz_low_bits(n - at);
        for (int band = 0; band < image->n_bands; band++)
            band_bits(image, band, rule->alpha_key, p, q, n, bits);
    } else {
        level_bits(image, rule, p, q, n, bits);
    }
}
