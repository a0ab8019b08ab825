/* SPDX-License-Identifier: MIT */
#include "core/turns.h"

bool qfz_turns_wait(qfz_turns *turns, int64_t part)
{
    (void)pthread_mutex_lock(&turns->lock);
    while (turns->now < part && !turns->has_failed)
        (void)pthread_cond_wait(&turns->ended, &turns->lock);
    const bool ok = !turns->has_failed;
    (void)pthread_mutex_unlock(&turns->lock);
    return ok;
}

void qfz_turns_end(qfz_turns *turns, bool ok)
{
    (void)pthread_mutex_lock(&turns->lock);
    if (ok)
        turns->now++;
    else
        turns->has_failed = true;
    (void)pthread_cond_broadcast(&turns->ended);
    (void)pthread_mutex_unlock(&turns->lock);
}
