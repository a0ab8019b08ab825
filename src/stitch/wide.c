/* SPDX-License-Identifier: MIT */
/* wide.c - the number of pixels in regions whose span exceeds omega.
 *
 * The spans of border regions are a set of values, reduced to the least of each word.  Then each
 * tile counts the pixels that it has of regions that are too wide.
 *
 * The piece of a tile: the pixels of its inner regions that are too wide, then the pixels that each
 * border region has in the tile. */
#include <stdlib.h>

#include "core/memory.h"
#include "stitch/sound.h"
#include "stitch/state.h"

static int64_t words_of(const qfz_stitch *stitch)
{
    return qfz_span_words(stitch->rule->n_bands);
}

qfz_status qfz_stitch_put_spans(qfz_stitch *stitch, int64_t tile, const qfz_partition *partition,
                                const uint64_t *spans, uint64_t wide, qfz_error *err)
{
    const int64_t n = partition->n_border_regions;
    uint64_t *pixels = NULL;
    QFZ_TRY(QFZ_NEW(&pixels, 1 + n, err));
    pixels[0] = wide;
    for (int64_t s = 0; s < n; s++)
        pixels[1 + s] = partition->border_regions[s].pixels;
    QFZ_TRY(qfz_store_give(stitch->store, qfz_piece(stitch, PIECE_WIDE, tile), pixels,
                           (1 + n) * (int64_t)sizeof *pixels, err));
    return qfz_stitch_put_values(stitch, QFZ_SET_SPANS, tile, spans, n * words_of(stitch), err);
}

bool qfz_stitch_has_spans(qfz_stitch *stitch, int64_t tile)
{
    return qfz_has(stitch, PIECE_WIDE, tile) && qfz_stitch_has_values(stitch, QFZ_SET_SPANS, tile);
}

typedef struct adding {
    qfz_level_walk walk;
    uint64_t n;
} adding;

/* The pixels of a tile, from its piece and the spans of its border regions in the raster. */
static qfz_status count_tile(const qfz_stitch *stitch, int64_t tile, const uint64_t *pixels,
                             int64_t bytes, const uint64_t *spans, int64_t n_words, uint64_t *n,
                             qfz_error *err)
{
    const int64_t words = words_of(stitch), n_regions = n_words / words;
    if (n_words % words != 0 || bytes != (1 + n_regions) * (int64_t)sizeof *pixels)
        return qfz_unsound(qfz_group_tree_box(&stitch->group_tree, 0, tile), "spans of regions",
                           err);
    *n = pixels[0];
    for (int64_t s = 0; s < n_regions; s++)
        if (qfz_span_too_wide(stitch->rule, spans + s * words)) *n += pixels[1 + s];
    return QFZ_OK;
}

static qfz_status add_tile(void *arg, int64_t item, int worker, qfz_error *err)
{
    (void)worker;
    adding *const a = arg;
    qfz_stitch *const stitch = a->walk.stitch;
    const int64_t tile = a->walk.first + item;
    const void *pixels;
    void *own = NULL;
    uint64_t *spans = NULL, n = 0;
    int64_t bytes, n_words;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup,
               qfz_stitch_get_values(stitch, QFZ_SET_SPANS, tile, &spans, &n_words, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_store_view(stitch->store, qfz_piece(stitch, PIECE_WIDE, tile), &pixels, &bytes,
                              &own, err));
    if (!pixels)
        QFZ_TRY_OR(st, cleanup,
                   qfz_fail(err, QFZ_EIO, "the spans of a tile are missing in the store"));
    QFZ_TRY_OR(st, cleanup, count_tile(stitch, tile, pixels, bytes, spans, n_words, &n, err));
#pragma omp atomic
    a->n += n;

cleanup:
    free(spans);
    free(own);
    return st;
}

qfz_status qfz_stitch_add_wide(qfz_stitch *stitch, qfz_error *err)
{
    adding a = {.n = 0};
    uint64_t before, total;
    QFZ_TRY(qfz_stitch_reduce(stitch, QFZ_SET_SPANS, (int)words_of(stitch), qfz_combine_min, err));
    qfz_status st = qfz_walk_level(&a.walk, stitch, stitch->n_threads, 0, add_tile, &a, err);
    QFZ_TRY(qfz_ranks_agree(stitch->ranks, st, err));
    QFZ_TRY(qfz_ranks_sum(stitch->ranks, a.n, &before, &total, err));
    st = qfz_store_put(stitch->store, qfz_fact(stitch, FACT_WIDE), &total, sizeof total, err);
    return qfz_ranks_agree(stitch->ranks, st, err);
}

bool qfz_stitch_is_wide_added(qfz_stitch *stitch)
{
    return qfz_store_has(stitch->store, qfz_fact(stitch, FACT_WIDE));
}

qfz_status qfz_stitch_wide(qfz_stitch *stitch, uint64_t *n, qfz_error *err)
{
    void *data = NULL;
    int64_t bytes = 0;
    QFZ_TRY(qfz_store_get(stitch->store, qfz_fact(stitch, FACT_WIDE), &data, &bytes, err));
    const bool sound = data && bytes == (int64_t)sizeof *n;
    if (sound) *n = *(const uint64_t *)data;
    free(data);
    return sound ? QFZ_OK
                 : qfz_fail(err, QFZ_EIO, "the count of wide regions is missing in the store");
}
