/* SPDX-License-Identifier: MIT */
#include "core/parallel.h"

#include <omp.h>

/* Processes one item, unless another item has failed. */
static void do_item(qfz_item_fn fn, void *arg, int64_t i, qfz_status *first, qfz_error *err)
{
    qfz_status so_far;
#pragma omp atomic read
    so_far = *first;
    if (so_far != QFZ_OK) return;
    qfz_error own = {.status = QFZ_OK};
    const qfz_status st = fn(arg, i, omp_get_thread_num(), &own);
    if (st == QFZ_OK) return;
#pragma omp critical(qfz_parallel_for)
    if (*first == QFZ_OK) {
        (void)qfz_fail(err, st, "%s", own.message);
#pragma omp atomic write
        *first = st;
    }
}

static qfz_status one_by_one(int64_t n, qfz_item_fn fn, void *arg, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    for (int64_t i = 0; i < n && st == QFZ_OK; i++)
        st = fn(arg, i, omp_get_thread_num(), err);
    return st;
}

/* All n_threads threads take part even if there are fewer items: OpenMP would end unused threads
 * and start new ones for the next loop. */
qfz_status qfz_parallel_for(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err)
{
    qfz_status first = QFZ_OK;
    if (n < 2 || n_threads < 2) return one_by_one(n, fn, arg, err);
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (int64_t i = 0; i < n; i++)
        do_item(fn, arg, i, &first, err);
    return first;
}

qfz_status qfz_parallel_each(int n, qfz_item_fn fn, void *arg, qfz_error *err)
{
    qfz_status first = QFZ_OK;
#pragma omp parallel num_threads(n)
    {
        const int step = omp_get_num_threads();
        int item = omp_get_thread_num();
        while (item + step < n)
            item += step;
        for (; item >= 0; item -= step)
            do_item(fn, arg, item, &first, err);
    }
    return first;
}

qfz_status qfz_parallel_within(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err)
{
    qfz_status first = QFZ_OK;
    if (n_threads < 2) return one_by_one(n, fn, arg, err);
    if (!omp_in_parallel()) return qfz_parallel_for(n_threads, n, fn, arg, err);
#pragma omp taskgroup
    for (int64_t i = 0; i < n; i++) {
#pragma omp task shared(first) firstprivate(fn, arg, i, err)
        do_item(fn, arg, i, &first, err);
    }
    return first;
}
