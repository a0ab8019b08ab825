/* SPDX-License-Identifier: MIT */
/* curve.c - the number of regions at alpha is the number of valid pixels less the joins of levels
 * up to alpha (Najman, Cousty, Perret, Playing with Kruskal, ISMM 2013). */
#include "job/curve.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

void qfz_curve_release(qfz_curve *curve)
{
    free(curve->alpha);
    free(curve->regions);
    curve->alpha = NULL;
    curve->regions = NULL;
    curve->n = 0;
}

/* Points of n bins, and the first one at alpha 0, whether level 0 occurs or not. */
static qfz_status make(qfz_curve *curve, const qfz_rule *rule, uint64_t pixels,
                       const uint32_t *level, const uint64_t *count, int64_t n, qfz_error *err)
{
    qfz_curve made = qfz_curve_default();
    uint64_t regions = pixels;
    qfz_status st;
    QFZ_TRY_OR(st, failed, QFZ_NEW(&made.alpha, n + 1, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&made.regions, n + 1, err));
    if (n == 0 || level[0] > 0) {
        made.alpha[0] = 0;
        made.regions[made.n++] = regions;
    }
    for (int64_t i = 0; i < n; i++) {
        regions -= count[i];
        made.alpha[made.n] = qfz_level_value(rule, level[i]);
        made.regions[made.n++] = regions;
    }
    *curve = made;
    return QFZ_OK;

failed:
    qfz_curve_release(&made);
    return st;
}

static qfz_status make_from(qfz_run *run, uint64_t pixels, const qfz_histogram *joins,
                            qfz_error *err)
{
    const qfz_rule *const rule = &run->setup->rule;
    uint32_t *level = NULL;
    uint64_t *count = NULL;
    int64_t n;
    QFZ_TRY(qfz_histogram_list(joins, &level, &count, &n, err));
    const qfz_status st = make(&run->curve, rule, pixels, level, count, n, err);
    free(level);
    free(count);
    QFZ_TRY(st);
    run->curve.exact_below = joins->shift > 0 ? qfz_level_value(rule, joins->n_dense) : INFINITY;
    run->count.total = run->curve.regions[0];
    return QFZ_OK;
}

qfz_status qfz_curve_find(qfz_run *run, qfz_error *err)
{
    qfz_histogram joins = {0};
    uint64_t own, before, pixels;
    qfz_status st = qfz_stitch_pixels(run->stitch, &own, err);
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    QFZ_TRY(qfz_ranks_sum(run->ranks, own, &before, &pixels, err));
    QFZ_TRY_OR(st, cleanup, qfz_histogram_init(&joins, &run->setup->rule, err));
    QFZ_TRY_OR(st, cleanup, qfz_stitch_get_joins(run->stitch, &joins, err));
    st = make_from(run, pixels, &joins, err);

cleanup:
    qfz_histogram_fini(&joins);
    return st;
}
