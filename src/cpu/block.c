/* SPDX-License-Identifier: MIT */
#include "cpu/block.h"

#include <string.h>

#include "core/simd.h"
#include "cpu/fetch.h"
#include "cpu/lightest.h"

enum { ROW = QFZ_SQUARES, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* All edges that can exist at a pixel. */
enum { ALL_EDGES = 15 };

/* Edges that end in the row below: vertical ones and diagonals. */
enum { VERTICAL = 1 << QFZ_EDGE_V, DIAGONALS = 1 << QFZ_EDGE_FALL | 1 << QFZ_EDGE_RISE };
enum { DOWN = VERTICAL | DIAGONALS };

typedef qfz_square_row square_row;

struct qfz_block_edges {
    square_row rows[3];
    uint32_t starts[2][DIGITS];
    int32_t n_edges;
    uint64_t bits; /* all bits that any edge has */
    uint64_t *edges[2];
};

/* The block at work. */
typedef struct view {
    const qfz_image *image;
    const qfz_rule *rule;
    qfz_box box;
    int64_t x_first, x_last; /* first and last column whose pixels are read */
    qfz_block_edges *s;
    qfz_seam *seam;
    uint64_t *open;
    qfz_lightest *lightest;
} view;

static bool is_by_key(const view *b)
{
    return b->lightest && b->lightest->by_key;
}

/* The edges of all squares, and loops. */
static size_t max_edges(int connectivity)
{
    return QFZ_CPU_BLOCK_PX * (size_t)(connectivity / 2) + 4 * QFZ_CPU_BLOCK_SIDE;
}

static size_t struct_bytes(void)
{
    return (sizeof(qfz_block_edges) + 63) / 64 * 64;
}

size_t qfz_block_edges_bytes(int connectivity)
{
    return struct_bytes() + 2 * max_edges(connectivity) * sizeof(uint64_t);
}

/* ---- Levels of the edges of one row of squares. */

static void horizontal_levels(const view *b, int64_t y, square_row *row)
{
    const int64_t p = y * b->image->w + b->x_first;
    qfz_edge_levels(b->image, b->rule, QFZ_RIGHT, p, p + 1, b->x_last - b->x_first,
                    row->h + (b->x_first - b->box.x0 + 1));
}

static void downward_levels(const view *b, int64_t y, square_row *row)
{
    const qfz_image *const image = b->image;
    const qfz_rule *const rule = b->rule;
    const int64_t w = b->image->w, p = y * w + b->x_first, n = b->x_last - b->x_first;
    const int64_t at = b->x_first - b->box.x0 + 1;
    qfz_edge_levels(image, rule, QFZ_BELOW, p, p + w, n + 1, row->v + at);
    if (b->rule->connectivity == 4) return;
    qfz_edge_levels(image, rule, QFZ_BELOW_RIGHT, p, p + w + 1, n, row->fall + at);
    qfz_edge_levels(image, rule, QFZ_BELOW_LEFT, p + 1, p + w, n, row->rise + at);
}

/* Clears the edges and squares of invalid pixels.  a is the first of n + 1 pixels of a row, c
 * the pixel below a. */
static void drop_invalid(const uint8_t *restrict a, const uint8_t *restrict c, int64_t n,
                         uint8_t *restrict exists)
{
    for (int64_t i = 0; i < n; i++) {
        const int va = a[i] != 0, vb = a[i + 1] != 0, vc = c[i] != 0, vd = c[i + 1] != 0;
        exists[i] &= (uint8_t)((va & vb) << QFZ_EDGE_H | (va & vc) << QFZ_EDGE_V |
                               (va & vd) << QFZ_EDGE_FALL | (vb & vc) << QFZ_EDGE_RISE |
                               (va & vb & vc & vd) * QFZ_SQUARE);
    }
}

static void set_existing(const view *b, int64_t y, square_row *row)
{
    const int64_t w = b->image->w;
    const int64_t at = b->x_first - b->box.x0 + 1, n = b->x_last - b->x_first;
    const bool has_below = y + 1 < b->image->h;
    const uint8_t sides = 1 << QFZ_EDGE_H | 1 << QFZ_EDGE_V;
    const uint8_t wanted = QFZ_SQUARE | (b->rule->connectivity == 4 ? sides : ALL_EDGES);
    const uint8_t inside = has_below ? wanted : 1 << QFZ_EDGE_H;
    memset(row->exists, 0, sizeof row->exists);
    memset(row->exists + at, inside, (size_t)n);
    row->exists[at + n] = has_below ? 1 << QFZ_EDGE_V : 0;
    if (!b->image->valid) return;
    const uint8_t *const valid = b->image->valid + y * w + b->x_first;
    const uint8_t *const below = has_below ? valid + w : valid; /* not used */
    drop_invalid(valid, below, n, row->exists + at);
    if (!valid[n] || !below[n]) row->exists[at + n] = 0;
}

static void fetch_row(const view *b, int64_t y)
{
    const qfz_image *const image = b->image;
    const int64_t bytes = (int64_t)qfz_type_bytes(image->type), n = b->x_last - b->x_first + 1;
    if (y >= b->box.y1) return;
    const int64_t p = y * image->w + b->x_first;
    for (int band = 0; band < image->n_bands; band++)
        qfz_fetch((const char *)image->pixels + (band * image->h * image->w + p) * bytes,
                  n * bytes);
    if (image->valid) qfz_fetch(image->valid + p, n);
}

/* Fills a row of squares, except drop, which depends on the levels of the row below. */
static void fill_row(const view *b, int64_t y, square_row *row)
{
    fetch_row(b, y + QFZ_FETCH_ROWS);
    horizontal_levels(b, y, row);
    if (y + 1 < b->image->h) downward_levels(b, y, row);
    set_existing(b, y, row);
    if (b->lightest) qfz_lightest_bound(b->lightest, y - b->box.y0, row);
}

/* keep[i] = 1 << kind for each edge of pixel a that exists and is needed.  keep[0] ignores the
 * squares before index 0 and may have a vertical edge too many, which is not used. */
static void needed_of_row(const square_row *above, const square_row *row, uint8_t *restrict keep)
{
    keep[0] = row->exists[0] & ALL_EDGES &
              (uint8_t) ~((row->drop[0] & QFZ_DROP_TOP) | (above->drop[0] & QFZ_DROP_BOTTOM) >> 1 |
                          (row->drop[0] & (QFZ_DROP_FALL | QFZ_DROP_RISE)) >> 2);
    for (int i = 1; i < ROW - 1; i++) {
        const uint8_t in_row = row->drop[i];
        const uint8_t h = (in_row & QFZ_DROP_TOP) | (above->drop[i] & QFZ_DROP_BOTTOM) >> 1;
        const uint8_t v = (in_row & QFZ_DROP_LEFT) >> 1 | (row->drop[i - 1] & QFZ_DROP_RIGHT) >> 2;
        const uint8_t diagonals = (in_row & (QFZ_DROP_FALL | QFZ_DROP_RISE)) >> 2;
        keep[i] = row->exists[i] & ALL_EDGES & (uint8_t) ~(h | v | diagonals);
    }
}

QFZ_CLONES_512 static void drop_above_alpha(uint32_t alpha, const square_row *row,
                                            uint8_t *restrict keep)
{
    for (int i = 0; i < ROW - 1; i++) {
        const int joins = (row->h[i] <= alpha) << QFZ_EDGE_H | (row->v[i] <= alpha) << QFZ_EDGE_V |
                          (row->fall[i] <= alpha) << QFZ_EDGE_FALL |
                          (row->rise[i] <= alpha) << QFZ_EDGE_RISE;
        keep[i] &= (uint8_t)joins;
    }
}

static void keep_of_row(const view *b, const square_row *above, const square_row *row,
                        uint8_t *restrict keep)
{
    const uint32_t alpha = b->rule->alpha_level;
    needed_of_row(above, row, keep);
    if (alpha < UINT32_MAX) drop_above_alpha(alpha, row, keep);
}

/* ---- Needed edges: inside the block, or across one of its seams. */

static const uint32_t *levels_of(const square_row *row, int kind)
{
    const uint32_t *const levels[QFZ_EDGE_KINDS] = {row->h, row->v, row->fall, row->rise};
    return levels[kind];
}

static void open_end(const view *b, int64_t y, int64_t x, uint32_t level)
{
    if (!qfz_box_has(b->box, y, x)) return;
    const int64_t h = qfz_box_h(b->box), w = qfz_box_w(b->box);
    uint64_t *const open = &b->open[qfz_ring_index(h, w, y - b->box.y0, x - b->box.x0)];
    if (level < *open) *open = level;
}

/* The edges of pixel a = (y, x) cross a seam: updates the open level of their pixels in the
 * block. */
static void open_ends(const view *b, int64_t y, int64_t x, const square_row *row, int keep)
{
    static const int from[QFZ_EDGE_KINDS] = {0, 0, 0, 1}, to_x[QFZ_EDGE_KINDS] = {1, 0, 1, 0};
    static const int to_y[QFZ_EDGE_KINDS] = {0, 1, 1, 1};
    if (!b->open) return;
    for (unsigned bits = (unsigned)keep; bits; bits &= bits - 1) {
        const int kind = __builtin_ctz(bits);
        const uint32_t level = levels_of(row, kind)[x - b->box.x0 + 1];
        open_end(b, y, x + from[kind], level);
        open_end(b, y + to_y[kind], x + to_x[kind], level);
    }
}

static void add_crossing(const view *b, int64_t y, int64_t x, const square_row *row, int keep,
                         uint32_t *count)
{
    qfz_seam *const seam = b->seam;
    for (unsigned bits = (unsigned)keep; bits; bits &= bits - 1) {
        const int kind = __builtin_ctz(bits);
        const uint32_t at = seam->n_right + seam->n_below + seam->n_corner;
        const uint32_t place = (uint32_t)(y * b->image->w + x);
        seam->edges[at] = (qfz_seam_edge){place * QFZ_EDGE_KINDS + (uint32_t)kind,
                                          levels_of(row, kind)[x - b->box.x0 + 1]};
        ++*count;
    }
    open_ends(b, y, x, row, keep);
}

/* Writes every edge, and advances if it is kept, so that no branch depends on data.  place: of
 * the row's first pixel. */
static inline void add_kinds(qfz_block_edges *s, const square_row *row, const uint8_t *keep,
                             uint32_t n, uint32_t place, int kinds)
{
    const qfz_edge_offsets ends = qfz_edge_offsets_of(n);
    uint64_t *to_add = s->edges[0] + s->n_edges;
    for (uint32_t i = 1; i <= n; i++, place++) {
        for (int kind = 0; kind < kinds; kind++) {
            *to_add = qfz_edge_of(levels_of(row, kind)[i], place, place) +
                      qfz_edge_of(0, ends.from[kind], ends.to[kind]);
            to_add += keep[i] >> kind & 1;
        }
    }
    s->n_edges = (int32_t)(to_add - s->edges[0]);
}

static void add_inner(qfz_block_edges *s, const square_row *row, const uint8_t *keep, uint32_t n,
                      uint32_t place, int connectivity)
{
    if (connectivity == 4)
        add_kinds(s, row, keep, n, place, 2);
    else
        add_kinds(s, row, keep, n, place, 4);
}

/* The same if few edges are kept: those of 64 pixels are found at once, and the inner loops are
 * long. */
static void add_few_inner(qfz_block_edges *s, const square_row *row, const uint8_t *keep,
                          uint32_t n, uint32_t place, int kinds)
{
    const qfz_edge_offsets ends = qfz_edge_offsets_of(n);
    uint64_t *const edges = s->edges[0];
    int32_t at = s->n_edges;
    for (uint32_t first = 1; first <= n; first += 64) {
        const uint64_t inside = n - first < 63 ? (UINT64_C(2) << (n - first)) - 1 : UINT64_MAX;
        for (int kind = 0; kind < kinds; kind++) {
            const uint32_t *const levels = levels_of(row, kind) + first;
            const uint32_t p = place + first - 1 + ends.from[kind];
            const uint32_t q = place + first - 1 + ends.to[kind];
            for (uint64_t bits = qfz_bits_of_bytes(keep + first, kind) & inside; bits;
                 bits &= bits - 1) {
                const uint32_t i = (uint32_t)__builtin_ctzll(bits);
                edges[at++] = qfz_edge_of(levels[i], p + i, q + i);
            }
        }
    }
    s->n_edges = at;
}

/* Edges across the right seam, the lower seam and the corner.  They are listed in this order
 * because only the last row, which comes last, has edges of the second and third kind. */
static void add_crossing_of_row(const view *b, int64_t y, const square_row *row,
                                const uint8_t *keep)
{
    const int n = (int)qfz_box_w(b->box);
    const int64_t x_last = b->box.x1 - 1;
    qfz_seam *const seam = b->seam;
    const bool last = y + 1 == b->box.y1;
    open_ends(b, y, b->box.x0 - 1, row, keep[0] & ~VERTICAL);
    add_crossing(b, y, x_last, row, keep[n] & (last ? ~DOWN : ~VERTICAL), &seam->n_right);
    if (!last) return;
    for (int i = 1; i < n; i++)
        add_crossing(b, y, b->box.x0 + i - 1, row, keep[i] & DOWN, &seam->n_below);
    add_crossing(b, y, x_last, row, keep[n] & VERTICAL, &seam->n_below);
    add_crossing(b, y, x_last, row, keep[n] & DIAGONALS, &seam->n_corner);
}

static void add_row(const view *b, int64_t y, const square_row *row, uint8_t *keep)
{
    const int n = (int)qfz_box_w(b->box);
    add_crossing_of_row(b, y, row, keep);
    if (b->lightest) qfz_lightest_take(b->lightest, y - b->box.y0, row, keep);
    keep[n] &= VERTICAL;
    for (int i = 1; y + 1 == b->box.y1 && i <= n; i++)
        keep[i] &= (uint8_t)~DOWN;
    const uint32_t place = (uint32_t)((y - b->box.y0) * n);
    if (b->lightest)
        add_few_inner(b->s, row, keep, (uint32_t)n, place, b->rule->connectivity / 2);
    else
        add_inner(b->s, row, keep, (uint32_t)n, place, b->rule->connectivity);
}

static void thin_row(const view *b, square_row *row, const square_row *below)
{
    (is_by_key(b) ? qfz_square_row_thin_by_key : qfz_square_row_thin)(row, below,
                                                                      b->rule->connectivity);
}

/* Edges from the row above the block. */
static void open_top(const view *b, const square_row *above)
{
    uint8_t keep[ROW];
    keep_of_row(b, above, above,
                keep); /* correct for all but horizontal edges, which are not used */
    open_ends(b, b->box.y0 - 1, b->box.x0 - 1, above, keep[0] & DIAGONALS);
    for (int i = 1; i <= qfz_box_w(b->box); i++)
        open_ends(b, b->box.y0 - 1, b->box.x0 + i - 1, above, keep[i] & DOWN);
}

static void find_edges(const view *b)
{
    square_row *const rows = b->s->rows;
    square_row *above = &rows[0], *row = &rows[1], *below = &rows[2];
    uint8_t keep[ROW];
    memset(rows, 0, sizeof b->s->rows); /* vectors read levels of edges that do not exist, too */
    fill_row(b, b->box.y0, row);
    if (b->box.y0 > 0) {
        fill_row(b, b->box.y0 - 1, above);
        thin_row(b, above, row);
        if (b->open) open_top(b, above);
    } else if (b->lightest) {
        qfz_lightest_bound(b->lightest, -1, above);
    }
    if (b->lightest) qfz_lightest_choose(b->lightest, 0, above, row);
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        if (y + 1 < b->image->h) fill_row(b, y + 1, below);
        if (b->lightest && y + 1 < b->box.y1)
            qfz_lightest_choose(b->lightest, y + 1 - b->box.y0, row, below);
        thin_row(b, row, below);
        keep_of_row(b, above, row, keep);
        add_row(b, y, row, keep);
        square_row *const free_row = above;
        above = row;
        row = below;
        below = free_row;
    }
}

