/* SPDX-License-Identifier: MIT */
/* store.h - numbered pieces of bytes: in memory up to a limit, beyond it in a temporary file.  With
 * a journal attached, every piece is also appended to the journal, from which another process
 * resumes.
 *
 * Any thread may call, but no two threads use the same piece at a time, except for
 * qfz_store_look(). */
#ifndef QFZ_STITCH_STORE_H
#define QFZ_STITCH_STORE_H

#include "stitch/journal.h"

typedef struct qfz_store qfz_store;

enum { QFZ_STORE_JOURNALS = 1 << 15 };

/* Pieces 0..n_pieces-1, all absent.  The temporary file has no name and lies in folder; it is
 * created when it is needed and vanishes with the store. */
qfz_status qfz_store_open(qfz_store **store, int64_t n_pieces, int64_t memory_bytes,
                          const char *folder, qfz_error *err);
void qfz_store_close(qfz_store *store);

const char *qfz_store_folder(const qfz_store *store);

/* Adds the pieces of a journal, the last record of each.  If the journal is open for appending,
 * pieces that are put are appended.  check, or a journal for appending: damaged records are left
 * out. Borrowed.  Call it before any other thread uses the store. */
qfz_status qfz_store_attach(qfz_store *store, qfz_journal *journal, bool check, qfz_error *err);

/* Makes a piece absent that was found in a journal, as long as no other thread uses the store. */
void qfz_store_forget(qfz_store *store, int64_t piece);

/* Replaces the content of a piece by a copy of data. */
qfz_status qfz_store_put(qfz_store *store, int64_t piece, const void *data, int64_t bytes,
                         qfz_error *err);

/* The same without a copy: take_data was allocated by malloc(), and the store frees it, also on
 * failure. */
qfz_status qfz_store_give(qfz_store *store, int64_t piece, void *take_data, int64_t bytes,
                          qfz_error *err);

/* The same in parts: begin reserves the place of a piece of so many bytes, fill adds them from
 * first to last, and end makes the piece present and releases *filling, also on failure.  abandon
 * releases it without a piece; NULL is allowed. */
typedef struct qfz_store_filling qfz_store_filling;
qfz_status qfz_store_begin(qfz_store *store, int64_t piece, int64_t bytes,
                           qfz_store_filling **filling, qfz_error *err);
qfz_status qfz_store_fill(qfz_store_filling *filling, const void *data, int64_t bytes,
                          qfz_error *err);
qfz_status qfz_store_end(qfz_store_filling *take_filling, qfz_error *err);
void qfz_store_abandon(qfz_store_filling *take_filling);

/* Before qfz_store_look(): *bytes = the size of a piece; -1: it is absent.  QFZ_EIO if its checksum
 * in a journal is wrong. */
qfz_status qfz_store_check(qfz_store *store, int64_t piece, int64_t *bytes, qfz_error *err);

/* Copies some bytes of a piece from an offset on, which the piece has. */
qfz_status qfz_store_look(qfz_store *store, int64_t piece, int64_t offset, void *data,
                          int64_t bytes, qfz_error *err);

/* Reads a piece.  If the piece is in memory, *data points to it until the piece is put or dropped,
 * and *own is NULL; else *data = *own is new memory that the caller frees.  *data is NULL if the
 * piece is absent. */
qfz_status qfz_store_view(qfz_store *store, int64_t piece, const void **data, int64_t *bytes,
                          void **own, qfz_error *err);

/* Copies a piece into new memory that the caller frees; *data is NULL if the piece is absent. */
qfz_status qfz_store_get(qfz_store *store, int64_t piece, void **data, int64_t *bytes,
                         qfz_error *err);

bool qfz_store_has(qfz_store *store, int64_t piece);

/* Releases a piece that will not be read again in this run; its record in a journal stays. */
void qfz_store_drop(qfz_store *store, int64_t piece);

#endif
