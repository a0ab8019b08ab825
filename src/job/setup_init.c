/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* sched_getaffinity() */
#include "job/setup_init.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/criterion.h"
#include "core/memory.h"
#include "core/method.h"
#include "gpu/gpu.h"
#include "job/engine_times.h"
#include "job/filter_stage.h"
#include "job/label_outputs.h"
#include "job/raster_options.h"
#include "job/setup_check.h"
#include "job/setup_memory.h"
#include "job/setup_sinks.h"

/* ------------------------------------------------------------------------------------- the rule */
/* Every region has a pixel: a least area of one pixel is no limit. */
static uint64_t least_pixels(const qfz_job *job)
{
    return job->criterion.min_area > 1 ? job->criterion.min_area : 0;
}

/* A cut has its alpha in the bits of its edges; saliency and curve are of every alpha. */
static bool has_alpha_level(qfz_task task)
{
    return task == QFZ_LABEL || task == QFZ_SIMPLIFY;
}

static qfz_status make_rule(qfz_setup *setup, const qfz_source *source, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    /* Equal values join whatever the distance is; but the area filter compares levels, and then
     * they are those of alpha 0. */
    const bool filters = job->min_area_m2 > 0 || least_pixels(job) > 0;
    const bool level_0 = job->task == QFZ_LABEL && !job->criterion.has_alpha;
    const bool equal = level_0 && !filters;
    const bool edge_levels = setup->info.edges_connectivity != 0;
    qfz_rule *const rule = &setup->rule;
    if (!equal && job->task != QFZ_CUT)
        QFZ_TRY(qfz_criterion_spread_weights(&job->criterion, setup->info.n_bands, &setup->weights,
                                             err));
    *rule = (qfz_rule){
        .connectivity = qfz_job_reads_saliency(job) ? qfz_source_connectivity(source)
                                                    : job->criterion.connectivity,
        .distance = equal ? QFZ_LINF : job->criterion.distance,
        .weights = setup->weights,
        .type = setup->info.type,
        .n_bands = setup->info.n_bands,
        .edge_bits = job->task == QFZ_CUT,
        .n_cuts = job->task == QFZ_CUT ? (int)job->n_alphas : 0,
        .edge_levels = edge_levels,
        .edges_are_float = setup->info.edges_are_float,
        .max_edge = setup->info.max_edge,
        .min_mass = job->min_area_m2 > 0 ? 1 : least_pixels(job),
        .wants_forest = job->task == QFZ_FOREST,
    };
    rule->alpha_level = qfz_top_level(rule);
    if (edge_levels && rule->connectivity != setup->info.edges_connectivity)
        return qfz_fail(err, QFZ_EARG,
                        "%s: it has levels of %d-connected edges; use --connectivity %d",
                        job->edges, setup->info.edges_connectivity, setup->info.edges_connectivity);
    QFZ_TRY(qfz_max_level(rule, &setup->max_level, err));
    if (rule->wants_forest && rule->min_mass == 0) rule->min_mass = 1;
    if (level_0 || rule->wants_forest)
        rule->alpha_level = 0;
    else if (job->criterion.has_alpha && has_alpha_level(job->task))
        rule->alpha_level = qfz_level_of_alpha(rule, job->criterion.alpha);
    QFZ_TRY(
        qfz_criterion_spread_omega(&job->criterion, rule->type, rule->n_bands, &setup->omega, err));
    rule->omega = setup->omega;
    return QFZ_OK;
}

static qfz_kind kind_of(qfz_task task)
{
    switch (task) {
    case QFZ_LABEL:
    case QFZ_FOREST:
    case QFZ_CUT: return QFZ_COMPONENTS;
    case QFZ_SIMPLIFY: return QFZ_OMEGA;
    case QFZ_SALIENCY: return QFZ_LEVELS;
    case QFZ_CURVE: return QFZ_JOINS;
    case QFZ_REGIONS: break; /* a job of its own (regions_run.h) */
    }
    return QFZ_COMPONENTS;
}

/* ----------------------------------------------------------------------------------- the engine */
/* The processors that a launcher or a batch system bound this process to; else this process's share
 * of the machine's. */
int qfz_job_threads(const qfz_job *job)
{
    cpu_set_t set;
    if (job->n_threads) return job->n_threads;
    const int all = (int)sysconf(_SC_NPROCESSORS_ONLN);
    const int own = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : all;
    if (own < all) return own;
    return all > qfz_job_n_local(job) ? all / qfz_job_n_local(job) : 1;
}

