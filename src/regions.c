/* SPDX-License-Identifier: MIT */
#include "regions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "temp_file.h"

struct qfz_regions {
    const qfz_setup *setup;
    pthread_mutex_t lock; /* of records that several tiles add to */
    int file;
    char folder[4096];
    int words;
    int64_t bytes; /* of a record */
};

qfz_status qfz_regions_open(qfz_regions **out, const qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    *out = NULL;
    if (!setup->job->regions) return QFZ_OK;
    qfz_regions *regions = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&regions, 1, err));
    (void)pthread_mutex_init(&regions->lock, NULL);
    regions->setup = setup;
    regions->words = qfz_record_words(setup->info.type, setup->info.n_bands);
    regions->bytes = qfz_region_bytes(setup);
    regions->file = -1;
    qfz_run_folder(setup->job, regions->folder, sizeof regions->folder);
    qfz_status st = qfz_temp_open(regions->folder, &regions->file, err);
    /* a hole reads as zeros: a record without pixels */
    if (st == QFZ_OK &&
        ftruncate(regions->file, (off_t)((int64_t)run->count.total * regions->bytes)) != 0)
        st = qfz_fail(err, QFZ_EIO, "%s: no room for the records of %llu regions", regions->folder,
                      (unsigned long long)run->count.total);
    if (st != QFZ_OK) {
        qfz_regions_close(regions);
        return st;
    }
    *out = regions;
    return QFZ_OK;
}

void qfz_regions_close(qfz_regions *regions)
{
    if (!regions) return;
    if (regions->file >= 0) (void)close(regions->file);
    (void)pthread_mutex_destroy(&regions->lock);
    free(regions);
}

static qfz_status write_record(const qfz_regions *regions, const qfz_record *record, qfz_error *err)
{
    return qfz_temp_write(regions->file, regions->folder, record, regions->bytes,
                          (int64_t)(record->label - 1) * regions->bytes, err);
}

/* A part of a region that other tiles have parts of: what is in the file already is added. */
static qfz_status merge_record(qfz_regions *regions, qfz_record *record, qfz_record *there,
                               qfz_error *err)
{
    const qfz_source_info *const info = &regions->setup->info;
    qfz_status st = qfz_temp_read(regions->file, regions->folder, there, regions->bytes,
                                  (int64_t)(record->label - 1) * regions->bytes, err);
    if (st == QFZ_OK && there->pixels) qfz_record_merge(record, there, info->type, info->n_bands);
    return st == QFZ_OK ? write_record(regions, record, err) : st;
}

qfz_status qfz_regions_take(qfz_regions *regions, uint64_t *records, int64_t n, qfz_error *err)
{
    uint64_t *scratch = NULL;
    qfz_status st = QFZ_NEW(&scratch, regions->words, err);
    for (int64_t i = 0; i < n && st == QFZ_OK; i++) {
        qfz_record *const record = qfz_record_at(records, regions->words, i);
        const bool shared = (record->label & QFZ_REGION_SHARED) != 0;
        record->label &= ~QFZ_REGION_SHARED;
        if (!shared) {
            st = write_record(regions, record, err);
            continue;
        }
        (void)pthread_mutex_lock(&regions->lock);
        st = merge_record(regions, record, qfz_record_at(scratch, regions->words, 0), err);
        (void)pthread_mutex_unlock(&regions->lock);
    }
    free(scratch);
    return st;
}

int64_t qfz_region_bytes(const qfz_setup *setup)
{
    return qfz_record_words(setup->info.type, setup->info.n_bands) * (int64_t)sizeof(uint64_t);
}

qfz_status qfz_regions_make(qfz_run *run, qfz_hand *hand, const qfz_partition *partition,
                            const uint64_t *lut, qfz_records_fn take, void *arg, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const int words = qfz_record_words(setup->info.type, setup->info.n_bands);
    uint8_t *shared = NULL; /* regions that touch the tile's border */
    uint64_t *row_area = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&shared, partition->n_regions, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&row_area, hand->tile.h, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_source_row_areas(hand->source, hand->box.y0, hand->tile.h, row_area, err));
    for (uint32_t s = 0; s < partition->n_slots; s++)
        shared[partition->slot_region[s]] = 1;
    for (int64_t first = 0; first < partition->n_regions; first += hand->records_n) {
        const int64_t left = partition->n_regions - first;
        const uint32_t n = (uint32_t)(left < hand->records_n ? left : hand->records_n);
        QFZ_TRY_OR(st, cleanup,
                   setup->engine->features(hand->worker, hand->box, row_area, (uint32_t)first, n,
                                           hand->records, err));
        for (uint32_t i = 0; i < n; i++)
            qfz_record_at(hand->records, words, i)->label =
                lut[first + i] | (shared[first + i] ? QFZ_REGION_SHARED : 0);
        QFZ_TRY_OR(st, cleanup, take(arg, hand->records, n, err));
    }

cleanup:
    free(shared);
    free(row_area);
    return st;
}

/* ------------------------------------------------------------------------------------------- rows
 */
static double area_of(const qfz_record *record, double unit)
{
    return qfz_sum_value(record->area, QFZ_U32) * unit;
}

static qfz_status write_row(qfz_table *table, const qfz_setup *setup, const qfz_record *record,
                            double area_unit, qfz_region_band *bands, qfz_error *err)
{
    for (int b = 0; b < setup->info.n_bands && setup->job->task != QFZ_CUT; b++) {
        const qfz_record_band band = qfz_record_get_band(record, setup->info.type, b);
        bands[b] = (qfz_region_band){
            .mean = band.mean, .min = band.min, .max = band.max, .stddev = band.stddev};
    }
    const double pixels = (double)record->pixels;
    const qfz_region_row row = {.label = record->label,
                                .pixels = record->pixels,
                                .area = area_of(record, area_unit),
                                .x = (double)record->sum_x / pixels + 0.5,
                                .y = (double)record->sum_y / pixels + 0.5,
                                .x0 = record->x0,
                                .y0 = record->y0,
                                .x1 = record->x1,
                                .y1 = record->y1,
                                .bands = bands};
    return qfz_table_write(table, &row, err);
}

/* A cut has no image: its one band holds the joins of each pixel, which mean nothing in a table. */
static int table_bands(const qfz_setup *setup)
{
    return setup->job->task == QFZ_CUT ? 0 : setup->info.n_bands;
}

qfz_status qfz_regions_write(qfz_regions *regions, qfz_run *run, qfz_table **out, qfz_error *err)
{
    *out = NULL;
    if (!regions) return QFZ_OK;
    const qfz_setup *const setup = run->setup;
    const double unit = qfz_source_area_unit(run->source);
    const int64_t some = QFZ_RECORDS_BYTES / regions->bytes + 1, n = (int64_t)run->count.total;
    uint64_t *records = NULL;
    qfz_region_band *bands = NULL;
    qfz_table *table = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&records, some * regions->words, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&bands, setup->info.n_bands, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_table_create(&table, run->source, setup->job, setup->job->regions,
                                table_bands(setup), err));
    for (int64_t first = 0; first < n; first += some) {
        const int64_t count = n - first < some ? n - first : some;
        QFZ_TRY_OR(st, cleanup,
                   qfz_temp_read(regions->file, regions->folder, records, count * regions->bytes,
                                 first * regions->bytes, err));
        for (int64_t i = 0; i < count; i++)
            QFZ_TRY_OR(st, cleanup,
                       write_row(table, setup, qfz_record_at(records, regions->words, i), unit,
                                 bands, err));
    }
    *out = table;
    table = NULL;

cleanup:
    free(records);
    free(bands);
    qfz_table_close(table);
    return st;
}
