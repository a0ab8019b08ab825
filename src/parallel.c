/* SPDX-License-Identifier: MIT */
#include "parallel.h"

#include <omp.h>

qfz_status qfz_parallel_for(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err)
{
    qfz_status first = QFZ_OK;
    const int n_used = n < n_threads ? (n < 1 ? 1 : (int)n) : n_threads;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_used)
    for (int64_t i = 0; i < n; i++) {
        qfz_status so_far;
#pragma omp atomic read
        so_far = first;
        if (so_far != QFZ_OK) continue;
        qfz_error own = {.status = QFZ_OK};
        const qfz_status st = fn(arg, i, omp_get_thread_num(), &own);
        if (st == QFZ_OK) continue;
#pragma omp critical(qfz_parallel_for)
        if (first == QFZ_OK) {
            (void)qfz_fail(err, st, "%s", own.message);
#pragma omp atomic write
            first = st;
        }
    }
    return first;
}
