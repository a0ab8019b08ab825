/* SPDX-License-Identifier: MIT */
#include "gpu/curve/level_counts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

enum {
    THREADS = 512,
    EACH = QFZ_FOREST_BLOCK_PX / THREADS, /* pixels of a thread */
    LOW = 1024 /* levels below this one are first counted in shared memory */
};

namespace
{
/* What becomes of levels: they are counted, one by one or above limits, or listed.  All lanes of a
 * warp call add(). */
struct counted {
    unsigned long long *bins;

    QFZ_DEVICE void add(uint32_t *low, bool is, uint32_t level) const
    {
        if (!is) return;
        if (level < LOW)
            atomicAdd(&low[level], 1u);
        else
            atomicAdd(&bins[level], 1ull);
    }

    QFZ_DEVICE void begin(uint32_t *low) const
    {
        for (uint32_t i = threadIdx.x; i < LOW; i += THREADS)
            low[i] = 0;
        __syncthreads();
    }

    QFZ_DEVICE void end(const uint32_t *low) const
    {
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < LOW; i += THREADS)
            if (low[i]) atomicAdd(&bins[i], (unsigned long long)low[i]);
    }
};

struct listed {
    uint32_t *levels, *n;

    QFZ_DEVICE void add(uint32_t *, bool is, uint32_t level) const
    {
        const uint32_t at = qfz_take_one(n, is);
        if (is) levels[at] = level;
    }

    QFZ_DEVICE void begin(uint32_t *) const
    {
    }
    QFZ_DEVICE void end(const uint32_t *) const
    {
    }
};

/* The numbers of those above some limits. */
struct above {
    uint32_t limit[QFZ_LEVEL_LIMITS], *n;

    QFZ_DEVICE void add(uint32_t *low, bool is, uint32_t level) const
    {
        QFZ_EACH (i, QFZ_LEVEL_LIMITS) {
            const uint32_t found = __ballot_sync(QFZ_ALL_LANES, is && level > limit[i]);
            if (found && threadIdx.x % QFZ_WARP == 0) atomicAdd(&low[i], (uint32_t)__popc(found));
        }
    }

    QFZ_DEVICE void begin(uint32_t *low) const
    {
        if (threadIdx.x < QFZ_LEVEL_LIMITS) low[threadIdx.x] = 0;
        __syncthreads();
    }

    QFZ_DEVICE void end(const uint32_t *low) const
    {
        __syncthreads();
        if (threadIdx.x < QFZ_LEVEL_LIMITS) atomicAdd(&n[threadIdx.x], low[threadIdx.x]);
    }
};

struct count_memory {
    uint32_t low[LOW];
    uint32_t
        least[QFZ_COMPS]; /* of a component's tops; QFZ_NONE once a pixel has left its own out */
};

/* The top and the component of a thread's pixels; QFZ_NO_COMP where there is none. */
template <typename TOP> struct some_tops {
    uint32_t top[EACH], comp[EACH];

    QFZ_DEVICE void load(const qfz_gpu_forest &forest, qfz_block_box box)
    {
        QFZ_EACH (k, EACH) {
            const int p = (int)threadIdx.x + k * THREADS, y = p / QFZ_SIDE, x = p % QFZ_SIDE;
            const bool is = y < box.h && x < box.w;
            comp[k] = is ? qfz_comps<TOP>(forest, box, y)[x] : (uint32_t)QFZ_NO_COMP;
            top[k] = is ? qfz_tops<TOP>(forest, box, y)[x] : 0;
        }
    }
};
} // namespace

/* True for one pixel of each component: the first to come of those with the least top. */
static QFZ_DEVICE bool leaves_out(uint32_t *least, uint32_t top)
{
    return *static_cast<volatile uint32_t *>(least) == top &&
           atomicCAS(least, top, QFZ_NONE) == top;
}

template <typename TOP, typename OUT>
static QFZ_DEVICE void add_pixels(const qfz_gpu_forest &forest, qfz_block_box box, count_memory &m,
                                  const OUT &out)
{
    some_tops<TOP> px;
    for (uint32_t c = threadIdx.x; c < QFZ_COMPS; c += THREADS)
        m.least[c] = QFZ_NONE;
    px.load(forest, box);
    __syncthreads();
    QFZ_EACH (k, EACH)
        if (px.comp[k] != QFZ_NO_COMP) qfz_lower(&m.least[px.comp[k]], px.top[k]);
    __syncthreads();
    QFZ_EACH (k, EACH) {
        const bool is = px.comp[k] != QFZ_NO_COMP && !leaves_out(&m.least[px.comp[k]], px.top[k]);
        out.add(m.low, is, px.top[k]);
    }
}

