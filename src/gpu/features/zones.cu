/* SPDX-License-Identifier: MIT */
#include "gpu/features/zones.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/features/zone_blocks.cuh"

enum { ZONE_WORDS = 4 };
static_assert(sizeof(qfz_gpu_zone) == ZONE_WORDS * sizeof(uint64_t),
              "32 bytes are written at once");

/* ---- What becomes of a component ------------------------------------------------------------- */

struct zones_out {
    const uint32_t *label;
    uint32_t first_region, n;
    qfz_gpu_zone *zones;
};

static __device__ __forceinline__ uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* Stores each lane's zone, QFZ_NONE: none: two lanes store 32 bytes of one, then of the other,
 * which memory takes at once. */
static __device__ __forceinline__ void store_zones(const zones_out &out, uint32_t zone,
                                                   const uint64_t words[ZONE_WORDS])
{
    const bool odd = threadIdx.x % 2;
    const uint32_t other = __shfl_xor_sync(full_warp, zone, 1);
    const uint64_t got0 = __shfl_xor_sync(full_warp, odd ? words[0] : words[2], 1);
    const uint64_t got1 = __shfl_xor_sync(full_warp, odd ? words[1] : words[3], 1);
    const uint32_t of_even = odd ? other : zone, of_odd = odd ? zone : other;
    ulonglong2 *const to = reinterpret_cast<ulonglong2 *>(out.zones) + odd;
    if (of_even != QFZ_NONE)
        to[2 * (int64_t)of_even] =
            odd ? make_ulonglong2(got0, got1) : make_ulonglong2(words[0], words[1]);
    if (of_odd != QFZ_NONE)
        to[2 * (int64_t)of_odd] =
            odd ? make_ulonglong2(words[2], words[3]) : make_ulonglong2(got0, got1);
}

static __device__ __forceinline__ void add_to(uint64_t *word, uint64_t more)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(word), (unsigned long long)more);
}

/* there: what the zone's first words may already be; most parts of a large one do not widen it, and
 * what was read long ago tells too. */
static __device__ __forceinline__ void add_zone(const uint64_t words[ZONE_WORDS],
                                                const uint4 &there, qfz_gpu_zone *zone)
{
    const uint32_t x0 = (uint32_t)(words[0] >> 32);
    const uint32_t y1 = (uint32_t)words[1], x1 = (uint32_t)(words[1] >> 32);
    atomicAdd(&zone->pixels, (uint32_t)words[0]);
    add_to(&zone->sum_y, words[2]);
    add_to(&zone->sum_x, words[3]);
    if (there.y < x0) atomicMax(&zone->x0_below_max, x0);
    if (there.z < y1) atomicMax(&zone->y1, y1);
    if (there.w < x1) atomicMax(&zone->x1, x1);
}

static __device__ __forceinline__ void make_zone(const zone_sums &of, const block_place &block,
                                                 uint64_t words[ZONE_WORDS])
{
    const uint32_t y = (uint32_t)block.y, x = (uint32_t)block.x, n = of.count_y & COUNT_MASK;
    const int first = of.left ? __ffs((int)of.left) - 1 : QFZ_WARP + __ffs((int)of.right) - 1;
    const int end = of.right ? 2 * QFZ_WARP - __clz((int)of.right) : QFZ_WARP - __clz((int)of.left);
    words[0] = pair(n, UINT32_MAX - (x + (uint32_t)first));
    words[1] = pair(y + of.y1, x + (uint32_t)end);
    words[2] = (uint64_t)n * y + (of.count_y >> COUNT_BITS);
    words[3] = (uint64_t)n * x + (of.sum_x & SUM_X_MASK);
}

/* A thread's index among the listed components, the first of some, WORDS apart: the last warps have
 * fewer of the others. */
static __device__ __forceinline__ uint32_t ring_index()
{
    return WORDS - 1 - threadIdx.x;
}

static __device__ __forceinline__ uint32_t ring_label(const layout &at, const block_place &block,
                                                      const block_zones &zones, uint32_t i,
                                                      const zones_out &out)
{
    return __ldg(out.label + px_of(at, block, zones.ring[i] >> 16));
}

/* Tells the labels of the listed components, of which the first one's is known, and finds the
 * largest of those that have border_regions: much of the rest of the ring is often of its zone, and
 * so is that of other blocks. */
