/* SPDX-License-Identifier: MIT */
/* visits.h - steps that visits of several tasks share. */
#ifndef QFZ_VISITS_H
#define QFZ_VISITS_H

#include "run.h"

/* A tile's summary for the kinds whose engines need nothing else for it: made and put, with the
 * number of valid pixels. */
qfz_status qfz_visit_summarise(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg,
                               qfz_error *err);

/* Is that known already? */
bool qfz_visit_is_summarised(qfz_run *run, int64_t tile, void *arg);

/* Gives the regions of the loaded tile, as partitioned, their labels. */
qfz_status qfz_visit_number(qfz_run *run, qfz_hand *hand, int64_t tile,
                            const qfz_partition *partition, qfz_error *err);

#endif
