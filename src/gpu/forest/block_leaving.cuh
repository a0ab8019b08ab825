/* SPDX-License-Identifier: MIT */
/* block_leaving.cuh - which block an edge between two blocks belongs to: the
 * numbering of a block's leaving edges. A block has those to the right and down and, with eight
 * neighbours, all diagonals of squares whose first pixel is in its last column or row, except the
 * two diagonals at its lower right corner; in place of these it has the one that leads up and right
 * from the first pixel of its last column. */
#pragma once

#include "gpu/forest/boruvka_parts.cuh"
#include "core/host_device.h"
#include "core/level.h"

/* Kinds of leaving edges, QFZ_SIDE places each; four neighbours have the first two kinds only. */
enum {
    QFZ_LEAVING_RIGHT = 0,
    QFZ_LEAVING_DOWN,
    QFZ_LEAVING_RIGHT_DOWN, /* diagonals of the last column's squares */
    QFZ_LEAVING_RIGHT_UP,   /* at the last place: of the square above the first one */
    QFZ_LEAVING_DOWN_RIGHT, /* of the last row's squares; not at the last place */
    QFZ_LEAVING_DOWN_LEFT,
    QFZ_LEAVING_KINDS
};

/* The number of leaving edges, including numbers without an edge. */
QFZ_HOST_AND_DEVICE constexpr int qfz_leaving_count(bool eight)
{
    return (eight ? (int)QFZ_LEAVING_KINDS : 2) * QFZ_SIDE;
}

/* Leaving edge i: its pixels in the block and outside; is: false if there is no such edge. */
struct qfz_leaving_edge {
    int y, x, to_y, to_x;
    bool is;
};

QFZ_DEVICE qfz_leaving_edge qfz_leaving_at(int i)
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

/* The direction of leaving edge i; edges to the right and up start outside the block. */
QFZ_DEVICE int qfz_leaving_direction(int i)
{
    const int kind = i / QFZ_SIDE;
    if (kind <= QFZ_LEAVING_DOWN) return kind == QFZ_LEAVING_RIGHT ? QFZ_RIGHT : QFZ_BELOW;
    const bool back = kind == QFZ_LEAVING_RIGHT_UP || kind == QFZ_LEAVING_DOWN_LEFT;
    return back ? QFZ_BELOW_LEFT : QFZ_BELOW_RIGHT;
}