static bool requires_gpu(const qfz_setup *setup)
{
    return setup->job->gpus || setup->job->gpu_memory_bytes || setup->method;
}

/* Refuses a job that the published method cannot do, also on a machine without a GPU. */
static qfz_status choose_method(qfz_setup *setup, qfz_error *err)
{
    const char *const name = setup->job->gpu_method;
    qfz_method method;
    if (!name || strcmp(name, "auto") == 0) return QFZ_OK;
    setup->method = name;
    return qfz_method_find(name, &setup->rule, setup->kind, &method, err);
}

/* The number of GPUs that the job names, or the largest number that it may take; 0: all. */
static int n_gpus_of(const qfz_job *job, int64_t process_px)
{
    if (job->gpus || job->px_per_gpu <= 0) return job->n_gpus;
    const int64_t n = process_px / job->px_per_gpu + 1;
    return n < QFZ_GPUS_MAX ? (int)n : QFZ_GPUS_MAX;
}

/* Pixels of one process of the job. */
static int64_t process_px_of(const qfz_setup *setup)
{
    const qfz_job *const job = setup->job;
    const int n_ranks = job->ranks ? job->ranks->n : 1;
    const int n_processes = qfz_job_is_of_part(job) ? job->n_parts : n_ranks;
    return setup->info.w * setup->info.h / n_processes;
}

/* Restricts the GPUs that CUDA sees to those requested, where the program can (job->gpu_view), and
 * returns their number; else 0.  Errors of the request are ignored here: qfz_choose() reports
 * them. */
static int show_gpus(const qfz_gpu_view *view, const qfz_device_request *request,
                     int numbers[QFZ_GPUS_MAX])
{
    const int n_there = view ? view->count(view->arg) : 0;
    qfz_error ignored = {.status = QFZ_OK};
    int n = 0;
    if (n_there < 1 || qfz_request_gpus(request, n_there, numbers, &n, &ignored) != QFZ_OK)
        return 0;
    return n < n_there && view->show(numbers, n, view->arg) ? n : 0;
}

static void give_reason(qfz_setup *setup, const char *reason)
{
    (void)snprintf(setup->engine_reason, sizeof setup->engine_reason, "%s", reason);
}

/* The number of GPUs that the job would take of those that are there; n_gpus as n_gpus_of(). */
static int n_gpus_taken(const qfz_job *job, int n_gpus)
{
    const qfz_gpu_view *const view = job->gpu_view;
    const int n_there = view ? view->count(view->arg) : 0;
    if (n_there < 1) return n_gpus > 0 ? n_gpus : 1;
    return n_gpus > 0 && n_gpus < n_there ? n_gpus : n_there;
}

/* True if QFZ_ENGINE_AUTO takes the CPU.  Where the CPU is first, CUDA is not asked whether there
 * is a GPU, since it starts for the answer, and that takes longer than many a job. */
static bool cpu_is_first(qfz_setup *setup, int n_gpus)
{
    const qfz_job *const job = setup->job;
    const qfz_engine_work work = {.task = job->task,
                                  .has_area = setup->rule.min_mass > 0,
                                  .counts_only = job->count_only,
                                  .n_px = process_px_of(setup) * qfz_job_n_alphas(job),
                                  .n_threads = qfz_job_threads(job),
                                  .n_gpus = n_gpus_taken(job, n_gpus)};
    const qfz_engine_times times = qfz_engine_times_of(&work);
    const bool is_first = times.cpu_s <= times.gpu_s;
    const char *const obstacle = qfz_gpu_obstacle(&setup->rule, setup->kind);
    if (obstacle) {
        give_reason(setup, obstacle);
        return true;
    }
    if (!is_first && !qfz_gpu_visible()) {
        give_reason(setup, "no GPU is visible");
        return true;
    }
    (void)snprintf(setup->engine_reason, sizeof setup->engine_reason,
                   "first by measured rates: %.1f s on the CPU, %s%.1f s on %d GPU%s", times.cpu_s,
                   is_first ? "it would be " : "", times.gpu_s, work.n_gpus,
                   work.n_gpus == 1 ? "" : "s");
    return is_first;
}

/* By default a published method has the memory of each GPU for one tile at a time. */
static int n_threads_of(const qfz_setup *setup)
{
    const bool one_each = setup->method && setup->job->n_threads == 0;
    return one_each ? setup->choice.n_devices : qfz_job_threads(setup->job);
}

