/* SPDX-License-Identifier: MIT */
/* tree_block.c - the tree of one block by Kruskal's algorithm, in the first two caches.
 *
 * Before they are sorted, edges are thinned: of every cycle inside one unit square the heaviest
 * edge is dropped, in the total order (key, kind, place).  Each is the heaviest of a cycle of the
 * whole image, so no minimax path needs it; squares that lie in several blocks serve as well. */
#include <string.h>

#include "cpu/tree_parts.h"

enum {
    ROW = QFZ_BLOCK_W + 2, /* one column more on either side: squares across the seams */
    MAX_EDGES = QFZ_BLOCK_PX * QFZ_EDGE_KINDS,
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    PLACE_BITS = 14
};

/* Bits of an edge in its square: its two horizontal sides, its two vertical ones, its diagonals. */
enum { TOP = 1, BOTTOM = 2, LEFT = 4, RIGHT = 8, FALL = 16, RISE = 32 };

/* What exists at a pixel: edges 1 << kind, and the unit square to its lower right. */
enum { ALL_EDGES = 15, SQUARE = 16 };

/* Edges that end in the row below: straight down, or in another column. */
enum { VERTICAL = 1 << QFZ_EDGE_V, DIAGONALS = 1 << QFZ_EDGE_FALL | 1 << QFZ_EDGE_RISE };
enum { DOWN = VERTICAL | DIAGONALS };

/* One row of squares; index 0 is the column before the block. */
typedef struct square_row {
    uint32_t h[ROW], v[ROW], fall[ROW], rise[ROW];
    uint8_t exists[ROW]; /* of pixel a: 1 << kind, SQUARE */
    uint8_t drop[ROW];
} square_row;

typedef struct block_scratch {
    square_row rows[3];
    uint64_t edges[2][MAX_EDGES]; /* key << 32 | kind << PLACE_BITS | place */
    uint32_t starts[DIGITS];
    uint16_t find[QFZ_BLOCK_PX];       /* disjoint sets of pixels */
    uint16_t top[QFZ_BLOCK_PX];        /* of a set's root: the node that stands for it */
    uint16_t parent[2 * QFZ_BLOCK_PX]; /* pixels, then nodes by level */
    uint16_t number[2 * QFZ_BLOCK_PX]; /* of nodes: their place among those that are no aliases */
    uint32_t level[QFZ_BLOCK_PX];
    uint32_t max_key;
    int32_t n_edges;
    int32_t n_nodes;
} block_scratch;

/* One block under construction. */
typedef struct builder {
    const qfz_tree_work *t;
    qfz_tree_block *block;
    qfz_box box;
    int64_t x_first, x_last; /* columns whose pixels are looked at, both included */
    block_scratch *s;
} builder;

size_t qfz_tree_block_bytes(void)
{
    return sizeof(block_scratch);
}

/* ---- Keys of the edges of one row of squares. */

static void horizontal_keys(const builder *b, int64_t y, square_row *row)
{
    const int64_t p = y * b->t->w + b->x_first;
    qfz_levels(b->t->image, b->t->rule->distance, p, p + 1, b->x_last - b->x_first,
               row->h + (b->x_first - b->box.x0 + 1));
}

static void downward_keys(const builder *b, int64_t y, square_row *row)
{
    const qfz_image *const image = b->t->image;
    const qfz_distance distance = b->t->rule->distance;
    const int64_t w = b->t->w, p = y * w + b->x_first, n = b->x_last - b->x_first;
    const int64_t at = b->x_first - b->box.x0 + 1;
    qfz_levels(image, distance, p, p + w, n + 1, row->v + at);
    if (b->t->rule->connectivity == 4) return;
    qfz_levels(image, distance, p, p + w + 1, n, row->fall + at);
    qfz_levels(image, distance, p + 1, p + w, n, row->rise + at);
}

