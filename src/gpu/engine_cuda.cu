/* SPDX-License-Identifier: MIT */
/* engine_cuda.cu - the CUDA engine's table. */
#include "gpu/gpu.h"

static qfz_status worker_open(qfz_worker **worker, const qfz_worker_spec *spec, qfz_error *err)
{
    (void)worker;
    (void)spec;
    return qfz_fail(err, QFZ_EGPU, "the CUDA engine cannot do this yet; use --engine cpu");
}

static qfz_engine make_table(void)
{
    qfz_engine engine = {};
    engine.name = "cuda";
    engine.open = worker_open;
    return engine;
}

extern "C" {
extern const qfz_engine qfz_engine_cuda = make_table();
}
