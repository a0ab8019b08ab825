/* SPDX-License-Identifier: MIT */
/* gather_runs.cuh - adds up the pixels of one 64 x 64 block, region by region, in a hash table in
 * shared memory, by runs: neighbouring pixels of one row with one label. For gather.cu only.
 *
 * Invariant: the thread that inserts a region into the table stores its run there as the entry's
 * first value. Entries therefore need no clearing, and a region of a single run, the common case in
 * noise, needs no atomic operation. */
#pragma once

#include "gpu/features/gather.cuh"
#include "gpu/device/pixel_type.cuh"
#include "gpu/device/warp.cuh"
#include "core/exact_value.h"

/* A block has SIDE x SIDE pixels. A run does not cross a multiple of PIECE columns. */
enum { SIDE = 64, PIECE = 16, THREADS = 256, MAX_RUNS = SIDE * SIDE };

/* What is gathered for a region; the flags are combined: */
enum {
    HAS_COUNT = 1,    /* number of pixels and sum of their rows, in one word */
    HAS_PLACE = 2,    /* sum of columns; bit masks of the rows and columns that occur */
    HAS_AREA = 4,     /* sum of row weights, where rows have different ones */
    HAS_SUM = 8,      /* sum of values */
    HAS_SQUARES = 16, /* sum of squares of values */
    HAS_ENDS = 32     /* least and greatest value */
};

enum { COUNT_BITS = 13, DIGIT_BITS = 16, AREA_DIGITS = 4 };

/* ---- Digits of values ------------------------------------------------------------------------ */

/* 16-bit digits needed for the sums of 4096 values (SUM) and of their squares (SQUARE), and 64-bit
 * words of the results. */
template <typename T> struct digits_of {
    enum { SUM = sizeof(T) / 4 + 1, SQUARE = sizeof(T), SUM_WORDS = 2, SQUARE_WORDS = 2 };
    static const bool in_registers = true;
};
template <> struct digits_of<float> {
    enum {
        SUM = 22,    /* an infinity counts as 2^QFZ_SUM_INFINITY */
        SQUARE = 42, /* an infinity counts as 2^QFZ_SQUARE_INFINITY */
        SUM_WORDS = 6,
        SQUARE_WORDS = 11
    };
    static const bool in_registers = false; /* the value decides which digits change */
};

/* ---- Partial results ------------------------------------------------------------------------- */

/* Two partial results are merged word by word: counts and sums are added, bit masks of rows and
 * columns are united, and the smaller least and the larger greatest value are taken. */
enum { MERGE_ADD, MERGE_BITS, MERGE_LEAST, MERGE_GREATEST, MERGE_DIRECT };

/* The partial result of a region: its words, by index. */
template <typename T, int WHAT> struct part {
    enum {
        COUNT = 0,
        SUM_X = COUNT + (WHAT & HAS_COUNT ? 1 : 0),
        ROWS = SUM_X + (WHAT & HAS_PLACE ? 1 : 0),
        COLUMNS = ROWS + (WHAT & HAS_PLACE ? 2 : 0),
        AREA = COLUMNS + (WHAT & HAS_PLACE ? 2 : 0),
        SUM = AREA + (WHAT & HAS_AREA ? (int)AREA_DIGITS : 0),
        SQUARE = SUM + (WHAT & HAS_SUM ? (int)digits_of<T>::SUM : 0),
        LEAST = SQUARE + (WHAT & HAS_SQUARES ? (int)digits_of<T>::SQUARE : 0),
        GREATEST = LEAST + (WHAT & HAS_ENDS ? 1 : 0),
        WORDS = GREATEST + (WHAT & HAS_ENDS ? 1 : 0)
    };
    uint32_t word[WORDS];

    /* How word i is merged; MERGE_DIRECT: add_direct() adds to it in the table. */
    static __device__ constexpr int merge(int i)
    {
        if ((WHAT & HAS_ENDS) && i >= LEAST) return i == LEAST ? MERGE_LEAST : MERGE_GREATEST;
        if ((WHAT & HAS_PLACE) && i >= ROWS && i < AREA) return MERGE_BITS;
        return !digits_of<T>::in_registers && i >= SUM ? MERGE_DIRECT : MERGE_ADD;
    }
    static __device__ constexpr uint32_t nothing(int i)
    {
        return merge(i) == MERGE_LEAST ? UINT32_MAX : 0;
    }

    QFZ_DEVICE void clear()
    {
        QFZ_EACH (i, WORDS)
            word[i] = nothing(i);
    }
};

