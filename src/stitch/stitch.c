/* SPDX-License-Identifier: MIT */
#include "stitch/stitch.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "parallel.h"
#include "stitch/pack.h"
#include "stitch/state.h"

static const qfz_solver *solver_of(qfz_kind kind)
{
    switch (kind) {
    case QFZ_COMPONENTS: return &qfz_solve_components;
    case QFZ_LEVELS: return &qfz_solve_levels;
    case QFZ_OMEGA: return &qfz_solve_omega;
    case QFZ_TREE: break;
    }
    return NULL;
}

qfz_status qfz_stitch_open(qfz_stitch **out, const qfz_rule *rule, qfz_kind kind,
                           const qfz_grid *grid, int n_threads, int64_t memory_bytes,
                           const char *folder, qfz_error *err)
{
    qfz_stitch *stitch = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&stitch, 1, err));
    stitch->rule = rule;
    stitch->kind = kind;
    stitch->solver = solver_of(kind);
    stitch->n_threads = n_threads;
    stitch->hierarchy = qfz_hierarchy_of(grid);
    stitch->n_nodes = stitch->hierarchy.first[stitch->hierarchy.n_levels];
    const qfz_status st =
        qfz_store_open(&stitch->store, PIECES * stitch->n_nodes, memory_bytes, folder, err);
    if (st != QFZ_OK) {
        qfz_stitch_close(stitch);
        return st;
    }
    *out = stitch;
    return QFZ_OK;
}

void qfz_stitch_close(qfz_stitch *stitch)
{
    if (!stitch) return;
    qfz_store_close(stitch->store);
    free(stitch);
}

/* -------------------------------------------------------------------------- pieces of the store */
/* data is released here, whatever comes of it. */
static qfz_status put_packed(qfz_stitch *stitch, int what, int64_t node, void *take_data,
                             int64_t bytes, qfz_error *err)
{
    const qfz_status st =
        qfz_store_put(stitch->store, qfz_piece(stitch, what, node), take_data, bytes, err);
    free(take_data);
    return st;
}

static qfz_status put_summary(qfz_stitch *stitch, int64_t node, const qfz_summary *summary,
                              qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(qfz_pack_summary(summary, stitch->rule, &data, &bytes, err));
    return put_packed(stitch, PIECE_SUMMARY, node, data, bytes, err);
}

static qfz_status put_answer(qfz_stitch *stitch, int64_t node, const qfz_answer *answer,
                             qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(qfz_pack_answer(answer, stitch->rule, &data, &bytes, err));
    return put_packed(stitch, PIECE_ANSWER, node, data, bytes, err);
}

static qfz_status get_summary(qfz_stitch *stitch, int64_t node, qfz_summary *summary,
                              qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(
        qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, node), &data, &bytes, err));
    const qfz_status st = qfz_unpack_summary(summary, stitch->rule, data, bytes, err);
    free(data);
    return st;
}

/* The raster itself has no answer: nothing is outside it. */
static qfz_status get_answer(qfz_stitch *stitch, int64_t node, qfz_answer *answer, qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    *answer = (qfz_answer){0};
    QFZ_TRY(
        qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_ANSWER, node), &data, &bytes, err));
    if (!data) return QFZ_OK;
    const qfz_status st = qfz_unpack_answer(answer, stitch->rule, data, bytes, err);
    free(data);
    return st;
}

static qfz_status put_map(qfz_stitch *stitch, int64_t node, const qfz_map *map, qfz_error *err)
{
    if (map->n == 0) return QFZ_OK;
    return qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_MAP, node), map->words,
                         map->n * (int64_t)sizeof *map->words, err);
}

qfz_status qfz_stitch_put(qfz_stitch *stitch, int64_t tile, const qfz_summary *summary,
                          qfz_error *err)
{
    return put_summary(stitch, tile, summary, err);
}

qfz_status qfz_stitch_answer(qfz_stitch *stitch, int64_t tile, qfz_answer *answer, qfz_error *err)
{
    return get_answer(stitch, tile, answer, err);
}

/* ----------------------------------------------------------------------------------- up and down
 */
typedef struct step {
    qfz_stitch *stitch;
    int level;
    int64_t done; /* groups, of all levels and both ways */
    int64_t n_groups;
    qfz_stitch_progress progress;
    void *progress_arg;
} step;

