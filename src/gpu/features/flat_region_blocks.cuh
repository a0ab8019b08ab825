/* SPDX-License-Identifier: MIT */
/* flat_region_blocks.cuh - the components of one 64 x 64 block, numbered and summed in shared
 * memory. Part of k_gather_flats (flat_regions.cu); included there only. */
#pragma once

#include "gpu/components/component_blocks.cuh"
#include "gpu/device/warp.cuh"

/* Sums over the pixels of one component or of several; coordinates are relative to the block. Five
 * words, so that neighbours in an array begin in different banks. */
struct component_sums {
    uint32_t count_y;     /* low COUNT_BITS: number of pixels; above: sum of their rows */
    uint32_t sum_x;       /* low SUM_X_BITS: sum of columns; above, for one component: its first
                           * pixel's place and RUN_ON_RING */
    uint32_t left, right; /* columns that occur, a bit each */
    uint32_t y1;
};
enum { COUNT_BITS = 13, COUNT_MASK = (1 << COUNT_BITS) - 1 };
enum { SUM_X_BITS = 17, SUM_X_MASK = (1 << SUM_X_BITS) - 1 };
static_assert((int)SIDE * SIDE < 1 << COUNT_BITS &&
                  SIDE * SIDE * (SIDE - 1) / 2 < 1 << SUM_X_BITS &&
                  ((int)RUN_ON_RING | (int)RUN_NUMBER) < 1 << (32 - SUM_X_BITS),
              "sums and first pixels fit their words");

/* Components are numbered in the order of their first runs. The pool has the codes of the block's
 * runs, then sums of components. Noise, the worst case, has some 550 components and 850 runs in a
 * block; these fit when twelve blocks share a multiprocessor with 228 KiB. */
enum {
    POOL_WORDS = 3884,
    ENTRY_WORDS = sizeof(component_sums) / sizeof(uint32_t),
    NO_ENTRY = 0xffff
};
struct block_components {
    alignas(16) uint32_t pool[POOL_WORDS];
    uint32_t firsts[WORDS]; /* the first pixels of regions, a bit each */
    uint32_t before[SIDE];  /* per row: regions of the tile before its part in this block */
    uint32_t sums[2 * WORDS / QFZ_WARP];
    uint32_t ring[RING];       /* components with RUN_ON_RING: number | first pixel's place << 16 */
    uint32_t ring_label[RING]; /* their labels */
    uint32_t largest; /* the largest one in the window: pixels << 16 | index in ring[]; 0: none */
    component_sums common; /* the sum over all components on the ring that have the largest one's
                            * label */
};

/* The codes of the block's runs, and the window: the sums of components base .. base + n - 1. The
 * code of a component's first run holds the component's number instead of a place. The pool has
 * room for `most` sums, so several windows may be needed. */
struct sums_window {
    uint16_t *codes;
    component_sums *of;
    uint32_t base, n, most;
};

QFZ_DEVICE sums_window window_of(block_components *components, uint32_t n_runs)
{
    const uint32_t taken = (n_runs + 7) / 8 * 4;
    return sums_window{reinterpret_cast<uint16_t *>(components->pool),
                       reinterpret_cast<component_sums *>(components->pool + taken), 0, 0,
                       (POOL_WORDS - taken) / ENTRY_WORDS};
}

/* The place of the component's first pixel, and RUN_ON_RING. */
QFZ_DEVICE uint32_t first_of(const component_sums &sums)
{
    return sums.sum_x >> SUM_X_BITS;
}

/* ---- Numbering components -------------------------------------------------------------------- */

/* Bit `bit` of each of eight codes. */
QFZ_DEVICE uint32_t bits_of_codes(const uint4 &eight, int bit)
{
    const uint32_t two[4] = {eight.x, eight.y, eight.z, eight.w};
    uint32_t bits = 0;
    QFZ_EACH (k, 4)
        bits |= (two[k] >> bit & 1) << 2 * k | (two[k] >> (16 + bit) & 1) << (2 * k + 1);
    return bits;
}

/* Eight codes, of runs first .. first + 7. */
struct eight_codes {
    uint32_t first;
    uint32_t roots, on_ring; /* bits: first runs, and those of them that touch the ring */
};

QFZ_DEVICE uint4 load_eight(const uint16_t *codes, uint32_t first, uint32_t n_runs)
{
    return first < n_runs ? __ldg(reinterpret_cast<const uint4 *>(codes + first))
                          : make_uint4(0, 0, 0, 0);
}

