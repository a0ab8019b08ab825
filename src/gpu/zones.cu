/* SPDX-License-Identifier: MIT */
#include "gpu/zones.cuh"

#include "gpu/block_sum.cuh"
#include "gpu/component_blocks.cuh"
#include "gpu/launch.cuh"
#include "gpu/warp.cuh"
#include "record.h"

enum { PART_WORDS = 4 };
static_assert(sizeof(qfz_gpu_zone) == PART_WORDS * sizeof(uint64_t) &&
                  sizeof(qfz_gpu_zone_band) == PART_WORDS * sizeof(uint64_t),
              "32 bytes are written at once");

/* ---- Components of a block ------------------------------------------------------------------- */

/* SLOTS components are added up at a time: noise at its worst has some 550 in a block, and ten
 * blocks fit a multiprocessor of 228 KiB. */
enum { SLOTS = 576, NO_SLOT = 0xffff, COUNT_BITS = 13, COUNT_MASK = (1 << COUNT_BITS) - 1 };
static const uint32_t full_warp = 0xffffffffu;

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
    uint32_t roots[WORDS];            /* runs that are first of their component, a bit each */
    uint32_t sums[WORDS / QFZ_WARP];
    uint16_t first[SLOTS]; /* the component's first pixel, and RUN_ON_RING */
    uint16_t ring[RING];   /* slots of those with it */
    uint32_t n_ring;
    uint32_t largest; /* of them: pixels, then, in 16 bits, its slot; 0: there is none */
    sums_of<SLOTS> of;
    sums_of<1> common; /* components of the largest one's zone */
};

/* Two codes' root bits. */
static __device__ __forceinline__ uint32_t root_bits(uint32_t two)
{
    return (two >> 15 & 1) | two >> 31 << 1;
}

/* Codes of runs, eight at a time; of no run: 0. */
static __device__ __forceinline__ void load_codes(const uint16_t *codes, uint32_t n_runs,
                                                  block_zones *zones)
{
    const bool aligned = reinterpret_cast<uintptr_t>(codes) % sizeof(uint4) == 0;
    for (uint32_t i = threadIdx.x; i < RUNS / 8; i += WORDS) {
        uint4 eight = make_uint4(0, 0, 0, 0);
        if (aligned && 8 * i + 8 <= n_runs) {
            eight = __ldg(reinterpret_cast<const uint4 *>(codes) + i);
        } else if (8 * i < n_runs) {
            uint32_t two[4] = {0, 0, 0, 0};
#pragma unroll
            for (uint32_t k = 0; k < 8; k++)
                if (8 * i + k < n_runs) two[k / 2] |= (uint32_t)codes[8 * i + k] << k % 2 * 16;
            eight = make_uint4(two[0], two[1], two[2], two[3]);
        }
        reinterpret_cast<uint4 *>(zones->codes)[i] = eight;
        reinterpret_cast<uint8_t *>(zones->roots)[i] =
            (uint8_t)(root_bits(eight.x) | root_bits(eight.y) << 2 | root_bits(eight.z) << 4 |
                      root_bits(eight.w) << 6);
    }
}

/* Components get their numbers. */
static __device__ __forceinline__ uint32_t number_zones(block_zones *zones)
{
    const uint32_t roots = zones->roots[threadIdx.x];
    uint32_t n_zones,
        number = qfz_sum_before<WORDS>((uint32_t)__popc(roots), zones->sums, &n_zones);
    for (uint32_t rest = roots; rest; rest &= rest - 1, number++) {
        uint16_t *const code = zones->codes + threadIdx.x * QFZ_WARP + __ffs((int)rest) - 1;
        *code = (uint16_t)((*code & ~RUN_NUMBER) | number);
    }
    return n_zones;
}

/* ---- Adding up ------------------------------------------------------------------------------- */

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

/* ---- What becomes of a component ------------------------------------------------------------- */

struct zones_out {
    const uint32_t *label;
    uint32_t first_region, n;
    uint32_t parts; /* of a zone: head and bands */
    uint64_t *zones;

