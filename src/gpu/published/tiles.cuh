/* SPDX-License-Identifier: MIT */
/* tiles.cuh - what stava and c2fl share: a tile's pixels in shared memory, the kernel that joins
 * tiles across the lines between them, and the last kernel, which finds all roots. */
#pragma once

#include "gpu/device/launch.cuh"
#include "gpu/published/segments.cuh"
#include "gpu/device/union_find.cuh"

/* A tile of SIDE x SIDE pixels is a block of SIDE x ROWS threads; a thread has EACH pixels of a
 * column. Local indices are row * SIDE + column, in raster order. */
enum {
    QFZ_TILE_SIDE = 32,
    QFZ_TILE_ROWS = 8,
    QFZ_TILE_EACH = QFZ_TILE_SIDE / QFZ_TILE_ROWS,
    QFZ_TILE_PX = QFZ_TILE_SIDE * QFZ_TILE_SIDE
};

/* A tile's pixels, surrounded by invalid ones so that every neighbour exists. */
struct qfz_tile {
    enum { STRIDE = QFZ_TILE_SIDE + 2, CELLS = STRIDE * STRIDE };
    uint32_t value[CELLS];
    uint8_t valid[CELLS];

    /* All threads of the block call; a barrier must follow. */
    template <typename SOURCE> QFZ_DEVICE void load(const SOURCE &source, int32_t y0, int32_t x0)
    {
        const int thread = (int)(threadIdx.y * QFZ_TILE_SIDE + threadIdx.x);
        for (int cell = thread; cell < CELLS; cell += QFZ_TILE_SIDE * QFZ_TILE_ROWS) {
            const int row = cell / STRIDE - 1, column = cell % STRIDE - 1;
            const int32_t y = y0 + row, x = x0 + column;
            const int64_t p = (int64_t)y * source.w + x;
            const bool is = row >= 0 && row < QFZ_TILE_SIDE && column >= 0 &&
                            column < QFZ_TILE_SIDE && y < source.h && x < source.w &&
                            source.is_valid(p);
            valid[cell] = is;
            value[cell] = is ? source.value(p) : 0;
        }
    }

    /* The cell of a local index. */
    static QFZ_DEVICE int cell_of(int index)
    {
        return (index / QFZ_TILE_SIDE + 1) * STRIDE + index % QFZ_TILE_SIDE + 1;
    }

    /* True if a pixel is joined to the one dy rows and dx columns further. */
    QFZ_DEVICE bool joins(int index, int dy, int dx) const
    {
        const int cell = cell_of(index), other = cell + dy * STRIDE + dx;
        return valid[cell] && valid[other] && value[cell] == value[other];
    }
};

/* The grid of a launch over all tiles. */
static inline dim3 qfz_tile_grid(int32_t h, int32_t w)
{
    const int64_t across = (w - 1) / QFZ_TILE_SIDE + 1, down = (h - 1) / QFZ_TILE_SIDE + 1;
    return dim3((unsigned)(across * down));
}

/* The first pixel of the block's tile; index(k): the local index of this thread's k-th pixel. */
struct qfz_tile_place {
    int32_t y0, x0;

    QFZ_DEVICE explicit qfz_tile_place(int32_t w)
    {
        const int32_t across = (w - 1) / QFZ_TILE_SIDE + 1;
        y0 = (int32_t)blockIdx.x / across * QFZ_TILE_SIDE;
        x0 = (int32_t)blockIdx.x % across * QFZ_TILE_SIDE;
    }
    QFZ_DEVICE int index(int k) const
    {
        return ((int)threadIdx.y + k * QFZ_TILE_ROWS) * QFZ_TILE_SIDE + (int)threadIdx.x;
    }
    /* The index in the image of a local index. */
    QFZ_DEVICE uint32_t global(uint32_t index, int32_t w) const
    {
        return (uint32_t)(y0 + (int32_t)(index / QFZ_TILE_SIDE)) * (uint32_t)w +
               (uint32_t)(x0 + (int32_t)(index % QFZ_TILE_SIDE));
    }
};

/* Stores parent[] of this thread's pixels; find(k): the local root of the k-th. */
template <typename SOURCE, typename FIND>
QFZ_DEVICE void qfz_tile_store(const SOURCE &source, const qfz_tile &tile, const qfz_tile_place &at,
                               const FIND &find, uint32_t *parent)
{
    QFZ_EACH (k, QFZ_TILE_EACH) {
        const int index = at.index(k);
        const int32_t y = at.y0 + index / QFZ_TILE_SIDE, x = at.x0 + index % QFZ_TILE_SIDE;
        if (y >= source.h || x >= source.w) continue;
        parent[(int64_t)y * source.w + x] =
            tile.valid[qfz_tile::cell_of(index)] ? at.global(find(k), source.w) : QFZ_NONE;
    }
}

