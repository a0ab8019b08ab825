/* SPDX-License-Identifier: MIT */
/* retry.h - repeats storage operations that fail temporarily, a few times, after longer and longer
 * waits.  Permanent failures are reported at once. */
#ifndef QFZ_RETRY_H
#define QFZ_RETRY_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qfz_retry {
    int retries;   /* attempts after the first one */
    double wait_s; /* before the first of them; each further wait is four times as long */
} qfz_retry;

extern const qfz_retry qfz_retry_default;

/* Attempts after a failure, of all threads and all jobs of the process so far. */
int64_t qfz_retries_so_far(void);

/* Call after the given number of failures: waits and returns true, or returns false at once if
 * there are no attempts left. */
bool qfz_retry_wait(const qfz_retry *retry, int failures);

/* Reads or writes bytes of a file at offset, and returns their number.  Fewer than requested: if
 * *failures is 0, the end of the file was reached; else errno is the reason of the last of
 * *failures failed attempts.  A permanent error, such as a full disk, is not retried. */
int64_t qfz_retry_read(const qfz_retry *retry, int file, void *data, int64_t bytes, int64_t offset,
                       int *failures);
int64_t qfz_retry_write(const qfz_retry *retry, int file, const void *data, int64_t bytes,
                        int64_t offset, int *failures);

/* Calls fn until it does not fail with QFZ_EIO, or no attempts are left; then *err has the first
 * message, with the number of attempts appended. */
typedef qfz_status (*qfz_try_fn)(void *arg, qfz_error *err);
qfz_status qfz_retry_call(const qfz_retry *retry, qfz_try_fn fn, void *arg, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