    __device__ __forceinline__ uint64_t *zone(uint32_t i) const
    {
        return zones + (uint64_t)i * (parts * PART_WORDS);
    }
};

static __device__ __forceinline__ uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* What two lanes, an even one and the next, have to store; none: NULL. */
struct lane_pair {
    ulonglong2 *even, *odd;
};

static __device__ __forceinline__ lane_pair pair_lanes(const zones_out &out, uint32_t i)
{
    const uint32_t others = __shfl_xor_sync(full_warp, i, 1);
    const uint32_t even = threadIdx.x % 2 ? others : i, odd = threadIdx.x % 2 ? i : others;
    return lane_pair{
        even == QFZ_NONE ? NULL : reinterpret_cast<ulonglong2 *>(out.zone(even)) + threadIdx.x % 2,
        odd == QFZ_NONE ? NULL : reinterpret_cast<ulonglong2 *>(out.zone(odd)) + threadIdx.x % 2};
}

/* Stores four words of each lane's zone: two lanes store 32 bytes of one, then of the other, which
 * memory takes at once. */
static __device__ __forceinline__ void store_part(const lane_pair &to, int part,
                                                  const uint64_t words[PART_WORDS])
{
    const bool odd = threadIdx.x % 2;
    const uint64_t got0 = __shfl_xor_sync(full_warp, odd ? words[0] : words[2], 1);
    const uint64_t got1 = __shfl_xor_sync(full_warp, odd ? words[1] : words[3], 1);
    if (to.even)
        to.even[2 * part] = odd ? make_ulonglong2(got0, got1) : make_ulonglong2(words[0], words[1]);
    if (to.odd)
        to.odd[2 * part] = odd ? make_ulonglong2(words[2], words[3]) : make_ulonglong2(got0, got1);
}

static __device__ __forceinline__ void add_to(uint64_t *word, uint64_t more)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(word), (unsigned long long)more);
}

static __device__ __forceinline__ void add_head(const uint64_t words[PART_WORDS], uint64_t *to)
{
    qfz_gpu_zone *const zone = reinterpret_cast<qfz_gpu_zone *>(to);
    const uint32_t x0 = (uint32_t)(words[0] >> 32);
    const uint32_t y1 = (uint32_t)words[1], x1 = (uint32_t)(words[1] >> 32);
    /* most parts do not widen a zone: a look tells, a stale one too */
    const uint4 there = __ldcg(reinterpret_cast<const uint4 *>(to));
    atomicAdd(&zone->pixels, (uint32_t)words[0]);
    add_to(&zone->sum_y, words[2]);
    add_to(&zone->sum_x, words[3]);
    if (there.y < x0) atomicMax(&zone->x0_below_max, x0);
    if (there.z < y1) atomicMax(&zone->y1, y1);
    if (there.w < x1) atomicMax(&zone->x1, x1);
}

template <int N>
static __device__ __forceinline__ void
make_head(const sums_of<N> &of, uint32_t slot, const block_place &block, uint64_t words[PART_WORDS])
{
    const uint32_t y = (uint32_t)block.y, x = (uint32_t)block.x, count_y = of.count_y[slot];
    const uint32_t left = of.columns[0][slot], right = of.columns[1][slot];
    const int first = left ? __ffs((int)left) - 1 : QFZ_WARP + __ffs((int)right) - 1;
    const int end = right ? 2 * QFZ_WARP - __clz((int)right) : QFZ_WARP - __clz((int)left);
    const uint32_t n = count_y & COUNT_MASK;
    words[0] = pair(n, UINT32_MAX - (x + (uint32_t)first));
    words[1] = pair(y + of.y1[slot], x + (uint32_t)end);
    words[2] = (uint64_t)n * y + (count_y >> COUNT_BITS);
    words[3] = (uint64_t)n * x + of.sum_x[slot];
}

