/* SPDX-License-Identifier: MIT */
#include "job/output_journal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/memory.h"

enum { FAST = 1, BLOCK = 4 << 20 }; /* level of zlib; bytes compressed at a time */

typedef struct entry {
    qfz_journal *journal; /* NULL: absent */
    int64_t offset, bytes;
} entry;

struct qfz_output_journal {
    int64_t n_tiles, n;
    entry *entries; /* at kind * n_tiles + tile, which is also the record's key in the journal */
    qfz_journal *appends; /* receives new records; NULL: none */
    qfz_journal *scanned; /* during attach() */
};

qfz_status qfz_output_journal_open(qfz_output_journal **out, int n_kinds, int64_t n_tiles,
                                   qfz_error *err)
{
    qfz_output_journal *output = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&output, 1, err));
    output->n_tiles = n_tiles;
    output->n = n_kinds * n_tiles;
    const qfz_status st = QFZ_NEW_ZERO(&output->entries, output->n, err);
    if (st != QFZ_OK) {
        free(output);
        return st;
    }
    *out = output;
    return QFZ_OK;
}

void qfz_output_journal_close(qfz_output_journal *output)
{
    if (!output) return;
    free(output->entries);
    free(output);
}

static void found(int64_t key, int64_t offset, int64_t bytes, void *arg)
{
    qfz_output_journal *const output = arg;
    if (key < 0 || key >= output->n) return;
    output->entries[key] = (entry){.journal = output->scanned, .offset = offset, .bytes = bytes};
}

qfz_status qfz_output_journal_attach(qfz_output_journal *output, qfz_journal *journal,
                                     qfz_error *err)
{
    output->scanned = journal;
    if (qfz_journal_appends(journal)) output->appends = journal;
    return qfz_journal_scan(journal, true, found, output, err);
}

static const entry *entry_of(const qfz_output_journal *output, int kind, int64_t tile)
{
    return &output->entries[kind * output->n_tiles + tile];
}

bool qfz_output_journal_has(const qfz_output_journal *output, int kind, int64_t tile)
{
    return entry_of(output, kind, tile)->journal != NULL;
}

int64_t qfz_output_journal_bytes(const qfz_output_journal *output, int kind, int64_t tile)
{
    return entry_of(output, kind, tile)->bytes;
}

/* ------------------------------------------------------------------------------- piece by piece */
qfz_long_record qfz_output_journal_begin(qfz_output_journal *output, int kind, int64_t tile,
                                         int64_t bytes)
{
    return qfz_journal_reserve(output->appends, kind * output->n_tiles + tile, bytes);
}

qfz_status qfz_output_journal_add(qfz_output_journal *output, qfz_long_record *record,
                                  const void *data, int64_t bytes, qfz_error *err)
{
    return qfz_journal_fill(output->appends, record, data, bytes, err);
}

qfz_status qfz_output_journal_end(qfz_output_journal *output, const qfz_long_record *record,
                                  qfz_error *err)
{
    QFZ_TRY(qfz_journal_seal(output->appends, record, err));
    output->entries[record->key] =
        (entry){.journal = output->appends, .offset = record->offset, .bytes = record->bytes};
    return QFZ_OK;
}

qfz_status qfz_output_journal_read(const qfz_output_journal *output, int kind, int64_t tile,
                                   int64_t at, void *data, int64_t bytes, qfz_error *err)
{
    const entry *const e = entry_of(output, kind, tile);
    if (!e->journal)
        return qfz_fail(err, QFZ_EIO,
                        "the journal holds no output of tile %lld; remove the work folder and "
                        "run again",
                        (long long)tile);
    return qfz_journal_read_some(e->journal, e->offset + at, data, bytes, err);
}

/* ----------------------------------------------------------------------------------- compressed */

/* A sequence of blocks: the number of compressed bytes, then these bytes, for each BLOCK bytes. */
typedef struct packed {
    char *data;
    int64_t bytes, room; /* bytes written or read so far; bytes allocated */
} packed;

static qfz_status pack(packed *to, const void *data, int64_t bytes, qfz_error *err)
{
    for (int64_t at = 0; at < bytes; at += BLOCK) {
        const uLong n = (uLong)(bytes - at < BLOCK ? bytes - at : BLOCK);
        uLongf packed_n = compressBound(n);
        const int64_t needed = to->bytes + (int64_t)(sizeof packed_n + packed_n);
        if (!to->data || needed > to->room) {
            QFZ_TRY(qfz_realloc((void **)&to->data, 2 * needed, 1, err));
            to->room = 2 * needed;
        }
        char *const head = to->data + to->bytes;
        if (compress2((Bytef *)head + sizeof packed_n, &packed_n, (const Bytef *)data + at, n,
                      FAST) != Z_OK)
            return qfz_fail(err, QFZ_ENOMEM, "out of memory: zlib got none");
        memcpy(head, &packed_n, sizeof packed_n);
        to->bytes += (int64_t)(sizeof packed_n + packed_n);
    }
    return QFZ_OK;
}

static qfz_status unpack(packed *from, void *data, int64_t bytes, qfz_error *err)
{
    for (int64_t at = 0; at < bytes; at += BLOCK) {
        const uLong n = (uLong)(bytes - at < BLOCK ? bytes - at : BLOCK);
        uLongf packed_n = 0, got = n;
        const int64_t left = from->room - from->bytes - (int64_t)sizeof packed_n;
        const char *const head = from->data + from->bytes;
        if (left >= 0) memcpy(&packed_n, head, sizeof packed_n);
        if (left < 0 || packed_n > (uLongf)left ||
            uncompress((Bytef *)data + at, &got, (const Bytef *)head + sizeof packed_n, packed_n) !=
                Z_OK ||
            got != n)
            return qfz_fail(
                err, QFZ_EIO,
                "the journal holds output of another job; remove the work folder and run again");
        from->bytes += (int64_t)(sizeof packed_n + packed_n);
    }
    return QFZ_OK;
}

qfz_status qfz_output_journal_put(qfz_output_journal *output, int kind, int64_t tile, const void *a,
                                  int64_t a_bytes, const void *b, int64_t b_bytes, qfz_error *err)
{
    packed all = {0};
    qfz_status st = pack(&all, a, a_bytes, err);
    if (st == QFZ_OK && b) st = pack(&all, b, b_bytes, err);
    if (st == QFZ_OK) {
        qfz_long_record record = qfz_output_journal_begin(output, kind, tile, all.bytes);
        st = qfz_output_journal_add(output, &record, all.data, all.bytes, err);
        if (st == QFZ_OK) st = qfz_output_journal_end(output, &record, err);
    }
    free(all.data);
    return st;
}

qfz_status qfz_output_journal_get(const qfz_output_journal *output, int kind, int64_t tile, void *a,
                                  int64_t a_bytes, void *b, int64_t b_bytes, qfz_error *err)
{
    packed all = {.room = qfz_output_journal_bytes(output, kind, tile)};
    QFZ_TRY(QFZ_NEW(&all.data, all.room, err));
    qfz_status st = qfz_output_journal_read(output, kind, tile, 0, all.data, all.room, err);
    if (st == QFZ_OK) st = unpack(&all, a, a_bytes, err);
    if (st == QFZ_OK && b) st = unpack(&all, b, b_bytes, err);
    free(all.data);
    return st;
}
