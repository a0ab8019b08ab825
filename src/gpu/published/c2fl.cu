/* SPDX-License-Identifier: MIT */
/* c2fl.cu - labels by tiles in shared memory, coarsely first.
 *
 * Chen et al., Efficient parallel connected components labeling with a coarse-to-fine strategy
 * (2018).  In a tile every pixel is linked to the one above it, or else to the one on its left,
 * without atomics; the lists are unified; what this leaves apart meets where a pixel has both, and
 * is joined along rows.  Then the borders of tiles are joined, and a last kernel finds the roots.
 *
 * Bytes a pixel: the input read once, parents written twice and read once, 4 each; at the lines
 * between tiles, 1 pixel of 16, some sectors more. */
#include "gpu/published/published.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/published/tiles.cuh"

enum { LINE_BLOCK = 256 };

/* The neighbour that a pixel is linked to at first, or the pixel.  8-connected: the diagonals last;
 * then only a diagonal to the upper right can be missing, of a pixel with one on its left. */
template <bool EIGHT>
static __device__ __forceinline__ uint32_t coarse_parent(const qfz_tile &tile, int index)
{
    if (tile.joins(index, -1, 0)) return (uint32_t)(index - QFZ_TILE_SIDE);
    if (tile.joins(index, 0, -1)) return (uint32_t)(index - 1);
    if (EIGHT && tile.joins(index, -1, -1)) return (uint32_t)(index - QFZ_TILE_SIDE - 1);
    if (EIGHT && tile.joins(index, -1, 1)) return (uint32_t)(index - QFZ_TILE_SIDE + 1);
    return (uint32_t)index;
}

/* The neighbour that is joined to a pixel but may not be in its list, or the pixel.  The one on the
 * left is, if the two above them are joined too: then those are, as far up as it takes. */
template <bool EIGHT>
static __device__ __forceinline__ uint32_t fine_parent(const qfz_tile &tile, int index)
{
    const bool above = tile.joins(index, -1, 0);
    if (above && tile.joins(index, 0, -1) && !tile.joins(index, -1, -1))
        return (uint32_t)(index - 1);
    if (EIGHT && !above && tile.joins(index, -1, 1)) return (uint32_t)(index - QFZ_TILE_SIDE + 1);
    return (uint32_t)index;
}

/* Algorithm 1.  While lists are unified, what a thread writes is a root, which others may read
 * instead of the link that it replaces. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_TILE_SIDE *QFZ_TILE_ROWS)
    k_solve_tiles(SOURCE source, uint32_t *parent)
{
    __shared__ qfz_tile tile;
    __shared__ uint32_t label[QFZ_TILE_PX];
    const qfz_tile_place at(source.w);
    tile.load(source, at.y0, at.x0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < QFZ_TILE_EACH; k++)
        label[at.index(k)] = coarse_parent<EIGHT>(tile, at.index(k));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < QFZ_TILE_EACH; k++)
        qfz_in_shared::write(label + at.index(k),
                             qfz_find<qfz_in_shared>(label, (uint32_t)at.index(k)));
    __syncthreads();
#pragma unroll
    for (int k = 0; k < QFZ_TILE_EACH; k++) {
        const uint32_t own = (uint32_t)at.index(k), other = fine_parent<EIGHT>(tile, at.index(k));
        if (other != own) qfz_unite<qfz_in_shared>(label, own, other);
    }
    __syncthreads();
    qfz_tile_store(
        source, tile, at,
        [&](int k) { return qfz_find<qfz_in_shared>(label, (uint32_t)at.index(k)); }, parent);
}

/* Algorithm 2. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(LINE_BLOCK)
    k_join_tiles(SOURCE source, qfz_lines lines, uint32_t n, uint32_t *parent)
{
    const uint32_t i = blockIdx.x * LINE_BLOCK + threadIdx.x;
    if (i < n) qfz_join_facing<EIGHT>(source, parent, qfz_facing_at(lines, i));
}

static __global__ void __launch_bounds__(QFZ_UPDATE_BLOCK) k_update(int64_t n_px, uint32_t *root)
{
    qfz_update(root, n_px);
}

template <bool EIGHT, typename SOURCE>
static qfz_status launch(qfz_gpu *gpu, const SOURCE &source, uint32_t *d_root)
{
    const qfz_lines lines = {source.h, source.w, QFZ_TILE_SIDE, QFZ_TILE_SIDE, false};
    const int64_t n_px = (int64_t)source.h * source.w;
    const uint32_t n = (uint32_t)lines.size();
    QFZ_TRY(qfz_launch(gpu, k_solve_tiles<EIGHT, SOURCE>, qfz_tile_grid(source.h, source.w),
                       dim3(QFZ_TILE_SIDE, QFZ_TILE_ROWS), 0, source, d_root));
    QFZ_TRY(qfz_launch(gpu, k_join_tiles<EIGHT, SOURCE>, dim3(qfz_blocks(n, LINE_BLOCK)),
                       dim3(LINE_BLOCK), 0, source, lines, n, d_root));
    return qfz_launch(gpu, k_update, dim3(qfz_blocks(n_px, QFZ_UPDATE_BLOCK * QFZ_UPDATE_EACH)),
                      dim3(QFZ_UPDATE_BLOCK), 0, n_px, d_root);
}

qfz_status qfz_gpu_c2fl(qfz_gpu *gpu, const qfz_gpu_segments *segments, uint32_t *d_root)
{
    return qfz_label_source(gpu, segments, [&](const auto &source) {
        return segments->connectivity == 8 ? launch<true>(gpu, source, d_root)
                                           : launch<false>(gpu, source, d_root);
    });
}
