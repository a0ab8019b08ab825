/* SPDX-License-Identifier: MIT */
#include "core/turns.h"

void qfz_turns_init(qfz_turns *turns)
{
    (void)pthread_mutex_init(&turns->lock, NULL);
    for (int i = 0; i < QFZ_TURNS_SLOTS; i++)
        (void)pthread_cond_init(&turns->may_begin[i], NULL);
    turns->now = 0;
    turns->has_failed = false;
}

void qfz_turns_fini(qfz_turns *turns)
{
    for (int i = 0; i < QFZ_TURNS_SLOTS; i++)
        (void)pthread_cond_destroy(&turns->may_begin[i]);
    (void)pthread_mutex_destroy(&turns->lock);
}

static pthread_cond_t *slot_of(qfz_turns *turns, int64_t part)
{
    return &turns->may_begin[part % QFZ_TURNS_SLOTS];
}

bool qfz_turns_wait(qfz_turns *turns, int64_t part)
{
    (void)pthread_mutex_lock(&turns->lock);
    while (turns->now < part && !turns->has_failed)
        (void)pthread_cond_wait(slot_of(turns, part), &turns->lock);
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
    for (int i = 0; i < (ok ? 1 : QFZ_TURNS_SLOTS); i++)
        (void)pthread_cond_broadcast(slot_of(turns, turns->now + i));
    (void)pthread_mutex_unlock(&turns->lock);
}
