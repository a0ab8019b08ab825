/* SPDX-License-Identifier: MIT */
/* rtree.c - nodes of SQLite's R*Tree module (https://www.sqlite.org/rtree.html, "Shadow tables").
 *
 * A node is a big-endian blob: its depth (of the root; else 0), its number of cells, and cells of a
 * 64-bit number and four singles x0, x1, y0, y1, rounded outwards.  The number is that of a row in
 * a leaf, else that of a child.  Table _node holds the nodes, the root as number 1, all of one
 * size; _rowid the leaf of each row; _parent the parent of each other node. */
#include "raster/rtree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/sql.h"
#include "raster/text.h"

enum {
    CELLS = 51, /* of a node: SQLite's greatest number */
    CELL_BYTES = 24,
    HEAD_BYTES = 4,
    NODE_BYTES = HEAD_BYTES + CELLS * CELL_BYTES,
    LEVELS = 12, /* 51^12 > 2^63 */
    BOXES = 1 << 14
};

/* The node of a level that is being filled. */
typedef struct node {
    int64_t number; /* 0: none */
    int n_cells;
    qfz_extent all;
    uint8_t bytes[NODE_BYTES];
} node;

struct qfz_rtree {
    GDALDatasetH dataset;
    char *name; /* without quotes */
    const char *path;
    qfz_sql_insert nodes, rows, parents;
    node levels[LEVELS]; /* leaves first */
    int n_levels;        /* that have a node */
    int64_t n_nodes;     /* numbers in use, from 1; 1 is the root */
    int64_t n;           /* boxes that wait */
    int64_t *ids;
    qfz_extent *boxes;
    uint32_t *order;
    uint64_t *keys; /* of the order; then the number of the leaf of each box */
};

/* ------------------------------------------------------------------------------------- creation */
static qfz_status run(qfz_rtree *tree, qfz_error *err, const char *before, const char *suffix,
                      const char *after)
{
    char *name = NULL, *quoted = NULL, *statement = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_text_print(&name, err, "%s%s", tree->name, suffix));
    QFZ_TRY_OR(st, cleanup, qfz_sql_quote(&quoted, name, err));
    QFZ_TRY_OR(st, cleanup, qfz_text_print(&statement, err, "%s%s%s", before, quoted, after));
    st = qfz_sql_run(tree->dataset, statement, tree->path, err);

cleanup:
    free(name);
    free(quoted);
    free(statement);
    return st;
}

static qfz_status prepare(qfz_rtree *tree, qfz_sql_insert *insert, const char *suffix,
                          qfz_error *err)
{
    char *name = NULL, *quoted = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_text_print(&name, err, "%s%s", tree->name, suffix));
    QFZ_TRY_OR(st, cleanup, qfz_sql_quote(&quoted, name, err));
    st = qfz_sql_insert_init(insert, tree->dataset, quoted, tree->path, err);

cleanup:
    free(name);
    free(quoted);
    return st;
}

static qfz_status create(qfz_rtree *tree, const char *name, qfz_error *err)
{
    QFZ_TRY(qfz_text_copy(&tree->name, name, err));
    QFZ_TRY(QFZ_NEW(&tree->ids, BOXES, err));
    QFZ_TRY(QFZ_NEW(&tree->boxes, BOXES, err));
    QFZ_TRY(QFZ_NEW(&tree->order, BOXES, err));
    QFZ_TRY(QFZ_NEW(&tree->keys, BOXES, err));
    QFZ_TRY(
        run(tree, err, "CREATE VIRTUAL TABLE ", "", " USING rtree(id, minx, maxx, miny, maxy)"));
    QFZ_TRY(prepare(tree, &tree->nodes, "_node", err));
    QFZ_TRY(prepare(tree, &tree->rows, "_rowid", err));
    return prepare(tree, &tree->parents, "_parent", err);
}

qfz_status qfz_rtree_create(qfz_rtree **tree, GDALDatasetH dataset, const char *name,
                            const char *path, qfz_error *err)
{
    qfz_rtree *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->dataset = dataset;
    made->path = path;
    made->n_nodes = 1;
    const qfz_status st = create(made, name, err);
    if (st == QFZ_OK)
        *tree = made;
    else
        qfz_rtree_close(made);
    return st;
}

void qfz_rtree_close(qfz_rtree *tree)
{
    if (!tree) return;
    qfz_sql_insert_fini(&tree->nodes);
    qfz_sql_insert_fini(&tree->rows);
    qfz_sql_insert_fini(&tree->parents);
    free(tree->name);
    free(tree->ids);
    free(tree->boxes);
    free(tree->order);
    free(tree->keys);
    free(tree);
}

/* ---------------------------------------------------------------------------------------- nodes */
static void put_bytes(uint8_t *to, uint64_t value, int n)
{
    for (int i = n - 1; i >= 0; i--, value >>= 8)
        to[i] = (uint8_t)value;
}

/* The nearest single on the side of `outwards`. */
static void put_single(uint8_t *to, double value, float outwards)
{
    float single = (float)value;
    uint32_t bits;
    if ((outwards > 0 && single < value) || (outwards < 0 && single > value))
        single = nextafterf(single, outwards);
    memcpy(&bits, &single, sizeof bits);
    put_bytes(to, bits, 4);
}

