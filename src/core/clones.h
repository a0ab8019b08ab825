/* SPDX-License-Identifier: MIT */
/* clones.h - functions for the processor that is there. */
#ifndef QFZ_CLONES_H
#define QFZ_CLONES_H

/* For hot loops: compiled twice, the loader takes the one that the processor can run.  Of
 * static functions only: what chooses one of the others would be exported. */
#if defined(__x86_64__) && defined(__linux__)
#define QFZ_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define QFZ_CLONES
#endif

/* With one of 512 bits, where the compiler knows the name (gcc 12): for loops with many comparisons
 * of unsigned words.  There and nowhere else sums and products could be fused, which
 * -ffp-contract=off forbids. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && __GNUC__ >= 12
#define QFZ_CLONES_512 __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define QFZ_CLONES_512 QFZ_CLONES
#endif

/* For what such loops call: it has to become part of each of them. */
#define QFZ_INLINE static inline __attribute__((always_inline))

#endif
