/* SPDX-License-Identifier: MIT */
#include "gpu/zones.cuh"

#include "gpu/component_blocks.cuh"
#include "gpu/launch.cuh"
#include "gpu/warp.cuh"
#include "record.h"

/* ---- Components of a block ------------------------------------------------------------------- */

/* SLOTS components are added up at a time: noise at its worst has some 500 in a block, and ten
 * blocks fit a multiprocessor of 228 KiB. */
enum { SLOTS = 576, NO_RUN = RUNS, COUNT_BITS = 13, COUNT_MASK = (1 << COUNT_BITS) - 1 };
static const uint32_t full_warp = 0xffffffffu;

/* Components are numbered by first run.  What a slot has: places in the block. */
struct block_zones {
    alignas(16) uint16_t codes[RUNS];
    uint32_t roots[WORDS];  /* runs that are first of their component, a bit each */
    uint32_t before[WORDS]; /* how many are before each word of them */
    uint32_t sums[WORDS / QFZ_WARP];
    uint16_t first[SLOTS];   /* the first run's code */
    uint32_t count_y[SLOTS]; /* pixels; above COUNT_BITS, the sum of their rows */
    uint32_t sum_x[SLOTS];
    uint32_t columns[2][SLOTS]; /* which there are, a bit each */
    uint32_t y1[SLOTS];
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

static __device__ __forceinline__ uint32_t root_of(const block_zones &zones, uint32_t run)
{
    const uint32_t code = zones.codes[run];
    return code & RUN_ROOT ? run : code;
}

static __device__ __forceinline__ uint32_t slot_of(const block_zones &zones, uint32_t root)
{
    const uint32_t word = root / QFZ_WARP;
    return zones.before[word] +
           (uint32_t)__popc(zones.roots[word] & (up_to((int)(root % QFZ_WARP)) >> 1));
}

/* ---- Adding up ------------------------------------------------------------------------------- */

/* A thread's word of pixels: its row, its half of it, and the runs in it. */
struct word_view {
    uint32_t y, half, starts, ends; /* ends: of the run before, each */
    uint32_t run;                   /* the last one that starts in earlier words */
};

/* Pixels of a word, one after the other. */
struct piece {
    uint32_t mask, run;
};

/* Those from the first of `rest` on, which is taken away. */
static __device__ __forceinline__ piece next_piece(const word_view &word, uint32_t *rest,
                                                   uint32_t *run)
{
    const uint32_t bit = *rest & (0u - *rest), later = word.ends & (0u - bit) & ~bit;
    *rest &= ~bit;
    if (word.starts & bit) ++*run;
    return piece{(later & (0u - later)) - bit, *run};
}

static __device__ __forceinline__ uint32_t first_pixels(const word_view &word)
{
    return word.starts | (~word.ends & 1); /* the first may be of a run that came from the left */
}

/* The sum of the numbers of bits. */
static __device__ __forceinline__ uint32_t sum_of_bits(uint32_t mask)
{
    return (uint32_t)(__popc(mask & 0xaaaaaaaau) + 2 * __popc(mask & 0xccccccccu) +
                      4 * __popc(mask & 0xf0f0f0f0u) + 8 * __popc(mask & 0xff00ff00u) +
                      16 * __popc(mask & 0xffff0000u));
}

/* Looks first: most parts widen nothing, and a stale look only costs an atomic operation. */
static __device__ __forceinline__ void widen(block_zones *zones, uint32_t slot, uint32_t half,
                                             uint32_t columns, uint32_t y1)
{
    uint32_t *const there = zones->columns[half] + slot, *const last = zones->y1 + slot;
    if (columns & ~*static_cast<volatile uint32_t *>(there)) atomicOr(there, columns);
    if (y1 > *static_cast<volatile uint32_t *>(last)) atomicMax(last, y1);
}

static __device__ __forceinline__ void add_piece(block_zones *zones, uint32_t slot,
                                                 const word_view &word, uint32_t mask)
{
    const uint32_t n = (uint32_t)__popc(mask);
    const uint32_t x = word.half * QFZ_WARP + (uint32_t)__ffs((int)mask) - 1;
    atomicAdd(zones->count_y + slot, n | n * word.y << COUNT_BITS);
    atomicAdd(zones->sum_x + slot, n * x + n * (n - 1) / 2);
    widen(zones, slot, word.half, mask, word.y + 1);
}

/* The root that most lanes' words begin with, NO_RUN if few do: large components have pieces in
 * most words, and all lanes would wait for each other at its slot. */
static __device__ __forceinline__ uint32_t common_root(const block_zones &zones,
                                                       const word_view &word)
{
    enum { MANY = 4 };
    uint32_t rest = first_pixels(word), run = word.run;
    const uint32_t root =
        rest ? root_of(zones, next_piece(word, &rest, &run).run) : (uint32_t)NO_RUN;
    const uint32_t n = (uint32_t)__popc(__match_any_sync(full_warp, root));
    const uint32_t best = qfz_warp_max(root == NO_RUN ? 0 : n << 16 | root);
    return best >> 16 >= MANY ? best & 0xffff : (uint32_t)NO_RUN;
}

/* Adds what a warp's lanes have of one component, in one row each. */
static __device__ __forceinline__ void add_common(block_zones *zones, uint32_t slot,
                                                  const word_view &word, uint32_t mask)
{
    const uint32_t n = (uint32_t)__popc(mask);
    const uint32_t count_y = qfz_warp_add(n | n * word.y << COUNT_BITS);
    const uint32_t sum_x = qfz_warp_add(n * word.half * QFZ_WARP + sum_of_bits(mask));
    const uint32_t left = qfz_warp_or(word.half ? 0 : mask);
    const uint32_t right = qfz_warp_or(word.half ? mask : 0);
    const uint32_t y1 = qfz_warp_max(n ? word.y + 1 : 0);
    if (threadIdx.x % QFZ_WARP || !count_y) return;
    atomicAdd(zones->count_y + slot, count_y);
    atomicAdd(zones->sum_x + slot, sum_x);
    widen(zones, slot, 0, left, y1);
    widen(zones, slot, 1, right, y1);
}

/* Adds the block's pixels of components from number `base` on, as many as there are slots. */
static __device__ __forceinline__ void add_runs(block_zones *zones, const word_view &word,
                                                uint32_t base)
{
    const uint32_t common = common_root(*zones, word);
    uint32_t rest = first_pixels(word), run = word.run, in_common = 0;
    while (rest) {
        const piece some = next_piece(word, &rest, &run);
        const uint32_t code = zones->codes[some.run];
        const uint32_t root = code & RUN_ROOT ? some.run : code;
        const uint32_t slot = slot_of(*zones, root) - base;
        if (slot >= SLOTS) continue;
        if (code & RUN_ROOT && some.run != word.run) zones->first[slot] = (uint16_t)code;
        if (root == common)
            in_common |= some.mask;
        else
            add_piece(zones, slot, word, some.mask);
    }
    if (common == NO_RUN) return;
    const uint32_t slot = slot_of(*zones, common) - base;
    if (slot < SLOTS) add_common(zones, slot, word, in_common);
}

/* ---- What becomes of a component ------------------------------------------------------------- */

struct zones_out {
    const uint32_t *label;
    uint32_t first_region, n;
    int n_bands;
    uint64_t *zones;
};

enum { PART_WORDS = 4 };
static_assert(sizeof(qfz_gpu_zone) == PART_WORDS * sizeof(uint64_t) &&
                  sizeof(qfz_gpu_zone_band) == PART_WORDS * sizeof(uint64_t),
              "32 bytes are written at once");

static __device__ __forceinline__ uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* Stores four words a lane, where it has a place for them, aligned to 32 bytes: two lanes store
 * those of one, then of the other, which memory takes at once. */
static __device__ __forceinline__ void store_four(const uint64_t words[PART_WORDS], uint64_t *to)
{
    const bool odd = threadIdx.x % 2;
    uint64_t *const others = reinterpret_cast<uint64_t *>(
        __shfl_xor_sync(full_warp, reinterpret_cast<unsigned long long>(to), 1));
    const uint64_t got0 = __shfl_xor_sync(full_warp, odd ? words[0] : words[2], 1);
    const uint64_t got1 = __shfl_xor_sync(full_warp, odd ? words[1] : words[3], 1);
    uint64_t *const first = odd ? others : to, *const second = odd ? to : others;
    const ulonglong2 in_first =
        odd ? make_ulonglong2(got0, got1) : make_ulonglong2(words[0], words[1]);
    const ulonglong2 in_second =
        odd ? make_ulonglong2(words[2], words[3]) : make_ulonglong2(got0, got1);
    if (first) reinterpret_cast<ulonglong2 *>(first)[odd] = in_first;
    if (second) reinterpret_cast<ulonglong2 *>(second)[odd] = in_second;
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
    const uint4 there = __ldcg(reinterpret_cast<const uint4 *>(to)); /* as in widen() */
    atomicAdd(&zone->pixels, (uint32_t)words[0]);
    add_to(&zone->sum_y, words[2]);
    add_to(&zone->sum_x, words[3]);
    if (there.y < x0) atomicMax(&zone->x0_below_max, x0);
    if (there.z < y1) atomicMax(&zone->y1, y1);
    if (there.w < x1) atomicMax(&zone->x1, x1);
}

/* A zone's parts all have the same value. */
static __device__ __forceinline__ void add_band(const uint64_t words[PART_WORDS], uint64_t *to)
{
    add_to(to, words[0]);
    const uint64_t was =
        atomicAdd(reinterpret_cast<unsigned long long *>(to + 1), (unsigned long long)words[1]);
    const uint64_t high = words[2] + (was + words[1] < was);
    if (high) add_to(to + 2, high);
    __stcg(to + 3, words[3]);
}

/* A component's part of its zone, or none: to is NULL then. */
template <void (*ADD)(const uint64_t *, uint64_t *)>
static __device__ __forceinline__ void put(const uint64_t words[PART_WORDS], bool adds,
                                           uint64_t *to)
{
    store_four(words, adds ? NULL : to);
    if (to && adds) ADD(words, to);
}

static __device__ __forceinline__ void put_head(const block_zones &zones, const block_place &block,
                                                uint32_t slot, uint64_t *to)
{
    const uint32_t y = (uint32_t)block.y, x = (uint32_t)block.x, count_y = zones.count_y[slot];
    const uint64_t columns = pair(zones.columns[0][slot], zones.columns[1][slot]);
    const uint32_t n = count_y & COUNT_MASK;
    const uint64_t words[PART_WORDS] = {
        pair(n, UINT32_MAX - (x + (uint32_t)__ffsll((long long)columns) - 1)),
        pair(y + zones.y1[slot], x + 64 - (uint32_t)__clzll((long long)columns)),
        (uint64_t)n * y + (count_y >> COUNT_BITS), (uint64_t)n * x + zones.sum_x[slot]};
    put<add_head>(words, zones.first[slot] & RUN_ON_RING, to);
}

template <typename T>
static __device__ __forceinline__ void put_band(const block_zones &zones, uint32_t slot, T value,
                                                uint64_t *to)
{
    const int64_t wide = (int64_t)value;
    const uint64_t square = (uint64_t)wide * (uint64_t)wide;
    const uint64_t n = zones.count_y[slot] & COUNT_MASK;
    uint64_t words[PART_WORDS] = {n * (uint64_t)wide, n * square, 0, (uint64_t)wide};
    if (sizeof(T) == 4) words[2] = (n * (square >> 32) + (n * (square & UINT32_MAX) >> 32)) >> 32;
    put<add_band>(words, zones.first[slot] & RUN_ON_RING, to);
}

/* Hands out the components that have slots.  What several of them need of global memory is waited
 * for together. */
template <typename T>
static __device__ __forceinline__ void put_zones(const layout &at, const block_place &block,
                                                 const block_zones &zones, uint32_t n_slots,
                                                 const T *__restrict__ planes, const zones_out &out)
{
    enum { AT_ONCE = 3 };
    const int64_t n_px = (int64_t)at.h * at.w;
    for (uint32_t first = threadIdx.x; first - threadIdx.x < n_slots; first += AT_ONCE * WORDS) {
        uint32_t region[AT_ONCE]; /* counted from the first that is wanted */
        T value[AT_ONCE] = {};
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const uint32_t slot = first + k * WORDS;
            region[k] = UINT32_MAX;
            if (slot >= n_slots) continue;
            const uint32_t px = px_of(at, block, zones.first[slot] & RUN_NUMBER);
            region[k] = __ldg(out.label + px) - 1 - out.first_region;
            value[k] = __ldg(planes + px);
        }
#pragma unroll
        for (uint32_t k = 0; k < AT_ONCE; k++) {
            const bool wanted = region[k] < out.n;
            const uint32_t slot = wanted ? first + k * WORDS : 0;
            uint64_t *to =
                wanted ? out.zones + (int64_t)region[k] * (1 + out.n_bands) * PART_WORDS : NULL;
            put_head(zones, block, slot, to);
            for (int band = 0; band < out.n_bands; band++) {
                if (to) to += PART_WORDS;
                if (band && to)
                    value[k] = __ldg(planes + band * n_px +
                                     px_of(at, block, zones.first[slot] & RUN_NUMBER));
                put_band(zones, slot, value[k], to);
            }
        }
    }
}

