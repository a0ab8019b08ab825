/* SPDX-License-Identifier: MIT */
#include "cpu/lightest.h"

#include <string.h>

#include "clones.h"

/* Where a pixel goes; of equal keys to the first of these, as block.h has it. */
enum {
    STAYS = 0,
    LEFT,
    RIGHT,
    UP,
    DOWN,
    UP_LEFT,
    DOWN_RIGHT,
    UP_RIGHT,
    DOWN_LEFT,
};

static void bound_keys(uint32_t *restrict keys, const uint8_t *restrict exists, int kind)
{
    for (int i = 0; i < QFZ_SQUARES; i++)
        keys[i] = exists[i] >> kind & 1 ? keys[i] : QFZ_NONE;
}

QFZ_CLONES static void bound_by_alpha(qfz_square_row *row, uint32_t alpha)
{
    for (int i = 0; i < QFZ_SQUARES; i++) {
        row->h[i] = row->h[i] <= alpha ? row->h[i] : QFZ_NONE;
        row->v[i] = row->v[i] <= alpha ? row->v[i] : QFZ_NONE;
        row->fall[i] = row->fall[i] <= alpha ? row->fall[i] : QFZ_NONE;
        row->rise[i] = row->rise[i] <= alpha ? row->rise[i] : QFZ_NONE;
    }
}

QFZ_CLONES static void bound_by(qfz_square_row *row, const uint8_t *exists, bool diagonals)
{
    bound_keys(row->h, exists, QFZ_EDGE_H);
    bound_keys(row->v, exists, QFZ_EDGE_V);
    if (!diagonals) return;
    bound_keys(row->fall, exists, QFZ_EDGE_FALL);
    bound_keys(row->rise, exists, QFZ_EDGE_RISE);
}

void qfz_lightest_bound(const qfz_lightest *l, int64_t y, qfz_square_row *row)
{
    static const uint8_t nothing[QFZ_SQUARES];
    const int64_t at = l->box.y0 + y, n = qfz_box_w(l->box);
    bound_by(row, at < 0 ? nothing : row->exists, l->connectivity == 8);
    if (l->alpha_key < QFZ_NONE) bound_by_alpha(row, l->alpha_key);
    if (!l->open_ring) return;
    if (l->box.x0 == 0) row->h[0] = 0;
    if (l->box.x1 == l->image_w) row->h[n] = 0;
    if (at < 0 || at + 1 == l->image_h) memset(row->v, 0, sizeof row->v);
}

/* ---- Hooks of one row. */

/* The lightest of the edges that are looked at so far. */
#define PREFER(key, where)                                                                         \
    do {                                                                                           \
        const uint32_t k = (key);                                                                  \
        way = k < lightest ? (where) : way;                                                        \
        lightest = k < lightest ? k : lightest;                                                    \
    } while (0)

static inline void choose_some(const qfz_square_row *restrict above,
                               const qfz_square_row *restrict row, bool diagonals,
                               uint32_t *restrict level, uint8_t *restrict to)
{
    for (int i = 1; i < QFZ_SQUARES - 1; i++) {
        uint32_t lightest = QFZ_NONE, way = STAYS;
        PREFER(row->h[i - 1], LEFT);
        PREFER(row->h[i], RIGHT);
        PREFER(above->v[i], UP);
        PREFER(row->v[i], DOWN);
        if (diagonals) {
            PREFER(above->fall[i - 1], UP_LEFT);
            PREFER(row->fall[i], DOWN_RIGHT);
            PREFER(above->rise[i], UP_RIGHT);
            PREFER(row->rise[i - 1], DOWN_LEFT);
        }
        level[i] = lightest;
        to[i] = (uint8_t)way;
    }
}

QFZ_CLONES static void choose_of_four(const qfz_square_row *above, const qfz_square_row *row,
                                      uint32_t *level, uint8_t *to)
{
    choose_some(above, row, false, level, to);
}

