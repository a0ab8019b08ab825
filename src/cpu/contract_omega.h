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

typedef struct qfz_told qfz_told; /* the events of one thread */

typedef struct qfz_omega_contraction {
    qfz_contraction c;
    qfz_spans start; /* of the vertices, as they were opened */
    qfz_spans spans; /* the same, joined */
    uint32_t *vertex_name;
    qfz_absorbs absorbs; /* of the vertices */
    uint16_t *stop; /* of a block's pixels by number: where their climbs inside the block stop */

    qfz_told *told;
    void *scratch;
} qfz_omega_contraction;

/* As the functions of contract.h.  What qfz_omega_contract() leaves is not changed by the others.
 */
qfz_status qfz_omega_contraction_init(qfz_omega_contraction *o, const qfz_rule *rule, int64_t h,
                                      int64_t w, int64_t side, int n_threads, qfz_error *err);
void qfz_omega_contraction_fini(qfz_omega_contraction *o);
int64_t qfz_omega_contraction_bytes(const qfz_rule *rule, int64_t h, int64_t w);
/* The bytes of its events, which come on top, now. */
int64_t qfz_omega_contraction_events_bytes(const qfz_omega_contraction *o);
qfz_status qfz_omega_contract(qfz_omega_contraction *o, const qfz_image *image, bool open_ring,
                              qfz_error *err);

/* Of the contracted image: label[px] = the name of px's region, which is below h * w: the first
 * pixel of a block, counted block after block, and the number of one of the region's pixels in the
 * block. holds_to: of the image's ring pixels, which must be open, as in qfz_answer; NULL: the
 * image is all there is. */
qfz_status qfz_omega_contraction_regions(qfz_omega_contraction *o, const uint32_t *holds_to,
                                         uint32_t *label, qfz_error *err);

/* Fills links and absorbs of the summary of the contracted image, whose ring must be open, and is
 * there in the summary.  mark: scratch for c.max_vertices. */
qfz_status qfz_omega_contraction_summarise(qfz_omega_contraction *o, uint32_t *mark,
                                           qfz_summary *summary, qfz_error *err);

#endif
