/* SPDX-License-Identifier: MIT */
#include "check/hierarchy.h"

#include <stdlib.h>

#include "check/forest.h"
#include "core/memory.h"

struct qfz_hierarchy {
    const qfz_rule *rule;
    qfz_faults *faults;
    qfz_forest *by_saliency, *by_level;
    uint64_t pixels;
};

int64_t qfz_hierarchy_bytes(const qfz_rule *rule)
{
    return 2 * qfz_forest_bytes(qfz_n_dirs(rule));
}

qfz_status qfz_hierarchy_open(qfz_hierarchy **hierarchy, const qfz_rule *rule, int64_t w,
                              qfz_faults *faults, qfz_error *err)
{
    const int n_dirs = qfz_n_dirs(rule);
    qfz_hierarchy *h = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&h, 1, err));
    h->rule = rule;
    h->faults = faults;
    qfz_status st = qfz_forest_open(&h->by_saliency, w, n_dirs, faults, err);
    if (st == QFZ_OK) st = qfz_forest_open(&h->by_level, w, n_dirs, NULL, err);
    if (st != QFZ_OK) {
        qfz_hierarchy_close(h);
        return st;
    }
    *hierarchy = h;
    return QFZ_OK;
}

void qfz_hierarchy_close(qfz_hierarchy *h)
{
    if (!h) return;
    qfz_forest_close(h->by_saliency);
    qfz_forest_close(h->by_level);
    free(h);
}

/* The edge that starts from column x in direction d and ends in the row. */
static void check_edge(qfz_hierarchy *h, const qfz_check_row *row, int d, int64_t x)
{
    const bool exists = row->has[d][x];
    const uint32_t level = row->levels[d][x], saliency = row->saliency[d][x];
    const int64_t y = row->y - qfz_dir_dy[d];
    if (exists && saliency == QFZ_NONE)
        qfz_faults_add(h->faults, x, y, "band %d: the edge exists, but has no level", d + 1);
    if (!exists && saliency != QFZ_NONE)
        qfz_faults_add(h->faults, x, y, "band %d: level %.9g, but there is no edge", d + 1,
                       qfz_level_value(h->rule, saliency));
    if (!exists || saliency == QFZ_NONE) return;
    if (saliency > level)
        qfz_faults_add(h->faults, x, y,
                       "band %d: level %.9g, but the dissimilarity of the two pixels is %.9g, "
                       "which is less",
                       d + 1, qfz_level_value(h->rule, saliency), qfz_level_value(h->rule, level));
    qfz_forest_edge(h->by_saliency, d, x, saliency);
    qfz_forest_edge(h->by_level, d, x, level);
}

qfz_status qfz_hierarchy_row(qfz_hierarchy *h, const qfz_check_row *row, qfz_error *err)
{
    for (int d = 0; d < row->n_dirs; d++)
        for (int64_t x = 0; x < row->w; x++)
            check_edge(h, row, d, x);
    for (int64_t x = 0; x < row->w; x++)
        h->pixels += row->valid[x];
    QFZ_TRY(qfz_forest_row(h->by_saliency, err));
    return qfz_forest_row(h->by_level, err);
}

qfz_status qfz_hierarchy_end(qfz_hierarchy *h, uint64_t *pixels, bool *same_weight, qfz_error *err)
{
    qfz_u128 weights[2];
    uint64_t n[2];
    QFZ_TRY(qfz_forest_end(h->by_saliency, &weights[0], &n[0], err));
    QFZ_TRY(qfz_forest_end(h->by_level, &weights[1], &n[1], err));
    *pixels = h->pixels;
    *same_weight = weights[0] == weights[1] && n[0] == n[1];
    return QFZ_OK;
}
