/* SPDX-License-Identifier: MIT */
/* gather_runs.cuh - the pixels of a block: runs of one label, each a part of its region, added up
 * in a table in shared memory; of no use to others than gather.cu.
 *
 * The run that takes a region's place in the table stores its part there, so that places need not
 * be cleared, and regions of one run, which noise is full of, need no atomic operation. */
#ifndef QFZ_GPU_GATHER_RUNS_CUH
#define QFZ_GPU_GATHER_RUNS_CUH

#include "gpu/features/gather.cuh"
#include "gpu/device/value_order.cuh"
#include "gpu/device/warp.cuh"

/* A block has SIDE x SIDE pixels; a run lies in a piece of a row. */
enum { SIDE = 64, PIECE = 16, THREADS = 256, MAX_RUNS = SIDE * SIDE };

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

/* The table of a block: labels, 0 where a place is free, and words[i * border_regions +
 * border_region]. */
struct table {
    uint32_t border_regions;
    uint32_t *label, *words;
};

enum { MAX_PROBES = 64, NO_REGION = -1 };

static __device__ __forceinline__ uint32_t hash_of(uint32_t label)
{
    const uint32_t h = label * 0x9e3779b1u;
    return h ^ h >> 15;
}

/* The border_region of a label, taken if it is new; NO_REGION if there is no room near. */
static __device__ __forceinline__ int border_of(const table &t, uint32_t label, bool *is_new)
{
    uint32_t border_region =
        (uint32_t)((uint64_t)(hash_of(label) * 0x85ebca6bu) * t.border_regions >> 32);
    for (int probe = 0; probe < MAX_PROBES; probe++) {
        uint32_t there = *static_cast<volatile uint32_t *>(t.label + border_region);
        if (there == 0) {
            there = atomicCAS(t.label + border_region, 0u, label);
            *is_new = there == 0;
        }
        if (there == 0 || there == label) return (int)border_region;
        border_region = border_region + 1 < t.border_regions ? border_region + 1 : 0;
    }
    return NO_REGION;
}

/* A region's first part. */
template <typename T, int WHAT>
static __device__ __forceinline__ void store_part(const table &t, int border_region,
                                                  const part<T, WHAT> &some)
{
#pragma unroll
    for (int i = 0; i < part<T, WHAT>::WORDS; i++)
        t.words[(uint32_t)i * t.border_regions + (uint32_t)border_region] = some.word[i];
}

/* One more.  Bits and ends are looked at before: most are there already. */
template <typename T, int WHAT>
static __device__ __forceinline__ void put_part(const table &t, int border_region,
                                                const part<T, WHAT> &some)
{
    typedef part<T, WHAT> P;
#pragma unroll
    for (int i = 0; i < P::WORDS; i++) {
        uint32_t *const word = t.words + (uint32_t)i * t.border_regions + (uint32_t)border_region;
        const uint32_t more = some.word[i];
        if (P::is_direct(i)) continue;
        if (P::is_least(i)) {
            if (more < *static_cast<volatile uint32_t *>(word)) atomicMin(word, more);
        } else if (P::is_greatest(i)) {
            if (more > *static_cast<volatile uint32_t *>(word)) atomicMax(word, more);
        } else if (P::is_bits(i)) {
            if (more & ~*static_cast<volatile uint32_t *>(word)) atomicOr(word, more);
        } else if (more) {
            atomicAdd(word, more);
        }
    }
}

/* Puts one part a lane, none where the border_region is NO_REGION.  Parts of the first lane's
 * region become one before, where there are several: a large region is what most lanes have. */
template <typename T, int WHAT>
static __device__ __forceinline__ void put_parts(const table &t, int border_region,
                                                 part<T, WHAT> some)
{
    typedef part<T, WHAT> P;
    enum { MANY = 4 };
    const uint32_t have = __ballot_sync(full_warp, border_region != NO_REGION);
    if (!have) return;
    const int leader = __ffs((int)have) - 1;
    const bool same = border_region == __shfl_sync(full_warp, border_region, leader);
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
        if (same && !leads) border_region = NO_REGION;
    }
    if (border_region != NO_REGION) put_part(t, border_region, some);
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