static __device__ __forceinline__ void find_largest(const layout &at, const block_place &block,
                                                    const zone_borders &border_regions,
                                                    uint32_t n_ring, uint32_t first_label,
                                                    const zones_out &out, block_zones *zones)
{
    uint32_t largest = 0;
    for (uint32_t i = ring_index(); i < n_ring; i += WORDS) {
        const uint32_t border_region = (zones->ring[i] & 0xffff) - border_regions.base;
        zones->ring_label[i] = i < WORDS ? first_label : ring_label(at, block, *zones, i, out);
        if (border_region >= border_regions.n) continue;
        largest = max(largest, (border_regions.of[border_region].count_y & COUNT_MASK) << 16 | i);
    }
    largest = qfz_warp_max(largest);
    if (largest && threadIdx.x % QFZ_WARP == 0) atomicMax(&zones->largest, largest);
}

/* A component as a part of the common zone. */
static __device__ __forceinline__ void join_common(const zone_sums &of, zone_sums *common)
{
    common->count_y += of.count_y;
    common->sum_x += of.sum_x & SUM_X_MASK;
    common->left |= of.left;
    common->right |= of.right;
    common->y1 = max(common->y1, of.y1);
}

/* Adds the listed components to their zones; those of the common zone are put together before. */
static __device__ __forceinline__ void add_ring(const block_place &block,
                                                const zone_borders &border_regions, uint32_t n_ring,
                                                uint32_t common_label, const zones_out &out,
                                                block_zones *zones)
{
    if (ring_index() / QFZ_WARP * QFZ_WARP >= n_ring) return; /* the whole warp */
    zone_sums common = {};
    for (uint32_t i = ring_index(); i < n_ring; i += WORDS) {
        const uint32_t border_region = (zones->ring[i] & 0xffff) - border_regions.base;
        if (border_region >= border_regions.n) continue;
        const zone_sums &own = border_regions.of[border_region];
        const uint32_t label = zones->ring_label[i], region = label - 1 - out.first_region;
        if (label == common_label) {
            join_common(own, &common);
        } else if (region < out.n) {
            uint64_t words[ZONE_WORDS];
            make_zone(own, block, words);
            add_zone(words, make_uint4(0, 0, 0, 0), out.zones + region);
        }
    }
    __syncwarp();
    add_warp(&zones->common, common);
}

/* The region that has its first pixel at a place of the block. */
static __device__ __forceinline__ uint32_t region_at(const block_zones &zones, uint32_t place)
{
    const uint32_t word = place / QFZ_WARP;
    const uint32_t left = word % 2 ? zones.firsts[word - 1] : 0;
    const uint32_t here = zones.firsts[word] & (up_to((int)(place % QFZ_WARP)) >> 1);
    return zones.before[word / 2] + (uint32_t)(__popc(left) + __popc(here));
}

/* Stores the other components. */
static __device__ __forceinline__ void store_inner(const block_place &block,
                                                   const zone_borders &border_regions,
                                                   const block_zones &zones, const zones_out &out)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    for (uint32_t border_region = threadIdx.x; border_region - lane < border_regions.n;
         border_region += WORDS) {
        uint32_t zone = QFZ_NONE;
        uint64_t words[ZONE_WORDS] = {};
        const uint32_t first = border_region < border_regions.n
                                   ? first_of(border_regions.of[border_region])
                                   : (uint32_t)RUN_ON_RING;
        if (!(first & RUN_ON_RING)) {
            zone = region_at(zones, first) - out.first_region;
            if (zone >= out.n) zone = QFZ_NONE;
            make_zone(border_regions.of[border_region], block, words);
        }
        store_zones(out, zone, words);
    }
}

/* Hands out the components that have border_regions. */
static __device__ __forceinline__ void put_zones(const block_place &block,
                                                 const zone_borders &border_regions,
                                                 uint32_t n_ring, const zones_out &out,
                                                 block_zones *zones)
{
    const uint32_t largest = zones->largest;
    const uint32_t common_label = largest ? zones->ring_label[largest & 0xffff] : 0;
    const uint32_t region = common_label - 1 - out.first_region;
    const bool adds = threadIdx.x == 0 && largest && region < out.n;
    const uint4 there = adds ? __ldcg(reinterpret_cast<const uint4 *>(out.zones + region))
                             : make_uint4(0, 0, 0, 0); /* waited for at the end */
    add_ring(block, border_regions, n_ring, common_label, out, zones);
    store_inner(block, border_regions, *zones, out);
    __syncthreads();
    if (!adds) return;
    uint64_t words[ZONE_WORDS];
    make_zone(zones->common, block, words);
    add_zone(words, there, out.zones + region);
}

