/* SPDX-License-Identifier: MIT */
/* clones.h - functions for the processor that is there. */
#ifndef QFZ_CPU_CLONES_H
#define QFZ_CPU_CLONES_H

/* For hot loops: compiled twice, the loader takes the one that the processor can run.  Of
 * static functions only: what chooses one of the others would be exported. */
#if defined(__x86_64__) && defined(__linux__)
#define QFZ_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define QFZ_CLONES
#endif

/* For what such loops call: it has to become part of each of the two. */
#define QFZ_INLINE static inline __attribute__((always_inline))

#endif
