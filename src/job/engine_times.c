/* SPDX-License-Identifier: MIT */
#include "job/engine_times.h"

#include <math.h>

/* Nanoseconds of one thread per pixel: seconds times threads divided by pixels, the GPU's without
 * its start.  All from one kind of machine, a H200 with 16 cores, and from the runs that
 * docs/dev/measurements/2026-11-27-engine-rates.md names.  gpu 0: the CUDA engine has not this
 * task. */
typedef struct rates {
    double cpu, gpu;
} rates;

/* Reading and writing limit labels on both engines, so that their rates are equal; no cut was
 * measured. */
static const rates rates_of[] = {
    [QFZ_LABEL] = {44, 44},   [QFZ_SIMPLIFY] = {87, 23}, [QFZ_SALIENCY] = {81, 42},
    [QFZ_CUT] = {44, 44},     [QFZ_CURVE] = {52, 4.8},   [QFZ_FOREST] = {125, 70},
    [QFZ_REGIONS] = {350, 0},
};

static const rates filtered_rates_of[] = {
    [QFZ_LABEL] = {84, 43},   [QFZ_SIMPLIFY] = {122, 40}, [QFZ_SALIENCY] = {133, 50},
    [QFZ_CUT] = {44, 44},     [QFZ_CURVE] = {97, 26},     [QFZ_FOREST] = {125, 70},
    [QFZ_REGIONS] = {350, 0},
};

/* Only these two tasks count regions without an output; the filter's rates are those with one. */
static const rates label_counts = {3.3, 2.8}, simplify_counts = {70, 4.6};

/* CUDA starts one GPU after the other. */
static const double start_s = 0.3;

/* Nanoseconds per pixel of one GPU, whatever the number of threads: its kernels. */
static const double device_ns = 0.19, filtered_device_ns = 0.25;

static rates rates_for(const qfz_engine_work *work)
{
    if (work->has_area) return filtered_rates_of[work->task];
    if (work->counts_only && work->task == QFZ_LABEL) return label_counts;
    if (work->counts_only && work->task == QFZ_SIMPLIFY) return simplify_counts;
    return rates_of[work->task];
}

qfz_engine_times qfz_engine_times_of(const qfz_engine_work *work)
{
    const rates r = rates_for(work);
    const double n_px = 1e-9 * (double)work->n_px;
    const double device = (work->has_area ? filtered_device_ns : device_ns) / work->n_gpus;
    const double host = r.gpu / work->n_threads;
    return (qfz_engine_times){
        .cpu_s = n_px * r.cpu / work->n_threads,
        .gpu_s = r.gpu > 0 ? start_s * work->n_gpus + n_px * fmax(host, device) : INFINITY};
}
