/* SPDX-License-Identifier: MIT */
/* gather_patch.cuh - the pixels of a block in shared memory: parts of regions, added up thread by
 * thread in a table; of no use to others than gather.cu. */
#ifndef QFZ_GPU_GATHER_PATCH_CUH
#define QFZ_GPU_GATHER_PATCH_CUH

#include "gpu/gather.cuh"
#include "gpu/warp.cuh"

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

#endif