static void set_existing(const builder *b, int64_t y, square_row *row)
{
    const qfz_tree_work *const t = b->t;
    const uint8_t *const valid = t->image->valid;
    const int64_t at = b->x_first - b->box.x0 + 1, n = b->x_last - b->x_first;
    const bool has_below = y + 1 < t->h;
    const uint8_t wanted = t->rule->connectivity == 4 ? 1 << QFZ_EDGE_H | 1 << QFZ_EDGE_V | SQUARE
                                                      : ALL_EDGES | SQUARE;
    const uint8_t inside = has_below ? wanted : 1 << QFZ_EDGE_H;
    memset(row->exists, 0, sizeof row->exists);
    memset(row->exists + at, inside, (size_t)n);
    row->exists[at + n] = has_below ? 1 << QFZ_EDGE_V : 0;
    if (!valid) return;
    for (int64_t i = 0; i <= n; i++) {
        const uint8_t *const a = valid + y * t->w + b->x_first + i;
        const bool va = a[0], vb = i < n && a[1], vc = has_below && a[t->w];
        const bool vd = i < n && has_below && a[t->w + 1];
        row->exists[at + i] &= (uint8_t)((va && vb) << QFZ_EDGE_H | (va && vc) << QFZ_EDGE_V |
                                         (va && vd) << QFZ_EDGE_FALL | (vb && vc) << QFZ_EDGE_RISE |
                                         (va && vb && vc && vd ? SQUARE : 0));
    }
}

/* ---- The filter.  Ties fall to the later of top, bottom, left, right, falling, rising: that is
 * the order of (kind, place), whichever squares an edge is seen in. */

__attribute__((target_clones("default", "avx2"))) static void
drop_of_four(square_row *restrict row, const uint32_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint32_t t = row->h[i], u = bottom[i], l = row->v[i], r = row->v[i + 1];
        const uint32_t tu = t > u ? t : u, lr = l > r ? l : r;
        const uint32_t heaviest = lr >= tu ? (r >= l ? RIGHT : LEFT) : (u >= t ? BOTTOM : TOP);
        row->drop[i] = row->exists[i] & SQUARE ? (uint8_t)heaviest : 0;
    }
}

