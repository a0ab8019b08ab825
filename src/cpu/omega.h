/* SPDX-License-Identifier: MIT */
/* omega.h - (alpha, omega)-components of a graph (Soille, TPAMI 2008), by Kruskal's algorithm.
 *
 * Components grow in order of level and know the range of their values.  holds[root] is the
 * largest level up to which the component that the root stands for keeps within omega; once it is
 * below the current level, the component has broken omega, and whoever joins it later breaks with
 * it.  A vertex belongs to the largest component on its way up the forest that still holds.
 * Components of level 0 always qualify. */
#ifndef QFZ_CPU_OMEGA_H
#define QFZ_CPU_OMEGA_H

#include "cpu/graph.h"

typedef struct qfz_spans {
    int64_t capacity; /* vertices */
    uint32_t *holds;
    void *lo, *hi; /* band b of vertex v is at [v * n_bands + b] */
} qfz_spans;

qfz_status qfz_spans_init(qfz_spans *spans, int64_t n, const qfz_rule *rule, qfz_error *err);
void qfz_spans_fini(qfz_spans *spans);

/* Vertex first + p has the value of pixel p, and holds as far as is known. */
void qfz_spans_start(qfz_spans *spans, uint32_t first, const qfz_image *values);

typedef struct qfz_omega_input {
    const qfz_graph *graph;   /* sorted */
    const qfz_ranges *ranges; /* NULL: none */
    const qfz_graph *order;   /* their numbers by level, sorted; NULL: they are listed so */
} qfz_omega_input;

/* What the marks have to know of it: links and ranges, appended, between marks that break omega at
 * the same levels.  mark[] as in qfz_forest_summarise(). */
typedef struct qfz_omega_exterior {
    uint32_t *mark;
    qfz_links *links;
    qfz_ranges *ranges;
} qfz_omega_exterior;

/* Joins vertices of a forest that was reset, and whose spans are set; qfz_omega_top() then tells
 * each vertex's region.  Parts of a graph that share no vertex may be joined at the same time.
 * told: NULL if nobody asks; then it cannot fail. */
qfz_status qfz_omega_join(qfz_forest *forest, qfz_spans *spans, const qfz_rule *rule,
                          const qfz_omega_input *input, const qfz_omega_exterior *told,
                          qfz_error *err);

/* The vertex that stands for v's region, and the largest level up to which v's component holds. */
uint32_t qfz_omega_top(const qfz_forest *forest, const qfz_spans *spans, uint32_t v,
                       uint32_t *holds);

#endif
