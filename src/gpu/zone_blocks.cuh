/* SPDX-License-Identifier: MIT */
/* zone_blocks.cuh - a block's components, numbered, and what the pixels of each add up to, in its
 * shared memory; what k_gather_zones (zones.cu) is made of, and of no use to others. */
#ifndef QFZ_GPU_ZONE_BLOCKS_CUH
#define QFZ_GPU_ZONE_BLOCKS_CUH

#include "gpu/block_sum.cuh"
#include "gpu/component_blocks.cuh"
#include "gpu/warp.cuh"

static const uint32_t full_warp = 0xffffffffu;

/* SLOTS components are added up at a time: noise at its worst has some 550 in a block, and ten
 * blocks fit a multiprocessor of 228 KiB. */
enum { SLOTS = 576, NO_SLOT = 0xffff, COUNT_BITS = 13, COUNT_MASK = (1 << COUNT_BITS) - 1 };

/* What pixels add up to, of components or of some: places in the block. */
template <int N> struct sums_of {
    uint32_t count_y[N]; /* pixels; above COUNT_BITS, the sum of their rows */
    uint32_t sum_x[N];
    uint32_t columns[2][N]; /* which there are, a bit each */
    uint32_t y1[N];
};

/* Components are numbered by first run. */
struct block_zones {
    alignas(16) uint16_t codes[RUNS]; /* of first runs, the component's number for their place */
    uint32_t firsts[WORDS];           /* first pixels of regions */
    uint32_t before[SIDE];            /* how many of the image's come before those of a row */
    uint32_t sums[2][WORDS / QFZ_WARP];
    uint16_t first[SLOTS]; /* the component's first pixel, and RUN_ON_RING */
    uint16_t ring[RING];   /* numbers of those with it */
    uint32_t largest;      /* of them: pixels, then, in 16 bits, its slot; 0: there is none */
    sums_of<SLOTS> of;
    sums_of<1> common; /* components of the largest one's zone */
};

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Bit `bit` of each of eight codes. */
static __device__ __forceinline__ uint32_t bits_of_codes(const uint4 &eight, int bit)
{
    const uint32_t two[4] = {eight.x, eight.y, eight.z, eight.w};
    uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < 4; k++)
        bits |= (two[k] >> bit & 1) << 2 * k | (two[k] >> (16 + bit) & 1) << (2 * k + 1);
    return bits;
}

/* Eight codes, from run `first` on. */
struct eight_codes {
    uint32_t first;
    uint32_t roots, on_ring; /* which of them are; a bit each */
};

static __device__ __forceinline__ eight_codes load_eight(const uint16_t *codes, uint32_t first,
                                                         uint32_t n_runs, block_zones *zones)
{
    if (first >= n_runs) return eight_codes{first, 0, 0};
    const uint4 eight = __ldg(reinterpret_cast<const uint4 *>(codes + first));
    const uint32_t there = n_runs - first < 8 ? (1u << (n_runs - first)) - 1 : 0xff;
    const uint32_t roots = there & bits_of_codes(eight, 15);
    *reinterpret_cast<uint4 *>(zones->codes + first) = eight;
    return eight_codes{first, roots, roots & bits_of_codes(eight, 14)};
}
static_assert((int)RUN_ROOT == 1 << 15 && (int)RUN_ON_RING == 1 << 14, "bits of codes");

/* Those of them that are first runs get their components' numbers, from `number` on; those on the
 * ring are listed from place `at` on. */
static __device__ __forceinline__ void number_eight(const eight_codes &codes, uint32_t number,
                                                    uint32_t at, block_zones *zones)
{
    for (uint32_t rest = codes.roots; rest; rest &= rest - 1, number++) {
        uint16_t *const code = zones->codes + codes.first + __ffs((int)rest) - 1;
        *code = (uint16_t)((*code & ~RUN_NUMBER) | number);
        if (codes.on_ring & rest & (0u - rest)) zones->ring[at++] = (uint16_t)number;
    }
}

struct zone_counts {
    uint32_t zones, ring;
};

/* Loads the codes of the block's runs and numbers the components.  A thread has twice eight codes
 * at a time, the second ones behind the first ones of all threads; one sum is of both and of those
 * on the ring, which are fewer than 2^FIELD. */
