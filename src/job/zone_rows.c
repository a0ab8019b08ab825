/* SPDX-License-Identifier: MIT */
#include "job/zone_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/raster_options.h"
#include "job/region_columns.h"

enum { ROWS = 4096 }; /* of a batch */

typedef struct zone_rows {
    qfz_label_outputs *outputs;
    qfz_table *table; /* NULL: records are only counted */
    qfz_region_columns *columns;
    qfz_zone_columns *stats; /* NULL: none */
    int n_columns, words;
    qfz_column *specs; /* of both */
    const void **values;
    uint64_t *records; /* of the batch */
    int64_t n;
} zone_rows;

/* Columns of regions, then of statistics. */
static qfz_status open_columns(zone_rows *rows, qfz_table_spec *spec, qfz_error *err)
{
    qfz_label_outputs *const out = rows->outputs;
    QFZ_TRY(qfz_region_columns_open(&rows->columns, out->source, 0, 0, ROWS, err));
    *spec = qfz_region_columns_spec(rows->columns, out->job->regions);
    if (out->stats) QFZ_TRY(qfz_zone_columns_open(&rows->stats, out->stats, out->zones, ROWS, err));
    const int more = rows->stats ? qfz_zone_columns_n(rows->stats) : 0;
    rows->n_columns = spec->n_columns + more;
    QFZ_TRY(QFZ_NEW(&rows->specs, rows->n_columns, err));
    QFZ_TRY(QFZ_NEW(&rows->values, rows->n_columns, err));
    memcpy(rows->specs, spec->columns, (size_t)spec->n_columns * sizeof *rows->specs);
    if (more)
        memcpy(rows->specs + spec->n_columns, qfz_zone_columns_specs(rows->stats),
               (size_t)more * sizeof *rows->specs);
    spec->columns = rows->specs;
    spec->n_columns = rows->n_columns;
    return QFZ_OK;
}

static qfz_status open_rows(zone_rows *rows, qfz_error *err)
{
    const qfz_label_outputs *const out = rows->outputs;
    const qfz_output_options options = qfz_job_output_options(out->job);
    qfz_table_spec spec;
    if (!out->job->regions) return QFZ_OK;
    rows->words = qfz_record_words(QFZ_U8, 0);
    QFZ_TRY(QFZ_NEW(&rows->records, ROWS * rows->words, err));
    QFZ_TRY(open_columns(rows, &spec, err));
    return qfz_table_create(&rows->table, out->source, &options, &spec, err);
}

static void close_rows(zone_rows *rows)
{
    qfz_table_close(rows->table);
    qfz_region_columns_close(rows->columns);
    qfz_zone_columns_close(rows->stats);
    free(rows->specs);
    free(rows->values);
    free(rows->records);
}

static qfz_status flush(zone_rows *rows, qfz_error *err)
{
    if (rows->n == 0) return QFZ_OK;
    qfz_table_rows batch = *qfz_region_columns_fill(rows->columns, rows->records, rows->n);
    const int more = rows->stats ? qfz_zone_columns_n(rows->stats) : 0, n = rows->n_columns - more;
    memcpy(rows->values, batch.columns, (size_t)n * sizeof *rows->values);
    if (more)
        memcpy(rows->values + n, qfz_zone_columns_values(rows->stats),
               (size_t)more * sizeof *rows->values);
    batch.columns = rows->values;
    rows->n = 0;
    QFZ_TRY(qfz_table_write(rows->table, &batch, err));
    return qfz_progress_advance_to(rows->outputs->pass.progress,
                                   qfz_zones_part(rows->outputs->zones), err);
}

static qfz_status put(zone_rows *rows, const qfz_record *record, qfz_error *err)
{
    if (!rows->table) return QFZ_OK;
    memcpy(rows->records + rows->n * rows->words, record,
           (size_t)rows->words * sizeof *rows->records);
    if (rows->stats) qfz_zone_columns_set(rows->stats, rows->n, record);
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
        QFZ_TRY_OR(st, cleanup, qfz_zones_next(outputs->zones, &record, err));
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
