/* SPDX-License-Identifier: MIT */
/* message.h - summaries and exteriors of chunks as bytes that travel between machines.
 *
 * A message is a head of 64-bit words and a payload.  The head has a checksum of all that follows
 * it, and says which chunk of which grid the message is of, under which rule.  A message may come
 * from anywhere: qfz_message_read() compares the head with the grid of this call, before the
 * payload is looked at. */
#ifndef QFZ_CHUNKS_MESSAGE_H
#define QFZ_CHUNKS_MESSAGE_H

#include "core/summary.h"
#include "core/tiling.h"

typedef enum qfz_message_kind { QFZ_MESSAGE_SUMMARY = 1, QFZ_MESSAGE_EXTERIOR } qfz_message_kind;

/* The caller's grid of chunks, checked. */
typedef struct qfz_grid {
    qfz_chunks given;
    qfz_rule rule, filter_rule; /* the second: of the area filter, if the grid has one */
    float *weights;             /* what rule.weights points to, or NULL */
    double *omega;              /* likewise */
    qfz_kind kind;
    bool filters;
    int n_rounds;
    qfz_tiling tiling;
} qfz_grid;

/* The first round of a grid with an area filter is that of the filter. */
static inline qfz_kind qfz_round_kind(const qfz_grid *grid, int round)
{
    return grid->filters && round == 0 ? QFZ_FILTER : grid->kind;
}

static inline const qfz_rule *qfz_round_rule(const qfz_grid *grid, int round)
{
    return qfz_round_kind(grid, round) == QFZ_FILTER ? &grid->filter_rule : &grid->rule;
}

/* True if the round numbers regions: its summaries have a census, and its exteriors have labels. */
static inline bool qfz_round_numbers(const qfz_grid *grid, int round)
{
    return grid->kind != QFZ_LEVELS && round + 1 == grid->n_rounds;
}

/* The parts of a payload, each empty or a multiple of 8 bytes. */
enum {
    QFZ_SECTION_FILTER = 0, /* the exterior of the area filter, from its round on */
    QFZ_SECTION_REGIONS,    /* ALPHA_OMEGA: the exterior of the regions */
    QFZ_SECTION_LABELS,     /* of a round that numbers regions: census (census.h) or labels */
    QFZ_SECTION_SELF,       /* the summary of the round; SALIENCY: the exterior */
    QFZ_SECTIONS
};

typedef struct qfz_payload {
    struct {
        const uint64_t *words;
        int64_t n;
    } section[QFZ_SECTIONS];
} qfz_payload;

/* Which message of which chunk. */
typedef struct qfz_address {
    int64_t row, column;
    qfz_message_kind kind;
    int round;
} qfz_address;

qfz_status qfz_message_write(const qfz_grid *grid, qfz_address of, const qfz_payload *payload,
                             qfz_bytes *message, qfz_error *err);

/* *words = a copy of the payload, which the caller frees; *payload points into it.  QFZ_EARG: the
 * message is damaged, or of another chunk, grid, rule, kind, round or version. */
qfz_status qfz_message_read(const qfz_grid *grid, qfz_address of, const qfz_bytes *message,
                            uint64_t **words, qfz_payload *payload, qfz_error *err);

/* The round that a message claims to be of; 0 if it is none of the grid's. */
int qfz_message_round(const qfz_grid *grid, const qfz_bytes *message);

/* *exterior = what a section holds, an exterior of this kind on the ring of a box; empty if the
 * grid has one chunk.  *fits: it is one.  The caller releases it. */
qfz_status qfz_message_exterior(const qfz_grid *grid, qfz_kind kind, qfz_box box,
                                const qfz_payload *payload, int section, qfz_exterior *exterior,
                                bool *fits, qfz_error *err);

/* QFZ_EARG: the payload does not fit the chunk. */
qfz_status qfz_message_unfit(int64_t row, int64_t column, qfz_message_kind kind, qfz_error *err);

#endif
