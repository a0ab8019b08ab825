/* SPDX-License-Identifier: MIT */
/* gather_out.cuh - writes the partial results of one block (gather_runs.cuh) to global memory, as
 * counts, sums or records. The partial result of a region that spans several blocks is added with
 * atomic operations, that of any other region is stored. Included by gather.cu only. */
#pragma once

#include "gpu/features/gather_runs.cuh"

QFZ_DEVICE unsigned long long *wide(uint64_t *word)
{
    return reinterpret_cast<unsigned long long *>(word);
}

/* words = the number whose 16-bit digits are words first, first + 1 ... of a table entry. Digits
 * may be negative; the result is a two's-complement integer. */
template <int DIGITS, int WORDS>
QFZ_DEVICE void words_of(const table &t, uint32_t entry, int first, uint64_t words[WORDS])
{
    int64_t carry = 0;
    QFZ_EACH (i, WORDS) {
        words[i] = 0;
        QFZ_EACH (k, 4) {
            const int digit = 4 * i + k;
            if (digit < DIGITS)
                carry += (int32_t)t.words[(uint32_t)(first + digit) * t.capacity + entry];
            words[i] |= (uint64_t)(carry & 0xffff) << k * DIGIT_BITS;
            carry >>= DIGIT_BITS;
        }
    }
}

/* sum += words, while other threads add to the same sum: the thread whose addition overflows a word
 * adds the carry to the next word. */
template <int WORDS> QFZ_DEVICE void add_words(uint64_t *sum, const uint64_t words[WORDS])
{
    uint64_t carry = 0;
    QFZ_EACH (i, WORDS) {
        const uint64_t more = words[i] + carry;
        carry = more < carry;
        if (!more) continue;
        const uint64_t was = atomicAdd(wide(sum + i), (unsigned long long)more);
        carry += was + more < was;
    }
}

/* *word, the bits of a double, becomes the smaller (LESSER) or the larger of itself and value. */
template <bool LESSER> QFZ_DEVICE void widen_end(uint64_t *word, double value)
{
    unsigned long long was = qfz_peek(word);
    for (;;) {
        const double there = __longlong_as_double((long long)was);
        if (LESSER ? value >= there : value <= there) return;
        const unsigned long long found =
            atomicCAS(wide(word), was, (unsigned long long)__double_as_longlong(value));
        if (found == was) return;
        was = found;
    }
}

QFZ_DEVICE bool spans_blocks(const uint32_t *spans, uint32_t region)
{
    return spans[region / 32] >> region % 32 & 1;
}

/* An output has put(table, entry, block_y, block_x), which writes one entry of the table. All 32
 * lanes of a warp call put() together, a lane without an entry with NO_ENTRY. */

/* Pixel counts, and which regions span several blocks. */
struct count_out {
    uint32_t *count, *spans;

    QFZ_DEVICE void put(const table &t, int entry, int32_t, int32_t) const
    {
        if (entry == NO_ENTRY) return;
        const uint32_t region = t.label[entry] - 1;
        const uint32_t n = t.words[entry] & ((1u << COUNT_BITS) - 1);
        const uint32_t bit = 1u << region % 32;
        if (atomicAdd(count + region, n) && !(qfz_peek(spans + region / 32) & bit))
            atomicOr(spans + region / 32, bit);
    }
};

/* Exact sums of one band. */
template <typename T> struct sums_out {
    enum { WORDS = digits_of<T>::SUM_WORDS };
    const uint32_t *spans;
    uint64_t *sums;

    QFZ_DEVICE void put(const table &t, int entry, int32_t, int32_t) const
    {
        if (entry == NO_ENTRY) return;
        const uint32_t region = t.label[entry] - 1;
        uint64_t words[WORDS];
        uint64_t *const sum = sums + (int64_t)region * WORDS;
        words_of<digits_of<T>::SUM, WORDS>(t, (uint32_t)entry, part<T, HAS_SUM>::SUM, words);
        if (spans_blocks(spans, region)) {
            add_words<WORDS>(sum, words);
            return;
        }
        QFZ_EACH (i, WORDS)
            sum[i] = words[i];
    }
};

