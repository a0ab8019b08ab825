/* SPDX-License-Identifier: MIT */
#include "core/retry.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

const qfz_retry qfz_retry_default = {.retries = 3, .wait_s = 0.01};

/* A count of the process, like its peak memory: storage fails for the process, not for a job, and
 * the file system through which GDAL reads knows no job. */
static _Atomic int64_t n_retries;

int64_t qfz_retries_so_far(void)
{
    return n_retries;
}

static const double longest_wait_s = 10; /* a signal takes effect only between attempts */

bool qfz_retry_wait(const qfz_retry *retry, int failures)
{
    double wait_s = retry->wait_s;
    if (failures > retry->retries) return false;
    for (int i = 1; i < failures && wait_s < longest_wait_s; i++)
        wait_s *= 4;
    if (wait_s > longest_wait_s) wait_s = longest_wait_s;
    const struct timespec wait = {.tv_sec = (time_t)wait_s,
                                  .tv_nsec = (long)((wait_s - (double)(time_t)wait_s) * 1e9)};
    (void)nanosleep(&wait, NULL);
    n_retries++;
    return true;
}

/* Call after a failed system call: true if the call should be repeated.  An interrupted call does
 * not count as a failure. */
static bool again(const qfz_retry *retry, int *failures)
{
    static const int for_good[] = {ENOSPC, EDQUOT, EFBIG, EROFS,  EBADF,   EACCES,
                                   EPERM,  EINVAL, EPIPE, ENOENT, ENOTDIR, EISDIR};
    const int why = errno;
    bool yes = why == EINTR;
    if (!yes) {
        ++*failures;
        yes = true;
        for (size_t i = 0; i < sizeof for_good / sizeof for_good[0]; i++)
            yes &= why != for_good[i];
        yes = yes && qfz_retry_wait(retry, *failures);
    }
    errno = why;
    return yes;
}

int64_t qfz_retry_read(const qfz_retry *retry, int file, void *data, int64_t bytes, int64_t offset,
                       int *failures)
{
    int64_t done = 0;
    for (*failures = 0; done < bytes;) {
        const ssize_t n =
            pread(file, (char *)data + done, (size_t)(bytes - done), (off_t)(offset + done));
        if (n < 0 && again(retry, failures)) continue;
        if (n < 0) return done;
        *failures = 0;
        if (n == 0) break;
        done += n;
    }
    return done;
}

int64_t qfz_retry_write(const qfz_retry *retry, int file, const void *data, int64_t bytes,
                        int64_t offset, int *failures)
{
    int64_t done = 0;
    for (*failures = 0; done < bytes;) {
        errno = EIO; /* for a write of no bytes, which sets no errno */
        const ssize_t n =
            pwrite(file, (const char *)data + done, (size_t)(bytes - done), (off_t)(offset + done));
        if (n <= 0 && again(retry, failures)) continue;
        if (n <= 0) return done;
        *failures = 0;
        done += n;
    }
    return done;
}

qfz_status qfz_retry_call(const qfz_retry *retry, qfz_try_fn fn, void *arg, qfz_error *err)
{
    qfz_error first = {.status = QFZ_OK};
    for (int failures = 1;; failures++) {
        qfz_error own = {.status = QFZ_OK};
        const qfz_status st = fn(arg, &own);
        if (st == QFZ_OK) return QFZ_OK;
        if (failures == 1) first = own;
        if (st == QFZ_EIO && qfz_retry_wait(retry, failures)) continue;
        return failures > 1 ? qfz_fail(err, st, "%.900s (tried %d times)", first.message, failures)
                            : qfz_fail(err, st, "%s", first.message);
    }
}
