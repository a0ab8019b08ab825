/* SPDX-License-Identifier: MIT */
#include "stitch/mass_events.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "stitch/pack.h"
#include "stitch/sound.h"
#include "stitch/stitch.h"

enum {
    EVENT_BYTES = 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t),
    BLOCK_LEAST = 16,
    BLOCKS_IN_MEMORY = 1 << 10 /* a block is a small part of the store's memory */
};

int64_t qfz_mass_block(int64_t memory_bytes)
{
    const int64_t n = memory_bytes / BLOCKS_IN_MEMORY;
    return n < BLOCK_LEAST ? BLOCK_LEAST : n > QFZ_MASS_BLOCK_MOST ? QFZ_MASS_BLOCK_MOST : n;
}

int64_t qfz_stitch_window_bytes(void)
{
    return QFZ_FILTER_LISTS * QFZ_MASS_BLOCK_MOST * (int64_t)EVENT_BYTES;
}

/* ---------------------------------------------------------------------------------------- blocks
 */
/* The arrays of n events in a block. */
static qfz_masses arrays_of(void *block, int64_t n)
{
    uint64_t *const wide = block;
    uint32_t *const narrow = (uint32_t *)(wide + 2 * n);
    return (qfz_masses){
        .n = n, .position = wide, .mass = wide + n, .level = narrow, .at = narrow + n};
}

