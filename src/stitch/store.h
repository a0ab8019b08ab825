/* SPDX-License-Identifier: MIT */
/* store.h - numbered pieces of bytes, in memory up to a limit, beyond it in a temporary file; or
 * all of them in a journal too, which another process can take up.
 *
 * Any thread may call, but no two about the same piece at a time. */
#ifndef QFZ_STITCH_STORE_H
#define QFZ_STITCH_STORE_H

#include "stitch/journal.h"

typedef struct qfz_store qfz_store;

enum { QFZ_STORE_JOURNALS = 1 << 15 };

/* Pieces 0..n_pieces-1, all absent.  The file has no name and lies in folder; it is made when it
 * is needed and goes with the store. */
qfz_status qfz_store_open(qfz_store **store, int64_t n_pieces, int64_t memory_bytes,
                          const char *folder, qfz_error *err);
void qfz_store_close(qfz_store *store);

/* The journal's pieces, of which the last counts, are in the store from here on; if it may append,
 * they are checked, and what is put goes there.  Borrowed.  Before any thread uses the store. */
qfz_status qfz_store_attach(qfz_store *store, qfz_journal *journal, qfz_error *err);

/* Copies bytes in; what the piece held before is dropped. */
qfz_status qfz_store_put(qfz_store *store, int64_t piece, const void *data, int64_t bytes,
                         qfz_error *err);

/* The same, of malloc()ed bytes that are the store's from here on, whatever comes of it. */
qfz_status qfz_store_give(qfz_store *store, int64_t piece, void *take_data, int64_t bytes,
                          qfz_error *err);

/* A piece where it lies in memory, good until it is put or dropped, *own being NULL; else in *own,
 * new memory that the caller frees.  *data = NULL if it is absent. */
qfz_status qfz_store_view(qfz_store *store, int64_t piece, const void **data, int64_t *bytes,
                          void **own, qfz_error *err);

/* Copies a piece out, into new memory that the caller frees; *data = NULL if it is absent. */
qfz_status qfz_store_get(qfz_store *store, int64_t piece, void **data, int64_t *bytes,
                         qfz_error *err);

bool qfz_store_has(qfz_store *store, int64_t piece);

/* Nobody will ask again, unless after a resumption: a piece in a journal stays there. */
void qfz_store_drop(qfz_store *store, int64_t piece);

#endif
