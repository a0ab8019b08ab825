/* SPDX-License-Identifier: MIT */
#include "job/setup_seconds.h"

/* Nanoseconds of one thread per pixel of one band: seconds times threads divided by pixels; where
 * several figures were measured, the slowest of an idle machine.  From docs/dev/measurements.  cpu:
 * cpu.md, "Whole commands", and costs.md.  gpu: gpu.md, "Whole commands" without the start of CUDA,
 * and "Several GPUs" (DEFLATE) with 16 threads for each GPU, where reading and writing are the
 * limit.  Both of a curve: 2026-11-27-gpu-curve.md. */
typedef struct rates {
    double cpu, cpu_counts, gpu, gpu_counts; /* counts: with job->count_only */
} rates;

static const rates rates_of[] = {
    [QFZ_LABEL] = {42, 3.3, 50, 2.8}, [QFZ_SIMPLIFY] = {200, 145, 24, 4.6},
    [QFZ_SALIENCY] = {86, 0, 75, 0},  [QFZ_CURVE] = {0, 52, 0, 4.8},
    [QFZ_FOREST] = {200, 0, 0, 0}, /* no machine was measured */
    [QFZ_CUT] = {42, 14, 50, 14},  /* 42 and 50 are those of label; no GPU was measured */
};

/* Labels of alpha-components: fewer regions than of equal values, so that less is compressed. */
static const rates alpha_labels = {25, 3.3, 22, 2.8};

/* Nanoseconds per pixel of each further band, from label --count-only of four bands, which mostly
 * reads. */
static const double band_ns = 6;

/* Nanoseconds of one thread per pixel for the area filter: docs/dev/measurements, "What the area
 * filter keeps between passes" (11 to 36), and "The area filter on the GPU" (22 to 69). */
static const double filter_ns = 50;

/* Nanoseconds per pixel of one GPU with any number of threads: simplify of an uncompressed file,
 * 5.2 Gpixel/s. */
static const double device_ns = 0.19;

/* Nanoseconds of one thread per pixel of a raster of labels with a region for every 7 pixels, whose
 * table is written: docs/dev/measurements, "Regions from labels". */
static const double regions_ns = 350;

/* Nanoseconds of one thread per pixel for a quicklook in colours, which is two passes over the
 * labels, and for one that shows an image; of one thread per cell of an attribute table:
 * docs/dev/measurements, "Quicklooks and attribute tables".  Contours take about as long as an
 * image. */
static const double colors_ns = 30, image_ns = 56, cell_ns = 900;

double qfz_picture_seconds(const qfz_job *job, int64_t n_px, int n_threads)
{
    const bool colors = job->task != QFZ_SALIENCY && job->quicklook_style == QFZ_QUICKLOOK_COLORS;
    if (!job->quicklook) return 0;
    return 1e-9 * (double)n_px * (colors ? colors_ns : image_ns) / n_threads;
}

double qfz_attributes_seconds(int64_t n_cells)
{
    return 1e-9 * (double)n_cells * cell_ns;
}

double qfz_regions_seconds(int64_t n_px, int n_threads)
{
    return 1e-9 * (double)n_px * regions_ns / n_threads;
}

static const rates *rates_for(const qfz_job *job)
{
    const bool has_alpha = job->task == QFZ_LABEL && job->criterion.has_alpha;
    return has_alpha ? &alpha_labels : &rates_of[job->task];
}

double qfz_setup_seconds(const qfz_setup *setup, int64_t n_px)
{
    const rates *const r = rates_for(setup->job);
    const bool counts = setup->job->count_only, gpu = setup->choice.device_memory_bytes > 0;
    const double ns = gpu ? (counts ? r->gpu_counts : r->gpu) : counts ? r->cpu_counts : r->cpu;
    const bool filters = setup->rule.min_mass > 0 && setup->job->task != QFZ_FOREST;
    const double all_ns = ns + band_ns * (setup->info.n_bands - 1) + (filters ? filter_ns : 0);
    const double threads = all_ns / setup->n_threads;
    const double devices = gpu ? device_ns / setup->choice.n_devices : 0;
    return 1e-9 * (double)n_px * (threads > devices ? threads : devices);
}
