/* SPDX-License-Identifier: MIT */
/* arc_store.c - an external merge sort of chains by label.
 *
 * In memory: the chains as they came, and an index of labels and offsets, which alone is sorted. In
 * the file: runs of (label, chain), ascending, each read through a window of its own. */
#include "regions/arc_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"

enum { LABEL_BYTES = 8, HEAD_BYTES = sizeof(qfz_arc_head), DIGIT_BITS = 11 };
enum { WRITE_BYTES = 1 << 20, LEAST_WINDOW = 1 << 14, LEAST_MERGED = 8 };

typedef struct run {          /* of the file */
    int64_t begin, end, next; /* offsets; from `next` on, it is not yet in the window */
    uint8_t *window;
    int64_t room, at, n; /* window[at..n) is unread */
    uint64_t label;      /* of the chain at window[at]; see fill() */
    bool is_empty;
} run;

struct qfz_arc_store {
    int64_t memory_bytes, most_group_bytes;
    const char *folder;
    uint8_t *bytes;
    int64_t n_bytes, bytes_room;
    qfz_arc_index *index, *other; /* other: for sorting */
    int64_t n, index_room, other_room;
    int64_t next; /* of index[], in reading */
    int file;     /* -1: none */
    int64_t file_bytes;
    run *runs;
    int64_t n_runs;
    uint8_t *group;
    int64_t group_bytes, group_room;
};

qfz_status qfz_arc_store_create(qfz_arc_store **store, int64_t memory_bytes, int64_t group_bytes,
                                const char *folder, qfz_error *err)
{
    qfz_arc_store *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->memory_bytes = memory_bytes;
    made->most_group_bytes = group_bytes;
    made->folder = folder;
    made->file = -1;
    *store = made;
    return QFZ_OK;
}

static void free_memory(qfz_arc_store *store)
{
    free(store->bytes);
    free(store->index);
    free(store->other);
    store->bytes = NULL;
    store->index = store->other = NULL;
    store->n = store->n_bytes = store->bytes_room = store->index_room = store->other_room = 0;
}

void qfz_arc_store_close(qfz_arc_store *store)
{
    if (!store) return;
    free_memory(store);
    for (int64_t i = 0; i < store->n_runs; i++)
        free(store->runs[i].window);
    free(store->runs);
    free(store->group);
    if (store->file >= 0) (void)close(store->file);
    free(store);
}

/* ------------------------------------------------------------------------------ sorting in memory
 */
/* Sorts the index by label, 11 bits a pass, as far as labels have bits that differ. */
static qfz_status sort_index(qfz_arc_store *store, qfz_error *err)
{
    enum { DIGITS = 1 << DIGIT_BITS };
    uint64_t differ = 0;
    int64_t *starts = NULL;
    qfz_status st;
    for (int64_t i = 1; i < store->n; i++)
        differ |= store->index[i].label ^ store->index[0].label;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&starts, DIGITS, err));
    if (store->n > store->other_room) {
        QFZ_TRY_OR(
            st, cleanup,
            qfz_realloc((void **)&store->other, store->index_room, sizeof *store->other, err));
        store->other_room = store->index_room;
    }
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differ >> shift & (DIGITS - 1)) == 0) continue;
        memset(starts, 0, DIGITS * sizeof *starts);
        for (int64_t i = 0; i < store->n; i++)
            starts[store->index[i].label >> shift & (DIGITS - 1)]++;
        for (int64_t d = 0, before = 0; d < DIGITS; d++) {
            const int64_t count = starts[d];
            starts[d] = before;
            before += count;
        }
        for (int64_t i = 0; i < store->n; i++)
            store->other[starts[store->index[i].label >> shift & (DIGITS - 1)]++] = store->index[i];
        qfz_arc_index *const sorted = store->other;
        store->other = store->index;
        store->index = sorted;
        const int64_t room = store->other_room;
        store->other_room = store->index_room;
        store->index_room = room;
    }
cleanup:
    free(starts);
    return st;
}

/* Bytes of the chain whose head is at `chain`. */
static int64_t chain_bytes(const uint8_t *chain)
{
    qfz_arc_head head;
    memcpy(&head, chain, sizeof head);
    return HEAD_BYTES + (int64_t)head.n_steps;
}

/* ------------------------------------------------------------------------------------- spilling */
/* Bytes on their way to the end of the file. */
typedef struct writer {
    uint8_t *bytes; /* room for WRITE_BYTES */
    int64_t n;
} writer;