QFZ_CLONES static void choose_of_eight(const qfz_square_row *above, const qfz_square_row *row,
                                       uint32_t *level, uint8_t *to)
{
    choose_some(above, row, true, level, to);
}

static void stay_if(uint8_t *to, uint32_t *level, bool leaves)
{
    if (!leaves) return;
    *to = STAYS;
    *level = 0;
}

/* A pixel whose lightest edge leaves the block is not hooked. */
static void stay_inside(const qfz_lightest *l, int64_t y, uint32_t *level, uint8_t *to)
{
    const int n = (int)qfz_box_w(l->box);
    const bool first = y == 0, last = y + 1 == qfz_box_h(l->box);
    stay_if(&to[1], &level[1], to[1] == LEFT || to[1] == UP_LEFT || to[1] == DOWN_LEFT);
    stay_if(&to[n], &level[n], to[n] == RIGHT || to[n] == UP_RIGHT || to[n] == DOWN_RIGHT);
    for (int i = 1; first && i <= n; i++)
        stay_if(&to[i], &level[i], to[i] == UP || to[i] == UP_LEFT || to[i] == UP_RIGHT);
    for (int i = 1; last && i <= n; i++)
        stay_if(&to[i], &level[i], to[i] == DOWN || to[i] == DOWN_LEFT || to[i] == DOWN_RIGHT);
}

void qfz_lightest_choose(qfz_lightest *l, int64_t y, const qfz_square_row *above,
                         const qfz_square_row *row)
{
    const int64_t n = qfz_box_w(l->box);
    uint32_t level[QFZ_SQUARES];
    uint8_t *const to = l->to[y & 1];
    if (l->connectivity == 4)
        choose_of_four(above, row, level, to);
    else
        choose_of_eight(above, row, level, to);
    stay_inside(l, y, level, to);
    to[0] = to[n + 1] = STAYS;
    memcpy(l->level + y * n, level + 1, (size_t)n * sizeof *level);
}

/* ---- What becomes of them. */

/* up[i]: the place that pixel i is hooked to; itself if it is the first of two that share an
 * edge. */
static inline void take_some(const uint8_t *restrict to, const uint8_t *restrict below, int n,
                             int place, bool diagonals, uint16_t *restrict up,
                             uint8_t *restrict keep)
{
    for (int i = 1; i <= n; i++) {
        const int me = to[i], right = to[i + 1], under = below[i], under_right = below[i + 1];
        int taken = ((me == RIGHT) | (right == LEFT)) << QFZ_EDGE_H | ((me == DOWN) | (under == UP))
                                                                          << QFZ_EDGE_V;
        int shared = ((me == RIGHT) & (right == LEFT)) | ((me == DOWN) & (under == UP));
        int x = (me == RIGHT) - (me == LEFT), y = (me == DOWN) - (me == UP);
        if (diagonals) {
            taken |= ((me == DOWN_RIGHT) | (under_right == UP_LEFT)) << QFZ_EDGE_FALL |
                     ((right == DOWN_LEFT) | (under == UP_RIGHT)) << QFZ_EDGE_RISE;
            shared |= ((me == DOWN_RIGHT) & (under_right == UP_LEFT)) |
                      ((me == DOWN_LEFT) & (below[i - 1] == UP_RIGHT));
            x += (me == DOWN_RIGHT) + (me == UP_RIGHT) - (me == UP_LEFT) - (me == DOWN_LEFT);
            y += (me == DOWN_RIGHT) + (me == DOWN_LEFT) - (me == UP_LEFT) - (me == UP_RIGHT);
        }
        keep[i] &= (uint8_t)~taken;
        up[i - 1] = (uint16_t)(place + i - 1 + (shared ? 0 : y * n + x));
    }
}

