/* SPDX-License-Identifier: MIT */
#include "stitch/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"

/* The place of a piece that is not in memory: the number of a journal, or 0 for the temporary file,
 * and the offset in the file. */
enum { OFFSET_BITS = 48 };

typedef struct piece {
    void *data; /* NULL: in a file, or absent */
    uint64_t place;
    int64_t bytes; /* -1: absent */
} piece;

struct qfz_store {
    int64_t n_pieces;
    piece *pieces; /* each is used by one thread at a time */
    int64_t memory_bytes, used_bytes;
    char *folder;
    pthread_mutex_t lock; /* guards the next two */
    int file;             /* -1 until it is needed */
    int64_t file_bytes;
    qfz_journal **journals;
    uint64_t n_journals;
    uint64_t appends; /* 1 + index of the journal for appending; 0: none */
};

qfz_status qfz_store_open(qfz_store **out, int64_t n_pieces, int64_t memory_bytes,
                          const char *folder, qfz_error *err)
{
    qfz_store *store = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&store, 1, err));
    store->file = -1;
    store->n_pieces = n_pieces;
    store->memory_bytes = memory_bytes;
    (void)pthread_mutex_init(&store->lock, NULL);
    qfz_status st = QFZ_NEW(&store->pieces, n_pieces, err);
    if (st == QFZ_OK) {
        for (int64_t i = 0; i < n_pieces; i++)
            store->pieces[i] = (piece){.bytes = -1};
        store->folder = strdup(folder);
        if (!store->folder) st = qfz_fail(err, QFZ_ENOMEM, "out of memory");
    }
    if (st != QFZ_OK) {
        store->n_pieces = store->pieces ? n_pieces : 0;
        qfz_store_close(store);
        return st;
    }
    *out = store;
    return QFZ_OK;
}

void qfz_store_close(qfz_store *store)
{
    if (!store) return;
    for (int64_t i = 0; store->pieces && i < store->n_pieces; i++)
        free(store->pieces[i].data);
    if (store->file >= 0) (void)close(store->file);
    (void)pthread_mutex_destroy(&store->lock);
    free(store->pieces);
    free(store->journals);
    free(store->folder);
    free(store);
}

const char *qfz_store_folder(const qfz_store *store)
{
    return store->folder;
}

/* -------------------------------------------------------------------------------------- journals
 */
static uint64_t place_of(uint64_t journal, int64_t offset)
{
    return journal << OFFSET_BITS | (uint64_t)offset;
}

static int64_t offset_of(uint64_t place)
{
    return (int64_t)(place & ((UINT64_C(1) << OFFSET_BITS) - 1));
}

/* Records with keys beyond the pieces are ignored. */
static void found(int64_t key, int64_t offset, int64_t bytes, void *arg)
{
    qfz_store *const store = arg;
    if (key < 0 || key >= store->n_pieces) return;
    store->pieces[key] = (piece){.place = place_of(store->n_journals, offset), .bytes = bytes};
}

qfz_status qfz_store_attach(qfz_store *store, qfz_journal *journal, bool check, qfz_error *err)
{
    if (store->n_journals == QFZ_STORE_JOURNALS)
        return qfz_fail(err, QFZ_EARG, "more than %d journals", QFZ_STORE_JOURNALS);
    QFZ_TRY(qfz_realloc((void **)&store->journals, (int64_t)store->n_journals + 1,
                        sizeof(qfz_journal *), err));
    store->journals[store->n_journals++] = journal;
    if (qfz_journal_appends(journal)) store->appends = store->n_journals;
    return qfz_journal_scan(journal, check || qfz_journal_appends(journal), found, store, err);
}

void qfz_store_forget(qfz_store *store, int64_t number)
{
    store->pieces[number] = (piece){.bytes = -1};
}

/* ---------------------------------------------------------------------------------------- pieces
 *
 * Pieces have no common lock: all threads would take it some sixteen times per group. */
static void give_back(qfz_store *store, int64_t bytes)
{
#pragma omp atomic
    store->used_bytes -= bytes;
}

