/* SPDX-License-Identifier: MIT */
#include "chunks/message.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/memory.h"
#include "core/ring.h"
#include "stitch/pack.h"
#include "stitch/sound.h"

enum { FORMAT = 2 };

/* What both sides of a message must agree on, and its name in messages to the user. */
enum {
    PART,
    HEIGHT,
    WIDTH,
    CHUNK_HEIGHT,
    CHUNK_WIDTH,
    BANDS,
    TYPE,
    CONNECTIVITY,
    DISTANCE,
    EDGES,
    ALPHA_LEVEL,
    WEIGHTS,
    OMEGA,
    MIN_AREA,
    ROW,
    COLUMN,
    ROUND,
    FACTS
};
static const char *const fact_names[FACTS] = {"part",
                                              "height",
                                              "width",
                                              "height of chunks",
                                              "width of chunks",
                                              "number of bands",
                                              "pixel type",
                                              "connectivity",
                                              "distance",
                                              "kind of edges",
                                              "level of alpha",
                                              "checksum of weights",
                                              "checksum of omega",
                                              "minimum area",
                                              "row of the chunk",
                                              "column of the chunk",
                                              "round"};

enum {
    LENGTHS = QFZ_SECTIONS - 1
}; /* words at the begin of a payload: n of all sections but the
      last */

typedef struct head {
    char magic[8];
    uint64_t format, kind, bytes; /* of the whole message */
    uint64_t crc;                 /* of what follows */
    uint64_t facts[FACTS];
} head;

static const char magic[8] = {'q', 'f', 'z', 'c', 'h', 'u', 'n', 'k'};

static uint64_t crc_of(const void *data, size_t bytes)
{
    return crc32_z(0, data, bytes);
}

static void take_facts(const qfz_grid *grid, qfz_address of, uint64_t *facts)
{
    const qfz_rule *const rule = &grid->rule;
    const size_t weight_bytes = (size_t)rule->n_bands * sizeof *rule->weights;
    facts[PART] = (uint64_t)grid->given.part;
    facts[HEIGHT] = (uint64_t)grid->given.h;
    facts[WIDTH] = (uint64_t)grid->given.w;
    facts[CHUNK_HEIGHT] = (uint64_t)grid->given.chunk_h;
    facts[CHUNK_WIDTH] = (uint64_t)grid->given.chunk_w;
    facts[BANDS] = (uint64_t)rule->n_bands;
    facts[TYPE] = (uint64_t)rule->type;
    facts[CONNECTIVITY] = (uint64_t)rule->connectivity;
    facts[DISTANCE] = (uint64_t)rule->distance;
    facts[EDGES] = (uint64_t)rule->edge_levels + (uint64_t)rule->edges_are_float;
    facts[ALPHA_LEVEL] = rule->alpha_level;
    facts[WEIGHTS] = rule->weights ? crc_of(rule->weights, weight_bytes) : 0;
    facts[OMEGA] =
        rule->omega ? crc_of(rule->omega, (size_t)rule->n_bands * sizeof *rule->omega) : 0;
    facts[MIN_AREA] = rule->min_mass;
    facts[ROW] = (uint64_t)of.row;
    facts[COLUMN] = (uint64_t)of.column;
    facts[ROUND] = (uint64_t)of.round;
}

static uint64_t crc_of_message(const char *data, size_t bytes)
{
    const size_t from = offsetof(head, facts);
    return crc_of(data + from, bytes - from);
}

qfz_status qfz_message_write(const qfz_grid *grid, qfz_address of, const qfz_payload *payload,
                             qfz_bytes *message, qfz_error *err)
{
    head h = {.format = FORMAT, .kind = (uint64_t)of.kind};
    uint64_t lengths[LENGTHS];
    int64_t n_words = LENGTHS;
    char *data = NULL;
    for (int i = 0; i < QFZ_SECTIONS; i++)
        n_words += payload->section[i].n;
    for (int i = 0; i < LENGTHS; i++)
        lengths[i] = (uint64_t)payload->section[i].n;
    const size_t bytes = sizeof h + (size_t)n_words * sizeof *lengths;
    QFZ_TRY(QFZ_NEW(&data, (int64_t)bytes, err));
    memcpy(h.magic, magic, sizeof magic);
    h.bytes = bytes;
    take_facts(grid, of, h.facts);
    memcpy(data, &h, sizeof h);
    memcpy(data + sizeof h, lengths, sizeof lengths);
    char *to = data + sizeof h + sizeof lengths;
    for (int i = 0; i < QFZ_SECTIONS; i++) {
        const size_t section_bytes = (size_t)payload->section[i].n * sizeof *lengths;
        if (section_bytes) memcpy(to, payload->section[i].words, section_bytes);
        to += section_bytes;
    }
    h.crc = crc_of_message(data, bytes);
    memcpy(data, &h, sizeof h);
    *message = (qfz_bytes){.data = data, .size = bytes};
    return QFZ_OK;
}

static const char *name_of(qfz_message_kind kind)
{
    return kind == QFZ_MESSAGE_SUMMARY ? "summary" : "exterior";
}

qfz_status qfz_message_unfit(int64_t row, int64_t column, qfz_message_kind kind, qfz_error *err)
{
    return qfz_fail(err, QFZ_EARG,
                    "chunk (%lld, %lld): the %s does not fit the pixels of the chunk: they differ "
                    "from those of the first step, or the %s is forged; begin again with "
                    "qfz_chunk_summarise()",
                    (long long)row, (long long)column, name_of(kind), name_of(kind));
}