static inline uint32_t max2(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* An edge is dropped if it is the heaviest of one of its two triangles or two four-cycles
 * (outer sides; the other diagonal and two opposite sides). */
__attribute__((target_clones("default", "avx2"))) static void
drop_of_six(square_row *restrict row, const uint32_t *restrict bottom)
{
    for (int i = 0; i < ROW - 1; i++) {
        const uint32_t t = row->h[i], u = bottom[i], l = row->v[i], r = row->v[i + 1];
        const uint32_t f = row->fall[i], g = row->rise[i];
        const uint32_t dt = (t > max2(r, f)) | (t > max2(l, g)) | (t > max2(max2(r, u), l)) |
                            (t > max2(max2(g, u), f));
        const uint32_t du = (u > max2(l, f)) | (u > max2(r, g)) | ((u >= t) & (u > max2(r, l))) |
                            ((u >= t) & (u > max2(g, f)));
        const uint32_t dl = ((l >= u) & (l > f)) | ((l >= t) & (l > g)) |
                            ((l >= max2(t, u)) & (l > r)) | (l > max2(max2(g, r), f));
        const uint32_t dr = ((r >= t) & (r > f)) | ((r >= u) & (r > g)) |
                            (r >= max2(max2(t, u), l)) | ((r > max2(g, f)) & (r >= l));
        const uint32_t df = (f >= max2(t, r)) | (f >= max2(u, l)) | ((f >= max2(t, u)) & (f > g)) |
                            ((f >= max2(l, r)) & (f > g));
        const uint32_t dg = (g >= max2(t, l)) | (g >= max2(u, r)) | (g >= max2(max2(t, f), u)) |
                            (g >= max2(max2(l, f), r));
        const uint32_t drop =
            dt * TOP | du * BOTTOM | dl * LEFT | dr * RIGHT | df * FALL | dg * RISE;
        row->drop[i] = row->exists[i] & SQUARE ? (uint8_t)drop : 0;
    }
}

/* Fills a row of squares but for its drop, which needs the keys of the row below. */
static void fill_row(const builder *b, int64_t y, square_row *row)
{
    horizontal_keys(b, y, row);
    if (y + 1 < b->t->h) downward_keys(b, y, row);
    set_existing(b, y, row);
}

static void filter_row(const builder *b, square_row *row, const square_row *below)
{
    if (b->t->rule->connectivity == 4)
        drop_of_four(row, below->h);
    else
        drop_of_six(row, below->h);
}

/* keep[i]: 1 << kind of each edge of pixel a that exists and is needed. */
static void needed_of_row(const square_row *above, const square_row *row, uint8_t *restrict keep)
{
    for (int i = 1; i < ROW - 1; i++) {
        const uint8_t in_row = row->drop[i];
        const uint8_t h = (in_row & TOP) | (above->drop[i] & BOTTOM) >> 1;
        const uint8_t v = (in_row & LEFT) >> 1 | (row->drop[i - 1] & RIGHT) >> 2;
        const uint8_t diagonals = (in_row & (FALL | RISE)) >> 2;
        keep[i] = row->exists[i] & ALL_EDGES & (uint8_t) ~(h | v | diagonals);
    }
}

static void drop_above_alpha(uint32_t alpha, const square_row *row, uint8_t *restrict keep)
{
    for (int i = 1; i < ROW - 1; i++) {
        const int joins = (row->h[i] <= alpha) << QFZ_EDGE_H | (row->v[i] <= alpha) << QFZ_EDGE_V |
                          (row->fall[i] <= alpha) << QFZ_EDGE_FALL |
                          (row->rise[i] <= alpha) << QFZ_EDGE_RISE;
        keep[i] &= (uint8_t)joins;
    }
}

static void keep_of_row(const builder *b, const square_row *above, const square_row *row,
                        uint8_t *restrict keep)
{
    const uint32_t alpha = b->t->rule->alpha_key;
    needed_of_row(above, row, keep);
    if (alpha < UINT32_MAX) drop_above_alpha(alpha, row, keep);
}

/* ---- Edges that stay: within the block, or across one of its seams. */

static const uint32_t *keys_of(const square_row *row, int kind)
{
    const uint32_t *const keys[QFZ_EDGE_KINDS] = {row->h, row->v, row->fall, row->rise};
    return keys[kind];
}

static void add_crossing(const builder *b, int64_t y, int64_t x, const square_row *row, int keep,
                         uint32_t *count)
{
    for (int kind = 0; kind < QFZ_EDGE_KINDS; kind++) {
        if (!(keep >> kind & 1)) continue;
        qfz_tree_block *const block = b->block;
        const uint32_t at = block->seam + block->n_right + block->n_below + block->n_corner;
        const uint32_t place = (uint32_t)(y * b->t->w + x);
        b->t->seam[at] = (qfz_seam_edge){place * QFZ_EDGE_KINDS + (uint32_t)kind,
                                         keys_of(row, kind)[x - b->box.x0 + 1]};
        ++*count;
    }
}

static void add_inner(block_scratch *s, const square_row *row, const uint8_t *keep, int n,
                      uint32_t place, int kinds)
{
    uint64_t *const edges = s->edges[0];
    int32_t at = s->n_edges;
    for (int i = 1; i <= n; i++, place++) {
        for (int kind = 0; kind < kinds; kind++) {
            const uint32_t id = place | (uint32_t)kind << PLACE_BITS;
            edges[at] = (uint64_t)keys_of(row, kind)[i] << 32 | id;
            at += keep[i] >> kind & 1;
        }
    }
    s->n_edges = at;
}

/* Edges across the right seam, the lower seam and both.  The list must be in this order: only the
 * last row has more than the first, and it comes last. */
static void add_crossing_of_row(const builder *b, int64_t y, const square_row *row,
                                const uint8_t *keep)
{
    const int n = (int)qfz_box_w(b->box);
    const int64_t x_last = b->box.x1 - 1;
    qfz_tree_block *const block = b->block;
    const bool last = y + 1 == b->box.y1;
    add_crossing(b, y, x_last, row, keep[n] & (last ? ~DOWN : ~VERTICAL), &block->n_right);
    if (!last) return;
    for (int i = 1; i < n; i++)
        add_crossing(b, y, b->box.x0 + i - 1, row, keep[i] & DOWN, &block->n_below);
    add_crossing(b, y, x_last, row, keep[n] & VERTICAL, &block->n_below);
    add_crossing(b, y, x_last, row, keep[n] & DIAGONALS, &block->n_corner);
}

static void add_row(const builder *b, int64_t y, const square_row *row, uint8_t *keep)
{
    const int n = (int)qfz_box_w(b->box);
    add_crossing_of_row(b, y, row, keep);
    keep[n] &= VERTICAL;
    for (int i = 1; y + 1 == b->box.y1 && i <= n; i++)
        keep[i] &= (uint8_t)~DOWN;
    add_inner(b->s, row, keep, n, (uint32_t)((y - b->box.y0) * QFZ_BLOCK_W),
              b->t->rule->connectivity / 2);
}

static void find_edges(const builder *b)
{
    square_row *const rows = b->s->rows;
    square_row *above = &rows[0], *row = &rows[1], *below = &rows[2];
    uint8_t keep[ROW];
    memset(above->drop, 0, sizeof above->drop);
    fill_row(b, b->box.y0, row);
    if (b->box.y0 > 0) {
        fill_row(b, b->box.y0 - 1, above);
        filter_row(b, above, row);
    }
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        if (y + 1 < b->t->h) fill_row(b, y + 1, below);
        filter_row(b, row, below);
        keep_of_row(b, above, row, keep);
        add_row(b, y, row, keep);
        square_row *const free_row = above;
        above = row;
        row = below;
        below = free_row;
    }
}

