/* SPDX-License-Identifier: MIT */
#include "job/task_run.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/alphas.h"
#include "job/curve.h"

static const char *const phase_names[] = {"all", "summarise", "stitch", "resolve"};

/* The first tile of this process for which the step is not done; -1: none.  A part without tiles
 * looks at tile 0 to find whether the stitching is done. */
static int64_t first_undone(const qfz_task_step *step, qfz_run *run)
{
    if (!qfz_run_owns_tiles(run) && step->phase == QFZ_PHASE_STITCH)
        return step->is_done(run, 0, NULL) ? -1 : 0;
    for (int64_t tile = run->first_tile; tile < run->end_tile; tile++)
        if (!step->is_done(run, tile, NULL)) return tile;
    return -1;
}

/* The process cannot go on: a step of another phase is missing.  That is the normal end of a
 * process that has done steps of its own, now or in an earlier run that was killed at its end;
 * otherwise it was started too early. */
static qfz_status end_here(qfz_run *run, const qfz_task_step *missing, int64_t tile, bool has_own,
                           qfz_error *err)
{
    const qfz_job *const job = run->setup->job;
    const qfz_tiling *const t = &run->setup->tiling;
    const int n_parts = qfz_work_folder_n_parts(run->work);
    if (has_own || job->phase == QFZ_PHASE_SUMMARISE) return QFZ_OK;
    if (missing->phase == QFZ_PHASE_STITCH)
        return qfz_fail(err, QFZ_EARG,
                        "%s: the tiles are not stitched yet; run --phase stitch first", job->work);
    return qfz_fail(err, QFZ_EARG, "%s: part %d of %d is not complete; run its --phase %s first",
                    job->work, 1 + qfz_part_of_row(t->n_y, tile / t->n_x, n_parts), n_parts,
                    phase_names[missing->phase]);
}

/* ------------------------------------------------------------------------------ for each alpha */
/* The visits of a pass to one tile. */
typedef struct visits {
    qfz_tile_is_done_fn is_done;
    qfz_tile_visit_fn visit;
    qfz_outputs *outputs; /* of each alpha; NULL: not the last pass */
} visits;

static qfz_outputs *outputs_of(const visits *v, const qfz_run *run)
{
    return v->outputs ? &v->outputs[run->alpha] : NULL;
}

/* True if no alpha lacks this tile. */
static bool is_done_for_all(qfz_run *first, int64_t tile, void *arg)
{
    const visits *const v = arg;
    for (qfz_run *run = first; run; run = run->next_alpha)
        if (!v->is_done(run, tile, outputs_of(v, run))) return false;
    return true;
}

static qfz_status visit_alphas(qfz_run *first, qfz_thread_context *context, int64_t tile, void *arg,
                               qfz_error *err)
{
    const visits *const v = arg;
    const qfz_image image = context->tile;
    for (qfz_run *run = first; run; run = run->next_alpha) {
        if (v->is_done(run, tile, outputs_of(v, run))) continue;
        if (first->next_alpha) QFZ_TRY(qfz_alphas_load(run, context, &image, err));
        QFZ_TRY(v->visit(run, context, tile, outputs_of(v, run), err));
    }
    return QFZ_OK;
}

/* A step of the area filter is done once. */
static qfz_status do_step(const qfz_task_step *step, bool is_of_filter, qfz_run *first,
                          qfz_error *err)
{
    visits v = {.is_done = step->is_done, .visit = step->visit};
    if (step->visit)
        return qfz_tile_pass_run(first, step->share, is_done_for_all, visit_alphas, &v, err);
    if (is_of_filter) return step->together(first, step->share, err);
    const double share = step->share / (double)qfz_job_n_alphas(first->setup->job);
    for (qfz_run *run = first; run; run = run->next_alpha)
        QFZ_TRY(step->together(run, share, err));
    return QFZ_OK;
}

static int n_filter_steps(const qfz_run *run)
{
    return run->filter.stitch ? QFZ_FILTER_STEPS : 0;
}

/* The part of the run time that the filter adds to that of the task itself. */
static double filter_share(const qfz_run *run)
{
    double share = 0;
    for (int i = 0; i < n_filter_steps(run); i++)
        share += qfz_filter_steps[i].share;
    return share;
}

/* *over: this process does not make the last pass. */
static qfz_status do_steps(const qfz_task_passes *passes, qfz_run *run, qfz_phase *next, bool *over,
                           qfz_error *err)
{
    const qfz_phase phase = run->setup->job->phase;
    const int n_first = n_filter_steps(run);
    bool has_own = false;
    *over = true;
    for (int i = 0; i < n_first + passes->n_steps; i++) {
        const qfz_task_step *const step =
            i < n_first ? &qfz_filter_steps[i] : &passes->steps[i - n_first];
        *next = step->phase;
        if (phase != QFZ_PHASE_ALL && step->phase != phase) {
            const int64_t undone = first_undone(step, run);
            if (undone >= 0) return end_here(run, step, undone, has_own, err);
            continue;
        }
        QFZ_TRY(do_step(step, i < n_first, run, err));
        has_own = true;
    }
    *next = QFZ_PHASE_RESOLVE;
    *over = phase != QFZ_PHASE_ALL && phase != QFZ_PHASE_RESOLVE;
    return QFZ_OK;
}

static bool is_resolved(qfz_run *run, int64_t tile, void *arg)
{
    (void)run;
    return qfz_outputs_have(arg, tile);
}

/* True if a process that was killed while it joined the parts has left them: complete, perhaps
 * under their final names. */
static bool is_joined_again(const qfz_run *run)
{
    return run->setup->job->phase == QFZ_PHASE_RESOLVE && run->n_parts > 1 &&
           qfz_work_folder_is_finishing(run->work);
}