/* ---- Lines between tiles --------------------------------------------------------------------- */

/* The lines between rows k * step_y - 1 and k * step_y, k >= 1, over the whole width, and between
 * columns likewise; by_four: without the lines whose k is a multiple of four. */
struct qfz_lines {
    int32_t h, w, step_y, step_x;
    bool by_four;

    __host__ __device__ int64_t count(int32_t size, int32_t step) const
    {
        const int64_t n = (size - 1) / step;
        return by_four ? n - n / 4 : n;
    }

    /* The number of pairs of pixels that face each other across a line. */
    __host__ __device__ int64_t size() const
    {
        return count(h, step_y) * w + count(w, step_x) * h;
    }
};

/* A place on a line: pixel `near` faces near + across; near + along is the next place. */
struct qfz_facing {
    int64_t near;
    int32_t across, along;
    bool is_first; /* first place of its tiles */
    bool is_last;  /* last place of its line */
};

QFZ_DEVICE qfz_facing qfz_facing_at(const qfz_lines &lines, uint32_t i)
{
    const uint32_t n_level = (uint32_t)(lines.count(lines.h, lines.step_y) * lines.w);
    const bool level = i < n_level;
    if (!level) i -= n_level;
    const int32_t length = level ? lines.w : lines.h, step = level ? lines.step_y : lines.step_x;
    const int32_t line = (int32_t)(i / (uint32_t)length), at = (int32_t)(i % (uint32_t)length);
    const int32_t k = (lines.by_four ? line + line / 3 : line) + 1;
    const int32_t edge = k * step - 1;
    qfz_facing f;
    f.near = level ? (int64_t)edge * lines.w + at : (int64_t)at * lines.w + edge;
    f.across = level ? lines.w : 1;
    f.along = level ? 1 : lines.w;
    f.is_first = at % (level ? lines.step_x : lines.step_y) == 0;
    f.is_last = at == length - 1;
    return f;
}

/* Unites the components that meet at a place: its pair and, 8-connected, the two diagonals to the
 * next place. Skips redundant joins: a pair whose two pixels are joined, inside their tiles, to the
 * pair before; a diagonal one of whose pixels is joined to the pixel beside it or across. */
template <bool EIGHT, typename SOURCE>
QFZ_DEVICE void qfz_join_facing(const SOURCE &source, uint32_t *parent, const qfz_facing &f)
{
    const int64_t a = f.near, b = a + f.across;
    const bool pair = source.joins(a, b);
    if (pair && (f.is_first || !source.joins(a, a - f.along) || !source.joins(b, b - f.along)))
        qfz_unite<qfz_in_cache>(parent, (uint32_t)a, (uint32_t)b);
    if (!EIGHT || f.is_last) return;
    const int64_t a2 = a + f.along, b2 = b + f.along;
    if (!pair && source.joins(a, b2) && !source.joins(a, a2))
        qfz_unite<qfz_in_cache>(parent, (uint32_t)a, (uint32_t)b2);
    if (!pair && source.joins(a2, b) && !source.joins(a2, b2))
        qfz_unite<qfz_in_cache>(parent, (uint32_t)a2, (uint32_t)b);
}

enum { QFZ_LINE_BLOCK = 256 };

template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_LINE_BLOCK)
    k_join_tiles(SOURCE source, qfz_lines lines, uint32_t n, uint32_t *parent)
{
    const uint32_t i = blockIdx.x * QFZ_LINE_BLOCK + threadIdx.x;
    if (i < n) qfz_join_facing<EIGHT>(source, parent, qfz_facing_at(lines, i));
}

template <bool EIGHT, typename SOURCE>
static qfz_status qfz_join_tiles(qfz_gpu *gpu, const SOURCE &source, const qfz_lines &lines,
                                 uint32_t *d_parent)
{
    const uint32_t n = (uint32_t)lines.size();
    return qfz_launch_each(gpu, k_join_tiles<EIGHT, SOURCE>, n, QFZ_LINE_BLOCK, source, lines, n,
                           d_parent);
}

/* ---- The last kernel ------------------------------------------------------------------------- */

/* root[p] = root of p. A value that another thread has stored is a root already and ends a walk
 * sooner. */
static __global__ void __launch_bounds__(QFZ_LINE_BLOCK) k_update(int64_t n_px, uint32_t *root)
{
    const int64_t p = (int64_t)blockIdx.x * QFZ_LINE_BLOCK + threadIdx.x;
    if (p < n_px && root[p] != QFZ_NONE) root[p] = qfz_find<qfz_in_cache>(root, (uint32_t)p);
}

static inline qfz_status qfz_find_roots(qfz_gpu *gpu, int64_t n_px, uint32_t *d_root)
{
    return qfz_launch_each(gpu, k_update, n_px, QFZ_LINE_BLOCK, n_px, d_root);
}
