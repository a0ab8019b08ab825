/* SPDX-License-Identifier: MIT */
/* mass_events.h - the mass events of boundary summaries of the area filter, on their way between
 * the store and a group.
 *
 * A box may have as many events as pixels, but a group reads them in their order and writes them in
 * their order.  So they lie in blocks, and memory holds one block of each list.
 *
 * The piece of such a summary in the store: a qfz_mass_head; the summary without events, packed;
 * all blocks, of which only the last one may be shorter. */
#ifndef QFZ_STITCH_MASS_EVENTS_H
#define QFZ_STITCH_MASS_EVENTS_H

#include "core/filter.h"
#include "core/ring.h"
#include "stitch/store.h"

enum { QFZ_MASS_BLOCK_MOST = 1024 };

/* Events of a block where the store has so much memory. */
int64_t qfz_mass_block(int64_t memory_bytes);

typedef struct qfz_mass_head {
    int64_t packed_bytes; /* of the summary without events */
    int64_t n, block;     /* all events, and those of a block */
} qfz_mass_head;

/* The events of a summary in the store. */
typedef struct qfz_mass_list {
    qfz_store *store;
    int64_t piece, offset; /* of the first block in the piece */
    int64_t n, block;
    qfz_ring ring;
} qfz_mass_list;

/* Reads the events of a list for one pass.  Failures are kept. */
typedef struct qfz_mass_reader {
    const qfz_mass_list *list;
    void *buffer; /* a block */
    qfz_status st;
    qfz_error *err;
} qfz_mass_reader;

qfz_status qfz_mass_reader_open(qfz_mass_reader *reader, const qfz_mass_list *list, qfz_error *err);
void qfz_mass_reader_close(qfz_mass_reader *reader);
bool qfz_mass_read(void *reader, int64_t from, qfz_masses *window); /* qfz_filter_read */

/* Whole blocks of the events of a group, in a temporary file. */
typedef struct qfz_mass_spool {
    const char *folder; /* borrowed */
    int64_t block;
    int64_t n; /* events */
    int file;  /* -1: none yet */
} qfz_mass_spool;

void qfz_mass_spool_close(qfz_mass_spool *spool);
qfz_status qfz_mass_spool_take(void *spool, qfz_masses *masses,
                               qfz_error *err); /* qfz_filter_full */

/* Puts a summary into the store: its events are those of the spool (NULL: none), then its own. */
qfz_status qfz_mass_put(qfz_store *store, int64_t piece, int64_t block, const qfz_summary *summary,
                        const qfz_rule *rule, const qfz_mass_spool *spool, qfz_error *err);

/* Reads all of a summary but its events.  QFZ_EIO: the piece is absent or damaged. */
qfz_status qfz_mass_view(qfz_store *store, int64_t piece, const qfz_rule *rule,
                         const qfz_ring *ring, qfz_summary *summary, qfz_mass_list *list,
                         qfz_error *err);

#endif
