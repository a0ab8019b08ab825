/* SPDX-License-Identifier: MIT */
/* components_label.c - turns the forest of runs into labels of runs. */
#include "cpu/components_runs.h"

/* Labels runs; roots without a label get the labels from *label on.  Parents outside the strip have
 * labels.  Other threads write parents at the same time, but only replace the number of a run by
 * the label of its region, and both lead to the same label.  Earlier runs of the strip have labels,
 * so one step suffices.  Whether a run is a root is random: no branch depends on it. */
QFZ_CLONES static void label_runs(uint32_t *parent, uint32_t begin, uint32_t end, uint32_t *label)
{
    uint32_t fresh = *label;
    for (uint32_t run = begin; run < end; run++) {
        const uint32_t up = __atomic_load_n(&parent[run], __ATOMIC_RELAXED), is_root = up == run;
        const uint32_t at = up & QFZ_LABELLED ? run : up;
        uint32_t found = __atomic_load_n(&parent[at], __ATOMIC_RELAXED);
        found ^= (found ^ (QFZ_LABELLED | fresh)) & -is_root;
        while (!(found & QFZ_LABELLED))
            found = __atomic_load_n(&parent[found], __ATOMIC_RELAXED);
        __atomic_store_n(&parent[run], found, __ATOMIC_RELAXED);
        fresh += is_root;
    }
    *label = fresh;
}

void qfz_runs_label(const qfz_runs *runs, const qfz_strip *strip)
{
    uint32_t *const row_before = runs->row_before;
    for (int64_t y = strip->y0; y < strip->y1; y++) {
        uint32_t next = row_before[y] + 1;
        label_runs(runs->parent, runs->row_run[y], runs->row_end[y], &next);
        if (y >= strip->gap_y0 && y + 1 < strip->gap_y1) row_before[y + 1] = next - 1;
    }
}
