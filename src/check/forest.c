/* SPDX-License-Identifier: MIT */
#include "check/forest.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* An edge of the raster, or a link that it stands for.  Vertices: 0..w - 1 are pixels of the row
 * above, w..2w - 1 those of this row. */
typedef struct edge {
    uint32_t level;
    uint32_t a, b;
    int dir;
    int64_t x, y; /* of the pixel that the raster's edge starts from */
} edge;

enum { DIGIT_BITS = 11, DIGITS = 3, DIGIT_VALUES = 1 << DIGIT_BITS };

/* Edges in any order or, after sort(), by level; spare: as large. */
typedef struct edge_list {
    edge *items, *spare;
    int64_t n, room;
} edge_list;

struct qfz_forest {
    int64_t w, y;
    qfz_faults *faults;
    edge_list edges; /* of this row, and the links of the row above */
    edge_list pairs; /* of components that must not meet below a level: of each edge, and those of
                        the row above; none without faults */
    edge *links;     /* of this row */
    uint32_t *parent, *face; /* of each vertex; face of a root: a vertex of this row, or QFZ_NONE */
    int64_t n_links;
    qfz_u128 weight;
    uint64_t n_final;
};

static int64_t most_edges(int64_t w, int n_dirs)
{
    return (n_dirs + 1) * w;
}

int64_t qfz_forest_bytes(int n_dirs)
{
    return (4 * most_edges(1, n_dirs) + 1) * (int64_t)sizeof(edge) + 4 * (int64_t)sizeof(uint32_t);
}

/* ----------------------------------------------------------------------------------------- lists
 */
static qfz_status reserve(edge_list *list, int64_t n, qfz_error *err)
{
    if (n <= list->room) return QFZ_OK;
    const int64_t room = n + n / 2;
    QFZ_TRY(qfz_realloc((void **)&list->items, room, sizeof *list->items, err));
    QFZ_TRY(qfz_realloc((void **)&list->spare, room, sizeof *list->spare, err));
    list->room = room;
    return QFZ_OK;
}

static void release(edge_list *list)
{
    free(list->items);
    free(list->spare);
}

static void swap(edge_list *list)
{
    edge *const items = list->items;
    list->items = list->spare;
    list->spare = items;
}

/* Sorts by level, digit by digit. */
static void sort(edge_list *list)
{
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t at[DIGIT_VALUES + 1] = {0};
        const int shift = digit * DIGIT_BITS;
        for (int64_t i = 0; i < list->n; i++)
            at[(list->items[i].level >> shift & (DIGIT_VALUES - 1)) + 1]++;
        for (int v = 0; v < DIGIT_VALUES; v++)
            at[v + 1] += at[v];
        for (int64_t i = 0; i < list->n; i++)
            list->spare[at[list->items[i].level >> shift & (DIGIT_VALUES - 1)]++] = list->items[i];
        swap(list);
    }
}

/* --------------------------------------------------------------------------------- open and close
 */
qfz_status qfz_forest_open(qfz_forest **forest, int64_t w, int n_dirs, qfz_faults *faults,
                           qfz_error *err)
{
    qfz_forest *f = NULL;
    qfz_status st;
    QFZ_TRY(QFZ_NEW_ZERO(&f, 1, err));
    f->w = w;
    f->faults = faults;
    QFZ_TRY_OR(st, failed, reserve(&f->edges, most_edges(w, n_dirs), err));
    if (faults) QFZ_TRY_OR(st, failed, reserve(&f->pairs, most_edges(w, n_dirs), err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&f->links, w, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&f->parent, 2 * w, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&f->face, 2 * w, err));
    *forest = f;
    return QFZ_OK;

failed:
    qfz_forest_close(f);
    return st;
}

void qfz_forest_close(qfz_forest *f)
{
    if (!f) return;
    release(&f->edges);
    release(&f->pairs);
    free(f->links);
    free(f->parent);
    free(f->face);
    free(f);
}

/* There is room for the edges of a row in both lists.  Nothing is below level 0. */
void qfz_forest_edge(qfz_forest *f, int dir, int64_t x, uint32_t level)
{
    const edge e = {.level = level,
                    .a = (uint32_t)(qfz_dir_dy[dir] ? x : x + f->w),
                    .b = (uint32_t)(x + qfz_dir_dx[dir] + f->w),
                    .dir = dir,
                    .x = x,
                    .y = f->y - qfz_dir_dy[dir]};
    f->edges.items[f->edges.n++] = e;
    if (f->faults && level > 0) f->pairs.items[f->pairs.n++] = e;
}