QFZ_DEVICE eight_codes copy_eight(const uint4 &eight, uint32_t first, uint32_t n_runs, uint16_t *to)
{
    if (first >= n_runs) return eight_codes{first, 0, 0};
    const uint32_t current = n_runs - first < 8 ? (1u << (n_runs - first)) - 1 : 0xff;
    const uint32_t roots = current & bits_of_codes(eight, 15);
    *reinterpret_cast<uint4 *>(to + first) = eight;
    return eight_codes{first, roots, roots & bits_of_codes(eight, 14)};
}
static_assert((int)RUN_ROOT == 1 << 15 && (int)RUN_ON_RING == 1 << 14, "bits of codes");

/* Writes component numbers, from `number` on, into the codes of first runs, and lists components on
 * the ring from ring[at] on. */
QFZ_DEVICE void number_eight(const eight_codes &codes, uint32_t number, uint32_t at, uint16_t *code,
                             uint32_t *ring)
{
    for (uint32_t rest = codes.roots; rest; rest &= rest - 1, number++) {
        const uint32_t run = codes.first + (uint32_t)__ffs((int)rest) - 1;
        const uint32_t own = code[run];
        code[run] = (uint16_t)((own & ~(uint32_t)RUN_NUMBER) | number);
        if (codes.on_ring & rest & (0u - rest)) ring[at++] = number | (own & RUN_NUMBER) << 16;
    }
}

struct component_counts {
    uint32_t components, ring;
};

/* Loads the codes of the block's runs and numbers the components. A thread takes two groups of
 * eight codes at a time; the second groups follow the first groups of all threads. One prefix sum
 * serves three counts, FIELD bits each: first runs in both groups, and components on the ring. A
 * second prefix sum counts run starts: *n_starts is the number in this thread's word on entry, and
 * in all earlier words on return. */
QFZ_DEVICE component_counts number_components(const uint16_t *codes, uint32_t n_runs, uint16_t *to,
                                              block_components *components, uint32_t *n_starts)
{
    enum { EIGHTS = 8 * WORDS, FIELD = 11, MASK = (1 << FIELD) - 1 };
    static_assert(EIGHTS < 1 << FIELD && (int)RING < 1 << (32 - 2 * FIELD), "counts fit");
    component_counts n = {0, 0};
    for (uint32_t from = 0; from < n_runs; from += 2 * EIGHTS) {
        const uint32_t first = from + 8 * threadIdx.x;
        const uint4 eight_low = load_eight(codes, first, n_runs);
        const uint4 eight_high = load_eight(codes, first + EIGHTS, n_runs);
        const eight_codes low = copy_eight(eight_low, first, n_runs, to);
        const eight_codes high = copy_eight(eight_high, first + EIGHTS, n_runs, to);
        const uint32_t ring_low = (uint32_t)__popc(low.on_ring);
        uint32_t before[2] = {(uint32_t)__popc(low.roots) | (uint32_t)__popc(high.roots) << FIELD |
                                  (ring_low + (uint32_t)__popc(high.on_ring)) << 2 * FIELD,
                              *n_starts},
                 all[2];
        if (from) __syncthreads(); /* components->sums may be overwritten */
        qfz_sums_before<WORDS>(before, components->sums, all);
        if (from == 0) *n_starts = before[1];
        const uint32_t at = n.ring + (before[0] >> 2 * FIELD);
        number_eight(low, n.components + (before[0] & MASK), at, to, components->ring);
        n.components += all[0] & MASK;
        number_eight(high, n.components + (before[0] >> FIELD & MASK), at + ring_low, to,
                     components->ring);
        n.components += all[0] >> FIELD & MASK;
        n.ring += all[0] >> 2 * FIELD;
    }
    return n;
}

/* ---- Sums over runs -------------------------------------------------------------------------- */

/* Clears four words at a time: both the pool and the part that codes take are multiples of four. */
static_assert((int)POOL_WORDS % 4 == 0, "the last sums may end within four words");
QFZ_DEVICE void clear_window(const sums_window &window, block_components *components)
{
    uint4 *const fours = reinterpret_cast<uint4 *>(window.of);
    for (uint32_t i = threadIdx.x; 4 * i < window.n * ENTRY_WORDS; i += WORDS)
        fours[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x) return;
    components->largest = 0;
    components->common = component_sums{};
}

/* A thread's word of 32 pixels, and the runs in it. */
struct word_view {
    uint32_t number, starts, ends; /* ends: the first pixels behind runs */
    uint32_t run;                  /* the last run that starts in an earlier word */

    QFZ_DEVICE uint32_t y() const
    {
        return number / 2;
    }
    QFZ_DEVICE bool is_right() const
    {
        return number % 2;
    }
    QFZ_DEVICE uint32_t x() const
    {
        return number % 2 * QFZ_WARP;
    }
};

QFZ_DEVICE uint32_t first_pixels(const word_view &word)
{
    return word.starts | (~word.ends & 1); /* the word's first pixel may continue a run of the word
                                            * to its left */
}

