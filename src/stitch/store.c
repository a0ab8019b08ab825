/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* O_TMPFILE */
#include "stitch/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

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

/* A file without a name; where the file system knows no such thing, one that loses it at once. */
static qfz_status open_file(qfz_store *store, qfz_error *err)
{
    if (store->file >= 0) return QFZ_OK;
    store->file = open(store->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (store->file >= 0) return QFZ_OK;
    char name[4096];
    const int length = snprintf(name, sizeof name, "%s/.qfz-XXXXXX", store->folder);
    if (length > 0 && (size_t)length < sizeof name) {
        store->file = mkstemp(name);
        if (store->file >= 0) (void)unlink(name);
    }
    if (store->file >= 0) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: no temporary file can be made there for what exceeds --memory: %s",
                    store->folder, strerror(errno));
}

static qfz_status write_all(const qfz_store *store, const char *data, int64_t bytes, int64_t offset,
                            qfz_error *err)
{
    while (bytes > 0) {
        const ssize_t wrote = pwrite(store->file, data, (size_t)bytes, offset);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            return qfz_fail(err, QFZ_EIO, "%s: writing the temporary file failed: %s", store->folder,
                            strerror(errno));
        data += wrote;
        offset += wrote;
        bytes -= wrote;
    }
    return QFZ_OK;
}

static qfz_status read_all(const qfz_store *store, char *data, int64_t bytes, int64_t offset,
                           qfz_error *err)
{
    while (bytes > 0) {
        const ssize_t got = pread(store->file, data, (size_t)bytes, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return qfz_fail(err, QFZ_EIO, "%s: reading the temporary file failed: %s", store->folder,
                            got < 0 ? strerror(errno) : "it is too short");
        data += got;
        offset += got;
        bytes -= got;
    }
    return QFZ_OK;
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
static qfz_status place(qfz_store *store, int64_t bytes, void **data, int64_t *offset, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    (void)pthread_mutex_lock(&store->lock);
    if (store->used_bytes + bytes <= store->memory_bytes) {
        st = qfz_alloc(data, bytes, 1, err);
        if (st == QFZ_OK) store->used_bytes += bytes;
    } else {
        st = open_file(store, err);
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
        QFZ_TRY(write_all(store, data, bytes, p.offset, err));
    (void)pthread_mutex_lock(&store->lock);
    store->pieces[number] = p;
    (void)pthread_mutex_unlock(&store->lock);
    return QFZ_OK;
}

qfz_status qfz_store_get(qfz_store *store, int64_t number, void **data, int64_t *bytes, qfz_error *err)
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
        const qfz_status st = read_all(store, copy, p.bytes, p.offset, err);
        if (st != QFZ_OK) {
            free(copy);
            return st;
        }
    }
    *data = copy;
    *bytes = p.bytes;
    return QFZ_OK;
}

int64_t qfz_store_spilled(const qfz_store *store)
{
    return store->file_bytes;
}
