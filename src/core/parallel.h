/* SPDX-License-Identifier: MIT */
/* parallel.h - one loop over independent items, with errors as values. */
#ifndef QFZ_PARALLEL_H
#define QFZ_PARALLEL_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Item i, done by worker number 0..n_threads - 1. */
typedef qfz_status (*qfz_item_fn)(void *arg, int64_t item, int worker, qfz_error *err);

/* Calls fn for 0 <= item < n, in about that order, on n_threads threads.  After a failure no more
 * items are begun; the first failure is returned. */
qfz_status qfz_parallel_for(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err);

/* The same for n threads, item i being done by worker i; if the system gives fewer, by worker i
 * modulo their number, the last items first. */
qfz_status qfz_parallel_each(int n, qfz_item_fn fn, void *arg, qfz_error *err);

/* qfz_parallel_for() inside of an item, where those threads of the loop help that have nothing else
 * to do: all of them if it is the only one. */
qfz_status qfz_parallel_within(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
