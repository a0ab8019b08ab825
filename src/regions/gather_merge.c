/* SPDX-License-Identifier: MIT */
#include "regions/gather_merge.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/temp_file.h"

/* A table's records lie in any order: those that are read next are fetched ahead. */
enum { AHEAD = 8 };

int qfz_gather_compare(const qfz_gather_format *format, const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < format->key_words; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static const uint64_t *current(const qfz_gather_merge *merge, const qfz_gather_run *run)
{
    return run->table ? qfz_gather_table_sorted(run->table, run->at)
                      : run->buffer + run->at * merge->format->words;
}

/* ------------------------------------------------------------------------------------- the heap */
static bool is_before(const qfz_gather_head *a, const qfz_gather_head *b)
{
    return a->key[0] != b->key[0] ? a->key[0] < b->key[0] : a->key[1] < b->key[1];
}

static qfz_gather_head head_of(const qfz_gather_merge *merge, qfz_gather_run *run)
{
    qfz_gather_head head = {.run = run};
    memcpy(head.key, current(merge, run), (size_t)merge->format->key_words * sizeof *head.key);
    return head;
}

/* Moves the run at place i of the heap down to where it belongs. */
static void sink_down(qfz_gather_merge *merge, int64_t i)
{
    qfz_gather_head *const heap = merge->heap;
    const qfz_gather_head own = heap[i];
    for (;;) {
        int64_t least = 2 * i + 1;
        if (least >= merge->n_heap) break;
        if (least + 1 < merge->n_heap && is_before(&heap[least + 1], &heap[least])) least++;
        if (!is_before(&heap[least], &own)) break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = own;
}

/* ------------------------------------------------------------------------------------- the runs */
/* Fills the buffer of a run in the file; *more = false at the end of the run. */
static qfz_status refill(const qfz_gather_merge *merge, qfz_gather_run *run, bool *more,
                         qfz_error *err)
{
    const int64_t n = run->left < merge->buffer_n ? run->left : merge->buffer_n;
    const int64_t bytes = n * merge->format->words * (int64_t)sizeof *run->buffer;
    *more = n > 0;
    if (n == 0) return QFZ_OK;
    QFZ_TRY(qfz_temp_read(merge->file, merge->folder, run->buffer, bytes, run->offset, err));
    run->offset += bytes;
    run->left -= n;
    run->at = 0;
    run->n = n;
    return QFZ_OK;
}

/* Goes on to the next record of the first run of the heap. */
static qfz_status advance(qfz_gather_merge *merge, qfz_error *err)
{
    qfz_gather_run *const run = merge->heap[0].run;
    bool more = ++run->at < run->n;
    merge->n_read++;
    if (!more && !run->table) QFZ_TRY(refill(merge, run, &more, err));
    if (run->table && run->at + AHEAD < run->n)
        __builtin_prefetch(qfz_gather_table_sorted(run->table, run->at + AHEAD));
    merge->heap[0] = more ? head_of(merge, run) : merge->heap[--merge->n_heap];
    if (merge->n_heap > 0) sink_down(merge, 0);
    return QFZ_OK;
}

qfz_status qfz_gather_merge_begin(qfz_gather_merge *merge, qfz_gather_run *runs, int64_t n,
                                  qfz_error *err)
{
    merge->n_heap = 0;
    merge->n_read = 0;
    for (int64_t i = 0; i < n; i++) {
        qfz_gather_run *const run = &runs[i];
        bool more = run->at < run->n;
        if (!run->table) {
            run->offset = run->begin;
            run->left = run->n_all;
            QFZ_TRY(refill(merge, run, &more, err));
        }
        if (more) merge->heap[merge->n_heap++] = head_of(merge, run);
    }
    for (int64_t i = merge->n_heap / 2 - 1; i >= 0; i--)
        sink_down(merge, i);
    return QFZ_OK;
}

qfz_status qfz_gather_merge_next(qfz_gather_merge *merge, uint64_t *record, bool *more,
                                 qfz_error *err)
{
    const qfz_gather_format *const format = merge->format;
    *more = merge->n_heap > 0;
    if (!*more) return QFZ_OK;
    memcpy(record, current(merge, merge->heap[0].run), (size_t)format->words * sizeof *record);
    for (;;) {
        QFZ_TRY(advance(merge, err));
        if (merge->n_heap == 0 || !format->add) return QFZ_OK;
        const uint64_t *const next = current(merge, merge->heap[0].run);
        if (qfz_gather_compare(format, record, next) != 0) return QFZ_OK;
        format->add(format->arg, record, next);
    }
}

/* ---------------------------------------------------------------------------------- some records
 */
qfz_status qfz_gather_some_reserve(qfz_gather_some *some, int64_t words, qfz_error *err)
{
    if (words <= some->room) return QFZ_OK;
    QFZ_TRY(qfz_realloc((void **)&some->records, words, sizeof *some->records, err));
    some->room = words;
    return QFZ_OK;
}

void qfz_gather_some_fini(qfz_gather_some *some)
{
    free(some->records);
    free(some->runs);
    free(some->heap);
    *some = (qfz_gather_some){0};
}

qfz_status qfz_gather_merge_some(qfz_gather_merge *merge, int64_t n, qfz_gather_some *some,
                                 qfz_error *err)
{
    const int words = merge->format->words;
    bool more = true;
    some->n = 0;
    while (some->n < n) {
        QFZ_TRY(qfz_gather_merge_next(merge, some->records + some->n * words, &more, err));
        if (!more) break;
        some->n++;
    }
    return QFZ_OK;
}
