/* SPDX-License-Identifier: MIT */
/* stitch_chunks.c - step 2: from the summaries of all chunks to the exterior of each chunk, in one
 * round.  The last round of ALPHA_OMEGA has the summaries of the round before once more, since the
 * numbers of regions follow from what was stitched there.  The chunks are the tiles of one stitch,
 * which is all in memory. */
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

/* The work on all chunks in one round. */
typedef struct stitching {
    const qfz_grid *grid;
    int round;
    const qfz_bytes *summaries;
    qfz_stitch *stitch;
    qfz_partition *partitions; /* of each chunk, if the round numbers regions */
    qfz_payload *payloads;     /* of each chunk's summary; only the filter's section, */
    uint64_t **words;          /* in memory of the first, or NULL */
    uint64_t n_regions;
    qfz_bytes *exteriors;
} stitching;

static qfz_ring ring_of(const qfz_grid *grid, int64_t chunk)
{
    const int64_t n_x = grid->tiling.n_x;
    return qfz_ring_of(qfz_tiling_box(&grid->tiling, chunk / n_x, chunk % n_x), QFZ_ALL_SIDES);
}

static qfz_address address_of(const stitching *s, int64_t chunk, qfz_message_kind kind)
{
    const int64_t n_x = s->grid->tiling.n_x;
    return (qfz_address){chunk / n_x, chunk % n_x, kind, s->round};
}

static qfz_status unfit(const stitching *s, int64_t chunk, qfz_error *err)
{
    const qfz_address of = address_of(s, chunk, QFZ_MESSAGE_SUMMARY);
    return qfz_message_unfit(of.row, of.column, of.kind, err);
}

/* A section becomes a summary, which borrows its words. */
static qfz_status unpack(const stitching *s, int64_t chunk, const qfz_payload *payload,
                         qfz_summary *summary, bool *fits, qfz_error *err)
{
    const qfz_rule *const rule = qfz_round_rule(s->grid, s->round);
    const qfz_ring ring = ring_of(s->grid, chunk);
    const int64_t bytes = payload->section[QFZ_SECTION_SELF].n * (int64_t)sizeof(uint64_t);
    const void *const packed = payload->section[QFZ_SECTION_SELF].words;
    qfz_error unsound = {.status = QFZ_OK};
    qfz_status st = qfz_unpack_summary(summary, rule, packed, NULL, bytes, &unsound);
    if (st == QFZ_OK)
        st = qfz_sound_summary(summary, rule, qfz_round_kind(s->grid, s->round), &ring, &unsound);
    *fits = st == QFZ_OK;
    if (st == QFZ_OK || st == QFZ_EIO) return QFZ_OK;
    return qfz_fail(err, st, "%s", unsound.message);
}

static qfz_status read_census(stitching *s, int64_t chunk, const qfz_payload *payload, bool *fits,
                              qfz_error *err)
{
    const qfz_box box = ring_of(s->grid, chunk).box;
    const int64_t n = payload->section[QFZ_SECTION_LABELS].n;
    int64_t n_used = 0;
    QFZ_TRY(qfz_census_read(payload->section[QFZ_SECTION_LABELS].words, n, qfz_box_h(box),
                            qfz_box_w(box), &s->partitions[chunk], &n_used, fits, err));
    *fits = *fits && n_used == n;
    return QFZ_OK;
}

static qfz_status put_payload(stitching *s, int64_t chunk, const qfz_payload *payload, bool *fits,
                              qfz_error *err)
{
    qfz_summary summary = {0};
    *fits = true;
    if (s->partitions) QFZ_TRY(read_census(s, chunk, payload, fits, err));
    if (*fits) QFZ_TRY(unpack(s, chunk, payload, &summary, fits, err));
    if (*fits && s->grid->kind == QFZ_COMPONENTS && s->partitions)
        *fits = s->partitions[chunk].n_border_regions == summary.n_border_regions;
    if (!*fits) return QFZ_OK;
    return qfz_stitch_put(s->stitch, chunk, &summary, err);
}