/* The hash table of a block, open addressing: label[entry], 0 in a free entry, and word i of an
 * entry at words[i * capacity + entry]. */
struct table {
    uint32_t capacity;
    uint32_t *label, *words;
};

enum { MAX_PROBES = 64, NO_ENTRY = -1 };

QFZ_DEVICE uint32_t hash_of(uint32_t label)
{
    const uint32_t h = label * 0x9e3779b1u;
    return h ^ h >> 15;
}

/* The entry of a label, claimed if new. NO_ENTRY if MAX_PROBES entries have other labels. */
QFZ_DEVICE int find_entry(const table &t, uint32_t label, bool *is_new)
{
    uint32_t entry = (uint32_t)((uint64_t)(hash_of(label) * 0x85ebca6bu) * t.capacity >> 32);
    for (int probe = 0; probe < MAX_PROBES; probe++) {
        uint32_t there = *static_cast<volatile uint32_t *>(t.label + entry);
        if (there == 0) {
            there = atomicCAS(t.label + entry, 0u, label);
            *is_new = there == 0;
        }
        if (there == 0 || there == label) return (int)entry;
        entry = entry + 1 < t.capacity ? entry + 1 : 0;
    }
    return NO_ENTRY;
}

/* Stores the first partial result of an entry. */
template <typename T, int WHAT>
QFZ_DEVICE void store_part(const table &t, int entry, const part<T, WHAT> &some)
{
    QFZ_EACH (i, (part<T, WHAT>::WORDS))
        t.words[(uint32_t)i * t.capacity + (uint32_t)entry] = some.word[i];
}

/* Merges one more partial result into an entry. Bit masks, least and greatest are read first: most
 * are already covered, and then no atomic operation is needed. */
template <typename T, int WHAT>
QFZ_DEVICE void add_part(const table &t, int entry, const part<T, WHAT> &some)
{
    typedef part<T, WHAT> P;
    QFZ_EACH (i, P::WORDS) {
        uint32_t *const word = t.words + (uint32_t)i * t.capacity + (uint32_t)entry;
        const uint32_t more = some.word[i];
        volatile uint32_t *const seen = word;
        if (P::merge(i) == MERGE_LEAST && more < *seen) atomicMin(word, more);
        if (P::merge(i) == MERGE_GREATEST && more > *seen) atomicMax(word, more);
        if (P::merge(i) == MERGE_BITS && (more & ~*seen)) atomicOr(word, more);
        if (P::merge(i) == MERGE_ADD && more) atomicAdd(word, more);
    }
}

/* Merges one partial result per lane, none where entry is NO_ENTRY. If several lanes have the first
 * lane's region, often a large one, these are merged within the warp first. */
template <typename T, int WHAT>
QFZ_DEVICE void add_parts(const table &t, int entry, part<T, WHAT> some)
{
    typedef part<T, WHAT> P;
    enum { MANY = 4 };
    const uint32_t have = __ballot_sync(QFZ_ALL_LANES, entry != NO_ENTRY);
    if (!have) return;
    const int leader = __ffs((int)have) - 1;
    const bool same = entry == __shfl_sync(QFZ_ALL_LANES, entry, leader);
    if (__popc(__ballot_sync(QFZ_ALL_LANES, same)) >= MANY) {
        const bool leads = (int)threadIdx.x % QFZ_WARP == leader;
        QFZ_EACH (i, P::WORDS) {
            const int how = P::merge(i);
            if (how == MERGE_DIRECT) continue;
            const uint32_t mine = same ? some.word[i] : P::nothing(i);
            const uint32_t all = how == MERGE_LEAST      ? qfz_warp_min(mine)
                                 : how == MERGE_GREATEST ? qfz_warp_max(mine)
                                 : how == MERGE_BITS     ? qfz_warp_or(mine)
                                                         : qfz_warp_add(mine);
            if (leads) some.word[i] = all;
        }
        if (same && !leads) entry = NO_ENTRY;
    }
    if (entry != NO_ENTRY) add_part(t, entry, some);
}

