/* SPDX-License-Identifier: MIT */
#include "job/region_parts.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "job/part_files.h"
#include "job/region_rows.h"

enum { CURSORS_BYTES = 16 << 20, CURSOR_BYTES = 64 << 10 };

static const uint64_t magic = 0x31736e6f69676572; /* "regions1" */

/* The head of a part's file.  n_foreign records of regions that begin in earlier parts follow, then
 * n_own records of regions that begin in this part, each in order of labels. */
typedef struct file_head {
    uint64_t magic, record_bytes;
    uint64_t n_foreign;
    uint64_t before, n_own; /* the own labels are before + 1 .. before + n_own */
} file_head;

static const char *const kind = "records";

/* --------------------------------------------------------------------------------------- saving */
typedef struct saving {
    qfz_region_records *regions;
    const qfz_run *run;
} saving;

static qfz_status save_records(void *arg, int file, const char *path, qfz_error *err)
{
    const saving *const s = arg;
    const qfz_run *const run = s->run;
    const int64_t bytes = qfz_region_record_bytes(run->setup), some = QFZ_RECORDS_BYTES / bytes + 1;
    const int64_t n_own = (int64_t)run->count.own;
    file_head head = {.magic = magic,
                      .record_bytes = (uint64_t)bytes,
                      .before = run->count.before,
                      .n_own = run->count.own};
    int64_t n_foreign, at = sizeof head;
    const uint64_t *const foreign = qfz_region_records_foreign(s->regions, &n_foreign);
    uint64_t *records = NULL;
    qfz_status st;
    head.n_foreign = (uint64_t)n_foreign;
    QFZ_TRY_OR(st, cleanup, qfz_alloc((void **)&records, some, (size_t)bytes, err));
    QFZ_TRY_OR(st, cleanup, qfz_temp_write(file, path, &head, sizeof head, 0, err));
    for (int64_t i = 0; i < n_foreign; i++, at += bytes) {
        QFZ_TRY_OR(st, cleanup, qfz_region_records_read(s->regions, foreign[i], 1, records, err));
        QFZ_TRY_OR(st, cleanup, qfz_temp_write(file, path, records, bytes, at, err));
    }
    for (int64_t i = 0; i < n_own; i += some, at += some * bytes) {
        const int64_t n = n_own - i < some ? n_own - i : some;
        QFZ_TRY_OR(
            st, cleanup,
            qfz_region_records_read(s->regions, head.before + 1 + (uint64_t)i, n, records, err));
        QFZ_TRY_OR(st, cleanup, qfz_temp_write(file, path, records, n * bytes, at, err));
    }

cleanup:
    free(records);
    return st;
}

qfz_status qfz_region_parts_save(qfz_region_records *regions, const qfz_run *run, qfz_error *err)
{
    saving s = {regions, run};
    if (!regions) return QFZ_OK;
    return qfz_part_file_write(run->setup->job->regions, kind, run->part, run->n_parts,
                               save_records, &s, err);
}

void qfz_region_parts_delete(const qfz_job *job, int part, int n_parts)
{
    if (job->regions) qfz_part_file_delete(job->regions, kind, part, n_parts);
}

/* -------------------------------------------------------------------------------------- joining */

/* The foreign records of one part, read in order. */
typedef struct cursor {
    char path[QFZ_PART_FILE_BYTES];
    file_head head;
    uint64_t *records; /* a few consecutive foreign records */
    int64_t at, n;     /* index of the next record in records, and their number */
    int64_t n_taken;   /* foreign records read from the file so far */
} cursor;

typedef struct joining {
    const qfz_run *run;
    int64_t bytes; /* of a record */
    int64_t some;  /* number of records that a cursor has room for */
    cursor *cursors;
    int n_cursors;
    uint64_t next; /* least label among the next records of all cursors; UINT64_MAX: none */
} joining;

static qfz_record *record_at(const joining *j, uint64_t *records, int64_t i)
{
    return qfz_record_at(records, (int)(j->bytes / (int64_t)sizeof *records), i);
}

static uint64_t next_label(const joining *j, const cursor *c)
{
    return c->at < c->n ? record_at(j, c->records, c->at)->label : UINT64_MAX;
}

/* Reads the next few records into a cursor whose records have all been taken. */
static qfz_status refill(const joining *j, cursor *c, qfz_error *err)
{
    const int64_t left = (int64_t)c->head.n_foreign - c->n_taken;
    if (c->at < c->n || left == 0) return QFZ_OK;
    c->at = 0;
    c->n = left < j->some ? left : j->some;
    QFZ_TRY(qfz_part_file_read(c->path, c->records, c->n * j->bytes,
                               (int64_t)sizeof c->head + c->n_taken * j->bytes, err));
    c->n_taken += c->n;
    return QFZ_OK;
}

static void find_next(joining *j)
{
    j->next = UINT64_MAX;
    for (int k = 0; k < j->n_cursors; k++) {
        const uint64_t label = next_label(j, &j->cursors[k]);
        if (label < j->next) j->next = label;
    }
}

