/* SPDX-License-Identifier: MIT */
#include "visits.h"

qfz_status qfz_visit_summarise(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg,
                               qfz_error *err)
{
    (void)arg;
    qfz_summary summary = {0};
    qfz_status st;
    qfz_count_valid(hand);
    QFZ_TRY_OR(st, cleanup, qfz_summary_init(&summary, hand->box, &run->setup->rule, err));
    QFZ_TRY_OR(st, cleanup, run->setup->engine->summarise(hand->worker, &summary, err));
    st = qfz_stitch_put(run->stitch, tile, &summary, err);

cleanup:
    qfz_summary_fini(&summary);
    return st;
}
