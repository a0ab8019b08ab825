/* SPDX-License-Identifier: MIT */
/* journal.h - records of bytes in a file, each with a key and checksums.
 *
 * Records are only appended.  A scan finds every record that is complete and undamaged, however the
 * writing process ended and whatever happened to the file since: behind damage it continues at the
 * next sound record. */
#ifndef QFZ_STITCH_JOURNAL_H
#define QFZ_STITCH_JOURNAL_H

#include "core/status.h"

typedef struct qfz_journal qfz_journal;

/* Opens a journal for reading; with append also for appending: the file is created if it does not
 * exist, and QFZ_EARG is returned while another process appends to it. */
qfz_status qfz_journal_open(qfz_journal **journal, const char *path, bool append, qfz_error *err);
void qfz_journal_close(qfz_journal *journal); /* NULL is allowed */

bool qfz_journal_appends(const qfz_journal *journal);

/* Calls found for every record in the order of the file; of two records with one key the later one
 * counts.  With check, records with damaged bytes are left out, and if the journal is open for
 * appending they are disabled and an incomplete record at the end is cut off.  Without check,
 * qfz_journal_read() detects damaged bytes, and sound records behind them may be missed. */
typedef void (*qfz_journal_found)(int64_t key, int64_t offset, int64_t bytes, void *arg);
qfz_status qfz_journal_scan(qfz_journal *journal, bool check, qfz_journal_found found, void *arg,
                            qfz_error *err);

/* Appends a record; *offset is the offset of its bytes in the file.  Any thread. */
qfz_status qfz_journal_append(qfz_journal *journal, int64_t key, const void *data, int64_t bytes,
                              int64_t *offset, qfz_error *err);

/* A long record: reserve allocates its place in the file, fill writes its bytes from first to last,
 * and seal makes it valid. */
typedef struct qfz_long_record {
    int64_t key, offset, bytes;
    int64_t filled;
    uint32_t crc;
} qfz_long_record;
qfz_long_record qfz_journal_reserve(qfz_journal *journal, int64_t key, int64_t bytes);
qfz_status qfz_journal_fill(qfz_journal *journal, qfz_long_record *record, const void *data,
                            int64_t bytes, qfz_error *err);
qfz_status qfz_journal_seal(qfz_journal *journal, const qfz_long_record *record, qfz_error *err);

/* Reads the bytes of a record; QFZ_EIO if their checksum is wrong. */
qfz_status qfz_journal_read(qfz_journal *journal, int64_t offset, void *data, int64_t bytes,
                            qfz_error *err);

/* QFZ_EIO if the checksum of a record's bytes is wrong. */
qfz_status qfz_journal_check(qfz_journal *journal, int64_t offset, int64_t bytes, qfz_error *err);

/* Reads some bytes of a record that a scan or qfz_journal_check() has checked. */
qfz_status qfz_journal_read_some(qfz_journal *journal, int64_t offset, void *data, int64_t bytes,
                                 qfz_error *err);

/* Returns when all appended records are on the disk. */
qfz_status qfz_journal_sync(qfz_journal *journal, qfz_error *err);

#endif
