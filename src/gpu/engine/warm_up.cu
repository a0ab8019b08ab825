/* SPDX-License-Identifier: MIT */
/* warm_up.cu - runs a worker's kind of work once, on a small tile, when its device opens.  CUDA
 * loads a kernel at its first launch, during which all threads that launch a kernel wait; this file
 * moves that delay to the start of the job. */
#include <stdlib.h>

#include "gpu/engine/worker.cuh"
#include "core/memory.h"

enum {
    SIDE = 128,
    LEAST_PX = 1 << 18,      /* jobs of smaller tiles are too short to gain from a warm-up */
    PX = SIDE * SIDE,        /* of the small tile, at most */
    EDGE_BYTES = 4 * 4 * PX, /* of its levels of edges */
    OUT_BYTES = 32 * PX      /* more than any output needs */
};

/* Runs the operations of the worker's kind; out: OUT_BYTES. */
static qfz_status run(qfz_worker *worker, qfz_summary *summary, void *out, qfz_error *err)
{
    const qfz_engine *const engine = &qfz_engine_cuda;
    const qfz_kind kind = worker->spec.kind;
    uint8_t *const bytes = static_cast<uint8_t *>(out);
    const qfz_edge_bits bits = {bytes, worker->spec.rule->wants_forest ? bytes + PX : NULL};
    const qfz_histogram *settled;
    qfz_partition partition;
    if (kind == QFZ_JOINS) return engine->joins(worker, summary, &settled, err);
    if (kind == QFZ_FILTER) {
        QFZ_TRY(engine->filter->summarise(worker, summary->box, NULL, NULL, summary, err));
        return engine->filter->resolve(worker, summary->box, NULL, NULL, &bits, err);
    }
    if (kind != QFZ_COMPONENTS) QFZ_TRY(engine->summarise(worker, summary, err));
    if (kind == QFZ_LEVELS) return engine->saliency(worker, NULL, sizeof(uint16_t), out, err);
    QFZ_TRY(engine->partition(worker, NULL, &partition, err));
    if (kind == QFZ_OMEGA) {
        QFZ_TRY(engine->border_sums(worker, 0, static_cast<uint64_t *>(out), err));
        QFZ_TRY(engine->paint(worker, 0, out, NULL, out, err));
    } else {
        QFZ_TRY(engine->summarise(worker, summary, err));
    }
    QFZ_TRY(engine->number(worker, NULL, err));
    return engine->labels(worker, false, out, err);
}

/* The memory has EDGE_BYTES zero bytes, OUT_BYTES, and the pixels of SIDE x SIDE. */
static qfz_status run_in(qfz_worker *worker, uint8_t *memory)
{
    const qfz_worker_spec *const spec = &worker->spec;
    qfz_error *const err = worker->gpu.err;
    uint8_t *const pixels = memory + EDGE_BYTES + OUT_BYTES;
    const size_t px_bytes = (size_t)spec->rule->n_bands * qfz_type_bytes(spec->rule->type);
    qfz_summary summary = {};
    qfz_image tile = {};
    tile.h = min(spec->max_h, (int)SIDE);
    tile.w = min(spec->max_w, (int)SIDE);
    tile.type = spec->rule->type;
    tile.n_bands = spec->rule->n_bands;
    tile.pixels = pixels;
    if (spec->rule->edge_levels) tile.edges = reinterpret_cast<const uint32_t *>(memory);
    for (size_t i = 0; i < PX * px_bytes; i++) /* a pattern of many kinds of regions, without NaN */
        pixels[i] = (uint8_t)(i / 3 % 5 + i / SIDE % 7);
    QFZ_TRY(qfz_summary_init(&summary, qfz_box{0, 0, tile.h, tile.w}, spec->rule, err));
    qfz_status st = qfz_engine_load(&qfz_engine_cuda, worker, &tile, err);
    if (st == QFZ_OK) st = run(worker, &summary, memory + EDGE_BYTES, err);
    qfz_summary_fini(&summary);
    return st;
}

qfz_status qfz_worker_warm_up(qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const size_t px_bytes = (size_t)spec->rule->n_bands * qfz_type_bytes(spec->rule->type);
    uint8_t *memory;
    if ((int64_t)spec->max_h * spec->max_w < LEAST_PX || spec->kind == QFZ_TREE) return QFZ_OK;
    QFZ_TRY(qfz_alloc_zero((void **)&memory, PX, (EDGE_BYTES + OUT_BYTES) / PX + px_bytes,
                           worker->gpu.err));
    const qfz_status st = run_in(worker, memory);
    free(memory);
    return st;
}