/* n values, of any integer type.  The last digit of a sum takes what is left, and the sign. */
template <typename T, int WHAT>
static __device__ __forceinline__ void add_values(const T *__restrict__ values, int n,
                                                  part<T, WHAT> *some)
{
    typedef part<T, WHAT> P;
    typename sums_of_bytes<sizeof(T)>::sum sum = 0;
    typename sums_of_bytes<sizeof(T)>::square square = 0;
    for (int i = 0; i < n; i++) {
        const T value = __ldg(values + i);
        if (WHAT & HAS_SUM) sum += value;
        if (!(WHAT & HAS_SPREAD)) continue;
        some->word[P::LEAST] = min(some->word[P::LEAST], order_of(value));
        some->word[P::GREATEST] = max(some->word[P::GREATEST], order_of(value));
        const int64_t wide = (int64_t)value;
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

template <int WHAT>
static __device__ __forceinline__ void add_values(const float *__restrict__ values, int n,
                                                  part<float, WHAT> *some)
{
    typedef part<float, WHAT> P;
    for (int i = 0; i < n && (WHAT & HAS_SPREAD); i++) {
        const uint32_t order = order_of(__ldg(values + i));
        some->word[P::LEAST] = min(some->word[P::LEAST], order);
        some->word[P::GREATEST] = max(some->word[P::GREATEST], order);
    }
}

/* Adds +-m * 2^shift to the digits of a border_region that begin at a word; m < 2^(16 * n - 15). */
static __device__ __forceinline__ void add_digits(const table &t, int border_region, int first,
                                                  uint64_t m, int shift, int n, bool negative)
{
    const uint64_t digits = m << shift % DIGIT_BITS;
    uint32_t *word = t.words + (uint32_t)(first + shift / DIGIT_BITS) * t.border_regions +
                     (uint32_t)border_region;
    for (int k = 0; k < n; k++, word += t.border_regions) {
        const uint32_t digit = (uint32_t)(digits >> k * DIGIT_BITS) & DIGIT;
        if (digit) atomicAdd(word, negative ? 0u - digit : digit);
    }
}

/* A finite single is +-m * 2^(shift - 149); infinities are beyond all of them (src/exact.c). */
template <int WHAT>
static __device__ __forceinline__ void add_direct(const table &t, int border_region, float value)
{
    typedef part<float, WHAT> P;
    const uint32_t bits = __float_as_uint(value);
    const int exponent = (int)(bits >> 23 & 0xff);
    const bool infinite = exponent == 0xff, negative = bits >> 31;
    uint64_t m = (bits & 0x7fffffu) | (exponent ? 0x800000u : 0);
    int shift = exponent ? exponent - 1 : 0;
    if (WHAT & HAS_SUM)
        add_digits(t, border_region, P::SUM, infinite ? 1 : m, infinite ? 340 : shift, 3, negative);
    if (WHAT & HAS_SPREAD)
        add_digits(t, border_region, P::SQUARE, infinite ? 1 : m * m, infinite ? 660 : 2 * shift, 4,
                   false);
}

template <int WHAT, typename T>
static __device__ __forceinline__ void add_direct(const table &, int, T)
{
}

/* ---- Pixels of a block ----------------------------------------------------------------------- */

struct tile_view {
    int32_t h, w;
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
    if (label < s.first || label > s.last) return false;
    return s.classes == 1 || (hash_of(label) & (s.classes - 1)) == s.rest;
}

/* A block's table, and its runs: (pixels - 1) << RUN_SHIFT | place in the block. */
struct block_view {
    table t;
    uint16_t *runs, *taken; /* border_regions, in the order in which they were */
    uint32_t *n_runs, *n_taken;
};

enum { RUN_SHIFT = 12, RUN_ROWS = 4 };

/* Lists the runs of selected regions in some rows of the block; a warp has one place in the list
 * for them. */
static __device__ __forceinline__ void find_runs(const tile_view &tile, int32_t block_y,
                                                 int32_t block_x, uint32_t row,
                                                 const selection &wanted, const block_view &b)
{
    enum { N = RUN_ROWS * SIDE / QFZ_WARP, HALVES = SIDE / QFZ_WARP };
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    const uint32_t *const from = tile.label + (int64_t)(block_y + (int32_t)row) * tile.w + block_x;
    const int32_t h = tile.h - block_y - (int32_t)row, w = tile.w - block_x - (int32_t)lane;
    uint32_t label[N], starts[N], joined[N], n = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
        label[i] = i / HALVES < h && i % HALVES * QFZ_WARP < w
                       ? __ldg(from + i / HALVES * tile.w + i % HALVES * QFZ_WARP + (int)lane)
                       : 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (!is_selected(wanted, label[i])) label[i] = 0;
        const uint32_t left = __shfl_up_sync(full_warp, label[i], 1);
        joined[i] = __ballot_sync(full_warp, label[i] && label[i] == left && lane % PIECE);
        starts[i] = __ballot_sync(full_warp, label[i] != 0) & ~joined[i];
        n += (uint32_t)__popc(starts[i]);
    }
    uint32_t at = 0;
    if (lane == 0) at = atomicAdd(b.n_runs, n);
    at = __shfl_sync(full_warp, at, 0);
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (starts[i] >> lane & 1) {
            const uint32_t more = (uint32_t)__ffs((int)~(joined[i] >> lane >> 1)) - 1;
            const uint32_t place = (row + i / HALVES) * SIDE + i % HALVES * QFZ_WARP + lane;
            b.runs[at + (uint32_t)__popc(starts[i] & ((1u << lane) - 1))] =
                (uint16_t)(more << RUN_SHIFT | place);
        }
        at += (uint32_t)__popc(starts[i]);
    }
}

