/* SPDX-License-Identifier: MIT */
#include "stitch/stitch.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "stitch/pack.h"
#include "stitch/sound.h"
#include "stitch/state.h"
#include "stitch/thin.h"

static const qfz_solver *solver_of(qfz_kind kind)
{
    switch (kind) {
    case QFZ_COMPONENTS: return &qfz_solve_components;
    case QFZ_LEVELS: return &qfz_solve_levels;
    case QFZ_OMEGA: return &qfz_solve_omega;
    case QFZ_FILTER: return &qfz_solve_filter;
    case QFZ_JOINS: return &qfz_solve_joins;
    case QFZ_TREE: break;
    }
    return NULL;
}

qfz_status qfz_stitch_open(qfz_stitch **out, const qfz_rule *rule, qfz_kind kind,
                           const qfz_tiling *tiling, const qfz_ranks *ranks, int n_threads,
                           int64_t memory_bytes, const char *folder, qfz_error *err)
{
    qfz_stitch *stitch = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&stitch, 1, err));
    stitch->rule = rule;
    stitch->kind = kind;
    stitch->solver = solver_of(kind);
    stitch->ranks = ranks;
    stitch->n_threads = n_threads;
    const size_t value_bytes = qfz_event_value_bytes(kind, rule);
    stitch->event_block = value_bytes > 0 ? qfz_event_block(memory_bytes, value_bytes) : 0;
    stitch->group_tree = qfz_group_tree_of(tiling);
    stitch->n_nodes = stitch->group_tree.first[stitch->group_tree.n_levels];
    const qfz_status st =
        qfz_store_open(&stitch->store, qfz_fact(stitch, FACTS), memory_bytes, folder, err);
    if (st != QFZ_OK) {
        qfz_stitch_close(stitch);
        return st;
    }
    stitch->folder = qfz_store_folder(stitch->store);
    *out = stitch;
    return QFZ_OK;
}

void qfz_stitch_close(qfz_stitch *stitch)
{
    if (!stitch) return;
    qfz_store_close(stitch->store);
    free(stitch);
}

qfz_status qfz_stitch_attach(qfz_stitch *stitch, qfz_journal *journal, bool check, qfz_error *err)
{
    return qfz_store_attach(stitch->store, journal, check, err);
}

void qfz_stitch_forget_count(qfz_stitch *stitch)
{
    qfz_store_forget(stitch->store, qfz_fact(stitch, FACT_NUMBERED));
}

void qfz_stitch_use(qfz_stitch *stitch, const qfz_engine *engine, qfz_worker *const *workers, int n,
                    int64_t least_vertices)
{
    stitch->engine = engine;
    stitch->workers = workers;
    stitch->n_workers = engine->groups ? n : 0;
    stitch->least_vertices = least_vertices;
}

/* -------------------------------------------------------------------------- pieces of the store */
/* spool: events of a group that come before those of the summary; NULL: none. */
static qfz_status put_summary(qfz_stitch *stitch, int64_t node, const qfz_summary *summary,
                              const qfz_event_spool *spool, qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    if (stitch->event_block > 0)
        return qfz_event_put(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, node),
                             stitch->event_block, summary, stitch->kind, stitch->rule, spool, err);
    QFZ_TRY(qfz_pack_summary(summary, stitch->rule, &data, &bytes, err));
    return qfz_store_give(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, node), data, bytes, err);
}

static qfz_status put_exterior(qfz_stitch *stitch, int64_t node, const qfz_exterior *exterior,
                               qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(qfz_pack_exterior(exterior, stitch->rule, &data, &bytes, err));
    return qfz_store_give(stitch->store, qfz_piece(stitch, PIECE_EXTERIOR, node), data, bytes, err);
}

/* The ring of a tile, or of a group, which has no neighbours at the raster's edge. */
static qfz_ring ring_of(const qfz_stitch *stitch, int64_t node)
{
    const qfz_group_tree *const tree = &stitch->group_tree;
    int level = 0;
    while (node >= tree->first[level + 1])
        level++;
    const qfz_box box = qfz_group_tree_box(tree, level, node);
    return qfz_ring_of(box, level == 0 ? QFZ_ALL_SIDES : qfz_group_tree_sides(tree, box));
}

/* A view of a summary in memory, valid until the summary is dropped; its events are in
 * *events. */
