/* SPDX-License-Identifier: MIT */
/* setup_seconds.c - about how long a job takes, by what was measured of others.
 *
 * An order of magnitude: pixels, machines and files differ by more than what is left out here. */
#include "job/setup.h"

/* Nanoseconds of one thread a pixel of one band: seconds times threads over pixels, the slower
 * figure where there are several.  cpu: docs/performance.md, "Whole commands", and docs/scaling.md,
 * "Measured" (but its first table, whose machine was busy); gpu: docs/performance-gpu.md, "Whole
 * commands" (without the start of CUDA) and "Several GPUs" (DEFLATE), with 16 threads to a GPU,
 * which waits for them to read and write. */
typedef struct rates {
    double cpu, cpu_counts, gpu, gpu_counts; /* counts: with count_only */
} rates;

static const rates rates_of[] = {
    [QFZ_LABEL] = {42, 3.3, 50, 2.8},
    [QFZ_SIMPLIFY] = {200, 145, 24, 4.6},
    [QFZ_SALIENCY] = {86, 0, 75, 0},
    [QFZ_CUT] = {42, 14, 50, 14}, /* written as labels are; not measured on GPUs */
};

/* Each further band, by label --count-only of four, which does little else than read. */
static const double band_ns = 6;

/* Whatever the threads do, a GPU is not faster: simplify, uncompressed, 5.2 Gpixel/s. */
static const double device_ns = 0.19;

double qfz_setup_seconds(const qfz_setup *setup, int64_t n_px)
{
    const rates *const r = &rates_of[setup->job->task];
    const bool counts = setup->job->count_only, gpu = setup->choice.device_memory_bytes > 0;
    const double ns = gpu ? (counts ? r->gpu_counts : r->gpu) : counts ? r->cpu_counts : r->cpu;
    const double threads = (ns + band_ns * (setup->info.n_bands - 1)) / setup->n_threads;
    const double devices = gpu ? device_ns / setup->choice.n_devices : 0;
    return 1e-9 * (double)n_px * (threads > devices ? threads : devices);
}
