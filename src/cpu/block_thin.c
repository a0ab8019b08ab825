/* SPDX-License-Identifier: MIT */
/* block_thin.c - the heaviest edges of the cycles of unit squares (block.h).
 *
 * Of equal edges the later one of top, bottom, left, right, falling, rising is the heavier one:
 * that is the order of (kind, place), the same in all squares that contain an edge.  A second form
 * drops only edges that are heavier than all others of a cycle, and of a square whose edges all
 * have level 0 the last ones: no minimum spanning forest has them under any order of equal levels,
 * if the order within level 0 is free. */
#include "core/simd.h"
#include "cpu/block_rows.h"
#include "cpu/min_max.h"

enum { ROW = QFZ_SQUARES };

QFZ_CLONES_512 static void drop_of_four(qfz_square_row *restrict row,
                                        const uint32_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint32_t t = row->h[i], u = bottom[i], l = row->v[i], r = row->v[i + 1];
        const uint32_t tu = t > u ? t : u, lr = l > r ? l : r;
        const uint32_t heaviest = lr >= tu ? (r >= l ? QFZ_DROP_RIGHT : QFZ_DROP_LEFT)
                                           : (u >= t ? QFZ_DROP_BOTTOM : QFZ_DROP_TOP);
        row->drop[i] = row->exists[i] & QFZ_SQUARE ? (uint8_t)heaviest : 0;
    }
}

/* An edge is dropped if it is the heaviest of one of its two triangles, or of one of its two
 * four-cycles (the outer sides; the other diagonal and two opposite sides). */
QFZ_CLONES_512 static void drop_of_six(qfz_square_row *restrict row,
                                       const uint32_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint32_t t = row->h[i], u = bottom[i], l = row->v[i], r = row->v[i + 1];
        const uint32_t f = row->fall[i], g = row->rise[i];
        const uint32_t dt = t > qfz_min(qfz_min(qfz_max(r, f), qfz_max(l, g)),
                                        qfz_max(u, qfz_min(qfz_max(r, l), qfz_max(g, f))));
        const uint32_t du = (uint32_t)(u > qfz_min(qfz_max(l, f), qfz_max(r, g))) |
                            ((u >= t) & (u > qfz_min(qfz_max(r, l), qfz_max(g, f))));
        const uint32_t dl = (uint32_t)((l >= u) & (l > f)) | ((l >= t) & (l > g)) |
                            ((l >= qfz_max(t, u)) & (l > r)) | (l > qfz_max(qfz_max(g, r), f));
        const uint32_t dr = (uint32_t)((r >= t) & (r > f)) | ((r >= u) & (r > g)) |
                            (r >= qfz_max(qfz_max(t, u), l)) | ((r > qfz_max(g, f)) & (r >= l));
        const uint32_t df = (uint32_t)(f >= qfz_min(qfz_max(t, r), qfz_max(u, l))) |
                            ((f >= qfz_min(qfz_max(t, u), qfz_max(l, r))) & (f > g));
        const uint32_t dg = g >= qfz_min(qfz_min(qfz_max(t, l), qfz_max(u, r)),
                                         qfz_max(f, qfz_min(qfz_max(t, u), qfz_max(l, r))));
        const uint32_t drop = dt * QFZ_DROP_TOP | du * QFZ_DROP_BOTTOM | dl * QFZ_DROP_LEFT |
                              dr * QFZ_DROP_RIGHT | df * QFZ_DROP_FALL | dg * QFZ_DROP_RISE;
        row->drop[i] = row->exists[i] & QFZ_SQUARE ? (uint8_t)drop : 0;
    }
}

/* ---- The same where ties stay: comparisons are strict, except in flat squares. */

QFZ_CLONES_512 static void drop_of_four_untied(qfz_square_row *restrict row,
                                               const uint32_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint32_t t = row->h[i], u = bottom[i], l = row->v[i], r = row->v[i + 1];
        const uint32_t tu = qfz_max(t, u), lr = qfz_max(l, r);
        const uint32_t drop =
            (t > qfz_max(u, lr)) * QFZ_DROP_TOP | (u > qfz_max(t, lr)) * QFZ_DROP_BOTTOM |
            (l > qfz_max(r, tu)) * QFZ_DROP_LEFT | (r > qfz_max(l, tu)) * QFZ_DROP_RIGHT |
            (qfz_max(tu, lr) == 0) * QFZ_DROP_RIGHT;
        row->drop[i] = row->exists[i] & QFZ_SQUARE ? (uint8_t)drop : 0;
    }
}

/* The lightest of the four cycles that an edge closes: two triangles, and the four-cycles through
 * the opposite side and two sides, or two diagonals; each given by its other edges. */
#define CLOSES(first, with_first, second, with_second, opposite, side, other_side, diagonal,       \
               other_diagonal)                                                                     \
    qfz_min(                                                                                       \
        qfz_min(qfz_max(first, with_first), qfz_max(second, with_second)),                         \
        qfz_max(opposite, qfz_min(qfz_max(side, other_side), qfz_max(diagonal, other_diagonal))))

QFZ_CLONES_512 static void drop_of_six_untied(qfz_square_row *restrict row,
                                              const uint32_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint32_t t = row->h[i], u = bottom[i], l = row->v[i], r = row->v[i + 1];
        const uint32_t f = row->fall[i], g = row->rise[i];
        const uint32_t is_flat = (t | u | l | r | f | g) == 0;
        const uint32_t dt = t > CLOSES(r, f, l, g, u, l, r, f, g);
        const uint32_t du = u > CLOSES(l, f, r, g, t, l, r, f, g);
        const uint32_t dl = l > CLOSES(u, f, t, g, r, t, u, f, g);
        const uint32_t dr = r > CLOSES(t, f, u, g, l, t, u, f, g);
        const uint32_t df = f > CLOSES(t, r, l, u, g, t, u, l, r);
        const uint32_t dg = g > CLOSES(t, l, r, u, f, t, u, l, r);
        const uint32_t drop = dt * QFZ_DROP_TOP | du * QFZ_DROP_BOTTOM | dl * QFZ_DROP_LEFT |
                              (dr | is_flat) * QFZ_DROP_RIGHT | (df | is_flat) * QFZ_DROP_FALL |
                              (dg | is_flat) * QFZ_DROP_RISE;
        row->drop[i] = row->exists[i] & QFZ_SQUARE ? (uint8_t)drop : 0;
    }
}

void qfz_square_row_thin(qfz_square_row *row, const qfz_square_row *below, int connectivity,
                         bool ties_stay)
{
    if (connectivity == 4)
        (ties_stay ? drop_of_four_untied : drop_of_four)(row, below->h);
    else
        (ties_stay ? drop_of_six_untied : drop_of_six)(row, below->h);
}
