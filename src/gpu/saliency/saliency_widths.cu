/* SPDX-License-Identifier: MIT */
/* saliency_widths.cu - how wide the levels of a tile's joins are.
 *
 * The hooks of a block lie in no array, but the saliency of an edge that is closed in a block is
 * the greatest level of hooks on its path, and so are the levels that open edges start with.  The
 * edge of a hook is among them; so the greatest of these values is the greatest level of the
 * block's hooks.  Of the graph of all blocks the hooks are counted. */
#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/saliency/saliency.cuh"

enum { THREADS = 256 };

namespace
{
struct planes_of_levels {
    const void *levels;
    int n_planes;
    qfz_pixel_grid grid;
    const uint32_t *edges; /* NULL; or the levels of edges, QFZ_NONE where there is no edge */
};
} // namespace

/* True if the edge exists and both of its pixels lie in one block. */
static QFZ_DEVICE bool is_in_block(const planes_of_levels &p, int dir, int64_t px)
{
    const int64_t y = px / p.grid.w, to_y = y + qfz_step_y(dir);
    const int64_t x = px % p.grid.w, to_x = x + qfz_step_x(dir);
    if (p.edges && p.edges[dir * (int64_t)p.grid.h * p.grid.w + px] == QFZ_NONE) return false;
    return to_y / QFZ_SIDE == y / QFZ_SIDE && to_x / QFZ_SIDE == x / QFZ_SIDE &&
           p.grid.has_edge(px, dir);
}

/* *largest = the greatest level.  The greatest value of T stands for edges that do not exist, and
 * may stand where a block has not closed an edge that leaves it; of 16 bits it is also a level. The
 * joins of edges that leave a block are hooks of the graph, which k_count() looks at. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) k_largest(planes_of_levels p, uint32_t *largest)
{
    const int64_t n_px = (int64_t)p.grid.h * p.grid.w, n = n_px * p.n_planes;
    const T *const levels = static_cast<const T *>(p.levels);
    uint32_t most = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        const T level = levels[i];
        const bool may_be_none = level == (T)QFZ_NONE;
        if (may_be_none && (sizeof(T) == 4 || !is_in_block(p, (int)(i / n_px), i % n_px))) continue;
        most = max(most, (uint32_t)level);
    }
    if (most > *static_cast<volatile uint32_t *>(largest)) atomicMax(largest, most);
}

/* Adds the hooks of the graph of all blocks whose levels are above each limit. */
static __global__ void __launch_bounds__(THREADS) k_count(qfz_gpu_forest forest, uint32_t *n_above)
{
    const uint32_t limits[QFZ_WIDTH_LIMITS] = {UINT8_MAX - 1, UINT16_MAX - 1};
    const int64_t n = forest.count[QFZ_COUNT_VERTICES];
    uint32_t found[QFZ_WIDTH_LIMITS] = {};
    for (int64_t v = (int64_t)blockIdx.x * THREADS + threadIdx.x; v < n;
         v += (int64_t)gridDim.x * THREADS) {
        const uint2 up = forest.up[v];
        if ((up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT) continue;
        for (int i = 0; i < QFZ_WIDTH_LIMITS; i++)
            found[i] += up.y > limits[i];
    }
    for (int i = 0; i < QFZ_WIDTH_LIMITS; i++)
        if (found[i]) atomicAdd(&n_above[i], found[i]);
}

qfz_status qfz_saliency_widths(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                               const qfz_saliency_blocks *blocks, const void *d_planes,
                               qfz_gpu_widths *d_widths)
{
    const int n_planes = blocks->made_late ? 2 : edges->connectivity / 2;
    const planes_of_levels p = {
        d_planes, n_planes, {edges->h, edges->w, edges->d_valid}, edges->d_levels};
    const dim3 grid((unsigned)gpu->n_sms * 8), block(THREADS);
    QFZ_TRY(qfz_gpu_fill(gpu, d_widths, 0, 1));
    QFZ_TRY(qfz_launch(gpu, qfz_gpu_is_narrow(edges) ? k_largest<uint16_t> : k_largest<uint32_t>,
                       grid, block, 0, p, &d_widths->largest));
    return qfz_launch(gpu, k_count, grid, block, 0, blocks->forest, d_widths->n_above);
}