static qfz_status load_group(qfz_stitch *stitch, int level, int64_t node, const int64_t *members,
                             int n_members, qfz_group *group, qfz_error *err)
{
    qfz_summary summaries[QFZ_MAX_CHILDREN] = {0};
    qfz_status st = QFZ_OK;
    for (int m = 0; m < n_members && st == QFZ_OK; m++)
        st = get_summary(stitch, members[m], &summaries[m], err);
    if (st == QFZ_OK)
        st = qfz_group_init(group, stitch->rule, qfz_hierarchy_box(&stitch->hierarchy, level, node),
                            n_members, summaries, err);
    for (int m = 0; m < n_members; m++)
        qfz_summary_fini(&summaries[m]);
    return st;
}

static qfz_status report(step *s, qfz_error *err)
{
    int stop = 0;
#pragma omp critical(qfz_stitch_progress)
    {
        s->done++;
        if (s->progress) stop = s->progress((double)s->done / (double)s->n_groups, s->progress_arg);
    }
    return stop ? qfz_fail(err, QFZ_ECANCEL, "cancelled") : QFZ_OK;
}

static qfz_status go_up(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    step *const s = arg;
    qfz_stitch *const stitch = s->stitch;
    const int64_t node = stitch->hierarchy.first[s->level] + item;
    int64_t members[QFZ_MAX_CHILDREN];
    const int n_members = qfz_hierarchy_children(&stitch->hierarchy, s->level, node, members);
    qfz_group group = {0};
    qfz_summary summary = {0};
    qfz_map map = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, load_group(stitch, s->level, node, members, n_members, &group, err));
    QFZ_TRY_OR(st, cleanup, stitch->solver->up(&group, &summary, &map, err));
    QFZ_TRY_OR(st, cleanup, put_map(stitch, node, &map, err));
    if (s->level + 1 < stitch->hierarchy.n_levels) /* nobody asks the raster itself */
        QFZ_TRY_OR(st, cleanup, put_summary(stitch, node, &summary, err));
    for (int m = 0; !stitch->solver->down && m < n_members; m++)
        qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, members[m]));
    st = report(s, err);

cleanup:
    qfz_group_fini(&group);
    qfz_summary_fini(&summary);
    qfz_map_fini(&map);
    return st;
}

static qfz_status go_down(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    step *const s = arg;
    qfz_stitch *const stitch = s->stitch;
    const int64_t node = stitch->hierarchy.first[s->level] + item;
    int64_t members[QFZ_MAX_CHILDREN];
    const int n_members = qfz_hierarchy_children(&stitch->hierarchy, s->level, node, members);
    qfz_group group = {0};
    qfz_answer own = {0}, answers[QFZ_MAX_CHILDREN] = {0};
    qfz_map map = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, load_group(stitch, s->level, node, members, n_members, &group, err));
    QFZ_TRY_OR(st, cleanup, get_answer(stitch, node, &own, err));
    QFZ_TRY_OR(st, cleanup, stitch->solver->down(&group, &own, answers, &map, err));
    QFZ_TRY_OR(st, cleanup, put_map(stitch, node, &map, err));
    for (int m = 0; m < n_members; m++)
        QFZ_TRY_OR(st, cleanup, put_answer(stitch, members[m], &answers[m], err));
    qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_ANSWER, node));
    for (int m = 0; m < n_members; m++)
        qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, members[m]));
    st = report(s, err);

cleanup:
    qfz_group_fini(&group);
    qfz_answer_fini(&own);
    for (int m = 0; m < n_members; m++)
        qfz_answer_fini(&answers[m]);
    qfz_map_fini(&map);
    return st;
}

static int64_t nodes_of(const qfz_hierarchy *h, int level)
{
    return h->first[level + 1] - h->first[level];
}

qfz_status qfz_stitch_solve(qfz_stitch *stitch, qfz_stitch_progress progress, void *arg,
                            qfz_error *err)
{
    const qfz_hierarchy *const h = &stitch->hierarchy;
    const bool both_ways = stitch->solver->down != NULL;
    const int64_t n_groups = (stitch->n_nodes - h->first[1]) * (both_ways ? 2 : 1);
    step s = {.stitch = stitch, .n_groups = n_groups, .progress = progress, .progress_arg = arg};
    for (s.level = 1; s.level < h->n_levels; s.level++)
        QFZ_TRY(qfz_parallel_for(stitch->n_threads, nodes_of(h, s.level), go_up, &s, err));
    for (s.level = h->n_levels - 1; both_ways && s.level > 0; s.level--)
        QFZ_TRY(qfz_parallel_for(stitch->n_threads, nodes_of(h, s.level), go_down, &s, err));
    return QFZ_OK;
}