/* Replaces pixels by components, and drops edges inside one component. */
static void name_components(qfz_block_edges *s, const uint16_t *component)
{
    uint64_t *const edges = s->edges[0], bits = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_edges; i++) {
        const uint64_t edge = edges[i];
        const uint32_t p = component[qfz_edge_p(edge)], q = component[qfz_edge_q(edge)];
        const uint64_t named = qfz_edge_of(qfz_edge_level(edge), p, q);
        const bool stays = p != q;
        edges[n] = named;
        bits |= stays ? named : 0;
        n += stays;
    }
    s->n_edges = n;
    s->bits = bits;
}

/* True if about half of the edges or more have level 0, of some that stand for all: as the area
 * filter leaves them, or in flat zones.  To merge takes more time than it saves if a third has. */
static bool is_flat(const qfz_block_edges *s)
{
    enum { SOME = 64, MANY = SOME * 7 / 16 };
    const int32_t step = s->n_edges / SOME;
    int32_t n = 0;
    for (int32_t i = 0; step > 0 && i < SOME; i++)
        n += qfz_edge_level(s->edges[0][i * step]) == 0;
    return n > MANY;
}

/* Edges of level 0 need no order: components that they join are merged before the others are
 * named, sorted and joined. */
static void merge_flat(qfz_block_edges *s, qfz_lightest *lightest)
{
    uint64_t *const flat = s->edges[0], *const above = s->edges[1];
    const int32_t n_all = s->n_edges;
    s->n_edges = qfz_block_split(0, flat, n_all, above);
    const int32_t n_above = n_all - s->n_edges;
    name_components(s, lightest->component);
    qfz_lightest_merge(lightest, flat, s->n_edges);
    s->edges[0] = above;
    s->edges[1] = flat;
    s->n_edges = n_above;
}

