/* SPDX-License-Identifier: MIT */
/* races.h - the state of the running thread, from the scheduler for races.cc. */
#ifndef QFZ_SIM_RACES_H
#define QFZ_SIM_RACES_H

#include <cstdint>

struct sim_moment {
    int thread;                      /* its number in the block */
    uint64_t barriers;               /* barriers so far on this host thread, and starts of blocks */
    uint64_t warp_barriers;          /* __syncwarp() calls of its warp */
    const char *shared, *shared_end; /* dynamic shared memory */
};

/* Returns false if no thread of a kernel runs on this host thread. */
bool sim_now(sim_moment *now);

#endif
