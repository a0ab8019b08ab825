/* SPDX-License-Identifier: MIT */
/* task_saliency.c - the saliency of every edge: the level at which its two pixels meet.
 *
 *   pass 1   each tile: its boundary summary (links)
 *   stitch   the exterior of each tile
 *   pass 2   each tile, with its exterior: the level of every edge, one band per direction
 *
 * The layouts pixel and khalimsky are converted from the finished raster of edges
 * (saliency_layout.h). */
#include <math.h>
#include <string.h>

#include "job/output_specs.h"
#include "job/task.h"
#include "job/task_steps.h"
#include "job/tile_error.h"

/* True if the edge from pixel (y, x) of the tile in direction dir exists.  Needed only where a
 * level may be equal to QFZ_NONE. */
static bool edge_exists(const qfz_thread_context *context, const qfz_exterior *exterior, int dir,
                        int64_t y, int64_t x)
{
    const qfz_image *const tile = &context->tile;
    const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
    if (v >= 0 && v < tile->h && u >= 0 && u < tile->w)
        return !tile->valid || (tile->valid[y * tile->w + x] && tile->valid[v * tile->w + u]);
    if (!exterior->n_ring) return false;
    return exterior->cross_has[qfz_ring_index(tile->h, tile->w, y, x)] >> dir & 1;
}

static void widen_levels(const qfz_thread_context *context, const qfz_exterior *exterior,
                         int n_dirs, const uint32_t *levels, uint64_t *out)
{
    const int64_t n = context->tile.h * context->tile.w;
    for (int d = 0; d < n_dirs; d++)
        for (int64_t i = 0; i < n; i++, levels++, out++) {
            const bool none =
                *levels == QFZ_NONE &&
                !edge_exists(context, exterior, d, i / context->tile.w, i % context->tile.w);
            *out = none ? UINT64_MAX : *levels;
        }
}

static void float_levels(int64_t n, const uint32_t *levels, float *out)
{
    const float nothing = NAN;
    for (int64_t i = 0; i < n; i++)
        memcpy(out + i, levels[i] == QFZ_NONE ? (const void *)&nothing : levels + i,
               sizeof nothing);
}

/* Levels of 2 bytes that fit 1 byte, in place; the largest value stands for no edge in both. */
static void narrow_to_bytes(void *levels, int64_t n)
{
    const uint16_t *const from = levels;
    uint8_t *const to = levels;
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint8_t)from[i];
}

/* Converts levels of level_bytes (2 or 4) each to the output's type, and those of missing edges to
 * its nodata.  Returns where they are: in place, or behind the levels in the same buffer.  The
 * number of levels is even, so that those are aligned for 8 bytes. */
static const void *convert_levels(const qfz_thread_context *context, const qfz_exterior *exterior,
                                  const qfz_sink_spec *spec, int level_bytes, uint32_t *levels)
{
    const int64_t n = spec->n_bands * context->tile.h * context->tile.w;
    void *const behind = levels + n;
    switch (spec->type) {
    case QFZ_OUT_U8:
    case QFZ_OUT_U16:
        if (level_bytes == 4) qfz_levels_narrow_in_place(levels, n);
        if (spec->type == QFZ_OUT_U8) narrow_to_bytes(levels, n);
        return levels;
    case QFZ_OUT_U32: return levels;
    case QFZ_OUT_F32: float_levels(n, levels, behind); return behind;
    default: widen_levels(context, exterior, spec->n_bands, levels, behind); return behind;
    }
}

static int bytes_of(const qfz_sink_spec *spec)
{
    return qfz_out_type_bytes(spec->type) <= 2 ? 2 : 4;
}

/* The largest of n levels of 2 or 4 bytes; all bits set stand for no edge. */
static uint32_t largest_level(const void *levels, int level_bytes, int64_t n)
{
    uint32_t above = 0; /* one more: a missing edge counts as 0 */
    for (int64_t i = 0; i < n && level_bytes == 2; i++) {
        const uint16_t next = (uint16_t)(((const uint16_t *)levels)[i] + 1);
        above = next > above ? next : above;
    }
    for (int64_t i = 0; i < n && level_bytes == 4; i++) {
        const uint32_t next = ((const uint32_t *)levels)[i] + 1;
        above = next > above ? next : above;
    }
    return above ? above - 1 : 0;
}

/* The only tile shows how wide the levels are. */
static qfz_status find_type(qfz_run *run, qfz_outputs *outputs, const void *levels, int level_bytes,
                            int64_t n, qfz_error *err)
{
    run->level_bytes = qfz_level_bytes(largest_level(levels, level_bytes, n));
    QFZ_TRY(qfz_stitch_put_level_bytes(run->stitch, run->level_bytes, err));
    return qfz_outputs_set_type(outputs, err);
}

static qfz_status resolve(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                          qfz_error *err)
{
    qfz_outputs *const outputs = arg;
    const qfz_sink_spec *const spec = &outputs->specs[QFZ_MAIN];
    const int level_bytes = bytes_of(spec);
    const int64_t n = spec->n_bands * context->tile.h * context->tile.w;
    qfz_exterior exterior = {0};
    qfz_error found = {.status = QFZ_OK};
    qfz_status st;
    QFZ_TRY(qfz_stitch_exterior(run->stitch, tile, &exterior, err));
    st = run->setup->engine->saliency(context->worker, exterior.n_ring ? &exterior : NULL,
                                      level_bytes, context->out, &found);
    QFZ_TRY_OR(st, cleanup,
               qfz_tile_engine_status(run->setup->job->src, context->box, st, &found, err));
    if (outputs->type_is_open)
        QFZ_TRY_OR(st, cleanup, find_type(run, outputs, context->out, level_bytes, n, err));
    st =
        qfz_outputs_write(outputs, QFZ_MAIN, context, tile,
                          convert_levels(context, &exterior, spec, level_bytes, context->out), err);

cleanup:
    qfz_exterior_fini(&exterior);
    return st;
}

/* The raster of edges is made for every layout. */
static void plan(const qfz_run *run, qfz_outputs *outputs)
{
    outputs->n_rasters = 1;
    outputs->specs[QFZ_MAIN] =
        qfz_output_spec_saliency(run->setup, run->setup->job->dst, QFZ_EDGES, run->level_bytes);
    outputs->type_is_open = run->level_bytes == 0 && qfz_output_type_is_found(run->setup);
}

const qfz_task_passes qfz_task_saliency = {
    .steps = {{.phase = QFZ_PHASE_SUMMARISE,
               .share = 0.4,
               .is_done = qfz_step_is_summarised,
               .visit = qfz_step_summarise},
              {.phase = QFZ_PHASE_STITCH,
               .share = 0.1,
               .is_done = qfz_step_is_stitched,
               .together = qfz_step_stitch}},
    .n_steps = 2,
    .plan = plan,
    .resolve_share = 0.45,
    .resolve = resolve,
};
