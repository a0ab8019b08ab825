/* SPDX-License-Identifier: MIT */
/* joins.c - the histogram of the levels of the joins of the raster's minimum spanning forest.
 *
 * Every join is counted once: by the smallest tile or group in which no link stands for the join,
 * so that nothing outside can replace it. */
#include <stdlib.h>
#include <string.h>

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

typedef struct sums {
    qfz_histogram own; /* rank 0: of all */
    uint32_t *words;   /* the own sum, packed; of ranks above 0 */
    int64_t n;
} sums;

static qfz_status size_of_own(void *arg, int64_t key, int64_t *bytes, qfz_error *err)
{
    (void)key;
    sums *const s = arg;
    QFZ_TRY(qfz_histogram_pack(&s->own, &s->words, &s->n, err));
    *bytes = s->n * (int64_t)sizeof *s->words;
    return QFZ_OK;
}

static qfz_status read_own(void *arg, int64_t key, int64_t offset, void *data, int64_t bytes,
                           qfz_error *err)
{
    (void)key;
    (void)err;
    const sums *const s = arg;
    memcpy(data, (const char *)s->words + offset, (size_t)bytes);
    return QFZ_OK;
}

/* The sum of another rank. */
typedef struct other {
    int64_t done, bytes;
    uint32_t words[];
} other;

static qfz_status begin_other(void *arg, int from, int64_t key, int64_t bytes, void **incoming,
                              qfz_error *err)
{
    (void)arg;
    (void)from;
    (void)key;
    other *it = NULL;
    if (bytes > INT32_MAX) return qfz_fail(err, QFZ_EIO, "a histogram of a rank is damaged");
    QFZ_TRY(qfz_alloc((void **)&it, 1, sizeof *it + (size_t)bytes, err));
    *it = (other){.bytes = bytes};
    *incoming = it;
    return QFZ_OK;
}

static qfz_status add_to_other(void *arg, void *incoming, const void *data, int64_t bytes,
                               qfz_error *err)
{
    (void)arg;
    (void)err;
    other *const it = incoming;
    memcpy((char *)it->words + it->done, data, (size_t)bytes);
    it->done += bytes;
    return QFZ_OK;
}

static qfz_status add_other(void *arg, void *take_incoming, qfz_error *err)
{
    sums *const s = arg;
    other *const it = take_incoming;
    const qfz_status st =
        qfz_histogram_add_packed(&s->own, it->words, it->bytes / (int64_t)sizeof *it->words, err);
    free(it);
    return st;
}

static void drop_other(void *arg, void *take_incoming)
{
    (void)arg;
    free(take_incoming);
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

static qfz_status exchange_sums(const qfz_ranks *ranks, sums *s, qfz_status st, qfz_error *err)
{
    const bool first = ranks->rank == 0;
    const qfz_mail mail = {.n_out = first ? 0 : 1,
                           .n_in = first ? ranks->n - 1 : 0,
                           .arg = s,
                           .next = to_first,
                           .size = size_of_own,
                           .read = read_own,
                           .begin = begin_other,
                           .add = add_to_other,
                           .end = add_other,
                           .drop = drop_other};
    return qfz_ranks_exchange(ranks, &mail, st, err);
}

qfz_status qfz_stitch_add_joins(qfz_stitch *stitch, qfz_error *err)
{
    const qfz_ranks *const ranks = stitch->ranks;
    sums s = {0};
    uint32_t *words = NULL;
    int64_t n;
    qfz_status st = qfz_histogram_init(&s.own, stitch->rule, err);
    if (st == QFZ_OK) st = add_own(stitch, &s.own, err);
    st = exchange_sums(ranks, &s, st, err);
    QFZ_TRY_OR(st, cleanup, qfz_ranks_agree(ranks, st, err));
    QFZ_TRY_OR(st, cleanup, share_total(ranks, &s.own, &words, &n, err));
    st = qfz_store_put(stitch->store, qfz_fact(stitch, FACT_JOINS), words,
                       n * (int64_t)sizeof *words, err);
    st = qfz_ranks_agree(ranks, st, err);

cleanup:
    free(words);
    free(s.words);
    qfz_histogram_fini(&s.own);
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
