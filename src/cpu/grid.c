/* SPDX-License-Identifier: MIT */
/* grid.c - the edges of an image, less those that are the heaviest of a cycle in a 2 x 2 square.
 *
 * Row by row: the squares between rows y and y + 1 say which of their six edges stay; an edge
 * between two squares stays if both say so. */
#include "cpu/graph.h"

#include <string.h>

/* Keys with a place in the low bits, so that no two edges of a square are equal. */
typedef uint64_t weight;
static const weight no_edge = UINT64_MAX;

enum { PLACES = 8 };
/* The order of ids within a square: top, left, diagonal, right, antidiagonal, bottom. */
enum { TOP = 0, LEFT, DIAGONAL, RIGHT, ANTIDIAGONAL, BOTTOM };

typedef struct rows {
    uint32_t *key[QFZ_MAX_DIRS]; /* of the edges that start in row y */
    uint32_t *next_right;        /* rightward keys of row y + 1 */
    uint8_t *has;                /* bit d: the pixel of row y has an edge in direction d */
    uint8_t *drop;               /* bit d: it is dropped */
    uint8_t *next_drop;          /* what the squares above say of row y + 1 */
    uint8_t *next_has;
} rows;

size_t qfz_graph_row_bytes(int64_t w)
{
    return (size_t)w * ((QFZ_MAX_DIRS + 1) * sizeof(uint32_t) + 4);
}

static rows slice(void *scratch, int64_t w)
{
    uint32_t *const keys = scratch;
    uint8_t *const bytes = (uint8_t *)(keys + (QFZ_MAX_DIRS + 1) * w);
    return (rows){
        .key = {keys, keys + w, keys + 2 * w, keys + 3 * w},
        .next_right = keys + 4 * w,
        .has = bytes,
        .drop = bytes + w,
        .next_drop = bytes + 2 * w,
        .next_has = bytes + 3 * w,
    };
}

/* Bit d of has[x]: pixel (y, x) and its neighbour in direction d are both there and valid. */
static void find_edges(const qfz_image *image, int n_dirs, int64_t y, uint8_t *has)
{
    const int64_t w = image->w;
    const uint8_t *const valid = image->valid;
    const bool last = y + 1 == image->h;
    const uint8_t below = last ? 0 : 1u << QFZ_BELOW;
    const uint8_t diagonals =
        last || n_dirs == 2 ? 0 : 1u << QFZ_BELOW_RIGHT | 1u << QFZ_BELOW_LEFT;
    memset(has, 1u << QFZ_RIGHT | below | diagonals, (size_t)w);
    has[0] &= (uint8_t) ~(1u << QFZ_BELOW_LEFT);
    has[w - 1] &= (uint8_t) ~(1u << QFZ_RIGHT | 1u << QFZ_BELOW_RIGHT);
    if (!valid) return;
    const uint8_t *const here = valid + y * w;
    for (int64_t x = 0; x < w; x++) {
        uint8_t bits = here[x] ? has[x] : 0;
        for (int d = 0; d < n_dirs; d++)
            if ((bits >> d & 1) && !here[qfz_dir_dy[d] * w + x + qfz_dir_dx[d]])
                bits &= (uint8_t) ~(1u << d);
        has[x] = bits;
    }
}

/* Keys of the edges of row y in one direction, at the pixels that they start from. */
static void find_keys(const qfz_image *image, qfz_distance distance, int64_t y, int dir,
                      uint32_t *key)
{
    const int64_t skip = dir == QFZ_BELOW_LEFT ? 1 : 0;
    const int64_t n = image->w - (qfz_dir_dx[dir] != 0 ? 1 : 0);
    const int64_t p = y * image->w + skip;
    qfz_levels(image, distance, p, p + qfz_dir_dy[dir] * image->w + qfz_dir_dx[dir], n, key + skip);
}

static weight weigh(const uint32_t *key, const uint8_t *has, int64_t x, int dir, int place)
{
    return has[x] >> dir & 1 ? (weight)key[x] * PLACES + (weight)place : no_edge;
}

static bool over(weight e, weight a, weight b)
{
    return e > a && e > b;
}

/* Is e, from corner i to corner j, the heaviest of a cycle?  a and b lead from i to j by one other
 * corner, c and d by the last one, m joins those two corners. */
static bool heaviest(weight e, weight a, weight b, weight c, weight d, weight m)
{
    if (e == no_edge) return false;
    return over(e, a, b) || over(e, c, d) || (e > m && (over(e, a, d) || over(e, c, b)));
}

/* What the square of pixels x and x + 1 drops, of 4-connected edges: the heaviest, if it has all.
 */
