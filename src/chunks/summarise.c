/* SPDX-License-Identifier: MIT */
/* summarise.c - step 1: a chunk's boundary summary, and for LABEL the census of its regions. */
#include <stdlib.h>

#include "chunks/census.h"
#include "chunks/grid.h"
#include "core/api.h"
#include "stitch/pack.h"

static qfz_status write_summary(const qfz_grid *grid, int64_t row, int64_t column,
                                const qfz_summary *summary, const qfz_payload *census,
                                qfz_bytes *message, qfz_error *err)
{
    qfz_payload payload = *census;
    void *packed = NULL;
    QFZ_TRY(qfz_pack_summary(summary, &grid->rule, &packed, &payload.packed_bytes, err));
    payload.packed = packed;
    const qfz_status st =
        qfz_message_write(grid, row, column, QFZ_MESSAGE_SUMMARY, &payload, message, err);
    free(packed);
    return st;
}

qfz_status qfz_chunk_summarise(const qfz_chunks *chunks, int64_t row, int64_t column,
                               const qfz_image *image, qfz_bytes *message, qfz_error *err)
{
    qfz_error own;
    qfz_grid grid;
    qfz_box box;
    qfz_image copy;
    qfz_worker *worker = NULL;
    qfz_summary summary = {0};
    qfz_partition partition;
    uint64_t *words = NULL;
    qfz_payload census = {0};
    qfz_status st;
    err = qfz_api_error(err, &own);
    if (!message) return qfz_fail(err, QFZ_EARG, "the pointer to the summary is NULL");
    QFZ_TRY(qfz_grid_init(&grid, chunks, err));
    QFZ_TRY_OR(st, cleanup, qfz_grid_box(&grid, row, column, &box, err));
    QFZ_TRY_OR(st, cleanup, qfz_grid_load(&grid, box, image, &copy, &worker, err));
    QFZ_TRY_OR(st, cleanup, qfz_summary_init(&summary, box, &grid.rule, err));
    if (grid.kind == QFZ_COMPONENTS) {
        QFZ_TRY_OR(st, cleanup, qfz_engine_cpu.partition(worker, NULL, &partition, err));
        QFZ_TRY_OR(st, cleanup, qfz_census_make(&partition, copy.h, &words, &census.n_words, err));
        census.words = words;
    }
    QFZ_TRY_OR(st, cleanup, qfz_engine_cpu.summarise(worker, &summary, err));
    st = write_summary(&grid, row, column, &summary, &census, message, err);

cleanup:
    if (worker) qfz_engine_cpu.close(&worker, 1);
    qfz_summary_fini(&summary);
    free(words);
    qfz_grid_fini(&grid);
    return st;
}

void qfz_bytes_release(qfz_bytes *bytes)
{
    free(bytes->data);
    *bytes = (qfz_bytes){0};
}
