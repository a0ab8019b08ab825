/* SPDX-License-Identifier: MIT */
#include "gpu/features/flat_regions.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/features/flat_region_blocks.cuh"

enum { FLAT_WORDS = 4 };
static_assert(sizeof(qfz_gpu_flat_region) == FLAT_WORDS * sizeof(uint64_t),
              "32 bytes are written at once");

/* ---- Writing regions ------------------------------------------------------------------------- */

namespace
{
struct flats_out {
    const uint32_t *label;
    uint32_t first_region, n;
    qfz_gpu_flat_region *flats;
};
} // namespace

static QFZ_DEVICE uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* Stores each lane's flat region, none where the index is QFZ_NONE. A pair of lanes stores the 32
 * bytes of one region, then the 32 bytes of the other, so that each memory transaction is full. */
static QFZ_DEVICE void store_flats(const flats_out &out, uint32_t flat,
                                   const uint64_t words[FLAT_WORDS])
{
    const bool odd = threadIdx.x % 2;
    const uint32_t other = __shfl_xor_sync(QFZ_ALL_LANES, flat, 1);
    const uint64_t got0 = __shfl_xor_sync(QFZ_ALL_LANES, odd ? words[0] : words[2], 1);
    const uint64_t got1 = __shfl_xor_sync(QFZ_ALL_LANES, odd ? words[1] : words[3], 1);
    const uint32_t of_even = odd ? other : flat, of_odd = odd ? flat : other;
    ulonglong2 *const to = reinterpret_cast<ulonglong2 *>(out.flats) + odd;
    if (of_even != QFZ_NONE)
        to[2 * (int64_t)of_even] =
            odd ? make_ulonglong2(got0, got1) : make_ulonglong2(words[0], words[1]);
    if (of_odd != QFZ_NONE)
        to[2 * (int64_t)of_odd] =
            odd ? make_ulonglong2(words[2], words[3]) : make_ulonglong2(got0, got1);
}

static QFZ_DEVICE void add_to(uint64_t *word, uint64_t more)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(word), (unsigned long long)more);
}

/* Adds a component to its region. current: a value of the region's first words that may be stale;
 * most parts of a large region do not widen its box, and a stale value is only less wide, which
 * costs one needless atomic operation. */
static QFZ_DEVICE void add_flat(const uint64_t words[FLAT_WORDS], const uint4 &current,
                                qfz_gpu_flat_region *flat)
{
    const uint32_t x0 = (uint32_t)(words[0] >> 32);
    const uint32_t y1 = (uint32_t)words[1], x1 = (uint32_t)(words[1] >> 32);
    atomicAdd(&flat->pixels, (uint32_t)words[0]);
    add_to(&flat->sum_y, words[2]);
    add_to(&flat->sum_x, words[3]);
    if (current.y < x0) atomicMax(&flat->x0_below_max, x0);
    if (current.z < y1) atomicMax(&flat->y1, y1);
    if (current.w < x1) atomicMax(&flat->x1, x1);
}

static QFZ_DEVICE void make_flat(const component_sums &of, const block_place &block,
                                 uint64_t words[FLAT_WORDS])
{
    const uint32_t y = (uint32_t)block.y, x = (uint32_t)block.x, n = of.count_y & COUNT_MASK;
    const int first = of.left ? __ffs((int)of.left) - 1 : QFZ_WARP + __ffs((int)of.right) - 1;
    const int end = of.right ? 2 * QFZ_WARP - __clz((int)of.right) : QFZ_WARP - __clz((int)of.left);
    words[0] = pair(n, UINT32_MAX - (x + (uint32_t)first));
    words[1] = pair(y + of.y1, x + (uint32_t)end);
    words[2] = (uint64_t)n * y + (of.count_y >> COUNT_BITS);
    words[3] = (uint64_t)n * x + (of.sum_x & SUM_X_MASK);
}

/* The index of a thread's first component in components.ring; the following ones are WORDS apart.
 * Indices run backwards, since the last warps have fewer other components to store. */
static QFZ_DEVICE uint32_t ring_index()
{
    return WORDS - 1 - threadIdx.x;
}

static QFZ_DEVICE uint32_t ring_label(const layout &at, const block_place &block,
                                      const block_components &components, uint32_t i,
                                      const flats_out &out)
{
    return __ldg(out.label + px_of(at, block, components.ring[i] >> 16));
}

/* Reads the labels of the components on the ring (that of the thread's first one is in
 * first_label), and finds the largest component in the window. Its region often has much of the
 * rest of this ring and of other blocks, and is therefore the common region of the block. */
