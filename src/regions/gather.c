/* SPDX-License-Identifier: MIT */
#include "regions/gather.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/temp_file.h"
#include "regions/gather_table.h"

/* With less memory for each run, runs are merged in several rounds. */
enum { RUN_BYTES_LEAST = 1 << 16, RUNS_LEAST = 2 };

/* A table's records lie in any order: those that are read next are fetched ahead. */
enum { AHEAD = 8 };

/* Sorted records of different keys: in a table, or in the file. */
typedef struct run {
    const qfz_gather_table *table; /* NULL: in the file */
    int64_t begin, n_all;          /* in the file, in bytes; its records there */
    int64_t offset;                /* of the next record to be read, in bytes */
    int64_t left;                  /* records that are not read yet */
    uint64_t *buffer;
    int64_t at, n; /* in the table, or in the buffer: the current record and their number */
} run;

/* A run in the heap, with the key of its current record; words that keys do not have are 0. */
typedef struct head {
    uint64_t key[QFZ_KEY_WORDS_MAX];
    int64_t run;
} head;

struct qfz_gather {
    qfz_gather_format format;
    int64_t bytes;
    const char *folder;
    qfz_gather_table *tables;
    int n_tables;

    pthread_mutex_t lock; /* of the members below, while threads gather */
    int file;             /* -1: nothing was written */
    int64_t file_bytes;
    run *runs;
    int64_t n_runs, runs_room;

    /* While records are read. */
    uint64_t *buffers;
    int64_t buffer_n; /* records of each buffer */
    head *heap;       /* the run with the least key first */
    int64_t n_heap;
    uint64_t *record;
    int64_t first; /* run of the last merge */
    int64_t total, n_read;
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
    free(gather->heap);
    free(gather->record);
    free(gather);
}

/* ----------------------------------------------------------------------------------- runs on disk
 */
static qfz_status add_run(qfz_gather *gather, run new_run, qfz_error *err)
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
    QFZ_TRY(add_run(gather, (run){.begin = *offset, .n_all = n}, err));
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
        st = write_record(w, table->records + table->order[i].at * gather->format.words, err);
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

