/* SPDX-License-Identifier: MIT */
#include "gpu/gather.cuh"

#include "exact.h"
#include "gpu/launch.cuh"
#include "gpu/peek.cuh"
#include "gpu/warp.cuh"
#include "record.h"

/* A block has SIDE x SIDE pixels, a thread PATCH x PATCH of them. */
enum {
    SIDE = 64,
    PATCH = 4,
    PATCH_PX = PATCH * PATCH,
    LANES = SIDE / PATCH,
    THREADS = LANES * LANES
};

/* What is gathered of a region, any of: */
enum {
    HAS_COUNT = 1,  /* the number of pixels and the sum of their rows, in one word */
    HAS_PLACE = 2,  /* the sum of columns, which rows and columns there are */
    HAS_AREA = 4,   /* weights of rows that differ */
    HAS_SUM = 8,    /* of values */
    HAS_SPREAD = 16 /* of squares of values; the least and the greatest */
};

enum { COUNT_BITS = 13, DIGIT_BITS = 16, AREA_DIGITS = 4 };
static const uint32_t full_warp = 0xffffffffu;

/* ---- Digits of values ------------------------------------------------------------------------ */

/* Digits that sums of 4096 values and of their squares need, and how many words of the result. */
template <typename T> struct digits_of {
    enum { SUM = sizeof(T) / 4 + 1, SQUARE = sizeof(T), SUM_WORDS = 2, SQUARE_WORDS = 2 };
    static const bool in_registers = true;
};
template <> struct digits_of<float> {
    enum {
        SUM = 22,    /* an infinity sets bit 340 */
        SQUARE = 42, /* 660 */
        SUM_WORDS = 6,
        SQUARE_WORDS = 11
    };
    static const bool in_registers = false; /* which digits it is depends on the value */
};

/* Unsigned numbers in the order of the values. */
template <typename T> static __device__ __forceinline__ uint32_t order_of(T value)
{
    return (T)-1 < (T)0 ? (uint32_t)value ^ 0x80000000u : (uint32_t)value;
}
static __device__ __forceinline__ uint32_t order_of(float value)
{
    const uint32_t bits = __float_as_uint(value + 0.0f); /* one zero */
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
template <typename T> static __device__ __forceinline__ double value_of(uint32_t order)
{
    return (T)-1 < (T)0 ? (double)(int32_t)(order ^ 0x80000000u) : (double)order;
}
template <> __device__ __forceinline__ double value_of<float>(uint32_t order)
{
    return (double)__uint_as_float(order >> 31 ? order ^ 0x80000000u : ~order);
}

/* ---- Parts of regions ------------------------------------------------------------------------ */

/* The words of a part of a region.  Parts are joined word by word: added; or, rows and columns
 * being bits, united; or the lesser, the greater taken. */
template <typename T, int WHAT> struct part {
    enum {
        COUNT = 0,
        SUM_X = COUNT + (WHAT & HAS_COUNT ? 1 : 0),
        ROWS = SUM_X + (WHAT & HAS_PLACE ? 1 : 0),
        COLUMNS = ROWS + (WHAT & HAS_PLACE ? 2 : 0),
        AREA = COLUMNS + (WHAT & HAS_PLACE ? 2 : 0),
        SUM = AREA + (WHAT & HAS_AREA ? (int)AREA_DIGITS : 0),
        SQUARE = SUM + (WHAT & HAS_SUM ? (int)digits_of<T>::SUM : 0),
        LEAST = SQUARE + (WHAT & HAS_SPREAD ? (int)digits_of<T>::SQUARE : 0),
        GREATEST = LEAST + (WHAT & HAS_SPREAD ? 1 : 0),
        WORDS = GREATEST + (WHAT & HAS_SPREAD ? 1 : 0)
    };
    uint32_t word[WORDS];

    /* Are words joined by `or`?  Is word i added to in the table at once? */
    static __device__ constexpr bool is_bits(int i)
    {
        return (WHAT & HAS_PLACE) && i >= ROWS && i < AREA;
    }
    static __device__ constexpr bool is_direct(int i)
    {
        return !digits_of<T>::in_registers && i >= SUM && i < LEAST;
    }
    static __device__ constexpr bool is_least(int i)
    {
        return (WHAT & HAS_SPREAD) && i == LEAST;
    }
    static __device__ constexpr bool is_greatest(int i)
    {
        return (WHAT & HAS_SPREAD) && i == GREATEST;
    }
    static __device__ constexpr uint32_t nothing(int i)
    {
        return is_least(i) ? UINT32_MAX : 0;
    }

    __device__ __forceinline__ void clear()
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            word[i] = nothing(i);
    }
};

