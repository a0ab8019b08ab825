/* SPDX-License-Identifier: MIT */
#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "memory.h"
#include "work.h"

/* Kinds of records in the spool, behind the rasters. */
enum { RECORDS = QFZ_RASTERS, KINDS };
enum { PATH_BYTES = 4096 };

/* ----------------------------------------------------------------------------------- open, close
 */
/* Edges that are not the result itself lie beside it in a file that never gets its final name. */
static bool edges_path(const qfz_job *job, char path[PATH_BYTES])
{
    return snprintf(path, PATH_BYTES, "%s.edges.tif", job->dst) < PATH_BYTES;
}

static qfz_status create_edges(qfz_outputs *out, qfz_error *err)
{
    const qfz_setup *const setup = out->run->setup;
    char path[PATH_BYTES];
    if (!edges_path(setup->job, path))
        return qfz_fail(err, QFZ_EARG, "%s: the name is too long", setup->job->dst);
    qfz_job plain = *setup->job;
    plain.format = "GTiff";
    plain.type = NULL;
    plain.creation_options = NULL;
    qfz_sink_spec spec = out->specs[QFZ_MAIN];
    spec.path = path;
    return qfz_sink_create(&out->sinks[QFZ_MAIN], out->run->source, &plain, &spec, err);
}

/* Nobody else is at work on what the journal is of. */
static void clean(const qfz_outputs *out)
{
    const qfz_job *const job = out->run->setup->job;
    for (int i = 0; i < out->n_rasters; i++)
        qfz_output_clean(out->specs[i].path);
    if (job->regions) qfz_output_clean(job->regions);
    char edges[PATH_BYTES];
    if (edges_path(job, edges)) qfz_output_clean(edges);
}

static qfz_status create_files(qfz_outputs *out, qfz_error *err)
{
    const qfz_run *const run = out->run;
    for (int i = 0; i < out->n_rasters; i++) {
        if (out->specs[i].content == QFZ_CONTENT_SALIENCY && run->setup->job->layout != QFZ_EDGES)
            QFZ_TRY(create_edges(out, err));
        else
            QFZ_TRY(
                qfz_sink_create(&out->sinks[i], run->source, run->setup->job, &out->specs[i], err));
    }
    return qfz_regions_open(&out->regions, run, err);
}

static qfz_status open_spool(qfz_outputs *out, qfz_error *err)
{
    qfz_journal *journal = NULL;
    QFZ_TRY(qfz_spool_open(&out->spool, KINDS, out->run->n_tiles, err));
    QFZ_TRY(qfz_work_spool(out->run->work, &journal, err));
    return qfz_spool_attach(out->spool, journal, err);
}

qfz_status qfz_outputs_open(qfz_outputs *out, qfz_error *err)
{
    return out->run->work ? open_spool(out, err) : create_files(out, err);
}

void qfz_outputs_close(qfz_outputs *out)
{
    for (int i = 0; i < QFZ_RASTERS; i++)
        qfz_sink_close(out->sinks[i]);
    qfz_table_close(out->table);
    qfz_regions_close(out->regions);
    qfz_spool_close(out->spool);
}

/* ----------------------------------------------------------------------------------------- tiles
 */
bool qfz_outputs_have(const qfz_outputs *out, int64_t tile)
{
    if (!out->spool) return false;
    for (int i = 0; i < out->n_rasters; i++)
        if (!qfz_spool_has(out->spool, i, tile)) return false;
    return !out->run->setup->job->regions || qfz_spool_has(out->spool, RECORDS, tile);
}

static int64_t px_bytes(const qfz_sink_spec *spec)
{
    return spec->n_bands * (int64_t)qfz_out_type_bytes(spec->type);
}

/* Where all pixels are valid, a tile has no list of which are. */
static const uint8_t *mask_of(const qfz_outputs *out, int i, const qfz_hand *hand)
{
    return out->specs[i].has_mask ? hand->tile.valid : NULL;
}

qfz_status qfz_outputs_write(qfz_outputs *out, int i, const qfz_hand *hand, int64_t tile,
                             const void *pixels, qfz_error *err)
{
    const int64_t n = hand->tile.h * hand->tile.w;
    const uint8_t *const valid = mask_of(out, i, hand);
    if (!out->spool) return qfz_sink_write(out->sinks[i], hand->box, pixels, valid, err);
    return qfz_spool_put(out->spool, i, tile, pixels, n * px_bytes(&out->specs[i]), valid, n, err);
}

typedef struct gathering {
    qfz_spool *spool;
    qfz_long_record record;
    int64_t record_bytes;
} gathering;

static qfz_status take_records(void *arg, uint64_t *records, int64_t n, qfz_error *err)
{
    qfz_regions *const regions = arg;
    return qfz_regions_take(regions, records, n, err);
}

static qfz_status gather_records(void *arg, uint64_t *records, int64_t n, qfz_error *err)
{
    gathering *const g = arg;
    return qfz_spool_add(g->spool, &g->record, records, n * g->record_bytes, err);
}

