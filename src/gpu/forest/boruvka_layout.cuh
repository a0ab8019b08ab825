/* SPDX-License-Identifier: MIT */
/* boruvka_layout.cuh - numbers of a pixel's neighbours, and the pixels of a block that a thread
 * processes: one column and, in each of STRIPS strips, ROWS adjacent rows, so that values that are
 * read for one row serve the next.  WORK has the constant WARPS and the members lane and warp. */
#ifndef QFZ_GPU_BORUVKA_LAYOUT_CUH
#define QFZ_GPU_BORUVKA_LAYOUT_CUH

#include "gpu/forest/boruvka_parts.cuh"

/* The neighbours of a pixel, in the order of the ids of the edges to them; the id of an edge is
 * first pixel * number of directions + direction.  4-connected: U, L, R and D only. */
enum { QFZ_UL = 0, QFZ_U, QFZ_UR, QFZ_L, QFZ_R, QFZ_D, QFZ_DR, QFZ_DL, QFZ_AROUND };

static __device__ __forceinline__ int qfz_around_dy(int k)
{
    return k <= QFZ_UR ? -1 : k <= QFZ_R ? 0 : 1;
}

static __device__ __forceinline__ int qfz_around_dx(int k)
{
    const bool left = k == QFZ_UL || k == QFZ_L || k == QFZ_DL;
    return left ? -1 : k == QFZ_U || k == QFZ_D ? 0 : 1;
}

static __device__ __forceinline__ bool qfz_around_has(bool eight, int k)
{
    return eight || k == QFZ_U || k == QFZ_L || k == QFZ_R || k == QFZ_D;
}

/* The direction (core/level.h) of the edge to neighbour k, R to DL, which starts at the pixel. */
static __device__ __forceinline__ int qfz_around_dir(int k)
{
    return k - QFZ_R;
}

enum { ROWS = 4 };

template <typename WORK> struct pixel_layout {
    enum {
        COLUMNS = QFZ_SIDE / QFZ_WARP,        /* of warps */
        STRIP = WORK::WARPS / COLUMNS * ROWS, /* rows of the block that all warps do at once */
        STRIPS = QFZ_SIDE / STRIP,
        OWN = STRIPS * ROWS /* pixels of a thread */
    };
};

template <typename WORK> static __device__ __forceinline__ int own_x(const WORK &w)
{
    return w.lane + w.warp % pixel_layout<WORK>::COLUMNS * QFZ_WARP;
}

/* The first of a thread's rows in a strip. */
template <typename WORK> static __device__ __forceinline__ int own_y(const WORK &w, int strip)
{
    typedef pixel_layout<WORK> layout;
    return strip * (int)layout::STRIP + w.warp / layout::COLUMNS * ROWS;
}

/* The sides of the block that a pixel touches; is_out(k): neighbour k is outside the block. */
struct frame {
    bool top, bottom, left, right;

    __device__ __forceinline__ bool is_out(int k) const
    {
        const int dy = qfz_around_dy(k), dx = qfz_around_dx(k);
        return (dy < 0 && top) || (dy > 0 && bottom) || (dx < 0 && left) || (dx > 0 && right);
    }
};

/* The frame of the pixel in row j of a thread's rows, which start at (y, x). */
static __device__ __forceinline__ frame frame_of(int y, int x, int j)
{
    return frame{j == 0 && y == 0, j == ROWS - 1 && y == QFZ_SIDE - ROWS, x == 0,
                 x == QFZ_SIDE - 1};
}

#endif
