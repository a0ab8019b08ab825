/* SPDX-License-Identifier: MIT */
/* component_labels.cu - from the components of blocks (components.cu) to what each pixel gets: its
 * root, or the label of its region. */
#include "gpu/collective.cuh"
#include "gpu/component_blocks.cuh"
#include "gpu/components.cuh"
#include "gpu/launch.cuh"
#include "gpu/union_find.cuh"
#include "gpu/warp.cuh"

/* Hooks what is on a block's ring to its root, so that nobody has far to go from there.  A thread
 * has some places of the ring, so that their parents are waited for together. */
enum { RING_EACH = 4, RING_LANES = RING / RING_EACH };

static __global__ void __launch_bounds__(RING_LANES) k_flatten_ring(layout at)
{
    const ushort4 *const ring = reinterpret_cast<const ushort4 *>(at.ring);
    const ushort4 four = ring[(int64_t)blockIdx.x * RING_LANES + threadIdx.x];
    const uint32_t place[RING_EACH] = {four.x, four.y, four.z, four.w};
    const block_place block = place_of(at, blockIdx.x);
    uint32_t before = __shfl_up_sync(0xffffffffu, place[RING_EACH - 1], 1);
    uint32_t px[RING_EACH], up[RING_EACH];
    if (threadIdx.x % QFZ_WARP == 0) before = NO_PLACE;
#pragma unroll
    for (int k = 0; k < RING_EACH; k++) {
        px[k] = place[k] == NO_PLACE || place[k] == before ? QFZ_NONE : px_of(at, block, place[k]);
        up[k] = px[k] == QFZ_NONE ? QFZ_NONE : qfz_peek(at.parent + px[k]);
        before = place[k];
    }
#pragma unroll
    for (int k = 0; k < RING_EACH; k++) {
        if (up[k] == px[k]) continue;
        const uint32_t top = qfz_find<qfz_in_global>(at.parent, up[k]);
        if (top != up[k]) qfz_in_global::write(at.parent + px[k], top);
    }
}

/* ---- First pixels of regions ----------------------------------------------------------------- */

/* Which pixels are first of their region, and how many they are before each row of a block, from
 * the left and from above. */
struct firsts_view {
    uint32_t *bits;   /* WORDS a block */
    uint32_t *counts; /* of row y in the block at column x: [y * blocks_w + x]; one 0 at the end */
    uint32_t *before; /* their sums */
    int64_t n;        /* of counts, without the end */
};

static __device__ __forceinline__ int64_t row_of(const layout &at, const block_place &block,
                                                 uint32_t y)
{
    return (int64_t)(block.y + (int32_t)y) * at.blocks_w + block.x / SIDE;
}

static __global__ void __launch_bounds__(WORDS) k_find_firsts(layout at, firsts_view firsts)
{
    __shared__ uint32_t bits[WORDS];
    const block_place block = place_of(at, blockIdx.x);
    const uint32_t n_runs = at.n_runs[blockIdx.x];
    bits[threadIdx.x] = 0;
    __syncthreads();
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS) {
        const uint32_t code = at.runs[block.runs + run];
        if (!(code & RUN_ROOT)) continue;
        const uint32_t place = code & RUN_NUMBER, px = px_of(at, block, place);
        if (!(code & RUN_ON_RING) || at.parent[px] == px)
            atomicOr(bits + place / QFZ_WARP, 1u << place % QFZ_WARP);
    }
    __syncthreads();
    firsts.bits[(int64_t)blockIdx.x * WORDS + threadIdx.x] = bits[threadIdx.x];
    if (threadIdx.x < SIDE)
        firsts.counts[row_of(at, block, threadIdx.x)] =
            (uint32_t)(__popc(bits[2 * threadIdx.x]) + __popc(bits[2 * threadIdx.x + 1]));
    if (blockIdx.x == 0 && threadIdx.x == 0) firsts.counts[firsts.n] = 0;
}