template <typename KEY, typename OUT>
static QFZ_DEVICE void add_components(const qfz_gpu_forest &forest, uint32_t block, count_memory &m,
                                      const OUT &out)
{
    const uint32_t n = forest.block[block].y, lane = threadIdx.x % QFZ_WARP;
    for (uint32_t c = threadIdx.x; c - lane < n; c += THREADS) {
        const KEY hook = c < n ? qfz_hook_at<KEY>(forest, block, c) : (KEY)QFZ_STEP_ENDED;
        const uint32_t step = (uint32_t)hook & 0xffff;
        out.add(m.low, step >> QFZ_STEP_BITS != QFZ_STEP_ROOT, (uint32_t)(hook >> 16));
    }
}

template <typename KEY, typename OUT>
static __global__ void __launch_bounds__(THREADS) k_count_blocks(qfz_gpu_forest forest, OUT out)
{
    __shared__ count_memory m;
    out.begin(m.low);
    for (uint32_t block = blockIdx.x; block < (uint32_t)forest.n_blocks; block += gridDim.x) {
        add_pixels<typename qfz_top_of<KEY>::type>(forest, qfz_block_of(forest, block), m, out);
        add_components<KEY>(forest, block, m, out);
        __syncthreads();
    }
    out.end(m.low);
}

template <typename OUT>
static __global__ void __launch_bounds__(THREADS) k_count_vertices(qfz_gpu_forest forest, OUT out)
{
    __shared__ uint32_t low[LOW];
    const uint32_t n = forest.count[QFZ_COUNT_VERTICES], lane = threadIdx.x % QFZ_WARP;
    out.begin(low);
    for (uint64_t v = (uint64_t)blockIdx.x * THREADS + threadIdx.x; v - lane < n;
         v += (uint64_t)gridDim.x * THREADS) {
        const uint2 up = v < n ? forest.up[v] : make_uint2(QFZ_UP_ROOT, 0);
        out.add(low, (up.x & QFZ_UP_ROOT) != QFZ_UP_ROOT, up.y);
    }
    out.end(low);
}

template <typename OUT>
static qfz_status add_all(qfz_gpu *gpu, const qfz_gpu_forest *forest, const OUT &out)
{
    const dim3 grid = qfz_launch_grid(gpu, forest->n_blocks, 1, 4), block(THREADS);
    QFZ_TRY(
        forest->wide
            ? qfz_launch(gpu, k_count_blocks<unsigned long long, OUT>, grid, block, 0, *forest, out)
            : qfz_launch(gpu, k_count_blocks<uint32_t, OUT>, grid, block, 0, *forest, out));
    return qfz_launch(gpu, k_count_vertices<OUT>,
                      qfz_launch_grid(gpu, forest->vertex_room, THREADS, 4), block, 0, *forest,
                      out);
}

qfz_status qfz_gpu_levels_count(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                                unsigned long long *d_bins)
{
    return add_all(gpu, forest, counted{d_bins});
}

qfz_status qfz_gpu_levels_list(qfz_gpu *gpu, const qfz_gpu_forest *forest, uint32_t *d_levels,
                               uint32_t *d_n)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_n, 0, 1));
    return add_all(gpu, forest, listed{d_levels, d_n});
}

qfz_status qfz_gpu_levels_above(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                                const uint32_t limit[QFZ_LEVEL_LIMITS], uint32_t *d_n)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_n, 0, QFZ_LEVEL_LIMITS));
    return add_all(gpu, forest, above{{limit[0], limit[1]}, d_n});
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The first of items first .. n - 1 that is at least `level`. */
static QFZ_DEVICE uint32_t first_from(const uint32_t *__restrict__ items, uint32_t first,
                                      uint32_t n, uint64_t level)
{
    while (first < n) {
        const uint32_t middle = first + (n - first) / 2;
        if (items[middle] < level)
            first = middle + 1;
        else
            n = middle;
    }
    return first;
}

static __global__ void __launch_bounds__(THREADS)
    k_find_runs(const uint32_t *__restrict__ levels, uint32_t n, uint32_t first, uint32_t end,
                const uint32_t *__restrict__ links, uint32_t n_links, qfz_gpu_level_run *runs,
                uint32_t *n_runs)
{
    const uint32_t i = first + blockIdx.x * THREADS + threadIdx.x;
    qfz_gpu_level_run run = {0, 0};
    if (i < end && (i == 0 || levels[i - 1] != levels[i])) {
        const uint64_t next = (uint64_t)levels[i] + 1;
        const uint32_t link = first_from(links, 0, n_links, levels[i]);
        run.level = levels[i];
        run.n =
            first_from(levels, i, n, next) - i - (first_from(links, link, n_links, next) - link);
    }
    const uint32_t at = qfz_take_one(n_runs, run.n > 0);
    if (run.n > 0) runs[at] = run;
}

qfz_status qfz_gpu_level_runs(qfz_gpu *gpu, const uint32_t *d_levels, uint32_t n, uint32_t first,
                              uint32_t end, const uint32_t *d_links, uint32_t n_links,
                              qfz_gpu_level_run *d_runs, uint32_t *d_n)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_n, 0, 1));
    return qfz_launch_each(gpu, k_find_runs, (int64_t)end - first, THREADS, d_levels, n, first, end,
                           d_links, n_links, d_runs, d_n);
}
