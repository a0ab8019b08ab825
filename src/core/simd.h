/* SPDX-License-Identifier: MIT */
/* simd.h - everything that is written for a certain processor; no other file has intrinsics.
 *
 * Each operation has a plain C form, which defines its result, and may have a faster form for
 * x86-64; the results are equal bit for bit.  All other processors run the plain forms, and so does
 * a build with QFZ_SIMD_PLAIN defined, which the tests use.
 *
 * There are three kinds of operations: loops that the compiler vectorises (QFZ_CLONES), small
 * operations for every x86-64 processor (SSE2), and vectors of eight words (qfz_lanes, AVX2), which
 * a function may use only after qfz_lanes_are_fast() returned true. */
#ifndef QFZ_SIMD_H
#define QFZ_SIMD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && !defined(QFZ_SIMD_PLAIN)
#define QFZ_SIMD_X86
#include <immintrin.h>
#endif

/* ---- Clones: the compiler builds a hot loop several times, and the loader picks the version for
 * the processor.  For static functions only, since the picking function of any other function would
 * be exported.  The name of a clone occurs once in the library: clang gives its picking function
 * external linkage.  The loader calls picking functions before ThreadSanitizer, which observes
 * them, has begun. */
#if defined(__SANITIZE_THREAD__)
#define QFZ_SIMD_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QFZ_SIMD_THREAD_SANITIZER
#endif
#endif
#if defined(QFZ_SIMD_X86) && defined(__linux__) && !defined(QFZ_SIMD_THREAD_SANITIZER)
#define QFZ_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define QFZ_CLONES
#endif

/* One more version with vectors of 512 bits, for loops with many comparisons of unsigned words, if
 * the compiler supports it (gcc 12).  That processor can fuse products with sums, which
 * -ffp-contract=off forbids. */
#if defined(QFZ_SIMD_X86) && defined(__linux__) && !defined(__clang__) && __GNUC__ >= 12 &&        \
    !defined(QFZ_SIMD_THREAD_SANITIZER)
#define QFZ_CLONES_512 __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define QFZ_CLONES_512 QFZ_CLONES
#endif

/* For functions that a clone calls: each version of the clone gets a copy of its own. */
#define QFZ_INLINE static inline __attribute__((always_inline))

/* ---- Small operations. */

/* Bit i of the result is bit `bit` of bytes[i], 0 <= i < 64. */
QFZ_INLINE uint64_t qfz_bits_of_bytes(const uint8_t *bytes, int bit)
{
    uint64_t bits = 0;
#ifdef QFZ_SIMD_X86
    for (int i = 0; i < 64; i += 16) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(bytes + i));
        const int high_bits = _mm_movemask_epi8(_mm_slli_epi16(some, 7 - bit));
        bits |= (uint64_t)(uint32_t)high_bits << i;
    }
#else
    /* The product moves the lowest bit of byte i of eight to bit i of the highest byte
     * (little-endian). */
    for (int i = 0; i < 64; i += 8) {
        uint64_t eight;
        memcpy(&eight, bytes + i, sizeof eight);
        bits |= (eight >> bit & 0x0101010101010101u) * 0x0102040810204080u >> 56 << i;
    }
#endif
    return bits;
}

/* Bit i of the result is the highest bit of words[i], 0 <= i < 64. */
QFZ_INLINE uint64_t qfz_high_bits_of_words(const uint16_t *words)
{
    uint64_t bits = 0;
#ifdef QFZ_SIMD_X86
    for (int i = 0; i < 64; i += 8) {
        const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(words + i));
        const __m128i high = _mm_packs_epi16(some, _mm_setzero_si128());
        bits |= (uint64_t)_mm_movemask_epi8(high) << i;
    }
#else
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(words[i] >> 15) << i;
#endif
    return bits;
}

