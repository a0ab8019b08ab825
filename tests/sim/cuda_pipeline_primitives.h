/* SPDX-License-Identifier: MIT */
/* Asynchronous copies to shared memory.  The simulator performs each copy as late as permitted, so
 * that a test fails if a kernel reads the data too early. */
#ifndef QFZ_SIM_PIPELINE_H
#define QFZ_SIM_PIPELINE_H

#include <vector>

#include "sim.h"

struct sim_copy {
    unsigned *to;
    const unsigned *from;
    size_t words;
};

/* The pending copies of the running thread. */
std::vector<sim_copy> &sim_copies();

static inline void __pipeline_memcpy_async(void *to, const void *from, size_t bytes)
{
    sim_copies().push_back({(unsigned *)to, (const unsigned *)from, bytes / sizeof(unsigned)});
}

static inline void __pipeline_commit()
{
}

static inline void __pipeline_wait_prior(size_t)
{
    for (const sim_copy &copy : sim_copies())
        for (size_t i = 0; i < copy.words; i++)
            copy.to[i] = __ldcg(copy.from + i);
    sim_copies().clear();
}

#endif
