/* SPDX-License-Identifier: MIT */
/* turns.h - threads make parts 0, 1, ... at the same time, and take turns in this order, for
 * example to write them. */
#ifndef QFZ_TURNS_H
#define QFZ_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct qfz_turns {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ended; /* now or has_failed has changed */
    int64_t now;          /* the part whose turn it is */
    bool has_failed;
} qfz_turns;

#define QFZ_TURNS_FIRST                                                                            \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER                       \
    }

/* Waits until the turns of all parts before this one have ended; false: one failed. */
bool qfz_turns_wait(qfz_turns *turns, int64_t part);

/* Ends the present turn; or, not ok, all waiting: also of a thread whose turn it is not. */
void qfz_turns_end(qfz_turns *turns, bool ok);

#endif
