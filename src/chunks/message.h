/* SPDX-License-Identifier: MIT */
/* message.h - summaries and exteriors of chunks as bytes that travel between machines.
 *
 * A message is a head of 64-bit words and a payload.  The head has a checksum of all that follows
 * it, and says which chunk of which grid the message is of, under which rule.  A message may come
 * from anywhere: qfz_message_read() compares the head with the grid of this call, before the
 * payload is looked at. */
#ifndef QFZ_CHUNKS_MESSAGE_H
#define QFZ_CHUNKS_MESSAGE_H

#include "core/summary.h"
#include "core/tiling.h"

typedef enum qfz_message_kind { QFZ_MESSAGE_SUMMARY = 1, QFZ_MESSAGE_EXTERIOR } qfz_message_kind;

/* The caller's grid of chunks, checked. */
typedef struct qfz_grid {
    qfz_chunks given;
    qfz_rule rule;
    float *weights; /* what rule.weights points to, or NULL */
    qfz_kind kind;
    qfz_tiling tiling;
} qfz_grid;

/* The bytes of a payload, which follow each other: words, then packed bytes. */
typedef struct qfz_payload {
    const uint64_t *words;
    int64_t n_words;
    const void *packed; /* a multiple of 8 bytes */
    int64_t packed_bytes;
} qfz_payload;

qfz_status qfz_message_write(const qfz_grid *grid, int64_t row, int64_t column,
                             qfz_message_kind kind, const qfz_payload *payload, qfz_bytes *message,
                             qfz_error *err);

/* *words = a copy of the payload, of *n_words, which the caller frees.  QFZ_EARG: the message is
 * damaged, or of another chunk, grid, rule, kind or version. */
qfz_status qfz_message_read(const qfz_grid *grid, int64_t row, int64_t column,
                            qfz_message_kind kind, const qfz_bytes *message, uint64_t **words,
                            int64_t *n_words, qfz_error *err);

/* QFZ_EARG: the payload does not fit the chunk. */
qfz_status qfz_message_unfit(int64_t row, int64_t column, qfz_message_kind kind, qfz_error *err);

#endif
