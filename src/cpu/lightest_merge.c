/* SPDX-License-Identifier: MIT */
/* lightest_merge.c - components of hooked pixels that edges of level 0 join become one. */
#include "core/simd.h"
#include "cpu/lightest.h"
#include "cpu/spanning.h"

/* Turns the sets of components, each led to by its first component, into new numbers: in set[], and
 * in up[] at their roots.  Components are numbered in the order of their roots, of which those of
 * level QFZ_NONE have no number. */
static void number_sets(qfz_lightest *l, uint16_t *set)
{
    const int n_px = (int)(qfz_box_h(l->box) * qfz_box_w(l->box));
    uint16_t root[QFZ_CPU_BLOCK_PX + 1];
    uint32_t component = 1, n = 1;
    for (int some = 0; some < n_px; some += 64) {
        uint64_t roots = qfz_words_in_sequence(l->up + some, (uint16_t)some);
        for (; roots; roots &= roots - 1) {
            const int px = some + __builtin_ctzll(roots);
            if (l->level[px] == QFZ_NONE) continue;
            const uint32_t first = set[component], is_first = first == component;
            const uint32_t number = is_first ? n : set[first];
            root[n] = (uint16_t)px;
            l->up[px] = root[number];
            set[component++] = (uint16_t)number;
            n += is_first;
        }
    }
    l->n_components = n;
}

void qfz_lightest_merge(qfz_lightest *l, uint64_t *edges, int32_t n)
{
    const int64_t n_px = qfz_box_h(l->box) * qfz_box_w(l->box);
    uint16_t set[QFZ_CPU_BLOCK_PX + 1];
    qfz_spanning_start(set, l->n_components);
    (void)qfz_spanning_keep(set, edges, n, false);
    number_sets(l, set);
    for (int64_t i = 0; i < n_px; i++)
        l->component[i] = set[l->component[i]];
}
