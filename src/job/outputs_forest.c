/* SPDX-License-Identifier: MIT */
/* outputs_forest.c - the rows of a hierarchy on their way from a tile into the outputs. */
#include "job/outputs_files.h"

/* Where the rows of one tile go: into the gathering, or into the journal. */
typedef struct forest_target {
    qfz_forest_gather *gather;
    int thread;
    qfz_output_journal *journal;
    qfz_long_record record;
} forest_target;

static qfz_status to_gather(void *arg, const qfz_forest_row *rows, int64_t n, qfz_error *err)
{
    const forest_target *const to = arg;
    return qfz_forest_gather_add(to->gather, to->thread, rows, n, err);
}

static qfz_status to_journal(void *arg, const qfz_forest_row *rows, int64_t n, qfz_error *err)
{
    forest_target *const to = arg;
    return qfz_output_journal_add(to->journal, &to->record, rows, n * (int64_t)sizeof *rows, err);
}

qfz_status qfz_outputs_forest(qfz_outputs *out, const qfz_thread_context *context, int64_t tile,
                              const void *labels, bool wide, qfz_error *err)
{
    qfz_run *const run = out->run;
    forest_target to = {.gather = out->forest,
                        .thread = (int)(context - run->contexts.list),
                        .journal = out->journal};
    if (!to.journal)
        return qfz_forest_rows_make(run, context, tile, labels, wide, to_gather, &to, err);
    to.record = qfz_output_journal_begin(to.journal, QFZ_FOREST_ROWS, tile,
                                         qfz_forest_rows_count(run, context) *
                                             (int64_t)sizeof(qfz_forest_row));
    QFZ_TRY(qfz_forest_rows_make(run, context, tile, labels, wide, to_journal, &to, err));
    return qfz_output_journal_end(to.journal, &to.record, err);
}

qfz_status qfz_outputs_replay_forest(qfz_outputs *out, int64_t tile, qfz_error *err)
{
    enum { SOME = 1024 };
    const int64_t row_bytes = sizeof(qfz_forest_row);
    qfz_forest_row rows[SOME];
    if (!out->forest) return QFZ_OK;
    const int64_t n = qfz_output_journal_bytes(out->journal, QFZ_FOREST_ROWS, tile) / row_bytes;
    for (int64_t first = 0; first < n; first += SOME) {
        const int64_t some = n - first < SOME ? n - first : SOME;
        QFZ_TRY(qfz_output_journal_read(out->journal, QFZ_FOREST_ROWS, tile, first * row_bytes,
                                        rows, some * row_bytes, err));
        QFZ_TRY(qfz_forest_gather_add(out->forest, 0, rows, some, err));
    }
    return QFZ_OK;
}