template <typename T>
static __device__ __forceinline__ void make_band(uint64_t n, T value, uint64_t words[PART_WORDS])
{
    const int64_t wide = (int64_t)value;
    const uint64_t square = (uint64_t)wide * (uint64_t)wide;
    words[0] = n * (uint64_t)wide;
    words[1] = n * square;
    words[2] = 0;
    if (sizeof(T) == 4) { /* the carries of n * square, n being below 2^32 */
        const uint64_t low = n * (square & UINT32_MAX);
        words[2] = (n * (square >> 32) + (low >> 32)) >> 32;
    }
    words[3] = (uint64_t)wide;
}

/* Lists the components that may go on in other blocks, and finds the largest of them: much of the
 * rest of the ring is often of its zone, and so is that of other blocks. */
static __device__ __forceinline__ void find_ring(block_zones *zones, uint32_t n_slots)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    uint32_t largest = 0;
    for (uint32_t slot = threadIdx.x; slot - lane < n_slots; slot += WORDS) {
        const bool found = slot < n_slots && zones->first[slot] & RUN_ON_RING;
        const uint32_t all = __ballot_sync(full_warp, found);
        uint32_t at = 0;
        if (lane == 0 && all) at = atomicAdd(&zones->n_ring, (uint32_t)__popc(all));
        at = __shfl_sync(full_warp, at, 0) + (uint32_t)__popc(all & ((1u << lane) - 1));
        if (!found) continue;
        zones->ring[at] = (uint16_t)slot;
        largest = max(largest, (zones->of.count_y[slot] & COUNT_MASK) << 16 | slot);
    }
    largest = qfz_warp_max(largest);
    if (largest && threadIdx.x % QFZ_WARP == 0) atomicMax(&zones->largest, largest);
}

static __device__ __forceinline__ uint32_t slot_px(const layout &at, const block_place &block,
                                                   const block_zones &zones, uint32_t slot)
{
    return px_of(at, block, zones.first[slot] & RUN_NUMBER);
}

/* A slot's component as a part of the common zone. */
static __device__ __forceinline__ void join_common(const block_zones &zones, uint32_t slot,
                                                   sums_of<1> *common)
{
    common->count_y[0] += zones.of.count_y[slot];
    common->sum_x[0] += zones.of.sum_x[slot];
    common->columns[0][0] |= zones.of.columns[0][slot];
    common->columns[1][0] |= zones.of.columns[1][slot];
    common->y1[0] = max(common->y1[0], zones.of.y1[slot]);
}

/* Adds the listed components to their zones; those of the common zone are put together before. */
static __device__ __forceinline__ void add_ring(const layout &at, const block_place &block,
                                                block_zones *zones, uint32_t common_label,
                                                const zones_out &out)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP, n_ring = zones->n_ring;
    if (threadIdx.x - lane >= n_ring) return; /* the whole warp */
    sums_of<1> common = {};
    for (uint32_t i = threadIdx.x; i < n_ring; i += WORDS) {
        const uint32_t slot = zones->ring[i];
        const uint32_t label = __ldg(out.label + slot_px(at, block, *zones, slot));
        const uint32_t region = label - 1 - out.first_region;
        if (label == common_label) {
            join_common(*zones, slot, &common);
        } else if (region < out.n) {
            uint64_t words[PART_WORDS];
            make_head(zones->of, slot, block, words);
            add_head(words, out.zone(region));
        }
    }
    __syncwarp();
    add_warp(&zones->common, 0, common);
}

/* Stores the other components, but for bands after the first; what is needed of global memory for
 * some of them is waited for together. */
