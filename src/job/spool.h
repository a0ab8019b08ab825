/* SPDX-License-Identifier: MIT */
/* spool.h - finished output of tiles in a journal, from which the outputs are made at the end: a
 * GeoTIFF whose writer was killed is of no use, a journal is. */
#ifndef QFZ_SPOOL_H
#define QFZ_SPOOL_H

#include "stitch/stitch.h"

typedef struct qfz_spool qfz_spool;

/* For every tile a record of each kind 0..n_kinds-1, all absent. */
qfz_status qfz_spool_open(qfz_spool **spool, int n_kinds, int64_t n_tiles, qfz_error *err);
void qfz_spool_close(qfz_spool *spool); /* NULL is allowed */

/* What a journal holds is there from here on, as far as it is sound; where it may append, all that
 * is put goes there.  Borrowed. */
qfz_status qfz_spool_attach(qfz_spool *spool, qfz_journal *journal, qfz_error *err);

bool qfz_spool_has(const qfz_spool *spool, int kind, int64_t tile);

/* Bytes in two pieces (the second may be NULL), compressed.  Any thread, other tiles. */
qfz_status qfz_spool_put(qfz_spool *spool, int kind, int64_t tile, const void *a, int64_t a_bytes,
                         const void *b, int64_t b_bytes, qfz_error *err);

/* Exactly those bytes again. */
qfz_status qfz_spool_get(const qfz_spool *spool, int kind, int64_t tile, void *a, int64_t a_bytes,
                         void *b, int64_t b_bytes, qfz_error *err);

/* A record that is made and read bit by bit, as it is. */
qfz_long_record qfz_spool_begin(qfz_spool *spool, int kind, int64_t tile, int64_t bytes);
qfz_status qfz_spool_add(qfz_spool *spool, qfz_long_record *record, const void *data, int64_t bytes,
                         qfz_error *err);
qfz_status qfz_spool_end(qfz_spool *spool, const qfz_long_record *record, qfz_error *err);
int64_t qfz_spool_bytes(const qfz_spool *spool, int kind, int64_t tile);
qfz_status qfz_spool_read(const qfz_spool *spool, int kind, int64_t tile, int64_t at, void *data,
                          int64_t bytes, qfz_error *err);

#endif
