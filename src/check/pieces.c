/* SPDX-License-Identifier: MIT */
#include "check/pieces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* Pieces have numbers: those that reach the row above come first, in the order of that row. */
struct qfz_pieces {
    qfz_pieces_rule rule;
    qfz_piece_fn came;
    void *arg;
    qfz_faults *faults;
    int64_t w;
    uint64_t max_label, pixels;
    uint32_t *above, *here; /* piece of each pixel; QFZ_NONE: it has no label */
    uint32_t *parent;       /* of each piece; a root is its own */
    uint32_t *place;        /* of each root, its next number */
    qfz_piece *list, *next;
    char *ranges, *next_ranges, *value; /* within_omega: least and greatest values of a piece */
    size_t value_bytes;
    uint32_t n;
};

static size_t value_bytes(const qfz_pieces_rule *rule)
{
    return rule->within_omega ? (size_t)rule->rule->n_bands * qfz_type_bytes(rule->rule->type) : 0;
}

int64_t qfz_pieces_bytes(const qfz_pieces_rule *rule)
{
    return 2 * (int64_t)(2 * sizeof(qfz_piece) + 2 * 2 * value_bytes(rule)) +
           6 * (int64_t)sizeof(uint32_t);
}

static qfz_status allocate(qfz_pieces *p, qfz_error *err)
{
    const int64_t w = p->w;
    QFZ_TRY(QFZ_NEW(&p->above, w, err));
    QFZ_TRY(QFZ_NEW(&p->here, w, err));
    QFZ_TRY(QFZ_NEW(&p->parent, 2 * w, err));
    QFZ_TRY(QFZ_NEW(&p->place, 2 * w, err));
    QFZ_TRY(QFZ_NEW(&p->list, 2 * w, err));
    QFZ_TRY(QFZ_NEW(&p->next, 2 * w, err));
    QFZ_TRY(qfz_alloc((void **)&p->ranges, 4 * w, p->value_bytes, err));
    QFZ_TRY(qfz_alloc((void **)&p->next_ranges, 4 * w, p->value_bytes, err));
    QFZ_TRY(qfz_alloc((void **)&p->value, 1, p->value_bytes, err));
    memset(p->above, 0xff, (size_t)w * sizeof *p->above);
    return QFZ_OK;
}

qfz_status qfz_pieces_open(qfz_pieces **pieces, const qfz_pieces_rule *rule, int64_t w,
                           qfz_piece_fn came, void *arg, qfz_faults *faults, qfz_error *err)
{
    qfz_pieces *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->rule = *rule;
    made->came = came;
    made->arg = arg;
    made->faults = faults;
    made->w = w;
    made->value_bytes = value_bytes(rule);
    const qfz_status st = allocate(made, err);
    if (st != QFZ_OK) {
        qfz_pieces_close(made);
        return st;
    }
    *pieces = made;
    return QFZ_OK;
}

void qfz_pieces_close(qfz_pieces *p)
{
    if (!p) return;
    free(p->above);
    free(p->here);
    free(p->parent);
    free(p->place);
    free(p->list);
    free(p->next);
    free(p->ranges);
    free(p->next_ranges);
    free(p->value);
    free(p);
}

/* ------------------------------------------------------------------------------------ union-find
 */