template <typename T>
static __global__ void __launch_bounds__(WORDS, 10)
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
    uint32_t n_runs, n_zones;
    const uint32_t before = sum_before((uint32_t)__popc(starts), zones.sums, &n_runs);
    const word_view word = {threadIdx.x / 2, threadIdx.x % 2, starts, starts | ~valid, before - 1};
    load_codes(at.runs + block.runs, n_runs, &zones);
    __syncthreads();
    zones.before[threadIdx.x] =
        sum_before((uint32_t)__popc(zones.roots[threadIdx.x]), zones.sums, &n_zones);
    for (uint32_t base = 0; base < n_zones; base += SLOTS) {
        const uint32_t n_slots = min(n_zones - base, (uint32_t)SLOTS);
        for (uint32_t slot = threadIdx.x; slot < n_slots; slot += WORDS)
            zones.count_y[slot] = zones.sum_x[slot] = zones.columns[0][slot] =
                zones.columns[1][slot] = zones.y1[slot] = 0;
        __syncthreads();
        add_runs(&zones, word, base);
        __syncthreads();
        put_zones(at, block, zones, n_slots, planes, out);
        __syncthreads();
    }
}

/* ---- By region ------------------------------------------------------------------------------- */

enum { THREADS = 256 };

/* Zones that blocks add to are empty before. */
static __global__ void __launch_bounds__(THREADS)
    k_clear_zones(const uint32_t *__restrict__ spans, uint32_t first_region, uint32_t n, int parts,
                  ulonglong2 *__restrict__ zones)
{
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        const uint32_t region = first_region + i;
        if (!(spans[region / 32] >> region % 32 & 1)) continue;
        for (int k = 0; k < 2 * parts; k++)
            zones[(int64_t)i * 2 * parts + k] = make_ulonglong2(0, 0);
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

static dim3 grid_of_zones(const qfz_gpu *gpu, uint32_t n)
{
    const unsigned enough = (unsigned)gpu->n_sms * 32, blocks = qfz_blocks(n, THREADS);
    return dim3(blocks < enough ? blocks : enough);
}

template <typename T>
static qfz_status gather(qfz_gpu *gpu, const qfz_gpu_image *image, const layout &at,
                         const qfz_gpu_regions *regions, const zones_out &out)
{
    return qfz_launch(gpu, k_gather_zones<T>, dim3((unsigned)at.n_blocks), dim3(WORDS), 0, at,
                      regions->d_first, static_cast<const T *>(image->d_pixels), out);
}

qfz_status qfz_gpu_zones_gather(qfz_gpu *gpu, const qfz_gpu_image *image, void *d_kept,
                                const qfz_gpu_regions *regions, uint32_t first_region, uint32_t n,
                                void *d_zones)
{
    qfz_carve kept = {static_cast<char *>(d_kept), 0}, none = {};
    const layout at = qfz_blocks_take(&kept, &none, image->h, image->w);
    const zones_out out = {regions->d_label, first_region, n, image->n_bands,
                           static_cast<uint64_t *>(d_zones)};
    QFZ_TRY(qfz_launch(gpu, k_clear_zones, grid_of_zones(gpu, n), dim3(THREADS), 0,
                       regions->d_spans, first_region, n, 1 + image->n_bands,
                       static_cast<ulonglong2 *>(d_zones)));
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