static qfz_status view_summary(qfz_stitch *stitch, int64_t node, qfz_summary *summary,
                               qfz_event_list *events, qfz_error *err)
{
    const qfz_ring ring = ring_of(stitch, node);
    if (stitch->event_block > 0)
        return qfz_event_view(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, node), stitch->kind,
                              stitch->rule, &ring, summary, events, err);
    const void *data;
    void *own;
    int64_t bytes;
    QFZ_TRY(qfz_store_view(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, node), &data, &bytes,
                           &own, err));
    if (!data) return qfz_fail(err, QFZ_EIO, "the summary of a tile is missing in the store");
    qfz_summary found = {0};
    qfz_status st = qfz_unpack_summary(&found, stitch->rule, data, own, bytes, err);
    if (st == QFZ_OK) st = qfz_sound_summary(&found, stitch->rule, stitch->kind, &ring, err);
    if (st != QFZ_OK)
        free(own);
    else
        *summary = found;
    return st;
}

/* The whole raster has an empty exterior.  Kinds without a way down have no exteriors at all. */
static qfz_status get_exterior(qfz_stitch *stitch, int64_t node, qfz_exterior *exterior,
                               qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    *exterior = (qfz_exterior){0};
    if (!stitch->solver->down) return QFZ_OK;
    QFZ_TRY(
        qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_EXTERIOR, node), &data, &bytes, err));
    if (!data && node + 1 < stitch->n_nodes)
        return qfz_fail(err, QFZ_EIO, "the exterior of a tile is missing in the store");
    if (!data) return QFZ_OK;
    const qfz_ring ring = ring_of(stitch, node);
    qfz_exterior found = {0};
    qfz_status st = qfz_unpack_exterior(&found, stitch->rule, data, bytes, err);
    if (st == QFZ_OK) st = qfz_sound_exterior(&found, stitch->rule, stitch->kind, &ring, err);
    if (st != QFZ_OK)
        free(data);
    else
        *exterior = found;
    return st;
}

static qfz_status take_map(qfz_stitch *stitch, int64_t node, qfz_map *map, qfz_error *err)
{
    const qfz_map taken = *map;
    *map = (qfz_map){0};
    if (taken.n == 0) return QFZ_OK;
    return qfz_store_give(stitch->store, qfz_piece(stitch, PIECE_MAP, node), taken.words,
                          taken.n * (int64_t)sizeof *taken.words, err);
}

qfz_status qfz_stitch_put(qfz_stitch *stitch, int64_t tile, const qfz_summary *summary,
                          qfz_error *err)
{
    if (summary->ranges.n == 0) return put_summary(stitch, tile, summary, NULL, err);
    qfz_summary thinned = *summary;
    QFZ_TRY(qfz_thin_ranges(summary, stitch->rule, &thinned.ranges, err));
    const qfz_status st = put_summary(stitch, tile, &thinned, NULL, err);
    qfz_ranges_fini(&thinned.ranges);
    return st;
}

bool qfz_stitch_wants_summaries(const qfz_stitch *stitch)
{
    return stitch->group_tree.n_levels > 1;
}

bool qfz_stitch_has_summary(qfz_stitch *stitch, int64_t tile)
{
    return !qfz_stitch_wants_summaries(stitch) || qfz_has(stitch, PIECE_SUMMARY, tile);
}

bool qfz_stitch_has_pixels(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_PIXELS, tile);
}

bool qfz_stitch_has_exterior(qfz_stitch *stitch, int64_t tile)
{
    return !stitch->solver->down || !qfz_stitch_wants_summaries(stitch) ||
           qfz_has(stitch, PIECE_EXTERIOR, tile);
}

qfz_status qfz_stitch_exterior(qfz_stitch *stitch, int64_t tile, qfz_exterior *exterior,
                               qfz_error *err)
{
    return get_exterior(stitch, tile, exterior, err);
}

qfz_status qfz_stitch_put_level_bytes(qfz_stitch *stitch, int bytes, qfz_error *err)
{
    const int64_t fact = bytes;
    return qfz_store_put(stitch->store, qfz_fact(stitch, FACT_LEVEL_BYTES), &fact, sizeof fact,
                         err);
}