/* ---- Values ---------------------------------------------------------------------------------- */

enum { DIGIT = (1 << DIGIT_BITS) - 1 };

/* Adds n values of any integer type. The last digit of a sum takes all high bits, and the sign. */
template <typename T, int WHAT>
QFZ_DEVICE void add_values(const T *__restrict__ values, int n, part<T, WHAT> *some)
{
    typedef part<T, WHAT> P;
    int64_t sum = 0;
    uint64_t square = 0;
    for (int i = 0; i < n; i++) {
        const T value = __ldg(values + i);
        if (WHAT & HAS_SUM) sum += value;
        if (WHAT & HAS_ENDS) {
            some->word[P::LEAST] = min(some->word[P::LEAST], order_of(value));
            some->word[P::GREATEST] = max(some->word[P::GREATEST], order_of(value));
        }
        if (!(WHAT & HAS_SQUARES)) continue;
        const int64_t wide = (int64_t)value;
        if (sizeof(T) < 4)
            square += (uint64_t)(wide * wide);
        else
            QFZ_EACH (k, digits_of<T>::SQUARE)
                some->word[P::SQUARE + k] +=
                    (uint32_t)((uint64_t)(wide * wide) >> k * DIGIT_BITS) & DIGIT;
    }
    if (WHAT & HAS_SUM) {
        const int last = digits_of<T>::SUM - 1;
        if (last) some->word[P::SUM] += (uint32_t)sum & DIGIT;
        some->word[P::SUM + last] += (uint32_t)(sum >> last * DIGIT_BITS);
    }
    if ((WHAT & HAS_SQUARES) && sizeof(T) < 4) {
        const int last = digits_of<T>::SQUARE - 1;
        if (last) some->word[P::SQUARE] += (uint32_t)square & DIGIT;
        some->word[P::SQUARE + last] += (uint32_t)(square >> last * DIGIT_BITS);
    }
}

template <int WHAT>
QFZ_DEVICE void add_values(const float *__restrict__ values, int n, part<float, WHAT> *some)
{
    typedef part<float, WHAT> P;
    for (int i = 0; i < n && (WHAT & HAS_ENDS); i++) {
        const uint32_t order = order_of(__ldg(values + i));
        some->word[P::LEAST] = min(some->word[P::LEAST], order);
        some->word[P::GREATEST] = max(some->word[P::GREATEST], order);
    }
}

/* Adds +-m * 2^shift to the digits of an entry from word `first` on; m < 2^(16 * n - 15). */
QFZ_DEVICE void add_digits(const table &t, int entry, int first, uint64_t m, int shift, int n,
                           bool negative)
{
    const uint64_t digits = m << shift % DIGIT_BITS;
    uint32_t *word =
        t.words + (uint32_t)(first + shift / DIGIT_BITS) * t.capacity + (uint32_t)entry;
    for (int k = 0; k < n; k++, word += t.capacity) {
        const uint32_t digit = (uint32_t)(digits >> k * DIGIT_BITS) & DIGIT;
        if (digit) atomicAdd(word, negative ? 0u - digit : digit);
    }
}

template <int WHAT> QFZ_DEVICE void add_direct(const table &t, int entry, float value)
{
    typedef part<float, WHAT> P;
    const bool infinite = isinf(value);
    uint64_t m;
    int shift;
    bool negative;
    qfz_split_single(value, &m, &shift, &negative);
    if (WHAT & HAS_SUM)
        add_digits(t, entry, P::SUM, infinite ? 1 : m, infinite ? (int)QFZ_SUM_INFINITY : shift, 3,
                   negative);
    if (WHAT & HAS_SQUARES)
        add_digits(t, entry, P::SQUARE, infinite ? 1 : m * m,
                   infinite ? (int)QFZ_SQUARE_INFINITY : 2 * shift, 4, false);
}

template <int WHAT, typename T> QFZ_DEVICE void add_direct(const table &, int, T)
{
}

