/* SPDX-License-Identifier: MIT */
/* turns.h - threads make parts 0, 1, ... at the same time, and take turns in this order, for
 * example to write them. */
#ifndef QFZ_TURNS_H
#define QFZ_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { QFZ_TURNS_SLOTS = 64 };

/* A thread waits in the slot of its part, so that the end of a turn wakes the next thread alone. */
typedef struct qfz_turns {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t may_begin[QFZ_TURNS_SLOTS];
    int64_t now; /* the part whose turn it is */
    bool has_failed;
} qfz_turns;

void qfz_turns_init(qfz_turns *turns);
void qfz_turns_fini(qfz_turns *turns);

/* Waits until the turns of all parts before this one have ended; false: one failed. */
bool qfz_turns_wait(qfz_turns *turns, int64_t part);

/* Ends the present turn; or, not ok, all waiting: also of a thread whose turn it is not. */
void qfz_turns_end(qfz_turns *turns, bool ok);

#endif