/* Copies n events from event `first` on. */
static void fill_block(void *block, const qfz_masses *from, int64_t first, int64_t n)
{
    const qfz_masses to = arrays_of(block, n);
    memcpy(to.position, from->position + first, (size_t)n * sizeof *to.position);
    memcpy(to.mass, from->mass + first, (size_t)n * sizeof *to.mass);
    memcpy(to.level, from->level + first, (size_t)n * sizeof *to.level);
    memcpy(to.at, from->at + first, (size_t)n * sizeof *to.at);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --------------------------------------------------------------------------------------- reading
 */
qfz_status qfz_mass_reader_open(qfz_mass_reader *reader, const qfz_mass_list *list, qfz_error *err)
{
    *reader = (qfz_mass_reader){.list = list, .err = err};
    return qfz_alloc(&reader->buffer, least(list->n, list->block), EVENT_BYTES, err);
}

void qfz_mass_reader_close(qfz_mass_reader *reader)
{
    free(reader->buffer);
    reader->buffer = NULL;
}

static bool are_on_ring(const qfz_masses *masses, int64_t n_ring)
{
    for (int64_t i = 0; i < masses->n; i++)
        if (masses->at[i] >= n_ring) return false;
    return true;
}

bool qfz_mass_read(void *arg, int64_t from, qfz_masses *window)
{
    qfz_mass_reader *const r = arg;
    const qfz_mass_list *const list = r->list;
    const int64_t n = least(list->n - from, list->block);
    *window = arrays_of(r->buffer, n);
    r->st = qfz_store_look(list->store, list->piece, list->offset + from * EVENT_BYTES, r->buffer,
                           n * EVENT_BYTES, r->err);
    if (r->st == QFZ_OK && !are_on_ring(window, list->ring.n))
        r->st = qfz_unsound(list->ring.box, "boundary summary", r->err);
    return r->st == QFZ_OK;
}

/* --------------------------------------------------------------------------------------- writing
 */
void qfz_mass_spool_close(qfz_mass_spool *spool)
{
    if (spool->file >= 0) (void)close(spool->file);
    spool->file = -1;
}

qfz_status qfz_mass_spool_take(void *arg, qfz_masses *masses, qfz_error *err)
{
    qfz_mass_spool *const spool = arg;
    void *block = NULL;
    if (spool->file < 0) QFZ_TRY(qfz_temp_open(spool->folder, &spool->file, err));
    QFZ_TRY(qfz_alloc(&block, masses->n, EVENT_BYTES, err));
    fill_block(block, masses, 0, masses->n);
    const qfz_status st = qfz_temp_write(spool->file, spool->folder, block, masses->n * EVENT_BYTES,
                                         spool->n * EVENT_BYTES, err);
    spool->n += masses->n;
    masses->n = 0;
    free(block);
    return st;
}

/* The parts of a piece, one after the other. */
typedef struct parts {
    qfz_mass_head head;
    const void *packed;
    const qfz_mass_spool *spool;
    const qfz_masses *masses;
    int64_t n_spool;
    void *block;
    int64_t n_given;  /* parts */
    int64_t n_events; /* of them */
} parts;

static qfz_status next_block(parts *p, int64_t *bytes, qfz_error *err)
{
    const int64_t from = p->n_events, n = least(p->head.n - from, p->head.block);
    *bytes = n * EVENT_BYTES;
    p->n_events += n;
    if (from < p->n_spool)
        return qfz_temp_read(p->spool->file, p->spool->folder, p->block, *bytes, from * EVENT_BYTES,
                             err);
    fill_block(p->block, p->masses, from - p->n_spool, n);
    return QFZ_OK;
}

static qfz_status next_part(void *arg, const void **data, int64_t *bytes, qfz_error *err)
{
    enum { HEAD = 0, PACKED };
    parts *const p = arg;
    switch (p->n_given++) {
    case HEAD:
        *data = &p->head;
        *bytes = sizeof p->head;
        return QFZ_OK;
    case PACKED:
        *data = p->packed;
        *bytes = p->head.packed_bytes;
        return QFZ_OK;
    default: *data = p->block; return next_block(p, bytes, err);
    }
}

qfz_status qfz_mass_put(qfz_store *store, int64_t piece, int64_t block, const qfz_summary *summary,
                        const qfz_rule *rule, const qfz_mass_spool *spool, qfz_error *err)
{
    qfz_summary without = *summary;
    void *packed = NULL;
    parts p = {.spool = spool, .masses = &summary->masses, .n_spool = spool ? spool->n : 0};
    qfz_status st;
    without.masses = (qfz_masses){0};
    p.head.n = p.n_spool + summary->masses.n;
    p.head.block = block;
    QFZ_TRY(qfz_pack_summary(&without, rule, &packed, &p.head.packed_bytes, err));
    p.packed = packed;
    QFZ_TRY_OR(st, cleanup, qfz_alloc(&p.block, least(p.head.n, block), EVENT_BYTES, err));
    st = qfz_store_put_parts(store, piece,
                             (int64_t)sizeof p.head + p.head.packed_bytes + p.head.n * EVENT_BYTES,
                             next_part, &p, err);

cleanup:
    free(packed);
    free(p.block);
    return st;
}

/* --------------------------------------------------------------------------------------- viewing
 */
/* Whether a piece of so many bytes has what its head says. */
static bool fits(const qfz_mass_head *head, int64_t bytes)
{
    const int64_t rest = bytes - (int64_t)sizeof *head;
    return head->packed_bytes >= 0 && head->packed_bytes <= rest && head->n >= 0 &&
           head->n <= rest / EVENT_BYTES && head->block > 0 && head->block <= QFZ_MASS_BLOCK_MOST &&
           rest == head->packed_bytes + head->n * EVENT_BYTES;
}

static qfz_status read_head(qfz_store *store, int64_t piece, const qfz_ring *ring,
                            qfz_mass_head *head, qfz_error *err)
{
    int64_t bytes;
    QFZ_TRY(qfz_store_check(store, piece, &bytes, err));
    if (bytes < 0) return qfz_fail(err, QFZ_EIO, "the summary of a tile is missing in the store");
    if (bytes < (int64_t)sizeof *head) return qfz_unsound(ring->box, "boundary summary", err);
    QFZ_TRY(qfz_store_look(store, piece, 0, head, sizeof *head, err));
    return fits(head, bytes) ? QFZ_OK : qfz_unsound(ring->box, "boundary summary", err);
}

qfz_status qfz_mass_view(qfz_store *store, int64_t piece, const qfz_rule *rule,
                         const qfz_ring *ring, qfz_summary *summary, qfz_mass_list *list,
                         qfz_error *err)
{
    qfz_mass_head head;
    qfz_summary found = {0};
    void *packed = NULL;
    QFZ_TRY(read_head(store, piece, ring, &head, err));
    QFZ_TRY(qfz_alloc(&packed, head.packed_bytes, 1, err));
    qfz_status st = qfz_store_look(store, piece, sizeof head, packed, head.packed_bytes, err);
    if (st == QFZ_OK) st = qfz_unpack_summary(&found, rule, packed, packed, head.packed_bytes, err);
    if (st == QFZ_OK) st = qfz_sound_summary(&found, rule, QFZ_FILTER, ring, err);
    if (st == QFZ_OK && found.masses.n > 0) st = qfz_unsound(ring->box, "boundary summary", err);
    if (st != QFZ_OK) {
        free(packed);
        return st;
    }
    *summary = found;
    *list = (qfz_mass_list){.store = store,
                            .piece = piece,
                            .offset = (int64_t)sizeof head + head.packed_bytes,
                            .n = head.n,
                            .block = head.block,
                            .ring = *ring};
    return QFZ_OK;
}