static qfz_status flush(qfz_arc_store *store, writer *w, qfz_error *err)
{
    QFZ_TRY(qfz_temp_write(store->file, store->folder, w->bytes, w->n, store->file_bytes, err));
    store->file_bytes += w->n;
    w->n = 0;
    return QFZ_OK;
}

static qfz_status put(qfz_arc_store *store, writer *w, const void *data, int64_t n, qfz_error *err)
{
    if (w->n + n > WRITE_BYTES) QFZ_TRY(flush(store, w, err));
    if (n > WRITE_BYTES) {
        QFZ_TRY(qfz_temp_write(store->file, store->folder, data, n, store->file_bytes, err));
        store->file_bytes += n;
        return QFZ_OK;
    }
    memcpy(w->bytes + w->n, data, (size_t)n);
    w->n += n;
    return QFZ_OK;
}

static qfz_status write_sorted(qfz_arc_store *store, writer *w, qfz_error *err)
{
    for (int64_t i = 0; i < store->n; i++) {
        const uint8_t *const chain = store->bytes + store->index[i].at;
        QFZ_TRY(put(store, w, &store->index[i].label, LABEL_BYTES, err));
        QFZ_TRY(put(store, w, chain, chain_bytes(chain), err));
    }
    return flush(store, w, err);
}

/* Moves all chains of the memory to the file, as one more run. */
static qfz_status spill(qfz_arc_store *store, qfz_error *err)
{
    writer w = {0};
    qfz_status st;
    const int64_t begin = store->file_bytes;
    if (store->n == 0) return QFZ_OK;
    if (store->file < 0) QFZ_TRY(qfz_temp_open(store->folder, &store->file, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&w.bytes, WRITE_BYTES, err));
    QFZ_TRY_OR(st, cleanup, sort_index(store, err));
    QFZ_TRY_OR(st, cleanup, write_sorted(store, &w, err));
    QFZ_TRY_OR(st, cleanup,
               qfz_realloc((void **)&store->runs, store->n_runs + 1, sizeof *store->runs, err));
    store->runs[store->n_runs++] = (run){.begin = begin, .end = store->file_bytes};
    store->n = store->n_bytes = 0;
cleanup:
    free(w.bytes);
    return st;
}

/* ---------------------------------------------------------------------------------------- adding
 */
static qfz_status reserve(qfz_arc_store *store, int64_t n_bytes, int64_t n, qfz_error *err)
{
    if (n_bytes > store->bytes_room) {
        const int64_t room = n_bytes + n_bytes / 2;
        QFZ_TRY(qfz_realloc((void **)&store->bytes, room, 1, err));
        store->bytes_room = room;
    }
    if (n > store->index_room) {
        const int64_t room = n + n / 2;
        QFZ_TRY(qfz_realloc((void **)&store->index, room, sizeof *store->index, err));
        store->index_room = room;
    }
    return QFZ_OK;
}

/* In memory a chain costs its bytes and two places of an index; arrays grow by half. */
static int64_t cost(int64_t n_bytes, int64_t n)
{
    return (n_bytes + 2 * n * (int64_t)sizeof(qfz_arc_index)) / 2 * 3;
}

qfz_status qfz_arc_store_add(qfz_arc_store *store, const qfz_arcs *arcs, qfz_error *err)
{
    if (cost(store->n_bytes + arcs->n_bytes, store->n + arcs->n) > store->memory_bytes)
        QFZ_TRY(spill(store, err));
    QFZ_TRY(reserve(store, store->n_bytes + arcs->n_bytes, store->n + arcs->n, err));
    if (arcs->n_bytes) memcpy(store->bytes + store->n_bytes, arcs->bytes, (size_t)arcs->n_bytes);
    for (int64_t i = 0; i < arcs->n; i++)
        store->index[store->n + i] =
            (qfz_arc_index){arcs->index[i].label, store->n_bytes + arcs->index[i].at};
    store->n += arcs->n;
    store->n_bytes += arcs->n_bytes;
    return QFZ_OK;
}

/* --------------------------------------------------------------------------------------- reading
 */