template <typename T>
static __device__ __forceinline__ void
store_inner(const layout &at, const block_place &block, const block_zones &zones, uint32_t n_slots,
            const T *__restrict__ plane, const zones_out &out)
{
    enum { AT_ONCE = 3 };
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    for (uint32_t first = threadIdx.x; first - lane < n_slots; first += AT_ONCE * WORDS) {
        uint32_t region[AT_ONCE]; /* counted from the first that is wanted; or QFZ_NONE */
        T value[AT_ONCE] = {};
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint32_t slot = first + k * WORDS;
            region[k] = QFZ_NONE;
            if (slot >= n_slots || zones.first[slot] & RUN_ON_RING) continue;
            const uint32_t px = slot_px(at, block, zones, slot);
            region[k] = __ldg(out.label + px) - 1 - out.first_region;
            value[k] = __ldg(plane + px);
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint32_t slot = first + k * WORDS;
            if (slot - lane >= n_slots) break; /* the whole warp */
            if (region[k] >= out.n) region[k] = QFZ_NONE;
            const lane_pair to = pair_lanes(out, region[k]);
            uint64_t words[PART_WORDS] = {};
            if (region[k] != QFZ_NONE) make_head(zones.of, slot, block, words);
            store_part(to, 0, words);
            make_band((uint32_t)words[0], value[k], words);
            store_part(to, 1, words);
        }
    }
}

/* Hands out the components that have slots. */
template <typename T>
static __device__ __forceinline__ void put_zones(const layout &at, const block_place &block,
                                                 block_zones *zones, uint32_t n_slots,
                                                 const T *__restrict__ plane, const zones_out &out)
{
    const uint32_t largest = zones->largest;
    const uint32_t common_label =
        largest ? __ldg(out.label + slot_px(at, block, *zones, largest & 0xffff)) : 0;
    add_ring(at, block, zones, common_label, out);
    store_inner(at, block, *zones, n_slots, plane, out);
    __syncthreads();
    const uint32_t region = common_label - 1 - out.first_region;
    if (threadIdx.x || !largest || region >= out.n) return;
    uint64_t words[PART_WORDS];
    make_head(zones->common, 0, block, words);
    add_head(words, out.zone(region));
}

static __device__ __forceinline__ void clear_slots(block_zones *zones, uint32_t n_slots)
{
    for (uint32_t slot = threadIdx.x; slot < n_slots; slot += WORDS) {
        zones->of.count_y[slot] = zones->of.sum_x[slot] = zones->of.y1[slot] = 0;
        zones->of.columns[0][slot] = zones->of.columns[1][slot] = 0;
    }
    if (threadIdx.x) return;
    zones->n_ring = zones->largest = 0;
    zones->common = sums_of<1>{};
}

/* Blocks on a multiprocessor: ten, where it can run as many threads. */
enum { BLOCKS = QFZ_SM_THREADS < 10 * WORDS ? QFZ_SM_THREADS / WORDS : 10 };

template <typename T>
static __global__ void __launch_bounds__(WORDS, BLOCKS)
    k_gather_zones(layout at, const uint32_t *__restrict__ first_px, const T *__restrict__ planes,
                   zones_out out)
{
    __shared__ block_zones zones;
    const block_place block = place_of(at, blockIdx.x);
    const int64_t i = (int64_t)blockIdx.x * WORDS + threadIdx.x;
    /* before its first pixel a region has none */
    const int64_t last_px = (int64_t)min(block.y + SIDE, at.h) * at.w;
    if (out.first_region && last_px <= (int64_t)first_px[out.first_region]) return;
    const uint32_t starts = at.starts[i], valid = at.valid[i];
    uint32_t n_runs;
    const uint32_t before = qfz_sum_before<WORDS>((uint32_t)__popc(starts), zones.sums, &n_runs);
    const word_view word = {threadIdx.x / 2, threadIdx.x % 2, starts, starts | ~valid, before - 1};
    load_codes(at.runs + block.runs, n_runs, &zones);
    __syncthreads();
    const uint32_t n_zones = number_zones(&zones);
    for (uint32_t base = 0; base < n_zones; base += SLOTS) {
        const uint32_t n_slots = min(n_zones - base, (uint32_t)SLOTS);
        clear_slots(&zones, n_slots);
        __syncthreads();
        add_runs(&zones, word, base);
        __syncthreads();
        find_ring(&zones, n_slots);
        __syncthreads();
        put_zones(at, block, &zones, n_slots, planes, out);
        __syncthreads();
    }
}

/* ---- By region ------------------------------------------------------------------------------- */

