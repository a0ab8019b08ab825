/* SPDX-License-Identifier: MIT */
/* gather.h - records with keys, gathered by several threads in any order, then read in ascending
 * order of keys, those of equal keys added up.
 *
 * A record is a row of 64-bit words that begins with its key.  Each thread has a hash table of
 * records; a table that is full is sorted and written to a temporary file as a run, and all runs
 * are merged in the end.  So any number of records passes through the memory given.  Adding records
 * must not depend on the order; then neither do the results. */
#ifndef QFZ_GATHER_H
#define QFZ_GATHER_H

#include "core/status.h"

enum { QFZ_KEY_WORDS_MAX = 2 };

typedef struct qfz_gather_format {
    int words;     /* of a record */
    int key_words; /* of them, its key: compared as unsigned numbers, the first word first */

    /* Of equal keys.  NULL: all keys differ, and records come by put() alone. */
    void (*add)(void *arg, uint64_t *into, const uint64_t *more);
    void *arg;
} qfz_gather_format;

typedef struct qfz_gather qfz_gather;

/* bytes: of memory for all threads together.  folder: of temporary files; borrowed. */
qfz_status qfz_gather_open(qfz_gather **gather, const qfz_gather_format *format, int n_threads,
                           int64_t bytes, const char *folder, qfz_error *err);
void qfz_gather_close(qfz_gather *gather); /* NULL is allowed */

/* *record = the thread's record of this key, valid until the thread's next call.  A new one
 * (*is_new) has its key, and zeros. */
qfz_status qfz_gather_find(qfz_gather *gather, int thread, const uint64_t *key, uint64_t **record,
                           bool *is_new, qfz_error *err);

/* Adds a whole record, of qfz_gather_words() words. */
qfz_status qfz_gather_put(qfz_gather *gather, int thread, const uint64_t *record, qfz_error *err);
int qfz_gather_words(const qfz_gather *gather);

/* After the last find() or put() of all threads. */
qfz_status qfz_gather_begin_reading(qfz_gather *gather, qfz_error *err);

/* *n = the number of different keys.  Before the first next(); where records may have equal keys,
 * reads all once more than without it. */
qfz_status qfz_gather_count(qfz_gather *gather, int64_t *n, qfz_error *err);

/* *record = the next record, valid until the next call; NULL after the last one. */
qfz_status qfz_gather_next(qfz_gather *gather, const uint64_t **record, qfz_error *err);

/* A number between 0 and 1: the part of the records that next() has read. */
double qfz_gather_part(const qfz_gather *gather);

/* Some records in ascending order of keys, as a thread takes them.  All 0 before the first take().
 */
typedef struct qfz_gather_some {
    int64_t number; /* 0, 1, ... in the order of keys */
    int64_t n;      /* records, perhaps none */
    uint64_t *records;
    double part; /* of all records, up to these; between 0 and 1 */

    /* Of take(). */
    int64_t room;
    struct qfz_gather_run *runs;
    struct qfz_gather_head *heap;
} qfz_gather_some;

void qfz_gather_some_fini(qfz_gather_some *some);

/* Takes the next records that no thread has taken; *more = false if there are none.  Any thread, at
 * any time: threads merge records that are in memory beside each other.  Not together with next().
 */
qfz_status qfz_gather_take(qfz_gather *gather, qfz_gather_some *some, bool *more, qfz_error *err);

#endif
