/* SPDX-License-Identifier: MIT */
/* regions_plan.c - the plan of a job `regions`. */
#include <stdio.h>
#include <string.h>

#include "job/regions_run.h"
#include "job/regions_state.h"
#include "job/setup_init.h"
#include "job/setup_memory.h"
#include "job/setup_seconds.h"

/* One pass gathers records, one paints colours and quicklook, one traces outlines. */
static int count_passes(const qfz_regions_state *state)
{
    const qfz_job *const job = &state->job;
    const bool paints = job->colors || job->quicklook;
    return (state->outputs.needs.zones || job->neighbours || paints) + paints +
           (job->polygons != NULL);
}

static void fill_plan(const qfz_regions_state *state, qfz_plan *plan)
{
    const qfz_job *const job = &state->job;
    const qfz_source_info *const info = qfz_source_get_info(state->source);
    const qfz_tiling *const t = &state->outputs.pass.tiling;
    plan->width = info->w;
    plan->height = info->h;
    plan->n_bands = 1;
    plan->type = info->type;
    plan->tile_w = t->tile_w;
    plan->tile_h = t->tile_h;
    plan->tiles_x = t->n_x;
    plan->tiles_y = t->n_y;
    plan->passes = count_passes(state);
    plan->n_threads = state->outputs.pass.n_threads;
    memcpy(plan->engine, "cpu", sizeof "cpu");
    (void)snprintf(plan->engine_reason, sizeof plan->engine_reason, "%s", "no engine is needed");
    plan->memory_bytes = state->memory_bytes;
    plan->tile_bytes = state->outputs.memory_bytes;
    plan->cache_bytes = qfz_setup_first_cache(job);
    plan->n_ranks = job->ranks ? job->ranks->n : 1;
    plan->n_local_ranks = job->ranks ? job->ranks->n_local : 1;
    plan->rank_tiles = t->n_x * ((t->n_y - 1) / plan->n_ranks + 1);
    plan->rank_pixels = info->w * ((info->h - 1) / plan->n_ranks + 1);
    plan->rank_seconds = qfz_regions_seconds(plan->rank_pixels, plan->n_threads);
}

qfz_status qfz_regions_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    static const qfz_part_files none = {.n_parts = 0};
    qfz_regions_state state = {.job = *job};
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_regions_state_open(&state, err));
    QFZ_TRY_OR(st, cleanup, qfz_regions_state_check(&state, err));
    QFZ_TRY_OR(st, cleanup, qfz_regions_state_plan(&state, &none, err));
    fill_plan(&state, plan);

cleanup:
    qfz_regions_state_close(&state);
    return st;
}
