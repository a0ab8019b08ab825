/* SPDX-License-Identifier: MIT */
/* parallel.h - parallel loops over independent items, with errors as return values. */
#ifndef QFZ_PARALLEL_H
#define QFZ_PARALLEL_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Processes one item; worker is the number of the calling thread, 0..n_threads - 1. */
typedef qfz_status (*qfz_item_fn)(void *arg, int64_t item, int worker, qfz_error *err);

/* Calls fn for 0 <= item < n, approximately in this order, on n_threads threads.  After a failure
 * no more items begin; returns the first failure. */
qfz_status qfz_parallel_for(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err);

/* The same for one long loop, on threads that it begins and ends.  Threads of the other functions
 * wait for the next loop by spinning, up to some milliseconds of processor time each. */
qfz_status qfz_parallel_for_once(int n_threads, int64_t n, qfz_item_fn fn, void *arg,
                                 qfz_error *err);

/* The same for n items on n threads: worker i processes item i.  If the system provides fewer
 * threads, worker i modulo their number does, the last items first. */
qfz_status qfz_parallel_each(int n, qfz_item_fn fn, void *arg, qfz_error *err);

/* The same inside an item of another loop: idle threads of that loop help, all of them if the item
 * is the only one. */
qfz_status qfz_parallel_within(int n_threads, int64_t n, qfz_item_fn fn, void *arg, qfz_error *err);

/* Fails if the system does not provide the threads of a job: n_threads of the functions above, one
 * more for each device while these begin, and n_threads with which GDAL compresses.  Where a thread
 * cannot begin, OpenMP ends the process. */
qfz_status qfz_parallel_check(int n_threads, int n_devices, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