/* Completes this process's part of the outputs.  *last: all other parts are complete too, and this
 * process joins them. */
static qfz_status finish(qfz_run *run, qfz_outputs *outputs, int64_t n, bool *last, qfz_error *err)
{
    qfz_step_times_begin(run->progress->times, "end");
    qfz_status st = QFZ_OK;
    for (int64_t i = 0; i < n && st == QFZ_OK && !is_joined_again(run); i++)
        st = qfz_outputs_finish(&outputs[i], err);
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    *last = true;
    return run->setup->job->phase == QFZ_PHASE_RESOLVE
               ? qfz_work_folder_part_done(run->work, run->stitch, &run->level_bytes, last, err)
               : QFZ_OK;
}

/* The only tile has shown how wide saliency is; every process that may join learns it. */
static qfz_status settle_type(qfz_run *run, qfz_outputs *outputs, qfz_error *err)
{
    if (run->setup->job->phase == QFZ_PHASE_ALL)
        QFZ_TRY(qfz_stitch_level_bytes(run->stitch, &run->level_bytes, err));
    return outputs->type_is_open ? qfz_outputs_set_type(outputs, err) : QFZ_OK;
}

/* outputs: of the n alphas. */
static qfz_status open_outputs(const qfz_task_passes *passes, qfz_outputs *outputs, int64_t n,
                               qfz_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        passes->plan(outputs[i].run, &outputs[i]);
        QFZ_TRY(qfz_outputs_open(&outputs[i], err));
    }
    return QFZ_OK;
}

static qfz_status resolve_into(const qfz_task_passes *passes, qfz_run *run, qfz_outputs *outputs,
                               int64_t n, bool *last, qfz_error *err)
{
    visits v = {.is_done = is_resolved, .visit = passes->resolve, .outputs = outputs};
    qfz_status st = open_outputs(passes, outputs, n, err);
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    const bool was_open = outputs->type_is_open;
    QFZ_TRY(qfz_tile_pass_run(run, passes->resolve_share, is_done_for_all, visit_alphas, &v, err));
    QFZ_TRY(finish(run, outputs, n, last, err));
    if (was_open && *last) QFZ_TRY(settle_type(run, outputs, err));
    st = *last && run->ranks->rank == 0 ? qfz_outputs_join(outputs, n, err) : QFZ_OK;
    return qfz_ranks_agree(run->ranks, st, err);
}

static qfz_status resolve(const qfz_task_passes *passes, qfz_run *first, bool *last, qfz_error *err)
{
    const int64_t n = qfz_job_n_alphas(first->setup->job);
    qfz_outputs *outputs = NULL;
    int64_t i = 0;
    qfz_status st = QFZ_NEW_ZERO(&outputs, n, err);
    QFZ_TRY(qfz_ranks_agree(first->ranks, st, err));
    for (qfz_run *run = first; run; run = run->next_alpha)
        outputs[i++].run = run;
    st = resolve_into(passes, first, outputs, n, last, err);
    for (i = 0; i < n; i++)
        qfz_outputs_close(&outputs[i]);
    if (st != QFZ_OK && first->setup->job->phase == QFZ_PHASE_ALL) {
        (void)qfz_ranks_agree(first->ranks, QFZ_OK, err); /* wait until all have closed theirs */
        for (i = 0; i < n && first->ranks->rank == 0; i++)
            qfz_outputs_abandon(&outputs[i]);
    }
    free(outputs);
    return st;
}

/* Finds what is known of the whole raster before its last pass. */
static qfz_status count_one(qfz_run *run, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    if (run->setup->kind == QFZ_JOINS)
        st = qfz_curve_find(run, err);
    else if (run->setup->job->count_only)
        st = qfz_stitch_total(run->stitch, &run->count.total, err);
    else if (run->setup->kind == QFZ_LEVELS)
        st = qfz_stitch_level_bytes(run->stitch, &run->level_bytes, err);
    else
        st = qfz_stitch_count(run->stitch, run->part, run->n_parts, &run->count, err);
    if (st == QFZ_OK && qfz_run_counts_wide(run))
        st = qfz_stitch_wide(run->stitch, &run->wide, err);
    return qfz_ranks_agree(run->ranks, st, err);
}

static qfz_status count(qfz_run *first, qfz_error *err)
{
    for (qfz_run *run = first; run; run = run->next_alpha)
        QFZ_TRY(count_one(run, err));
    return QFZ_OK;
}

/* Before outputs get their names: then nothing is left that can fail. */
static qfz_status sum_pixels(qfz_run *run, qfz_error *err)
{
    uint64_t own = 0, before;
    const qfz_status st = qfz_stitch_pixels(run->stitch, &own, err);
    QFZ_TRY(qfz_ranks_agree(run->ranks, st, err));
    return qfz_ranks_sum(run->ranks, own, &before, &run->pixels, err);
}

qfz_status qfz_task_run(const qfz_task_passes *passes, qfz_run *run, qfz_phase *next,
                        qfz_error *err)
{
    const bool count_only = run->setup->job->count_only;
    bool over, last = true;
    const double n_alphas = (double)qfz_job_n_alphas(run->setup->job);
    run->progress->scale = 1 / (1 + n_alphas * qfz_outputs_share(run) + filter_share(run));
    QFZ_TRY(do_steps(passes, run, next, &over, err));
    QFZ_TRY(sum_pixels(run, err));
    if (over && !(count_only && *next == QFZ_PHASE_RESOLVE)) return QFZ_OK;
    QFZ_TRY(count(run, err));
    if (!count_only) QFZ_TRY(resolve(passes, run, &last, err));
    *next = last ? QFZ_PHASE_ALL : QFZ_PHASE_RESOLVE;
    return QFZ_OK;
}
