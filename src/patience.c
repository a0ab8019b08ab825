/* SPDX-License-Identifier: MIT */
#include "patience.h"

#include <errno.h>
#include <time.h>

static const double longest_wait_s = 10; /* a signal is heard only between tries */

qfz_patience qfz_patience_of(const qfz_job *job)
{
    return (qfz_patience){.retries = job->retries, .wait_s = job->retry_wait_s};
}

bool qfz_patience_again(const qfz_patience *patience, int failures)
{
    double wait_s = patience->wait_s;
    if (failures > patience->retries) return false;
    for (int i = 1; i < failures && wait_s < longest_wait_s; i++)
        wait_s *= 4;
    if (wait_s > longest_wait_s) wait_s = longest_wait_s;
    const struct timespec wait = {.tv_sec = (time_t)wait_s,
                                  .tv_nsec = (long)((wait_s - (double)(time_t)wait_s) * 1e9)};
    (void)nanosleep(&wait, NULL);
    return true;
}

bool qfz_errno_may_pass(int number)
{
    static const int for_good[] = {ENOSPC, EDQUOT, EFBIG, EROFS,  EBADF,   EACCES,
                                   EPERM,  EINVAL, EPIPE, ENOENT, ENOTDIR, EISDIR};
    for (size_t i = 0; i < sizeof for_good / sizeof for_good[0]; i++)
        if (number == for_good[i]) return false;
    return true;
}

bool qfz_patience_with_call(const qfz_patience *patience, int *failures)
{
    const int why = errno;
    const bool again =
        why == EINTR || (qfz_errno_may_pass(why) && qfz_patience_again(patience, ++*failures));
    errno = why;
    return again;
}

qfz_status qfz_patience_try(const qfz_patience *patience, qfz_try_fn fn, void *arg, qfz_error *err)
{
    qfz_error first = {.status = QFZ_OK};
    for (int failures = 1;; failures++) {
        qfz_error own = {.status = QFZ_OK};
        const qfz_status st = fn(arg, &own);
        if (st == QFZ_OK) return QFZ_OK;
        if (failures == 1) first = own;
        if (st == QFZ_EIO && qfz_patience_again(patience, failures)) continue;
        return failures > 1 ? qfz_fail(err, st, "%.900s (tried %d times)", first.message, failures)
                            : qfz_fail(err, st, "%s", first.message);
    }
}
