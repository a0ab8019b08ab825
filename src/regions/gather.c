/* SPDX-License-Identifier: MIT */
#include "regions/gather.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/temp_file.h"
#include "regions/gather_pieces.h"

/* With less memory for each run, runs are merged in several rounds. */
enum { RUN_BYTES_LEAST = 1 << 16, RUNS_LEAST = 2 };

enum { SOME = 1 << 12 }; /* records that take() takes from the file */

struct qfz_gather {
    qfz_gather_format format;
    int64_t bytes;
    const char *folder;
    qfz_gather_table *tables;
    int n_tables;

    pthread_mutex_t lock; /* of the members below */
    int file;             /* -1: nothing was written */
    int64_t file_bytes;
    qfz_gather_run *runs;
    int64_t n_runs, runs_room;

    /* While records are read. */
    qfz_gather_merge merge;
    uint64_t *buffers; /* of runs in the file, merge.buffer_n records each */
    uint64_t *record;
    int64_t first; /* run of the last merge */
    int64_t total;
    qfz_gather_pieces pieces; /* of tables; n 0: not begun */
    int64_t n_taken;
};

static int64_t record_bytes(const qfz_gather *gather)
{
    return gather->format.words * (int64_t)sizeof(uint64_t);
}

qfz_status qfz_gather_open(qfz_gather **out, const qfz_gather_format *format, int n_threads,
                           int64_t bytes, const char *folder, qfz_error *err)
{
    qfz_gather *gather = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&gather, 1, err));
    gather->format = *format;
    gather->bytes = bytes;
    gather->folder = folder;
    gather->file = -1;
    (void)pthread_mutex_init(&gather->lock, NULL);
    qfz_status st = QFZ_NEW_ZERO(&gather->tables, n_threads, err);
    if (st == QFZ_OK) st = QFZ_NEW(&gather->record, format->words, err);
    gather->n_tables = st == QFZ_OK ? n_threads : 0;
    for (int i = 0; i < gather->n_tables && st == QFZ_OK; i++)
        st = qfz_gather_table_init(&gather->tables[i], &gather->format, bytes / n_threads, err);
    if (st != QFZ_OK) {
        qfz_gather_close(gather);
        return st;
    }
    *out = gather;
    return QFZ_OK;
}

static void free_tables(qfz_gather *gather)
{
    for (int i = 0; i < gather->n_tables; i++)
        qfz_gather_table_fini(&gather->tables[i]);
}

void qfz_gather_close(qfz_gather *gather)
{
    if (!gather) return;
    free_tables(gather);
    if (gather->file >= 0) (void)close(gather->file);
    (void)pthread_mutex_destroy(&gather->lock);
    free(gather->tables);
    free(gather->runs);
    free(gather->buffers);
    free(gather->merge.heap);
    qfz_gather_pieces_close(&gather->pieces);
    free(gather->record);
    free(gather);
}

/* ----------------------------------------------------------------------------------- runs on disk
 */
static qfz_status add_run(qfz_gather *gather, qfz_gather_run new_run, qfz_error *err)
{
    if (gather->n_runs == gather->runs_room) {
        const int64_t room = 2 * gather->runs_room + 16;
        QFZ_TRY(qfz_realloc((void **)&gather->runs, room, sizeof *gather->runs, err));
        gather->runs_room = room;
    }
    gather->runs[gather->n_runs++] = new_run;
    return QFZ_OK;
}

/* Reserves a place in the file for n records, and adds it as a run. */
static qfz_status reserve_run(qfz_gather *gather, int64_t n, int64_t *offset, qfz_error *err)
{
    if (gather->file < 0) QFZ_TRY(qfz_temp_open(gather->folder, &gather->file, err));
    *offset = gather->file_bytes;
    QFZ_TRY(add_run(gather, (qfz_gather_run){.begin = *offset, .n_all = n}, err));
    gather->file_bytes += n * record_bytes(gather);
    return QFZ_OK;
}

/* Writes records one after the other, in pieces of a fixed size. */
typedef struct writer {
    qfz_gather *gather;
    int64_t offset;
    int64_t n;
    uint64_t piece[1 << 13];
} writer;

static qfz_status flush(writer *w, qfz_error *err)
{
    const int64_t bytes = w->n * (int64_t)sizeof(uint64_t);
    QFZ_TRY(qfz_temp_write(w->gather->file, w->gather->folder, w->piece, bytes, w->offset, err));
    w->offset += bytes;
    w->n = 0;
    return QFZ_OK;
}

static qfz_status write_record(writer *w, const uint64_t *record, qfz_error *err)
{
    const int words = w->gather->format.words;
    if (w->n + words > (int64_t)(sizeof w->piece / sizeof *w->piece)) QFZ_TRY(flush(w, err));
    memcpy(w->piece + w->n, record, (size_t)words * sizeof *record);
    w->n += words;
    return QFZ_OK;
}

