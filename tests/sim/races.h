/* SPDX-License-Identifier: MIT */
/* races.h - what the scheduler tells races.cc of the thread that runs. */
#ifndef QFZ_SIM_RACES_H
#define QFZ_SIM_RACES_H

#include <cstdint>

struct sim_moment {
    int thread;             /* of the block */
    uint64_t barriers;      /* so far on this host thread, the starts of blocks among them */
    uint64_t warp_barriers; /* __syncwarp()s of its warp */
    const char *shared, *shared_end; /* dynamic shared memory */
};

/* false: no thread of a kernel runs on this host thread. */
bool sim_now(sim_moment *now);

#endif
