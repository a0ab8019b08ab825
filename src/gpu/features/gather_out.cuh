/* SPDX-License-Identifier: MIT */
/* gather_out.cuh - adds the partial results of one block (gather_runs.cuh) to counts, sums or
 * records in global memory. Included by gather.cu only. */
#pragma once

#include "gpu/features/gather_runs.cuh"

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
        const uint64_t was = add_word(sum + i, more);
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
            atomicCAS(wide_word(word), was, (unsigned long long)__double_as_longlong(value));
        if (found == was) return;
        was = found;
    }
}

/* An output has put(table, entry, block_y, block_x), which adds one entry of the table. */

/* Pixel counts. */
struct count_out {
    uint32_t *count;

    QFZ_DEVICE void put(const table &t, uint32_t entry, int32_t, int32_t) const
    {
        atomicAdd(count + t.label[entry] - 1, t.words[entry] & ((1u << COUNT_BITS) - 1));
    }
};

/* Exact sums of one band. */
template <typename T> struct sums_out {
    enum { WORDS = digits_of<T>::SUM_WORDS };
    uint64_t *sums;

    QFZ_DEVICE void put(const table &t, uint32_t entry, int32_t, int32_t) const
    {
        uint64_t words[WORDS];
        words_of<digits_of<T>::SUM, WORDS>(t, entry, part<T, HAS_SUM>::SUM, words);
        add_words<WORDS>(sums + (int64_t)(t.label[entry] - 1) * WORDS, words);
    }
};

/* Least and greatest values of one band, as orders. */
template <typename T> struct ends_out {
    typedef part<T, HAS_ENDS> P;
    uint32_t *least, *greatest;

    QFZ_DEVICE void put(const table &t, uint32_t entry, int32_t, int32_t) const
    {
        const uint32_t region = t.label[entry] - 1;
        atomicMin(least + region, t.words[(uint32_t)P::LEAST * t.capacity + entry]);
        atomicMax(greatest + region, t.words[(uint32_t)P::GREATEST * t.capacity + entry]);
    }
};

template <typename T, int WHAT> struct features_out {
    typedef digits_of<T> D;
    typedef part<T, WHAT> P;
    enum {
        BAND_WORDS = D::SUM_WORDS + D::SQUARE_WORDS + 2,
        BAND_AT = WHAT & HAS_COUNT ? QFZ_HEAD_WORDS : 0
    };
    uint64_t *records; /* the first word to add to, of region 0 */
    int32_t record_words;
    int64_t y0, x0; /* the tile's place in the raster */
    uint64_t same_area;

    QFZ_DEVICE void add_head(const table &t, uint32_t entry, int32_t block_y, int32_t block_x,
                             uint64_t *to) const
    {
        const uint32_t count_y = t.words[P::COUNT * t.capacity + entry];
        const uint64_t n = count_y & ((1u << COUNT_BITS) - 1);
        const uint64_t y = (uint64_t)(y0 + block_y), x = (uint64_t)(x0 + block_x);
        const uint32_t *const bits = t.words + (uint32_t)P::ROWS * t.capacity + entry;
        const uint64_t rows = bits[0] | (uint64_t)bits[t.capacity] << 32;
        const uint64_t columns = bits[2 * t.capacity] | (uint64_t)bits[3 * t.capacity] << 32;
        uint64_t area[1] = {n * same_area};
        if (WHAT & HAS_AREA) words_of<AREA_DIGITS, 1>(t, entry, P::AREA, area);
        add_word(to + QFZ_WORD_PIXELS, n);
        add_word(to + QFZ_WORD_SUM_Y, n * y + (count_y >> COUNT_BITS));
        add_word(to + QFZ_WORD_SUM_X, n * x + t.words[(uint32_t)P::SUM_X * t.capacity + entry]);
        lower_word(to + QFZ_WORD_Y0, y + (uint64_t)__ffsll((long long)rows) - 1);
        lower_word(to + QFZ_WORD_X0, x + (uint64_t)__ffsll((long long)columns) - 1);
        raise_word(to + QFZ_WORD_Y1, y + 64 - (uint64_t)__clzll((long long)rows));
        raise_word(to + QFZ_WORD_X1, x + 64 - (uint64_t)__clzll((long long)columns));
        add_word(to + QFZ_WORD_AREA, area[0]);
    }

    QFZ_DEVICE void put(const table &t, uint32_t entry, int32_t block_y, int32_t block_x) const
    {
        uint64_t *const to = records + (int64_t)(t.label[entry] - 1) * record_words;
        uint64_t *const band = to + BAND_AT, *const ends = band + BAND_WORDS - 2;
        uint64_t sum[D::SUM_WORDS], square[D::SQUARE_WORDS];
        if (WHAT & HAS_COUNT) add_head(t, entry, block_y, block_x, to);
        words_of<D::SUM, D::SUM_WORDS>(t, entry, P::SUM, sum);
        words_of<D::SQUARE, D::SQUARE_WORDS>(t, entry, P::SQUARE, square);
        add_words<D::SUM_WORDS>(band, sum);
        add_words<D::SQUARE_WORDS>(band + D::SUM_WORDS, square);
        widen_end<true>(ends, value_of<T>(t.words[(uint32_t)P::LEAST * t.capacity + entry]));
        widen_end<false>(ends + 1,
                         value_of<T>(t.words[(uint32_t)P::GREATEST * t.capacity + entry]));
    }
};