/* Drops edges inside one component. */
static void drop_inside(qfz_block_edges *s, const uint16_t *component)
{
    uint64_t *const edges = s->edges[0];
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_edges; i++) {
        const uint64_t edge = edges[i];
        edges[n] = edge;
        n += component[qfz_edge_p(edge)] != component[qfz_edge_q(edge)];
    }
    s->n_edges = n;
}

static uint64_t bits_of(const uint64_t *edges, int32_t n)
{
    uint64_t bits = 0;
    for (int32_t i = 0; i < n; i++)
        bits |= edges[i];
    return bits;
}

void qfz_block_find(qfz_block_edges *scratch, const qfz_image *image, const qfz_rule *rule,
                    qfz_box box, qfz_seam *seam, uint64_t *open, qfz_lightest *lightest)
{
    const view b = {.image = image,
                    .rule = rule,
                    .box = box,
                    .x_first = box.x0 > 0 ? box.x0 - 1 : 0,
                    .x_last = box.x1 < image->w ? box.x1 : image->w - 1,
                    .s = scratch,
                    .seam = seam,
                    .open = open,
                    .lightest = lightest};
    scratch->n_edges = 0;
    scratch->edges[0] = (uint64_t *)(void *)((char *)scratch + struct_bytes());
    scratch->edges[1] = scratch->edges[0] + max_edges(rule->connectivity);
    seam->n_right = seam->n_below = seam->n_corner = 0;
    find_edges(&b);
    if (lightest) qfz_lightest_finish(lightest);
    if (is_by_key(&b)) {
        drop_inside(scratch, lightest->component);
    } else if (lightest) {
        if (is_flat(scratch)) merge_flat(scratch, lightest);
        name_components(scratch, lightest->component);
    } else {
        scratch->bits = bits_of(scratch->edges[0], scratch->n_edges);
    }
}

