/* SPDX-License-Identifier: MIT */
/* gather_merge.h - sorted runs of records, merged: records come in ascending order of keys, those
 * of equal keys added up. */
#ifndef QFZ_GATHER_MERGE_H
#define QFZ_GATHER_MERGE_H

#include "regions/gather_table.h"

typedef struct qfz_gather_run qfz_gather_run;
typedef struct qfz_gather_head qfz_gather_head;

/* Sorted records of different keys: in a table, or in a file. */
struct qfz_gather_run {
    const qfz_gather_table *table; /* NULL: in the file */
    int64_t begin, n_all;          /* in the file, in bytes; its records there */
    int64_t offset;                /* of the next record to be read, in bytes */
    int64_t left;                  /* records that are not read yet */
    uint64_t *buffer;
    int64_t at, n; /* in the table, or in the buffer: the current record and the end */
};

/* A run in the heap, with the key of its current record; words that keys do not have are 0. */
struct qfz_gather_head {
    uint64_t key[QFZ_KEY_WORDS_MAX];
    qfz_gather_run *run;
};

typedef struct qfz_gather_merge {
    const qfz_gather_format *format; /* borrowed, as all that follow */
    int file;
    const char *folder;    /* of the file, for messages */
    int64_t buffer_n;      /* records that fit into the buffer of a run */
    qfz_gather_head *heap; /* the run with the least key first; has room for all runs */
    int64_t n_heap;
    int64_t n_read; /* records that next() has gone past */
} qfz_gather_merge;

int qfz_gather_compare(const qfz_gather_format *format, const uint64_t *a, const uint64_t *b);

/* Begins with the current record of each run in a table, and the first one of each run in the file.
 */
qfz_status qfz_gather_merge_begin(qfz_gather_merge *merge, qfz_gather_run *runs, int64_t n,
                                  qfz_error *err);

/* Copies the next record to *record; *more = false after the last one. */
qfz_status qfz_gather_merge_next(qfz_gather_merge *merge, uint64_t *record, bool *more,
                                 qfz_error *err);

/* Room for so many words. */
qfz_status qfz_gather_some_reserve(qfz_gather_some *some, int64_t words, qfz_error *err);

/* The next records, at most n, for which there is room. */
qfz_status qfz_gather_merge_some(qfz_gather_merge *merge, int64_t n, qfz_gather_some *some,
                                 qfz_error *err);

#endif
