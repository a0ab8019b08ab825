/* SPDX-License-Identifier: MIT */
/* gather_pieces.h - sorted tables, merged by several threads: keys divide all records into pieces,
 * and each thread merges one piece after the other. */
#ifndef QFZ_GATHER_PIECES_H
#define QFZ_GATHER_PIECES_H

#include "regions/gather_merge.h"

typedef struct qfz_gather_pieces {
    const qfz_gather_format *format; /* borrowed, as the tables */
    const qfz_gather_table *tables;
    int n_tables;
    uint64_t *bounds; /* n - 1 keys: piece i has those before bound i that no earlier piece has */
    int64_t n;        /* pieces */
} qfz_gather_pieces;

/* The tables are sorted. */
qfz_status qfz_gather_pieces_open(qfz_gather_pieces *pieces, const qfz_gather_format *format,
                                  const qfz_gather_table *tables, int n_tables, qfz_error *err);
void qfz_gather_pieces_close(qfz_gather_pieces *pieces); /* all 0 is allowed */

/* Merges the records of a piece, perhaps none, into some.  Any thread. */
qfz_status qfz_gather_pieces_merge(const qfz_gather_pieces *pieces, int64_t piece,
                                   qfz_gather_some *some, qfz_error *err);

#endif