/* n pixels at (y, x) of a block as a part of their region. */
template <typename T, int WHAT>
static __device__ __forceinline__ void add_pixels(const tile_view &tile, const T *values,
                                                  int32_t block_y, uint32_t y, uint32_t x,
                                                  uint32_t n, part<T, WHAT> *some)
{
    typedef part<T, WHAT> P;
    if (WHAT & HAS_COUNT) some->word[P::COUNT] = n | n * y << COUNT_BITS;
    if (WHAT & HAS_PLACE) {
        const uint32_t row = 1u << y % 32, columns = ((1u << n) - 1) << x % 32;
        some->word[P::SUM_X] = n * x + n * (n - 1) / 2;
        some->word[P::ROWS] = y < 32 ? row : 0;
        some->word[P::ROWS + 1] = y < 32 ? 0 : row;
        some->word[P::COLUMNS] = x < 32 ? columns : 0;
        some->word[P::COLUMNS + 1] = x < 32 ? 0 : columns;
    }
    if (WHAT & HAS_AREA) {
        const uint64_t area = tile.areas.d_row[block_y + (int32_t)y];
#pragma unroll
        for (int i = 0; i < AREA_DIGITS; i++)
            some->word[P::AREA + i] = n * ((uint32_t)(area >> i * DIGIT_BITS) & DIGIT);
    }
    if (WHAT & (HAS_SUM | HAS_SPREAD)) add_values(values, (int)n, some);
}

/* Puts the block's runs into the table; false if there was no room for one.  Between a barrier and
 * the next, parts are stored in places that are new, and added to those of which the parts were
 * stored before it. */
template <typename T, int WHAT>
static __device__ __forceinline__ bool gather_runs(const tile_view &tile, const T *plane,
                                                   int32_t block_y, int32_t block_x,
                                                   const block_view &b)
{
    const uint32_t n_runs = *b.n_runs;
    const int64_t block_px = (int64_t)block_y * tile.w + block_x;
    bool fits = true;
    for (uint32_t first = 0; first < n_runs; first += THREADS) {
        const bool there = first + threadIdx.x < n_runs;
        const uint32_t run = there ? b.runs[first + threadIdx.x] : 0;
        const uint32_t y = run % MAX_RUNS / SIDE, x = run % SIDE, n = (run >> RUN_SHIFT) + 1;
        const int64_t p = block_px + (int64_t)y * tile.w + x;
        const uint32_t label = there ? __ldg(tile.label + p) : 0;
        int border_region = NO_REGION;
        bool is_new = false;
        part<T, WHAT> some;
        some.clear();
        if (there) {
            add_pixels(tile, plane + p, block_y, y, x, n, &some);
            border_region = border_of(b.t, label, &is_new);
            if (border_region == NO_REGION) fits = false;
        }
        if (is_new) {
            store_part(b.t, border_region, some);
            b.taken[atomicAdd(b.n_taken, 1u)] = (uint16_t)border_region;
        }
        __syncthreads();
        put_parts(b.t, is_new ? NO_REGION : border_region, some);
        if (!digits_of<T>::in_registers && border_region != NO_REGION)
            for (uint32_t i = 0; i < n; i++)
                add_direct<WHAT>(b.t, border_region, __ldg(plane + p + i));
    }
    return fits;
}

#endif