static QFZ_DEVICE void find_largest(const layout &at, const block_place &block,
                                    const sums_window &window, uint32_t n_ring,
                                    uint32_t first_label, const flats_out &out,
                                    block_components *components)
{
    uint32_t largest = 0;
    for (uint32_t i = ring_index(); i < n_ring; i += WORDS) {
        const uint32_t entry = (components->ring[i] & 0xffff) - window.base;
        components->ring_label[i] =
            i < WORDS ? first_label : ring_label(at, block, *components, i, out);
        if (entry >= window.n) continue;
        largest = max(largest, (window.of[entry].count_y & COUNT_MASK) << 16 | i);
    }
    largest = qfz_warp_max(largest);
    if (largest && threadIdx.x % QFZ_WARP == 0) atomicMax(&components->largest, largest);
}

/* Adds a component to the sums of the common region. */
static QFZ_DEVICE void join_common(const component_sums &of, component_sums *common)
{
    common->count_y += of.count_y;
    common->sum_x += of.sum_x & SUM_X_MASK;
    common->left |= of.left;
    common->right |= of.right;
    common->y1 = max(common->y1, of.y1);
}

/* Adds the components on the ring to their regions, those of the common region as one sum. */
static QFZ_DEVICE void add_ring(const block_place &block, const sums_window &window,
                                uint32_t n_ring, uint32_t common_label, const flats_out &out,
                                block_components *components)
{
    if (ring_index() / QFZ_WARP * QFZ_WARP >= n_ring) return; /* the whole warp returns */
    component_sums common = {};
    for (uint32_t i = ring_index(); i < n_ring; i += WORDS) {
        const uint32_t entry = (components->ring[i] & 0xffff) - window.base;
        if (entry >= window.n) continue;
        const component_sums &own = window.of[entry];
        const uint32_t label = components->ring_label[i], region = label - 1 - out.first_region;
        if (label == common_label) {
            join_common(own, &common);
        } else if (region < out.n) {
            uint64_t words[FLAT_WORDS];
            make_flat(own, block, words);
            add_flat(words, make_uint4(0, 0, 0, 0), out.flats + region);
        }
    }
    __syncwarp();
    add_warp(&components->common, common);
}

/* The number of the region whose first pixel is at a place of the block. */
static QFZ_DEVICE uint32_t region_at(const block_components &components, uint32_t place)
{
    const uint32_t word = place / QFZ_WARP;
    const uint32_t left = word % 2 ? components.firsts[word - 1] : 0;
    const uint32_t here = components.firsts[word] & (up_to((int)(place % QFZ_WARP)) >> 1);
    return components.before[word / 2] + (uint32_t)(__popc(left) + __popc(here));
}

/* Stores the components that lie inside the block. */
static QFZ_DEVICE void store_inner(const block_place &block, const sums_window &window,
                                   const block_components &components, const flats_out &out)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    for (uint32_t entry = threadIdx.x; entry - lane < window.n; entry += WORDS) {
        uint32_t flat = QFZ_NONE;
        uint64_t words[FLAT_WORDS] = {};
        const uint32_t first =
            entry < window.n ? first_of(window.of[entry]) : (uint32_t)RUN_ON_RING;
        if (!(first & RUN_ON_RING)) {
            flat = region_at(components, first) - out.first_region;
            if (flat >= out.n) flat = QFZ_NONE;
            make_flat(window.of[entry], block, words);
        }
        store_flats(out, flat, words);
    }
}

/* Writes all components of the window to global memory. */
static QFZ_DEVICE void put_components(const block_place &block, const sums_window &window,
                                      uint32_t n_ring, const flats_out &out,
                                      block_components *components)
{
    const uint32_t largest = components->largest;
    const uint32_t common_label = largest ? components->ring_label[largest & 0xffff] : 0;
    const uint32_t region = common_label - 1 - out.first_region;
    const bool adds = threadIdx.x == 0 && largest && region < out.n;
    const uint4 current = adds ? __ldcg(reinterpret_cast<const uint4 *>(out.flats + region))
                               : make_uint4(0, 0, 0, 0); /* the load is used at the end only */
    add_ring(block, window, n_ring, common_label, out, components);
    store_inner(block, window, *components, out);
    __syncthreads();
    if (!adds) return;
    uint64_t words[FLAT_WORDS];
    make_flat(components->common, block, words);
    add_flat(words, current, out.flats + region);
}

/* Blocks per multiprocessor: twelve, where it can run that many threads. */
enum { BLOCKS = QFZ_SM_THREADS < 12 * WORDS ? QFZ_SM_THREADS / WORDS : 12 };