static qfz_status choose_engine(qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const int n_gpus = n_gpus_of(job, process_px_of(setup));
    const bool is_free = job->engine == QFZ_ENGINE_AUTO && !requires_gpu(setup);
    const bool takes_cpu = is_free && cpu_is_first(setup, n_gpus);
    int shown[QFZ_GPUS_MAX];
    qfz_device_request request = {.engine = takes_cpu ? QFZ_ENGINE_CPU : job->engine,
                                  .gpus = job->gpus,
                                  .n_gpus = n_gpus,
                                  .shown = shown,
                                  .gpu_memory_bytes = job->gpu_memory_bytes,
                                  .local_rank = job->ranks ? job->ranks->local_rank : 0,
                                  .n_local = job->ranks ? job->ranks->n_local : 0,
                                  .method = setup->method};
    if (request.engine != QFZ_ENGINE_CPU)
        request.n_shown = show_gpus(job->gpu_view, &request, shown);
    QFZ_TRY(qfz_choose(&setup->choice, &request, err));
    if (setup->choice.warning[0]) give_reason(setup, setup->choice.warning);
    setup->engine = setup->choice.engine;
    setup->n_threads = n_threads_of(setup);
    if (setup->n_threads < setup->choice.n_devices) setup->n_threads = setup->choice.n_devices;
    return QFZ_OK;
}

/* Replaces an engine that cannot do this kind of work. */
static qfz_status settle_engine(qfz_setup *setup, qfz_error *err)
{
    const qfz_job *const job = setup->job;
    const qfz_engine_choice requested = requires_gpu(setup) ? QFZ_ENGINE_CUDA : job->engine;
    QFZ_TRY(qfz_choice_settle(&setup->choice, requested, &setup->rule, setup->kind, err));
    if (setup->choice.warning[0]) give_reason(setup, setup->choice.warning);
    setup->engine = setup->choice.engine;
    return QFZ_OK;
}

qfz_status qfz_setup_shrink(qfz_setup *setup, qfz_status why, qfz_error *err)
{
    const int64_t least = 16 << 20; /* bytes of a device below which halving is given up */
    qfz_choice *const choice = &setup->choice;
    if (why == QFZ_ENOMEM && choice->device_memory_bytes >= 2 * least) {
        choice->device_memory_bytes /= 2;
    } else if (choice->device_memory_bytes && setup->job->engine == QFZ_ENGINE_AUTO &&
               (why == QFZ_ENOMEM || !requires_gpu(setup))) {
        qfz_choose_cpu(choice, err);
        give_reason(setup, choice->warning);
        setup->method = NULL;
        setup->engine = choice->engine;
    } else {
        return why; /* err holds the reason */
    }
    err->status = QFZ_OK;
    if ((setup->job->ranks && setup->job->ranks->n > 1) || setup->job->work) /* shared tiles */
        return qfz_setup_retile(setup, setup->tiling.tile_w, setup->tiling.tile_h, err);
    return qfz_setup_plan_memory(setup, err);
}

/* -------------------------------------------------------------------------------- init and fini */
qfz_status qfz_setup_init(qfz_setup *setup, const qfz_job *job, qfz_source **source, qfz_error *err)
{
    *setup = (qfz_setup){.job = job, .kind = kind_of(job->task)};
    qfz_source *opened = NULL;
    qfz_status st;
    const qfz_source_options options = qfz_job_source_options(job);
    QFZ_TRY(qfz_setup_check(job, err));
    QFZ_TRY(qfz_raster_setup(job->config, qfz_setup_first_cache(job), err));
    QFZ_TRY_OR(st, failed, qfz_source_open(&opened, &options, err));
    setup->info = *qfz_source_get_info(opened);
    QFZ_TRY_OR(st, failed, make_rule(setup, opened, err));
    setup->passes = (setup->kind == QFZ_OMEGA ? 3 : 2) + (setup->rule.min_mass ? 1 : 0) -
                    (job->count_only ? 1 : 0);
    QFZ_TRY_OR(st, failed, choose_method(setup, err));
    QFZ_TRY_OR(st, failed, choose_engine(setup, err));
    QFZ_TRY_OR(st, failed, settle_engine(setup, err));
    qfz_setup_find_sinks(setup, opened);
    QFZ_TRY_OR(st, failed, qfz_label_outputs_stats_bytes(job, &setup->stats_bytes, err));
    QFZ_TRY_OR(st, failed, qfz_setup_plan_memory(setup, err));
    *source = opened;
    return QFZ_OK;

failed:
    qfz_source_close(opened);
    qfz_setup_fini(setup);
    return st;
}

void qfz_setup_fini(qfz_setup *setup)
{
    free(setup->omega);
    free(setup->weights);
    *setup = (qfz_setup){0};
}