static bool take_room(qfz_store *store, int64_t bytes)
{
    int64_t used;
#pragma omp atomic capture
    used = store->used_bytes += bytes;
    if (used > store->memory_bytes) give_back(store, bytes);
    return used <= store->memory_bytes;
}

/* The record of a piece in a journal stays. */
void qfz_store_drop(qfz_store *store, int64_t number)
{
    piece *const p = &store->pieces[number];
    if (p->data) give_back(store, p->bytes);
    free(p->data);
    p->data = NULL;
    if (p->place >> OFFSET_BITS == 0) *p = (piece){.bytes = -1};
}

/* Reserves a place for a piece in the temporary file. */
static qfz_status find_place(qfz_store *store, piece *p, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    (void)pthread_mutex_lock(&store->lock);
    if (store->file < 0) st = qfz_temp_open(store->folder, &store->file, err);
    p->place = place_of(0, store->file_bytes);
    if (st == QFZ_OK) store->file_bytes += p->bytes;
    (void)pthread_mutex_unlock(&store->lock);
    return st;
}

/* p->data is NULL afterwards if the data did not stay in memory. */
static qfz_status keep(qfz_store *store, int64_t number, piece *p, void *data, qfz_error *err)
{
    if (store->appends) {
        int64_t offset;
        QFZ_TRY(qfz_journal_append(store->journals[store->appends - 1], number, data, p->bytes,
                                   &offset, err));
        p->place = place_of(store->appends, offset);
    }
    qfz_store_drop(store, number);
    if (take_room(store, p->bytes)) {
        p->data = data;
    } else if (!store->appends) {
        QFZ_TRY(find_place(store, p, err));
        QFZ_TRY(
            qfz_temp_write(store->file, store->folder, data, p->bytes, offset_of(p->place), err));
    }
    store->pieces[number] = *p;
    return QFZ_OK;
}

qfz_status qfz_store_give(qfz_store *store, int64_t number, void *take_data, int64_t bytes,
                          qfz_error *err)
{
    piece p = {.bytes = bytes};
    const qfz_status st = keep(store, number, &p, take_data, err);
    if (!p.data) free(take_data);
    return st;
}

qfz_status qfz_store_put(qfz_store *store, int64_t number, const void *data, int64_t bytes,
                         qfz_error *err)
{
    void *copy = NULL;
    QFZ_TRY(qfz_alloc(&copy, bytes, 1, err));
    if (bytes > 0) memcpy(copy, data, (size_t)bytes);
    return qfz_store_give(store, number, copy, bytes, err);
}

/* A piece that comes in parts, and where they go. */
struct qfz_store_filling {
    qfz_store *store;
    int64_t number;
    piece piece;          /* data NULL: not in memory */
    qfz_journal *journal; /* NULL: not there */
    qfz_long_record record;
    bool is_in_file; /* the temporary one */
    int64_t done;
};

/* Reserves the places of a piece: in the journal, if there is one, and in memory, or else in the
 * temporary file. */
static qfz_status find_places(qfz_store_filling *f, qfz_error *err)
{
    qfz_store *const store = f->store;
    piece *const p = &f->piece;
    if (store->appends) {
        f->journal = store->journals[store->appends - 1];
        f->record = qfz_journal_reserve(f->journal, f->number, p->bytes);
        p->place = place_of(store->appends, f->record.offset);
    }
    if (take_room(store, p->bytes)) {
        const qfz_status st = qfz_alloc(&p->data, p->bytes, 1, err);
        if (st != QFZ_OK) give_back(store, p->bytes);
        return st;
    }
    f->is_in_file = !f->journal;
    return f->is_in_file ? find_place(store, p, err) : QFZ_OK;
}

qfz_status qfz_store_begin(qfz_store *store, int64_t number, int64_t bytes, qfz_store_filling **out,
                           qfz_error *err)
{
    qfz_store_filling *f = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&f, 1, err));
    f->store = store;
    f->number = number;
    f->piece.bytes = bytes;
    const qfz_status st = find_places(f, err);
    if (st != QFZ_OK)
        free(f);
    else
        *out = f;
    return st;
}

