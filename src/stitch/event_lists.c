/* SPDX-License-Identifier: MIT */
#include "stitch/event_lists.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "stitch/pack.h"
#include "stitch/sound.h"
#include "stitch/stitch.h"

enum {
    BLOCK_LEAST = 16,
    BLOCKS_IN_MEMORY = 1 << 10 /* a block is a small part of the store's memory */
};

/* What a thread has at a time: a block of each member; the next events in order, of all members;
 * the group's own; and the block that goes to the store. */
enum { THREAD_BLOCKS = QFZ_FILTER_LISTS + 3 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t event_bytes(size_t value_bytes)
{
    return (int64_t)(2 * sizeof(uint32_t) + 2 * value_bytes);
}

size_t qfz_event_value_bytes(qfz_kind kind, const qfz_rule *rule)
{
    switch (kind) {
    case QFZ_FILTER: return sizeof(uint64_t);
    case QFZ_OMEGA: return qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    default: return 0;
    }
}

static int64_t most_of_block(size_t value_bytes)
{
    const int64_t n = QFZ_EVENT_BLOCK_BYTES / event_bytes(value_bytes);
    return n < BLOCK_LEAST ? BLOCK_LEAST : n;
}

int64_t qfz_event_block(int64_t memory_bytes, size_t value_bytes)
{
    const int64_t n = memory_bytes / BLOCKS_IN_MEMORY;
    return n < BLOCK_LEAST ? BLOCK_LEAST : least(n, most_of_block(value_bytes));
}

int64_t qfz_stitch_window_bytes(qfz_kind kind, const qfz_rule *rule)
{
    const size_t value_bytes = qfz_event_value_bytes(kind, rule);
    if (value_bytes == 0 || (kind == QFZ_OMEGA && !rule->omega)) return 0;
    return THREAD_BLOCKS * most_of_block(value_bytes) * event_bytes(value_bytes);
}

/* ---------------------------------------------------------------------------------------- blocks
 */
qfz_events qfz_events_of_masses(const qfz_masses *masses)
{
    return (qfz_events){.n = masses->n,
                        .level = masses->level,
                        .at = masses->at,
                        .first = masses->position,
                        .second = masses->mass};
}

qfz_events qfz_events_of_ranges(const qfz_ranges *ranges)
{
    return (qfz_events){.n = ranges->n,
                        .level = ranges->level,
                        .at = ranges->at,
                        .first = ranges->lo,
                        .second = ranges->hi};
}

/* The arrays of n events in a block. */
static qfz_events arrays_of(void *block, int64_t n, size_t value_bytes)
{
    uint32_t *const words = block;
    char *const values = (char *)(words + 2 * n);
    return (qfz_events){.n = n,
                        .level = words,
                        .at = words + n,
                        .first = values,
                        .second = values + (size_t)n * value_bytes};
}

/* Copies n events from event `from` on. */
static void fill_block(void *block, const qfz_events *events, int64_t from, int64_t n,
                       size_t value_bytes)
{
    const qfz_events to = arrays_of(block, n, value_bytes);
    const size_t at = (size_t)from * value_bytes, bytes = (size_t)n * value_bytes;
    memcpy(to.level, events->level + from, (size_t)n * sizeof *to.level);
    memcpy(to.at, events->at + from, (size_t)n * sizeof *to.at);
    memcpy(to.first, (const char *)events->first + at, bytes);
    memcpy(to.second, (const char *)events->second + at, bytes);
}

/* --------------------------------------------------------------------------------------- reading
 */
qfz_status qfz_event_reader_open(qfz_event_reader *reader, const qfz_event_list *list,
                                 qfz_error *err)
{
    *reader = (qfz_event_reader){.list = list, .err = err};
    return qfz_alloc(&reader->buffer, least(list->n, list->block),
                     (size_t)event_bytes(list->value_bytes), err);
}

void qfz_event_reader_close(qfz_event_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

/* Copies n events of a list, from event `from` on, which is the first one of a block. */
static qfz_status fetch(const qfz_event_list *list, int64_t from, int64_t n, void *block,
                        qfz_error *err)
{
    const int64_t each = event_bytes(list->value_bytes);
    const qfz_event_spool *const spool = list->spool;
    if (list->store)
        return qfz_store_look(list->store, list->piece, list->offset + from * each, block, n * each,
                              err);
    if (spool && from < spool->n)
        return qfz_temp_read(spool->file, spool->folder, block, n * each, from * each, err);
    fill_block(block, &list->rest, from - (spool ? spool->n : 0), n, list->value_bytes);
    return QFZ_OK;
}

/* Whether events are of ring pixels, in order, and none is below the last one. */
static bool are_sound(const qfz_events *events, int64_t n_ring, uint32_t *last)
{
    for (int64_t i = 0; i < events->n; i++) {
        if (events->at[i] >= n_ring || events->level[i] < *last) return false;
        *last = events->level[i];
    }
    return true;
}

bool qfz_event_read(qfz_event_reader *r, int64_t from, qfz_events *window)
{
    const qfz_event_list *const list = r->list;
    const int64_t n = least(list->n - from, list->block);
    *window = arrays_of(r->buffer, n, list->value_bytes);
    r->st = fetch(list, from, n, r->buffer, r->err);
    if (r->st == QFZ_OK && !are_sound(window, list->n_ring, &r->level))
        r->st = qfz_unsound(list->box, "boundary summary", r->err);
    return r->st == QFZ_OK;
}

bool qfz_event_read_masses(void *reader, int64_t from, qfz_masses *window)
{
    qfz_events events;
    const bool is_read = qfz_event_read(reader, from, &events);
    *window = (qfz_masses){.n = events.n,
                           .level = events.level,
                           .at = events.at,
                           .position = events.first,
                           .mass = events.second};
    return is_read;
}

/* --------------------------------------------------------------------------------------- writing
 */
void qfz_event_spool_close(qfz_event_spool *spool)
{
    if (spool->file >= 0) (void)close(spool->file);
    spool->file = -1;
}

static qfz_status take(qfz_event_spool *spool, const qfz_events *events, qfz_error *err)
{
    const int64_t each = event_bytes(spool->value_bytes);
    void *block = NULL;
    if (spool->file < 0) QFZ_TRY(qfz_temp_open(spool->folder, &spool->file, err));
    QFZ_TRY(qfz_alloc(&block, events->n, (size_t)each, err));
    fill_block(block, events, 0, events->n, spool->value_bytes);
    const qfz_status st =
        qfz_temp_write(spool->file, spool->folder, block, events->n * each, spool->n * each, err);
    spool->n += events->n;
    free(block);
    return st;
}

qfz_status qfz_event_spool_masses(void *spool, qfz_masses *masses, qfz_error *err)
{
    const qfz_events events = qfz_events_of_masses(masses);
    masses->n = 0;
    return take(spool, &events, err);
}

qfz_status qfz_event_spool_ranges(void *spool, qfz_ranges *ranges, qfz_error *err)
{
    const qfz_events events = qfz_events_of_ranges(ranges);
    ranges->n = 0;
    return take(spool, &events, err);
}

static qfz_status fill_blocks(qfz_store_filling *to, const qfz_event_list *list, qfz_error *err)
{
    const int64_t each = event_bytes(list->value_bytes);
    void *block = NULL;
    QFZ_TRY(qfz_alloc(&block, least(list->n, list->block), (size_t)each, err));
    qfz_status st = QFZ_OK;
    for (int64_t from = 0; from < list->n && st == QFZ_OK; from += list->block) {
        const int64_t n = least(list->n - from, list->block);
        st = fetch(list, from, n, block, err);
        if (st == QFZ_OK) st = qfz_store_fill(to, block, n * each, err);
    }
    free(block);
    return st;
}

static qfz_status put_list(qfz_store *store, int64_t piece, const qfz_summary *without,
                           const qfz_rule *rule, const qfz_event_list *list, qfz_error *err)
{
    void *packed = NULL;
    qfz_store_filling *to = NULL;
    qfz_event_head head = {.n = list->n, .block = list->block};
    QFZ_TRY(qfz_pack_summary(without, rule, &packed, &head.packed_bytes, err));
    const int64_t bytes =
        (int64_t)sizeof head + head.packed_bytes + list->n * event_bytes(list->value_bytes);
    qfz_status st = qfz_store_begin(store, piece, bytes, &to, err);
    if (st == QFZ_OK) st = qfz_store_fill(to, &head, sizeof head, err);
    if (st == QFZ_OK) st = qfz_store_fill(to, packed, head.packed_bytes, err);
    free(packed);
    if (st == QFZ_OK) st = fill_blocks(to, list, err);
    if (st == QFZ_OK) return qfz_store_end(to, err);
    qfz_store_abandon(to);
    return st;
}

qfz_status qfz_event_put(qfz_store *store, int64_t piece, int64_t block, const qfz_summary *summary,
                         qfz_kind kind, const qfz_rule *rule, const qfz_event_spool *spool,
                         qfz_error *err)
{
    qfz_summary without = *summary;
    qfz_event_list list = {.value_bytes = qfz_event_value_bytes(kind, rule),
                           .block = block,
                           .spool = spool,
                           .rest = kind == QFZ_FILTER ? qfz_events_of_masses(&summary->masses)
                                                      : qfz_events_of_ranges(&summary->ranges)};
    list.n = list.rest.n + (spool ? spool->n : 0);
    without.masses = (qfz_masses){0};
    without.ranges = (qfz_ranges){0};
    return put_list(store, piece, &without, rule, &list, err);
}

/* --------------------------------------------------------------------------------------- viewing
 */
/* Whether a piece of so many bytes has what its head says. */
static bool fits(const qfz_event_head *head, int64_t bytes, size_t value_bytes)
{
    const int64_t rest = bytes - (int64_t)sizeof *head, each = event_bytes(value_bytes);
    return head->packed_bytes >= 0 && head->packed_bytes <= rest && head->n >= 0 &&
           head->n <= rest / each && head->block > 0 && head->block <= most_of_block(value_bytes) &&
           rest == head->packed_bytes + head->n * each;
}

static qfz_status read_head(qfz_store *store, int64_t piece, const qfz_ring *ring,
                            size_t value_bytes, qfz_event_head *head, qfz_error *err)
{
    int64_t bytes;
    QFZ_TRY(qfz_store_check(store, piece, &bytes, err));
    if (bytes < 0) return qfz_fail(err, QFZ_EIO, "the summary of a tile is missing in the store");
    if (bytes < (int64_t)sizeof *head) return qfz_unsound(ring->box, "boundary summary", err);
    QFZ_TRY(qfz_store_look(store, piece, 0, head, sizeof *head, err));
    return fits(head, bytes, value_bytes) ? QFZ_OK
                                          : qfz_unsound(ring->box, "boundary summary", err);
}

qfz_status qfz_event_view(qfz_store *store, int64_t piece, qfz_kind kind, const qfz_rule *rule,
                          const qfz_ring *ring, qfz_summary *summary, qfz_event_list *list,
                          qfz_error *err)
{
    const size_t value_bytes = qfz_event_value_bytes(kind, rule);
    qfz_event_head head;
    qfz_summary found = {0};
    void *packed = NULL;
    QFZ_TRY(read_head(store, piece, ring, value_bytes, &head, err));
    QFZ_TRY(qfz_alloc(&packed, head.packed_bytes, 1, err));
    qfz_status st = qfz_store_look(store, piece, sizeof head, packed, head.packed_bytes, err);
    if (st == QFZ_OK) st = qfz_unpack_summary(&found, rule, packed, packed, head.packed_bytes, err);
    if (st == QFZ_OK) st = qfz_sound_summary(&found, rule, kind, ring, err);
    if (st == QFZ_OK && found.masses.n + found.ranges.n > 0)
        st = qfz_unsound(ring->box, "boundary summary", err);
    if (st != QFZ_OK) {
        free(packed);
        return st;
    }
    *summary = found;
    *list = (qfz_event_list){.value_bytes = value_bytes,
                             .n = head.n,
                             .block = head.block,
                             .n_ring = ring->n,
                             .box = ring->box,
                             .store = store,
                             .piece = piece,
                             .offset = (int64_t)sizeof head + head.packed_bytes};
    return QFZ_OK;
}