qfz_status qfz_gather_put(qfz_gather *gather, int thread, const uint64_t *record, qfz_error *err)
{
    const int n_key = gather->format.key_words, n = gather->format.words;
    uint64_t *into;
    bool is_new;
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
static const uint64_t *current(const qfz_gather *gather, const run *r)
{
    const int words = gather->format.words;
    return r->table ? r->table->records + r->table->order[r->at].at * words
                    : r->buffer + r->at * words;
}

static int compare(const qfz_gather *gather, const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < gather->format.key_words; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static bool is_before(const head *a, const head *b)
{
    return a->key[0] != b->key[0] ? a->key[0] < b->key[0] : a->key[1] < b->key[1];
}

static head head_of(const qfz_gather *gather, int64_t i)
{
    head h = {.run = i};
    memcpy(h.key, current(gather, &gather->runs[i]),
           (size_t)gather->format.key_words * sizeof *h.key);
    return h;
}

/* Moves the run at place i of the heap down to where it belongs. */
static void sink_down(qfz_gather *gather, int64_t i)
{
    head *const heap = gather->heap;
    const head own = heap[i];
    for (;;) {
        int64_t least = 2 * i + 1;
        if (least >= gather->n_heap) break;
        if (least + 1 < gather->n_heap && is_before(&heap[least + 1], &heap[least])) least++;
        if (!is_before(&heap[least], &own)) break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = own;
}

/* Fills the buffer of a run in the file; *more = false at the end of the run. */
static qfz_status refill(qfz_gather *gather, run *r, bool *more, qfz_error *err)
{
    const int64_t n = r->left < gather->buffer_n ? r->left : gather->buffer_n;
    *more = n > 0;
    if (n == 0) return QFZ_OK;
    QFZ_TRY(qfz_temp_read(gather->file, gather->folder, r->buffer, n * record_bytes(gather),
                          r->offset, err));
    r->offset += n * record_bytes(gather);
    r->left -= n;
    r->at = 0;
    r->n = n;
    return QFZ_OK;
}

/* Goes on to the next record of the first run of the heap. */
static qfz_status advance(qfz_gather *gather, qfz_error *err)
{
    const int64_t i = gather->heap[0].run;
    run *const r = &gather->runs[i];
    bool more = ++r->at < r->n;
    gather->n_read++;
    if (!more && !r->table) QFZ_TRY(refill(gather, r, &more, err));
    if (r->table && r->at + AHEAD < r->n)
        __builtin_prefetch(r->table->records +
                           r->table->order[r->at + AHEAD].at * gather->format.words);
    gather->heap[0] = more ? head_of(gather, i) : gather->heap[--gather->n_heap];
    if (gather->n_heap > 0) sink_down(gather, 0);
    return QFZ_OK;
}

/* Puts runs first .. first + n - 1 into the heap, from their first records on. */
static qfz_status begin_merge(qfz_gather *gather, int64_t first, int64_t n, qfz_error *err)
{
    gather->n_heap = 0;
    for (int64_t i = first; i < first + n; i++) {
        run *const r = &gather->runs[i];
        bool more = r->n > 0;
        r->at = 0;
        if (!r->table) {
            r->offset = r->begin;
            r->left = r->n_all;
            r->buffer = gather->buffers + (i - first) * gather->buffer_n * gather->format.words;
            QFZ_TRY(refill(gather, r, &more, err));
        }
        if (more) gather->heap[gather->n_heap++] = head_of(gather, i);
    }
    for (int64_t i = gather->n_heap / 2 - 1; i >= 0; i--)
        sink_down(gather, i);
    return QFZ_OK;
}

qfz_status qfz_gather_next(qfz_gather *gather, const uint64_t **record, qfz_error *err)
{
    *record = NULL;
    if (gather->n_heap == 0) return QFZ_OK;
    memcpy(gather->record, current(gather, &gather->runs[gather->heap[0].run]),
           (size_t)record_bytes(gather));
    for (;;) {
        QFZ_TRY(advance(gather, err));
        if (gather->n_heap == 0) break;
        const uint64_t *const more = current(gather, &gather->runs[gather->heap[0].run]);
        if (compare(gather, gather->record, more) != 0) break;
        gather->format.add(gather->format.arg, gather->record, more);
    }
    *record = gather->record;
    return QFZ_OK;
}

double qfz_gather_part(const qfz_gather *gather)
{
    return gather->total > 0 ? (double)gather->n_read / (double)gather->total : 1;
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
    QFZ_TRY_OR(st, cleanup, begin_merge(gather, first, n, err));
    QFZ_TRY_OR(st, cleanup, reserve_run(gather, sum, &w->offset, err));
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
    gather->buffer_n = each > 0 ? each : 1;
    free(gather->buffers);
    gather->buffers = NULL;
    return QFZ_NEW(&gather->buffers, n * gather->buffer_n * gather->format.words, err);
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
    QFZ_TRY(QFZ_NEW(&gather->heap, most, err));
    for (; gather->n_runs - first > most; first += most) {
        QFZ_TRY(make_buffers(gather, most, err));
        QFZ_TRY(merge_some(gather, first, most, err));
    }
    for (int64_t i = first; i < gather->n_runs; i++)
        gather->total += gather->runs[i].n_all;
    gather->first = first;
    gather->n_read = 0;
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
    QFZ_TRY(QFZ_NEW(&gather->heap, gather->n_tables, err));
    QFZ_TRY(qfz_parallel_for(gather->n_tables, gather->n_tables, sort_table, gather, err));
    for (int i = 0; i < gather->n_tables; i++) {
        const qfz_gather_table *const table = &gather->tables[i];
        QFZ_TRY(add_run(gather, (run){.table = table, .n = table->n}, err));
        gather->total += table->n;
    }
    return begin_merge(gather, 0, gather->n_tables, err);
}

qfz_status qfz_gather_begin_reading(qfz_gather *gather, qfz_error *err)
{
    return gather->file >= 0 ? merge_files(gather, err) : merge_tables(gather, err);
}

qfz_status qfz_gather_count(qfz_gather *gather, int64_t *n, qfz_error *err)
{
    const int64_t n_runs = gather->n_runs - gather->first;
    const uint64_t *record;
    *n = gather->total;
    if (n_runs == 1) return QFZ_OK; /* its keys differ */
    for (*n = 0;; ++*n) {
        QFZ_TRY(qfz_gather_next(gather, &record, err));
        if (!record) break;
    }
    gather->n_read = 0;
    return begin_merge(gather, gather->first, n_runs, err);
}
