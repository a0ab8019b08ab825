/* SPDX-License-Identifier: MIT */
#include "job/region_rows.h"

#include "job/raster_options.h"

enum { ROWS = 8192 }; /* of a batch */

/* A cut has no statistics: the one band of its source holds edges, not values of pixels. */
static int stats_bands(const qfz_setup *setup)
{
    return setup->job->task == QFZ_CUT ? 0 : setup->info.n_bands;
}

/* Workers and caches are still there while GDAL keeps rows. */
static int64_t memory_of(const qfz_setup *setup)
{
    return setup->memory_bytes / 4;
}

qfz_status qfz_region_rows_check(const qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    if (!setup->job->regions) return QFZ_OK;
    return qfz_table_check_rows(setup->job->regions, qfz_region_columns_most(stats_bands(setup)),
                                (int64_t)run->count.total, memory_of(setup), err);
}

qfz_status qfz_region_rows_open(qfz_region_rows *rows, qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const qfz_output_options options = qfz_job_output_options(setup->job);
    *rows = (qfz_region_rows){.run = run};
    QFZ_TRY(qfz_region_columns_open(&rows->columns, run->source, setup->info.n_bands,
                                    stats_bands(setup), ROWS, setup->n_threads, err));
    qfz_table_spec spec = qfz_region_columns_spec(rows->columns, setup->job->regions,
                                                  (int64_t)run->count.total, setup->n_threads);
    spec.memory_bytes = memory_of(setup);
    return qfz_table_create(&rows->table, run->source, &options, &spec, err);
}

qfz_status qfz_region_rows_add(qfz_region_rows *rows, uint64_t *records, int64_t n, qfz_error *err)
{
    const qfz_source_info *const info = &rows->run->setup->info;
    const int words = qfz_record_words(info->type, info->n_bands);
    const double total = (double)rows->run->count.total;
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t some = n - first < ROWS ? n - first : ROWS;
        const qfz_table_rows *batch;
        QFZ_TRY(qfz_region_columns_fill(rows->columns, records + first * words, some, &batch, err));
        QFZ_TRY(qfz_table_write(rows->table, batch, err));
        rows->n += some;
        QFZ_TRY(qfz_progress_advance_to(&rows->run->progress, (double)rows->n / total, err));
    }
    return QFZ_OK;
}

qfz_table *qfz_region_rows_take(qfz_region_rows *rows)
{
    qfz_table *const table = rows->table;
    rows->table = NULL;
    return table;
}

void qfz_region_rows_close(qfz_region_rows *rows)
{
    qfz_table_close(rows->table);
    qfz_region_columns_close(rows->columns);
    *rows = (qfz_region_rows){0};
}
