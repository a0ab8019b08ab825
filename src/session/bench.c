/* SPDX-License-Identifier: MIT */
/* bench.c - the times of a session's parts, for qfz-bench (qfz_bench.h). */
#include "qfz_bench.h"

#include "core/clock.h"
#include "gpu/gpu.h"
#include "session/state.h"

static const qfz_buffers none = {.memory = QFZ_MEMORY_HOST};

static qfz_status run(qfz_session *s, qfz_part part, double *ms, qfz_error *err)
{
    QFZ_TRY(qfz_session_prepare(s, part, &none, err));
    const double started = qfz_seconds_now();
    QFZ_TRY(qfz_session_compute(s, part, &none, err));
    *ms = 1e3 * (qfz_seconds_now() - started);
    return QFZ_OK;
}

qfz_status qfz_bench_run(qfz_session *s, qfz_part part, double *ms, qfz_error *err)
{
    qfz_error own;
    return run(s, part, ms, qfz_api_error(err, &own));
}

qfz_status qfz_bench_time(qfz_session *s, qfz_part part, int n_runs, double *ms, qfz_error *err)
{
    qfz_error own;
    double warm_ms;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_session_prepare(s, part, &none, err));
    if (part == QFZ_PART_FILTER && s->filter_worker && s->filter_engine->device)
        return s->filter_engine->device->time(s->filter_worker, part, n_runs, ms, err);
    if (part != QFZ_PART_FILTER && s->engine->device) {
        QFZ_TRY(qfz_session_filter(s, err));
        return s->engine->device->time(s->worker, part, n_runs, ms, err);
    }
    QFZ_TRY(run(s, part, &warm_ms, err));
    for (int i = 0; i < n_runs; i++)
        QFZ_TRY(run(s, part, &ms[i], err));
    return QFZ_OK;
}

int64_t qfz_bench_gpu_bytes(const qfz_session *s)
{
    const bool has = s->worker && s->engine->device;
    const bool has_filter = s->filter_worker && s->filter_engine->device;
    return (has ? s->engine->device->bytes(s->worker) : 0) +
           (has_filter ? s->filter_engine->device->bytes(s->filter_worker) : 0);
}

qfz_status qfz_bench_copy_rate(int gpu, double *bytes_per_s, qfz_error *err)
{
    qfz_error own;
    return qfz_gpu_measure_copy(gpu, bytes_per_s, qfz_api_error(err, &own));
}