/* The table of a block: labels, 0 where a place is free, and words[i * slots + slot]. */
struct table {
    uint32_t slots;
    uint32_t *label, *words;
};

enum { MAX_PROBES = 64, NO_SLOT = -1 };

static __device__ __forceinline__ uint32_t hash_of(uint32_t label)
{
    const uint32_t h = label * 0x9e3779b1u;
    return h ^ h >> 15;
}

/* The slot of a label, taken if it is new; NO_SLOT if there is no room near. */
static __device__ __forceinline__ int slot_of(const table &t, uint32_t label)
{
    uint32_t slot = (uint32_t)((uint64_t)(hash_of(label) * 0x85ebca6bu) * t.slots >> 32);
    for (int probe = 0; probe < MAX_PROBES; probe++) {
        uint32_t there = *static_cast<volatile uint32_t *>(t.label + slot);
        if (there == 0) there = atomicCAS(t.label + slot, 0u, label);
        if (there == 0 || there == label) return (int)slot;
        slot = slot + 1 < t.slots ? slot + 1 : 0;
    }
    return NO_SLOT;
}

template <typename T, int WHAT>
static __device__ __forceinline__ void put_part(const table &t, int slot, const part<T, WHAT> &some)
{
    typedef part<T, WHAT> P;
#pragma unroll
    for (int i = 0; i < P::WORDS; i++) {
        uint32_t *const word = t.words + (uint32_t)i * t.slots + (uint32_t)slot;
        if (P::is_direct(i)) continue;
        if (P::is_least(i))
            atomicMin(word, some.word[i]);
        else if (P::is_greatest(i))
            atomicMax(word, some.word[i]);
        else if (!some.word[i])
            continue;
        else if (P::is_bits(i))
            atomicOr(word, some.word[i]);
        else
            atomicAdd(word, some.word[i]);
    }
}

/* Puts one part a lane, none where the slot is NO_SLOT.  Parts of the first lane's region become
 * one before, where there are several: a large region is what most lanes have. */
