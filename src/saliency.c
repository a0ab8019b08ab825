/* SPDX-License-Identifier: MIT */
/* saliency.c - the level at which the two pixels of each edge meet: two passes, and one over the
 * result for layouts that are not of edges. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layout.h"
#include "memory.h"
#include "visits.h"

typedef struct outputs {
    qfz_sink *edges, *layout;
    qfz_sink_spec edges_spec, layout_spec;
} outputs;

/* Is there an edge from pixel i of the tile?  Only asked where a level could be taken for none. */
static bool edge_exists(const qfz_hand *hand, const qfz_answer *answer, int dir, int64_t y,
                        int64_t x)
{
    const qfz_image *const tile = &hand->tile;
    const int64_t v = y + qfz_dir_dy[dir], u = x + qfz_dir_dx[dir];
    if (v >= 0 && v < tile->h && u >= 0 && u < tile->w)
        return !tile->valid || (tile->valid[y * tile->w + x] && tile->valid[v * tile->w + u]);
    if (!answer->n_ring) return false;
    return answer->cross_has[qfz_ring_index(tile->h, tile->w, y, x)] >> dir & 1;
}

static void widen_keys(const qfz_hand *hand, const qfz_answer *answer, int n_dirs,
                       const uint32_t *keys, uint64_t *out)
{
    const int64_t n = hand->tile.h * hand->tile.w;
    for (int d = 0; d < n_dirs; d++)
        for (int64_t i = 0; i < n; i++, keys++, out++) {
            const bool none = *keys == QFZ_NONE &&
                              !edge_exists(hand, answer, d, i / hand->tile.w, i % hand->tile.w);
            *out = none ? UINT64_MAX : *keys;
        }
}

/* Keys as the output's type, QFZ_NONE as its nodata. */
static void convert_keys(const qfz_hand *hand, const qfz_answer *answer, const qfz_sink_spec *spec,
                         const uint32_t *keys, void *out)
{
    const int64_t n = spec->n_bands * hand->tile.h * hand->tile.w;
    const float nothing = NAN;
    switch (spec->type) {
    case QFZ_OUT_U16:
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)out)[i] = keys[i] == QFZ_NONE ? UINT16_MAX : (uint16_t)keys[i];
        break;
    case QFZ_OUT_F32:
        for (int64_t i = 0; i < n; i++)
            memcpy((float *)out + i, keys[i] == QFZ_NONE ? (const void *)&nothing : keys + i,
                   sizeof nothing);
        break;
    case QFZ_OUT_U64: widen_keys(hand, answer, spec->n_bands, keys, out); break;
    default: memcpy(out, keys, (size_t)n * sizeof *keys); break;
    }
}

static qfz_status resolve(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg, qfz_error *err)
{
    const outputs *const out = arg;
    const int64_t n_px = hand->tile.h * hand->tile.w;
    uint32_t *const keys = hand->out;
    void *const values =
        keys + n_px * out->edges_spec.n_bands; /* an even number: aligned for 8 bytes */
    qfz_answer answer = {0};
    qfz_status st;
    QFZ_TRY(qfz_stitch_answer(run->stitch, tile, &answer, err));
    QFZ_TRY_OR(
        st, cleanup,
        run->setup->engine->saliency(hand->worker, answer.n_ring ? &answer : NULL, keys, err));
    convert_keys(hand, &answer, &out->edges_spec, keys, values);
    st = qfz_sink_write(out->edges, hand->box, values, hand->tile.valid, err);

cleanup:
    qfz_answer_fini(&answer);
    return st;
}

/* Edges that are not the result itself lie beside it in a file that never gets a name. */
static qfz_status create_edges(qfz_run *run, outputs *out, qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    out->edges_spec = qfz_spec_saliency(run->setup, job->dst, QFZ_EDGES);
    if (job->layout == QFZ_EDGES)
        return qfz_sink_create(&out->edges, run->source, job, &out->edges_spec, err);
    qfz_job plain = *job;
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s.edges.tif", job->dst) >= sizeof path)
        return qfz_fail(err, QFZ_EARG, "%s: the name is too long", job->dst);
    plain.format = "GTiff";
    plain.type = NULL;
    plain.creation_options = NULL;
    out->edges_spec.path = path;
    const qfz_status st = qfz_sink_create(&out->edges, run->source, &plain, &out->edges_spec, err);
    out->edges_spec.path = job->dst;
    return st;
}

qfz_status qfz_run_saliency(qfz_run *run, qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    outputs out = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_run_visit(run, 0.4, qfz_visit_summarise, NULL, err));
    QFZ_TRY_OR(st, cleanup, qfz_run_solve(run, 0.1, err));
    QFZ_TRY_OR(st, cleanup, create_edges(run, &out, err));
    QFZ_TRY_OR(st, cleanup, qfz_run_visit(run, 0.45, resolve, &out, err));
    if (job->layout != QFZ_EDGES) {
        out.layout_spec = qfz_spec_saliency(run->setup, job->dst, job->layout);
        QFZ_TRY_OR(st, cleanup,
                   qfz_sink_create(&out.layout, run->source, job, &out.layout_spec, err));
        QFZ_TRY_OR(
            st, cleanup,
            qfz_layout_convert(out.edges, &out.edges_spec, out.layout, &out.layout_spec, err));
    }
    st = qfz_sink_commit(out.layout ? out.layout : out.edges, err);

cleanup:
    qfz_sink_close(out.edges);
    qfz_sink_close(out.layout);
    return st;
}
