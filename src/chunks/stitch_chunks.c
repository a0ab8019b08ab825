/* SPDX-License-Identifier: MIT */
/* stitch_chunks.c - step 2: from the summaries of all chunks to the exterior of each chunk.  The
 * chunks are the tiles of one stitch, which is all in memory. */
#include <stdlib.h>

#include "chunks/census.h"
#include "chunks/grid.h"
#include "chunks/labels.h"
#include "core/api.h"
#include "core/memory.h"
#include "core/parallel.h"
#include "core/ring.h"
#include "stitch/pack.h"
#include "stitch/sound.h"
#include "stitch/stitch.h"

/* The work on all chunks. */
typedef struct stitching {
    const qfz_grid *grid;
    const qfz_bytes *summaries;
    qfz_stitch *stitch;
    qfz_partition *partitions; /* LABEL: of each chunk */
    uint64_t n_regions;
    qfz_bytes *exteriors;
} stitching;

static qfz_ring ring_of(const qfz_grid *grid, int64_t chunk)
{
    const int64_t n_x = grid->tiling.n_x;
    return qfz_ring_of(qfz_tiling_box(&grid->tiling, chunk / n_x, chunk % n_x), QFZ_ALL_SIDES);
}

/* Packed bytes become a summary, which borrows them. */
static qfz_status unpack(const qfz_grid *grid, int64_t chunk, const uint64_t *words,
                         int64_t n_words, qfz_summary *summary, bool *fits, qfz_error *err)
{
    qfz_error unsound = {.status = QFZ_OK};
    const qfz_ring ring = ring_of(grid, chunk);
    const int64_t bytes = n_words * (int64_t)sizeof *words;
    qfz_status st = qfz_unpack_summary(summary, &grid->rule, words, NULL, bytes, &unsound);
    if (st == QFZ_OK) st = qfz_sound_summary(summary, &grid->rule, grid->kind, &ring, &unsound);
    *fits = st == QFZ_OK;
    if (st == QFZ_OK || st == QFZ_EIO) return QFZ_OK;
    return qfz_fail(err, st, "%s", unsound.message);
}

static qfz_status put_words(stitching *s, int64_t chunk, const uint64_t *words, int64_t n_words,
                            bool *fits, qfz_error *err)
{
    const qfz_box box = ring_of(s->grid, chunk).box;
    const bool labels = s->grid->kind == QFZ_COMPONENTS;
    qfz_partition *const partition = labels ? &s->partitions[chunk] : NULL;
    int64_t n_used = 0;
    qfz_summary summary = {0};
    *fits = true;
    if (labels)
        QFZ_TRY(qfz_census_read(words, n_words, qfz_box_h(box), qfz_box_w(box), partition, &n_used,
                                fits, err));
    if (*fits)
        QFZ_TRY(unpack(s->grid, chunk, words + n_used, n_words - n_used, &summary, fits, err));
    if (*fits && labels) *fits = partition->n_border_regions == summary.n_border_regions;
    if (!*fits) return QFZ_OK;
    if (labels) QFZ_TRY(qfz_stitch_put_partition(s->stitch, chunk, partition, err));
    return qfz_stitch_put(s->stitch, chunk, &summary, err);
}

static qfz_status put_chunk(void *arg, int64_t chunk, int thread, qfz_error *err)
{
    (void)thread;
    stitching *const s = arg;
    const int64_t n_x = s->grid->tiling.n_x, row = chunk / n_x, column = chunk % n_x;
    uint64_t *words = NULL;
    int64_t n_words;
    bool fits;
    QFZ_TRY(qfz_message_read(s->grid, row, column, QFZ_MESSAGE_SUMMARY, &s->summaries[chunk],
                             &words, &n_words, err));
    qfz_status st = put_words(s, chunk, words, n_words, &fits, err);
    if (st == QFZ_OK && !fits) st = qfz_message_unfit(row, column, QFZ_MESSAGE_SUMMARY, err);
    free(words);
    return st;
}