qfz_status qfz_outputs_regions(qfz_outputs *out, qfz_hand *hand, int64_t tile,
                               const qfz_partition *partition, const uint64_t *lut, qfz_error *err)
{
    qfz_run *const run = out->run;
    if (!run->setup->job->regions) return QFZ_OK;
    if (!out->spool)
        return qfz_regions_make(run, hand, partition, lut, take_records, out->regions, err);
    gathering g = {.spool = out->spool, .record_bytes = qfz_region_bytes(run->setup)};
    g.record = qfz_spool_begin(out->spool, RECORDS, tile, partition->n_regions * g.record_bytes);
    QFZ_TRY(qfz_regions_make(run, hand, partition, lut, gather_records, &g, err));
    return qfz_spool_end(out->spool, &g.record, err);
}

/* ------------------------------------------------------------------------------- out of the spool
 */
typedef struct room {
    void *pixels;
    uint8_t *valid;
    uint64_t *records;
    int64_t records_n;
} room;

static qfz_status room_init(room *r, const qfz_setup *setup, qfz_error *err)
{
    const int64_t px = setup->tiling.tile_w * setup->tiling.tile_h;
    const int64_t record_bytes = qfz_region_bytes(setup);
    QFZ_TRY(qfz_alloc(&r->pixels, px, qfz_setup_out_bytes(setup), err));
    QFZ_TRY(QFZ_NEW(&r->valid, px, err));
    r->records_n = QFZ_RECORDS_BYTES / record_bytes + 1;
    return qfz_alloc((void **)&r->records, r->records_n, (size_t)record_bytes, err);
}

static void room_fini(room *r)
{
    free(r->pixels);
    free(r->valid);
    free(r->records);
}

static qfz_status replay_records(qfz_outputs *out, int64_t tile, const room *r, qfz_error *err)
{
    const int64_t record_bytes = qfz_region_bytes(out->run->setup);
    const int64_t n = qfz_spool_bytes(out->spool, RECORDS, tile) / record_bytes;
    for (int64_t first = 0; first < n; first += r->records_n) {
        const int64_t count = n - first < r->records_n ? n - first : r->records_n;
        QFZ_TRY(qfz_spool_read(out->spool, RECORDS, tile, first * record_bytes, r->records,
                               count * record_bytes, err));
        QFZ_TRY(qfz_regions_take(out->regions, r->records, count, err));
    }
    return QFZ_OK;
}

static qfz_status replay_tile(qfz_outputs *out, int64_t tile, const room *r, qfz_error *err)
{
    const qfz_tiling *const t = &out->run->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    for (int i = 0; i < out->n_rasters; i++) {
        const bool masked = out->specs[i].has_mask;
        QFZ_TRY(qfz_spool_get(out->spool, i, tile, r->pixels, n * px_bytes(&out->specs[i]),
                              masked ? r->valid : NULL, n, err));
        QFZ_TRY(qfz_sink_write(out->sinks[i], box, r->pixels, masked ? r->valid : NULL, err));
    }
    return out->regions ? replay_records(out, tile, r, err) : QFZ_OK;
}

static qfz_status replay(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    room r = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, room_init(&r, run->setup, err));
    for (int64_t tile = run->first_tile; tile < run->end_tile; tile++) {
        QFZ_TRY_OR(st, cleanup, replay_tile(out, tile, &r, err));
        QFZ_TRY_OR(st, cleanup, qfz_run_tell(run, err));
    }

cleanup:
    room_fini(&r);
    return st;
}

/* ------------------------------------------------------------------------------------------- end
 */
/* Layouts that are not of edges are made from all edges. */
static qfz_status convert_layout(qfz_outputs *out, qfz_error *err)
{
    const qfz_setup *const setup = out->run->setup;
    const qfz_sink_spec spec = qfz_spec_saliency(setup, setup->job->dst, setup->job->layout);
    qfz_sink *layout = NULL;
    QFZ_TRY(qfz_sink_create(&layout, out->run->source, setup->job, &spec, err));
    const qfz_status st =
        qfz_layout_convert(out->sinks[QFZ_MAIN], &out->specs[QFZ_MAIN], layout, &spec, err);
    if (st != QFZ_OK) {
        qfz_sink_close(layout);
        return st;
    }
    qfz_sink_close(out->sinks[QFZ_MAIN]);
    out->sinks[QFZ_MAIN] = layout;
    return QFZ_OK;
}

static qfz_status commit(qfz_outputs *out, qfz_error *err)
{
    const qfz_setup *const setup = out->run->setup;
    if (setup->job->task == QFZ_SALIENCY && setup->job->layout != QFZ_EDGES)
        QFZ_TRY(convert_layout(out, err));
    QFZ_TRY(qfz_regions_write(out->regions, out->run, &out->table, err));
    for (int i = 0; i < out->n_rasters; i++)
        QFZ_TRY(qfz_sink_commit(out->sinks[i], err));
    return out->table ? qfz_table_commit(out->table, err) : QFZ_OK;
}

qfz_status qfz_outputs_finish(qfz_outputs *out, qfz_error *err)
{
    if (!out->spool) return commit(out, err);
    clean(out);
    QFZ_TRY(create_files(out, err));
    QFZ_TRY(replay(out, err));
    QFZ_TRY(qfz_work_finish(out->run->work, err));
    return commit(out, err);
}