static __device__ __forceinline__ zone_counts number_zones(const uint16_t *codes, uint32_t n_runs,
                                                           block_zones *zones)
{
    enum { EIGHTS = 8 * WORDS, FIELD = 11, MASK = (1 << FIELD) - 1 };
    static_assert(EIGHTS < 1 << FIELD && (int)RING < 1 << (32 - 2 * FIELD), "counts fit");
    zone_counts n = {0, 0};
    for (uint32_t from = 0; from < n_runs; from += 2 * EIGHTS) {
        const uint32_t first = from + 8 * threadIdx.x;
        const eight_codes low = load_eight(codes, first, n_runs, zones);
        const eight_codes high = load_eight(codes, first + EIGHTS, n_runs, zones);
        const uint32_t ring_low = (uint32_t)__popc(low.on_ring);
        const uint32_t counts = (uint32_t)__popc(low.roots) |
                                (uint32_t)__popc(high.roots) << FIELD |
                                (ring_low + (uint32_t)__popc(high.on_ring)) << 2 * FIELD;
        uint32_t all;
        if (from) __syncthreads(); /* sums are free again */
        const uint32_t before = qfz_sum_before<WORDS>(counts, zones->sums[1], &all);
        const uint32_t at = n.ring + (before >> 2 * FIELD);
        number_eight(low, n.zones + (before & MASK), at, zones);
        n.zones += all & MASK;
        number_eight(high, n.zones + (before >> FIELD & MASK), at + ring_low, zones);
        n.zones += all >> FIELD & MASK;
        n.ring += all >> 2 * FIELD;
    }
    return n;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

static __device__ __forceinline__ void clear_slots(block_zones *zones, uint32_t n_slots)
{
    for (uint32_t slot = threadIdx.x; slot < n_slots; slot += WORDS) {
        zones->of.count_y[slot] = zones->of.sum_x[slot] = zones->of.y1[slot] = 0;
        zones->of.columns[0][slot] = zones->of.columns[1][slot] = 0;
    }
    if (threadIdx.x) return;
    zones->largest = 0;
    zones->common = sums_of<1>{};
}

/* A thread's word of pixels: its row, its half of it, and the runs in it. */
struct word_view {
    uint32_t y, half, starts, ends; /* ends: of the run before, each */
    uint32_t run;                   /* the last one that starts in earlier words */
};

static __device__ __forceinline__ uint32_t first_pixels(const word_view &word)
{
    return word.starts | (~word.ends & 1); /* the first may be of a run that came from the left */
}

static __device__ __forceinline__ uint32_t zone_code(const block_zones &zones, uint32_t run)
{
    const uint32_t code = zones.codes[run];
    return code & RUN_ROOT ? code : zones.codes[code];
}

/* The sum of the numbers of bits. */
static __device__ __forceinline__ uint32_t sum_of_bits(uint32_t mask)
{
    return (uint32_t)(__popc(mask & 0xaaaaaaaau) + 2 * __popc(mask & 0xccccccccu) +
                      4 * __popc(mask & 0xf0f0f0f0u) + 8 * __popc(mask & 0xff00ff00u) +
                      16 * __popc(mask & 0xffff0000u));
}

/* Pixels of a word, one after the other. */
static __device__ __forceinline__ void add_piece(block_zones *zones, uint32_t slot,
                                                 const word_view &word, uint32_t mask)
{
    const uint32_t n = (uint32_t)__popc(mask);
    const uint32_t x = word.half * QFZ_WARP + (uint32_t)__ffs((int)mask) - 1;
    atomicAdd(zones->of.count_y + slot, n | n * word.y << COUNT_BITS);
    atomicAdd(zones->of.sum_x + slot, n * x + n * (n - 1) / 2);
    atomicOr(zones->of.columns[word.half] + slot, mask);
    atomicMax(zones->of.y1 + slot, word.y + 1);
}

/* Adds what a warp's lanes have of one component or of one zone. */
template <int N>
static __device__ __forceinline__ void add_warp(sums_of<N> *to, uint32_t slot,
                                                const sums_of<1> &own)
{
    const uint32_t count_y = qfz_warp_add(own.count_y[0]), sum_x = qfz_warp_add(own.sum_x[0]);
    const uint32_t left = qfz_warp_or(own.columns[0][0]), right = qfz_warp_or(own.columns[1][0]);
    const uint32_t y1 = qfz_warp_max(own.y1[0]);
    if (threadIdx.x % QFZ_WARP || !count_y) return;
    atomicAdd(to->count_y + slot, count_y);
    atomicAdd(to->sum_x + slot, sum_x);
    atomicOr(to->columns[0] + slot, left);
    atomicOr(to->columns[1] + slot, right);
    atomicMax(to->y1 + slot, y1);
}

/* The slot of the component that most lanes' words begin with, NO_SLOT if few do: large components
 * have pieces in most words, and all lanes would wait for each other there. */
static __device__ __forceinline__ uint32_t common_slot(const block_zones &zones,
                                                       const word_view &word, uint32_t base)
{
    enum { MANY = 4 };
    const uint32_t pixels = first_pixels(word), first = pixels & (0u - pixels);
    uint32_t slot = NO_SLOT;
    if (first)
        slot = (zone_code(zones, word.run + (word.starts & first ? 1 : 0)) & RUN_NUMBER) - base;
    const uint32_t n = (uint32_t)__popc(__match_any_sync(full_warp, slot));
    const uint32_t best = qfz_warp_max(slot < SLOTS ? n << 16 | slot : 0);
    return best >> 16 >= MANY ? best & 0xffff : (uint32_t)NO_SLOT;
}

/* Adds the block's pixels of components from number `base` on, as many as there are slots. */
static __device__ __forceinline__ void add_runs(block_zones *zones, const word_view &word,
                                                uint32_t base)
{
    const uint32_t common = common_slot(*zones, word, base);
    uint32_t run = word.run, in_common = 0;
    for (uint32_t rest = first_pixels(word); rest; rest &= rest - 1) {
        const uint32_t bit = rest & (0u - rest), later = word.ends & ~(bit | (bit - 1));
        const uint32_t mask = (later & (0u - later)) - bit;
        const bool starts = word.starts & bit;
        if (starts) run++;
        const uint32_t own = zones->codes[run], code = own & RUN_ROOT ? own : zones->codes[own];
        const uint32_t slot = (code & RUN_NUMBER) - base;
        if (slot >= SLOTS) continue;
        if (starts && own & RUN_ROOT)
            zones->first[slot] = (uint16_t)((code & RUN_ON_RING) | threadIdx.x * QFZ_WARP |
                                            ((uint32_t)__ffs((int)bit) - 1));
        if (slot == common)
            in_common |= mask;
        else
            add_piece(zones, slot, word, mask);
    }
    if (common == NO_SLOT) return;
    const uint32_t n = (uint32_t)__popc(in_common);
    const sums_of<1> all = {{n | n * word.y << COUNT_BITS},
                            {n * word.half * QFZ_WARP + sum_of_bits(in_common)},
                            {{word.half ? 0 : in_common}, {word.half ? in_common : 0}},
                            {n ? word.y + 1 : 0}};
    add_warp(&zones->of, common, all);
}

#endif