/* ---- Sorting by key. */

static uint32_t max_key(const uint64_t *edges, int32_t n)
{
    uint32_t max = 0;
    for (int32_t i = 0; i < n; i++)
        max = max2(max, (uint32_t)(edges[i] >> 32));
    return max;
}

static void sort_by_digit(const uint64_t *restrict from, uint64_t *restrict to, int32_t n,
                          int shift, uint32_t n_digits, uint32_t *restrict starts)
{
    const uint32_t mask = DIGITS - 1;
    memset(starts, 0, n_digits * sizeof *starts);
    for (int32_t i = 0; i < n; i++)
        starts[from[i] >> shift & mask]++;
    uint32_t sum = 0;
    for (uint32_t digit = 0; digit < n_digits; digit++) {
        const uint32_t count = starts[digit];
        starts[digit] = sum;
        sum += count;
    }
    for (int32_t i = 0; i < n; i++)
        to[starts[from[i] >> shift & mask]++] = from[i];
}

/* Radix sort, lowest digit first; only digits that the largest key has.  Returns the result. */
static const uint64_t *sort_edges(block_scratch *s)
{
    uint64_t *from = s->edges[0], *to = s->edges[1];
    const uint32_t max = max_key(from, s->n_edges);
    for (int shift = 0; shift < 32 && max >> shift > 0; shift += DIGIT_BITS) {
        const uint32_t top = max >> shift;
        sort_by_digit(from, to, s->n_edges, 32 + shift, top < DIGITS ? top + 1 : DIGITS, s->starts);
        uint64_t *const other = from;
        from = to;
        to = other;
    }
    return from;
}

/* ---- Kruskal. */

static inline uint16_t root_of(uint16_t *find, uint16_t v)
{
    while (find[v] != v) {
        find[v] = find[find[v]];
        v = find[v];
    }
    return v;
}

static void start_sets(block_scratch *s)
{
    for (int i = 0; i < QFZ_BLOCK_PX; i++)
        s->find[i] = s->top[i] = s->parent[i] = (uint16_t)i;
    s->n_nodes = 0;
}

/* Nodes are numbered by ascending level, so that a top has the current level if its number is not
 * below the first of it.  The two tops get a node of that level as their parent: the later top if
 * it has the level (the other, if it has too, becomes an alias), else a new one.  Data decides
 * at random here: everything is stored whether it changes something or not, without a branch;
 * slot `node` is overwritten until it is taken. */
