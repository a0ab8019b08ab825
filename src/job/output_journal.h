/* SPDX-License-Identifier: MIT */
/* output_journal.h - finished output of tiles in a journal, from which the output files are written
 * at the end of the job.
 *
 * A GeoTIFF whose writer was killed is unusable; a journal stays usable up to its last complete
 * record.  Each tile has one record of each kind (a raster, or the region records). */
#ifndef QFZ_OUTPUT_JOURNAL_H
#define QFZ_OUTPUT_JOURNAL_H

#include "stitch/stitch.h"

typedef struct qfz_output_journal qfz_output_journal;

/* An empty index of n_tiles records of each kind 0..n_kinds-1. */
qfz_status qfz_output_journal_open(qfz_output_journal **output, int n_kinds, int64_t n_tiles,
                                   qfz_error *err);
void qfz_output_journal_close(qfz_output_journal *output); /* NULL is allowed */

/* Adds the complete records of a journal file to the index.  If the file is open for appending, all
 * later records go there.  Borrows the journal. */
qfz_status qfz_output_journal_attach(qfz_output_journal *output, qfz_journal *journal,
                                     qfz_error *err);

bool qfz_output_journal_has(const qfz_output_journal *output, int kind, int64_t tile);

/* Appends a record, compressed: a_bytes bytes of a, then b_bytes bytes of b (NULL: none).  Any
 * thread, one for each tile. */
qfz_status qfz_output_journal_put(qfz_output_journal *output, int kind, int64_t tile, const void *a,
                                  int64_t a_bytes, const void *b, int64_t b_bytes, qfz_error *err);

/* Reads a record that was put with the same sizes.  QFZ_EIO: its sizes differ. */
qfz_status qfz_output_journal_get(const qfz_output_journal *output, int kind, int64_t tile, void *a,
                                  int64_t a_bytes, void *b, int64_t b_bytes, qfz_error *err);

/* Appends a record of `bytes` bytes piece by piece, without compression: begin, add until all bytes
 * are in, end.  Reads `bytes` bytes of such a record from offset `at`. */
qfz_long_record qfz_output_journal_begin(qfz_output_journal *output, int kind, int64_t tile,
                                         int64_t bytes);
qfz_status qfz_output_journal_add(qfz_output_journal *output, qfz_long_record *record,
                                  const void *data, int64_t bytes, qfz_error *err);
qfz_status qfz_output_journal_end(qfz_output_journal *output, const qfz_long_record *record,
                                  qfz_error *err);
int64_t qfz_output_journal_bytes(const qfz_output_journal *output, int kind, int64_t tile);
qfz_status qfz_output_journal_read(const qfz_output_journal *output, int kind, int64_t tile,
                                   int64_t at, void *data, int64_t bytes, qfz_error *err);

#endif