template <typename T, int WHAT>
static __device__ __forceinline__ void put_parts(const table &t, int slot, part<T, WHAT> some)
{
    typedef part<T, WHAT> P;
    enum { MANY = 4 };
    const uint32_t have = __ballot_sync(full_warp, slot != NO_SLOT);
    if (!have) return;
    const int leader = __ffs((int)have) - 1;
    const bool same = slot == __shfl_sync(full_warp, slot, leader);
    if (__popc(__ballot_sync(full_warp, same)) >= MANY) {
        const bool leads = (int)threadIdx.x % QFZ_WARP == leader;
#pragma unroll
        for (int i = 0; i < P::WORDS; i++) {
            if (P::is_direct(i)) continue;
            const uint32_t mine = same ? some.word[i] : P::nothing(i);
            const uint32_t all = P::is_least(i)      ? qfz_warp_min(mine)
                                 : P::is_greatest(i) ? qfz_warp_max(mine)
                                 : P::is_bits(i)     ? qfz_warp_or(mine)
                                                     : qfz_warp_add(mine);
            if (leads) some.word[i] = all;
        }
        if (same && !leads) slot = NO_SLOT;
    }
    if (slot != NO_SLOT) put_part(t, slot, some);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Sums of the values of a patch, before they become digits. */
template <size_t BYTES> struct sums_of_bytes {
    typedef int64_t sum;
    typedef uint64_t square;
};
template <> struct sums_of_bytes<1> {
    typedef int32_t sum;
    typedef uint32_t square;
};

enum { DIGIT = (1 << DIGIT_BITS) - 1 };

/* The values of a patch that are in the mask, of any integer type.  The last digit of a sum takes
 * what is left, and the sign. */
template <typename T, int WHAT>
static __device__ __forceinline__ void add_values(const table &, int, const T *values,
                                                  uint32_t mask, part<T, WHAT> *some)
{
    typedef part<T, WHAT> P;
    typename sums_of_bytes<sizeof(T)>::sum sum = 0;
    typename sums_of_bytes<sizeof(T)>::square square = 0;
#pragma unroll
    for (int i = 0; i < PATCH_PX; i++) {
        if (!(mask >> i & 1)) continue;
        if (WHAT & HAS_SUM) sum += values[i];
        if (!(WHAT & HAS_SPREAD)) continue;
        some->word[P::LEAST] = min(some->word[P::LEAST], order_of(values[i]));
        some->word[P::GREATEST] = max(some->word[P::GREATEST], order_of(values[i]));
        const int64_t wide = (int64_t)values[i];
        if (sizeof(T) < 4)
            square += (decltype(square))(wide * wide);
        else
#pragma unroll
            for (int k = 0; k < digits_of<T>::SQUARE; k++)
                some->word[P::SQUARE + k] +=
                    (uint32_t)((uint64_t)(wide * wide) >> k * DIGIT_BITS) & DIGIT;
    }
    if (WHAT & HAS_SUM) {
        const int last = digits_of<T>::SUM - 1;
        if (last) some->word[P::SUM] += (uint32_t)sum & DIGIT;
        some->word[P::SUM + last] += (uint32_t)(sum >> last * DIGIT_BITS);
    }
    if ((WHAT & HAS_SPREAD) && sizeof(T) < 4) {
        const int last = digits_of<T>::SQUARE - 1;
        if (last) some->word[P::SQUARE] += (uint32_t)square & DIGIT;
        some->word[P::SQUARE + last] += (uint32_t)(square >> last * DIGIT_BITS);
    }
}

/* Adds +-m * 2^shift to the digits of a slot that begin at a word; m < 2^(16 * n - 15). */
static __device__ __forceinline__ void add_digits(const table &t, int slot, int first, uint64_t m,
                                                  int shift, int n, bool negative)
{
    const uint64_t digits = m << shift % DIGIT_BITS;
    uint32_t *word = t.words + (uint32_t)(first + shift / DIGIT_BITS) * t.slots + (uint32_t)slot;
    for (int k = 0; k < n; k++, word += t.slots) {
        const uint32_t digit = (uint32_t)(digits >> k * DIGIT_BITS) & DIGIT;
        if (digit) atomicAdd(word, negative ? 0u - digit : digit);
    }
}

/* A finite single is +-m * 2^(shift - 149); infinities are beyond all of them (src/exact.c). */
template <int WHAT>
static __device__ __forceinline__ void add_value(const table &t, int slot, float value,
                                                 part<float, WHAT> *some)
{
    typedef part<float, WHAT> P;
    const uint32_t bits = __float_as_uint(value);
    const int exponent = (int)(bits >> 23 & 0xff);
    const bool infinite = exponent == 0xff, negative = bits >> 31;
    uint64_t m = (bits & 0x7fffffu) | (exponent ? 0x800000u : 0);
    int shift = exponent ? exponent - 1 : 0;
    if (WHAT & HAS_SUM)
        add_digits(t, slot, P::SUM, infinite ? 1 : m, infinite ? 340 : shift, 3, negative);
    if (WHAT & HAS_SPREAD) {
        add_digits(t, slot, P::SQUARE, infinite ? 1 : m * m, infinite ? 660 : 2 * shift, 4, false);
        some->word[P::LEAST] = min(some->word[P::LEAST], order_of(value));
        some->word[P::GREATEST] = max(some->word[P::GREATEST], order_of(value));
    }
}

template <int WHAT>
static __device__ __forceinline__ void add_values(const table &t, int slot, const float *values,
                                                  uint32_t mask, part<float, WHAT> *some)
{
#pragma unroll 1
    for (; mask; mask &= mask - 1) {
        const int at = __ffs((int)mask) - 1;
        float value = 0;
#pragma unroll
        for (int i = 0; i < PATCH_PX; i++) /* registers have no index */
            if (i == at) value = values[i];
        add_value(t, slot, value, some);
    }
}

/* ---- Pixels of a block ----------------------------------------------------------------------- */

struct tile_view {
    int32_t h, w;
    bool aligned; /* four pixels of a row at a time */
    const uint32_t *label;
    qfz_gpu_areas areas;
};

/* Regions that a pass over a block looks at: those of labels first .. last whose hash is one of a
 * class; the classes together are all. */
struct selection {
    uint32_t first, last, rest, classes;
};

static __device__ __forceinline__ bool is_selected(const selection &s, uint32_t label)
{
    return label >= s.first && label <= s.last && (hash_of(label) & (s.classes - 1)) == s.rest;
}

/* Four pixels of a row, of which n are there. */
template <typename T>
static __device__ __forceinline__ void load_four(const T *at, int32_t n, bool aligned,
                                                 T four[PATCH])
{
    struct alignas(sizeof(T) * PATCH) quad {
        T px[PATCH];
    };
    if (aligned && n >= PATCH) {
        const quad all = *reinterpret_cast<const quad *>(at);
#pragma unroll
        for (int i = 0; i < PATCH; i++)
            four[i] = all.px[i];
        return;
    }
#pragma unroll
    for (int i = 0; i < PATCH; i++)
        four[i] = i < n ? at[i] : T(0);
}

/* A thread's patch: bit PATCH * row + column of a mask is one of its pixels. */
template <typename T> struct patch {
    int y, x; /* of its first pixel in the block */
    uint32_t labels[PATCH_PX];
    T values[PATCH_PX];
    uint64_t area[PATCH]; /* of rows */
};

template <typename T, int WHAT>
static __device__ __forceinline__ void load_patch(const tile_view &tile, const T *plane,
                                                  int32_t block_y, int32_t block_x, patch<T> *px)
{
    px->x = (int)threadIdx.x % LANES * PATCH;
    px->y = (int)threadIdx.x / LANES * PATCH;
#pragma unroll
    for (int row = 0; row < PATCH; row++) {
        const int32_t y = block_y + px->y + row, x = block_x + px->x;
        const int32_t there = y < tile.h ? tile.w - x : 0;
        const int64_t p = (int64_t)y * tile.w + x;
        load_four(tile.label + p, there, tile.aligned, px->labels + row * PATCH);
        if (WHAT & (HAS_SUM | HAS_SPREAD))
            load_four(plane + p, there, tile.aligned, px->values + row * PATCH);
        px->area[row] = (WHAT & HAS_AREA) && y < tile.h ? tile.areas.d_row[y] : 0;
    }
}

static __device__ __forceinline__ uint32_t row_bits(uint32_t mask, int row)
{
    return mask >> row * PATCH & ((1u << PATCH) - 1);
}
static __device__ __forceinline__ uint32_t column_bits(uint32_t mask, int column)
{
    return mask >> column & 0x1111u;
}

/* The pixels of a patch that are in the mask, as a part of their region. */
template <typename T, int WHAT>
static __device__ __forceinline__ void add_pixels(const table &t, int slot, const patch<T> &px,
                                                  uint32_t mask, part<T, WHAT> *some)
{
    typedef part<T, WHAT> P;
    const uint32_t n = (uint32_t)__popc(mask);
    uint32_t sum_y = n * (uint32_t)px.y, sum_x = n * (uint32_t)px.x, rows = 0, columns = 0;
#pragma unroll
    for (int i = 0; i < PATCH; i++) {
        sum_y += (uint32_t)(i * __popc(row_bits(mask, i)));
        sum_x += (uint32_t)(i * __popc(column_bits(mask, i)));
        rows |= (row_bits(mask, i) ? 1u : 0) << (px.y + i) % 32;
        columns |= (column_bits(mask, i) ? 1u : 0) << (px.x + i) % 32;
    }
    if (WHAT & HAS_COUNT) some->word[P::COUNT] = n | sum_y << COUNT_BITS;
    if (WHAT & HAS_PLACE) {
        some->word[P::SUM_X] = sum_x;
        some->word[P::ROWS] = px.y < 32 ? rows : 0;
        some->word[P::ROWS + 1] = px.y < 32 ? 0 : rows;
        some->word[P::COLUMNS] = px.x < 32 ? columns : 0;
        some->word[P::COLUMNS + 1] = px.x < 32 ? 0 : columns;
    }
    if (WHAT & HAS_AREA)
#pragma unroll
        for (int i = 0; i < PATCH * AREA_DIGITS; i++)
            some->word[P::AREA + i % AREA_DIGITS] +=
                (uint32_t)__popc(row_bits(mask, i / AREA_DIGITS)) *
                ((uint32_t)(px.area[i / AREA_DIGITS] >> i % AREA_DIGITS * DIGIT_BITS) & DIGIT);
    if (WHAT & (HAS_SUM | HAS_SPREAD)) add_values(t, slot, px.values, mask, some);
}

/* Puts a thread's pixels into the table, region by region; false if there was no room for one. */
template <typename T, int WHAT>
static __device__ __forceinline__ bool gather_patch(const patch<T> &px, const selection &wanted,
                                                    const table &t)
{
    uint32_t rest = 0;
    bool fits = true;
#pragma unroll
    for (int i = 0; i < PATCH_PX; i++)
        rest |= (px.labels[i] ? 1u : 0) << i;
    while (__any_sync(full_warp, rest != 0)) {
        part<T, WHAT> some;
        int slot = NO_SLOT;
        uint32_t label = 0, mask = 0;
        some.clear();
#pragma unroll
        for (int i = PATCH_PX - 1; i >= 0; i--)
            if (rest >> i & 1) label = px.labels[i];
#pragma unroll
        for (int i = 0; i < PATCH_PX; i++)
            mask |= (px.labels[i] == label ? 1u : 0) << i;
        if (rest && is_selected(wanted, label)) {
            slot = slot_of(t, label);
            if (slot == NO_SLOT)
                fits = false;
            else
                add_pixels(t, slot, px, mask, &some);
        }
        rest &= ~mask;
        put_parts(t, slot, some);
    }
    return fits;
}

/* ---- What becomes of a region's part --------------------------------------------------------- */

static __device__ __forceinline__ unsigned long long *wide(uint64_t *word)
{
    return reinterpret_cast<unsigned long long *>(word);
}

/* The words of a number that is given by its digits, which may be negative. */
template <int DIGITS, int WORDS>
static __device__ __forceinline__ void words_of(const table &t, uint32_t slot, int first,
                                                uint64_t words[WORDS])
{
    int64_t carry = 0;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        words[i] = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int digit = 4 * i + k;
            if (digit < DIGITS)
                carry += (int32_t)t.words[(uint32_t)(first + digit) * t.slots + slot];
            words[i] |= (uint64_t)(carry & 0xffff) << k * DIGIT_BITS;
            carry >>= DIGIT_BITS;
        }
    }
}