static uint32_t find(qfz_pieces *p, uint32_t i)
{
    while (p->parent[i] != i)
        i = p->parent[i] = p->parent[p->parent[i]];
    return i;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greatest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static char *lo_of(const qfz_pieces *p, uint32_t i)
{
    return p->ranges + (size_t)2 * i * p->value_bytes;
}

static char *hi_of(const qfz_pieces *p, uint32_t i)
{
    return lo_of(p, i) + p->value_bytes;
}

static void add_piece(qfz_piece *into, const qfz_piece *from)
{
    if (from->y < into->y || (from->y == into->y && from->x < into->x)) {
        into->x = from->x;
        into->y = from->y;
    }
    into->pixels += from->pixels;
    into->mass += from->mass;
    into->x0 = least(into->x0, from->x0);
    into->y0 = least(into->y0, from->y0);
    into->x1 = greatest(into->x1, from->x1);
    into->y1 = greatest(into->y1, from->y1);
    into->sum_x += from->sum_x;
    into->sum_y += from->sum_y;
    qfz_outline_add(&into->outline, &from->outline);
    into->is_first |= from->is_first;
    into->has_others |= from->has_others;
}

/* Widens the range of a piece; a range that passes omega is a fault, once. */
static void widen(qfz_pieces *p, uint32_t piece, const char *lo, const char *hi, int64_t x,
                  int64_t y)
{
    const qfz_rule *const rule = p->rule.rule;
    if (p->value_bytes == 0) return;
    const bool was_wide = qfz_too_wide(rule, lo_of(p, piece), hi_of(p, piece));
    if (!qfz_widen(rule, lo_of(p, piece), hi_of(p, piece), lo, hi) || was_wide) return;
    if (qfz_too_wide(rule, lo_of(p, piece), hi_of(p, piece)))
        qfz_faults_add(p->faults, x, y,
                       "the values of label %" PRIu64 " span more than omega from this pixel on",
                       p->list[piece].label);
}

/* Returns the root of both. */
static uint32_t join(qfz_pieces *p, uint32_t a, uint32_t b, int64_t x, int64_t y)
{
    a = find(p, a);
    b = find(p, b);
    if (a == b) return a;
    if (b < a) {
        const uint32_t t = a;
        a = b;
        b = t;
    }
    p->parent[b] = a;
    add_piece(&p->list[a], &p->list[b]);
    widen(p, a, lo_of(p, b), hi_of(p, b), x, y);
    return a;
}

/* ---------------------------------------------------------------------------------------- pixels
 */
/* The value of a pixel, as a range without width. */
static void read_value(qfz_pieces *p, const qfz_check_row *row, int64_t x)
{
    const size_t bytes = qfz_type_bytes(row->image->type);
    const size_t plane = (size_t)(row->image->h * row->image->w);
    const char *const from = row->image->pixels;
    for (int b = 0; b < row->image->n_bands; b++)
        memcpy(p->value + (size_t)b * bytes,
               from + ((size_t)b * plane + (size_t)(row->at + x)) * bytes, bytes);
}

static uint32_t begin_piece(qfz_pieces *p, const qfz_check_row *row, int64_t x)
{
    const uint64_t label = row->labels[x];
    const uint32_t i = p->n++;
    const bool is_new = label > p->max_label;
    if (is_new && label != p->max_label + 1)
        qfz_faults_add(p->faults, x, row->y,
                       "label %" PRIu64 " comes first here, after labels up to %" PRIu64, label,
                       p->max_label);
    if (is_new) p->max_label = label;
    p->parent[i] = i;
    p->list[i] = (qfz_piece){.label = label,
                             .x = x,
                             .y = row->y,
                             .x0 = x,
                             .y0 = row->y,
                             .x1 = x + 1,
                             .y1 = row->y + 1,
                             .is_first = is_new};
    if (p->value_bytes > 0) {
        memcpy(lo_of(p, i), p->value, p->value_bytes);
        memcpy(hi_of(p, i), p->value, p->value_bytes);
    }
    return i;
}

static void add_pixel(qfz_pieces *p, uint32_t piece, const qfz_check_row *row, int64_t x)
{
    const uint64_t label = row->labels[x];
    qfz_piece pixel = {.x = x,
                       .y = row->y,
                       .pixels = 1,
                       .mass = row->mass,
                       .x0 = x,
                       .y0 = row->y,
                       .x1 = x + 1,
                       .y1 = row->y + 1,
                       .sum_x = (uint64_t)x,
                       .sum_y = (uint64_t)row->y};
    if (x == 0 || row->labels[x - 1] != label) qfz_outline_add_side(&pixel.outline, x, row->y);
    if (x + 1 == row->w || row->labels[x + 1] != label)
        qfz_outline_add_side(&pixel.outline, x + 1, row->y);
    add_piece(&p->list[piece], &pixel);
    widen(p, piece, p->value, p->value, x, row->y);
}

/* False if the pixel has no label that belongs to a piece. */
static bool check_label(const qfz_pieces *p, const qfz_check_row *row, int64_t x)
{
    const uint64_t label = row->labels[x];
    if (label == UINT64_MAX) {
        qfz_faults_add(p->faults, x, row->y, "the value is no label: not a whole number >= 0");
        return false;
    }
    if (row->valid && row->valid[x] && label == 0)
        qfz_faults_add(p->faults, x, row->y, "label 0, but the pixel is valid");
    if (row->valid && !row->valid[x] && label != 0)
        qfz_faults_add(p->faults, x, row->y, "label %" PRIu64 ", but the pixel is invalid", label);
    return label != 0;
}

/* The edge in direction d that ends in pixel x of the row: where it starts from. */
typedef struct edge {
    int64_t from; /* column */
    bool exists;
    bool is_low; /* its level is at most alpha */
    uint64_t label;
    uint32_t piece;
} edge;

static edge edge_to(const qfz_pieces *p, const qfz_check_row *row, int d, int64_t x)
{
    const int64_t from = x - qfz_dir_dx[d];
    edge e = {.from = from, .label = 0, .piece = QFZ_NONE};
    if (from < 0 || from >= row->w || !row->has[d][from]) return e;
    e.exists = true;
    e.is_low = !row->levels[d] || row->levels[d][from] <= p->rule.rule->alpha_level;
    e.label = d == QFZ_RIGHT ? row->labels[from] : row->labels_above[from];
    e.piece = d == QFZ_RIGHT ? p->here[from] : p->above[from];
    return e;
}

static void complain_apart(const qfz_pieces *p, const qfz_check_row *row, int d, const edge *e,
                           int64_t x)
{
    qfz_faults_add(p->faults, x, row->y,
                   "label %" PRIu64
                   ", but its neighbour in column %lld, row %lld has label %" PRIu64
                   ", at a dissimilarity of %.9g, which joins them",
                   row->labels[x], (long long)e->from, (long long)(row->y - qfz_dir_dy[d]),
                   e->label, qfz_level_value(p->rule.rule, row->levels[d][e->from]));
}

static void visit(qfz_pieces *p, const qfz_check_row *row, int64_t x)
{
    uint32_t piece = QFZ_NONE;
    bool has_others = false;
    p->here[x] = QFZ_NONE;
    if (!check_label(p, row, x)) return;
    if (p->value_bytes > 0) read_value(p, row, x);
    for (int d = 0; d < row->n_dirs; d++) {
        const edge e = edge_to(p, row, d, x);
        if (!e.exists || e.piece == QFZ_NONE) continue;
        if (e.label == row->labels[x] && (e.is_low || !p->rule.within_alpha))
            piece = piece == QFZ_NONE ? find(p, e.piece) : join(p, piece, e.piece, x, row->y);
        if (e.label == row->labels[x]) continue;
        if (e.is_low && p->rule.must_join) complain_apart(p, row, d, &e, x);
        has_others = true;
        p->list[find(p, e.piece)].has_others = true;
    }
    if (piece == QFZ_NONE) piece = begin_piece(p, row, x);
    add_pixel(p, piece, row, x);
    p->list[piece].has_others |= has_others;
    p->here[x] = piece;
    p->pixels++;
}

/* ------------------------------------------------------------------------------------------ rows
 */
static qfz_status complete(qfz_pieces *p, const qfz_piece *piece, qfz_error *err)
{
    if (!piece->is_first)
        qfz_faults_add(p->faults, piece->x, piece->y,
                       "a second region of label %" PRIu64
                       " begins here: no path joins it to the first",
                       piece->label);
    if (piece->mass < p->rule.min_mass && piece->has_others)
        qfz_faults_add(p->faults, piece->x, piece->y,
                       "label %" PRIu64 " begins here and has %" PRIu64
                       " pixels, less than the least area, although it has neighbours",
                       piece->label, piece->pixels);
    return piece->is_first && p->came ? p->came(p->arg, piece, err) : QFZ_OK;
}

/* Gives new numbers to the pieces that reach the row, in the order of the row, and completes the
 * others. */
static qfz_status settle(qfz_pieces *p, bool is_last, qfz_error *err)
{
    uint32_t n = 0;
    memset(p->place, 0xff, p->n * sizeof *p->place);
    for (int64_t x = 0; x < p->w && !is_last; x++) {
        if (p->here[x] == QFZ_NONE) continue;
        const uint32_t root = find(p, p->here[x]);
        if (p->place[root] == QFZ_NONE) {
            p->next[n] = p->list[root];
            memcpy(p->next_ranges + (size_t)2 * n * p->value_bytes, lo_of(p, root),
                   2 * p->value_bytes);
            p->place[root] = n++;
        }
        p->here[x] = p->place[root];
    }
    for (uint32_t i = 0; i < p->n; i++)
        if (p->parent[i] == i && p->place[i] == QFZ_NONE) QFZ_TRY(complete(p, &p->list[i], err));
    qfz_piece *const list = p->list;
    char *const ranges = p->ranges;
    uint32_t *const above = p->above;
    p->list = p->next;
    p->next = list;
    p->ranges = p->next_ranges;
    p->next_ranges = ranges;
    p->above = p->here;
    p->here = above;
    p->n = n;
    for (uint32_t i = 0; i < n; i++)
        p->parent[i] = i;
    return QFZ_OK;
}

qfz_status qfz_pieces_row(qfz_pieces *p, const qfz_check_row *row, qfz_error *err)
{
    for (int64_t x = 0; x < row->w; x++)
        visit(p, row, x);
    return settle(p, false, err);
}

qfz_status qfz_pieces_end(qfz_pieces *p, uint64_t *n, uint64_t *pixels, qfz_error *err)
{
    QFZ_TRY(settle(p, true, err));
    *n = p->max_label;
    *pixels = p->pixels;
    return QFZ_OK;
}
