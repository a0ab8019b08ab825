/* SPDX-License-Identifier: MIT */
#include "job/region_rows.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/raster_options.h"

enum { ROWS_PER_REPORT = 4096 };

static double area_of(const qfz_record *record, double unit)
{
    return qfz_sum_value(record->area, QFZ_U32) * unit;
}

static qfz_status write_row(const qfz_region_rows *rows, const qfz_record *record, qfz_error *err)
{
    const qfz_setup *const setup = rows->run->setup;
    qfz_region_band *const bands = rows->bands;
    for (int b = 0; b < setup->info.n_bands && setup->job->task != QFZ_CUT; b++) {
        const qfz_record_band band = qfz_record_get_band(record, setup->info.type, b);
        bands[b] = (qfz_region_band){
            .mean = band.mean, .min = band.min, .max = band.max, .stddev = band.stddev};
    }
    const double pixels = (double)record->pixels;
    const qfz_region_row row = {.label = record->label,
                                .pixels = record->pixels,
                                .area = area_of(record, rows->area_unit),
                                .x = (double)record->sum_x / pixels + 0.5,
                                .y = (double)record->sum_y / pixels + 0.5,
                                .x0 = record->x0,
                                .y0 = record->y0,
                                .x1 = record->x1,
                                .y1 = record->y1,
                                .bands = bands};
    return qfz_table_write(rows->table, &row, err);
}

/* A cut has no statistics: the one band of its source holds edges, not values of pixels. */
static int table_bands(const qfz_setup *setup)
{
    return setup->job->task == QFZ_CUT ? 0 : setup->info.n_bands;
}

qfz_status qfz_region_rows_open(qfz_region_rows *rows, qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    *rows = (qfz_region_rows){.run = run, .area_unit = qfz_source_area_unit(run->source)};
    const qfz_output_options options = qfz_job_output_options(setup->job);
    QFZ_TRY(QFZ_NEW(&rows->bands, setup->info.n_bands, err));
    return qfz_table_create(&rows->table, run->source, &options, setup->job->regions,
                            table_bands(setup), err);
}

qfz_status qfz_region_rows_add(qfz_region_rows *rows, uint64_t *records, int64_t n, qfz_error *err)
{
    const qfz_source_info *const info = &rows->run->setup->info;
    const int words = qfz_record_words(info->type, info->n_bands);
    const double total = (double)rows->run->count.total;
    for (int64_t i = 0; i < n; i++) {
        QFZ_TRY(write_row(rows, qfz_record_at(records, words, i), err));
        if (++rows->n % ROWS_PER_REPORT == 0)
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
    free(rows->bands);
    *rows = (qfz_region_rows){0};
}