/* The region of which a block's pixel is the first. */
static __device__ __forceinline__ uint32_t region_of(const layout &at, const firsts_view &firsts,
                                                     uint32_t block_number, uint32_t place)
{
    const uint32_t *const bits = firsts.bits + (int64_t)block_number * WORDS;
    const uint32_t word = place / QFZ_WARP;
    uint32_t region = firsts.before[row_of(at, place_of(at, block_number), place / SIDE)];
    if (word % 2) region += (uint32_t)__popc(bits[word - 1]);
    return region + (uint32_t)__popc(bits[word] & (up_to((int)(place % QFZ_WARP)) >> 1));
}

/* Regions get their first pixels, and no pixels so far. */
static __global__ void __launch_bounds__(WORDS)
    k_number_firsts(layout at, firsts_view firsts, qfz_gpu_regions regions)
{
    const uint32_t word = threadIdx.x;
    const block_place block = place_of(at, blockIdx.x);
    uint32_t rest = firsts.bits[(int64_t)blockIdx.x * WORDS + word];
    if (blockIdx.x == 0 && word == 0) regions.d_n[0] = firsts.before[firsts.n];
    if (!rest) return;
    uint32_t region = region_of(at, firsts, blockIdx.x, word * QFZ_WARP);
    for (; rest; rest &= rest - 1, region++) {
        const uint32_t place = word * QFZ_WARP + (uint32_t)__ffs((int)rest) - 1;
        regions.d_first[region] = px_of(at, block, place);
        regions.d_count[region] = 0;
    }
}

/* ---- What pixels get ------------------------------------------------------------------------- */

struct block_runs {
    uint32_t starts[WORDS], valid[WORDS];
    uint32_t before[WORDS]; /* runs that start in earlier words */
    uint32_t sums[WORDS / QFZ_WARP];
    alignas(16) uint32_t label[RUNS]; /* first codes, and counts of pixels above COUNT_SHIFT */
};

enum { COUNT_SHIFT = 16, CODE_MASK = 0xffff };

/* The root of a component of a block that touches the ring: k_flatten_ring left one step. */
static __device__ __forceinline__ uint32_t ring_root(const layout &at, uint32_t px)
{
    return qfz_peek(at.parent + px);
}

/* The pixel, of a block and its place there. */
struct block_px {
    uint32_t block, place;
};

static __device__ __forceinline__ block_px block_px_of(const layout &at, uint32_t px)
{
    const uint32_t y = px / (uint32_t)at.w, x = px % (uint32_t)at.w;
    return block_px{y / SIDE * (uint32_t)at.blocks_w + x / SIDE, y % SIDE * SIDE + x % SIDE};
}

/* Roots: the first pixel of its region, over all blocks.  They are written where the forest is:
 * what other blocks read of it meanwhile are first pixels of components that touch a ring, and
 * what is written there is what they have already. */
struct roots_out {
    static const bool counts = false;
    enum { INVALID = -1 };

    __device__ __forceinline__ uint32_t label_of(const layout &, uint32_t root, block_px) const
    {
        return root;
    }
    __device__ __forceinline__ void count_px(uint32_t, uint32_t, bool) const
    {
    }
};

/* Labels; and regions get their numbers of pixels. */
struct labels_out {
    static const bool counts = true;
    enum { INVALID = 0 };
    firsts_view firsts;
    uint32_t *count, *spans;

    __device__ __forceinline__ uint32_t label_of(const layout &at, uint32_t, block_px first) const
    {
        return region_of(at, firsts, first.block, first.place) + 1;
    }
    __device__ __forceinline__ void count_px(uint32_t label, uint32_t n, bool on_ring) const
    {
        const uint32_t region = label - 1, bit = 1u << region % 32;
        if (!on_ring)
            count[region] = n;
        else if (atomicAdd(count + region, n) && !(qfz_peek(spans + region / 32) & bit))
            atomicOr(spans + region / 32, bit);
    }
};