enum { THREADS = 256 };

/* A thread has 32 regions, those of one word of bits, so that no thread waits for zones which need
 * nothing.  Bits of the word's regions that are wanted: */
static __device__ __forceinline__ uint32_t wanted_bits(const zones_out &out, uint32_t word)
{
    const uint32_t first = out.first_region, end = first + out.n;
    uint32_t bits = UINT32_MAX;
    if (word == first / 32) bits &= UINT32_MAX << first % 32;
    if (word == end / 32) bits &= (1u << end % 32) - 1;
    return bits;
}

static __device__ __forceinline__ uint32_t word_of_thread(const zones_out &out)
{
    return out.first_region / 32 + blockIdx.x * THREADS + threadIdx.x;
}

static __device__ __forceinline__ bool has_regions(const zones_out &out, uint32_t word)
{
    return (uint64_t)word * 32 < (uint64_t)out.first_region + out.n;
}

/* Zones that blocks add to are empty before. */
static __global__ void __launch_bounds__(THREADS)
    k_clear_zones(const uint32_t *__restrict__ spans, zones_out out)
{
    const uint32_t word = word_of_thread(out);
    if (!has_regions(out, word)) return;
    for (uint32_t rest = spans[word] & wanted_bits(out, word); rest; rest &= rest - 1) {
        const uint32_t region = word * 32 + (uint32_t)__ffs((int)rest) - 1;
        ulonglong2 *const head =
            reinterpret_cast<ulonglong2 *>(out.zone(region - out.first_region));
        head[0] = head[1] = make_ulonglong2(0, 0);
    }
}

/* Makes the bands that are not made yet: all of such zones, and of others all but the first. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    k_finish_zones(const uint32_t *__restrict__ spans, const uint32_t *__restrict__ first_px,
                   const T *__restrict__ planes, int64_t n_px, zones_out out)
{
    const uint32_t word = word_of_thread(out);
    if (!has_regions(out, word)) return;
    const uint32_t wanted = wanted_bits(out, word), added = spans[word] & wanted;
    for (uint32_t rest = out.parts > 2 ? wanted : added; rest; rest &= rest - 1) {
        const uint32_t bit = rest & (0u - rest),
                       region = word * 32 + (uint32_t)__ffs((int)rest) - 1;
        uint64_t *const zone = out.zone(region - out.first_region);
        const uint32_t pixels = (uint32_t)zone[0];
        const T *const px = planes + first_px[region];
        for (uint32_t part = added & bit ? 1 : 2; part < out.parts; part++)
            make_band(pixels, __ldg(px + (part - 1) * n_px), zone + part * PART_WORDS);
    }
}

static __global__ void __launch_bounds__(THREADS)
    k_make_records(const uint64_t *__restrict__ zones, const uint32_t *__restrict__ first_px,
                   int32_t w, qfz_box box, uint64_t area, uint32_t n, int n_bands, int record_words,
                   uint64_t *__restrict__ records)
{
    enum { BAND_WORDS = 6 };
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        const qfz_gpu_zone *const zone =
            reinterpret_cast<const qfz_gpu_zone *>(zones + (int64_t)i * (1 + n_bands) * PART_WORDS);
        qfz_record *const record =
            reinterpret_cast<qfz_record *>(records + (int64_t)i * record_words);
        const uint64_t pixels = zone->pixels;
        record->label = 0;
        record->pixels = pixels;
        record->sum_y = zone->sum_y + pixels * (uint64_t)box.y0;
        record->sum_x = zone->sum_x + pixels * (uint64_t)box.x0;
        record->y0 = box.y0 + first_px[i] / (uint32_t)w;
        record->x0 = box.x0 + (UINT32_MAX - zone->x0_below_max);
        record->y1 = box.y0 + zone->y1;
        record->x1 = box.x0 + zone->x1;
        record->area[0] = pixels * area;
        record->area[1] = 0;
        for (int b = 0; b < n_bands; b++) {
            const qfz_gpu_zone_band *const from = zone->bands + b;
            uint64_t *const band = record->bands + b * BAND_WORDS;
            band[0] = (uint64_t)from->sum;
            band[1] = from->sum < 0 ? UINT64_MAX : 0;
            band[2] = from->squares[0];
            band[3] = from->squares[1];
            band[4] = band[5] = (uint64_t)__double_as_longlong((double)from->value);
        }
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

size_t qfz_gpu_zone_bytes(int n_bands)
{
    return sizeof(qfz_gpu_zone) + (size_t)n_bands * sizeof(qfz_gpu_zone_band);
}

bool qfz_gpu_zones_are_flat(const qfz_rule *rule)
{
    return rule->alpha_key == 0 && !rule->edge_bits && !qfz_type_is_float(rule->type);
}

/* A word of bits a thread; they may begin and end within one. */
static dim3 grid_of_words(uint32_t n)
{
    return dim3(qfz_blocks((int64_t)n / 32 + 2, THREADS));
}

