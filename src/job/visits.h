/* SPDX-License-Identifier: MIT */
/* visits.h - steps that visits of several tasks share. */
#ifndef QFZ_VISITS_H
#define QFZ_VISITS_H

#include "job/run.h"

/* A tile's summary for the kinds whose engines need nothing else for it: made and put, if there are
 * tiles to be stitched, with the number of valid pixels. */
qfz_status qfz_visit_summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                               qfz_error *err);

/* Is that known already?  And what qfz_run_solve() makes of it? */
bool qfz_visit_is_summarised(qfz_run *run, int64_t tile, void *arg);
bool qfz_visit_is_solved(qfz_run *run, int64_t tile, void *arg);

/* A tile's regions: put, as partitioned; numbered with those of all tiles, collective; and what of
 * that is known.  Where the job asks for their number only, they are counted instead. */
qfz_status qfz_visit_put_regions(qfz_run *run, int64_t tile, const qfz_partition *partition,
                                 qfz_error *err);
bool qfz_visit_has_regions(qfz_run *run, int64_t tile);
qfz_status qfz_visit_number_all(qfz_run *run, qfz_error *err);
bool qfz_visit_is_numbered(qfz_run *run, int64_t tile);

/* Gives the regions of the loaded tile, as partitioned, their labels. */
qfz_status qfz_visit_number(qfz_run *run, qfz_thread_context *context, int64_t tile,
                            const qfz_partition *partition, qfz_error *err);

#endif