/* Bit i of the result: words[i] == first + i modulo 2^16, 0 <= i < 64. */
QFZ_INLINE uint64_t qfz_words_in_sequence(const uint16_t *words, uint16_t first)
{
    uint64_t bits = 0;
#ifdef QFZ_SIMD_X86
    const __m128i eight = _mm_set1_epi16(8);
    __m128i due =
        _mm_add_epi16(_mm_set1_epi16((short)first), _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
    for (int i = 0; i < 64; i += 16) {
        const __m128i *const some = (const __m128i *)(const void *)(words + i);
        const __m128i low = _mm_cmpeq_epi16(_mm_loadu_si128(some), due);
        const __m128i next = _mm_add_epi16(due, eight);
        const __m128i high = _mm_cmpeq_epi16(_mm_loadu_si128(some + 1), next);
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
        due = _mm_add_epi16(next, eight);
    }
#else
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(words[i] == (uint16_t)(first + i)) << i;
#endif
    return bits;
}

/* Bit i of the result: words a[i] and b[i] differ, 0 <= i < 64. */
QFZ_INLINE uint64_t qfz_words_differ(const uint32_t *a, const uint32_t *b)
{
    uint64_t bits = 0;
#ifdef QFZ_SIMD_X86
    for (int i = 0; i < 64; i += 16) {
        __m128i equal[4];
        for (int k = 0; k < 4; k++)
            equal[k] =
                _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)(a + i + 4 * k)),
                                _mm_loadu_si128((const __m128i *)(const void *)(b + i + 4 * k)));
        const __m128i bytes = _mm_packs_epi16(_mm_packs_epi32(equal[0], equal[1]),
                                              _mm_packs_epi32(equal[2], equal[3]));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(bytes) << i;
    }
    return ~bits;
#else
    for (int i = 0; i < 64; i++)
        bits |= (uint64_t)(a[i] != b[i]) << i;
    return bits;
#endif
}

/* A word holds two signed 16-bit numbers; each half of the result is the least of its halves. */
QFZ_INLINE uint32_t qfz_min_of_halves(uint32_t a, uint32_t b)
{
#ifdef QFZ_SIMD_X86
    const __m128i in_a = _mm_cvtsi32_si128((int)a), in_b = _mm_cvtsi32_si128((int)b);
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epi16(in_a, in_b));
#else
    const uint32_t low = (int16_t)a < (int16_t)b ? a : b;
    const uint32_t high = (int16_t)(a >> 16) < (int16_t)(b >> 16) ? a : b;
    return (low & UINT16_MAX) | (high & ~(uint32_t)UINT16_MAX);
#endif
}

/* Numbers the roots of a forest of n nodes, which up[] leads to: up[i] == i.  number[i] = 1, 2, 3
 * ... at roots, in order; 0 at roots of level UINT32_MAX, which get no number; `hooked` elsewhere.
 * Returns the last number.  Processes n rounded up to a multiple of 8 elements. */
static inline uint16_t qfz_number_roots(const uint16_t *up, const uint32_t *level, int n,
                                        uint16_t hooked, uint16_t *number)
{
#ifdef QFZ_SIMD_X86
    const __m128i none = _mm_set1_epi32(-1), elsewhere = _mm_set1_epi16((short)hooked);
    __m128i last = _mm_setzero_si128();
    for (int i = 0; i < n; i += 8) {
        const __m128i eight = _mm_loadu_si128((const __m128i *)(const void *)(up + i));
        const __m128i *const levels = (const __m128i *)(const void *)(level + i);
        const __m128i itself =
            _mm_add_epi16(_mm_set1_epi16((short)i), _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
        const __m128i unhooked = _mm_cmpeq_epi16(eight, itself);
        const __m128i without = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_loadu_si128(levels), none),
                                                _mm_cmpeq_epi32(_mm_loadu_si128(levels + 1), none));
        const __m128i root = _mm_andnot_si128(without, unhooked); /* -1 or 0 */
        const __m128i twos = _mm_add_epi16(root, _mm_slli_si128(root, 2));
        const __m128i fours = _mm_add_epi16(twos, _mm_slli_si128(twos, 4));
        const __m128i sums = _mm_add_epi16(fours, _mm_slli_si128(fours, 8));
        const __m128i own = _mm_sub_epi16(last, sums);
        _mm_storeu_si128(
            (__m128i *)(void *)(number + i),
            _mm_or_si128(_mm_and_si128(own, root), _mm_andnot_si128(unhooked, elsewhere)));
        last = _mm_shuffle_epi32(_mm_shufflehi_epi16(own, 0xff), 0xff);
    }
    return (uint16_t)_mm_extract_epi16(last, 0);
#else
    uint16_t last = 0;
    for (int i = 0; i < (n + 7) / 8 * 8; i++) {
        const bool root = up[i] == i && level[i] != UINT32_MAX;
        last = (uint16_t)(last + root);
        number[i] = root ? last : up[i] == i ? 0 : hooked;
    }
    return last;
#endif
}

/* Copies n words past the caches: for memory that nothing reads soon.  qfz_stream_end() follows the
 * last copy, before another thread reads the words. */