/* sum += words, whoever else adds to it: each word's overflow is carried by who made it. */
template <int WORDS>
static __device__ __forceinline__ void add_words(uint64_t *sum, const uint64_t words[WORDS])
{
    uint64_t carry = 0;
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const uint64_t more = words[i] + carry;
        carry = more < carry;
        if (!more) continue;
        const uint64_t was = atomicAdd(wide(sum + i), (unsigned long long)more);
        carry += was + more < was;
    }
}

/* *word, the bits of a double, becomes the lesser, or the greater. */
template <bool LESSER>
static __device__ __forceinline__ void widen_end(uint64_t *word, double value)
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

static __device__ __forceinline__ bool spans_blocks(const uint32_t *spans, uint32_t region)
{
    return spans[region / 32] >> region % 32 & 1;
}

/* Counts. */
struct count_out {
    uint32_t *count, *spans;

    __device__ __forceinline__ void put(const table &t, uint32_t slot, uint32_t region, int32_t,
                                        int32_t) const
    {
        const uint32_t n = t.words[slot] & ((1u << COUNT_BITS) - 1);
        const uint32_t bit = 1u << region % 32;
        if (atomicAdd(count + region, n) && !(qfz_peek(spans + region / 32) & bit))
            atomicOr(spans + region / 32, bit);
    }
};

