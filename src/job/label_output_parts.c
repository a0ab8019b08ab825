/* SPDX-License-Identifier: MIT */
#include "job/label_output_parts.h"

#include "core/parallel.h"
#include "job/gather_parts.h"

static void add_to(qfz_gather_list *list, qfz_gather *gather)
{
    list->list[list->n++] = gather;
}

static qfz_gather_list gathers_of(const qfz_label_outputs *out)
{
    const qfz_zone_facts *const facts = &out->facts;
    const qfz_tally *const tallies[] = {facts->neighbours, facts->values, facts->stats_values};
    qfz_gather *of_colors[QFZ_COLORING_GATHERS];
    qfz_gather_list list = {.n = 0};
    if (out->neighbours) add_to(&list, qfz_neighbours_gather(out->neighbours));
    if (facts->zones) add_to(&list, qfz_zones_gather(facts->zones));
    for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++)
        if (tallies[i]) add_to(&list, qfz_tally_gather(tallies[i]));
    if (!out->paints || !out->paint.coloring) return list;
    qfz_coloring_gathers(out->paint.coloring, of_colors);
    for (int i = 0; i < QFZ_COLORING_GATHERS; i++)
        add_to(&list, of_colors[i]);
    return list;
}

/* --------------------------------------------------------------------------------------- saving */
static qfz_status save_chains(const qfz_label_outputs *out, const qfz_part_files *files, int part,
                              qfz_error *err)
{
    qfz_polygon_chains chains = qfz_label_outputs_chains(out);
    qfz_status st = qfz_polygon_chains_trace(&chains, err);
    if (st == QFZ_OK) st = qfz_polygon_chains_save(&chains, files, part, err);
    qfz_polygon_chains_close(&chains);
    return st;
}

/* Records come last: they say that the part is complete. */
qfz_status qfz_label_output_parts_save(qfz_label_outputs *out, const qfz_part_files *files,
                                       int part, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    if (out->job->polygons) st = save_chains(out, files, part, err);
    if (st == QFZ_OK) st = qfz_label_outputs_pass(out, err);
    const qfz_gather_list list = gathers_of(out);
    if (st == QFZ_OK) st = qfz_gather_parts_save(&list, files->output, part, files->n_parts, err);
    qfz_label_outputs_close(out);
    return st;
}

/* --------------------------------------------------------------------------------------- adding */
typedef struct adding {
    qfz_label_outputs *outputs;
    qfz_gather_list list;
} adding;

static qfz_status add_part(void *arg, int64_t part, int thread, qfz_error *err)
{
    adding *const a = arg;
    const qfz_part_files *const files = &a->outputs->files;
    QFZ_TRY(qfz_gather_parts_add(&a->list, thread, files->output, (int)part, files->n_parts, err));
    return qfz_progress_advance(a->outputs->pass.progress, err);
}

qfz_status qfz_label_output_parts_add(qfz_label_outputs *out, qfz_error *err)
{
    adding a = {.outputs = out, .list = gathers_of(out)};
    qfz_progress_begin(out->pass.progress, "joining", QFZ_LABEL_OUTPUTS_SHARE / 3,
                       out->files.n_parts);
    QFZ_TRY(qfz_parallel_for(out->pass.n_threads, out->files.n_parts, add_part, &a, err));
    return qfz_zone_facts_begin_reading(&out->facts, err);
}

bool qfz_label_output_parts_have(const qfz_part_files *files, int part)
{
    return qfz_gather_parts_have(files->output, part, files->n_parts);
}

void qfz_label_output_parts_delete(const qfz_part_files *files, int part)
{
    qfz_gather_parts_delete(files->output, part, files->n_parts);
    qfz_polygon_chains_delete(files, part);
}