static inline void qfz_stream_words(const uint32_t *from, int64_t n, uint32_t *to)
{
#ifdef QFZ_SIMD_X86
    const int64_t some = (int64_t)(sizeof(__m128i) / sizeof *to);
    int64_t i = 0;
    for (; i < n && (uintptr_t)(to + i) % sizeof(__m128i); i++)
        to[i] = from[i];
    for (; i + some <= n; i += some)
        _mm_stream_si128((__m128i *)(void *)(to + i),
                         _mm_loadu_si128((const __m128i *)(const void *)(from + i)));
    for (; i < n; i++)
        to[i] = from[i];
#else
    memcpy(to, from, (size_t)n * sizeof *to);
#endif
}

static inline void qfz_stream_end(void)
{
#ifdef QFZ_SIMD_X86
    _mm_sfence();
#endif
}

/* ---- Vectors of eight words.  Functions that use them are QFZ_LANES. */

enum { QFZ_N_LANES = 8 };

#ifdef QFZ_SIMD_X86
#define QFZ_LANES __attribute__((target("avx2,popcnt")))
typedef __m256i qfz_lanes;
#else
#define QFZ_LANES
typedef struct qfz_lanes {
    uint32_t of[QFZ_N_LANES];
} qfz_lanes;
#endif

/* True if the processor has vectors of this size.  Where it has not, loops over single words are
 * faster than the plain forms, which only the tests run. */
static inline bool qfz_lanes_are_fast(void)
{
#if defined(QFZ_SIMD_X86)
    return __builtin_cpu_supports("avx2");
#elif defined(QFZ_SIMD_PLAIN)
    return true;
#else
    return false;
#endif
}

#ifdef QFZ_SIMD_X86
#define QFZ_LANES_INLINE QFZ_LANES static inline

/* The same word in each lane. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_all(uint32_t word)
{
    return _mm256_set1_epi32((int)word);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_load(const uint32_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

/* Eight numbers of 16 bits. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_load_halves(const uint16_t *from)
{
    return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)from));
}

/* The bytes of a word of 64 bits, the lowest first. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_load_bytes(const uint64_t *from)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)from));
}

/* Without optimisation, _mm_insert_epi16() is a macro that converts implicitly. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"

/* table[low half of words[i]]: one by one, since that is faster than a gather. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_look_up(const uint16_t *table, const uint32_t *words)
{
    __m128i first = _mm_cvtsi32_si128(table[words[0] & UINT16_MAX]);
    __m128i second = _mm_cvtsi32_si128(table[words[4] & UINT16_MAX]);
    first = _mm_insert_epi16(first, table[words[1] & UINT16_MAX], 1);
    second = _mm_insert_epi16(second, table[words[5] & UINT16_MAX], 1);
    first = _mm_insert_epi16(first, table[words[2] & UINT16_MAX], 2);
    second = _mm_insert_epi16(second, table[words[6] & UINT16_MAX], 2);
    first = _mm_insert_epi16(first, table[words[3] & UINT16_MAX], 3);
    second = _mm_insert_epi16(second, table[words[7] & UINT16_MAX], 3);
    return _mm256_cvtepu16_epi32(_mm_unpacklo_epi64(first, second));
}

#pragma GCC diagnostic pop

QFZ_LANES_INLINE void qfz_lanes_store(uint32_t *to, qfz_lanes lanes)
{
    _mm256_storeu_si256((__m256i *)(void *)to, lanes);
}

/* Lane i of the result is lane order[i]. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_pick(qfz_lanes lanes, qfz_lanes order)
{
    return _mm256_permutevar8x32_epi32(lanes, order);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_and(qfz_lanes a, qfz_lanes b)
{
    return _mm256_and_si256(a, b);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_add(qfz_lanes a, qfz_lanes b)
{
    return _mm256_add_epi32(a, b);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_min(qfz_lanes a, qfz_lanes b)
{
    return _mm256_min_epu32(a, b);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_max(qfz_lanes a, qfz_lanes b)
{
    return _mm256_max_epu32(a, b);
}

/* The high halves as words. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_high(qfz_lanes lanes)
{
    return _mm256_srli_epi32(lanes, 16);
}

/* Words of a low and a high half; both are below 2^16. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_of_halves(qfz_lanes low, qfz_lanes high)
{
    return _mm256_or_si256(low, _mm256_slli_epi32(high, 16));
}

/* The low halves of one and the high halves of the other. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_mix_halves(qfz_lanes low_of, qfz_lanes high_of)
{
    return _mm256_blend_epi16(high_of, low_of, 0x55);
}

/* Bit i: a[i] == b[i]. */
QFZ_LANES_INLINE unsigned qfz_lanes_equal(qfz_lanes a, qfz_lanes b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}