void qfz_block_add_loop(qfz_block_edges *scratch, uint32_t level, uint32_t place)
{
    const uint64_t loop = qfz_edge_of(level, place, place);
    scratch->bits |= loop;
    scratch->edges[0][scratch->n_edges++] = loop;
}

uint64_t *qfz_block_end(qfz_block_edges *scratch)
{
    return scratch->edges[0] + scratch->n_edges;
}

void qfz_block_add(qfz_block_edges *scratch, uint32_t n)
{
    scratch->bits |= bits_of(qfz_block_end(scratch), (int32_t)n);
    scratch->n_edges += (int32_t)n;
}

int32_t qfz_block_list(qfz_block_edges *scratch, uint64_t *list[2])
{
    list[0] = scratch->edges[0];
    list[1] = scratch->edges[1];
    return scratch->n_edges;
}

int32_t qfz_block_split(uint32_t level, uint64_t *list, int32_t n, uint64_t *above)
{
    int32_t n_low = 0, n_above = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint64_t edge = list[i];
        const bool is_low = qfz_edge_level(edge) <= level;
        list[n_low] = above[n_above] = edge;
        n_low += is_low;
        n_above += !is_low;
    }
    return n_low;
}

/* ---- Sorting by level. */

/* Turns counts into places; the first half of the list comes before the second. */
static void place_digits(uint32_t starts[2][DIGITS], uint32_t n_digits)
{
    uint32_t sum = 0;
    for (uint32_t digit = 0; digit < n_digits; digit++) {
        for (int half = 0; half < 2; half++) {
            const uint32_t count = starts[half][digit];
            starts[half][digit] = sum;
            sum += count;
        }
    }
}

