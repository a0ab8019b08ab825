/* SPDX-License-Identifier: MIT */
/* visits.h - steps that visits of several tasks share. */
#ifndef QFZ_VISITS_H
#define QFZ_VISITS_H

#include "run.h"

/* Counts the valid pixels of the loaded tile; in the first pass. */
static inline void qfz_count_valid(qfz_hand *hand)
{
    const int64_t n = hand->tile.h * hand->tile.w;
    if (!hand->tile.valid) {
        hand->n_valid += (uint64_t)n;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        hand->n_valid += hand->tile.valid[i];
}

/* A tile's summary for the kinds whose engines need nothing else for it: made and put. */
qfz_status qfz_visit_summarise(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg,
                               qfz_error *err);

#endif