/* runs->label[run] = code of the run; eight at a time, of which the last may be of no run. */
static __device__ __forceinline__ void load_codes(const uint16_t *codes, uint32_t n_runs,
                                                  block_runs *runs)
{
    const bool aligned = reinterpret_cast<uintptr_t>(codes) % sizeof(uint4) == 0;
    for (uint32_t i = threadIdx.x; aligned && 8 * i + 8 <= n_runs; i += WORDS) {
        const uint4 eight = __ldg(reinterpret_cast<const uint4 *>(codes) + i);
        uint4 *const to = reinterpret_cast<uint4 *>(runs->label) + 2 * i;
        to[0] = make_uint4(eight.x & CODE_MASK, eight.x >> 16, eight.y & CODE_MASK, eight.y >> 16);
        to[1] = make_uint4(eight.z & CODE_MASK, eight.z >> 16, eight.w & CODE_MASK, eight.w >> 16);
    }
    for (uint32_t i = (aligned ? n_runs & ~7u : 0) + threadIdx.x; i < n_runs; i += WORDS)
        runs->label[i] = codes[i];
}

static __device__ __forceinline__ uint32_t root_of(const block_runs &runs, uint32_t run)
{
    /* counts may come meanwhile, codes stay */
    const uint32_t code = qfz_in_shared::read(runs.label + run) & CODE_MASK;
    return code & RUN_ROOT ? run : code;
}

/* Adds to the roots' words the numbers of pixels of their components. */
static __device__ __forceinline__ void count_pixels(block_runs *runs)
{
    const uint32_t starts = runs->starts[threadIdx.x], valid = runs->valid[threadIdx.x];
    const uint32_t ends = starts | ~valid; /* of the run before, each */
    uint32_t run = runs->before[threadIdx.x] - 1, root = QFZ_NONE, n = 0;
    if (!(ends & 1)) { /* a run came in from the left */
        root = root_of(*runs, run);
        n = ends ? (uint32_t)__ffs((int)ends) - 1 : (uint32_t)QFZ_WARP;
    }
    for (uint32_t rest = starts; rest; rest &= rest - 1) {
        const int x = __ffs((int)rest) - 1;
        const uint32_t next = ends & ~up_to(x), to = root_of(*runs, ++run);
        if (to != root) {
            if (n) atomicAdd(runs->label + root, n << COUNT_SHIFT);
            root = to;
            n = 0;
        }
        n += next ? (uint32_t)(__ffs((int)next) - 1 - x) : (uint32_t)(QFZ_WARP - x);
    }
    const uint32_t first = __shfl_sync(0xffffffffu, root, 0);
    if (__all_sync(0xffffffffu, root == first)) { /* one big component has all of it, often */
        n = qfz_warp_add(n);
        if (threadIdx.x % QFZ_WARP) n = 0;
    }
    if (n) atomicAdd(runs->label + root, n << COUNT_SHIFT);
}

/* The labels of a block's roots among AT_ONCE runs, from `run` on in steps of WORDS; what is read
 * of global memory is waited for together.  Bit k of the result: the k-th is a root. */
enum { AT_ONCE = 4 };

template <typename OUT>
static __device__ __forceinline__ uint32_t label_roots(const layout &at, const block_place &block,
                                                       uint32_t first, uint32_t n_runs,
                                                       const OUT &out, block_runs *runs)
{
    uint32_t word[AT_ONCE], root[AT_ONCE], roots = 0;
    block_px px[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        const uint32_t run = first + (uint32_t)k * WORDS;
        word[k] = run < n_runs ? runs->label[run] : 0;
        if (word[k] & RUN_ROOT) roots |= 1u << k;
        px[k] = block_px{blockIdx.x, word[k] & RUN_NUMBER};
        root[k] = px_of(at, block, px[k].place);
        if (word[k] & RUN_ON_RING) root[k] = ring_root(at, root[k]);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        if (OUT::counts && (word[k] & RUN_ON_RING)) px[k] = block_px_of(at, root[k]);
        root[k] = out.label_of(at, root[k], px[k]);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        if (!(roots >> k & 1)) continue;
        out.count_px(root[k], word[k] >> COUNT_SHIFT, word[k] & RUN_ON_RING);
        runs->label[first + (uint32_t)k * WORDS] = root[k];
    }
    return roots;
}