/* Alternates between the two halves of the list: consecutive edges of one half often have the
 * same digit, and each would wait for the store of the one before. */
static void sort_by_digit(const uint64_t *restrict from, uint64_t *restrict to, int32_t n,
                          int shift, uint32_t n_digits, uint32_t (*restrict starts)[DIGITS])
{
    const uint32_t mask = DIGITS - 1;
    const int32_t half = n / 2;
    const uint64_t *const second = from + half;
    for (int i = 0; i < 2; i++)
        memset(starts[i], 0, n_digits * sizeof *starts[i]);
    for (int32_t i = 0; i < half; i++) {
        starts[0][from[i] >> shift & mask]++;
        starts[1][second[i] >> shift & mask]++;
    }
    if (n % 2) starts[1][second[half] >> shift & mask]++;
    place_digits(starts, n_digits);
    for (int32_t i = 0; i < half; i++) {
        to[starts[0][from[i] >> shift & mask]++] = from[i];
        to[starts[1][second[i] >> shift & mask]++] = second[i];
    }
    if (n % 2) to[starts[1][second[half] >> shift & mask]++] = second[half];
}

/* Radix sort, lowest digit first, up to the highest digit of the largest level; if there are
 * leaves, the bit that marks them is the lowest bit of the lowest digit. */
uint64_t *qfz_block_sort(qfz_block_edges *s, int32_t *n)
{
    uint64_t *from = s->edges[0], *to = s->edges[1];
    const uint64_t bits = s->bits;
    const int lowest = qfz_edge_is_leaf(bits) ? QFZ_EDGE_LEAF_SHIFT : QFZ_EDGE_LEVEL_SHIFT;
    for (int shift = lowest; shift < 64 && bits >> shift > 0; shift += DIGIT_BITS) {
        const uint64_t top = bits >> shift;
        sort_by_digit(from, to, s->n_edges, shift, top < DIGITS ? (uint32_t)top + 1 : DIGITS,
                      s->starts);
        uint64_t *const other = from;
        from = to;
        to = other;
    }
    *n = s->n_edges;
    return from;
}
