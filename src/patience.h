/* SPDX-License-Identifier: MIT */
/* patience.h - storage that fails now and then is asked again, a few times, after longer and longer
 * waits; what fails for good is reported soon. */
#ifndef QFZ_PATIENCE_H
#define QFZ_PATIENCE_H

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_patience {
    int retries;   /* tries after the first */
    double wait_s; /* before the first of them; four times as long before each other one */
} qfz_patience;

qfz_patience qfz_patience_of(const qfz_job *job);

/* After that many failures: waits and says true, or says false at once, if they are enough. */
bool qfz_patience_again(const qfz_patience *patience, int failures);

/* May the same call do better later, having failed with this number? */
bool qfz_errno_may_pass(int number);

/* A call of the system has just failed with errno: true, after a wait, if it is to be made again.
 * *failures counts; a call that was only interrupted is no failure. */
bool qfz_patience_with_call(const qfz_patience *patience, int *failures);

/* Calls fn until it does not fail with QFZ_EIO, or patience ends; then the message is the first
 * one, with the number of tries behind it. */
typedef qfz_status (*qfz_try_fn)(void *arg, qfz_error *err);
qfz_status qfz_patience_try(const qfz_patience *patience, qfz_try_fn fn, void *arg, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
