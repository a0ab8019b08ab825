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

extern const qfz_patience qfz_patience_default;
qfz_patience qfz_patience_of(const qfz_job *job);

/* After that many failures: waits and says true, or says false at once, if they are enough. */
bool qfz_patience_again(const qfz_patience *patience, int failures);

/* Reads or writes bytes of a file, at offset, and says how many.  Fewer than asked for: the end of
 * the file, or, with *failures > 0, errno says why it could not go on after that many tries.  What
 * cannot get better, a full disk for one, is tried once. */
int64_t qfz_patient_read(const qfz_patience *patience, int file, void *data, int64_t bytes,
                         int64_t offset, int *failures);
int64_t qfz_patient_write(const qfz_patience *patience, int file, const void *data, int64_t bytes,
                          int64_t offset, int *failures);

/* Calls fn until it does not fail with QFZ_EIO, or patience ends; then the message is the first
 * one, with the number of tries behind it. */
typedef qfz_status (*qfz_try_fn)(void *arg, qfz_error *err);
qfz_status qfz_patience_try(const qfz_patience *patience, qfz_try_fn fn, void *arg, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