static qfz_status put_chunk(void *arg, int64_t chunk, int thread, qfz_error *err)
{
    (void)thread;
    stitching *const s = arg;
    qfz_payload payload;
    uint64_t *words = NULL;
    bool fits;
    QFZ_TRY(qfz_message_read(s->grid, address_of(s, chunk, QFZ_MESSAGE_SUMMARY),
                             &s->summaries[chunk], &words, &payload, err));
    qfz_status st = put_payload(s, chunk, &payload, &fits, err);
    if (st == QFZ_OK && !fits) st = unfit(s, chunk, err);
    if (s->words) {
        s->payloads[chunk] = payload;
        s->words[chunk] = words;
    } else {
        free(words);
    }
    return st;
}

/* Puts the census of a chunk, after the stitching, by which its border regions are known. */
static qfz_status put_census(void *arg, int64_t chunk, int thread, qfz_error *err)
{
    (void)thread;
    stitching *const s = arg;
    const qfz_partition *const partition = &s->partitions[chunk];
    qfz_exterior exterior = {0};
    bool fits = true;
    if (s->grid->kind == QFZ_OMEGA) {
        QFZ_TRY(qfz_stitch_exterior(s->stitch, chunk, &exterior, err));
        fits = partition->n_border_regions == exterior.n_border_regions;
        qfz_exterior_fini(&exterior);
    }
    if (!fits) return unfit(s, chunk, err);
    return qfz_stitch_put_partition(s->stitch, chunk, partition, err);
}

static qfz_status make_labels(const stitching *s, int64_t chunk, uint64_t **words, int64_t *n,
                              qfz_error *err)
{
    const qfz_partition *const partition = &s->partitions[chunk];
    qfz_numbers numbers = {0};
    qfz_status st = qfz_stitch_numbers(s->stitch, chunk, partition, &numbers, err);
    if (st == QFZ_OK)
        st = qfz_labels_make(&numbers, partition, qfz_box_h(ring_of(s->grid, chunk).box),
                             s->n_regions, words, n, err);
    qfz_numbers_fini(&numbers);
    return st;
}

static qfz_status pack_exterior(const stitching *s, int64_t chunk, uint64_t **words, int64_t *n,
                                qfz_error *err)
{
    qfz_exterior exterior = {0};
    void *packed = NULL;
    int64_t bytes;
    QFZ_TRY(qfz_stitch_exterior(s->stitch, chunk, &exterior, err));
    const qfz_status st =
        qfz_pack_exterior(&exterior, qfz_round_rule(s->grid, s->round), &packed, &bytes, err);
    qfz_exterior_fini(&exterior);
    QFZ_TRY(st);
    *words = packed;
    *n = bytes / (int64_t)sizeof **words;
    return QFZ_OK;
}

/* The section for the exterior of the round. */
static int own_section(const stitching *s)
{
    switch (qfz_round_kind(s->grid, s->round)) {
    case QFZ_FILTER: return QFZ_SECTION_FILTER;
    case QFZ_OMEGA: return QFZ_SECTION_REGIONS;
    default: return QFZ_SECTION_SELF;
    }
}

static qfz_status write_chunk(void *arg, int64_t chunk, int thread, qfz_error *err)
{
    (void)thread;
    stitching *const s = arg;
    qfz_payload payload = {0};
    uint64_t *labels = NULL, *exterior = NULL;
    int64_t n_labels = 0, n_exterior = 0;
    qfz_status st = QFZ_OK;
    if (s->words)
        payload.section[QFZ_SECTION_FILTER] = s->payloads[chunk].section[QFZ_SECTION_FILTER];
    if (s->partitions) QFZ_TRY_OR(st, cleanup, make_labels(s, chunk, &labels, &n_labels, err));
    payload.section[QFZ_SECTION_LABELS].words = labels;
    payload.section[QFZ_SECTION_LABELS].n = n_labels;
    if (qfz_round_kind(s->grid, s->round) != QFZ_COMPONENTS) {
        QFZ_TRY_OR(st, cleanup, pack_exterior(s, chunk, &exterior, &n_exterior, err));
        payload.section[own_section(s)].words = exterior;
        payload.section[own_section(s)].n = n_exterior;
    }
    st = qfz_message_write(s->grid, address_of(s, chunk, QFZ_MESSAGE_EXTERIOR), &payload,
                           &s->exteriors[chunk], err);

cleanup:
    free(labels);
    free(exterior);
    return st;
}