static qfz_status write_labels(stitching *s, int64_t chunk, qfz_bytes *exterior, qfz_error *err)
{
    const int64_t n_x = s->grid->tiling.n_x;
    const qfz_partition *const partition = &s->partitions[chunk];
    qfz_numbers numbers = {0};
    qfz_payload payload = {0};
    uint64_t *words = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_stitch_numbers(s->stitch, chunk, partition, &numbers, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_labels_make(&numbers, partition, qfz_box_h(ring_of(s->grid, chunk).box),
                               s->n_regions, &words, &payload.n_words, err));
    payload.words = words;
    st = qfz_message_write(s->grid, chunk / n_x, chunk % n_x, QFZ_MESSAGE_EXTERIOR, &payload,
                           exterior, err);

cleanup:
    free(words);
    qfz_numbers_fini(&numbers);
    return st;
}

static qfz_status write_levels(const stitching *s, int64_t chunk, qfz_bytes *message,
                               qfz_error *err)
{
    const int64_t n_x = s->grid->tiling.n_x;
    qfz_exterior exterior = {0};
    qfz_payload payload = {0};
    void *packed = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_stitch_exterior(s->stitch, chunk, &exterior, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_pack_exterior(&exterior, &s->grid->rule, &packed, &payload.packed_bytes, err));
    payload.packed = packed;
    st = qfz_message_write(s->grid, chunk / n_x, chunk % n_x, QFZ_MESSAGE_EXTERIOR, &payload,
                           message, err);

cleanup:
    free(packed);
    qfz_exterior_fini(&exterior);
    return st;
}

static qfz_status write_chunk(void *arg, int64_t chunk, int thread, qfz_error *err)
{
    (void)thread;
    stitching *const s = arg;
    qfz_bytes *const exterior = &s->exteriors[chunk];
    return s->grid->kind == QFZ_COMPONENTS ? write_labels(s, chunk, exterior, err)
                                           : write_levels(s, chunk, exterior, err);
}

static qfz_status number(stitching *s, qfz_error *err)
{
    qfz_count count;
    if (s->grid->kind != QFZ_COMPONENTS) return QFZ_OK;
    QFZ_TRY(qfz_stitch_number(s->stitch, err));
    QFZ_TRY(qfz_stitch_count(s->stitch, 0, 1, &count, err));
    s->n_regions = count.total;
    return QFZ_OK;
}

/* All steps; the bytes that are made remain in s->exteriors. */
static qfz_status run(stitching *s, int64_t n, qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    const qfz_grid *const grid = s->grid;
    const int n_threads = grid->given.n_threads;
    QFZ_TRY(QFZ_NEW_ZERO(&s->exteriors, n, err));
    if (grid->kind == QFZ_COMPONENTS) QFZ_TRY(QFZ_NEW_ZERO(&s->partitions, n, err));
    QFZ_TRY(qfz_stitch_open(&s->stitch, &grid->rule, grid->kind, &grid->tiling, &alone, n_threads,
                            INT64_MAX, "/", err));
    QFZ_TRY(qfz_parallel_for(n_threads, n, put_chunk, s, err));
    QFZ_TRY(qfz_stitch_solve(s->stitch, NULL, NULL, err));
    QFZ_TRY(number(s, err));
    return qfz_parallel_for(n_threads, n, write_chunk, s, err);
}

static void release(stitching *s, int64_t n)
{
    for (int64_t i = 0; i < n && s->partitions; i++)
        qfz_census_fini(&s->partitions[i]);
    for (int64_t i = 0; i < n && s->exteriors; i++)
        qfz_bytes_release(&s->exteriors[i]);
    free(s->partitions);
    free(s->exteriors);
    qfz_stitch_close(s->stitch);
}

qfz_status qfz_chunks_stitch(const qfz_chunks *chunks, const qfz_bytes *summaries,
                             qfz_bytes *exteriors, uint64_t *n_regions, qfz_error *err)
{
    qfz_error own;
    qfz_grid grid;
    stitching s = {.grid = &grid, .summaries = summaries};
    err = qfz_api_error(err, &own);
    if (!summaries || !exteriors)
        return qfz_fail(err, QFZ_EARG, "the pointer to the %s is NULL",
                        summaries ? "exteriors" : "summaries");
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    const int64_t n = grid.tiling.n_x * grid.tiling.n_y;
    const qfz_status st = run(&s, n, err);
    for (int64_t i = 0; i < n && st == QFZ_OK; i++) {
        exteriors[i] = s.exteriors[i];
        s.exteriors[i] = (qfz_bytes){0};
    }
    if (st == QFZ_OK && n_regions) *n_regions = s.n_regions;
    release(&s, n);
    qfz_grid_fini(&grid);
    return st;
}