static __global__ void __launch_bounds__(WORDS, BLOCKS)
    k_gather_flats(layout at, firsts_view firsts, const uint32_t *__restrict__ first_px,
                   flats_out out)
{
    __shared__ block_components components;
    const block_place block = place_of(at, blockIdx.x);
    const uint32_t thread = threadIdx.x, y = thread / 2;
    const int64_t i = (int64_t)blockIdx.x * WORDS + thread;
    /* regions have no pixel before their first one: this block comes too early */
    const int64_t last_px = (int64_t)min(block.y + SIDE, at.h) * at.w;
    if (out.first_region && last_px <= (int64_t)first_px[out.first_region]) return;
    const uint32_t n_runs = at.n_runs[blockIdx.x], starts = at.starts[i], valid = at.valid[i];
    components.firsts[thread] = firsts.bits[i];
    if (thread % 2 == 0) components.before[y] = firsts.before[row_of(at, block, y)];
    sums_window window = window_of(&components, n_runs);
    uint32_t before = (uint32_t)__popc(starts), first_label = 0;
    const component_counts n =
        number_components(at.runs + block.runs, n_runs, window.codes, &components, &before);
    /* the shuffle keeps the thread number in a register: the compiler would read the special
     * register anew in the loop, which is slow */
    const uint32_t number = __shfl_sync(QFZ_ALL_LANES, thread, (int)thread % QFZ_WARP);
    const word_view word = {number, starts, starts | ~valid, before - 1};
    for (; window.base < n.components; window.base += window.most) {
        window.n = min(n.components - window.base, window.most);
        clear_window(window, &components);
        __syncthreads();
        if (window.base == 0 && ring_index() < n.ring) /* the load is used after add_runs() */
            first_label = ring_label(at, block, components, ring_index(), out);
        add_runs(window, word);
        __syncthreads();
        find_largest(at, block, window, n.ring, first_label, out, &components);
        __syncthreads();
        put_components(block, window, n.ring, out, &components);
        __syncthreads();
    }
}

/* ---- Clearing -------------------------------------------------------------------------------- */

enum { THREADS = 256 };

/* A thread has the 32 regions of one word of bits, so that threads need not wait for regions
 * without work. wanted_bits(): the bits of the word's regions that are wanted. */
static QFZ_DEVICE uint32_t wanted_bits(const flats_out &out, uint32_t word)
{
    const uint32_t first = out.first_region, end = first + out.n;
    uint32_t bits = UINT32_MAX;
    if (word == first / 32) bits &= UINT32_MAX << first % 32;
    if (word == end / 32) bits &= (1u << end % 32) - 1;
    return bits;
}

static QFZ_DEVICE uint32_t word_of_thread(const flats_out &out)
{
    return out.first_region / 32 + blockIdx.x * THREADS + threadIdx.x;
}

static QFZ_DEVICE bool has_regions(const flats_out &out, uint32_t word)
{
    return (uint64_t)word * 32 < (uint64_t)out.first_region + out.n;
}

/* Clears the regions that several blocks add to. */
static __global__ void __launch_bounds__(THREADS)
    k_clear_flats(const uint32_t *__restrict__ spans, flats_out out)
{
    const uint32_t word = word_of_thread(out);
    if (!has_regions(out, word)) return;
    for (uint32_t rest = spans[word] & wanted_bits(out, word); rest; rest &= rest - 1) {
        const uint32_t region = word * 32 + (uint32_t)__ffs((int)rest) - 1;
        ulonglong2 *const flat =
            reinterpret_cast<ulonglong2 *>(out.flats + (region - out.first_region));
        flat[0] = flat[1] = make_ulonglong2(0, 0);
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

bool qfz_gpu_regions_are_flat(const qfz_rule *rule)
{
    return rule->alpha_level == 0 && !rule->edge_bits && rule->min_mass == 0 &&
           qfz_level_0_is_equal(rule);
}

qfz_status qfz_gpu_flat_regions_gather(qfz_gpu *gpu, int32_t h, int32_t w, void *d_cached,
                                       const qfz_gpu_regions *regions, uint32_t first_region,
                                       uint32_t n, qfz_gpu_flat_region *d_flats)
{
    qfz_carve cached = {static_cast<char *>(d_cached), 0}, none = {};
    const layout at = qfz_blocks_take(&cached, &none, h, w);
    const firsts_view firsts = qfz_firsts_take(&cached, &at);
    const flats_out out = {regions->d_label, first_region, n, d_flats};
    /* a thread has one word of bits; first and last word may be partly wanted */
    const int64_t n_words = (int64_t)n / 32 + 2;
    QFZ_TRY(qfz_launch_each(gpu, k_clear_flats, n_words, THREADS, regions->d_spans, out));
    return qfz_launch(gpu, k_gather_flats, dim3((unsigned)at.n_blocks), dim3(WORDS), 0, at, firsts,
                      regions->d_first, out);
}