static qfz_status get_level_bytes(qfz_stitch *stitch, uint64_t *bytes, qfz_error *err)
{
    void *data = NULL;
    int64_t n;
    QFZ_TRY(qfz_store_get(stitch->store, qfz_fact(stitch, FACT_LEVEL_BYTES), &data, &n, err));
    const bool sound = !data || n == (int64_t)sizeof(int64_t);
    *bytes = data && sound ? (uint64_t) * (const int64_t *)data : 0;
    free(data);
    return sound ? QFZ_OK : qfz_fail(err, QFZ_EIO, "the width of levels is damaged in the store");
}

/* Every exterior has it, of a single tile the store; the rank that owns the first tile reads it. */
static qfz_status first_level_bytes(qfz_stitch *stitch, uint64_t *bytes, qfz_error *err)
{
    qfz_exterior exterior;
    int64_t first, end;
    qfz_group_tree_owned(&stitch->group_tree, 0, stitch->ranks->rank, stitch->ranks->n, &first,
                         &end);
    *bytes = 0;
    if (first > 0 || first == end) return QFZ_OK;
    if (!qfz_stitch_wants_summaries(stitch)) return get_level_bytes(stitch, bytes, err);
    QFZ_TRY(get_exterior(stitch, 0, &exterior, err));
    *bytes = (uint64_t)exterior.level_bytes;
    qfz_exterior_fini(&exterior);
    return QFZ_OK;
}

qfz_status qfz_stitch_level_bytes(qfz_stitch *stitch, int *bytes, qfz_error *err)
{
    uint64_t own = 0, before, all = 0;
    const qfz_status st = first_level_bytes(stitch, &own, err);
    QFZ_TRY(qfz_ranks_agree(stitch->ranks, st, err));
    QFZ_TRY(qfz_ranks_sum(stitch->ranks, own, &before, &all, err));
    if (all > sizeof(uint64_t))
        return qfz_fail(err, QFZ_EIO, "the width of levels is damaged: %llu bytes",
                        (unsigned long long)all);
    *bytes = (int)all;
    return QFZ_OK;
}

qfz_status qfz_stitch_put_pixels(qfz_stitch *stitch, int64_t tile, uint64_t n, qfz_error *err)
{
    return qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_PIXELS, tile), &n, sizeof n, err);
}

qfz_status qfz_stitch_pixels(qfz_stitch *stitch, uint64_t *n, qfz_error *err)
{
    int64_t tile, end;
    qfz_group_tree_owned(&stitch->group_tree, 0, stitch->ranks->rank, stitch->ranks->n, &tile,
                         &end);
    for (*n = 0; tile < end; tile++) {
        void *data;
        int64_t bytes;
        QFZ_TRY(qfz_store_get(stitch->store, qfz_piece(stitch, PIECE_PIXELS, tile), &data, &bytes,
                              err));
        if (data && bytes == (int64_t)sizeof *n) *n += *(const uint64_t *)data;
        free(data);
        if (data && bytes != (int64_t)sizeof *n)
            return qfz_unsound(qfz_group_tree_box(&stitch->group_tree, 0, tile), "number of pixels",
                               err);
    }
    return QFZ_OK;
}

bool qfz_stitch_has_sum(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_SOURCE, tile);
}