/* Sums of a band alone. */
template <typename T> struct sums_out {
    enum { WORDS = digits_of<T>::SUM_WORDS };
    const uint32_t *spans;
    uint64_t *sums;

    __device__ __forceinline__ void put(const table &t, uint32_t slot, uint32_t region, int32_t,
                                        int32_t) const
    {
        uint64_t words[WORDS];
        uint64_t *const sum = sums + (int64_t)region * WORDS;
        words_of<digits_of<T>::SUM, WORDS>(t, slot, part<T, HAS_SUM>::SUM, words);
        if (spans_blocks(spans, region)) {
            add_words<WORDS>(sum, words);
            return;
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            sum[i] = words[i];
    }
};

/* Words of records: the head, then bands. */
enum {
    WORD_PIXELS = 1,
    WORD_SUM_Y,
    WORD_SUM_X,
    WORD_Y0,
    WORD_X0,
    WORD_Y1,
    WORD_X1,
    WORD_AREA,
    HEAD_WORDS = WORD_AREA + 2
};

template <typename T, int WHAT> struct features_out {
    typedef digits_of<T> D;
    typedef part<T, WHAT> P;
    enum {
        BAND_WORDS = D::SUM_WORDS + D::SQUARE_WORDS + 2,
        BAND_AT = WHAT & HAS_COUNT ? HEAD_WORDS : 0,
        WORDS = BAND_AT + BAND_WORDS
    };
    const uint32_t *spans;
    uint64_t *records; /* at the first word that is made, of region 0 */
    int32_t record_words;
    int64_t y0, x0; /* of the tile */
    uint64_t same_area;

    __device__ __forceinline__ void make_head(const table &t, uint32_t slot, int32_t block_y,
                                              int32_t block_x, uint64_t *record) const
    {
        const uint32_t count_y = t.words[P::COUNT * t.slots + slot];
        const uint64_t n = count_y & ((1u << COUNT_BITS) - 1);
        const uint64_t y = (uint64_t)(y0 + block_y), x = (uint64_t)(x0 + block_x);
        const uint32_t *const bits = t.words + (uint32_t)P::ROWS * t.slots + slot;
        const uint64_t rows = bits[0] | (uint64_t)bits[t.slots] << 32;
        const uint64_t columns = bits[2 * t.slots] | (uint64_t)bits[3 * t.slots] << 32;
        record[0] = 0;
        record[WORD_PIXELS] = n;
        record[WORD_SUM_Y] = n * y + (count_y >> COUNT_BITS);
        record[WORD_SUM_X] = n * x + t.words[(uint32_t)P::SUM_X * t.slots + slot];
        record[WORD_Y0] = y + (uint64_t)__ffsll((long long)rows) - 1;
        record[WORD_X0] = x + (uint64_t)__ffsll((long long)columns) - 1;
        record[WORD_Y1] = y + 64 - (uint64_t)__clzll((long long)rows);
        record[WORD_X1] = x + 64 - (uint64_t)__clzll((long long)columns);
        record[WORD_AREA] = n * same_area;
        if (WHAT & HAS_AREA) words_of<AREA_DIGITS, 1>(t, slot, P::AREA, record + WORD_AREA);
        record[WORD_AREA + 1] = 0;
    }

    __device__ __forceinline__ void add_head(uint64_t *to, const uint64_t *record) const
    {
        for (int i = WORD_PIXELS; i <= WORD_SUM_X; i++)
            atomicAdd(wide(to + i), (unsigned long long)record[i]);
        /* most parts of a large region do not widen its box: a look tells, a stale one too */
        for (int i = WORD_Y0; i <= WORD_X0; i++)
            if (qfz_peek(to + i) > record[i])
                atomicMin(wide(to + i), (unsigned long long)record[i]);
        for (int i = WORD_Y1; i <= WORD_X1; i++)
            if (qfz_peek(to + i) < record[i])
                atomicMax(wide(to + i), (unsigned long long)record[i]);
        atomicAdd(wide(to + WORD_AREA), (unsigned long long)record[WORD_AREA]);
    }

    __device__ __forceinline__ void put(const table &t, uint32_t slot, uint32_t region,
                                        int32_t block_y, int32_t block_x) const
    {
        uint64_t record[WORDS];
        uint64_t *const to = records + (int64_t)region * record_words;
        uint64_t *const band = record + BAND_AT, *const ends = record + WORDS - 2;
        if (WHAT & HAS_COUNT) make_head(t, slot, block_y, block_x, record);
        words_of<D::SUM, D::SUM_WORDS>(t, slot, P::SUM, band);
        words_of<D::SQUARE, D::SQUARE_WORDS>(t, slot, P::SQUARE, band + D::SUM_WORDS);
        const double least = value_of<T>(t.words[(uint32_t)P::LEAST * t.slots + slot]);
        const double greatest = value_of<T>(t.words[(uint32_t)P::GREATEST * t.slots + slot]);
        ends[0] = (uint64_t)__double_as_longlong(least);
        ends[1] = (uint64_t)__double_as_longlong(greatest);
        if (spans_blocks(spans, region)) {
            if (WHAT & HAS_COUNT) add_head(to, record);
            add_words<D::SUM_WORDS>(to + BAND_AT, band);
            add_words<D::SQUARE_WORDS>(to + BAND_AT + D::SUM_WORDS, band + D::SUM_WORDS);
            widen_end<true>(to + WORDS - 2, least);
            widen_end<false>(to + WORDS - 1, greatest);
            return;
        }
        if (WORDS % 2) {
#pragma unroll
            for (int i = 0; i < WORDS; i++)
                to[i] = record[i];
        } else { /* records of an even number of words: 16 bytes at a time */
#pragma unroll
            for (int i = 0; i + 1 < WORDS; i += 2)
                *reinterpret_cast<ulonglong2 *>(to + i) = make_ulonglong2(record[i], record[i + 1]);
        }
    }
};

/* ---- The kernel ------------------------------------------------------------------------------ */

/* The next class of regions after s, classes having been parted into four where they were too
 * many; false after the last. */
static __device__ __forceinline__ bool next_class(selection *s)
{
    while (s->classes > 1) {
        const uint32_t step = s->classes / 4;
        if (s->rest / step < 3) {
            s->rest += step;
            return true;
        }
        s->rest -= 3 * step;
        s->classes = step;
    }
    return false;
}

template <typename T, int WHAT, typename OUT>
static __global__ void __launch_bounds__(THREADS, 3)
    k_gather(tile_view tile, const T *__restrict__ plane, const uint32_t *__restrict__ first_px,
             uint32_t first_region, uint32_t n, uint32_t slots, OUT out)
{
    typedef part<T, WHAT> P;
    QFZ_SHARED(uint32_t, shared);
    const table t = {slots, shared, shared + slots};
    const uint32_t blocks_w = (uint32_t)(tile.w + SIDE - 1) / SIDE;
    const int32_t block_y = (int32_t)(blockIdx.x / blocks_w) * SIDE;
    const int32_t block_x = (int32_t)(blockIdx.x % blocks_w) * SIDE;
    selection wanted = {first_region + 1, first_region + n, 0, 1};
    /* before its first pixel a region has none */
    const int64_t last_px = (int64_t)min(block_y + SIDE, tile.h) * tile.w;
    if (first_region && last_px <= (int64_t)first_px[first_region]) return;
    patch<T> px;
    load_patch<T, WHAT>(tile, plane, block_y, block_x, &px);
    for (;;) {
        for (uint32_t i = threadIdx.x; i < slots; i += THREADS) {
            t.label[i] = 0;
#pragma unroll
            for (int k = 0; k < P::WORDS; k++)
                t.words[(uint32_t)k * slots + i] = P::nothing(k);
        }
        __syncthreads();
        const bool fits = gather_patch<T, WHAT>(px, wanted, t);
        if (__syncthreads_or(!fits)) {
            wanted.classes *= 4; /* ends: no two labels have all bits of their hashes in common */
            continue;
        }
        for (uint32_t i = threadIdx.x; i < slots; i += THREADS)
            if (t.label[i]) out.put(t, i, t.label[i] - 1, block_y, block_x);
        if (!next_class(&wanted)) return;
        __syncthreads();
    }
}

/* ---- Regions that several blocks add to ------------------------------------------------------ */

template <typename T> static __device__ __forceinline__ void clear_band(uint64_t *band)
{
    enum { ENDS = digits_of<T>::SUM_WORDS + digits_of<T>::SQUARE_WORDS };
    const uint64_t infinity = 0x7ff0000000000000u, minus = 0x8000000000000000u;
    for (int i = 0; i < ENDS; i++)
        band[i] = 0;
    band[ENDS] = infinity;
    band[ENDS + 1] = infinity | minus;
}

template <typename T>
static __global__ void k_clear_records(const uint32_t *__restrict__ spans, uint32_t first_region,
                                       uint32_t n, int n_bands, int record_words,
                                       uint64_t *__restrict__ records)
{
    enum { BAND_WORDS = digits_of<T>::SUM_WORDS + digits_of<T>::SQUARE_WORDS + 2 };
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        if (!spans_blocks(spans, first_region + i)) continue;
        uint64_t *const record = records + (int64_t)i * record_words;
        for (int k = 0; k < HEAD_WORDS; k++)
            record[k] = k == WORD_Y0 || k == WORD_X0 ? (uint64_t)INT64_MAX : 0;
        for (int b = 0; b < n_bands; b++)
            clear_band<T>(record + HEAD_WORDS + b * BAND_WORDS);
    }
}

