/* SPDX-License-Identifier: MIT */
/* stava.cu - method stava: Šťava, Beneš, Connected Component Labeling in CUDA (GPU Computing Gems
 * Emerald Edition, chapter 35, 2011).
 *
 * Kernel 1 solves tiles in shared memory, kernel 2 joins 4 x 4 tiles, then 4 x 4 of these groups
 * and so on, kernel 3 flattens the trees of border pixels between two levels, and kernel 4 flattens
 * all. The paper repeats kernel 2 until nothing changes, since concurrent unions may undo one
 * another. Here the thread that overwrites a union joins it again (union_find.cuh), so that a level
 * is one launch over all its lines, and any height and width is accepted. Kernels 2 and 4 are in
 * tiles.cuh.
 *
 * Memory traffic, bytes a pixel: the input is read once; parents are written twice and read once, 4
 * each; at the lines of the first level 3 pixels of 32 and some sectors more are accessed. */
#include "gpu/published/tiles.cuh"

enum { GROUP = 4 };

/* Bit d: the pixel is joined to the neighbour at (d / 3 - 1, d % 3 - 1). */
template <bool EIGHT> static QFZ_DEVICE unsigned neighbours(const qfz_tile &tile, int index)
{
    unsigned bits = 0;
    QFZ_EACH (d, 9)
        if (d != 4 && (EIGHT || d % 2))
            bits |= (unsigned)tile.joins(index, d / 3 - 1, d % 3 - 1) << d;
    return bits;
}

/* The least label of a pixel and the pixels to which it is joined. */
template <bool EIGHT>
static QFZ_DEVICE uint32_t least_around(const uint32_t *label, int index, uint32_t own,
                                        unsigned bits)
{
    QFZ_EACH (d, 9)
        if (d != 4 && (EIGHT || d % 2) && (bits >> d & 1))
            own = min(own, label[index + (d / 3 - 1) * QFZ_TILE_SIDE + d % 3 - 1]);
    return own;
}

/* Kernel 1. Labels are local indices. Each round links the root of every pixel's label to the least
 * label around the pixel, then flattens. Labels only decrease, so the rounds end. Then joined
 * pixels have equal labels, and a component's label is its least index. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_TILE_SIDE *QFZ_TILE_ROWS, 4)
    k_solve_tiles(SOURCE source, uint32_t *parent)
{
    __shared__ qfz_tile tile;
    __shared__ uint32_t label[QFZ_TILE_PX];
    const qfz_tile_place at(source.w);
    uint32_t own[QFZ_TILE_EACH], least[QFZ_TILE_EACH];
    unsigned bits[QFZ_TILE_EACH];
    tile.load(source, at.y0, at.x0);
    __syncthreads();
    QFZ_EACH (k, QFZ_TILE_EACH) {
        own[k] = (uint32_t)at.index(k);
        bits[k] = neighbours<EIGHT>(tile, at.index(k));
    }
    for (;;) {
        bool changed = false;
        QFZ_EACH (k, QFZ_TILE_EACH)
            label[at.index(k)] = own[k];
        __syncthreads();
        QFZ_EACH (k, QFZ_TILE_EACH)
            least[k] = least_around<EIGHT>(label, at.index(k), own[k], bits[k]);
        __syncthreads();
        QFZ_EACH (k, QFZ_TILE_EACH) {
            if (least[k] >= own[k]) continue;
            atomicMin(label + own[k], least[k]);
            changed = true;
        }
        if (!__syncthreads_or(changed)) break;
        QFZ_EACH (k, QFZ_TILE_EACH)
            own[k] = qfz_find<qfz_in_shared>(label, own[k]);
        __syncthreads();
    }
    qfz_tile_store(
        source, tile, at, [&](int k) { return own[k]; }, parent);
}

/* Kernel 3: flattens the trees of the pixels at the next level's lines. A root that another thread
 * reads in place of an old parent is an ancestor, too. */
static __global__ void __launch_bounds__(QFZ_LINE_BLOCK)
    k_flatten(qfz_lines lines, uint32_t n, uint32_t *parent)
{
    const uint32_t i = blockIdx.x * QFZ_LINE_BLOCK + threadIdx.x;
    if (i >= n) return;
    const qfz_facing f = qfz_facing_at(lines, i);
    for (int64_t p = f.near;; p = f.near + f.across) {
        if (parent[p] != QFZ_NONE) parent[p] = qfz_find<qfz_in_cache>(parent, (uint32_t)p);
        if (p != f.near) return;
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <bool EIGHT, typename SOURCE>
static qfz_status launch(qfz_gpu *gpu, const SOURCE &source, uint32_t *d_root)
{
    const int64_t longest = max(source.h, source.w);
    QFZ_TRY(qfz_launch(gpu, k_solve_tiles<EIGHT, SOURCE>, qfz_tile_grid(source.h, source.w),
                       dim3(QFZ_TILE_SIDE, QFZ_TILE_ROWS), 0, source, d_root));
    for (int64_t side = QFZ_TILE_SIDE; side < longest; side *= GROUP) {
        const qfz_lines lines = {source.h, source.w, (int32_t)side, (int32_t)side, true};
        const uint32_t n = (uint32_t)lines.size();
        if (side > QFZ_TILE_SIDE)
            QFZ_TRY(qfz_launch_each(gpu, k_flatten, n, QFZ_LINE_BLOCK, lines, n, d_root));
        QFZ_TRY((qfz_join_tiles<EIGHT>(gpu, source, lines, d_root)));
    }
    return qfz_find_roots(gpu, (int64_t)source.h * source.w, d_root);
}

qfz_status qfz_gpu_stava(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                         uint32_t *d_root)
{
    return qfz_label_source(gpu, image, connectivity, [&](const auto &source, auto eight) {
        return launch<decltype(eight)::value>(gpu, source, d_root);
    });
}
