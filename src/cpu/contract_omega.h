/* SPDX-License-Identifier: MIT */
/* contract_omega.h - an image contracted as in contract.h, for (alpha, omega)-components (omega.h).
 *
 * A closed component's range is known within its block, and so is whether it holds.  An open one
 * starts as a vertex with the range that it has by then; what it takes in later inside the block
 * is an absorb event of its vertex.  A component that has broken omega falls silent. */
#ifndef QFZ_CPU_CONTRACT_OMEGA_H
#define QFZ_CPU_CONTRACT_OMEGA_H

#include "cpu/contract.h"
#include "cpu/omega.h"

/* Where climbs inside a block stop: at a component that breaks with its next hook, at an open root,
 * or short of one, because whether that one holds is not known yet. */
typedef struct qfz_stop {
    uint32_t vertex; /* where it goes on, if that holds; QFZ_NONE: nowhere */
    uint32_t level;  /* from here on */
} qfz_stop;

typedef struct qfz_exterior_view qfz_exterior_view; /* the events of one thread */

/* A block's stops among those of all blocks. */
typedef struct qfz_block_stops {
    uint32_t first, n;
} qfz_block_stops;

typedef struct qfz_omega_contraction {
    qfz_contraction c;
    qfz_spans start;       /* of the vertices, as they were opened */
    qfz_spans spans;       /* the same, joined */
    uint32_t *vertex_stop; /* where its pixels' climbs stop */
    qfz_ranges ranges;     /* of the vertices */

    uint32_t n_stops; /* of all blocks, one after the other in any order */
    qfz_stop *stops;  /* room for h * w */
    qfz_block_stops *block_stops;
    uint16_t *stop; /* of each pixel, block after block: the number of its stop in the block */

    qfz_exterior_view *told;
    void *scratch;
} qfz_omega_contraction;

/* As the functions of contract.h.  What qfz_omega_contract() leaves is not changed by the others.
 */
qfz_status qfz_omega_contraction_init(qfz_omega_contraction *o, const qfz_rule *rule, int64_t h,
                                      int64_t w, int64_t side, int n_threads, qfz_error *err);
void qfz_omega_contraction_fini(qfz_omega_contraction *o);
int64_t qfz_omega_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w);
void qfz_omega_contraction_swap_rooms(qfz_omega_contraction *a, qfz_omega_contraction *b);

/* What one made for h x w has in use, its events included, which are not in the number above. */
int64_t qfz_omega_contraction_used_bytes(const qfz_omega_contraction *o, int64_t h, int64_t w);
qfz_status qfz_omega_contract(qfz_omega_contraction *o, const qfz_image *image, bool open_ring,
                              qfz_error *err);

/* Block i, counted row by row. */
typedef struct qfz_stop_block {
    qfz_box box;
    uint32_t first, n;    /* its stops */
    const uint16_t *stop; /* of its pixels, row by row: counted from its first one */
} qfz_stop_block;

qfz_stop_block qfz_omega_contraction_block(const qfz_omega_contraction *o, int64_t i);

/* to[x] = from[x] + offset modulo 2^16, of integers of 8 or 16 bits. */
void qfz_narrow_row(qfz_type type, const void *from, uint16_t offset, int64_t w, uint16_t *to);

/* row[x] = what of_stop has at the stop of each pixel of row y.  And the number of one pixel's. */
void qfz_omega_contraction_row(const qfz_omega_contraction *o, int64_t y, const uint32_t *of_stop,
                               uint32_t *row);
uint32_t qfz_omega_contraction_stop(const qfz_omega_contraction *o, int64_t y, int64_t x);

/* region[stop] = the stop that stands for the region of the pixels whose stop it is.
 * omega_level: of the image's ring pixels, which must be open, as in qfz_exterior; NULL: the image
 * is all there is. */
qfz_status qfz_omega_contraction_regions(qfz_omega_contraction *o, const uint32_t *omega_level,
                                         uint32_t *region, qfz_error *err);

/* Fills links and ranges of the summary of the contracted image, whose ring must be open, and is
 * there in the summary.  mark: scratch for c.max_vertices. */
qfz_status qfz_omega_contraction_summarise(qfz_omega_contraction *o, uint32_t *mark,
                                           qfz_summary *summary, qfz_error *err);

#endif
