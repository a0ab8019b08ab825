/* SPDX-License-Identifier: MIT */
#include "stitch/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "temp_file.h"

typedef struct piece {
    void *data;     /* NULL: in the file, or absent */
    int64_t offset; /* in the file */
    int64_t bytes;  /* -1: absent */
} piece;

struct qfz_store {
    pthread_mutex_t lock;
    int64_t n_pieces;
    piece *pieces;
    int64_t memory_bytes, used_bytes;
    char *folder;
    int file; /* -1 until it is needed */
    int64_t file_bytes;
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
    free(store->folder);
    free(store);
}

void qfz_store_drop(qfz_store *store, int64_t number)
{
    (void)pthread_mutex_lock(&store->lock);
    piece *const p = &store->pieces[number];
    if (p->data) store->used_bytes -= p->bytes;
    free(p->data);
    *p = (piece){.bytes = -1};
    (void)pthread_mutex_unlock(&store->lock);
}

/* Decides where a piece goes: into memory (*data is allocated) or into the file (*offset). */
static qfz_status place(qfz_store *store, int64_t bytes, void **data, int64_t *offset,
                        qfz_error *err)
{
    qfz_status st = QFZ_OK;
    (void)pthread_mutex_lock(&store->lock);
    if (store->used_bytes + bytes <= store->memory_bytes) {
        st = qfz_alloc(data, bytes, 1, err);
        if (st == QFZ_OK) store->used_bytes += bytes;
    } else {
        if (store->file < 0) st = qfz_temp_open(store->folder, &store->file, err);
        *offset = store->file_bytes;
        if (st == QFZ_OK) store->file_bytes += bytes;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return st;
}

qfz_status qfz_store_put(qfz_store *store, int64_t number, const void *data, int64_t bytes,
                         qfz_error *err)
{
    qfz_store_drop(store, number);
    piece p = {.bytes = bytes};
    QFZ_TRY(place(store, bytes, &p.data, &p.offset, err));
    if (p.data)
        memcpy(p.data, data, (size_t)bytes);
    else
        QFZ_TRY(qfz_temp_write(store->file, store->folder, data, bytes, p.offset, err));
    (void)pthread_mutex_lock(&store->lock);
    store->pieces[number] = p;
    (void)pthread_mutex_unlock(&store->lock);
    return QFZ_OK;
}

qfz_status qfz_store_get(qfz_store *store, int64_t number, void **data, int64_t *bytes,
                         qfz_error *err)
{
    (void)pthread_mutex_lock(&store->lock);
    const piece p = store->pieces[number];
    (void)pthread_mutex_unlock(&store->lock);
    *data = NULL;
    *bytes = 0;
    if (p.bytes < 0) return QFZ_OK;
    void *copy = NULL;
    QFZ_TRY(qfz_alloc(&copy, p.bytes, 1, err));
    if (p.data) {
        memcpy(copy, p.data, (size_t)p.bytes);
    } else {
        const qfz_status st =
            qfz_temp_read(store->file, store->folder, copy, p.bytes, p.offset, err);
        if (st != QFZ_OK) {
            free(copy);
            return st;
        }
    }
    *data = copy;
    *bytes = p.bytes;
    return QFZ_OK;
}