/* Makes sure that the window of a run holds at least n unread bytes. */
static qfz_status need(qfz_arc_store *store, run *r, int64_t n, qfz_error *err)
{
    if (r->n - r->at >= n) return QFZ_OK;
    memmove(r->window, r->window + r->at, (size_t)(r->n - r->at));
    r->n -= r->at;
    r->at = 0;
    if (n > r->room) {
        QFZ_TRY(qfz_realloc((void **)&r->window, n, 1, err));
        r->room = n;
    }
    const int64_t left = r->end - r->next, free_bytes = r->room - r->n;
    const int64_t more = left < free_bytes ? left : free_bytes;
    QFZ_TRY(qfz_temp_read(store->file, store->folder, r->window + r->n, more, r->next, err));
    r->next += more;
    r->n += more;
    return QFZ_OK;
}

/* Reads the label and the head of the next chain of a run. */
static qfz_status look(qfz_arc_store *store, run *r, qfz_error *err)
{
    r->is_empty = r->at == r->n && r->next == r->end;
    if (r->is_empty) return QFZ_OK;
    QFZ_TRY(need(store, r, LABEL_BYTES + HEAD_BYTES, err));
    memcpy(&r->label, r->window + r->at, LABEL_BYTES);
    return QFZ_OK;
}

static qfz_status append(qfz_arc_store *store, uint64_t label, const uint8_t *chain, int64_t n,
                         qfz_error *err)
{
    if (store->group_bytes + n > store->most_group_bytes)
        return qfz_fail(
            err, QFZ_ENOMEM,
            "label %llu: its borders are longer than about %lld thousand corners, which "
            "one polygon may have; give more --memory",
            (unsigned long long)label, (long long)(store->most_group_bytes / 1000));
    if (store->group_bytes + n > store->group_room) {
        const int64_t room = 2 * (store->group_bytes + n);
        QFZ_TRY(qfz_realloc((void **)&store->group, room, 1, err));
        store->group_room = room;
    }
    memcpy(store->group + store->group_bytes, chain, (size_t)n);
    store->group_bytes += n;
    return QFZ_OK;
}

/* Takes all chains of one label from a run. */
static qfz_status take(qfz_arc_store *store, run *r, uint64_t label, int64_t *n_chains,
                       qfz_error *err)
{
    while (!r->is_empty && r->label == label) {
        const int64_t n = chain_bytes(r->window + r->at + LABEL_BYTES);
        QFZ_TRY(need(store, r, LABEL_BYTES + n, err));
        QFZ_TRY(append(store, label, r->window + r->at + LABEL_BYTES, n, err));
        r->at += LABEL_BYTES + n;
        ++*n_chains;
        QFZ_TRY(look(store, r, err));
    }
    return QFZ_OK;
}

/* The first run whose next label is the least; NULL: all are empty. */
static run *least_run(run *runs, int64_t n)
{
    run *least = NULL;
    for (int64_t i = 0; i < n; i++)
        if (!runs[i].is_empty && (!least || runs[i].label < least->label)) least = &runs[i];
    return least;
}

static qfz_status next_of_runs(qfz_arc_store *store, uint64_t *label, int64_t *n, qfz_error *err)
{
    const run *const first = least_run(store->runs, store->n_runs);
    if (!first) return QFZ_OK;
    *label = first->label;
    for (int64_t i = first - store->runs; i < store->n_runs; i++)
        QFZ_TRY(take(store, &store->runs[i], *label, n, err));
    return QFZ_OK;
}

static qfz_status next_of_memory(qfz_arc_store *store, uint64_t *label, int64_t *n, qfz_error *err)
{
    for (; store->next < store->n; store->next++, ++*n) {
        const qfz_arc_index *const entry = &store->index[store->next];
        const uint8_t *const chain = store->bytes + entry->at;
        if (*n > 0 && entry->label != *label) break;
        *label = entry->label;
        QFZ_TRY(append(store, *label, chain, chain_bytes(chain), err));
    }
    return QFZ_OK;
}

qfz_status qfz_arc_store_next(qfz_arc_store *store, qfz_arc_group *group, qfz_error *err)
{
    uint64_t label = 0;
    int64_t n = 0;
    store->group_bytes = 0;
    if (store->n_runs)
        QFZ_TRY(next_of_runs(store, &label, &n, err));
    else
        QFZ_TRY(next_of_memory(store, &label, &n, err));
    *group = (qfz_arc_group){label, n, store->group_bytes, store->group};
    return QFZ_OK;
}

/* Begins to read runs. */
static qfz_status rewind_runs(qfz_arc_store *store, run *runs, int64_t n, qfz_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        run *const r = &runs[i];
        r->next = r->begin;
        r->at = r->n = 0;
        QFZ_TRY(look(store, r, err));
    }
    return QFZ_OK;
}

