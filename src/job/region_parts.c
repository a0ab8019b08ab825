/* SPDX-License-Identifier: MIT */
#include "job/region_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "job/region_rows.h"
#include "core/temp_file.h"

enum { PATH_BYTES = 4096, CURSORS_BYTES = 16 << 20, CURSOR_BYTES = 64 << 10 };

static const uint64_t magic = 0x31736e6f69676572; /* "regions1" */

/* The head of a part's file.  n_foreign records of regions that begin in earlier parts follow, then
 * n_own records of regions that begin in this part, each in order of labels. */
typedef struct file_head {
    uint64_t magic, record_bytes;
    uint64_t n_foreign;
    uint64_t before, n_own; /* the own labels are before + 1 .. before + n_own */
} file_head;

static qfz_status name_file(const qfz_job *job, int part, int n_parts, const char *kind, char *path,
                            qfz_error *err)
{
    const char *const table = job->regions, *const slash = strrchr(table, '/');
    const int n = slash ? (int)(slash - table) + 1 : 0;
    const int length = snprintf(path, PATH_BYTES, "%.*s.%s.qfz-%s-%03d-of-%03d", n, table,
                                table + n, kind, part + 1, n_parts);
    if (length > 0 && length < PATH_BYTES) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: the name is too long", table);
}

/* --------------------------------------------------------------------------------------- saving */
static qfz_status save_records(qfz_region_records *regions, const qfz_run *run, int file,
                               const char *path, qfz_error *err)
{
    const int64_t bytes = qfz_region_record_bytes(run->setup), some = QFZ_RECORDS_BYTES / bytes + 1;
    const int64_t n_own = (int64_t)run->count.own;
    file_head head = {.magic = magic,
                      .record_bytes = (uint64_t)bytes,
                      .before = run->count.before,
                      .n_own = run->count.own};
    int64_t n_foreign, at = sizeof head;
    const uint64_t *const foreign = qfz_region_records_foreign(regions, &n_foreign);
    uint64_t *records = NULL;
    qfz_status st;
    head.n_foreign = (uint64_t)n_foreign;
    QFZ_TRY_OR(st, cleanup, qfz_alloc((void **)&records, some, (size_t)bytes, err));
    QFZ_TRY_OR(st, cleanup, qfz_temp_write(file, path, &head, sizeof head, 0, err));
    for (int64_t i = 0; i < n_foreign; i++, at += bytes) {
        QFZ_TRY_OR(st, cleanup, qfz_region_records_read(regions, foreign[i], 1, records, err));
        QFZ_TRY_OR(st, cleanup, qfz_temp_write(file, path, records, bytes, at, err));
    }
    for (int64_t i = 0; i < n_own; i += some, at += some * bytes) {
        const int64_t n = n_own - i < some ? n_own - i : some;
        QFZ_TRY_OR(
            st, cleanup,
            qfz_region_records_read(regions, head.before + 1 + (uint64_t)i, n, records, err));
        QFZ_TRY_OR(st, cleanup, qfz_temp_write(file, path, records, n * bytes, at, err));
    }

cleanup:
    free(records);
    return st;
}

qfz_status qfz_region_parts_save(qfz_region_records *regions, const qfz_run *run, qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    char temp[PATH_BYTES], path[PATH_BYTES];
    if (!regions) return QFZ_OK;
    QFZ_TRY(name_file(job, run->part, run->n_parts, "temp", temp, err));
    QFZ_TRY(name_file(job, run->part, run->n_parts, "records", path, err));
    (void)unlink(temp); /* of a killed run */
    const int file = qfz_create_new(temp);
    if (file < 0) return qfz_fail(err, QFZ_EIO, "%s: %s", temp, strerror(errno));
    qfz_status st = save_records(regions, run, file, temp, err);
    if (close(file) != 0 && st == QFZ_OK)
        st = qfz_fail(err, QFZ_EIO, "%s: %s", temp, strerror(errno));
    if (st == QFZ_OK && rename(temp, path) != 0)
        st = qfz_fail(err, QFZ_EIO, "%s: %s", path, strerror(errno));
    if (st != QFZ_OK) (void)unlink(temp);
    return st;
}

void qfz_region_parts_delete(const qfz_job *job, int part, int n_parts)
{
    static const char *const kinds[] = {"temp", "records"};
    char path[PATH_BYTES];
    for (int i = 0; job->regions && i < 2; i++)
        if (name_file(job, part, n_parts, kinds[i], path, NULL) == QFZ_OK) (void)unlink(path);
}

/* -------------------------------------------------------------------------------------- joining */

/* The foreign records of one part, read in order. */
typedef struct cursor {
    char path[PATH_BYTES];
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

static qfz_status read_at(const cursor *c, void *to, int64_t bytes, int64_t offset, qfz_error *err)
{
    const int file = open(c->path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return qfz_fail(err, QFZ_EIO, "%s: %s", c->path, strerror(errno));
    const qfz_status st = qfz_temp_read(file, c->path, to, bytes, offset, err);
    (void)close(file);
    return st;
}

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
    QFZ_TRY(read_at(c, c->records, c->n * j->bytes, (int64_t)sizeof c->head + c->n_taken * j->bytes,
                    err));
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
        QFZ_TRY(read_at(c, records, n * j->bytes, start + first * j->bytes, err));
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
        QFZ_TRY(name_file(j->run->setup->job, k, j->run->n_parts, "records", c->path, err));
        QFZ_TRY(read_at(c, &c->head, sizeof c->head, 0, err));
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
                                 qfz_error *err)
{
    joining j = {
        .run = run, .bytes = qfz_region_record_bytes(run->setup), .n_cursors = run->n_parts};
    const int64_t some = QFZ_RECORDS_BYTES / j.bytes + 1;
    qfz_region_rows rows = {0};
    uint64_t *records = NULL;
    qfz_status st;
    *table = NULL;
    if (!run->setup->job->regions) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, qfz_alloc((void **)&records, some, (size_t)j.bytes, err));
    QFZ_TRY_OR(st, cleanup, open_all(&j, err));
    QFZ_TRY_OR(st, cleanup, qfz_region_rows_open(&rows, run, labels, NULL, err));
    for (int k = 0; k < j.n_cursors; k++)
        QFZ_TRY_OR(st, cleanup, join_part(&j, k, records, some, &rows, err));
    QFZ_TRY_OR(st, cleanup, qfz_region_rows_take(&rows, table, err));

cleanup:
    qfz_region_rows_close(&rows);
    close_all(&j);
    free(records);
    return st;
}