qfz_status qfz_store_fill(qfz_store_filling *f, const void *data, int64_t bytes, qfz_error *err)
{
    const qfz_store *const store = f->store;
    const int64_t at = f->done;
    f->done += bytes;
    if (f->piece.data && bytes > 0) memcpy((char *)f->piece.data + at, data, (size_t)bytes);
    if (f->journal) return qfz_journal_fill(f->journal, &f->record, data, bytes, err);
    if (!f->is_in_file) return QFZ_OK;
    return qfz_temp_write(store->file, store->folder, data, bytes, offset_of(f->piece.place) + at,
                          err);
}

qfz_status qfz_store_end(qfz_store_filling *f, qfz_error *err)
{
    const qfz_status st = f->journal ? qfz_journal_seal(f->journal, &f->record, err) : QFZ_OK;
    if (st != QFZ_OK) {
        qfz_store_abandon(f);
        return st;
    }
    qfz_store_drop(f->store, f->number);
    f->store->pieces[f->number] = f->piece;
    free(f);
    return QFZ_OK;
}

void qfz_store_abandon(qfz_store_filling *f)
{
    if (!f) return;
    if (f->piece.data) give_back(f->store, f->piece.bytes);
    free(f->piece.data);
    free(f);
}

qfz_status qfz_store_check(qfz_store *store, int64_t number, int64_t *bytes, qfz_error *err)
{
    const piece p = store->pieces[number];
    const uint64_t journal = p.place >> OFFSET_BITS;
    *bytes = p.bytes;
    if (p.bytes < 0 || p.data || journal == 0) return QFZ_OK;
    return qfz_journal_check(store->journals[journal - 1], offset_of(p.place), p.bytes, err);
}

qfz_status qfz_store_look(qfz_store *store, int64_t number, int64_t offset, void *data,
                          int64_t bytes, qfz_error *err)
{
    const piece p = store->pieces[number];
    const uint64_t journal = p.place >> OFFSET_BITS;
    const int64_t at = offset_of(p.place) + offset;
    if (p.data) {
        memcpy(data, (const char *)p.data + offset, (size_t)bytes);
        return QFZ_OK;
    }
    if (journal > 0)
        return qfz_journal_read_some(store->journals[journal - 1], at, data, bytes, err);
    return qfz_temp_read(store->file, store->folder, data, bytes, at, err);
}

static qfz_status fetch(qfz_store *store, const piece *p, void *copy, qfz_error *err)
{
    const uint64_t journal = p->place >> OFFSET_BITS;
    if (journal > 0)
        return qfz_journal_read(store->journals[journal - 1], offset_of(p->place), copy, p->bytes,
                                err);
    return qfz_temp_read(store->file, store->folder, copy, p->bytes, offset_of(p->place), err);
}

qfz_status qfz_store_view(qfz_store *store, int64_t number, const void **data, int64_t *bytes,
                          void **own, qfz_error *err)
{
    const piece p = store->pieces[number];
    void *copy = NULL;
    *data = p.data;
    *bytes = p.bytes < 0 ? 0 : p.bytes;
    *own = NULL;
    if (p.bytes < 0 || p.data) return QFZ_OK;
    QFZ_TRY(qfz_alloc(&copy, p.bytes, 1, err));
    const qfz_status st = fetch(store, &p, copy, err);
    if (st != QFZ_OK) {
        free(copy);
        return st;
    }
    *data = *own = copy;
    return QFZ_OK;
}

qfz_status qfz_store_get(qfz_store *store, int64_t number, void **data, int64_t *bytes,
                         qfz_error *err)
{
    const void *there;
    void *copy = NULL;
    QFZ_TRY(qfz_store_view(store, number, &there, bytes, &copy, err));
    if (there && !copy) {
        QFZ_TRY(qfz_alloc(&copy, *bytes, 1, err));
        memcpy(copy, there, (size_t)*bytes);
    }
    *data = copy;
    return QFZ_OK;
}

bool qfz_store_has(qfz_store *store, int64_t number)
{
    return store->pieces[number].bytes >= 0;
}
