/* SPDX-License-Identifier: MIT */
/* tree_table.c - trees, linkages and cuts from the table of a hierarchy: one union-find over its
 * rows in ascending order of levels. */
#include <math.h>
#include <stdlib.h>

#include "core/api.h"
#include "core/memory.h"

/* Regions are numbered from 0 here. */
typedef struct joining {
    const qfz_tree_table *h;
    int64_t *row; /* rows in order: by level, then by labels */
    int64_t *up;  /* union-find; the root is the least region */
} joining;

/* ---- The order of rows. */
typedef struct sorted_row {
    double level;
    uint64_t lesser, greater; /* its labels */
    int64_t row;
} sorted_row;

static int by_level(const void *p, const void *q)
{
    const sorted_row *const i = p, *const j = q;
    if (i->level != j->level) return i->level < j->level ? -1 : 1;
    if (i->lesser != j->lesser) return i->lesser < j->lesser ? -1 : 1;
    return (i->greater > j->greater) - (i->greater < j->greater);
}

static qfz_status sort_rows(const qfz_tree_table *h, int64_t *row, qfz_error *err)
{
    sorted_row *rows = NULL;
    QFZ_TRY(QFZ_NEW(&rows, h->n, err));
    for (int64_t i = 0; i < h->n; i++)
        rows[i] = (sorted_row){.level = h->level[i],
                               .lesser = h->a[i] < h->b[i] ? h->a[i] : h->b[i],
                               .greater = h->a[i] < h->b[i] ? h->b[i] : h->a[i],
                               .row = i};
    if (h->n > 1) qsort(rows, (size_t)h->n, sizeof *rows, by_level);
    for (int64_t i = 0; i < h->n; i++)
        row[i] = rows[i].row;
    free(rows);
    return QFZ_OK;
}

/* ---- Rows. */
static qfz_status check_row(const qfz_tree_table *h, int64_t i, qfz_error *err)
{
    const uint64_t most = (uint64_t)h->n_regions;
    if (h->a[i] < 1 || h->a[i] > most || h->b[i] < 1 || h->b[i] > most)
        return qfz_fail(err, QFZ_EARG, "row %lld joins %llu and %llu; regions are 1 to %lld",
                        (long long)i, (unsigned long long)h->a[i], (unsigned long long)h->b[i],
                        (long long)h->n_regions);
    if (!(h->level[i] >= 0))
        return qfz_fail(err, QFZ_EARG, "row %lld has the level %g", (long long)i, h->level[i]);
    return QFZ_OK;
}

static qfz_status check(const qfz_tree_table *h, qfz_error *err)
{
    if (h->n_regions < 0 || h->n < 0 || (h->n > 0 && (!h->a || !h->b || !h->level)))
        return qfz_fail(err, QFZ_EARG, "a hierarchy of %lld regions and %lld rows",
                        (long long)h->n_regions, (long long)h->n);
    for (int64_t i = 0; i < h->n; i++)
        QFZ_TRY(check_row(h, i, err));
    return QFZ_OK;
}

static void joining_fini(joining *j)
{
    free(j->row);
    free(j->up);
}

static qfz_status joining_init(joining *j, const qfz_tree_table *h, qfz_error *err)
{
    *j = (joining){.h = h};
    QFZ_TRY(check(h, err));
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW(&j->row, h->n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&j->up, h->n_regions, err));
    for (int64_t i = 0; i < h->n_regions; i++)
        j->up[i] = i;
    QFZ_TRY_OR(st, failed, sort_rows(h, j->row, err));
    return QFZ_OK;

failed:
    joining_fini(j);
    return st;
}

static int64_t root_of(const joining *j, int64_t region)
{
    int64_t *const up = j->up;
    while (up[region] != region)
        region = up[region] = up[up[region]];
    return region;
}

/* The components that a row joins. */
static void ends(const joining *j, int64_t row, int64_t *a, int64_t *b)
{
    *a = root_of(j, (int64_t)j->h->a[row] - 1);
    *b = root_of(j, (int64_t)j->h->b[row] - 1);
}

/* Returns the root of both. */
static int64_t join(const joining *j, int64_t a, int64_t b)
{
    j->up[a > b ? a : b] = a < b ? a : b;
    return a < b ? a : b;
}

static qfz_status join_row(const joining *j, int64_t row, qfz_error *err)
{
    int64_t a, b;
    ends(j, row, &a, &b);
    if (a == b)
        return qfz_fail(
            err, QFZ_EARG, "row %lld joins %llu and %llu, which other rows join already",
            (long long)row, (unsigned long long)j->h->a[row], (unsigned long long)j->h->b[row]);
    (void)join(j, a, b);
    return QFZ_OK;
}

/* ---- Cuts. */
static qfz_status cut(const joining *j, double alpha, uint64_t *labels, int64_t *n, qfz_error *err)
{
    const qfz_tree_table *const h = j->h;
    int64_t count = 0;
    for (int64_t i = 0; i < h->n && h->level[j->row[i]] <= alpha; i++)
        QFZ_TRY(join_row(j, j->row[i], err));
    for (int64_t i = 0; i < h->n_regions; i++) {
        const int64_t root = root_of(j, i);
        labels[i] = root == i ? (uint64_t)++count : labels[root];
    }
    *n = count;
    return QFZ_OK;
}