/* Each of n runs gets a window, all of them half of the memory. */
static qfz_status open_runs(qfz_arc_store *store, run *runs, int64_t n, qfz_error *err)
{
    int64_t room = store->memory_bytes / 2 / n;
    if (room < LEAST_WINDOW) room = LEAST_WINDOW;
    for (int64_t i = 0; i < n; i++) {
        QFZ_TRY(QFZ_NEW(&runs[i].window, room, err));
        runs[i].room = room;
    }
    return rewind_runs(store, runs, n, err);
}

/* ---------------------------------------------------------------------------------------- merging
 *
 * Windows of very many runs would take more than the memory: so such runs are first merged into
 * fewer, longer ones, behind all others in the file. */
static qfz_status copy_chain(qfz_arc_store *store, run *from, writer *w, qfz_error *err)
{
    const int64_t n = LABEL_BYTES + chain_bytes(from->window + from->at + LABEL_BYTES);
    QFZ_TRY(need(store, from, n, err));
    QFZ_TRY(put(store, w, from->window + from->at, n, err));
    from->at += n;
    return look(store, from, err);
}

static qfz_status merge_some(qfz_arc_store *store, run *runs, int64_t n, writer *w, run *merged,
                             qfz_error *err)
{
    const int64_t begin = store->file_bytes;
    QFZ_TRY(open_runs(store, runs, n, err));
    for (run *r = least_run(runs, n); r; r = least_run(runs, n))
        QFZ_TRY(copy_chain(store, r, w, err));
    QFZ_TRY(flush(store, w, err));
    for (int64_t i = 0; i < n; i++) {
        free(runs[i].window);
        runs[i].window = NULL;
    }
    *merged = (run){.begin = begin, .end = store->file_bytes};
    return QFZ_OK;
}

/* Merges runs until there are at most `most`. */
static qfz_status merge_runs(qfz_arc_store *store, int64_t most, qfz_error *err)
{
    writer w = {0};
    qfz_status st;
    if (store->n_runs <= most) return QFZ_OK;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&w.bytes, WRITE_BYTES, err));
    while (store->n_runs > most) {
        int64_t n_merged = 0;
        for (int64_t first = 0; first < store->n_runs; first += most) {
            const int64_t rest = store->n_runs - first;
            run merged;
            QFZ_TRY_OR(st, cleanup,
                       merge_some(store, &store->runs[first], rest < most ? rest : most, &w,
                                  &merged, err));
            store->runs[n_merged++] = merged;
        }
        store->n_runs = n_merged;
    }

cleanup:
    free(w.bytes);
    return st;
}

/* The number of labels is known only after the runs are merged: they are, once for the count. */
static qfz_status sort_runs(qfz_arc_store *store, int64_t *n_labels, qfz_error *err)
{
    const int64_t most = store->memory_bytes / 2 / LEAST_WINDOW;
    QFZ_TRY(merge_runs(store, most < LEAST_MERGED ? LEAST_MERGED : most, err));
    QFZ_TRY(open_runs(store, store->runs, store->n_runs, err));
    *n_labels = 0;
    for (qfz_arc_group group = {.n = 1}; group.n; *n_labels += group.n > 0)
        QFZ_TRY(qfz_arc_store_next(store, &group, err));
    return rewind_runs(store, store->runs, store->n_runs, err);
}

qfz_status qfz_arc_store_sort(qfz_arc_store *store, int64_t *n_labels, qfz_error *err)
{
    if (store->n_runs) {
        QFZ_TRY(spill(store, err));
        free_memory(store);
        return sort_runs(store, n_labels, err);
    }
    QFZ_TRY(sort_index(store, err));
    *n_labels = store->n > 0;
    for (int64_t i = 1; i < store->n; i++)
        *n_labels += store->index[i].label != store->index[i - 1].label;
    return QFZ_OK;
}

double qfz_arc_store_part(const qfz_arc_store *store)
{
    int64_t left = 0, all = 0;
    if (store->n_runs == 0) return store->n ? (double)store->next / (double)store->n : 1;
    for (int64_t i = 0; i < store->n_runs; i++) {
        const run *const r = &store->runs[i];
        left += r->end - r->next + r->n - r->at;
        all += r->end - r->begin;
    }
    return 1 - (double)left / (double)all;
}
