/* SPDX-License-Identifier: MIT */
/* event_lists.h - the events of boundary summaries, on their way between the store and a group:
 * mass events of the area filter, range events of (alpha, omega).
 *
 * A box may have as many events as pixels, but a group reads them in their order and writes them in
 * their order.  So they lie in blocks, and memory holds one block of each list.
 *
 * The piece of such a summary in the store: a qfz_event_head; the summary without events, packed;
 * all blocks, of which only the last one may be shorter. */
#ifndef QFZ_STITCH_EVENT_LISTS_H
#define QFZ_STITCH_EVENT_LISTS_H

#include "core/filter.h"
#include "core/ring.h"
#include "stitch/store.h"

enum { QFZ_EVENT_BLOCK_BYTES = 24 << 10 /* at most, where this is a few events */ };

/* Events ascending by level, with two values of value_bytes each: position and mass, or the ends of
 * a range. */
typedef struct qfz_events {
    int64_t n;
    uint32_t *level, *at;
    void *first, *second;
} qfz_events;

qfz_events qfz_events_of_masses(const qfz_masses *masses);
qfz_events qfz_events_of_ranges(const qfz_ranges *ranges);

/* Bytes of each value; 0: summaries of this kind have no events. */
size_t qfz_event_value_bytes(qfz_kind kind, const qfz_rule *rule);

/* Events of a block where the store has so much memory. */
int64_t qfz_event_block(int64_t memory_bytes, size_t value_bytes);

typedef struct qfz_event_head {
    int64_t packed_bytes; /* of the summary without events */
    int64_t n, block;     /* all events, and those of a block */
} qfz_event_head;

/* Whole blocks of events in a temporary file. */
typedef struct qfz_event_spool {
    const char *folder; /* borrowed */
    size_t value_bytes;
    int64_t block;
    int64_t n; /* events */
    int file;  /* -1: none yet */
} qfz_event_spool;

void qfz_event_spool_close(qfz_event_spool *spool);

/* Move all events to the spool, which are a block: full() of a pass (core/filter.h, cpu/omega.h).
 */
qfz_status qfz_event_spool_masses(void *spool, qfz_masses *masses, qfz_error *err);
qfz_status qfz_event_spool_ranges(void *spool, qfz_ranges *ranges, qfz_error *err);

/* The events of a summary in the store; or those of a spool, then those in memory. */
typedef struct qfz_event_list {
    size_t value_bytes;
    int64_t n, block;
    int64_t n_ring; /* events are of ring pixels below it */
    qfz_box box;

    qfz_store *store;      /* NULL: a spool */
    int64_t piece, offset; /* of the first block in the piece */

    const qfz_event_spool *spool;
    qfz_events rest;
} qfz_event_list;

/* Reads the events of a list for one pass.  Failures are kept. */
typedef struct qfz_event_reader {
    const qfz_event_list *list;
    void *buffer;   /* a block */
    uint32_t level; /* the last one read */
    qfz_status st;
    qfz_error *err;
} qfz_event_reader;

qfz_status qfz_event_reader_open(qfz_event_reader *reader, const qfz_event_list *list,
                                 qfz_error *err);
void qfz_event_reader_close(qfz_event_reader *reader);

/* Reads events from number `from` on, one at least: *window is valid until the next call.  False: a
 * failure. */
bool qfz_event_read(qfz_event_reader *reader, int64_t from, qfz_events *window);
bool qfz_event_read_masses(void *reader, int64_t from, qfz_masses *window); /* qfz_filter_read */

/* Puts a summary into the store: its events are those of the spool (NULL: none), then its own. */
qfz_status qfz_event_put(qfz_store *store, int64_t piece, int64_t block, const qfz_summary *summary,
                         qfz_kind kind, const qfz_rule *rule, const qfz_event_spool *spool,
                         qfz_error *err);

/* Reads all of a summary but its events.  QFZ_EIO: the piece is absent or damaged. */
qfz_status qfz_event_view(qfz_store *store, int64_t piece, qfz_kind kind, const qfz_rule *rule,
                          const qfz_ring *ring, qfz_summary *summary, qfz_event_list *list,
                          qfz_error *err);

#endif