/* Writes the records of a table to the file and empties the table. */
static qfz_status spill(qfz_gather *gather, qfz_gather_table *table, qfz_error *err)
{
    writer *w = NULL;
    qfz_status st = qfz_gather_table_sort(table, err);
    if (st == QFZ_OK) st = QFZ_NEW(&w, 1, err);
    QFZ_TRY(st);
    w->gather = gather;
    w->n = 0;
    (void)pthread_mutex_lock(&gather->lock);
    st = reserve_run(gather, table->n, &w->offset, err);
    (void)pthread_mutex_unlock(&gather->lock);
    for (int64_t i = 0; i < table->n && st == QFZ_OK; i++)
        st = write_record(w, qfz_gather_table_sorted(table, i), err);
    if (st == QFZ_OK) st = flush(w, err);
    free(w);
    qfz_gather_table_clear(table);
    return st;
}

qfz_status qfz_gather_find(qfz_gather *gather, int thread, const uint64_t *key, uint64_t **record,
                           bool *is_new, qfz_error *err)
{
    qfz_gather_table *const table = &gather->tables[thread];
    QFZ_TRY(qfz_gather_table_find(table, key, record, is_new, err));
    if (*record) return QFZ_OK;
    QFZ_TRY(spill(gather, table, err));
    return qfz_gather_table_find(table, key, record, is_new, err);
}

/* A record of a key that is in no table. */
static qfz_status append(qfz_gather *gather, qfz_gather_table *table, const uint64_t *record,
                         qfz_error *err)
{
    if (table->n == table->room) QFZ_TRY(spill(gather, table, err));
    qfz_gather_table_append(table, record);
    return QFZ_OK;
}

qfz_status qfz_gather_put(qfz_gather *gather, int thread, const uint64_t *record, qfz_error *err)
{
    const int n_key = gather->format.key_words, n = gather->format.words;
    uint64_t *into;
    bool is_new;
    if (!gather->format.add) return append(gather, &gather->tables[thread], record, err);
    QFZ_TRY(qfz_gather_find(gather, thread, record, &into, &is_new, err));
    if (is_new)
        memcpy(into + n_key, record + n_key, (size_t)(n - n_key) * sizeof *record);
    else
        gather->format.add(gather->format.arg, into, record);
    return QFZ_OK;
}

int qfz_gather_words(const qfz_gather *gather)
{
    return gather->format.words;
}

/* ------------------------------------------------------------------------------------ the merge */
/* Begins with runs first .. first + n - 1, from their first records on. */
static qfz_status begin_merge(qfz_gather *gather, int64_t first, int64_t n, qfz_error *err)
{
    qfz_gather_merge *const merge = &gather->merge;
    qfz_gather_run *const runs = gather->runs + first;
    merge->format = &gather->format;
    merge->file = gather->file;
    merge->folder = gather->folder;
    for (int64_t i = 0; i < n; i++) {
        runs[i].at = 0;
        if (!runs[i].table)
            runs[i].buffer = gather->buffers + i * merge->buffer_n * gather->format.words;
    }
    return qfz_gather_merge_begin(merge, runs, n, err);
}

/* Merges runs first .. first + n - 1 into a new run at the end. */
static qfz_status merge_some(qfz_gather *gather, int64_t first, int64_t n, qfz_error *err)
{
    const uint64_t *record;
    writer *w = NULL;
    qfz_status st;
    int64_t sum = 0, n_out = 0;
    for (int64_t i = first; i < first + n; i++)
        sum += gather->runs[i].n_all;
    QFZ_TRY(QFZ_NEW(&w, 1, err));
    w->gather = gather;
    w->n = 0;
    /* First, since the list of runs may move, which the merge points into. */
    QFZ_TRY_OR(st, cleanup, reserve_run(gather, sum, &w->offset, err));
    QFZ_TRY_OR(st, cleanup, begin_merge(gather, first, n, err));
    for (;; n_out++) {
        QFZ_TRY_OR(st, cleanup, qfz_gather_next(gather, &record, err));
        if (!record) break;
        QFZ_TRY_OR(st, cleanup, write_record(w, record, err));
    }
    st = flush(w, err);
    gather->runs[gather->n_runs - 1].n_all = n_out;

cleanup:
    free(w);
    return st;
}

/* Memory for reading n runs at a time. */
static qfz_status make_buffers(qfz_gather *gather, int64_t n, qfz_error *err)
{
    const int64_t each = gather->bytes / n / record_bytes(gather);
    gather->merge.buffer_n = each > 0 ? each : 1;
    free(gather->buffers);
    gather->buffers = NULL;
    return QFZ_NEW(&gather->buffers, n * gather->merge.buffer_n * gather->format.words, err);
}