static __global__ void k_clear_sums(const uint32_t *__restrict__ spans, uint32_t n, int words,
                                    uint64_t *__restrict__ sums)
{
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        if (spans_blocks(spans, i))
            for (int k = 0; k < words; k++)
                sums[(int64_t)i * words + k] = 0;
}

/* ---- Launches -------------------------------------------------------------------------------- */

static dim3 grid_of_regions(const qfz_gpu *gpu, uint32_t n)
{
    const unsigned enough = (unsigned)gpu->n_sms * 32, blocks = qfz_blocks(n, THREADS);
    return dim3(blocks < enough ? blocks : enough);
}

/* As many places as leave room for several blocks on a multiprocessor; noise at its worst has some
 * 550 regions in 64 x 64 pixels. */
template <typename P> static uint32_t slots_for(void)
{
    const uint32_t by_size = (36u << 10) / ((uint32_t)(P::WORDS + 1) * sizeof(uint32_t));
    return by_size < 256 ? 256 : by_size > 2048 ? 2048 : by_size;
}

template <typename T, int WHAT, typename OUT>
static qfz_status gather(qfz_gpu *gpu, const qfz_gpu_regions *regions, const T *d_plane,
                         qfz_gpu_areas areas, uint32_t first_region, uint32_t n, const OUT &out)
{
    const int64_t blocks =
        (int64_t)((regions->w + SIDE - 1) / SIDE) * ((regions->h + SIDE - 1) / SIDE);
    const uint32_t slots = slots_for<part<T, WHAT>>();
    const size_t bytes = (size_t)slots * (part<T, WHAT>::WORDS + 1) * sizeof(uint32_t);
    const bool aligned =
        regions->w % PATCH == 0 && reinterpret_cast<uintptr_t>(d_plane) % (sizeof(T) * PATCH) == 0;
    const tile_view tile = {regions->h, regions->w, aligned, regions->d_label, areas};
    return qfz_launch(gpu, k_gather<T, WHAT, OUT>, dim3((unsigned)blocks), dim3(THREADS), bytes,
                      tile, d_plane, regions->d_first, first_region, n, slots, out);
}

