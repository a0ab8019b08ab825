/* SPDX-License-Identifier: MIT */
/* block_thin.c - the heaviest edges of the cycles of unit squares (block.h).
 *
 * Of equal edges the later one of top, bottom, left, right, falling, rising is the heavier one:
 * that is the order of (kind, place), the same in all squares that contain an edge.  A second form
 * compares the keys of the order of (level, position) (block_rows.h). */
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

/* ---- The same by keys: comparisons are strict, so that edges of one key stay. */

static inline uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t max64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

QFZ_CLONES_512 static void drop_of_four_keys(qfz_square_row *restrict row,
                                             const uint64_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint64_t t = row->key[QFZ_EDGE_H][i], u = bottom[i];
        const uint64_t l = row->key[QFZ_EDGE_V][i], r = row->key[QFZ_EDGE_V][i + 1];
        const uint64_t tu = max64(t, u), lr = max64(l, r);
        const uint32_t drop =
            (t > max64(u, lr)) * QFZ_DROP_TOP | (u > max64(t, lr)) * QFZ_DROP_BOTTOM |
            (l > max64(r, tu)) * QFZ_DROP_LEFT | (r > max64(l, tu)) * QFZ_DROP_RIGHT;
        row->drop[i] = row->exists[i] & QFZ_SQUARE ? (uint8_t)drop : 0;
    }
}

/* The lightest of the four cycles that an edge closes: two triangles, and the four-cycles through
 * the opposite side and two sides, or two diagonals; each given by its other edges. */
#define CLOSES(first, with_first, second, with_second, opposite, side, other_side, diagonal,       \
               other_diagonal)                                                                     \
    min64(min64(max64(first, with_first), max64(second, with_second)),                             \
          max64(opposite, min64(max64(side, other_side), max64(diagonal, other_diagonal))))

QFZ_CLONES_512 static void drop_of_six_keys(qfz_square_row *restrict row,
                                            const uint64_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint64_t t = row->key[QFZ_EDGE_H][i], u = bottom[i];
        const uint64_t l = row->key[QFZ_EDGE_V][i], r = row->key[QFZ_EDGE_V][i + 1];
        const uint64_t f = row->key[QFZ_EDGE_FALL][i], g = row->key[QFZ_EDGE_RISE][i];
        const uint32_t dt = t > CLOSES(r, f, l, g, u, l, r, f, g);
        const uint32_t du = u > CLOSES(l, f, r, g, t, l, r, f, g);
        const uint32_t dl = l > CLOSES(u, f, t, g, r, t, u, f, g);
        const uint32_t dr = r > CLOSES(t, f, u, g, l, t, u, f, g);
        const uint32_t df = f > CLOSES(t, r, l, u, g, t, u, l, r);
        const uint32_t dg = g > CLOSES(t, l, r, u, f, t, u, l, r);
        const uint32_t drop = dt * QFZ_DROP_TOP | du * QFZ_DROP_BOTTOM | dl * QFZ_DROP_LEFT |
                              dr * QFZ_DROP_RIGHT | df * QFZ_DROP_FALL | dg * QFZ_DROP_RISE;
        row->drop[i] = row->exists[i] & QFZ_SQUARE ? (uint8_t)drop : 0;
    }
}

void qfz_square_row_thin(qfz_square_row *row, const qfz_square_row *below, int connectivity)
{
    (connectivity == 4 ? drop_of_four : drop_of_six)(row, below->h);
}

void qfz_square_row_thin_by_key(qfz_square_row *row, const qfz_square_row *below, int connectivity)
{
    (connectivity == 4 ? drop_of_four_keys : drop_of_six_keys)(row, below->key[QFZ_EDGE_H]);
}
