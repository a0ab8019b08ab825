/* SPDX-License-Identifier: MIT */
#include "job/zone_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/counted_rows.h"
#include "job/raster_options.h"
#include "job/table_columns.h"

enum { ROWS = 4096 }; /* of a batch */

typedef struct zone_rows {
    qfz_label_outputs *outputs;
    qfz_table *table; /* NULL: records are only counted */
    qfz_table_columns columns;
    int words;
    uint64_t *records; /* of the batch */
    int64_t n;
} zone_rows;

static qfz_status open_columns(zone_rows *rows, qfz_error *err)
{
    const qfz_label_outputs *const out = rows->outputs;
    qfz_region_columns *regions = NULL;
    qfz_zone_columns *zones = NULL;
    QFZ_TRY(qfz_region_columns_open(&regions, out->source, 0, 0, ROWS, out->pass.n_threads, err));
    const qfz_status st = qfz_zone_columns_open(&zones, out->source, NULL, out->stats, ROWS, err);
    if (st == QFZ_OK)
        return qfz_table_columns_init(&rows->columns, regions, zones, out->job->columns, err);
    qfz_region_columns_close(regions);
    return st;
}

static qfz_status open_rows(zone_rows *rows, qfz_error *err)
{
    const qfz_label_outputs *const out = rows->outputs;
    const qfz_output_options options = qfz_job_output_options(out->job);
    if (!out->job->regions) return QFZ_OK;
    rows->words = qfz_record_words(QFZ_U8, 0);
    QFZ_TRY(QFZ_NEW(&rows->records, ROWS * rows->words, err));
    QFZ_TRY(open_columns(rows, err));
    qfz_table_spec spec = rows->columns.spec;
    spec.path = out->job->regions;
    spec.n_threads = out->pass.n_threads;
    spec.memory_bytes = out->memory_bytes / 4;
    QFZ_TRY(qfz_counted_rows_set(qfz_zones_gather(out->facts.zones), &spec, err));
    return qfz_table_create(&rows->table, out->source, &options, &spec, err);
}

static void close_rows(zone_rows *rows)
{
    qfz_table_close(rows->table);
    qfz_table_columns_fini(&rows->columns);
    free(rows->records);
}

static qfz_status flush(zone_rows *rows, qfz_error *err)
{
    if (rows->n == 0) return QFZ_OK;
    qfz_table_rows batch;
    QFZ_TRY(qfz_table_columns_fill(&rows->columns, rows->records, rows->n, &batch, err));
    rows->n = 0;
    QFZ_TRY(qfz_table_write(rows->table, &batch, err));
    return qfz_progress_advance_to(rows->outputs->pass.progress,
                                   qfz_zones_part(rows->outputs->facts.zones), err);
}

static qfz_status put(zone_rows *rows, const qfz_record *record, qfz_error *err)
{
    if (!rows->table) return QFZ_OK;
    memcpy(rows->records + rows->n * rows->words, record,
           (size_t)rows->words * sizeof *rows->records);
    QFZ_TRY(qfz_zone_columns_set(rows->columns.zones, rows->n, &rows->outputs->facts, record, err));
    return ++rows->n == ROWS ? flush(rows, err) : QFZ_OK;
}

qfz_status qfz_zone_rows_write(qfz_label_outputs *outputs, qfz_table **table, uint64_t *regions,
                               uint64_t *pixels, qfz_error *err)
{
    zone_rows rows = {.outputs = outputs};
    const qfz_record *record;
    qfz_status st;
    qfz_progress_begin(outputs->pass.progress, "table", QFZ_LABEL_OUTPUTS_SHARE, 0);
    QFZ_TRY_OR(st, cleanup, open_rows(&rows, err));
    for (;;) {
        QFZ_TRY_OR(st, cleanup, qfz_zones_next(outputs->facts.zones, &record, err));
        if (!record) break;
        QFZ_TRY_OR(st, cleanup, put(&rows, record, err));
        *regions += 1;
        *pixels += record->pixels;
    }
    QFZ_TRY_OR(st, cleanup, flush(&rows, err));
    *table = rows.table;
    rows.table = NULL;

cleanup:
    close_rows(&rows);
    return st;
}