/* Least and greatest values of one band, as orders. */
template <typename T> struct ends_out {
    typedef part<T, HAS_ENDS> P;
    uint32_t *least, *greatest;

    QFZ_DEVICE void put(const table &t, int entry, int32_t, int32_t) const
    {
        if (entry == NO_ENTRY) return;
        const uint32_t region = t.label[entry] - 1;
        atomicMin(least + region, t.words[(uint32_t)P::LEAST * t.capacity + (uint32_t)entry]);
        atomicMax(greatest + region, t.words[(uint32_t)P::GREATEST * t.capacity + (uint32_t)entry]);
    }
};

QFZ_DEVICE void store_two(uint64_t *to, uint64_t first, uint64_t second)
{
    *reinterpret_cast<ulonglong2 *>(to) = make_ulonglong2(first, second);
}

/* Stores each lane's words at `to`, or nothing if `to` is NULL. Records with an even number of
 * words begin at multiples of 16 bytes: then a pair of lanes stores 32 bytes of one record, then 32
 * bytes of the other, so that each memory transaction is full. */
template <int WORDS> QFZ_DEVICE void store_words(const uint64_t words[WORDS], uint64_t *to)
{
    enum { BOTH = WORDS % 2 ? 0 : WORDS / 4 * 4 };
    const bool odd = threadIdx.x % 2;
    if (BOTH > 0) {
        uint64_t *const others = reinterpret_cast<uint64_t *>(
            __shfl_xor_sync(QFZ_ALL_LANES, reinterpret_cast<unsigned long long>(to), 1));
        uint64_t *const first = odd ? others : to, *const second = odd ? to : others;
#pragma unroll
        for (int i = 0; i < BOTH; i += 4) {
            const uint64_t give0 = odd ? words[i] : words[i + 2];
            const uint64_t give1 = odd ? words[i + 1] : words[i + 3];
            const uint64_t got0 = __shfl_xor_sync(QFZ_ALL_LANES, give0, 1);
            const uint64_t got1 = __shfl_xor_sync(QFZ_ALL_LANES, give1, 1);
            const int at = odd ? i + 2 : i;
            if (first) store_two(first + at, odd ? got0 : words[i], odd ? got1 : words[i + 1]);
            if (second)
                store_two(second + at, odd ? words[i + 2] : got0, odd ? words[i + 3] : got1);
        }
    }
    if (!to) return;
#pragma unroll
    for (int i = BOTH; i < WORDS; i++)
        to[i] = words[i];
}