static void drop_side(const weight e[6], int64_t x, rows *r)
{
    const weight top = e[TOP], left = e[LEFT], right = e[RIGHT], bottom = e[BOTTOM];
    const weight up = top > left ? top : left, low = right > bottom ? right : bottom;
    const weight most = up > low ? up : low;
    if (most == no_edge) return;
    r->drop[x] |= (uint8_t)((top == most) << QFZ_RIGHT | (left == most) << QFZ_BELOW);
    r->drop[x + 1] |= (uint8_t)((right == most) << QFZ_BELOW);
    r->next_drop[x] |= (uint8_t)((bottom == most) << QFZ_RIGHT);
}

/* The same for 8-connected edges: all that are not in the square's minimum spanning tree. */
static void drop_any(const weight e[6], int64_t x, rows *r)
{
    const weight t = e[TOP], l = e[LEFT], d = e[DIAGONAL], v = e[RIGHT], a = e[ANTIDIAGONAL],
                 b = e[BOTTOM];
    r->drop[x] |= (uint8_t)(heaviest(t, l, a, d, v, b) << QFZ_RIGHT |
                            heaviest(l, t, a, d, b, v) << QFZ_BELOW |
                            heaviest(d, t, v, l, b, a) << QFZ_BELOW_RIGHT);
    r->drop[x + 1] |= (uint8_t)(heaviest(v, t, d, a, b, l) << QFZ_BELOW | heaviest(a, t, l, v, b, d)
                                                                              << QFZ_BELOW_LEFT);
    r->next_drop[x] |= (uint8_t)(heaviest(b, l, d, a, v, t) << QFZ_RIGHT);
}

static void drop_in_squares(rows *r, int64_t w, int n_dirs)
{
    for (int64_t x = 0; x + 1 < w; x++) {
        weight e[6] = {
            [TOP] = weigh(r->key[QFZ_RIGHT], r->has, x, QFZ_RIGHT, TOP),
            [LEFT] = weigh(r->key[QFZ_BELOW], r->has, x, QFZ_BELOW, LEFT),
            [DIAGONAL] = weigh(r->key[QFZ_BELOW_RIGHT], r->has, x, QFZ_BELOW_RIGHT, DIAGONAL),
            [RIGHT] = weigh(r->key[QFZ_BELOW], r->has, x + 1, QFZ_BELOW, RIGHT),
            [ANTIDIAGONAL] =
                weigh(r->key[QFZ_BELOW_LEFT], r->has, x + 1, QFZ_BELOW_LEFT, ANTIDIAGONAL),
            [BOTTOM] = weigh(r->next_right, r->next_has, x, QFZ_RIGHT, BOTTOM),
        };
        if (n_dirs == 2)
            drop_side(e, x, r);
        else
            drop_any(e, x, r);
    }
}

static void emit(qfz_graph *graph, const rows *r, int64_t y, int64_t w, uint32_t alpha_key)
{
    const int n_dirs = graph->n_dirs;
    int64_t n = graph->n_edges;
    for (int64_t x = 0; x < w; x++) {
        const uint32_t code = (uint32_t)((y * w + x) * n_dirs);
        for (uint32_t stay = r->has[x] & ~(uint32_t)r->drop[x]; stay; stay &= stay - 1) {
            const int dir = __builtin_ctz(stay);
            const uint32_t key = r->key[dir][x];
            graph->key[n] = key;
            graph->id[n] = code + (uint32_t)dir;
            n += key <= alpha_key;
        }
    }
    graph->n_edges = n;
}

void qfz_graph_set_image(qfz_graph *graph, const qfz_image *image, const qfz_rule *rule,
                         void *scratch)
{
    const int64_t h = image->h, w = image->w;
    const int n_dirs = qfz_n_dirs(rule);
    qfz_graph_set_links(graph, (uint32_t)(h * w), NULL, NULL, NULL);
    graph->n_codes = (uint32_t)(h * w * n_dirs);
    graph->n_dirs = n_dirs;
    graph->w = (int32_t)w;

    rows r = slice(scratch, w);
    memset(r.drop, 0, (size_t)w);
    find_edges(image, n_dirs, 0, r.has);
    find_keys(image, rule->distance, 0, QFZ_RIGHT, r.key[QFZ_RIGHT]);
    for (int64_t y = 0; y < h; y++) {
        if (y + 1 < h) {
            for (int d = QFZ_BELOW; d < n_dirs; d++)
                find_keys(image, rule->distance, y, d, r.key[d]);
            find_edges(image, n_dirs, y + 1, r.next_has);
            find_keys(image, rule->distance, y + 1, QFZ_RIGHT, r.next_right);
            memset(r.next_drop, 0, (size_t)w);
            drop_in_squares(&r, w, n_dirs);
        }
        emit(graph, &r, y, w, rule->alpha_key);
        const rows was = r;
        r.has = was.next_has;
        r.next_has = was.has;
        r.drop = was.next_drop;
        r.next_drop = was.drop;
        r.key[QFZ_RIGHT] = was.next_right;
        r.next_right = was.key[QFZ_RIGHT];
    }
}
