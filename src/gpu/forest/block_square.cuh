/* SPDX-License-Identifier: MIT */
/* block_square.cuh - eight neighbours and any levels: the edges of a square of 2 x 2 pixels that
 * are the heaviest of a cycle in the square. Such an edge does not change any minimax level, so
 * that the rounds omit it: of six edges a square retains at least three. */
#pragma once

#include "gpu/device/device.cuh"

/* The edges of a square of 2 x 2 pixels, in the order of their ids. */
enum {
    QFZ_TOP = 0,
    QFZ_LEFT,
    QFZ_DIAGONAL,
    QFZ_SIDE_RIGHT,
    QFZ_ANTIDIAGONAL,
    QFZ_BOTTOM,
    QFZ_SQUARE
};

/* The order of the edges of a square: by level, then by id. */
struct qfz_square_order {
    const uint32_t *level;

    template <int E, int A> QFZ_DEVICE bool over() const
    {
        return E > A ? level[E] >= level[A] : level[E] > level[A];
    }

    /* Bit E: edge E is the heaviest of a cycle.  Edges A and B connect the ends of E by the third
     * corner of the square, edges C and D by the fourth corner; edge M connects these corners. */
    template <int E, int A, int B, int C, int D, int M> QFZ_DEVICE unsigned heaviest() const
    {
        const bool a = over<E, A>(), b = over<E, B>(), c = over<E, C>(), d = over<E, D>(),
                   m = over<E, M>();
        return (unsigned)((a & b) | (c & d) | (m & ((a & d) | (c & b)))) << E;
    }
};

/* Bit e: edge e of the square is the heaviest of a cycle in the square. */
QFZ_DEVICE unsigned qfz_square_drops(const uint32_t level[QFZ_SQUARE])
{
    enum {
        T = QFZ_TOP,
        L = QFZ_LEFT,
        X = QFZ_DIAGONAL,
        R = QFZ_SIDE_RIGHT,
        A = QFZ_ANTIDIAGONAL,
        B = QFZ_BOTTOM
    };
    const qfz_square_order order = {level};
    return order.heaviest<T, L, A, X, R, B>() | order.heaviest<L, T, A, X, B, R>() |
           order.heaviest<X, T, R, L, B, A>() | order.heaviest<R, T, X, A, B, L>() |
           order.heaviest<A, T, L, R, B, X>() | order.heaviest<B, L, X, A, R, T>();
}