static dim3 grid_of_zones(const qfz_gpu *gpu, uint32_t n)
{
    const unsigned enough = (unsigned)gpu->n_sms * 32, blocks = qfz_blocks(n, THREADS);
    return dim3(blocks < enough ? blocks : enough);
}

template <typename T>
static qfz_status gather(qfz_gpu *gpu, const qfz_gpu_image *image, const layout &at,
                         const qfz_gpu_regions *regions, const zones_out &out)
{
    const T *const d_planes = static_cast<const T *>(image->d_pixels);
    QFZ_TRY(qfz_launch(gpu, k_clear_zones, grid_of_words(out.n), dim3(THREADS), 0, regions->d_spans,
                       out));
    QFZ_TRY(qfz_launch(gpu, k_gather_zones<T>, dim3((unsigned)at.n_blocks), dim3(WORDS), 0, at,
                       regions->d_first, d_planes, out));
    return qfz_launch(gpu, k_finish_zones<T>, grid_of_words(out.n), dim3(THREADS), 0,
                      regions->d_spans, regions->d_first, d_planes, (int64_t)image->h * image->w,
                      out);
}

qfz_status qfz_gpu_zones_gather(qfz_gpu *gpu, const qfz_gpu_image *image, void *d_kept,
                                const qfz_gpu_regions *regions, uint32_t first_region, uint32_t n,
                                void *d_zones)
{
    qfz_carve kept = {static_cast<char *>(d_kept), 0}, none = {};
    const layout at = qfz_blocks_take(&kept, &none, image->h, image->w);
    const zones_out out = {regions->d_label, first_region, n, 1 + (uint32_t)image->n_bands,
                           static_cast<uint64_t *>(d_zones)};
    switch (image->type) {
    case QFZ_U8: return gather<uint8_t>(gpu, image, at, regions, out);
    case QFZ_I8: return gather<int8_t>(gpu, image, at, regions, out);
    case QFZ_U16: return gather<uint16_t>(gpu, image, at, regions, out);
    case QFZ_I16: return gather<int16_t>(gpu, image, at, regions, out);
    case QFZ_U32: return gather<uint32_t>(gpu, image, at, regions, out);
    case QFZ_I32: return gather<int32_t>(gpu, image, at, regions, out);
    case QFZ_F32: break;
    }
    return qfz_fail(gpu->err, QFZ_EARG, "flat zones of pixel type %d", (int)image->type);
}

qfz_status qfz_gpu_zones_records(qfz_gpu *gpu, const qfz_gpu_image *image,
                                 const qfz_gpu_regions *regions, qfz_box box, uint64_t area,
                                 const void *d_zones, uint32_t first_region, uint32_t n,
                                 uint64_t *d_records)
{
    return qfz_launch(gpu, k_make_records, grid_of_zones(gpu, n), dim3(THREADS), 0,
                      static_cast<const uint64_t *>(d_zones), regions->d_first + first_region,
                      image->w, box, area, n, image->n_bands,
                      qfz_record_words(image->type, image->n_bands), d_records);
}
