/* SPDX-License-Identifier: MIT */
/* zone_blocks.cuh - a block's components, numbered, and what the pixels of each add up to, in its
 * shared memory; what k_gather_zones (zones.cu) is made of, and of no use to others. */
#ifndef QFZ_GPU_ZONE_BLOCKS_CUH
#define QFZ_GPU_ZONE_BLOCKS_CUH

#include "gpu/device/block_sum.cuh"
#include "gpu/components/component_blocks.cuh"
#include "gpu/device/warp.cuh"

static const uint32_t full_warp = 0xffffffffu;

/* What pixels add up to, of a component or of some: places in the block.  Five words, so that those
 * of neighbours begin in different banks. */
struct zone_sums {
    uint32_t count_y;     /* pixels; above COUNT_BITS, the sum of their rows */
    uint32_t sum_x;       /* of columns; above SUM_X_BITS, of a component, its FIRST_BITS */
    uint32_t left, right; /* columns that there are, a bit each */
    uint32_t y1;
};
enum { COUNT_BITS = 13, COUNT_MASK = (1 << COUNT_BITS) - 1 };
enum { SUM_X_BITS = 17, SUM_X_MASK = (1 << SUM_X_BITS) - 1 };
static_assert((int)SIDE * SIDE < 1 << COUNT_BITS &&
                  SIDE * SIDE * (SIDE - 1) / 2 < 1 << SUM_X_BITS &&
                  ((int)RUN_ON_RING | (int)RUN_NUMBER) < 1 << (32 - SUM_X_BITS),
              "sums and first pixels fit their words");

/* Components are numbered by first run.  Codes of runs take as much of the pool as there are, and
 * border_regions of components the rest: noise at its worst has some 550 components and 850 runs in
 * a block, for which there is room in one of twelve blocks of a multiprocessor of 228 KiB. */
enum { POOL_WORDS = 3884, SLOT_WORDS = sizeof(zone_sums) / sizeof(uint32_t), NO_REGION = 0xffff };
struct block_zones {
    alignas(16) uint32_t pool[POOL_WORDS];
    uint32_t firsts[WORDS]; /* first pixels of regions */
    uint32_t before[SIDE];  /* how many of the image's come before those of a row */
    uint32_t sums[2 * WORDS / QFZ_WARP];
    uint32_t ring[RING]; /* components with RUN_ON_RING: numbers, and, above 16 bits, places */
    uint32_t ring_label[RING]; /* of their zones */
    uint32_t largest; /* of them: pixels, then, in 16 bits, its index here; 0: there is none */
    zone_sums common; /* components of the largest one's zone */
};

/* Codes, of first runs with the component's number for their place; and the border_regions of the
 * components from number `base` on, of which there are n, no more than most. */
struct zone_borders {
    uint16_t *codes;
    zone_sums *of;
    uint32_t base, n, most;
};

static __device__ __forceinline__ zone_borders slots_of(block_zones *zones, uint32_t n_runs)
{
    const uint32_t taken = (n_runs + 7) / 8 * 4;
    return zone_borders{reinterpret_cast<uint16_t *>(zones->pool),
                        reinterpret_cast<zone_sums *>(zones->pool + taken), 0, 0,
                        (POOL_WORDS - taken) / SLOT_WORDS};
}

/* Of a border_region's component: the place of its first pixel, and RUN_ON_RING. */
static __device__ __forceinline__ uint32_t first_of(const zone_sums &sums)
{
    return sums.sum_x >> SUM_X_BITS;
}

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

static __device__ __forceinline__ uint4 load_eight(const uint16_t *codes, uint32_t first,
                                                   uint32_t n_runs)
{
    return first < n_runs ? __ldg(reinterpret_cast<const uint4 *>(codes + first))
                          : make_uint4(0, 0, 0, 0);
}

static __device__ __forceinline__ eight_codes keep_eight(const uint4 &eight, uint32_t first,
                                                         uint32_t n_runs, uint16_t *to)
{
    if (first >= n_runs) return eight_codes{first, 0, 0};
    const uint32_t there = n_runs - first < 8 ? (1u << (n_runs - first)) - 1 : 0xff;
    const uint32_t roots = there & bits_of_codes(eight, 15);
    *reinterpret_cast<uint4 *>(to + first) = eight;
    return eight_codes{first, roots, roots & bits_of_codes(eight, 14)};
}
static_assert((int)RUN_ROOT == 1 << 15 && (int)RUN_ON_RING == 1 << 14, "bits of codes");

