/* SPDX-License-Identifier: MIT */
/* omega.h - (alpha, omega)-components of a graph (Soille, TPAMI 2008), by Kruskal's algorithm.
 *
 * Components grow in order of level, with the range of their values.  holds[root] is the omega
 * level of the root's component: the largest level at which the component is within omega.  Once it
 * is below the current level, the component has exceeded omega, and so has every component that
 * joins it later.  A vertex belongs to the largest component on its path up the forest that is
 * within omega.  Components of level 0 always are. */
#ifndef QFZ_CPU_OMEGA_H
#define QFZ_CPU_OMEGA_H

#include "cpu/graph.h"

typedef struct qfz_spans {
    int64_t capacity; /* vertices that there is memory for */
    uint32_t *holds;
    void *lo, *hi; /* band b of vertex v is at [v * n_bands + b] */
} qfz_spans;

qfz_status qfz_spans_init(qfz_spans *spans, int64_t n, const qfz_rule *rule, qfz_error *err);
void qfz_spans_fini(qfz_spans *spans);

/* Vertex first + p starts with the value of pixel p, and with the highest omega level. */
void qfz_spans_start(qfz_spans *spans, uint32_t first, const qfz_image *values);

/* Replaces range events that have been used by the next ones in their order; none: n = 0. */
typedef qfz_status (*qfz_omega_more)(void *arg, qfz_ranges *ranges, qfz_error *err);

typedef struct qfz_omega_input {
    const qfz_graph *graph;   /* sorted */
    const qfz_ranges *ranges; /* range events in ascending order; NULL: none */
    qfz_omega_more more;      /* returns those that come after ranges; NULL: there are none */
    void *more_arg;
} qfz_omega_input;

/* Takes all range events out of the list. */
typedef qfz_status (*qfz_omega_full)(void *arg, qfz_ranges *ranges, qfz_error *err);

/* The boundary summary of the marked vertices: appended links and range events, with the same omega
 * levels between marks.  mark[] as in qfz_forest_summarise(). */
typedef struct qfz_omega_summary {
    uint32_t *mark;
    qfz_links *links;
    qfz_ranges *ranges;
    int64_t n_full; /* full() takes the events each time that there are so many; 0: never */
    qfz_omega_full full;
    void *full_arg;
} qfz_omega_summary;

/* Joins the vertices of a forest that has been reset and whose spans are set; then qfz_omega_top()
 * gives each vertex's region.  Parts of a graph that share no vertex may be joined at the same
 * time.  summary: NULL if none is needed; then, and without more(), the function cannot fail. */
qfz_status qfz_omega_join(qfz_forest *forest, qfz_spans *spans, const qfz_rule *rule,
                          const qfz_omega_input *input, const qfz_omega_summary *summary,
                          qfz_error *err);

/* The vertex that represents v's region; *holds = the largest level at which v's component is
 * within omega. */
uint32_t qfz_omega_top(const qfz_forest *forest, const qfz_spans *spans, uint32_t v,
                       uint32_t *holds);

#endif
