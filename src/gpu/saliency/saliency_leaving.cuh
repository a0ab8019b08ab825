/* SPDX-License-Identifier: MIT */
/* saliency_leaving.cuh - the edges between two blocks of saliency.cuh that a block answers for:
 * those to the right and down and, of eight neighbours, all diagonals of squares whose first pixel
 * is in its last column or row, but for the two of the corner.  Of these one starts at the corner
 * itself, and the other one leads up from the last column of the block below. */
#ifndef QFZ_GPU_SALIENCY_LEAVING_CUH
#define QFZ_GPU_SALIENCY_LEAVING_CUH

#include "gpu/saliency/saliency.cuh"
#include "core/level.h"

/* Kinds of such edges, QFZ_SIDE places each: with four neighbours the first two. */
enum {
    QFZ_LEAVING_RIGHT = 0,
    QFZ_LEAVING_DOWN,
    QFZ_LEAVING_RIGHT_DOWN, /* diagonals of squares of the last column */
    QFZ_LEAVING_RIGHT_UP,   /* at the last place: of the square above the first one */
    QFZ_LEAVING_DOWN_RIGHT, /* of squares of the last row; not at the last place */
    QFZ_LEAVING_DOWN_LEFT,
    QFZ_LEAVING_KINDS
};

/* How many numbers they have. */
static __host__ __device__ __forceinline__ constexpr int qfz_leaving_count(bool eight)
{
    return (eight ? (int)QFZ_LEAVING_KINDS : 2) * QFZ_SIDE;
}

/* The i-th: its pixel of the block, and the one outside; is: there is one of that number. */
struct qfz_leaving_edge {
    int y, x, to_y, to_x;
    bool is;
};

static __device__ __forceinline__ qfz_leaving_edge qfz_leaving_at(int i)
{
    const int kind = i / QFZ_SIDE, place = i % QFZ_SIDE, last = QFZ_SIDE - 1;
    const bool from_row = kind == QFZ_LEAVING_DOWN || kind >= QFZ_LEAVING_DOWN_RIGHT;
    const bool back = kind == QFZ_LEAVING_RIGHT_UP || kind == QFZ_LEAVING_DOWN_LEFT;
    const int own = back ? (place + 1) % QFZ_SIDE : place;
    const int to = back ? own - 1 : own + (kind <= QFZ_LEAVING_DOWN ? 0 : 1);
    qfz_leaving_edge e = {own, last, to, QFZ_SIDE, true};
    if (from_row) e = {last, own, QFZ_SIDE, to, kind == QFZ_LEAVING_DOWN || place < last};
    return e;
}

/* The direction of its kind; those to the right and up start outside. */
static __device__ __forceinline__ int qfz_leaving_direction(int i)
{
    const int kind = i / QFZ_SIDE;
    if (kind <= QFZ_LEAVING_DOWN) return kind == QFZ_LEAVING_RIGHT ? QFZ_RIGHT : QFZ_BELOW;
    const bool back = kind == QFZ_LEAVING_RIGHT_UP || kind == QFZ_LEAVING_DOWN_LEFT;
    return back ? QFZ_BELOW_LEFT : QFZ_BELOW_RIGHT;
}

#endif
