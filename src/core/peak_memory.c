/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/resource.h>

#include "qfz.h"

/* 0: /proc does not tell. */
static long long peak_in_proc(void)
{
    char line[256];
    long long kib = 0;
    FILE *const status = fopen("/proc/self/status", "re");
    if (!status) return 0;
    while (kib == 0 && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lld kB", &kib) != 1) kib = 0;
    (void)fclose(status);
    return kib;
}

int64_t qfz_peak_memory_bytes(void)
{
    const long long kib = peak_in_proc();
    struct rusage usage;
    if (kib > 0) return kib * 1024;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0;
}
