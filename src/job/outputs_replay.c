/* SPDX-License-Identifier: MIT */
#include "job/outputs_replay.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/outputs_files.h"
#include "job/setup_memory.h"
#include "job/temp_folder.h"

/* Memory for one tile of output. */
typedef struct room {
    void *pixels;
    uint8_t *valid;
    uint64_t *records;
    int64_t records_n;
} room;

static qfz_status room_init(room *r, const qfz_setup *setup, qfz_error *err)
{
    const int64_t px = setup->tiling.tile_w * setup->tiling.tile_h;
    const int64_t record_bytes = qfz_region_record_bytes(setup);
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
    const int64_t record_bytes = qfz_region_record_bytes(out->run->setup);
    const int64_t n =
        qfz_output_journal_bytes(out->journal, QFZ_REGION_RECORDS, tile) / record_bytes;
    for (int64_t first = 0; first < n; first += r->records_n) {
        const int64_t count = n - first < r->records_n ? n - first : r->records_n;
        QFZ_TRY(qfz_output_journal_read(out->journal, QFZ_REGION_RECORDS, tile,
                                        first * record_bytes, r->records, count * record_bytes,
                                        err));
        QFZ_TRY(qfz_region_records_add(out->regions, r->records, count, err));
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
        QFZ_TRY(qfz_output_journal_get(out->journal, i, tile, r->pixels,
                                       n * qfz_outputs_px_bytes(&out->specs[i]),
                                       masked ? r->valid : NULL, n, err));
        QFZ_TRY(qfz_sink_write(out->sinks[i], box, r->pixels, masked ? r->valid : NULL, err));
    }
    QFZ_TRY(qfz_outputs_replay_forest(out, tile, err));
    return out->regions ? replay_records(out, tile, r, err) : QFZ_OK;
}

/* Deletes what killed runs with another number of processes have left of a raster. */
static void clean_raster(const char *path, const char *stage, int n_parts)
{
    qfz_parts_delete_others(path, n_parts);
    if (n_parts > 0) qfz_output_clean(path, stage);
}

/* The same for all outputs.  The first process does it; the others use files with other names. */
static qfz_status clean_other_numbers(const qfz_outputs *out, qfz_error *err)
{
    const qfz_run *const run = out->run;
    const qfz_job *const job = run->setup->job;
    const qfz_work_others *const others = qfz_work_folder_others(run->work);
    const char *const stage = qfz_temp_folder_local(job);
    if (others->n == 0 || run->ranks->rank > 0) return QFZ_OK;
    for (int i = 0; i < out->n_rasters; i++)
        clean_raster(out->specs[i].path, stage, out->specs[i].n_parts);
    if (qfz_outputs_has_layout(job)) {
        char path[QFZ_PATH_BYTES]; /* of one process, if there are several now, else of several */
        QFZ_TRY(qfz_outputs_name_edges(path, job->dst, run->n_parts > 1 ? 1 : 2, err));
        clean_raster(path, stage, 0);
        qfz_output_clean(path, stage);
    }
    for (int64_t i = 0; i < others->n; i++)
        qfz_outputs_delete_part(job, others->parts[i].part - 1, others->parts[i].n_parts);
    return QFZ_OK;
}

/* Deletes temporary files of killed runs.  The journal is locked, so no other process uses them. */
static qfz_status clean(const qfz_outputs *out, qfz_error *err)
{
    for (int i = 0; i < out->n_rasters; i++) {
        const qfz_sink_spec *const spec = &out->specs[i];
        char *part = NULL;
        if (spec->n_parts) QFZ_TRY(qfz_part_path(&part, spec, err));
        qfz_output_clean(part ? part : spec->path, qfz_temp_folder_local(out->run->setup->job));
        free(part);
    }
    return clean_other_numbers(out, err);
}

qfz_status qfz_outputs_replay(qfz_outputs *out, qfz_error *err)
{
    qfz_run *const run = out->run;
    room r = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, clean(out, err));
    QFZ_TRY_OR(st, cleanup, qfz_outputs_create(out, err));
    QFZ_TRY_OR(st, cleanup, room_init(&r, run->setup, err));
    qfz_progress_begin(run->progress, "writing", 0.05, run->end_tile - run->first_tile);
    for (int64_t tile = run->first_tile; tile < run->end_tile; tile++) {
        QFZ_TRY_OR(st, cleanup, replay_tile(out, tile, &r, err));
        QFZ_TRY_OR(st, cleanup, qfz_progress_advance(run->progress, err));
    }

cleanup:
    room_fini(&r);
    return st;
}