/* Those of them that are first runs get their components' numbers, from `number` on; those on the
 * ring are listed from place `at` on. */
static __device__ __forceinline__ void number_eight(const eight_codes &codes, uint32_t number,
                                                    uint32_t at, uint16_t *code, uint32_t *ring)
{
    for (uint32_t rest = codes.roots; rest; rest &= rest - 1, number++) {
        const uint32_t run = codes.first + (uint32_t)__ffs((int)rest) - 1;
        const uint32_t own = code[run];
        code[run] = (uint16_t)((own & ~(uint32_t)RUN_NUMBER) | number);
        if (codes.on_ring & rest & (0u - rest)) ring[at++] = number | (own & RUN_NUMBER) << 16;
    }
}

struct zone_counts {
    uint32_t zones, ring;
};

/* Loads the codes of the block's runs and numbers the components.  A thread has twice eight codes
 * at a time, the second ones behind the first ones of all threads; one sum is of both and of those
 * on the ring, which are fewer than 2^FIELD.  Another one is of the runs that start in a thread's
 * word: *n_starts becomes how many do in earlier words. */
static __device__ __forceinline__ zone_counts number_zones(const uint16_t *codes, uint32_t n_runs,
                                                           uint16_t *to, block_zones *zones,
                                                           uint32_t *n_starts)
{
    enum { EIGHTS = 8 * WORDS, FIELD = 11, MASK = (1 << FIELD) - 1 };
    static_assert(EIGHTS < 1 << FIELD && (int)RING < 1 << (32 - 2 * FIELD), "counts fit");
    zone_counts n = {0, 0};
    for (uint32_t from = 0; from < n_runs; from += 2 * EIGHTS) {
        const uint32_t first = from + 8 * threadIdx.x;
        const uint4 eight_low = load_eight(codes, first, n_runs);
        const uint4 eight_high = load_eight(codes, first + EIGHTS, n_runs);
        const eight_codes low = keep_eight(eight_low, first, n_runs, to);
        const eight_codes high = keep_eight(eight_high, first + EIGHTS, n_runs, to);
        const uint32_t ring_low = (uint32_t)__popc(low.on_ring);
        uint32_t before[2] = {(uint32_t)__popc(low.roots) | (uint32_t)__popc(high.roots) << FIELD |
                                  (ring_low + (uint32_t)__popc(high.on_ring)) << 2 * FIELD,
                              *n_starts},
                 all[2];
        if (from) __syncthreads(); /* sums are free again */
        qfz_sums_before<WORDS>(before, zones->sums, all);
        if (from == 0) *n_starts = before[1];
        const uint32_t at = n.ring + (before[0] >> 2 * FIELD);
        number_eight(low, n.zones + (before[0] & MASK), at, to, zones->ring);
        n.zones += all[0] & MASK;
        number_eight(high, n.zones + (before[0] >> FIELD & MASK), at + ring_low, to, zones->ring);
        n.zones += all[0] >> FIELD & MASK;
        n.ring += all[0] >> 2 * FIELD;
    }
    return n;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

/* Four words at a time: the pool and what codes take of it are multiples of that. */
static_assert((int)POOL_WORDS % 4 == 0, "border_regions may end within four words");
static __device__ __forceinline__ void clear_slots(const zone_borders &border_regions,
                                                   block_zones *zones)
{
    uint4 *const fours = reinterpret_cast<uint4 *>(border_regions.of);
    for (uint32_t i = threadIdx.x; 4 * i < border_regions.n * SLOT_WORDS; i += WORDS)
        fours[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x) return;
    zones->largest = 0;
    zones->common = zone_sums{};
}

/* A thread's word of pixels, its place, and the runs in it. */
struct word_view {
    uint32_t number, starts, ends; /* ends: of the run before, each */
    uint32_t run;                  /* the last one that starts in earlier words */

    __device__ __forceinline__ uint32_t y() const
    {
        return number / 2;
    }
    __device__ __forceinline__ bool is_right() const
    {
        return number % 2;
    }
    __device__ __forceinline__ uint32_t x() const
    {
        return number % 2 * QFZ_WARP;
    }
};

static __device__ __forceinline__ uint32_t first_pixels(const word_view &word)
{
    return word.starts | (~word.ends & 1); /* the first may be of a run that came from the left */
}

static __device__ __forceinline__ uint32_t zone_code(const zone_borders &border_regions,
                                                     uint32_t run)
{
    const uint32_t code = border_regions.codes[run];
    return code & RUN_ROOT ? code : border_regions.codes[code];
}

/* The sum of the numbers of bits. */
static __device__ __forceinline__ uint32_t sum_of_bits(uint32_t mask)
{
    return (uint32_t)(__popc(mask & 0xaaaaaaaau) + 2 * __popc(mask & 0xccccccccu) +
                      4 * __popc(mask & 0xf0f0f0f0u) + 8 * __popc(mask & 0xff00ff00u) +
                      16 * __popc(mask & 0xffff0000u));
}

/* Pixels of a word, one after the other; first: what is known of the first of them, if it is its
 * component's. */
static __device__ __forceinline__ void add_piece(zone_sums *to, const word_view &word,
                                                 uint32_t mask, uint32_t first)
{
    const uint32_t n = (uint32_t)__popc(mask);
    const uint32_t x = word.x() + (uint32_t)__ffs((int)mask) - 1;
    atomicAdd(&to->count_y, n | n * word.y() << COUNT_BITS);
    atomicAdd(&to->sum_x, (n * x + n * (n - 1) / 2) | first << SUM_X_BITS);
    atomicOr(word.is_right() ? &to->right : &to->left, mask);
    atomicMax(&to->y1, word.y() + 1);
}

/* Adds what a warp's lanes have of one component or of one zone. */
static __device__ __forceinline__ void add_warp(zone_sums *to, const zone_sums &own)
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

/* The border_region of the component that most lanes' words begin with, NO_REGION if few do: large
 * components have pieces in most words, and all lanes would wait for each other there. */
static __device__ __forceinline__ uint32_t common_slot(const zone_borders &border_regions,
                                                       const word_view &word)
{
    enum { MANY = 4 };
    const uint32_t pixels = first_pixels(word), first = pixels & (0u - pixels);
    uint32_t border_region = NO_REGION;
    if (first)
        border_region =
            (zone_code(border_regions, word.run + (word.starts & first ? 1 : 0)) & RUN_NUMBER) -
            border_regions.base;
    const uint32_t n = (uint32_t)__popc(__match_any_sync(full_warp, border_region));
    const uint32_t best =
        qfz_warp_max(border_region < border_regions.n ? n << 16 | border_region : 0);
    return best >> 16 >= MANY ? best & 0xffff : (uint32_t)NO_REGION;
}

/* Adds the block's pixels of the components that have border_regions. */
static __device__ __forceinline__ void add_runs(const zone_borders &border_regions,
                                                const word_view &word)
{
    const uint32_t common = common_slot(border_regions, word);
    uint32_t run = word.run, in_common = 0, common_first = 0;
    for (uint32_t rest = first_pixels(word); rest; rest &= rest - 1) {
        const uint32_t bit = rest & (0u - rest), later = word.ends & ~(bit | (bit - 1));
        const uint32_t mask = (later & (0u - later)) - bit;
        const bool starts = word.starts & bit;
        if (starts) run++;
        const uint32_t own = border_regions.codes[run];
        const uint32_t code = own & RUN_ROOT ? own : border_regions.codes[own];
        const uint32_t border_region = (code & RUN_NUMBER) - border_regions.base;
        if (border_region >= border_regions.n) continue;
        uint32_t first = 0;
        if (starts && own & RUN_ROOT)
            first = (code & RUN_ON_RING) | (word.number * QFZ_WARP + (uint32_t)__ffs((int)bit) - 1);
        if (border_region != common) {
            add_piece(border_regions.of + border_region, word, mask, first);
        } else {
            in_common |= mask;
            common_first |= first;
        }
    }
    if (common == NO_REGION) return;
    const uint32_t n = (uint32_t)__popc(in_common);
    const zone_sums all = {n | n * word.y() << COUNT_BITS,
                           (n * word.x() + sum_of_bits(in_common)) | common_first << SUM_X_BITS,
                           word.is_right() ? 0 : in_common, word.is_right() ? in_common : 0,
                           n ? word.y() + 1 : 0};
    add_warp(border_regions.of + common, all);
}

#endif