/* The words of the head, as far as there are any. */
static qfz_status check_head(const head *h, size_t bytes, qfz_address of, qfz_error *err)
{
    const int64_t row = of.row, column = of.column;
    const qfz_message_kind kind = of.kind;
    if (bytes < sizeof *h || memcmp(h->magic, magic, sizeof magic) != 0)
        return qfz_fail(err, QFZ_EARG,
                        "chunk (%lld, %lld): %zu bytes that are no %s of a chunk; pass the bytes "
                        "as qfz returned them",
                        (long long)row, (long long)column, bytes, name_of(kind));
    if (h->format != FORMAT)
        return qfz_fail(err, QFZ_EARG,
                        "chunk (%lld, %lld): the %s has format %llu, and qfz %s reads format %d; "
                        "use one version of qfz for all chunks",
                        (long long)row, (long long)column, name_of(kind),
                        (unsigned long long)h->format, QFZ_VERSION, FORMAT);
    if (h->kind != (uint64_t)kind)
        return qfz_fail(err, QFZ_EARG, "chunk (%lld, %lld): not the %s of a chunk, but its %s",
                        (long long)row, (long long)column, name_of(kind),
                        name_of((qfz_message_kind)(h->kind & 3)));
    return QFZ_OK;
}

static qfz_status check_facts(const qfz_grid *grid, const head *h, qfz_address of, qfz_error *err)
{
    uint64_t wanted[FACTS];
    take_facts(grid, of, wanted);
    for (int i = 0; i < FACTS; i++)
        if (h->facts[i] != wanted[i])
            return qfz_fail(err, QFZ_EARG,
                            "chunk (%lld, %lld): the %s was made with %s %lld, and this call has "
                            "%lld; all steps need the same grid and criterion",
                            (long long)of.row, (long long)of.column, name_of(of.kind),
                            fact_names[i], (long long)h->facts[i], (long long)wanted[i]);
    return QFZ_OK;
}

/* False if the lengths do not add up to n words. */
static bool split(const uint64_t *words, int64_t n, qfz_payload *payload)
{
    if (n < LENGTHS) return false;
    const uint64_t *at = words + LENGTHS;
    uint64_t left = (uint64_t)(n - LENGTHS);
    for (int i = 0; i < QFZ_SECTIONS; i++) {
        const uint64_t length = i < LENGTHS ? words[i] : left;
        if (length > left) return false;
        payload->section[i].words = at;
        payload->section[i].n = (int64_t)length;
        at += length;
        left -= length;
    }
    return true;
}

qfz_status qfz_message_read(const qfz_grid *grid, qfz_address of, const qfz_bytes *message,
                            uint64_t **words, qfz_payload *payload, qfz_error *err)
{
    head h = {.format = 0};
    const size_t bytes = message->data ? message->size : 0;
    if (bytes >= sizeof h) memcpy(&h, message->data, sizeof h);
    QFZ_TRY(check_head(&h, bytes, of, err));
    if (h.bytes != bytes || bytes % sizeof **words != 0 ||
        h.crc != crc_of_message(message->data, bytes))
        return qfz_fail(err, QFZ_EARG,
                        "chunk (%lld, %lld): the %s is damaged: a checksum or the number of bytes, "
                        "%zu, is wrong; make or send it again",
                        (long long)of.row, (long long)of.column, name_of(of.kind), bytes);
    QFZ_TRY(check_facts(grid, &h, of, err));
    const int64_t n = (int64_t)((bytes - sizeof h) / sizeof **words);
    uint64_t *copy = NULL;
    QFZ_TRY(QFZ_NEW(&copy, n, err));
    if (n > 0) memcpy(copy, (const char *)message->data + sizeof h, bytes - sizeof h);
    if (!split(copy, n, payload)) {
        free(copy);
        return qfz_message_unfit(of.row, of.column, of.kind, err);
    }
    *words = copy;
    return QFZ_OK;
}

int qfz_message_round(const qfz_grid *grid, const qfz_bytes *message)
{
    head h;
    if (!message->data || message->size < sizeof h) return 0;
    memcpy(&h, message->data, sizeof h);
    return h.facts[ROUND] < (uint64_t)grid->n_rounds ? (int)h.facts[ROUND] : 0;
}

qfz_status qfz_message_exterior(const qfz_grid *grid, qfz_kind kind, qfz_box box,
                                const qfz_payload *payload, int section, qfz_exterior *exterior,
                                bool *fits, qfz_error *err)
{
    const qfz_rule *const rule = kind == QFZ_FILTER ? &grid->filter_rule : &grid->rule;
    const bool alone = grid->tiling.n_x * grid->tiling.n_y == 1;
    const qfz_ring ring = qfz_ring_of(box, QFZ_ALL_SIDES);
    const int64_t n = payload->section[section].n;
    qfz_error unsound = {.status = QFZ_OK};
    qfz_exterior found = {0};
    uint64_t *copy = NULL;
    QFZ_TRY(QFZ_NEW(&copy, n, err));
    if (n > 0) memcpy(copy, payload->section[section].words, (size_t)n * sizeof *copy);
    *fits = qfz_unpack_exterior(&found, rule, copy, n * (int64_t)sizeof *copy, &unsound) == QFZ_OK;
    if (*fits)
        *fits = alone ? found.n_ring == 0
                      : qfz_sound_exterior(&found, rule, kind, &ring, &unsound) == QFZ_OK;
    if (*fits)
        *exterior = found;
    else
        free(copy);
    return QFZ_OK;
}