QFZ_DEVICE uint32_t component_code(const sums_window &window, uint32_t run)
{
    const uint32_t code = window.codes[run];
    return code & RUN_ROOT ? code : window.codes[code];
}

/* The sum of the indices of the bits that are set. */
QFZ_DEVICE uint32_t sum_of_bits(uint32_t mask)
{
    return (uint32_t)(__popc(mask & 0xaaaaaaaau) + 2 * __popc(mask & 0xccccccccu) +
                      4 * __popc(mask & 0xf0f0f0f0u) + 8 * __popc(mask & 0xff00ff00u) +
                      16 * __popc(mask & 0xffff0000u));
}

/* Adds neighbouring pixels (mask) of a word. first: the place of the component's first pixel, with
 * RUN_ON_RING, if it is among them, else 0. */
QFZ_DEVICE void add_piece(component_sums *to, const word_view &word, uint32_t mask, uint32_t first)
{
    const uint32_t n = (uint32_t)__popc(mask);
    const uint32_t x = word.x() + (uint32_t)__ffs((int)mask) - 1;
    atomicAdd(&to->count_y, n | n * word.y() << COUNT_BITS);
    atomicAdd(&to->sum_x, (n * x + n * (n - 1) / 2) | first << SUM_X_BITS);
    atomicOr(word.is_right() ? &to->right : &to->left, mask);
    atomicMax(&to->y1, word.y() + 1);
}

/* Adds the sums of all lanes of a warp to those of one component. */
QFZ_DEVICE void add_warp(component_sums *to, const component_sums &own)
{
    const uint32_t count_y = qfz_warp_add(own.count_y), sum_x = qfz_warp_add(own.sum_x);
    const uint32_t left = qfz_warp_or(own.left), right = qfz_warp_or(own.right);
    const uint32_t y1 = qfz_warp_max(own.y1);
    if (threadIdx.x % QFZ_WARP || !count_y) return;
    atomicAdd(&to->count_y, count_y);
    atomicAdd(&to->sum_x, sum_x);
    atomicOr(&to->left, left);
    atomicOr(&to->right, right);
    atomicMax(&to->y1, y1);
}

/* The window's entry of the component with which most lanes' words begin; NO_ENTRY if few agree. A
 * large component is in most words; adding it lane by lane would serialise the warp. */
QFZ_DEVICE uint32_t common_entry(const sums_window &window, const word_view &word)
{
    enum { MANY = 4 };
    const uint32_t pixels = first_pixels(word), first = pixels & (0u - pixels);
    uint32_t entry = NO_ENTRY;
    if (first)
        entry = (component_code(window, word.run + (word.starts & first ? 1 : 0)) & RUN_NUMBER) -
                window.base;
    const uint32_t n = (uint32_t)__popc(__match_any_sync(QFZ_ALL_LANES, entry));
    const uint32_t best = qfz_warp_max(entry < window.n ? n << 16 | entry : 0);
    return best >> 16 >= MANY ? best & 0xffff : (uint32_t)NO_ENTRY;
}

/* Adds the block's pixels of all components in the window. */
QFZ_DEVICE void add_runs(const sums_window &window, const word_view &word)
{
    const uint32_t common = common_entry(window, word);
    uint32_t run = word.run, in_common = 0, common_first = 0;
    for (uint32_t rest = first_pixels(word); rest; rest &= rest - 1) {
        const uint32_t bit = rest & (0u - rest), later = word.ends & ~(bit | (bit - 1));
        const uint32_t mask = (later & (0u - later)) - bit;
        const bool starts = word.starts & bit;
        if (starts) run++;
        const uint32_t own = window.codes[run];
        const uint32_t code = own & RUN_ROOT ? own : window.codes[own];
        const uint32_t entry = (code & RUN_NUMBER) - window.base;
        if (entry >= window.n) continue;
        uint32_t first = 0;
        if (starts && own & RUN_ROOT)
            first = (code & RUN_ON_RING) | (word.number * QFZ_WARP + (uint32_t)__ffs((int)bit) - 1);
        if (entry != common) {
            add_piece(window.of + entry, word, mask, first);
        } else {
            in_common |= mask;
            common_first |= first;
        }
    }
    if (common == NO_ENTRY) return;
    const uint32_t n = (uint32_t)__popc(in_common);
    const component_sums all = {
        n | n * word.y() << COUNT_BITS,
        (n * word.x() + sum_of_bits(in_common)) | common_first << SUM_X_BITS,
        word.is_right() ? 0 : in_common, word.is_right() ? in_common : 0, n ? word.y() + 1 : 0};
    add_warp(window.of + common, all);
}
