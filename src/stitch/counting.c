/* SPDX-License-Identifier: MIT */
/* counting.c - the number of regions, without labels.
 *
 * Every region is counted once: by the smallest tile or group that contains it and whose ring it
 * does not touch.  Regions that touch the outline of the raster are counted at the top. */
#include <stdlib.h>

#include "core/memory.h"
#include "stitch/sound.h"
#include "stitch/state.h"

/* The counts of one tile. */
typedef struct tally {
    uint64_t inner, border_regions;
} tally;

qfz_status qfz_stitch_put_count(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                                qfz_error *err)
{
    const tally t = {.inner = partition->n_regions - partition->n_border_regions,
                     .border_regions = partition->n_border_regions};
    return qfz_store_put(stitch->store, qfz_piece(stitch, PIECE_CENSUS, tile), &t, sizeof t, err);
}

bool qfz_stitch_has_count(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_CENSUS, tile);
}

enum { SHORT_LEVEL = 1024 }; /* nodes; adding fewer takes less time than waking threads */

typedef struct adding {
    qfz_level_walk walk;
    uint64_t n;
} adding;

static tally tally_of_group(const uint32_t *map)
{
    int64_t at = 1;
    uint32_t n_own;
    (void)qfz_map_next(map, &at, &n_own);
    return (tally){.inner = map[0] - n_own, .border_regions = n_own};
}

static qfz_status read_tally(const qfz_stitch *stitch, int level, int64_t node, const void *data,
                             int64_t bytes, tally *t, qfz_error *err)
{
    const qfz_box box = qfz_group_tree_box(&stitch->group_tree, level, node);
    int64_t members[QFZ_GROUP_CHILDREN];
    if (level == 0 && bytes != (int64_t)sizeof *t) return qfz_unsound(box, "count", err);
    if (level > 0)
        QFZ_TRY(qfz_sound_map(data, bytes,
                              qfz_group_tree_children(&stitch->group_tree, level, node, members),
                              box, err));
    *t = level == 0 ? *(const tally *)data : tally_of_group(data);
    return QFZ_OK;
}

static qfz_status add_node(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    adding *const a = arg;
    const qfz_stitch *const stitch = a->walk.stitch;
    const int64_t node = a->walk.first + item;
    const bool is_tile = a->walk.level == 0, is_top = node + 1 == stitch->n_nodes;
    const void *data;
    void *own;
    int64_t bytes;
    QFZ_TRY(qfz_store_view(stitch->store,
                           qfz_piece(stitch, is_tile ? PIECE_CENSUS : PIECE_MAP, node), &data,
                           &bytes, &own, err));
    if (!data) return qfz_fail(err, QFZ_EIO, "the count of a tile is missing in the store");
    tally t = {0};
    const qfz_status st = read_tally(stitch, a->walk.level, node, data, bytes, &t, err);
    free(own);
    QFZ_TRY(st);
#pragma omp atomic
    a->n += t.inner + (is_top ? t.border_regions : 0);
    return QFZ_OK;
}

qfz_status qfz_stitch_add_counts(qfz_stitch *stitch, qfz_error *err)
{
    const qfz_group_tree *const h = &stitch->group_tree;
    adding a = {.n = 0};
    qfz_count count = {0};
    qfz_status st = QFZ_OK;
    for (int level = 0; level < h->n_levels && st == QFZ_OK; level++) {
        const bool is_short = h->n_x[level] * h->n_y[level] < SHORT_LEVEL;
        st = qfz_walk_level(&a.walk, stitch, is_short ? 1 : stitch->n_threads, level, add_node, &a,
                            err);
    }
    QFZ_TRY(qfz_ranks_agree(stitch->ranks, st, err));
    count.own = a.n;
    QFZ_TRY(qfz_ranks_sum(stitch->ranks, count.own, &count.before, &count.total, err));
    st = qfz_store_put(stitch->store, qfz_fact(stitch, FACT_NUMBERED), &count, sizeof count, err);
    return qfz_ranks_agree(stitch->ranks, st, err);
}

bool qfz_stitch_is_counted(qfz_stitch *stitch)
{
    return qfz_store_has(stitch->store, qfz_fact(stitch, FACT_NUMBERED));
}

qfz_status qfz_stitch_total(qfz_stitch *stitch, uint64_t *n, qfz_error *err)
{
    qfz_count count;
    QFZ_TRY(qfz_stitch_get_count(stitch, &count, err));
    *n = count.total;
    return QFZ_OK;
}