/* Labels of all runs of a block: those of roots, then the others'. */
template <typename OUT>
static __device__ __forceinline__ void label_runs(const layout &at, const block_place &block,
                                                  uint32_t n_runs, const OUT &out, block_runs *runs)
{
    uint32_t roots = 0; /* bit k: the k-th run of this thread is one */
    load_codes(at.runs + block.runs, n_runs, runs);
    __syncthreads();
    if (OUT::counts) {
        count_pixels(runs);
        __syncthreads();
    }
    for (uint32_t k = 0; k * WORDS < n_runs; k += AT_ONCE)
        roots |= label_roots(at, block, k * WORDS + threadIdx.x, n_runs, out, runs) << k;
    __syncthreads();
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS, roots >>= 1)
        if (!(roots & 1)) runs->label[run] = runs->label[runs->label[run] & CODE_MASK];
    __syncthreads();
}

/* Writes the pixels of a block, four at a time; rows begin at multiples of 16 bytes. */
template <typename OUT>
static __device__ __forceinline__ void write_fours(const layout &at, const block_place &block,
                                                   const block_runs &runs, uint32_t *d_px)
{
    enum { FOUR = 4, LANES = SIDE / FOUR };
    const int x = FOUR * ((int)threadIdx.x % LANES), shift = x % QFZ_WARP;
    if (block.x + x >= at.w) return;
    for (int y = (int)threadIdx.x / LANES; y < SIDE && block.y + y < at.h; y += WORDS / LANES) {
        const int i = 2 * y + x / QFZ_WARP;
        const uint32_t starts = runs.starts[i] >> shift, valid = runs.valid[i] >> shift;
        uint32_t run = runs.before[i] + (uint32_t)__popc(runs.starts[i] & (up_to(shift) >> 1)) - 1;
        uint32_t px[FOUR];
#pragma unroll
        for (int k = 0; k < FOUR; k++) {
            run += starts >> k & 1;
            px[k] = valid >> k & 1 ? runs.label[run] : (uint32_t)OUT::INVALID;
        }
        *reinterpret_cast<uint4 *>(d_px + (int64_t)(block.y + y) * at.w + block.x + x) =
            make_uint4(px[0], px[1], px[2], px[3]);
    }
}

/* The same, a lane a pixel. */
template <typename OUT>
static __device__ __forceinline__ void write_ones(const layout &at, const block_place &block,
                                                  const block_runs &runs, uint32_t *d_px)
{
    const int lane = (int)threadIdx.x % QFZ_WARP;
    for (int i = (int)threadIdx.x / QFZ_WARP; i < WORDS; i += WORDS / QFZ_WARP) {
        const int y = block.y + i / 2, x = block.x + i % 2 * QFZ_WARP + lane;
        if (y >= at.h || x >= at.w) continue;
        const uint32_t run = runs.before[i] + (uint32_t)__popc(runs.starts[i] & up_to(lane)) - 1;
        d_px[(int64_t)y * at.w + x] =
            runs.valid[i] >> lane & 1 ? runs.label[run] : (uint32_t)OUT::INVALID;
    }
}

template <typename OUT>
static __global__ void __launch_bounds__(WORDS)
    k_write_px(layout at, bool aligned, OUT out, uint32_t *d_px)
{
    __shared__ block_runs runs;
    const block_place block = place_of(at, blockIdx.x);
    const int word = (int)threadIdx.x;
    runs.starts[word] = at.starts[(int64_t)blockIdx.x * WORDS + word];
    runs.valid[word] = at.valid[(int64_t)blockIdx.x * WORDS + word];
    uint32_t n_runs;
    runs.before[word] = sum_before((uint32_t)__popc(runs.starts[word]), runs.sums, &n_runs);
    label_runs(at, block, n_runs, out, &runs);
    if (aligned)
        write_fours<OUT>(at, block, runs, d_px);
    else
        write_ones<OUT>(at, block, runs, d_px);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename OUT>
static qfz_status write_px(qfz_gpu *gpu, const layout &at, const OUT &out, uint32_t *d_px)
{
    const bool aligned = at.w % 4 == 0 && reinterpret_cast<uintptr_t>(d_px) % 16 == 0;
    return qfz_launch(gpu, k_write_px<OUT>, dim3((unsigned)at.n_blocks), dim3(WORDS), 0, at,
                      aligned, out, d_px);
}

static qfz_status write_roots(qfz_gpu *gpu, const layout &at, uint32_t *d_root)
{
    QFZ_TRY(qfz_launch(gpu, k_flatten_ring, dim3((unsigned)at.n_blocks), dim3(RING_LANES), 0, at));
    return write_px(gpu, at, roots_out{}, d_root);
}

/* The plane of joins, where values cannot be compared as they are read; else NULL. */
static uint8_t *take_joins(qfz_carve *carve, const qfz_rule *rule, int32_t h, int32_t w)
{
    uint8_t *d_joins = NULL;
    if (!qfz_blocks_read_values(rule)) qfz_carve_take(carve, &d_joins, (int64_t)h * w);
    return d_joins;
}

static qfz_status link_image(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             uint8_t *d_joins, const layout *at)
{
    if (!d_joins) return qfz_blocks_link(gpu, image, rule, at);
    QFZ_TRY(qfz_gpu_joins(gpu, image, rule, d_joins));
    return qfz_blocks_link_joins(gpu, d_joins, rule->connectivity, at);
}

size_t qfz_gpu_components_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_carve carve = {};
    (void)qfz_blocks_take(&carve, h, w);
    (void)take_joins(&carve, rule, h, w);
    return carve.used;
}

