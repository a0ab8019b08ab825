/* SPDX-License-Identifier: MIT */
/* saliency.c - the level at which the two pixels of each edge meet: two passes, and one over the
 * result for layouts that are not of edges. */
#include <math.h>
#include <string.h>

#include "job/passes.h"
#include "job/visits.h"

/* Is there an edge from pixel i of the tile?  Only asked where a level could be taken for none. */
static bool edge_exists(const qfz_thread_context *context, const qfz_exterior *answer, int dir,
                        int64_t y, int64_t x)
{
    const qfz_image *const tile = &context->tile;
    const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
    if (v >= 0 && v < tile->h && u >= 0 && u < tile->w)
        return !tile->valid || (tile->valid[y * tile->w + x] && tile->valid[v * tile->w + u]);
    if (!answer->n_ring) return false;
    return answer->cross_has[qfz_ring_index(tile->h, tile->w, y, x)] >> dir & 1;
}

static void widen_keys(const qfz_thread_context *context, const qfz_exterior *answer, int n_dirs,
                       const uint32_t *keys, uint64_t *out)
{
    const int64_t n = context->tile.h * context->tile.w;
    for (int d = 0; d < n_dirs; d++)
        for (int64_t i = 0; i < n; i++, keys++, out++) {
            const bool none =
                *keys == QFZ_NONE &&
                !edge_exists(context, answer, d, i / context->tile.w, i % context->tile.w);
            *out = none ? UINT64_MAX : *keys;
        }
}

static void float_keys(int64_t n, const uint32_t *keys, float *out)
{
    const float nothing = NAN;
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i, keys[i] == QFZ_NONE ? (const void *)&nothing : keys + i, sizeof nothing);
}

/* Keys as the output's type, QFZ_NONE as its nodata: those themselves, or what is made of them
 * behind them; their number is even, so that this is aligned for 8 bytes. */
static const void *convert_keys(const qfz_thread_context *context, const qfz_exterior *answer,
                                const qfz_sink_spec *spec, uint32_t *keys)
{
    const int64_t n = spec->n_bands * context->tile.h * context->tile.w;
    void *const behind = keys + n;
    if (spec->type == QFZ_OUT_U16 || spec->type == QFZ_OUT_U32) return keys;
    if (spec->type == QFZ_OUT_F32)
        float_keys(n, keys, behind);
    else
        widen_keys(context, answer, spec->n_bands, keys, behind);
    return behind;
}

static qfz_status resolve(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                          qfz_error *err)
{
    qfz_outputs *const out = arg;
    const qfz_sink_spec *const spec = &out->specs[QFZ_MAIN];
    const int level_bytes = spec->type == QFZ_OUT_U16 ? 2 : 4;
    qfz_exterior answer = {0};
    qfz_status st;
    QFZ_TRY(qfz_stitch_exterior(run->stitch, tile, &answer, err));
    QFZ_TRY_OR(st, cleanup,
               run->setup->engine->saliency(context->worker, answer.n_ring ? &answer : NULL,
                                            level_bytes, context->out, err));
    st = qfz_outputs_write(out, QFZ_MAIN, context, tile,
                           convert_keys(context, &answer, spec, context->out), err);

cleanup:
    qfz_exterior_fini(&answer);
    return st;
}

/* Edges, whatever layout is made of them. */
static void plan(const qfz_run *run, qfz_outputs *out)
{
    out->n_rasters = 1;
    out->specs[QFZ_MAIN] = qfz_spec_saliency(run->setup, run->setup->job->dst, QFZ_EDGES);
}

const qfz_passes qfz_saliency_passes = {
    .steps = {{.phase = QFZ_PHASE_SUMMARISE,
               .share = 0.4,
               .is_done = qfz_visit_is_summarised,
               .visit = qfz_visit_summarise},
              {.phase = QFZ_PHASE_STITCH,
               .share = 0.1,
               .is_done = qfz_visit_is_solved,
               .together = qfz_run_solve}},
    .n_steps = 2,
    .plan = plan,
    .resolve_share = 0.45,
    .resolve = resolve,
};
