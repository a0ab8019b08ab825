/* SPDX-License-Identifier: MIT */
/* retry.h - storage that fails now and then is asked again, a few times, after longer and longer
 * waits; what fails for good is reported soon. */
#ifndef QFZ_RETRY_H
#define QFZ_RETRY_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_retry {
    int retries;   /* tries after the first */
    double wait_s; /* before the first of them; four times as long before each other one */
} qfz_retry;

extern const qfz_retry qfz_retry_default;
qfz_retry qfz_retry_of_job(const qfz_job *job);

/* After that many failures: waits and says true, or says false at once, if they are enough. */
bool qfz_retry_wait(const qfz_retry *retry, int failures);

/* Reads or writes bytes of a file, at offset, and says how many.  Fewer than asked for: the end of
 * the file, or, with *failures > 0, errno says why it could not go on after that many tries.  What
 * cannot get better, a full disk for one, is tried once. */
int64_t qfz_retry_read(const qfz_retry *retry, int file, void *data, int64_t bytes, int64_t offset,
                       int *failures);
int64_t qfz_retry_write(const qfz_retry *retry, int file, const void *data, int64_t bytes,
                        int64_t offset, int *failures);

/* Calls fn until it does not fail with QFZ_EIO, or retry ends; then the message is the first
 * one, with the number of tries behind it. */
typedef qfz_status (*qfz_try_fn)(void *arg, qfz_error *err);
qfz_status qfz_retry_call(const qfz_retry *retry, qfz_try_fn fn, void *arg, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
