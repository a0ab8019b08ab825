/* SPDX-License-Identifier: MIT */
#include "job/regions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "job/region_rows.h"
#include "core/temp_file.h"

struct qfz_regions {
    const qfz_setup *setup;
    pthread_mutex_t lock; /* of records that several tiles add to */
    int file;
    char folder[4096];
    int words;
    int64_t bytes;     /* of a record */
    uint64_t before;   /* labels of regions that begin in earlier parts: 1..before */
    uint64_t *foreign; /* those of them that have pixels in this part */
    int64_t n_foreign, foreign_room;
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
    regions->before = run->count.before;
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
    free(regions->foreign);
    free(regions);
}

static qfz_status write_record(const qfz_regions *regions, const qfz_record *record, qfz_error *err)
{
    return qfz_temp_write(regions->file, regions->folder, record, regions->bytes,
                          (int64_t)(record->label - 1) * regions->bytes, err);
}

static qfz_status note_foreign(qfz_regions *regions, uint64_t label, qfz_error *err)
{
    if (regions->n_foreign == regions->foreign_room) {
        const int64_t room = 2 * regions->foreign_room + 64;
        QFZ_TRY(qfz_realloc((void **)&regions->foreign, room, sizeof label, err));
        regions->foreign_room = room;
    }
    regions->foreign[regions->n_foreign++] = label;
    return QFZ_OK;
}

/* A part of a region that other tiles have parts of: what is in the file already is added. */
static qfz_status merge_record(qfz_regions *regions, qfz_record *record, qfz_record *there,
                               qfz_error *err)
{
    const qfz_source_info *const info = &regions->setup->info;
    qfz_status st = qfz_temp_read(regions->file, regions->folder, there, regions->bytes,
                                  (int64_t)(record->label - 1) * regions->bytes, err);
    if (st == QFZ_OK && there->pixels)
        qfz_record_merge(record, there, info->type, info->n_bands);
    else if (st == QFZ_OK && record->label <= regions->before)
        st = note_foreign(regions, record->label, err);
    return st == QFZ_OK ? write_record(regions, record, err) : st;
}

qfz_status qfz_regions_take(qfz_regions *regions, uint64_t *records, int64_t n, qfz_error *err)
{
    uint64_t *scratch = NULL;
    qfz_status st = QFZ_NEW(&scratch, regions->words, err);
    for (int64_t i = 0; i < n && st == QFZ_OK; i++) {
        qfz_record *const record = qfz_record_at(records, regions->words, i);
        const bool shared = (record->label & QFZ_RECORD_SHARED) != 0;
        record->label &= ~QFZ_RECORD_SHARED;
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

qfz_status qfz_regions_make(qfz_run *run, qfz_thread_context *context, uint32_t n_regions,
                            qfz_records_fn take, void *arg, qfz_error *err)
{
    uint64_t *row_area = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&row_area, context->tile.h, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_source_row_areas(run->source, context->box.y0, context->tile.h, row_area, err));
    for (int64_t first = 0; first < n_regions; first += context->records_n) {
        const int64_t left = n_regions - first;
        const uint32_t n = (uint32_t)(left < context->records_n ? left : context->records_n);
        QFZ_TRY_OR(st, cleanup,
                   run->setup->engine->features(context->worker, context->box, row_area,
                                                (uint32_t)first, n, context->records, err));
        QFZ_TRY_OR(st, cleanup, take(arg, context->records, n, err));
    }

cleanup:
    free(row_area);
    return st;
}

/* ---------------------------------------------------------------------------------- what is there
 */
qfz_status qfz_regions_read(const qfz_regions *regions, uint64_t label, int64_t n,
                            uint64_t *records, qfz_error *err)
{
    return qfz_temp_read(regions->file, regions->folder, records, n * regions->bytes,
                         (int64_t)(label - 1) * regions->bytes, err);
}

static int by_label(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    return (i > j) - (i < j);
}

const uint64_t *qfz_regions_foreign(qfz_regions *regions, int64_t *n)
{
    *n = regions->n_foreign;
    if (*n > 0) qsort(regions->foreign, (size_t)*n, sizeof *regions->foreign, by_label);
    return regions->foreign;
}

qfz_status qfz_regions_write(qfz_regions *regions, qfz_run *run, qfz_table **table, qfz_error *err)
{
    *table = NULL;
    if (!regions) return QFZ_OK;
    const int64_t some = QFZ_RECORDS_BYTES / regions->bytes + 1, n = (int64_t)run->count.total;
    uint64_t *records = NULL;
    qfz_region_rows rows = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&records, some * regions->words, err));
    QFZ_TRY_OR(st, cleanup, qfz_region_rows_open(&rows, run, err));
    for (int64_t first = 0; first < n; first += some) {
        const int64_t count = n - first < some ? n - first : some;
        QFZ_TRY_OR(st, cleanup,
                   qfz_regions_read(regions, (uint64_t)first + 1, count, records, err));
        QFZ_TRY_OR(st, cleanup, qfz_region_rows_add(&rows, records, count, err));
    }
    *table = qfz_region_rows_take(&rows);

cleanup:
    free(records);
    qfz_region_rows_close(&rows);
    return st;
}