/* Blocks on a multiprocessor: twelve, where it can run as many threads. */
enum { BLOCKS = QFZ_SM_THREADS < 12 * WORDS ? QFZ_SM_THREADS / WORDS : 12 };

static __global__ void __launch_bounds__(WORDS, BLOCKS)
    k_gather_zones(layout at, firsts_view firsts, const uint32_t *__restrict__ first_px,
                   zones_out out)
{
    __shared__ block_zones zones;
    const block_place block = place_of(at, blockIdx.x);
    const uint32_t thread = threadIdx.x, y = thread / 2;
    const int64_t i = (int64_t)blockIdx.x * WORDS + thread;
    /* before its first pixel a region has none */
    const int64_t last_px = (int64_t)min(block.y + SIDE, at.h) * at.w;
    if (out.first_region && last_px <= (int64_t)first_px[out.first_region]) return;
    const uint32_t n_runs = at.n_runs[blockIdx.x], starts = at.starts[i], valid = at.valid[i];
    zones.firsts[thread] = firsts.bits[i];
    if (thread % 2 == 0) zones.before[y] = firsts.before[row_of(at, block, y)];
    zone_borders border_regions = slots_of(&zones, n_runs);
    uint32_t before = (uint32_t)__popc(starts), first_label = 0;
    const zone_counts n =
        number_zones(at.runs + block.runs, n_runs, border_regions.codes, &zones, &before);
    /* told by a shuffle, so that it is kept: reading a thread's number anew takes long in a loop */
    const uint32_t number = __shfl_sync(full_warp, thread, (int)thread % QFZ_WARP);
    const word_view word = {number, starts, starts | ~valid, before - 1};
    for (; border_regions.base < n.zones; border_regions.base += border_regions.most) {
        border_regions.n = min(n.zones - border_regions.base, border_regions.most);
        clear_slots(border_regions, &zones);
        __syncthreads();
        if (border_regions.base == 0 && ring_index() < n.ring) /* waited for after adding up */
            first_label = ring_label(at, block, zones, ring_index(), out);
        add_runs(border_regions, word);
        __syncthreads();
        find_largest(at, block, border_regions, n.ring, first_label, out, &zones);
        __syncthreads();
        put_zones(block, border_regions, n.ring, out, &zones);
        __syncthreads();
    }
}

/* ---- Before ---------------------------------------------------------------------------------- */

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
        ulonglong2 *const zone =
            reinterpret_cast<ulonglong2 *>(out.zones + (region - out.first_region));
        zone[0] = zone[1] = make_ulonglong2(0, 0);
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

bool qfz_gpu_zones_are_flat(const qfz_rule *rule)
{
    return rule->alpha_level == 0 && !rule->edge_bits && !qfz_type_is_float(rule->type);
}

qfz_status qfz_gpu_zones_gather(qfz_gpu *gpu, int32_t h, int32_t w, void *d_cached,
                                const qfz_gpu_regions *regions, uint32_t first_region, uint32_t n,
                                qfz_gpu_zone *d_zones)
{
    qfz_carve kept = {static_cast<char *>(d_cached), 0}, none = {};
    const layout at = qfz_blocks_take(&kept, &none, h, w);
    const firsts_view firsts = qfz_firsts_take(&kept, &at);
    const zones_out out = {regions->d_label, first_region, n, d_zones};
    /* a word of bits a thread; they may begin and end within one */
    const dim3 words(qfz_blocks((int64_t)n / 32 + 2, THREADS));
    QFZ_TRY(qfz_launch(gpu, k_clear_zones, words, dim3(THREADS), 0, regions->d_spans, out));
    return qfz_launch(gpu, k_gather_zones, dim3((unsigned)at.n_blocks), dim3(WORDS), 0, at, firsts,
                      regions->d_first, out);
}