qfz_status qfz_stitch_same_source(qfz_stitch *stitch, int64_t tile, uint64_t sum, bool *is_same,
                                  qfz_error *err)
{
    const int64_t piece = qfz_piece(stitch, PIECE_SOURCE, tile);
    void *data;
    int64_t bytes;
    *is_same = true;
    if (!qfz_store_has(stitch->store, piece))
        return qfz_store_put(stitch->store, piece, &sum, sizeof sum, err);
    QFZ_TRY(qfz_store_get(stitch->store, piece, &data, &bytes, err));
    *is_same = bytes == (int64_t)sizeof sum && memcmp(data, &sum, sizeof sum) == 0;
    free(data);
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------- up and down
 */
qfz_status qfz_walk_level(qfz_level_walk *walk, qfz_stitch *stitch, int n_threads, int level,
                          qfz_item_fn fn, void *arg, qfz_error *err)
{
    int64_t end;
    *walk = (qfz_level_walk){.stitch = stitch, .level = level};
    qfz_group_tree_owned(&stitch->group_tree, level, stitch->ranks->rank, stitch->ranks->n,
                         &walk->first, &end);
    const int64_t n = end - walk->first;
    walk->n = n;
    walk->n_threads_each = n > 0 && n < n_threads ? n_threads / (int)n : 1;
    return qfz_parallel_for(n_threads, n, fn, arg, err);
}

/* A group and its members. */
typedef struct family {
    int level;
    int64_t node;
    int n_members;
    int64_t members[QFZ_GROUP_CHILDREN];
} family;

/* The function that a walk calls for each group, and the test whether an earlier run has done it.
 */
typedef bool (*done_fn)(const qfz_stitch *stitch, const family *f);
typedef qfz_status (*solve_fn)(qfz_stitch *stitch, const family *f, const qfz_group *group,
                               qfz_error *err);

typedef struct step {
    qfz_level_walk walk;
    done_fn is_done;
    solve_fn solve;
    int64_t done; /* groups, of all levels and both ways */
    int64_t n_groups;
    qfz_stitch_progress progress;
    void *progress_arg;
} step;

/* The worker for an item; no two threads share one at a time.  Fewer groups than workers are spread
 * evenly over the workers, and so over the devices. */
static qfz_worker *worker_for(const qfz_level_walk *walk, int64_t item, int thread)
{
    const qfz_stitch *const stitch = walk->stitch;
    const int64_t n = stitch->n_workers, i = walk->n <= n ? item * n / walk->n : thread;
    return i < n ? stitch->workers[i] : NULL;
}

static qfz_status load_group(const qfz_level_walk *walk, const family *f, qfz_group *group,
                             qfz_error *err)
{
    qfz_stitch *const stitch = walk->stitch;
    qfz_summary summaries[QFZ_GROUP_CHILDREN] = {0};
    qfz_event_list events[QFZ_GROUP_CHILDREN] = {0};
    qfz_status st = QFZ_OK;
    for (int m = 0; m < f->n_members && st == QFZ_OK; m++)
        st = view_summary(stitch, f->members[m], &summaries[m], &events[m], err);
    const qfz_box box = qfz_group_tree_box(&stitch->group_tree, f->level, f->node);
    const qfz_ring ring = qfz_ring_of(box, qfz_group_tree_sides(&stitch->group_tree, box));
    for (int m = 1; m < f->n_members && st == QFZ_OK; m++)
        if (!summaries[m].weight != !summaries[0].weight)
            st = qfz_unsound(box, "boundary summary", err);
    if (st == QFZ_OK)
        st = qfz_group_init(group, stitch->rule, walk->n_threads_each, ring, f->n_members,
                            summaries, err);
    if (st == QFZ_OK) memcpy(group->events, events, sizeof events);
    for (int m = 0; m < f->n_members; m++)
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

static qfz_status solve_group(void *arg, int64_t item, int thread, qfz_error *err)
{
    step *const s = arg;
    qfz_stitch *const stitch = s->walk.stitch;
    family f = {.level = s->walk.level, .node = s->walk.first + item};
    f.n_members = qfz_group_tree_children(&stitch->group_tree, f.level, f.node, f.members);
    qfz_group group = {0};
    qfz_event_spool spool = {.folder = stitch->folder,
                             .value_bytes = qfz_event_value_bytes(stitch->kind, stitch->rule),
                             .block = stitch->event_block,
                             .file = -1};
    qfz_status st;
    if (s->is_done(stitch, &f)) return report(s, err);
    QFZ_TRY_OR(st, cleanup, load_group(&s->walk, &f, &group, err));
    group.spool = &spool;
    group.engine = stitch->engine;
    if (qfz_group_n(&group) >= stitch->least_vertices)
        group.worker = worker_for(&s->walk, item, thread);
    if (stitch->kind == QFZ_OMEGA) QFZ_TRY_OR(st, cleanup, qfz_group_load_ranges(&group, err));
    QFZ_TRY_OR(st, cleanup, s->solve(stitch, &f, &group, err));
    st = report(s, err);

cleanup:
    qfz_group_fini(&group);
    qfz_event_spool_close(&spool);
    return st;
}

static void drop_summaries(qfz_stitch *stitch, const family *f)
{
    for (int m = 0; m < f->n_members; m++)
        qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_SUMMARY, f->members[m]));
}

/* The whole raster needs no summary, but it needs a map if groups have maps. */
static bool is_up(const qfz_stitch *stitch, const family *f)
{
    const bool top = f->level + 1 == stitch->group_tree.n_levels;
    const bool maps = !stitch->solver->down;
    return (top || qfz_has(stitch, PIECE_SUMMARY, f->node)) &&
           (!maps || qfz_has(stitch, PIECE_MAP, f->node));
}

