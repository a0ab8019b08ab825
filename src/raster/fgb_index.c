/* SPDX-License-Identifier: MIT */
/* fgb_index.c - the levels of the tree lie in the file from the root to the leaves.  A node is four
 * doubles x0, y0, x1, y1 and a number: of a leaf, where its feature begins; else, which node is its
 * first child, counted from the root. */
#include "raster/fgb_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { CHILDREN = 16, NODE_BYTES = 40, LEVELS = 18, NODES = 1024 /* that wait */ };

typedef struct level {
    int64_t first; /* number of its first node, counted from the root */
    int64_t n;     /* nodes so far ... */
    int64_t n_written;
    qfz_extent all; /* of the children of the node that comes next */
    uint8_t *nodes; /* ... of which the last wait here */
} level;

struct qfz_fgb_index {
    VSILFILE *file;
    int64_t at, n_nodes;
    int n_levels; /* leaves first */
    level levels[LEVELS];
};

qfz_status qfz_fgb_index_open(qfz_fgb_index **index, VSILFILE *file, int64_t at, int64_t n,
                              qfz_error *err)
{
    qfz_fgb_index *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->file = file;
    made->at = at;
    qfz_status st = QFZ_OK;
    for (int64_t nodes = n; st == QFZ_OK; nodes = (nodes + CHILDREN - 1) / CHILDREN) {
        level *const l = &made->levels[made->n_levels++];
        l->all = qfz_extent_none();
        l->first = nodes; /* for now, their number */
        made->n_nodes += nodes;
        st = qfz_alloc((void **)&l->nodes, NODES, NODE_BYTES, err);
        if (nodes == 1 && made->n_levels > 1) break;
    }
    int64_t first = 0;
    for (int i = made->n_levels - 1; i >= 0; i--) {
        const int64_t nodes = made->levels[i].first;
        made->levels[i].first = first;
        first += nodes;
    }
    if (st == QFZ_OK)
        *index = made;
    else
        qfz_fgb_index_close(made);
    return st;
}

void qfz_fgb_index_close(qfz_fgb_index *index)
{
    if (!index) return;
    for (int i = 0; i < index->n_levels; i++)
        free(index->levels[i].nodes);
    free(index);
}

int64_t qfz_fgb_index_bytes(const qfz_fgb_index *index)
{
    return index->n_nodes * NODE_BYTES;
}

static bool flush(qfz_fgb_index *index, level *l)
{
    const int64_t at = index->at + (l->first + l->n_written) * NODE_BYTES;
    const size_t bytes = (size_t)(l->n - l->n_written) * NODE_BYTES;
    l->n_written = l->n;
    return bytes == 0 || (VSIFSeekL(index->file, (vsi_l_offset)at, SEEK_SET) == 0 &&
                          VSIFWriteL(l->nodes, 1, bytes, index->file) == bytes);
}

/* Adds a node to a level and, after each 16 of them, their parent to the next. */
static bool add(qfz_fgb_index *index, int which, const qfz_extent *box, int64_t number)
{
    level *const l = &index->levels[which];
    const double corners[4] = {box->x0, box->y0, box->x1, box->y1};
    uint8_t *const node = l->nodes + (l->n - l->n_written) * NODE_BYTES;
    memcpy(node, corners, sizeof corners);
    memcpy(node + sizeof corners, &number, sizeof number);
    l->n++;
    if (which + 1 < index->n_levels) {
        level *const up = &index->levels[which + 1];
        qfz_extent_widen(&up->all, box);
        if (l->n % CHILDREN == 0) {
            const qfz_extent all = up->all;
            up->all = qfz_extent_none();
            if (!add(index, which + 1, &all, l->first + l->n - CHILDREN)) return false;
        }
    }
    return l->n - l->n_written < NODES || flush(index, l);
}

bool qfz_fgb_index_add(qfz_fgb_index *index, const qfz_extent *box, int64_t start)
{
    return add(index, 0, box, start);
}

bool qfz_fgb_index_finish(qfz_fgb_index *index)
{
    for (int i = 0; i < index->n_levels; i++) {
        level *const l = &index->levels[i];
        if (i + 1 < index->n_levels && l->n % CHILDREN != 0) {
            const qfz_extent all = index->levels[i + 1].all;
            if (!add(index, i + 1, &all, l->first + l->n - l->n % CHILDREN)) return false;
        }
        if (!flush(index, l)) return false;
    }
    return true;
}

/* The root is the extent of all features once they are all there. */
qfz_extent qfz_fgb_index_extent(const qfz_fgb_index *index)
{
    double corners[4];
    memcpy(corners, index->levels[index->n_levels - 1].nodes, sizeof corners);
    return (qfz_extent){corners[0], corners[1], corners[2], corners[3]};
}