static void add_cell(node *into, int64_t number, const qfz_extent *box)
{
    uint8_t *const cell = into->bytes + HEAD_BYTES + into->n_cells * CELL_BYTES;
    put_bytes(cell, (uint64_t)number, 8);
    put_single(cell + 8, box->x0, -INFINITY);
    put_single(cell + 12, box->x1, INFINITY);
    put_single(cell + 16, box->y0, -INFINITY);
    put_single(cell + 20, box->y1, INFINITY);
    qfz_extent_widen(&into->all, box);
    into->n_cells++;
}

static void begin_node(qfz_rtree *tree, int level)
{
    node *const n = &tree->levels[level];
    *n = (node){.number = ++tree->n_nodes, .all = qfz_extent_none()};
    if (level >= tree->n_levels) tree->n_levels = level + 1;
}

static qfz_status end_node(qfz_rtree *tree, int level, qfz_error *err);

/* Adds a child, which is complete, to the node of a level. */
static qfz_status add_child(qfz_rtree *tree, int level, const node *child, qfz_error *err)
{
    node *const n = &tree->levels[level];
    if (n->number && n->n_cells == CELLS) QFZ_TRY(end_node(tree, level, err));
    if (!n->number) begin_node(tree, level);
    add_cell(n, child->number, &child->all);
    return qfz_sql_insert_pair(&tree->parents, child->number, n->number, err);
}

static qfz_status end_node(qfz_rtree *tree, int level, qfz_error *err)
{
    node *const n = &tree->levels[level];
    put_bytes(n->bytes + 2, (uint64_t)n->n_cells, 2);
    QFZ_TRY(qfz_sql_insert_blob(&tree->nodes, n->number, n->bytes, NODE_BYTES, err));
    QFZ_TRY(add_child(tree, level + 1, n, err));
    n->number = 0;
    return QFZ_OK;
}

/* Packs the boxes that wait into leaves. */
static qfz_status pack(qfz_rtree *tree, qfz_error *err)
{
    node *const leaf = &tree->levels[0];
    qfz_hilbert_order(tree->boxes, tree->n, tree->order, tree->keys);
    for (int64_t k = 0; k < tree->n; k++) {
        const uint32_t i = tree->order[k];
        if (leaf->number && leaf->n_cells == CELLS) QFZ_TRY(end_node(tree, 0, err));
        if (!leaf->number) begin_node(tree, 0);
        add_cell(leaf, tree->ids[i], &tree->boxes[i]);
        tree->keys[i] = (uint64_t)leaf->number;
    }
    for (int64_t i = 0; i < tree->n; i++)
        QFZ_TRY(qfz_sql_insert_pair(&tree->rows, tree->ids[i], (int64_t)tree->keys[i], err));
    tree->n = 0;
    return QFZ_OK;
}

qfz_status qfz_rtree_add(qfz_rtree *tree, int64_t id, const qfz_extent *box, qfz_error *err)
{
    tree->ids[tree->n] = id;
    tree->boxes[tree->n++] = *box;
    return tree->n == BOXES ? pack(tree, err) : QFZ_OK;
}

/* -------------------------------------------------------------------------------------- the end */
/* Makes the node of the highest level the root. */
static qfz_status write_root(qfz_rtree *tree, qfz_error *err)
{
    node *const root = &tree->levels[tree->n_levels - 1];
    char *after = NULL, hex[2 * NODE_BYTES + 1];
    put_bytes(root->bytes, (uint64_t)tree->n_levels - 1, 2);
    put_bytes(root->bytes + 2, (uint64_t)root->n_cells, 2);
    for (int i = 0; i < NODE_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02X", root->bytes[i]);
    QFZ_TRY(qfz_text_print(&after, err, " SET data = X'%s' WHERE nodeno = 1", hex));
    qfz_status st = run(tree, err, "UPDATE ", "_node", after);
    free(after);
    if (st != QFZ_OK) return st;
    const bool is_leaf = tree->n_levels == 1;
    const char *const column = is_leaf ? "nodeno" : "parentnode";
    QFZ_TRY(qfz_text_print(&after, err, " SET %s = 1 WHERE %s = %lld", column, column,
                           (long long)root->number));
    st = run(tree, err, "UPDATE ", is_leaf ? "_rowid" : "_parent", after);
    free(after);
    return st;
}

qfz_status qfz_rtree_finish(qfz_rtree *tree, qfz_error *err)
{
    QFZ_TRY(pack(tree, err));
    for (int level = 0; level + 1 < tree->n_levels; level++) /* a new level may begin */
        QFZ_TRY(end_node(tree, level, err));
    QFZ_TRY(qfz_sql_insert_run(&tree->nodes, err));
    QFZ_TRY(qfz_sql_insert_run(&tree->rows, err));
    QFZ_TRY(qfz_sql_insert_run(&tree->parents, err));
    return tree->n_levels > 0 ? write_root(tree, err) : QFZ_OK;
}