/* ---- Pixels of a block ----------------------------------------------------------------------- */

struct tile_view {
    int32_t h, w;
    const uint32_t *label;
    qfz_gpu_areas areas;
};

/* The regions that one pass over a block gathers: labels first .. last whose hash is `rest` modulo
 * `classes`, a power of two. Passes over all classes gather all regions. */
struct selection {
    uint32_t first, last, rest, classes;
};

QFZ_DEVICE bool is_selected(const selection &s, uint32_t label)
{
    if (label < s.first || label > s.last) return false;
    return s.classes == 1 || (hash_of(label) & (s.classes - 1)) == s.rest;
}

/* A block's table and its list of runs; a run is (pixels - 1) << RUN_SHIFT | y * SIDE + x. */
struct block_view {
    table t;
    uint16_t *runs, *taken; /* claimed entries, in order */
    uint32_t *n_runs, *n_taken;
};

enum { RUN_SHIFT = 12 };

/* Lists the runs of selected regions in a half row of the block from `place` on. The warp reserves
 * its part of the list with one atomic operation. */
QFZ_DEVICE void find_runs(const tile_view &tile, int32_t block_y, int32_t block_x, uint32_t place,
                          const selection &wanted, const block_view &b)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    const int32_t y = block_y + (int32_t)(place / SIDE);
    const int32_t x = block_x + (int32_t)(place % SIDE + lane);
    uint32_t label = y < tile.h && x < tile.w ? __ldg(tile.label + (int64_t)y * tile.w + x) : 0;
    if (!is_selected(wanted, label)) label = 0;
    const uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, label, 1);
    const uint32_t joined = __ballot_sync(QFZ_ALL_LANES, label && label == left && lane % PIECE);
    const uint32_t starts = __ballot_sync(QFZ_ALL_LANES, label != 0) & ~joined;
    uint32_t at = 0;
    if (lane == 0) at = atomicAdd(b.n_runs, (uint32_t)__popc(starts));
    at = __shfl_sync(QFZ_ALL_LANES, at, 0);
    if (!(starts >> lane & 1)) return;
    const uint32_t more = (uint32_t)__ffs((int)~(joined >> lane >> 1)) - 1;
    b.runs[at + (uint32_t)__popc(starts & ((1u << lane) - 1))] =
        (uint16_t)(more << RUN_SHIFT | (place + lane));
}

/* Adds the run of n pixels at (y, x) of the block to a partial result. */
template <typename T, int WHAT>
QFZ_DEVICE void add_pixels(const tile_view &tile, const T *values, int32_t block_y, uint32_t y,
                           uint32_t x, uint32_t n, part<T, WHAT> *some)
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
        QFZ_EACH (i, AREA_DIGITS)
            some->word[P::AREA + i] = n * ((uint32_t)(area >> i * DIGIT_BITS) & DIGIT);
    }
    if (WHAT & (HAS_SUM | HAS_SQUARES | HAS_ENDS)) add_values(values, (int)n, some);
}

/* Adds the block's runs to the table; returns false if the table had no room for one. Between two
 * barriers, first values are stored into entries claimed since the first barrier, and further runs
 * are added only to entries whose first value was stored before it. */
template <typename T, int WHAT>
QFZ_DEVICE bool gather_runs(const tile_view &tile, const T *plane, int32_t block_y, int32_t block_x,
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
        int entry = NO_ENTRY;
        bool is_new = false;
        part<T, WHAT> some;
        some.clear();
        if (there) {
            add_pixels(tile, plane + p, block_y, y, x, n, &some);
            entry = find_entry(b.t, label, &is_new);
            if (entry == NO_ENTRY) fits = false;
        }
        if (is_new) {
            store_part(b.t, entry, some);
            b.taken[atomicAdd(b.n_taken, 1u)] = (uint16_t)entry;
        }
        __syncthreads();
        add_parts(b.t, is_new ? NO_ENTRY : entry, some);
        if (!digits_of<T>::in_registers && entry != NO_ENTRY)
            for (uint32_t i = 0; i < n; i++)
                add_direct<WHAT>(b.t, entry, __ldg(plane + p + i));
    }
    return fits;
}