QFZ_CLONES_512 static void take_of_four(const uint8_t *to, const uint8_t *below, int n, int place,
                                        uint16_t *up, uint8_t *keep)
{
    take_some(to, below, n, place, false, up, keep);
}

QFZ_CLONES_512 static void take_of_eight(const uint8_t *to, const uint8_t *below, int n, int place,
                                         uint16_t *up, uint8_t *keep)
{
    take_some(to, below, n, place, true, up, keep);
}

void qfz_lightest_take(qfz_lightest *l, int64_t y, uint8_t *keep)
{
    const int n = (int)qfz_box_w(l->box), place = (int)y * n;
    uint8_t *const below = l->to[(y + 1) & 1];
    if (y + 1 == qfz_box_h(l->box)) memset(below, STAYS, sizeof l->to[0]);
    if (l->connectivity == 4)
        take_of_four(l->to[y & 1], below, n, place, l->up + place, keep);
    else
        take_of_eight(l->to[y & 1], below, n, place, l->up + place, keep);
}

/* Every pixel to where the one that it is hooked to is hooked: a sweep through each of four parts
 * of the block, in turn, as a pixel waits for the one before. */
enum { PARTS = 4 };

static void step_forward(uint16_t *up, int n)
{
    const int part = n / PARTS;
    for (int i = 0; i < part; i++)
        for (int k = 0; k < PARTS; k++)
            up[i + k * part] = up[up[i + k * part]];
    for (int i = PARTS * part; i < n; i++)
        up[i] = up[up[i]];
}

static void step_back(uint16_t *up, int n)
{
    const int part = n / PARTS;
    for (int i = n - 1; i >= PARTS * part; i--)
        up[i] = up[up[i]];
    for (int i = part - 1; i >= 0; i--)
        for (int k = 0; k < PARTS; k++)
            up[i + k * part] = up[up[i + k * part]];
}

static void set_apart(const qfz_lightest *l)
{
    const qfz_image *const image = l->lonely;
    const int64_t h = qfz_box_h(l->box), w = qfz_box_w(l->box);
    for (int64_t y = 0; y < h; y++) {
        const int64_t at = (l->box.y0 + y) * image->w + l->box.x0;
        for (int64_t x = 0; x < w; x++)
            if (l->level[y * w + x] == QFZ_NONE && (!image->valid || image->valid[at + x]))
                l->level[y * w + x] = 0;
    }
}

/* The number of what is no root. */
enum { NO_ROOT = 0x8000 };

/* In the order of the components' last pixels; pixels without edges are one. */
static uint32_t number_roots(const uint16_t *restrict up, const uint32_t *restrict level, int n,
                             uint16_t *restrict number)
{
    uint32_t n_components = 1;
    for (int i = 0; i < n; i++) {
        const bool lonely = level[i] == QFZ_NONE, root = up[i] == i;
        const uint32_t own = root ? n_components : NO_ROOT;
        number[i] = (uint16_t)(lonely ? 0 : own);
        n_components += root & !lonely;
    }
    return n_components;
}

/* Returns whether two steps lead to a root everywhere.  Pointers are not restrict: vectors, made
 * of what is looked up one by one, would be slower. */
static bool number_all(const uint16_t *up, const uint16_t *number, int n, uint16_t *component)
{
    uint32_t any = 0;
    for (int i = 0; i < n; i++) {
        component[i] = number[up[up[i]]];
        any |= component[i];
    }
    return !(any & NO_ROOT);
}

/* A row or a column that leads one way is through by one sweep; few pixels need more than two. */
void qfz_lightest_finish(qfz_lightest *l)
{
    const int n = (int)(qfz_box_h(l->box) * qfz_box_w(l->box));
    uint16_t number[QFZ_BLOCK_PX];
    if (l->lonely) set_apart(l);
    l->n_components = number_roots(l->up, l->level, n, number);
    do {
        step_forward(l->up, n);
        step_back(l->up, n);
    } while (!number_all(l->up, number, n, l->component));
}