qfz_status qfz_gpu_gather_counts(qfz_gpu *gpu, const qfz_gpu_regions *regions)
{
    const size_t words = ((size_t)regions->h * (size_t)regions->w + 31) / 32;
    const count_out out = {regions->d_count, regions->d_spans};
    QFZ_TRY_CUDA(gpu->err,
                 cudaMemsetAsync(regions->d_spans, 0, words * sizeof(uint32_t), gpu->stream));
    return gather<uint8_t, HAS_COUNT>(gpu, regions, NULL, qfz_gpu_areas{}, 0, UINT32_MAX - 1, out);
}

template <typename T> static const T *plane_of(const qfz_gpu_image *image, int band)
{
    return static_cast<const T *>(image->d_pixels) + (int64_t)band * image->h * image->w;
}

template <typename T>
static qfz_status sums_of(qfz_gpu *gpu, const qfz_gpu_regions *regions, const qfz_gpu_image *image,
                          int band, uint32_t n_regions, uint64_t *d_sums)
{
    const sums_out<T> out = {regions->d_spans, d_sums};
    QFZ_TRY(qfz_launch(gpu, k_clear_sums, grid_of_regions(gpu, n_regions), dim3(THREADS), 0,
                       regions->d_spans, n_regions, (int)digits_of<T>::SUM_WORDS, d_sums));
    return gather<T, HAS_SUM>(gpu, regions, plane_of<T>(image, band), qfz_gpu_areas{}, 0, n_regions,
                              out);
}