static qfz_status spill_last(void *arg, int64_t i, int thread, qfz_error *err)
{
    qfz_gather *const gather = arg;
    (void)thread;
    return gather->tables[i].n > 0 ? spill(gather, &gather->tables[i], err) : QFZ_OK;
}

static qfz_status merge_files(qfz_gather *gather, qfz_error *err)
{
    const int64_t fit = gather->bytes / RUN_BYTES_LEAST;
    const int64_t most = fit < RUNS_LEAST ? RUNS_LEAST : fit;
    int64_t first = 0;
    QFZ_TRY(qfz_parallel_for(gather->n_tables, gather->n_tables, spill_last, gather, err));
    free_tables(gather);
    QFZ_TRY(QFZ_NEW(&gather->merge.heap, most, err));
    for (; gather->n_runs - first > most; first += most) {
        QFZ_TRY(make_buffers(gather, most, err));
        QFZ_TRY(merge_some(gather, first, most, err));
    }
    for (int64_t i = first; i < gather->n_runs; i++)
        gather->total += gather->runs[i].n_all;
    gather->first = first;
    QFZ_TRY(make_buffers(gather, gather->n_runs - first, err));
    return begin_merge(gather, first, gather->n_runs - first, err);
}

static qfz_status sort_table(void *arg, int64_t i, int thread, qfz_error *err)
{
    qfz_gather *const gather = arg;
    (void)thread;
    return qfz_gather_table_sort(&gather->tables[i], err);
}

static qfz_status merge_tables(qfz_gather *gather, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&gather->merge.heap, gather->n_tables, err));
    QFZ_TRY(qfz_parallel_for(gather->n_tables, gather->n_tables, sort_table, gather, err));
    for (int i = 0; i < gather->n_tables; i++) {
        const qfz_gather_table *const table = &gather->tables[i];
        QFZ_TRY(add_run(gather, (qfz_gather_run){.table = table, .n = table->n}, err));
        gather->total += table->n;
    }
    return begin_merge(gather, 0, gather->n_tables, err);
}

qfz_status qfz_gather_begin_reading(qfz_gather *gather, qfz_error *err)
{
    return gather->file >= 0 ? merge_files(gather, err) : merge_tables(gather, err);
}

qfz_status qfz_gather_next(qfz_gather *gather, const uint64_t **record, qfz_error *err)
{
    bool more;
    QFZ_TRY(qfz_gather_merge_next(&gather->merge, gather->record, &more, err));
    *record = more ? gather->record : NULL;
    return QFZ_OK;
}

qfz_status qfz_gather_count(qfz_gather *gather, int64_t *n, qfz_error *err)
{
    const int64_t n_runs = gather->n_runs - gather->first;
    const uint64_t *record;
    *n = gather->total;
    if (n_runs == 1 || !gather->format.add) return QFZ_OK; /* all keys differ */
    for (*n = 0;; ++*n) {
        QFZ_TRY(qfz_gather_next(gather, &record, err));
        if (!record) break;
    }
    return begin_merge(gather, gather->first, n_runs, err);
}

double qfz_gather_part(const qfz_gather *gather)
{
    return gather->total > 0 ? (double)gather->merge.n_read / (double)gather->total : 1;
}

/* ----------------------------------------------------------------------------- by several threads
 */
static qfz_status take_of_file(qfz_gather *gather, qfz_gather_some *some, bool *more,
                               qfz_error *err)
{
    QFZ_TRY(qfz_gather_some_reserve(some, SOME * gather->format.words, err));
    QFZ_TRY(qfz_gather_merge_some(&gather->merge, SOME, some, err));
    *more = some->n > 0;
    some->number = gather->n_taken++;
    some->part = qfz_gather_part(gather);
    return QFZ_OK;
}

static qfz_status take_piece(qfz_gather *gather, qfz_gather_some *some, bool *more, qfz_error *err)
{
    qfz_gather_pieces *const pieces = &gather->pieces;
    if (pieces->n == 0)
        QFZ_TRY(
            qfz_gather_pieces_open(pieces, &gather->format, gather->tables, gather->n_tables, err));
    *more = gather->n_taken < pieces->n;
    some->number = gather->n_taken;
    gather->n_taken += *more;
    some->part = (double)gather->n_taken / (double)pieces->n;
    return QFZ_OK;
}

qfz_status qfz_gather_take(qfz_gather *gather, qfz_gather_some *some, bool *more, qfz_error *err)
{
    const bool is_of_file = gather->file >= 0;
    *more = false;
    (void)pthread_mutex_lock(&gather->lock);
    const qfz_status st =
        is_of_file ? take_of_file(gather, some, more, err) : take_piece(gather, some, more, err);
    (void)pthread_mutex_unlock(&gather->lock);
    if (st != QFZ_OK || is_of_file || !*more) return st;
    return qfz_gather_pieces_merge(&gather->pieces, some->number, some, err);
}