/* Adds the pieces of a region that later parts have. */
static qfz_status complete(joining *j, qfz_record *record, qfz_error *err)
{
    const qfz_source_info *const info = &j->run->setup->info;
    for (int k = 0; k < j->n_cursors; k++) {
        cursor *const c = &j->cursors[k];
        if (next_label(j, c) != record->label) continue;
        qfz_record_merge(record, record_at(j, c->records, c->at), info->type, info->n_bands);
        c->at++;
        QFZ_TRY(refill(j, c, err));
    }
    find_next(j);
    return QFZ_OK;
}

/* Writes the regions that begin in part k. */
static qfz_status join_part(joining *j, int k, uint64_t *records, int64_t some,
                            qfz_region_rows *rows, qfz_error *err)
{
    const cursor *const c = &j->cursors[k];
    const int64_t start = (int64_t)sizeof c->head + (int64_t)c->head.n_foreign * j->bytes;
    for (int64_t first = 0; first < (int64_t)c->head.n_own; first += some) {
        const int64_t left = (int64_t)c->head.n_own - first, n = left < some ? left : some;
        QFZ_TRY(qfz_part_file_read(c->path, records, n * j->bytes, start + first * j->bytes, err));
        for (int64_t i = 0; i < n; i++) {
            qfz_record *const record = record_at(j, records, i);
            if (record->label != c->head.before + 1 + (uint64_t)(first + i))
                return qfz_fail(err, QFZ_EIO, "%s: the record of region %lld is missing", c->path,
                                (long long)c->head.before + 1 + first + i);
            if (record->label == j->next) QFZ_TRY(complete(j, record, err));
        }
        QFZ_TRY(qfz_region_rows_add(rows, records, n, err));
    }
    return QFZ_OK;
}

/* The own labels of the parts must be consecutive, from 1 to the number of regions. */
static qfz_status check_heads(const joining *j, qfz_error *err)
{
    uint64_t before = 0;
    for (int k = 0; k < j->n_cursors; k++) {
        const file_head *const head = &j->cursors[k].head;
        if (head->magic != magic || head->record_bytes != (uint64_t)j->bytes ||
            head->before != before)
            return qfz_fail(
                err, QFZ_EIO,
                "%s: holds the regions of another job; delete it and run the part again",
                j->cursors[k].path);
        before += head->n_own;
    }
    if (before == j->run->count.total) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: the files of its parts hold %llu regions, expected %llu",
                    j->run->setup->job->regions, (unsigned long long)before,
                    (unsigned long long)j->run->count.total);
}

static qfz_status open_all(joining *j, qfz_error *err)
{
    const int64_t room = CURSORS_BYTES / j->n_cursors;
    j->some = (room < CURSOR_BYTES ? room : CURSOR_BYTES) / j->bytes + 1;
    QFZ_TRY(QFZ_NEW_ZERO(&j->cursors, j->n_cursors, err));
    for (int k = 0; k < j->n_cursors; k++) {
        cursor *const c = &j->cursors[k];
        QFZ_TRY(qfz_part_file_name(j->run->setup->job->regions, kind, k, j->run->n_parts, c->path,
                                   err));
        QFZ_TRY(qfz_part_file_read(c->path, &c->head, sizeof c->head, 0, err));
    }
    QFZ_TRY(check_heads(j, err));
    for (int k = 0; k < j->n_cursors; k++) {
        QFZ_TRY(qfz_alloc((void **)&j->cursors[k].records, j->some, (size_t)j->bytes, err));
        QFZ_TRY(refill(j, &j->cursors[k], err));
    }
    find_next(j);
    return QFZ_OK;
}

static void close_all(joining *j)
{
    for (int k = 0; j->cursors && k < j->n_cursors; k++)
        free(j->cursors[k].records);
    free(j->cursors);
}

qfz_status qfz_region_parts_join(qfz_run *run, qfz_label_outputs *labels, qfz_table **table,
                                 qfz_attributes **attributes, qfz_error *err)
{
    joining j = {
        .run = run, .bytes = qfz_region_record_bytes(run->setup), .n_cursors = run->n_parts};
    const int64_t some = QFZ_RECORDS_BYTES / j.bytes + 1;
    qfz_region_rows rows = {0};
    uint64_t *records = NULL;
    qfz_status st;
    *table = NULL;
    *attributes = NULL;
    if (!run->setup->job->regions) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, qfz_alloc((void **)&records, some, (size_t)j.bytes, err));
    QFZ_TRY_OR(st, cleanup, open_all(&j, err));
    QFZ_TRY_OR(st, cleanup, qfz_region_rows_open(&rows, run, labels, err));
    for (int k = 0; k < j.n_cursors; k++)
        QFZ_TRY_OR(st, cleanup, join_part(&j, k, records, some, &rows, err));
    qfz_region_rows_take(&rows, table, attributes);

cleanup:
    qfz_region_rows_close(&rows);
    close_all(&j);
    free(records);
    return st;
}