#define EACH_TYPE(type, DO)                                                                        \
    switch (type) {                                                                                \
    case QFZ_U8: return DO(uint8_t);                                                               \
    case QFZ_I8: return DO(int8_t);                                                                \
    case QFZ_U16: return DO(uint16_t);                                                             \
    case QFZ_I16: return DO(int16_t);                                                              \
    case QFZ_U32: return DO(uint32_t);                                                             \
    case QFZ_I32: return DO(int32_t);                                                              \
    case QFZ_F32: return DO(float);                                                                \
    }                                                                                              \
    return qfz_fail(gpu->err, QFZ_EARG, "pixel type %d", (int)(type))

qfz_status qfz_gpu_gather_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t n_regions,
                               uint64_t *d_sums)
{
#define SUMS(T) sums_of<T>(gpu, regions, image, band, n_regions, d_sums)
    EACH_TYPE(image->type, SUMS);
}

template <typename T, int WHAT>
static qfz_status features_of_band(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, int band, qfz_box box,
                                   qfz_gpu_areas areas, uint32_t first_region, uint32_t n,
                                   uint64_t *d_records)
{
    const int words = qfz_record_words(image->type, image->n_bands);
    const int band_words = features_out<T, WHAT>::BAND_WORDS;
    features_out<T, WHAT> out;
    out.spans = regions->d_spans;
    out.records = d_records - (int64_t)first_region * words +
                  (WHAT & HAS_COUNT ? 0 : HEAD_WORDS + band * band_words);
    out.record_words = words;
    out.y0 = box.y0;
    out.x0 = box.x0;
    out.same_area = areas.same;
    return gather<T, WHAT>(gpu, regions, plane_of<T>(image, band), areas, first_region, n, out);
}

template <typename T>
static qfz_status features_of(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                              const qfz_gpu_image *image, qfz_box box, qfz_gpu_areas areas,
                              uint32_t first_region, uint32_t n, uint64_t *d_records)
{
    enum { BAND = HAS_SUM | HAS_SPREAD, ALL = HAS_COUNT | HAS_PLACE | BAND };
    QFZ_TRY(qfz_launch(gpu, k_clear_records<T>, grid_of_regions(gpu, n), dim3(THREADS), 0,
                       regions->d_spans, first_region, n, image->n_bands,
                       qfz_record_words(image->type, image->n_bands), d_records));
    if (areas.d_row)
        QFZ_TRY((features_of_band<T, ALL | HAS_AREA>(gpu, regions, image, 0, box, areas,
                                                     first_region, n, d_records)));
    else
        QFZ_TRY((features_of_band<T, ALL>(gpu, regions, image, 0, box, areas, first_region, n,
                                          d_records)));
    for (int band = 1; band < image->n_bands; band++)
        QFZ_TRY((features_of_band<T, BAND>(gpu, regions, image, band, box, areas, first_region, n,
                                           d_records)));
    return QFZ_OK;
}

qfz_status qfz_gpu_gather_features(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, qfz_box box, qfz_gpu_areas areas,
                                   uint32_t first_region, uint32_t n, uint64_t *d_records)
{
#define FEATURES(T) features_of<T>(gpu, regions, image, box, areas, first_region, n, d_records)
    EACH_TYPE(image->type, FEATURES);
}