template <typename T, int WHAT> struct features_out {
    typedef digits_of<T> D;
    typedef part<T, WHAT> P;
    enum {
        BAND_WORDS = D::SUM_WORDS + D::SQUARE_WORDS + 2,
        BAND_AT = WHAT & HAS_COUNT ? QFZ_HEAD_WORDS : 0,
        WORDS = BAND_AT + BAND_WORDS
    };
    const uint32_t *spans;
    uint64_t *records; /* the first word to write, of region 0 */
    int32_t record_words;
    int64_t y0, x0; /* the tile's place in the raster */
    uint64_t same_area;

    QFZ_DEVICE void make_head(const table &t, uint32_t entry, int32_t block_y, int32_t block_x,
                              uint64_t *record) const
    {
        const uint32_t count_y = t.words[P::COUNT * t.capacity + entry];
        const uint64_t n = count_y & ((1u << COUNT_BITS) - 1);
        const uint64_t y = (uint64_t)(y0 + block_y), x = (uint64_t)(x0 + block_x);
        const uint32_t *const bits = t.words + (uint32_t)P::ROWS * t.capacity + entry;
        const uint64_t rows = bits[0] | (uint64_t)bits[t.capacity] << 32;
        const uint64_t columns = bits[2 * t.capacity] | (uint64_t)bits[3 * t.capacity] << 32;
        record[0] = 0;
        record[QFZ_WORD_PIXELS] = n;
        record[QFZ_WORD_SUM_Y] = n * y + (count_y >> COUNT_BITS);
        record[QFZ_WORD_SUM_X] = n * x + t.words[(uint32_t)P::SUM_X * t.capacity + entry];
        record[QFZ_WORD_Y0] = y + (uint64_t)__ffsll((long long)rows) - 1;
        record[QFZ_WORD_X0] = x + (uint64_t)__ffsll((long long)columns) - 1;
        record[QFZ_WORD_Y1] = y + 64 - (uint64_t)__clzll((long long)rows);
        record[QFZ_WORD_X1] = x + 64 - (uint64_t)__clzll((long long)columns);
        record[QFZ_WORD_AREA] = n * same_area;
        if (WHAT & HAS_AREA) words_of<AREA_DIGITS, 1>(t, entry, P::AREA, record + QFZ_WORD_AREA);
        record[QFZ_WORD_AREA + 1] = 0;
    }

    QFZ_DEVICE void add_head(uint64_t *to, const uint64_t *record) const
    {
        for (int i = QFZ_WORD_PIXELS; i <= QFZ_WORD_SUM_X; i++)
            atomicAdd(wide(to + i), (unsigned long long)record[i]);
        /* most parts of a large region do not widen its box; a stale value read here is only less
         * wide, which costs one needless atomic operation */
        for (int i = QFZ_WORD_Y0; i <= QFZ_WORD_X0; i++)
            if (qfz_peek(to + i) > record[i])
                atomicMin(wide(to + i), (unsigned long long)record[i]);
        for (int i = QFZ_WORD_Y1; i <= QFZ_WORD_X1; i++)
            if (qfz_peek(to + i) < record[i])
                atomicMax(wide(to + i), (unsigned long long)record[i]);
        atomicAdd(wide(to + QFZ_WORD_AREA), (unsigned long long)record[QFZ_WORD_AREA]);
    }

    /* Makes the record of an entry. Returns true if the caller must store it; if the region spans
     * several blocks, make() has added it to the record at `to` and returns false. */
    QFZ_DEVICE bool make(const table &t, uint32_t entry, int32_t block_y, int32_t block_x,
                         uint64_t record[WORDS], uint64_t *to) const
    {
        uint64_t *const band = record + BAND_AT, *const ends = record + WORDS - 2;
        if (WHAT & HAS_COUNT) make_head(t, entry, block_y, block_x, record);
        words_of<D::SUM, D::SUM_WORDS>(t, entry, P::SUM, band);
        words_of<D::SQUARE, D::SQUARE_WORDS>(t, entry, P::SQUARE, band + D::SUM_WORDS);
        const double least = value_of<T>(t.words[(uint32_t)P::LEAST * t.capacity + entry]);
        const double greatest = value_of<T>(t.words[(uint32_t)P::GREATEST * t.capacity + entry]);
        ends[0] = (uint64_t)__double_as_longlong(least);
        ends[1] = (uint64_t)__double_as_longlong(greatest);
        if (!spans_blocks(spans, t.label[entry] - 1)) return true;
        if (WHAT & HAS_COUNT) add_head(to, record);
        add_words<D::SUM_WORDS>(to + BAND_AT, band);
        add_words<D::SQUARE_WORDS>(to + BAND_AT + D::SUM_WORDS, band + D::SUM_WORDS);
        widen_end<true>(to + WORDS - 2, least);
        widen_end<false>(to + WORDS - 1, greatest);
        return false;
    }

    QFZ_DEVICE void put(const table &t, int entry, int32_t block_y, int32_t block_x) const
    {
        uint64_t record[WORDS] = {};
        uint64_t *to = NULL;
        if (entry != NO_ENTRY) {
            to = records + (int64_t)(t.label[entry] - 1) * record_words;
            if (!make(t, (uint32_t)entry, block_y, block_x, record, to)) to = NULL;
        }
        store_words<WORDS>(record, to);
    }
};