static void join_all(block_scratch *s, const uint64_t *edges)
{
    static const uint16_t from[QFZ_EDGE_KINDS] = {0, 0, 0, 1};
    static const uint16_t to[QFZ_EDGE_KINDS] = {1, QFZ_BLOCK_W, QFZ_BLOCK_W + 1, QFZ_BLOCK_W};
    uint32_t node = QFZ_BLOCK_PX, first = QFZ_BLOCK_PX, key = 0;
    for (int32_t i = 0; i < s->n_edges; i++) {
        const uint64_t edge = edges[i];
        const uint32_t place = (uint32_t)edge & (QFZ_BLOCK_PX - 1);
        const uint32_t kind = (uint32_t)edge >> PLACE_BITS & 3;
        const uint16_t p = root_of(s->find, (uint16_t)(place + from[kind]));
        const uint16_t q = root_of(s->find, (uint16_t)(place + to[kind]));
        if (p == q) continue;
        const uint32_t edge_key = (uint32_t)(edge >> 32);
        first = edge_key == key ? first : node;
        key = edge_key;
        const uint16_t tp = s->top[p], tq = s->top[q];
        const uint32_t later = tp > tq ? tp : tq;
        const uint32_t over = later >= first ? later : node;
        s->parent[node] = (uint16_t)node;
        s->level[node - QFZ_BLOCK_PX] = key;
        s->parent[tp] = s->parent[tq] = (uint16_t)over;
        node += over == node;
        const uint16_t root = p < q ? p : q;
        s->find[p < q ? q : p] = root;
        s->top[root] = (uint16_t)over;
    }
    s->n_nodes = (int32_t)(node - QFZ_BLOCK_PX);
}

/* ---- From the block's numbers to slots. */

/* Parents come after their children, so going down meets an alias after what it stands for. */
static void write_nodes(const builder *b)
{
    const qfz_tree_work *const t = b->t;
    block_scratch *const s = b->s;
    const uint32_t base = b->block->slot;
    uint32_t n = 0;
    for (int32_t i = s->n_nodes - 1; i >= 0; i--) {
        const uint32_t me = (uint32_t)i + QFZ_BLOCK_PX, up = s->parent[me];
        if (up != me && s->level[up - QFZ_BLOCK_PX] == s->level[i]) {
            s->number[me] = s->number[up];
            continue;
        }
        s->number[me] = (uint16_t)n;
        t->node[base + n] = (qfz_tree_node){base + s->number[up], s->level[i]};
        t->children[base + n] = 0;
        if (up != me) t->children[base + s->number[up]]++;
        n++;
    }
    b->block->n_nodes = n;
}

static void write_leaves(const builder *b)
{
    const uint32_t base = b->block->slot;
    for (int64_t y = b->box.y0; y < b->box.y1; y++) {
        uint32_t *const leaf = b->t->leaf + y * b->t->w + b->box.x0;
        const int n = (int)qfz_box_w(b->box);
        const uint16_t *const parent = b->s->parent + (y - b->box.y0) * QFZ_BLOCK_W;
        for (int i = 0; i < n; i++) {
            const bool alone = parent[i] < QFZ_BLOCK_PX;
            leaf[i] = alone ? QFZ_NONE : base + b->s->number[parent[i]];
            if (!alone) b->t->children[leaf[i]]++;
        }
    }
}

static void clear_crossing_slots(const qfz_tree_work *t, const qfz_tree_block *block)
{
    const uint32_t n = qfz_tree_block_slots(block);
    for (uint32_t i = block->n_nodes; i < n; i++)
        t->node[block->slot + i] = (qfz_tree_node){QFZ_NONE, 0};
}

void qfz_tree_build_block(const qfz_tree_work *t, int64_t by, int64_t bx, void *scratch)
{
    builder b = {.t = t,
                 .block = &t->blocks[by * t->blocks_x + bx],
                 .box = qfz_tree_block_box(t, by, bx),
                 .s = scratch};
    b.x_first = b.box.x0 > 0 ? b.box.x0 - 1 : 0;
    b.x_last = b.box.x1 < t->w ? b.box.x1 : t->w - 1;
    b.s->n_edges = 0;
    b.block->n_right = b.block->n_below = b.block->n_corner = 0;
    find_edges(&b);
    start_sets(b.s);
    join_all(b.s, sort_edges(b.s));
    write_nodes(&b);
    write_leaves(&b);
    clear_crossing_slots(t, b.block);
}
