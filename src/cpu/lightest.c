/* SPDX-License-Identifier: MIT */
#include "cpu/lightest.h"

#include <emmintrin.h>
#include <string.h>

#include "core/clones.h"

/* Where a pixel goes; of equal keys to the first of these, as block.h has it.  Two bits for the
 * column, two for the row: 0 before the pixel's own, 1 its own, 2 the next. */
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

/* Mostly all squares that a row of the block looks at are there, and there is nothing to do. */
QFZ_CLONES static void bound_by(qfz_square_row *row, const uint8_t *exists, bool diagonals)
{
    uint8_t common = QFZ_SQUARE;
    for (int i = 0; i < QFZ_SQUARES - 1; i++)
        common &= exists[i];
    if (common) return;
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
    if (l->alpha_level < QFZ_NONE) bound_by_alpha(row, l->alpha_level);
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
    stay_if(&to[1], &level[1], step_x(to[1]) < 0);
    stay_if(&to[n], &level[n], step_x(to[n]) > 0);
    for (int i = 1; first && i <= n; i++)
        stay_if(&to[i], &level[i], step_y(to[i]) < 0);
    for (int i = 1; last && i <= n; i++)
        stay_if(&to[i], &level[i], step_y(to[i]) > 0);
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

/* The number of what is hooked, until it is known. */
enum { UNKNOWN = 0x8000 };

/* Words of a vector, and pixels of which what is unknown is listed at once.  So many that there are
 * whole ones: what lies behind a block's last pixel is looked at, too, and means nothing. */
enum { LANES = 8, SOME = 64 };

static inline __m128i load(const void *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

static inline void store(uint16_t *to, __m128i words)
{
    _mm_storeu_si128((__m128i *)(void *)to, words);
}

static inline __m128i places_from(int first)
{
    return _mm_add_epi16(_mm_set1_epi16((short)first), _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
}

/* What all before and at each of eight words, which are 0 or -1, amount to. */
static inline __m128i sums_of(__m128i words)
{
    const __m128i twos = _mm_add_epi16(words, _mm_slli_si128(words, 2));
    const __m128i fours = _mm_add_epi16(twos, _mm_slli_si128(twos, 4));
    return _mm_add_epi16(fours, _mm_slli_si128(fours, 8));
}

/* In the order of the components' last pixels; pixels without edges are one. */
static uint32_t number_roots(const uint16_t *up, const uint32_t *level, int n, uint16_t *number)
{
    const __m128i none = _mm_set1_epi32(-1), unknown = _mm_set1_epi16((short)UNKNOWN);
    __m128i last = _mm_setzero_si128();
    for (int i = 0; i < n; i += LANES) {
        const __m128i unhooked = _mm_cmpeq_epi16(load(up + i), places_from(i));
        const __m128i lonely = _mm_packs_epi32(_mm_cmpeq_epi32(load(level + i), none),
                                               _mm_cmpeq_epi32(load(level + i + 4), none));
        const __m128i root = _mm_andnot_si128(lonely, unhooked);
        const __m128i own = _mm_sub_epi16(last, sums_of(root));
        store(number + i,
              _mm_or_si128(_mm_and_si128(own, root), _mm_andnot_si128(unhooked, unknown)));
        last = _mm_shuffle_epi32(_mm_shufflehi_epi16(own, 0xff), 0xff);
    }
    return 1 + (uint32_t)_mm_extract_epi16(last, 0);
}

/* As many words as a vector of any processor has; shifted arithmetically. */
typedef int16_t words __attribute__((vector_size(64), aligned(sizeof(int16_t))));
enum { WORDS = sizeof(words) / sizeof(int16_t) };

/* Every pixel gets the number of the one that it is hooked to, roots keep theirs.  Ways are made
 * positive: then one less than what two of them differ by is negative where they are the same,
 * which all compilers make vectors of. */
QFZ_INLINE void follow_some(const uint16_t *up, const uint16_t *number, int n, int w, int n_sides,
                            uint16_t *next)
{
    enum { FURTHEST = 2 * QFZ_BLOCK_SIDE };
    const int sides[] = {0, -1, 1, -w, w, -w - 1, -w + 1, w - 1, w + 1};
    words place;
    for (int i = 0; i < WORDS; i++)
        place[i] = (int16_t)(i - FURTHEST);
    for (int i = 0; i < n; i += WORDS, place += WORDS) {
        const words way = *(const words *)(const void *)(up + i) - place;
        words of = {0};
        for (int k = 0; k < n_sides; k++) {
            const words same = ((way ^ (int16_t)(sides[k] + FURTHEST)) - 1) >> 15;
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

/* The number of what is known on the way from a pixel, which all before it get: none is passed
 * twice. */
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

static uint64_t unknown_of(const uint16_t *number)
{
    uint64_t bits = 0;
    for (int i = 0; i < SOME; i += LANES) {
        const __m128i high = _mm_packs_epi16(load(number + i), _mm_setzero_si128());
        bits |= (uint64_t)_mm_movemask_epi8(high) << i;
    }
    return bits;
}

/* Many are left where a flat zone's row leads one way: then the one before has just been told. */
static void follow_rest(const uint16_t *up, int n, uint16_t *number)
{
    int before = n;
    uint16_t known = 0;
    for (int first = 0; first < n; first += SOME) {
        for (uint64_t bits = unknown_of(number + first); bits; bits &= bits - 1) {
            const int i = first + __builtin_ctzll(bits);
            if (up[i] != before) known = follow_one(up, i, number);
            number[i] = known;
            before = i;
        }
    }
}

/* Most pixels are within four steps of a root, and a step of all by vectors takes less than one of
 * each by itself. */
void qfz_lightest_finish(qfz_lightest *l)
{
    enum { AROUND = QFZ_BLOCK_SIDE + 1 };
    const int n = (int)(qfz_box_h(l->box) * qfz_box_w(l->box));
    uint16_t room[2][AROUND + QFZ_BLOCK_PX + AROUND];
    uint16_t *const number = room[0] + AROUND, *const next = room[1] + AROUND;
    if (l->lonely) set_apart(l);
    for (int i = n; i % SOME != 0; i++)
        l->up[i] = l->component[i] = 0; /* no root, and known */
    l->n_components = number_roots(l->up, l->level, n, number);
    follow(l, number, n, next);
    follow(l, next, n, number);
    follow(l, number, n, next);
    follow(l, next, n, l->component);
    follow_rest(l->up, n, l->component);
}
