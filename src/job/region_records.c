/* SPDX-License-Identifier: MIT */
#include "job/region_records.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "job/region_rows.h"
#include "job/temp_folder.h"

struct qfz_region_records {
    const qfz_setup *setup;
    pthread_mutex_t lock; /* of records to which several tiles add */
    int file;
    char folder[4096];
    int words;
    int64_t bytes;     /* of a record */
    uint64_t before;   /* labels of regions that begin in earlier parts: 1..before */
    uint64_t *foreign; /* the labels 1..before that have pixels in this part */
    int64_t n_foreign, foreign_room;
};

qfz_status qfz_region_records_open(qfz_region_records **out, const qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    *out = NULL;
    if (!setup->job->regions) return QFZ_OK;
    qfz_region_records *records = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&records, 1, err));
    (void)pthread_mutex_init(&records->lock, NULL);
    records->setup = setup;
    records->words = qfz_record_words(setup->info.type, setup->info.n_bands);
    records->bytes = qfz_region_record_bytes(setup);
    records->before = run->count.before;
    records->file = -1;
    qfz_temp_folder(setup->job, records->folder, sizeof records->folder);
    qfz_status st = qfz_temp_open(records->folder, &records->file, err);
    /* A hole in the file reads as zeros: a record without pixels. */
    if (st == QFZ_OK &&
        ftruncate(records->file, (off_t)((int64_t)run->count.total * records->bytes)) != 0)
        st = qfz_fail(err, QFZ_EIO, "%s: no room for the records of %llu regions", records->folder,
                      (unsigned long long)run->count.total);
    if (st != QFZ_OK) {
        qfz_region_records_close(records);
        return st;
    }
    *out = records;
    return QFZ_OK;
}

void qfz_region_records_close(qfz_region_records *records)
{
    if (!records) return;
    if (records->file >= 0) (void)close(records->file);
    (void)pthread_mutex_destroy(&records->lock);
    free(records->foreign);
    free(records);
}

static qfz_status write_record(const qfz_region_records *records, const qfz_record *record,
                               qfz_error *err)
{
    return qfz_temp_write(records->file, records->folder, record, records->bytes,
                          (int64_t)(record->label - 1) * records->bytes, err);
}

static qfz_status note_foreign(qfz_region_records *records, uint64_t label, qfz_error *err)
{
    if (records->n_foreign == records->foreign_room) {
        const int64_t room = 2 * records->foreign_room + 64;
        QFZ_TRY(qfz_realloc((void **)&records->foreign, room, sizeof label, err));
        records->foreign_room = room;
    }
    records->foreign[records->n_foreign++] = label;
    return QFZ_OK;
}

/* Adds the piece of a region that extends into other tiles to the pieces in the file.  there:
 * scratch room for one record. */
static qfz_status merge_record(qfz_region_records *records, qfz_record *record, qfz_record *there,
                               qfz_error *err)
{
    const qfz_source_info *const info = &records->setup->info;
    qfz_status st = qfz_temp_read(records->file, records->folder, there, records->bytes,
                                  (int64_t)(record->label - 1) * records->bytes, err);
    if (st == QFZ_OK && there->pixels)
        qfz_record_merge(record, there, info->type, info->n_bands);
    else if (st == QFZ_OK && record->label <= records->before)
        st = note_foreign(records, record->label, err);
    return st == QFZ_OK ? write_record(records, record, err) : st;
}

qfz_status qfz_region_records_add(qfz_region_records *records, uint64_t *batch, int64_t n,
                                  qfz_error *err)
{
    uint64_t *scratch = NULL;
    qfz_status st = QFZ_NEW(&scratch, records->words, err);
    for (int64_t i = 0; i < n && st == QFZ_OK; i++) {
        qfz_record *const record = qfz_record_at(batch, records->words, i);
        const bool shared = (record->label & QFZ_RECORD_SHARED) != 0;
        record->label &= ~QFZ_RECORD_SHARED;
        if (!shared) {
            st = write_record(records, record, err);
            continue;
        }
        (void)pthread_mutex_lock(&records->lock);
        st = merge_record(records, record, qfz_record_at(scratch, records->words, 0), err);
        (void)pthread_mutex_unlock(&records->lock);
    }
    free(scratch);
    return st;
}

int64_t qfz_region_record_bytes(const qfz_setup *setup)
{
    return qfz_record_words(setup->info.type, setup->info.n_bands) * (int64_t)sizeof(uint64_t);
}

qfz_status qfz_region_records_make(qfz_run *run, qfz_thread_context *context, uint32_t n_regions,
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

/* ----------------------------------------------------------------------------------------- read */
qfz_status qfz_region_records_read(const qfz_region_records *records, uint64_t label, int64_t n,
                                   uint64_t *batch, qfz_error *err)
{
    return qfz_temp_read(records->file, records->folder, batch, n * records->bytes,
                         (int64_t)(label - 1) * records->bytes, err);
}

static int by_label(const void *a, const void *b)
{
    const uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
    return (i > j) - (i < j);
}

const uint64_t *qfz_region_records_foreign(qfz_region_records *records, int64_t *n)
{
    *n = records->n_foreign;
    if (*n > 0) qsort(records->foreign, (size_t)*n, sizeof *records->foreign, by_label);
    return records->foreign;
}

qfz_status qfz_region_records_write(qfz_region_records *records, qfz_run *run,
                                    qfz_label_outputs *labels, qfz_table **table,
                                    qfz_attributes **attributes, qfz_error *err)
{
    *table = NULL;
    *attributes = NULL;
    if (!records) return QFZ_OK;
    const int64_t some = QFZ_RECORDS_BYTES / records->bytes + 1, n = (int64_t)run->count.total;
    uint64_t *batch = NULL;
    qfz_region_rows rows = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&batch, some * records->words, err));
    QFZ_TRY_OR(st, cleanup, qfz_region_rows_open(&rows, run, labels, err));
    for (int64_t first = 0; first < n; first += some) {
        const int64_t count = n - first < some ? n - first : some;
        QFZ_TRY_OR(st, cleanup,
                   qfz_region_records_read(records, (uint64_t)first + 1, count, batch, err));
        QFZ_TRY_OR(st, cleanup, qfz_region_rows_add(&rows, batch, count, err));
    }
    qfz_region_rows_take(&rows, table, attributes);

cleanup:
    free(batch);
    qfz_region_rows_close(&rows);
    return st;
}
