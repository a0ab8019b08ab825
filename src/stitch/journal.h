/* SPDX-License-Identifier: MIT */
/* journal.h - records of bytes in a file, each with a key and checksums.
 *
 * Records are only appended.  Whatever ended the process that wrote them, and whatever became of
 * the file since, those that are whole are found again, and those that are not are not: a scan
 * goes on behind damage at the next record that is sound. */
#ifndef QFZ_STITCH_JOURNAL_H
#define QFZ_STITCH_JOURNAL_H

#include "core/status.h"

typedef struct qfz_journal qfz_journal;

/* For reading, or for appending too: then the file is made if it is not there, and refused
 * (QFZ_EARG) while another process appends to it. */
qfz_status qfz_journal_open(qfz_journal **journal, const char *path, bool append, qfz_error *err);
void qfz_journal_close(qfz_journal *journal); /* NULL is allowed */

bool qfz_journal_appends(const qfz_journal *journal);

/* Calls found for every record in the order of the file; of two with one key the later counts.
 * check: records whose bytes are damaged are left out.  Without, qfz_journal_read() finds them, and
 * records behind them may be missed; so whoever may append and checks puts damaged records out of
 * the way, and cuts off what is torn at the end. */
typedef void (*qfz_journal_found)(int64_t key, int64_t offset, int64_t bytes, void *arg);
qfz_status qfz_journal_scan(qfz_journal *journal, bool check, qfz_journal_found found, void *arg,
                            qfz_error *err);

/* Any thread.  *offset is where the bytes lie. */
qfz_status qfz_journal_append(qfz_journal *journal, int64_t key, const void *data, int64_t bytes,
                              int64_t *offset, qfz_error *err);

/* A long record: its place is kept, it is filled from its beginning to its end, and it counts from
 * the call of seal on. */
typedef struct qfz_long_record {
    int64_t key, offset, bytes;
    int64_t filled;
    uint32_t crc;
} qfz_long_record;
qfz_long_record qfz_journal_reserve(qfz_journal *journal, int64_t key, int64_t bytes);
qfz_status qfz_journal_fill(qfz_journal *journal, qfz_long_record *record, const void *data,
                            int64_t bytes, qfz_error *err);
qfz_status qfz_journal_seal(qfz_journal *journal, const qfz_long_record *record, qfz_error *err);

/* Reads a record's bytes back; QFZ_EIO if they are not what was written. */
qfz_status qfz_journal_read(qfz_journal *journal, int64_t offset, void *data, int64_t bytes,
                            qfz_error *err);

/* Reads some of them, of a record that a scan has checked. */
qfz_status qfz_journal_read_some(qfz_journal *journal, int64_t offset, void *data, int64_t bytes,
                                 qfz_error *err);

/* What was appended is on the disk when it returns. */
qfz_status qfz_journal_sync(qfz_journal *journal, qfz_error *err);

#endif