/* ----------------------------------------------------------------------------------- one row */
static uint32_t find(qfz_forest *f, uint32_t v)
{
    while (f->parent[v] != v)
        v = f->parent[v] = f->parent[f->parent[v]];
    return v;
}

static int compare_pairs(const void *p, const void *q)
{
    const edge *const a = p, *const b = q;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

/* Keeps one of equal pairs among those from number first on; returns their end. */
static int64_t drop_equal(edge *pairs, int64_t first, int64_t end)
{
    int64_t n = first;
    if (end - first > 1) qsort(pairs + first, (size_t)(end - first), sizeof *pairs, compare_pairs);
    for (int64_t i = first; i < end; i++)
        if (n == first || compare_pairs(&pairs[n - 1], &pairs[i]) != 0) pairs[n++] = pairs[i];
    return n;
}

/* Compares the pairs first..end - 1 with the components below their level.  Those that later rows
 * could still join become pairs of the next row, from number n_kept on. */
static int64_t compare_below(qfz_forest *f, int64_t first, int64_t end, int64_t n_kept)
{
    const uint32_t w = (uint32_t)f->w;
    int64_t n = n_kept;
    for (int64_t i = first; i < end; i++) {
        edge pair = f->pairs.items[i];
        const uint32_t a = find(f, pair.a), b = find(f, pair.b);
        if (a == b)
            qfz_faults_add(f->faults, pair.x, pair.y,
                           "band %d: the level of the edge is too great, since lower edges join "
                           "its two pixels",
                           pair.dir + 1);
        if (a == b || f->face[a] == QFZ_NONE || f->face[b] == QFZ_NONE) continue;
        pair.a = (f->face[a] < f->face[b] ? f->face[a] : f->face[b]) - w;
        pair.b = (f->face[a] < f->face[b] ? f->face[b] : f->face[a]) - w;
        f->pairs.spare[n++] = pair;
    }
    return drop_equal(f->pairs.spare, n_kept, n);
}

static void join(qfz_forest *f, const edge *e)
{
    const uint32_t a = find(f, e->a), b = find(f, e->b);
    if (a == b) return;
    if (f->face[a] != QFZ_NONE && f->face[b] != QFZ_NONE) {
        edge *const link = &f->links[f->n_links++];
        *link = *e;
        link->a = f->face[a] - (uint32_t)f->w; /* in the next row, this row is the row above */
        link->b = f->face[b] - (uint32_t)f->w;
    } else {
        f->weight += e->level;
        f->n_final++;
    }
    f->parent[b] = a;
    if (f->face[a] == QFZ_NONE) f->face[a] = f->face[b];
}

/* The end of the items from number first on that have at most the level. */
static int64_t end_of_level(const edge_list *list, int64_t first, uint32_t level)
{
    while (first < list->n && list->items[first].level <= level)
        first++;
    return first;
}

/* Kruskal's algorithm.  Pairs are compared when the edges below their level have joined components,
 * and those of their level have not. */
static void join_all(qfz_forest *f)
{
    int64_t pair = 0, n_kept = 0;
    for (int64_t first = 0, end; first < f->edges.n; first = end) {
        const uint32_t level = f->edges.items[first].level;
        const int64_t end_pair = end_of_level(&f->pairs, pair, level);
        end = end_of_level(&f->edges, first, level);
        n_kept = compare_below(f, pair, end_pair, n_kept);
        pair = end_pair;
        for (int64_t i = first; i < end; i++)
            join(f, &f->edges.items[i]);
    }
    n_kept = compare_below(f, pair, f->pairs.n, n_kept);
    swap(&f->pairs);
    f->pairs.n = n_kept;
}

static qfz_status solve(qfz_forest *f, bool is_last, qfz_error *err)
{
    const uint32_t w = (uint32_t)f->w;
    for (uint32_t v = 0; v < 2 * w; v++) {
        f->parent[v] = v;
        f->face[v] = v < w || is_last ? QFZ_NONE : v;
    }
    sort(&f->edges);
    if (f->faults) sort(&f->pairs);
    f->n_links = 0;
    join_all(f);
    memcpy(f->edges.items, f->links, (size_t)f->n_links * sizeof *f->links);
    f->edges.n = f->n_links;
    f->y++;
    return f->faults ? reserve(&f->pairs, f->pairs.n + f->edges.room, err) : QFZ_OK;
}

qfz_status qfz_forest_row(qfz_forest *f, qfz_error *err)
{
    return solve(f, false, err);
}

qfz_status qfz_forest_end(qfz_forest *f, qfz_u128 *weight, uint64_t *n, qfz_error *err)
{
    QFZ_TRY(solve(f, true, err));
    *weight = f->weight;
    *n = f->n_final;
    return QFZ_OK;
}