static qfz_status go_up(qfz_stitch *stitch, const family *f, const qfz_group *group, qfz_error *err)
{
    qfz_summary summary = {0};
    qfz_map map = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, stitch->solver->up(group, &summary, &map, err));
    QFZ_TRY_OR(st, cleanup, take_map(stitch, f->node, &map, err));
    if (f->level + 1 < stitch->group_tree.n_levels)
        QFZ_TRY_OR(st, cleanup, put_summary(stitch, f->node, &summary, group->spool, err));
    if (!stitch->solver->down) drop_summaries(stitch, f);

cleanup:
    qfz_summary_fini(&summary);
    qfz_map_fini(&map);
    return st;
}

static bool is_down(const qfz_stitch *stitch, const family *f)
{
    if (stitch->kind == QFZ_OMEGA && !qfz_has(stitch, PIECE_MAP, f->node)) return false;
    for (int m = 0; m < f->n_members; m++)
        if (!qfz_has(stitch, PIECE_EXTERIOR, f->members[m])) return false;
    return true;
}

typedef struct passing_down {
    qfz_stitch *stitch;
    const family *f;
    const qfz_exterior *exteriors;
} passing_down;

static qfz_status put_member_exterior(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    const passing_down *const h = arg;
    return put_exterior(h->stitch, h->f->members[item], &h->exteriors[item], err);
}

static qfz_status go_down(qfz_stitch *stitch, const family *f, const qfz_group *group,
                          qfz_error *err)
{
    qfz_exterior own = {0}, exteriors[QFZ_GROUP_CHILDREN] = {0};
    qfz_map map = {0};
    passing_down h = {.stitch = stitch, .f = f, .exteriors = exteriors};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, get_exterior(stitch, f->node, &own, err));
    QFZ_TRY_OR(st, cleanup, stitch->solver->down(group, &own, exteriors, &map, err));
    QFZ_TRY_OR(st, cleanup, take_map(stitch, f->node, &map, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_parallel_within(group->n_threads, f->n_members, put_member_exterior, &h, err));
    qfz_store_drop(stitch->store, qfz_piece(stitch, PIECE_EXTERIOR, f->node));
    drop_summaries(stitch, f);

cleanup:
    qfz_exterior_fini(&own);
    for (int m = 0; m < f->n_members; m++)
        qfz_exterior_fini(&exteriors[m]);
    qfz_map_fini(&map);
    return st;
}

static qfz_status walk(step *s, qfz_stitch *stitch, int level, done_fn is_done, solve_fn solve,
                       qfz_error *err)
{
    s->is_done = is_done;
    s->solve = solve;
    return qfz_walk_level(&s->walk, stitch, stitch->n_threads, level, solve_group, s, err);
}

/* The number of groups that this rank owns. */
static int64_t count_groups(const qfz_stitch *stitch, int first_level, int end_level)
{
    int64_t n = 0;
    for (int level = first_level; level < end_level; level++) {
        int64_t first, end;
        qfz_group_tree_owned(&stitch->group_tree, level, stitch->ranks->rank, stitch->ranks->n,
                             &first, &end);
        n += end - first;
    }
    return n;
}

/* Kinds with a way down need no summary of the whole raster. */
qfz_status qfz_stitch_solve(qfz_stitch *stitch, qfz_stitch_progress progress, void *arg,
                            qfz_error *err)
{
    const int n_levels = stitch->group_tree.n_levels;
    const bool both_ways = stitch->solver->down != NULL;
    const int end_up = both_ways ? n_levels - 1 : n_levels;
    step s = {
        .n_groups = count_groups(stitch, 1, end_up), .progress = progress, .progress_arg = arg};
    if (both_ways) s.n_groups += count_groups(stitch, 1, n_levels);
    qfz_status st = QFZ_OK;
    for (int level = 1; level < n_levels; level++) {
        st = qfz_stitch_exchange(stitch, PIECE_SUMMARY, level - 1, QFZ_UP, st, err);
        if (st == QFZ_OK && level < end_up) st = walk(&s, stitch, level, is_up, go_up, err);
    }
    for (int level = n_levels - 1; both_ways && level > 0; level--) {
        if (st == QFZ_OK) st = walk(&s, stitch, level, is_down, go_down, err);
        st = qfz_stitch_exchange(stitch, PIECE_EXTERIOR, level - 1, QFZ_DOWN, st, err);
    }
    return qfz_ranks_agree(stitch->ranks, st, err);
}
