/* SPDX-License-Identifier: MIT */
#include "cpu/lightest.h"

#include <string.h>

#include "core/simd.h"

/* The direction of a pixel's hook.  Of equal levels, the first direction of this list wins, in
 * agreement with the total order of block.h.  Two bits for the column and two for the row: 0 is
 * before the pixel, 1 the pixel's own, 2 behind it. */
enum {
    STAYS = 5,
    LEFT = 4,
    RIGHT = 6,
    UP = 1,
    DOWN = 9,
    UP_LEFT = 0,
    DOWN_RIGHT = 10,
    UP_RIGHT = 2,
    DOWN_LEFT = 8,
};

static inline int step_x(int way)
{
    return (way & 3) - 1;
}

static inline int step_y(int way)
{
    return (way >> 2) - 1;
}

static void bound_levels(uint32_t *restrict levels, const uint8_t *restrict exists, int kind)
{
    for (int i = 0; i < QFZ_SQUARES; i++)
        levels[i] = exists[i] >> kind & 1 ? levels[i] : QFZ_NONE;
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

/* Mostly all squares of a block's row exist, and nothing has to be done. */
QFZ_CLONES static void bound_by(qfz_square_row *row, const uint8_t *exists, bool diagonals)
{
    uint8_t common = QFZ_SQUARE;
    for (int i = 0; i < QFZ_SQUARES - 1; i++)
        common &= exists[i];
    if (common) return;
    bound_levels(row->h, exists, QFZ_EDGE_H);
    bound_levels(row->v, exists, QFZ_EDGE_V);
    if (!diagonals) return;
    bound_levels(row->fall, exists, QFZ_EDGE_FALL);
    bound_levels(row->rise, exists, QFZ_EDGE_RISE);
}

void qfz_lightest_bound(const qfz_lightest *l, int64_t y, qfz_square_row *row)
{
    static const uint8_t nothing[QFZ_SQUARES];
    const int64_t at = l->box.y0 + y, n = qfz_box_w(l->box);
    bound_by(row, at < 0 ? nothing : row->exists, l->connectivity == 8);
    if (l->alpha_level < QFZ_NONE) bound_by_alpha(row, l->alpha_level);
    if (l->by_key)
        qfz_square_row_set_keys(row, l->by_key->y0 + at, l->by_key->x0 + l->box.x0 - 1,
                                l->connectivity);
    if (!l->open_ring || l->by_key) return;
    if (l->box.x0 == 0) row->h[0] = 0;
    if (l->box.x1 == l->image_w) row->h[n] = 0;
    if (at < 0 || at + 1 == l->image_h) memset(row->v, 0, sizeof row->v);
}

/* ---- Hooks of one row. */

/* Updates the lightest edge so far. */
#define PREFER(edge_level, where)                                                                  \
    do {                                                                                           \
        const uint32_t k = (edge_level);                                                           \
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

/* ---- The same by keys. */

/* Updates the least key so far. */
#define PREFER_KEY(edge_key, where)                                                                \
    do {                                                                                           \
        const uint64_t k = (edge_key);                                                             \
        way = k < least ? (where) : k == least ? STAYS : way;                                      \
        least = k < least ? k : least;                                                             \
    } while (0)

static inline void choose_some_keys(const qfz_square_row *restrict above,
                                    const qfz_square_row *restrict row, bool diagonals,
                                    uint32_t *restrict level, uint8_t *restrict to)
{
    for (int i = 1; i < QFZ_SQUARES - 1; i++) {
        uint64_t least = UINT64_MAX, way = STAYS;
        PREFER_KEY(row->key[QFZ_EDGE_H][i - 1], LEFT);
        PREFER_KEY(row->key[QFZ_EDGE_H][i], RIGHT);
        PREFER_KEY(above->key[QFZ_EDGE_V][i], UP);
        PREFER_KEY(row->key[QFZ_EDGE_V][i], DOWN);
        if (diagonals) {
            PREFER_KEY(above->key[QFZ_EDGE_FALL][i - 1], UP_LEFT);
            PREFER_KEY(row->key[QFZ_EDGE_FALL][i], DOWN_RIGHT);
            PREFER_KEY(above->key[QFZ_EDGE_RISE][i], UP_RIGHT);
            PREFER_KEY(row->key[QFZ_EDGE_RISE][i - 1], DOWN_LEFT);
        }
        level[i] = (uint32_t)((least == UINT64_MAX ? 0 : least) >> 32);
        to[i] = (uint8_t)way;
    }
}

QFZ_CLONES_512 static void choose_key_of_four(const qfz_square_row *above,
                                              const qfz_square_row *row, uint32_t *level,
                                              uint8_t *to)
{
    choose_some_keys(above, row, false, level, to);
}

QFZ_CLONES_512 static void choose_key_of_eight(const qfz_square_row *above,
                                               const qfz_square_row *row, uint32_t *level,
                                               uint8_t *to)
{
    choose_some_keys(above, row, true, level, to);
}

/* ---- Pixels that stay. */
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
    stay_if(&to[1], &level[1], step_x(to[1]) < 0);
    stay_if(&to[n], &level[n], step_x(to[n]) > 0);
    for (int i = 1; first && i <= n; i++)
        stay_if(&to[i], &level[i], step_y(to[i]) < 0);
    for (int i = 1; last && i <= n; i++)
        stay_if(&to[i], &level[i], step_y(to[i]) > 0);
}

static void stay_on_ring(const qfz_lightest *l, int64_t y, uint8_t *to)
{
    const int64_t at = l->box.y0 + y;
    if (at == 0 || at + 1 == l->image_h) memset(to, STAYS, QFZ_SQUARES);
    if (l->box.x0 == 0) to[1] = STAYS;
    if (l->box.x1 == l->image_w) to[qfz_box_w(l->box)] = STAYS;
}

static void choose_by_key(const qfz_lightest *l, int64_t y, const qfz_square_row *above,
                          const qfz_square_row *row, uint32_t *level, uint8_t *to)
{
    (l->connectivity == 4 ? choose_key_of_four : choose_key_of_eight)(above, row, level, to);
    if (l->by_key->stays[y]) memset(to, STAYS, QFZ_SQUARES);
    if (l->open_ring) stay_on_ring(l, y, to);
}

void qfz_lightest_choose(qfz_lightest *l, int64_t y, const qfz_square_row *above,
                         const qfz_square_row *row)
{
    const int64_t n = qfz_box_w(l->box);
    uint32_t level[QFZ_SQUARES];
    uint8_t *const to = l->to[y % 3];
    if (l->by_key)
        choose_by_key(l, y, above, row, level, to);
    else if (l->connectivity == 4)
        choose_of_four(above, row, level, to);
    else
        choose_of_eight(above, row, level, to);
    stay_inside(l, y, level, to);
    to[0] = to[n + 1] = STAYS;
    memcpy(l->level + y * n, level + 1, (size_t)n * sizeof *level);
}

/* ---- Hooks to components. */

/* up[i] = place of the pixel that pixel i is hooked to; i itself if it is the first of two
 * pixels that share an edge. */
static inline void take_some(const uint8_t *restrict to, const uint8_t *restrict below, int n,
                             int place, bool diagonals, uint16_t *restrict up,
                             uint8_t *restrict keep)
{
    for (int i = 1; i <= n; i++) {
        const int me = to[i], right = to[i + 1], under = below[i], under_right = below[i + 1];
        int taken = ((me == RIGHT) | (right == LEFT)) << QFZ_EDGE_H | ((me == DOWN) | (under == UP))
                                                                          << QFZ_EDGE_V;
        int shared = ((me == RIGHT) & (right == LEFT)) | ((me == DOWN) & (under == UP));
        if (diagonals) {
            taken |= ((me == DOWN_RIGHT) | (under_right == UP_LEFT)) << QFZ_EDGE_FALL |
                     ((right == DOWN_LEFT) | (under == UP_RIGHT)) << QFZ_EDGE_RISE;
            shared |= ((me == DOWN_RIGHT) & (under_right == UP_LEFT)) |
                      ((me == DOWN_LEFT) & (below[i - 1] == UP_RIGHT));
        }
        keep[i] &= (uint8_t)~taken;
        up[i - 1] = (uint16_t)(place + i - 1 + (shared ? 0 : step_y(me) * n + step_x(me)));
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

/* By keys: the roles of the pixels of a row, and their edges that are hooks. */
static inline void tell_some(const uint8_t *restrict above, const uint8_t *restrict to,
                             const uint8_t *restrict below, int n, bool diagonals,
                             const qfz_square_row *restrict row, const uint32_t *restrict level,
                             uint8_t *restrict role, uint8_t *restrict zeroed)
{
    for (int i = 1; i <= n; i++) {
        const int me = to[i], right = to[i + 1], under = below[i];
        const int in_row = (me == RIGHT) & (right == LEFT);
        int is_below = (me == DOWN) & (under == UP);
        int is_mate = ((me == LEFT) & (to[i - 1] == RIGHT)) | ((me == UP) & (above[i] == DOWN));
        int bits = (((me == RIGHT) | (right == LEFT)) & (row->h[i] > 0)) << QFZ_RIGHT |
                   (((me == DOWN) | (under == UP)) & (row->v[i] > 0)) << QFZ_BELOW;
        if (diagonals) {
            const int falls = me == DOWN_RIGHT, from_fall = below[i + 1] == UP_LEFT;
            const int rises = me == DOWN_LEFT, from_rise = below[i - 1] == UP_RIGHT;
            is_below |= (falls & from_fall) | (rises & from_rise);
            is_mate |= ((me == UP_LEFT) & (above[i - 1] == DOWN_RIGHT)) |
                       ((me == UP_RIGHT) & (above[i + 1] == DOWN_LEFT));
            bits |= ((falls | from_fall) & (row->fall[i] > 0)) << QFZ_BELOW_RIGHT |
                    ((rises | from_rise) & (row->rise[i - 1] > 0)) << QFZ_BELOW_LEFT;
        }
        const int is_alone = (me != STAYS) & !(in_row | is_below | is_mate);
        const int kind = level[i - 1] > 0 ? QFZ_LATE : QFZ_EARLY;
        role[i - 1] =
            (uint8_t)(in_row * QFZ_MATE_RIGHT | is_below * QFZ_MATE_BELOW | is_alone * kind);
        zeroed[i - 1] = (uint8_t)bits;
    }
}

QFZ_CLONES_512 static void tell_of_four(const uint8_t *above, const uint8_t *to,
                                        const uint8_t *below, int n, const qfz_square_row *row,
                                        const uint32_t *level, uint8_t *role, uint8_t *zeroed)
{
    tell_some(above, to, below, n, false, row, level, role, zeroed);
}

QFZ_CLONES_512 static void tell_of_eight(const uint8_t *above, const uint8_t *to,
                                         const uint8_t *below, int n, const qfz_square_row *row,
                                         const uint32_t *level, uint8_t *role, uint8_t *zeroed)
{
    tell_some(above, to, below, n, true, row, level, role, zeroed);
}

void qfz_lightest_take(qfz_lightest *l, int64_t y, const qfz_square_row *row, uint8_t *keep)
{
    const int n = (int)qfz_box_w(l->box), place = (int)y * n;
    uint8_t *const above = l->to[(y + 2) % 3], *const to = l->to[y % 3];
    uint8_t *const below = l->to[(y + 1) % 3];
    if (y == 0) memset(above, STAYS, sizeof l->to[0]);
    if (y + 1 == qfz_box_h(l->box)) memset(below, STAYS, sizeof l->to[0]);
    if (l->connectivity == 4)
        take_of_four(to, below, n, place, l->up + place, keep);
    else
        take_of_eight(to, below, n, place, l->up + place, keep);
    if (l->by_key)
        (l->connectivity == 4 ? tell_of_four
                              : tell_of_eight)(above, to, below, n, row, l->level + place,
                                               l->by_key->role + place, l->by_key->zeroed + place);
}

/* valid: NULL if all n pixels are. */
QFZ_CLONES static void set_row_apart(uint32_t *restrict level, const uint8_t *restrict valid,
                                     int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const bool is_lonely = (level[i] == QFZ_NONE) & (!valid || valid[i] != 0);
        level[i] = is_lonely ? 0 : level[i];
    }
}

static void set_apart(const qfz_lightest *l)
{
    const qfz_image *const image = l->lonely;
    const int64_t h = qfz_box_h(l->box), w = qfz_box_w(l->box);
    for (int64_t y = 0; y < h; y++) {
        const int64_t at = (l->box.y0 + y) * image->w + l->box.x0;
        set_row_apart(l->level + y * w, image->valid ? image->valid + at : NULL, w);
    }
}

/* The component of a hooked pixel, until it is found. */
enum { UNKNOWN = 0x8000 };

/* Pixels whose unknown components are listed at once.  The arrays are read and written up to a
 * multiple of that; what lies behind the block's last pixel is ignored. */
enum { SOME = 64 };

/* As many 16-bit words as the longest vector of any processor has; shifts are arithmetic. */
typedef int16_t words __attribute__((vector_size(64), aligned(sizeof(int16_t))));
enum { WORDS = sizeof(words) / sizeof(int16_t) };

/* Each pixel gets the number of the pixel that it is hooked to; roots keep theirs.  The distance
 * to that pixel and the distance to each neighbour are compared: offsets that make both positive
 * allow a comparison by a subtraction and a shift, which all compilers vectorise. */
QFZ_INLINE void follow_some(const uint16_t *up, const uint16_t *number, int n, int w, int n_sides,
                            uint16_t *next)
{
    enum { FURTHEST = 2 * QFZ_CPU_BLOCK_SIDE };
    const int sides[] = {0, -1, 1, -w, w, -w - 1, -w + 1, w - 1, w + 1};
    words place = {0}, sign_bit = {0};
    for (int i = 0; i < WORDS; i++) {
        place[i] = (int16_t)(i - FURTHEST);
        sign_bit[i] = 15;
    }
    for (int i = 0; i < n; i += WORDS, place += WORDS) {
        const words way = *(const words *)(const void *)(up + i) - place;
        words of = {0};
        for (int k = 0; k < n_sides; k++) {
            const words same = ((way ^ (int16_t)(sides[k] + FURTHEST)) - 1) >> sign_bit;
            of |= *(const words *)(const void *)(number + i + sides[k]) & same;
        }
        *(words *)(void *)(next + i) = of;
    }
}

QFZ_CLONES_512 static void follow_four(const uint16_t *up, const uint16_t *number, int n, int w,
                                       uint16_t *next)
{
    follow_some(up, number, n, w, 5, next);
}

QFZ_CLONES_512 static void follow_eight(const uint16_t *up, const uint16_t *number, int n, int w,
                                        uint16_t *next)
{
    follow_some(up, number, n, w, 9, next);
}

static void follow(const qfz_lightest *l, const uint16_t *number, int n, uint16_t *next)
{
    const int w = (int)qfz_box_w(l->box);
    if (l->connectivity == 4)
        follow_four(l->up, number, n, w, next);
    else
        follow_eight(l->up, number, n, w, next);
}

/* Follows hooks from pixel i to the first pixel whose number is known.  All pixels on the way
 * get that number, so that no pixel is passed twice. */
static uint16_t follow_one(const uint16_t *up, int i, uint16_t *number)
{
    int at = i;
    while (number[at] == UNKNOWN)
        at = up[at];
    const uint16_t known = number[at];
    for (at = i; number[at] == UNKNOWN; at = up[at])
        number[at] = known;
    return known;
}

/* Many pixels remain where the hooks of a flat zone's row have one direction; then the pixel
 * before was resolved in the previous step. */
static void follow_rest(const uint16_t *up, int n, uint16_t *number)
{
    int before = n;
    uint16_t known = 0;
    for (int first = 0; first < n; first += SOME) {
        for (uint64_t bits = qfz_high_bits_of_words(number + first); bits; bits &= bits - 1) {
            const int i = first + __builtin_ctzll(bits);
            if (up[i] != before) known = follow_one(up, i, number);
            number[i] = known;
            before = i;
        }
    }
}

/* Most pixels are within a few steps of a root, and one vectorised step of all pixels takes less
 * time than one step of each remaining pixel. */
void qfz_lightest_finish(qfz_lightest *l)
{
    enum { AROUND = QFZ_CPU_BLOCK_SIDE + 1, STEPS = 6 };
    const int n = (int)(qfz_box_h(l->box) * qfz_box_w(l->box));
    uint16_t room[2][AROUND + QFZ_CPU_BLOCK_PX + AROUND];
    uint16_t *const number = room[0] + AROUND, *const next = room[1] + AROUND;
    number[0] = next[0] = 0; /* the compiler cannot see that n > 0 */
    if (l->lonely) set_apart(l);
    for (int i = n; i % SOME != 0; i++)
        l->up[i] = 0; /* not a root */
    l->n_components = 1u + qfz_number_roots(l->up, l->level, n, UNKNOWN, number);
    for (int i = 2; i < STEPS; i += 2) {
        follow(l, number, n, next);
        follow(l, next, n, number);
    }
    follow(l, number, n, next);
    follow(l, next, n, l->component);
    for (int i = n; i % SOME != 0; i++)
        l->component[i] = 0; /* known */
    follow_rest(l->up, n, l->component);
}
