/* SPDX-License-Identifier: MIT */
/* summarise.c - step 1: a chunk's boundary summary of a round, and the census of its regions if the
 * round numbers regions. */
#include <stdlib.h>

#include "chunks/census.h"
#include "chunks/grid.h"
#include "core/api.h"
#include "stitch/pack.h"

/* What is known of a chunk in a round. */
typedef struct work {
    const qfz_grid *grid;
    int64_t row, column;
    int round;
    qfz_box box;
    uint64_t *before; /* the message of the round before, NULL in the first */
    qfz_payload exterior;
    qfz_loaded loaded;
    qfz_summary summary;
    uint64_t *census;
    int64_t n_census;
} work;

static qfz_status unfit(const work *w, qfz_error *err)
{
    return qfz_message_unfit(w->row, w->column, QFZ_MESSAGE_EXTERIOR, err);
}

static qfz_status take_exterior(work *w, const qfz_bytes *message, qfz_error *err)
{
    const qfz_grid *const grid = w->grid;
    if (!message) return QFZ_OK;
    const int round = qfz_message_round(grid, message);
    const qfz_address of = {w->row, w->column, QFZ_MESSAGE_EXTERIOR, round};
    QFZ_TRY(qfz_message_read(grid, of, message, &w->before, &w->exterior, err));
    if (round + 1 == grid->n_rounds)
        return qfz_fail(err, QFZ_EARG,
                        "chunk (%lld, %lld): the exterior is of the last of %d rounds; pass it to "
                        "qfz_chunk_resolve()",
                        (long long)w->row, (long long)w->column, grid->n_rounds);
    w->round = round + 1;
    return QFZ_OK;
}

/* The census of the chunk's regions. */
static qfz_status take_census(work *w, qfz_error *err)
{
    qfz_partition partition;
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    bool fits = true;
    if (w->grid->kind == QFZ_OMEGA) {
        QFZ_TRY(qfz_message_exterior(w->grid, QFZ_OMEGA, w->box, &w->exterior, QFZ_SECTION_REGIONS,
                                     &exterior, &fits, err));
        if (!fits) return unfit(w, err);
    }
    qfz_status st = qfz_engine_cpu.partition(w->loaded.worker, exterior.n_ring ? &exterior : NULL,
                                             &partition, &found);
    qfz_exterior_fini(&exterior);
    if (st == QFZ_EIO) return unfit(w, err);
    if (st != QFZ_OK) return qfz_fail(err, st, "%s", found.message);
    return qfz_census_make(&partition, w->loaded.image.h, &w->census, &w->n_census, err);
}

static qfz_status summarise(work *w, const qfz_image *image, qfz_error *err)
{
    const qfz_grid *const grid = w->grid;
    qfz_worker *worker;
    bool fits;
    QFZ_TRY(qfz_grid_load(grid, w->round, w->box, image, &w->exterior, &w->loaded, &fits, err));
    if (!fits) return unfit(w, err);
    worker = w->loaded.worker;
    QFZ_TRY(qfz_summary_init(&w->summary, w->box, qfz_round_rule(grid, w->round), err));
    if (qfz_round_kind(grid, w->round) == QFZ_FILTER)
        return qfz_engine_cpu.filter->summarise(worker, w->box, NULL, NULL, &w->summary, err);
    if (qfz_round_numbers(grid, w->round)) QFZ_TRY(take_census(w, err));
    if (grid->kind == QFZ_OMEGA)
        QFZ_TRY(qfz_engine_load(&qfz_engine_cpu, worker, &w->loaded.image, err));
    return qfz_engine_cpu.summarise(worker, &w->summary, err);
}

static qfz_status write_message(const work *w, qfz_bytes *message, qfz_error *err)
{
    const qfz_address of = {w->row, w->column, QFZ_MESSAGE_SUMMARY, w->round};
    qfz_payload payload = {0};
    void *packed = NULL;
    int64_t bytes;
    QFZ_TRY(qfz_pack_summary(&w->summary, qfz_round_rule(w->grid, w->round), &packed, &bytes, err));
    payload.section[QFZ_SECTION_FILTER] = w->exterior.section[QFZ_SECTION_FILTER];
    payload.section[QFZ_SECTION_LABELS].words = w->census;
    payload.section[QFZ_SECTION_LABELS].n = w->n_census;
    payload.section[QFZ_SECTION_SELF].words = packed;
    payload.section[QFZ_SECTION_SELF].n = bytes / (int64_t)sizeof(uint64_t);
    const qfz_status st = qfz_message_write(w->grid, of, &payload, message, err);
    free(packed);
    return st;
}

/* exterior: NULL in the first round. */
static qfz_status run(const qfz_chunks *chunks, int64_t row, int64_t column, const qfz_image *image,
                      const qfz_bytes *exterior, qfz_bytes *message, qfz_error *err)
{
    qfz_grid grid;
    work w = {.grid = &grid, .row = row, .column = column};
    qfz_status st;
    if (!message) return qfz_fail(err, QFZ_EARG, "the pointer to the summary is NULL");
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    QFZ_TRY_OR(st, cleanup, qfz_grid_box(&grid, row, column, &w.box, err));
    QFZ_TRY_OR(st, cleanup, take_exterior(&w, exterior, err));
    QFZ_TRY_OR(st, cleanup, summarise(&w, image, err));
    st = write_message(&w, message, err);

cleanup:
    qfz_loaded_fini(&w.loaded);
    qfz_summary_fini(&w.summary);
    free(w.before);
    free(w.census);
    qfz_grid_fini(&grid);
    return st;
}

qfz_status qfz_chunk_summarise(const qfz_chunks *chunks, int64_t row, int64_t column,
                               const qfz_image *image, qfz_bytes *message, qfz_error *err)
{
    qfz_error own;
    return run(chunks, row, column, image, NULL, message, qfz_api_error(err, &own));
}

qfz_status qfz_chunk_continue(const qfz_chunks *chunks, int64_t row, int64_t column,
                              const qfz_image *image, const qfz_bytes *exterior, qfz_bytes *message,
                              qfz_error *err)
{
    qfz_error own;
    err = qfz_api_error(err, &own);
    if (!exterior) return qfz_fail(err, QFZ_EARG, "the pointer to the exterior is NULL");
    return run(chunks, row, column, image, exterior, message, err);
}

void qfz_bytes_release(qfz_bytes *bytes)
{
    free(bytes->data);
    *bytes = (qfz_bytes){0};
}
