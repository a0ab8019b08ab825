/* SPDX-License-Identifier: MIT */
/* processor.c - another processor than the one that is there, for tests of clones (simd.h).
 *
 * What chooses a clone, and __builtin_cpu_supports(), look at what libgcc has found out.  Linked
 * into a program, this stands in its place, under the names and numbers that compilers and libgcc
 * agree on. */
#include <cpuid.h>
#include <unistd.h>

enum { HAS_AVX2 = 1 << 10 };

struct {
    unsigned vendor, type, subtype, features[1];
} __cpu_model = {.vendor = 1, .features = {QFZ_WITH_AVX2 ? HAS_AVX2 : 0}};
unsigned __cpu_features2[8];

int __cpu_indicator_init(void);
int __cpu_indicator_init(void)
{
    return 0;
}

/* Nothing has been done by a clone yet. */
__attribute__((constructor)) static void skip_what_is_not_there(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    const int known = __get_cpuid_count(7, 0, &a, &b, &c, &d);
    if (QFZ_WITH_AVX2 && !(known && (b & bit_AVX2))) _exit(77);
}