qfz_status qfz_gpu_components(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t *d_root)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    layout at = qfz_blocks_take(&carve, image->h, image->w);
    uint8_t *const d_joins = take_joins(&carve, rule, image->h, image->w);
    at.parent = d_root;
    QFZ_TRY(link_image(gpu, image, rule, d_joins, &at));
    return write_roots(gpu, at, d_root);
}

qfz_status qfz_gpu_components_of_joins(qfz_gpu *gpu, const uint8_t *d_joins, int32_t h, int32_t w,
                                       int connectivity, void *d_scratch, uint32_t *d_root)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    layout at = qfz_blocks_take(&carve, h, w);
    at.parent = d_root;
    QFZ_TRY(qfz_blocks_link_joins(gpu, d_joins, connectivity, &at));
    return write_roots(gpu, at, d_root);
}

static firsts_view take_firsts(qfz_carve *carve, layout *at, void **scan)
{
    firsts_view firsts;
    firsts.n = (int64_t)at->n_blocks * SIDE;
    qfz_carve_take(carve, &at->parent, (int64_t)at->h * at->w);
    qfz_carve_take(carve, &firsts.bits, (int64_t)at->n_blocks * WORDS);
    qfz_carve_take(carve, &firsts.counts, firsts.n + 1);
    qfz_carve_take(carve, &firsts.before, firsts.n + 1);
    *scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(firsts.n + 1));
    return firsts;
}

size_t qfz_gpu_components_number_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_carve carve = {};
    void *scan;
    layout at = qfz_blocks_take(&carve, h, w);
    (void)take_joins(&carve, rule, h, w);
    (void)take_firsts(&carve, &at, &scan);
    return carve.used;
}

qfz_status qfz_gpu_components_number(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                     void *d_scratch, const qfz_gpu_regions *regions)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    void *scan;
    layout at = qfz_blocks_take(&carve, image->h, image->w);
    uint8_t *const d_joins = take_joins(&carve, rule, image->h, image->w);
    const firsts_view firsts = take_firsts(&carve, &at, &scan);
    const labels_out out = {firsts, regions->d_count, regions->d_spans};
    const size_t span_words = ((size_t)image->h * (size_t)image->w + 31) / 32;
    const dim3 grid((unsigned)at.n_blocks), block(WORDS);
    QFZ_TRY(link_image(gpu, image, rule, d_joins, &at));
    QFZ_TRY_CUDA(gpu->err,
                 cudaMemsetAsync(regions->d_spans, 0, span_words * sizeof(uint32_t), gpu->stream));
    QFZ_TRY(qfz_launch(gpu, k_flatten_ring, grid, dim3(RING_LANES), 0, at));
    QFZ_TRY(qfz_launch(gpu, k_find_firsts, grid, block, 0, at, firsts));
    QFZ_TRY(qfz_gpu_scan(gpu, scan, firsts.counts, firsts.before, firsts.n + 1));
    QFZ_TRY(qfz_launch(gpu, k_number_firsts, grid, block, 0, at, firsts, *regions));
    return write_px(gpu, at, out, regions->d_label);
}