qfz_status qfz_tree_table_cut(const qfz_tree_table *hierarchy, double alpha, uint64_t *labels,
                              int64_t *n, qfz_error *err)
{
    qfz_error own;
    qfz_tree_table h = qfz_tree_table_default();
    joining j;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_api_read(&h, sizeof h, hierarchy, "qfz_tree_table", err));
    if (!(alpha >= 0)) return qfz_fail(err, QFZ_EARG, "alpha is %g", alpha);
    QFZ_TRY(joining_init(&j, &h, err));
    const qfz_status st = cut(&j, alpha, labels, n, err);
    joining_fini(&j);
    return st;
}

/* ---- Linkages. */
typedef struct cluster {
    int64_t number;
    double regions;
} cluster;

static void link_two(const joining *j, cluster *clusters, int64_t a, int64_t b, double level,
                     int64_t number, double *row)
{
    const cluster p = clusters[a], q = clusters[b];
    row[0] = (double)(p.number < q.number ? p.number : q.number);
    row[1] = (double)(p.number < q.number ? q.number : p.number);
    row[2] = level;
    row[3] = p.regions + q.regions;
    clusters[join(j, a, b)] = (cluster){number, row[3]};
}

/* The rows, then the areas that no row joins, at an infinite level. */
static qfz_status link_all(const joining *j, cluster *clusters, double *linkage, qfz_error *err)
{
    const qfz_tree_table *const h = j->h;
    int64_t n = 0, a, b;
    for (int64_t i = 0; i < h->n; i++) {
        const int64_t row = j->row[i];
        ends(j, row, &a, &b);
        if (a == b) return join_row(j, row, err);
        link_two(j, clusters, a, b, h->level[row], h->n_regions + n, linkage + 4 * n);
        n++;
    }
    for (int64_t i = 1; i < h->n_regions; i++) {
        if (root_of(j, i) != i) continue;
        link_two(j, clusters, root_of(j, 0), i, INFINITY, h->n_regions + n, linkage + 4 * n);
        n++;
    }
    return QFZ_OK;
}

qfz_status qfz_tree_table_linkage(const qfz_tree_table *hierarchy, double *linkage, qfz_error *err)
{
    qfz_error own;
    qfz_tree_table h = qfz_tree_table_default();
    cluster *clusters = NULL;
    joining j;
    qfz_status st;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_api_read(&h, sizeof h, hierarchy, "qfz_tree_table", err));
    QFZ_TRY(joining_init(&j, &h, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&clusters, h.n_regions, err));
    for (int64_t i = 0; i < h.n_regions; i++)
        clusters[i] = (cluster){i, 1};
    st = link_all(&j, clusters, linkage, err);

cleanup:
    free(clusters);
    joining_fini(&j);
    return st;
}

/* ---- Trees. */
typedef struct growing {
    const joining *j;
    int64_t *top;  /* of each root: the highest node of its component */
    int64_t *tops; /* of the two ends of each row of equal levels */
    int64_t *parent;
    double *level;
    int64_t n_nodes;
} growing;

/* Rows first..end of one level: one node for each component that they form. */
static qfz_status grow_level(growing *g, int64_t first, int64_t end, qfz_error *err)
{
    const joining *const j = g->j;
    const int64_t n_before = g->n_nodes;
    for (int64_t i = first; i < end; i++) {
        int64_t a, b;
        ends(j, j->row[i], &a, &b);
        g->tops[2 * i] = g->top[a];
        g->tops[2 * i + 1] = g->top[b];
    }
    for (int64_t i = first; i < end; i++)
        QFZ_TRY(join_row(j, j->row[i], err));
    for (int64_t i = first; i < end; i++) {
        int64_t root, same;
        ends(j, j->row[i], &root, &same);
        if (g->top[root] < n_before) {
            g->top[root] = g->parent[g->n_nodes] = g->n_nodes;
            g->level[g->n_nodes++] = j->h->level[j->row[i]];
        }
        g->parent[g->tops[2 * i]] = g->parent[g->tops[2 * i + 1]] = g->top[root];
    }
    return QFZ_OK;
}

static qfz_status grow(growing *g, int64_t *n_nodes, qfz_error *err)
{
    const qfz_tree_table *const h = g->j->h;
    const int64_t *const row = g->j->row;
    for (int64_t i = 0; i < h->n_regions; i++) {
        g->top[i] = g->parent[i] = i;
        g->level[i] = 0;
    }
    g->n_nodes = h->n_regions;
    for (int64_t i = 0, end; i < h->n; i = end) {
        for (end = i + 1; end < h->n && h->level[row[end]] == h->level[row[i]];)
            end++;
        QFZ_TRY(grow_level(g, i, end, err));
    }
    *n_nodes = g->n_nodes;
    return QFZ_OK;
}

qfz_status qfz_tree_table_tree(const qfz_tree_table *hierarchy, int64_t *parent, double *level,
                               int64_t *n_nodes, qfz_error *err)
{
    qfz_error own;
    qfz_tree_table h = qfz_tree_table_default();
    joining j;
    growing g = {.j = &j, .parent = parent, .level = level};
    qfz_status st;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_api_read(&h, sizeof h, hierarchy, "qfz_tree_table", err));
    QFZ_TRY(joining_init(&j, &h, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&g.top, h.n_regions, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&g.tops, 2 * h.n, err));
    st = grow(&g, n_nodes, err);

cleanup:
    free(g.top);
    free(g.tops);
    joining_fini(&j);
    return st;
}