/* Bit i: a[i] > b[i], as signed numbers. */
QFZ_LANES_INLINE unsigned qfz_lanes_greater(qfz_lanes a, qfz_lanes b)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)));
}

/* All bits of lane i where bit i is set, else none. */
QFZ_LANES_INLINE qfz_lanes qfz_lanes_of_bits(uint32_t bits)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), bit), bit);
}

/* Bit i: bytes[i] is 1 to 127, not 0, 0 <= i < 8. */
QFZ_LANES_INLINE unsigned qfz_lanes_bits_of(const uint8_t *bytes)
{
    const __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)bytes);
    return (unsigned)_mm_movemask_epi8(_mm_cmpgt_epi8(eight, _mm_setzero_si128()));
}

#else /* the plain forms of the same functions */
#define QFZ_LANES_INLINE static inline

#define QFZ_LANES_EACH(expression)                                                                 \
    qfz_lanes lanes_;                                                                              \
    for (int i = 0; i < QFZ_N_LANES; i++)                                                          \
        lanes_.of[i] = (expression);                                                               \
    return lanes_

QFZ_LANES_INLINE qfz_lanes qfz_lanes_all(uint32_t word)
{
    QFZ_LANES_EACH(word);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_load(const uint32_t *from)
{
    QFZ_LANES_EACH(from[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_load_halves(const uint16_t *from)
{
    QFZ_LANES_EACH(from[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_load_bytes(const uint64_t *from)
{
    QFZ_LANES_EACH((uint8_t)(*from >> 8 * i));
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_look_up(const uint16_t *table, const uint32_t *words)
{
    QFZ_LANES_EACH(table[words[i] & UINT16_MAX]);
}

QFZ_LANES_INLINE void qfz_lanes_store(uint32_t *to, qfz_lanes lanes)
{
    memcpy(to, lanes.of, sizeof lanes.of);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_pick(qfz_lanes lanes, qfz_lanes order)
{
    QFZ_LANES_EACH(lanes.of[order.of[i]]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_and(qfz_lanes a, qfz_lanes b)
{
    QFZ_LANES_EACH(a.of[i] & b.of[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_add(qfz_lanes a, qfz_lanes b)
{
    QFZ_LANES_EACH(a.of[i] + b.of[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_min(qfz_lanes a, qfz_lanes b)
{
    QFZ_LANES_EACH(a.of[i] < b.of[i] ? a.of[i] : b.of[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_max(qfz_lanes a, qfz_lanes b)
{
    QFZ_LANES_EACH(a.of[i] > b.of[i] ? a.of[i] : b.of[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_high(qfz_lanes lanes)
{
    QFZ_LANES_EACH(lanes.of[i] >> 16);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_of_halves(qfz_lanes low, qfz_lanes high)
{
    QFZ_LANES_EACH(low.of[i] | high.of[i] << 16);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_mix_halves(qfz_lanes low_of, qfz_lanes high_of)
{
    QFZ_LANES_EACH((low_of.of[i] & UINT16_MAX) | (high_of.of[i] & ~(uint32_t)UINT16_MAX));
}

#define QFZ_LANES_BITS(condition)                                                                  \
    unsigned bits_ = 0;                                                                            \
    for (int i = 0; i < QFZ_N_LANES; i++)                                                          \
        bits_ |= (unsigned)(condition) << i;                                                       \
    return bits_

QFZ_LANES_INLINE unsigned qfz_lanes_equal(qfz_lanes a, qfz_lanes b)
{
    QFZ_LANES_BITS(a.of[i] == b.of[i]);
}

QFZ_LANES_INLINE unsigned qfz_lanes_greater(qfz_lanes a, qfz_lanes b)
{
    QFZ_LANES_BITS((int32_t)a.of[i] > (int32_t)b.of[i]);
}

QFZ_LANES_INLINE qfz_lanes qfz_lanes_of_bits(uint32_t bits)
{
    QFZ_LANES_EACH(-(bits >> i & 1));
}

QFZ_LANES_INLINE unsigned qfz_lanes_bits_of(const uint8_t *bytes)
{
    QFZ_LANES_BITS(bytes[i] != 0);
}
#endif

#endif
