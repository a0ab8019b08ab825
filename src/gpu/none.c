/* SPDX-License-Identifier: MIT */
/* none.c - gpu.h in a build without CUDA: no devices, and an engine that does not open. */
#include "gpu/gpu.h"

bool qfz_gpu_visible(void)
{
    return false;
}

static qfz_status no_cuda(qfz_error *err)
{
    return qfz_fail(err, QFZ_EGPU,
                    "this build has no CUDA engine; do not use --engine cuda, --gpus, "
                    "--gpu-memory or --method");
}

qfz_status qfz_gpu_count(int *n, qfz_error *err)
{
    (void)n;
    return no_cuda(err);
}

qfz_status qfz_gpu_memory(const qfz_device *devices, int n, int64_t *bytes, qfz_error *err)
{
    (void)devices;
    (void)n;
    (void)bytes;
    return no_cuda(err);
}

const char *qfz_gpu_obstacle(const qfz_rule *rule, qfz_kind kind)
{
    (void)rule;
    (void)kind;
    return "this build has no CUDA engine";
}

qfz_status qfz_gpu_can(qfz_device device, const qfz_rule *rule, qfz_kind kind, qfz_error *err)
{
    (void)device;
    (void)rule;
    (void)kind;
    return no_cuda(err);
}

qfz_status qfz_gpu_measure_copy(int device, double *bytes_per_s, qfz_error *err)
{
    (void)device;
    (void)bytes_per_s;
    return no_cuda(err);
}

static qfz_status no_open(qfz_worker **workers, int n, const qfz_worker_spec *spec, qfz_error *err)
{
    (void)workers;
    (void)n;
    (void)spec;
    return no_cuda(err);
}

const qfz_engine qfz_engine_cuda = {.name = "cuda", .open = no_open};
