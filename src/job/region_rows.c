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
    return (setup->memory_bytes - setup->program_bytes) / 4 / qfz_job_n_alphas(setup->job);
}

static qfz_status check_attributes(const qfz_run *run, int n_columns, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    return qfz_attributes_check_rows(qfz_job_label_raster(setup->job), n_columns,
                                     (int64_t)run->count.total, memory_of(setup), err);
}

int64_t qfz_region_rows_attributes(const qfz_setup *setup, int64_t *n_cells)
{
    const int64_t most = memory_of(setup), cell_bytes = qfz_attributes_bytes(1, 1);
    const int64_t n = (int64_t)QFZ_ATTRIBUTE_ROWS * qfz_region_columns_most(stats_bands(setup));
    *n_cells = n < most / cell_bytes ? n : most / cell_bytes;
    return *n_cells * cell_bytes;
}

qfz_status qfz_region_rows_check(const qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    if (!setup->job->regions) return QFZ_OK;
    if (setup->job->attribute_table)
        QFZ_TRY(check_attributes(
            run, setup->job->columns ? 1 : qfz_region_columns_most(stats_bands(setup)), err));
    const qfz_table_spec spec = {.path = setup->job->regions,
                                 .geometry = QFZ_POINTS,
                                 .n_columns = qfz_region_columns_most(stats_bands(setup)),
                                 .n_rows = (int64_t)run->count.total,
                                 .memory_bytes = memory_of(setup)};
    return qfz_table_check_rows(&spec, err);
}

static qfz_status open_columns(qfz_region_rows *rows, qfz_error *err)
{
    const qfz_setup *const setup = rows->run->setup;
    const qfz_label_outputs *const labels = rows->labels;
    qfz_region_columns *regions = NULL;
    qfz_zone_columns *zones = NULL;
    QFZ_TRY(qfz_region_columns_open(&regions, rows->run->source, setup->info.n_bands,
                                    stats_bands(setup), ROWS, setup->n_threads, err));
    const qfz_status st =
        labels ? qfz_zone_columns_open(&zones, rows->run->source,
                                       qfz_table_columns_image(setup->job, rows->run->source),
                                       labels->stats, ROWS, err)
               : QFZ_OK;
    if (st == QFZ_OK)
        return qfz_table_columns_init(&rows->columns, regions, zones, setup->job->columns, err);
    qfz_region_columns_close(regions);
    return st;
}

qfz_status qfz_region_rows_open(qfz_region_rows *rows, qfz_run *run, qfz_label_outputs *labels,
                                qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    const qfz_output_options options = qfz_job_output_options(job);
    *rows = (qfz_region_rows){.run = run, .labels = labels && labels->facts.zones ? labels : NULL};
    QFZ_TRY(open_columns(rows, err));
    qfz_table_spec spec = rows->columns.spec;
    spec.path = job->regions;
    spec.n_rows = (int64_t)run->count.total;
    spec.n_threads = run->setup->n_threads;
    spec.memory_bytes = memory_of(run->setup);
    if (job->attribute_table) {
        QFZ_TRY(check_attributes(run, spec.n_columns, err));
        QFZ_TRY(qfz_attributes_open(&rows->attributes, job->format, qfz_job_label_raster(job),
                                    spec.columns, spec.n_columns, spec.n_rows, err));
    }
    return qfz_table_create(&rows->table, run->source, &options, &spec, err);
}

/* The columns of zones of the next n regions.  Every region has pixels, and so a zone, unless the
 * format of the raster of labels does not keep them. */
static qfz_status set_zones(qfz_region_rows *rows, int64_t n, qfz_error *err)
{
    const qfz_record *zone;
    for (int64_t i = 0; rows->labels && i < n; i++) {
        QFZ_TRY(qfz_zones_next(rows->labels->facts.zones, &zone, err));
        if (!zone || zone->label != (uint64_t)(rows->n + i + 1))
            return qfz_fail(err, QFZ_EIO,
                            "%s: the labels that were written read back otherwise, at label %lld",
                            rows->run->setup->job->dst, (long long)(rows->n + i + 1));
        QFZ_TRY(qfz_zone_columns_set(rows->columns.zones, i, &rows->labels->facts, zone, err));
    }
    return QFZ_OK;
}

qfz_status qfz_region_rows_add(qfz_region_rows *rows, uint64_t *records, int64_t n, qfz_error *err)
{
    const qfz_source_info *const info = &rows->run->setup->info;
    const int words = qfz_record_words(info->type, info->n_bands);
    const double total = (double)rows->run->count.total;
    for (int64_t first = 0; first < n; first += ROWS) {
        const int64_t some = n - first < ROWS ? n - first : ROWS;
        QFZ_TRY(set_zones(rows, some, err));
        qfz_table_rows batch;
        QFZ_TRY(qfz_table_columns_fill(&rows->columns, records + first * words, some, &batch, err));
        QFZ_TRY(qfz_table_write(rows->table, &batch, err));
        if (rows->attributes) QFZ_TRY(qfz_attributes_add(rows->attributes, &batch, err));
        rows->n += some;
        QFZ_TRY(qfz_progress_advance_to(rows->run->progress, (double)rows->n / total, err));
    }
    return QFZ_OK;
}

void qfz_region_rows_take(qfz_region_rows *rows, qfz_table **table, qfz_attributes **attributes)
{
    *table = rows->table;
    *attributes = rows->attributes;
    rows->table = NULL;
    rows->attributes = NULL;
}

void qfz_region_rows_close(qfz_region_rows *rows)
{
    qfz_table_close(rows->table);
    qfz_attributes_close(rows->attributes);
    qfz_table_columns_fini(&rows->columns);
    *rows = (qfz_region_rows){0};
}
