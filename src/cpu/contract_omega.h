/* SPDX-License-Identifier: MIT */
/* contract_omega.h - an image contracted as in contract.h, for (alpha, omega)-components (omega.h).
 *
 * The range of a closed component is known within its block, and so is its omega level.  An open
 * component starts as a vertex with the range that it has when it opens; later growth inside the
 * block is a range event of its vertex.  A component that exceeded omega has no further events. */
#ifndef QFZ_CPU_CONTRACT_OMEGA_H
#define QFZ_CPU_CONTRACT_OMEGA_H

#include "cpu/contract.h"
#include "cpu/omega.h"

/* The end of climbs inside a block: a component that exceeds omega with its next hook, an open
 * root, or a node before an open root, whose omega level is not known yet. */
typedef struct qfz_stop {
    uint32_t vertex; /* the climb continues here if this vertex is within omega; QFZ_NONE: ends */
    uint32_t level;  /* from this level on */
} qfz_stop;

typedef struct qfz_thread_events qfz_thread_events; /* the range events found by one thread */

/* The stops of one block, in the list of all stops. */
typedef struct qfz_block_stops {
    uint32_t first, n;
} qfz_block_stops;

typedef struct qfz_omega_contraction {
    qfz_contraction c;
    qfz_spans start;       /* of the vertices when they opened */
    qfz_spans spans;       /* of the vertices after joining */
    uint32_t *vertex_stop; /* the stop of the climbs that end at a vertex */
    qfz_ranges ranges;     /* range events of the vertices */

    uint32_t n_stops; /* of all blocks, one block after the other in any order */
    qfz_stop *stops;  /* room for h * w */
    qfz_block_stops *block_stops;
    uint16_t *stop; /* by pixel, block after block: number of the pixel's stop in its block */

    qfz_thread_events *events;
    void *scratch;
} qfz_omega_contraction;

/* The same as the functions of contract.h.  Only qfz_omega_contract() changes the contraction's
 * results. */
qfz_status qfz_omega_contraction_init(qfz_omega_contraction *o, const qfz_rule *rule, int64_t h,
                                      int64_t w, int64_t side, int n_threads, qfz_error *err);
void qfz_omega_contraction_fini(qfz_omega_contraction *o);
int64_t qfz_omega_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w);
void qfz_omega_contraction_swap_rooms(qfz_omega_contraction *a, qfz_omega_contraction *b);

/* The bytes in use of a contraction made for h x w, including its range events, which
 * qfz_omega_contraction_bytes() does not count. */
int64_t qfz_omega_contraction_used_bytes(const qfz_omega_contraction *o, int64_t h, int64_t w);
qfz_status qfz_omega_contract(qfz_omega_contraction *o, const qfz_image *image, bool open_ring,
                              qfz_error *err);

/* The stops of block i, blocks being counted row by row. */
typedef struct qfz_stop_block {
    qfz_box box;
    uint32_t first, n;    /* its first stop, and the number of its stops */
    const uint16_t *stop; /* by pixel, row by row: number of the stop, relative to the first one */
} qfz_stop_block;

qfz_stop_block qfz_omega_contraction_block(const qfz_omega_contraction *o, int64_t i);

/* row[x] = of_stop[stop of pixel x of row y]; and the stop of one pixel. */
void qfz_omega_contraction_row(const qfz_omega_contraction *o, int64_t y, const uint32_t *of_stop,
                               uint32_t *row);
uint32_t qfz_omega_contraction_stop(const qfz_omega_contraction *o, int64_t y, int64_t x);

/* region[stop] = the stop that represents the region of the stop's pixels.  omega_level: as in
 * qfz_exterior, of the ring pixels of an image whose ring is open; NULL: the image is the whole
 * raster. */
qfz_status qfz_omega_contraction_regions(qfz_omega_contraction *o, const uint32_t *omega_level,
                                         uint32_t *region, qfz_error *err);

/* Fills links and ranges of the summary of the contracted image, whose ring must be open; the
 * summary has the ring's values and validity.  mark: working memory for c.max_vertices. */
qfz_status qfz_omega_contraction_summarise(qfz_omega_contraction *o, uint32_t *mark,
                                           qfz_summary *summary, qfz_error *err);

#endif
