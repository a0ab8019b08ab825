/* SPDX-License-Identifier: MIT */
/* joins.c - the histogram of the levels of the joins of the raster's minimum spanning forest.
 *
 * Every join is counted once: by the smallest tile or group in which no link stands for the join,
 * so that nothing outside can replace it. */
#include <stdlib.h>

#include "core/memory.h"
#include "stitch/state.h"

qfz_status qfz_stitch_put_joins(qfz_stitch *stitch, int64_t tile, const qfz_histogram *settled,
                                qfz_error *err)
{
    uint32_t *words = NULL;
    int64_t n;
    QFZ_TRY(qfz_histogram_pack(settled, &words, &n, err));
    return qfz_store_give(stitch->store, qfz_piece(stitch, PIECE_CENSUS, tile), words,
                          n * (int64_t)sizeof *words, err);
}

bool qfz_stitch_has_joins(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_CENSUS, tile);
}

/* Adds a piece to a histogram. */
static qfz_status add_piece(qfz_stitch *stitch, int64_t piece, qfz_histogram *sum, qfz_error *err)
{
    const void *data;
    void *own;
    int64_t bytes;
    QFZ_TRY(qfz_store_view(stitch->store, piece, &data, &bytes, &own, err));
    if (!data) return qfz_fail(err, QFZ_EIO, "the histogram of a tile is missing in the store");
    const qfz_status st =
        qfz_histogram_add_packed(sum, data, bytes / (int64_t)sizeof(uint32_t), err);
    free(own);
    return st;
}

/* Adds up the tiles and groups that this rank owns. */
static qfz_status add_own(qfz_stitch *stitch, qfz_histogram *sum, qfz_error *err)
{
    const qfz_group_tree *const tree = &stitch->group_tree;
    for (int level = 0; level < tree->n_levels; level++) {
        const int what = level == 0 ? PIECE_CENSUS : PIECE_MAP;
        int64_t node, end;
        qfz_group_tree_owned(tree, level, stitch->ranks->rank, stitch->ranks->n, &node, &end);
        for (; node < end; node++)
            QFZ_TRY(add_piece(stitch, qfz_piece(stitch, what, node), sum, err));
    }
    return QFZ_OK;
}

/* ---- Between ranks: each sends its sum to rank 0, which sends the total back. */
static void to_first(void *arg, int *to, int64_t *key)
{
    (void)arg;
    *to = 0;
    *key = 0;
}

static qfz_status get_own(void *arg, int64_t key, const void **data, int64_t *bytes, void **own,
                          qfz_error *err)
{
    (void)key;
    const qfz_histogram *const sum = arg;
    uint32_t *words = NULL;
    int64_t n;
    QFZ_TRY(qfz_histogram_pack(sum, &words, &n, err));
    *data = *own = words;
    *bytes = n * (int64_t)sizeof *words;
    return QFZ_OK;
}

static qfz_status add_other(void *arg, int from, int64_t key, void *take_data, int64_t bytes,
                            qfz_error *err)
{
    (void)from;
    (void)key;
    qfz_histogram *const sum = arg;
    const qfz_status st =
        qfz_histogram_add_packed(sum, take_data, bytes / (int64_t)sizeof(uint32_t), err);
    free(take_data);
    return st;
}

/* *words = the total, on every rank; the caller frees them. */
static qfz_status share_total(const qfz_ranks *ranks, const qfz_histogram *sum, uint32_t **words,
                              int64_t *n, qfz_error *err)
{
    const bool first = ranks->rank == 0;
    *n = 0;
    qfz_status st = first ? qfz_histogram_pack(sum, words, n, err) : QFZ_OK;
    QFZ_TRY(qfz_ranks_agree(ranks, st, err));
    QFZ_TRY(qfz_ranks_share(ranks, n, sizeof *n, err));
    if (!first) st = QFZ_NEW(words, *n, err);
    QFZ_TRY(qfz_ranks_agree(ranks, st, err));
    return qfz_ranks_share(ranks, *words, *n * (int64_t)sizeof **words, err);
}

qfz_status qfz_stitch_add_joins(qfz_stitch *stitch, qfz_error *err)
{
    const qfz_ranks *const ranks = stitch->ranks;
    const bool first = ranks->rank == 0;
    qfz_histogram sum = {0};
    const qfz_mail mail = {.n_out = first ? 0 : 1,
                           .n_in = first ? ranks->n - 1 : 0,
                           .arg = &sum,
                           .next = to_first,
                           .get = get_own,
                           .put = add_other};
    uint32_t *words = NULL;
    int64_t n;
    qfz_status st = qfz_histogram_init(&sum, stitch->rule, err);
    if (st == QFZ_OK) st = add_own(stitch, &sum, err);
    st = qfz_ranks_exchange(ranks, &mail, st, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(ranks, st, err));
    QFZ_TRY_OR(st, cleanup, share_total(ranks, &sum, &words, &n, err));
    st = qfz_store_put(stitch->store, qfz_fact(stitch, FACT_JOINS), words,
                       n * (int64_t)sizeof *words, err);
    st = qfz_ranks_agree(ranks, st, err);

cleanup:
    free(words);
    qfz_histogram_fini(&sum);
    return st;
}

bool qfz_stitch_are_joins_added(qfz_stitch *stitch)
{
    return qfz_store_has(stitch->store, qfz_fact(stitch, FACT_JOINS));
}

qfz_status qfz_stitch_get_joins(qfz_stitch *stitch, qfz_histogram *joins, qfz_error *err)
{
    return add_piece(stitch, qfz_fact(stitch, FACT_JOINS), joins, err);
}
