/* SPDX-License-Identifier: MIT */
/* label.c - components of equal values, alpha-components, and cuts of a hierarchy: two passes. */
#include "regions.h"
#include "visits.h"

static qfz_status summarise(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg, qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    qfz_partition partition;
    QFZ_TRY(engine->partition(hand->worker, NULL, &partition, err));
    QFZ_TRY(qfz_stitch_put_partition(run->stitch, tile, &partition, err));
    return qfz_visit_summarise(run, hand, tile, arg, err);
}

typedef struct outputs {
    qfz_sink *labels;
    bool wide;
    qfz_regions *regions;
    qfz_table *table;
} outputs;

static qfz_status resolve(qfz_run *run, qfz_hand *hand, int64_t tile, void *arg, qfz_error *err)
{
    outputs *const out = arg;
    const qfz_engine *const engine = run->setup->engine;
    qfz_partition partition;
    QFZ_TRY(engine->partition(hand->worker, NULL, &partition, err));
    QFZ_TRY(qfz_stitch_labels(run->stitch, tile, &partition, hand->lut, err));
    QFZ_TRY(engine->labels(hand->worker, hand->lut, out->wide, hand->out, err));
    QFZ_TRY(qfz_sink_write(out->labels, hand->box, hand->out, NULL, err));
    return qfz_regions_add(out->regions, run, hand, &partition, hand->lut, err);
}

qfz_status qfz_run_label(qfz_run *run, qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    outputs out = {0};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_run_visit(run, 0.4, summarise, NULL, err));
    QFZ_TRY_OR(st, cleanup, qfz_run_solve(run, 0.05, err));
    QFZ_TRY_OR(st, cleanup, qfz_stitch_number(run->stitch, &run->n_regions, err));
    const qfz_sink_spec spec = qfz_spec_labels(run->setup, job->dst, run->n_regions);
    out.wide = spec.type == QFZ_OUT_U64;
    QFZ_TRY_OR(st, cleanup, qfz_sink_create(&out.labels, run->source, job, &spec, err));
    QFZ_TRY_OR(st, cleanup, qfz_regions_open(&out.regions, run, err));
    QFZ_TRY_OR(st, cleanup, qfz_run_visit(run, 0.5, resolve, &out, err));
    QFZ_TRY_OR(st, cleanup, qfz_regions_write(out.regions, run, &out.table, err));
    QFZ_TRY_OR(st, cleanup, qfz_sink_commit(out.labels, err));
    if (out.table) st = qfz_table_commit(out.table, err);

cleanup:
    qfz_sink_close(out.labels);
    qfz_table_close(out.table);
    qfz_regions_close(out.regions);
    return st;
}