static qfz_status number(stitching *s, int64_t n, qfz_error *err)
{
    qfz_count count;
    if (!s->partitions) return QFZ_OK;
    QFZ_TRY(qfz_parallel_for(s->grid->given.n_threads, n, put_census, s, err));
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
    if (qfz_round_numbers(grid, s->round)) QFZ_TRY(QFZ_NEW_ZERO(&s->partitions, n, err));
    if (grid->filters && s->round > 0) {
        QFZ_TRY(QFZ_NEW_ZERO(&s->payloads, n, err));
        QFZ_TRY(QFZ_NEW_ZERO(&s->words, n, err));
    }
    QFZ_TRY(qfz_stitch_open(&s->stitch, qfz_round_rule(grid, s->round),
                            qfz_round_kind(grid, s->round), &grid->tiling, &alone, n_threads,
                            INT64_MAX, "/", err));
    QFZ_TRY(qfz_parallel_for(n_threads, n, put_chunk, s, err));
    QFZ_TRY(qfz_stitch_solve(s->stitch, NULL, NULL, err));
    QFZ_TRY(number(s, n, err));
    return qfz_parallel_for(n_threads, n, write_chunk, s, err);
}

static void release(stitching *s, int64_t n)
{
    for (int64_t i = 0; i < n && s->partitions; i++)
        qfz_census_fini(&s->partitions[i]);
    for (int64_t i = 0; i < n && s->exteriors; i++)
        qfz_bytes_release(&s->exteriors[i]);
    for (int64_t i = 0; i < n && s->words; i++)
        free(s->words[i]);
    free(s->partitions);
    free(s->payloads);
    free(s->words);
    free(s->exteriors);
    qfz_stitch_close(s->stitch);
}

/* QFZ_EIO: each summary is sound, but they contradict each other. */
static qfz_status report(qfz_status st, const qfz_error *found, qfz_error *err)
{
    if (st != QFZ_EIO) return qfz_fail(err, st, "%s", found->message);
    return qfz_fail(err, QFZ_EARG,
                    "the summaries of the chunks contradict each other: one is forged, or made of "
                    "other pixels; begin again with qfz_chunk_summarise()");
}

qfz_status qfz_chunks_stitch(const qfz_chunks *chunks, const qfz_bytes *summaries,
                             qfz_bytes *exteriors, uint64_t *n_regions, qfz_error *err)
{
    qfz_error own, found = {.status = QFZ_OK};
    qfz_grid grid;
    stitching s = {.grid = &grid, .summaries = summaries};
    err = qfz_api_error(err, &own);
    if (!summaries || !exteriors)
        return qfz_fail(err, QFZ_EARG, "the pointer to the %s is NULL",
                        summaries ? "exteriors" : "summaries");
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    const int64_t n = grid.tiling.n_x * grid.tiling.n_y;
    s.round = qfz_message_round(&grid, &summaries[0]);
    qfz_status st = run(&s, n, &found);
    if (st != QFZ_OK) st = report(st, &found, err);
    for (int64_t i = 0; i < n && st == QFZ_OK; i++) {
        exteriors[i] = s.exteriors[i];
        s.exteriors[i] = (qfz_bytes){0};
    }
    if (st == QFZ_OK && n_regions) *n_regions = s.n_regions;
    release(&s, n);
    qfz_grid_fini(&grid);
    return st;
}
