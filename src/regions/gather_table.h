/* SPDX-License-Identifier: MIT */
/* gather_table.h - the records of one thread: a hash table of limited size, and its order. */
#ifndef QFZ_GATHER_TABLE_H
#define QFZ_GATHER_TABLE_H

#include "regions/gather.h"

typedef struct qfz_gather_place {
    uint64_t key; /* one word of the key, while the table is sorted */
    int64_t at;   /* number of the record */
} qfz_gather_place;

typedef struct qfz_gather_table {
    const qfz_gather_format *format; /* borrowed */
    uint64_t *records;
    int64_t n, room;
    uint32_t *slots;                 /* number of a record + 1; 0: free.  NULL: all keys differ */
    int64_t n_slots;                 /* a power of two, more than 2 n */
    qfz_gather_place *order, *spare; /* NULL until the table is sorted */
} qfz_gather_table;

qfz_status qfz_gather_table_init(qfz_gather_table *table, const qfz_gather_format *format,
                                 int64_t bytes, qfz_error *err);
void qfz_gather_table_fini(qfz_gather_table *table); /* a zeroed table is allowed */

/* As qfz_gather_find().  *record = NULL: the table is full, and the key is not in it. */
qfz_status qfz_gather_table_find(qfz_gather_table *table, const uint64_t *key, uint64_t **record,
                                 bool *is_new, qfz_error *err);

/* Sorts by key: record number order[i].at is the i-th. */
qfz_status qfz_gather_table_sort(qfz_gather_table *table, qfz_error *err);

/* The i-th record of a sorted table. */
static inline const uint64_t *qfz_gather_table_sorted(const qfz_gather_table *table, int64_t i)
{
    return table->records + table->order[i].at * table->format->words;
}

/* Where all keys differ: adds a record; there is room. */
void qfz_gather_table_append(qfz_gather_table *table, const uint64_t *record);

void qfz_gather_table_clear(qfz_gather_table *table);

#endif
