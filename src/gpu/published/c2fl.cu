/* SPDX-License-Identifier: MIT */
/* c2fl.cu - method c2fl: Chen et al., Efficient parallel connected components labeling with a
 * coarse-to-fine strategy (2018). 4-connected as in the paper; 8-connected is an extension.
 *
 * In a tile in shared memory, coarse labeling links every pixel to the one above or else to the one
 * on its left, without atomic operations, and unifies these lists. The lists that remain apart meet
 * where a pixel has both neighbours, and the refinement unites them along rows. Then the borders of
 * tiles are joined (algorithm 2), and a last kernel finds the roots (tiles.cuh).
 *
 * Memory traffic, bytes a pixel: the input is read once; parents are written twice and read once, 4
 * each; at the lines between tiles 1 pixel of 16 and some sectors more are accessed. */
#include "gpu/published/tiles.cuh"

/* The neighbour to which a pixel is linked first, or the pixel itself. 8-connected: diagonals come
 * last; only one to the upper right can remain, of a pixel with a left neighbour. */
template <bool EIGHT> static QFZ_DEVICE uint32_t coarse_parent(const qfz_tile &tile, int index)
{
    if (tile.joins(index, -1, 0)) return (uint32_t)(index - QFZ_TILE_SIDE);
    if (tile.joins(index, 0, -1)) return (uint32_t)(index - 1);
    if (EIGHT && tile.joins(index, -1, -1)) return (uint32_t)(index - QFZ_TILE_SIDE - 1);
    if (EIGHT && tile.joins(index, -1, 1)) return (uint32_t)(index - QFZ_TILE_SIDE + 1);
    return (uint32_t)index;
}

/* A neighbour that is joined to a pixel but may be in another list, or the pixel itself. The left
 * neighbour is in the same list if the two pixels above are joined, too: their lists are the same,
 * by induction upwards. */
template <bool EIGHT> static QFZ_DEVICE uint32_t fine_parent(const qfz_tile &tile, int index)
{
    const bool above = tile.joins(index, -1, 0);
    if (above && tile.joins(index, 0, -1) && !tile.joins(index, -1, -1))
        return (uint32_t)(index - 1);
    if (EIGHT && !above && tile.joins(index, -1, 1)) return (uint32_t)(index - QFZ_TILE_SIDE + 1);
    return (uint32_t)index;
}

/* Algorithm 1 of the paper. While lists are unified a thread writes roots only; another thread may
 * read such a root in place of the link, harmlessly. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_TILE_SIDE *QFZ_TILE_ROWS)
    k_solve_tiles(SOURCE source, uint32_t *parent)
{
    __shared__ qfz_tile tile;
    __shared__ uint32_t label[QFZ_TILE_PX];
    const qfz_tile_place at(source.w);
    tile.load(source, at.y0, at.x0);
    __syncthreads();
    QFZ_EACH (k, QFZ_TILE_EACH)
        label[at.index(k)] = coarse_parent<EIGHT>(tile, at.index(k));
    __syncthreads();
    QFZ_EACH (k, QFZ_TILE_EACH)
        qfz_in_shared::write(label + at.index(k),
                             qfz_find<qfz_in_shared>(label, (uint32_t)at.index(k)));
    __syncthreads();
    QFZ_EACH (k, QFZ_TILE_EACH) {
        const uint32_t own = (uint32_t)at.index(k), other = fine_parent<EIGHT>(tile, at.index(k));
        if (other != own) qfz_unite<qfz_in_shared>(label, own, other);
    }
    __syncthreads();
    qfz_tile_store(
        source, tile, at,
        [&](int k) { return qfz_find<qfz_in_shared>(label, (uint32_t)at.index(k)); }, parent);
}

template <bool EIGHT, typename SOURCE>
static qfz_status launch(qfz_gpu *gpu, const SOURCE &source, uint32_t *d_root)
{
    const qfz_lines lines = {source.h, source.w, QFZ_TILE_SIDE, QFZ_TILE_SIDE, false};
    QFZ_TRY(qfz_launch(gpu, k_solve_tiles<EIGHT, SOURCE>, qfz_tile_grid(source.h, source.w),
                       dim3(QFZ_TILE_SIDE, QFZ_TILE_ROWS), 0, source, d_root));
    QFZ_TRY((qfz_join_tiles<EIGHT>(gpu, source, lines, d_root)));
    return qfz_find_roots(gpu, (int64_t)source.h * source.w, d_root);
}

qfz_status qfz_gpu_c2fl(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                        uint32_t *d_root)
{
    return qfz_label_source(gpu, image, connectivity, [&](const auto &source, auto eight) {
        return launch<decltype(eight)::value>(gpu, source, d_root);
    });
}
