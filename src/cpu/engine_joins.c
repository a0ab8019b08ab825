/* SPDX-License-Identifier: MIT */
/* engine_joins.c - joins() of the CPU engine: the levels of a tile's minimum spanning forest.
 *
 * The joins of a tile are the hooks of pixels and of nodes in its blocks, which are final, and the
 * joins of the contracted graph. */
#include <stdlib.h>

#include "core/memory.h"
#include "cpu/worker.h"

qfz_status qfz_cpu_joins_open(qfz_worker *worker, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&worker->settled, worker->n_threads, err));
    for (int i = 0; i < worker->n_threads; i++)
        QFZ_TRY(qfz_histogram_init(&worker->settled[i], worker->rule, err));
    worker->contraction.settled = worker->settled;
    return QFZ_OK;
}

void qfz_cpu_joins_close(qfz_worker *worker)
{
    for (int i = 0; worker->settled && i < worker->n_threads; i++)
        qfz_histogram_fini(&worker->settled[i]);
    free(worker->settled);
}

qfz_status qfz_cpu_joins(qfz_worker *worker, qfz_summary *summary, const qfz_histogram **settled,
                         qfz_error *err)
{
    qfz_contraction *const c = &worker->contraction;
    for (int i = 0; i < worker->n_threads; i++)
        qfz_histogram_clear(&worker->settled[i]);
    if (summary) {
        QFZ_TRY(qfz_summary_take_ring(summary, &worker->tile, worker->rule, err));
        QFZ_TRY(qfz_links_reserve(&summary->links, summary->n_ring, err));
    }
    qfz_contract(c, &worker->tile, summary != NULL);
    if (summary)
        (void)qfz_contraction_summarise(c, summary->valid, worker->mark, &summary->links);
    else
        qfz_contraction_count_joins(c, worker->mark);
    for (int i = 1; i < worker->n_threads; i++)
        qfz_histogram_add_all(&worker->settled[0], &worker->settled[i]);
    *settled = &worker->settled[0];
    return QFZ_OK;
}
