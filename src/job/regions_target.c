/* SPDX-License-Identifier: MIT */
#include "job/regions_target.h"

#include "job/setup_init.h"
#include "job/work_files.h"
#include "job/work_folder.h"

qfz_status qfz_regions_target_take(qfz_job *job, qfz_error *err)
{
    if (job->regions_target == 0) return QFZ_OK;
    if (job->task != QFZ_LABEL && job->task != QFZ_CUT)
        return qfz_fail(err, QFZ_EARG, "a largest number of regions belongs to label and cut");
    if (job->criterion.has_alpha)
        return qfz_fail(err, QFZ_EARG,
                        "alpha is given, and a largest number of regions, from which alpha is "
                        "found; leave one out");
    if (job->has_background)
        return qfz_fail(err, QFZ_EARG,
                        "background is for regions of equal values, not for a largest number of "
                        "regions; use nodata instead");
    if (job->phase != QFZ_PHASE_ALL)
        return qfz_fail(err, QFZ_EARG,
                        "a job with a largest number of regions has no phases; find alpha by the "
                        "phases of curve, and give the alpha to the job");
    job->criterion.has_alpha = true;
    job->criterion.alpha = 0;
    return QFZ_OK;
}

static int report_half(const qfz_progress *progress, void *arg)
{
    const qfz_regions_target *const target = arg;
    qfz_progress part = *progress;
    part.done = target->from + progress->done / 2;
    return target->progress ? target->progress(&part, target->progress_arg) : 0;
}

static qfz_job curve_of(const qfz_job *job, qfz_curve *curve)
{
    qfz_job of = *job;
    of.task = QFZ_CURVE;
    of.curve = curve;
    of.criterion.has_alpha = false;
    of.count_only = true; /* as qfz_job_read() has it of a curve */
    of.dst = of.labels = of.regions = of.neighbours = of.stats = of.colors = of.quicklook = NULL;
    of.attribute_table = false;
    of.quicklook_style = QFZ_QUICKLOOK_COLORS;
    of.polygons = of.columns = NULL;
    of.simplify_tolerance = 0;
    of.overviews = QFZ_OVERVIEWS_NONE;
    of.stats_bands = NULL;
    of.n_stats_bands = 0;
    of.regions_target = 0;
    if (job->task == QFZ_CUT) of.edges = of.src;
    of.gpu_method = NULL;
    return of;
}

/* Where the job requires the CUDA engine, which has not the curves of all rasters that it labels
 * (those of integers of 32 bits), the CPU engine computes such a curve. */
static void choose_engine(qfz_job *of)
{
    const bool requires_gpu = of->engine == QFZ_ENGINE_CUDA || of->gpus || of->gpu_memory_bytes;
    qfz_error why = {.status = QFZ_OK};
    qfz_setup setup;
    qfz_source *source;
    if (!requires_gpu) return;
    const qfz_status st = qfz_setup_init(&setup, of, &source, &why);
    if (st == QFZ_OK) {
        qfz_source_close(source);
        qfz_setup_fini(&setup);
    }
    if (st != QFZ_EGPU) return; /* another failure is reported when the curve begins */
    of->engine = QFZ_ENGINE_CPU;
    of->gpus = NULL;
    of->gpu_memory_bytes = 0;
}

qfz_job qfz_regions_target_curve(const qfz_job *job, qfz_curve *curve)
{
    qfz_job of = curve_of(job, curve);
    choose_engine(&of);
    return of;
}

/* The curve's journal stays until the job itself is complete: a job that resumes has its alpha from
 * it without reading pixels. */
static qfz_status use_folder(qfz_job *of, char folder[QFZ_WORK_PATH_BYTES], qfz_error *err)
{
    QFZ_TRY(qfz_work_path(of->work, folder, err, QFZ_WORK_CURVE));
    of->work = folder;
    of->resume = true;
    return QFZ_OK;
}

/* The first point with at most so many regions. */
static qfz_status choose(const qfz_curve *curve, qfz_job *job, qfz_error *err)
{
    int64_t i = 0;
    while (i < curve->n && curve->regions[i] > job->regions_target)
        i++;
    if (i == curve->n)
        return qfz_fail(err, QFZ_EARG,
                        "%s: no alpha gives %llu regions or fewer; %llu areas of valid pixels are "
                        "apart at any alpha",
                        job->src, (unsigned long long)job->regions_target,
                        (unsigned long long)curve->regions[curve->n - 1]);
    job->criterion.alpha = curve->alpha[i];
    return QFZ_OK;
}

qfz_status qfz_regions_target_find(qfz_regions_target *target, qfz_job *job, qfz_error *err)
{
    qfz_curve curve = qfz_curve_default();
    char folder[QFZ_WORK_PATH_BYTES];
    *target = (qfz_regions_target){.progress = job->progress, .progress_arg = job->progress_arg};
    job->progress = report_half;
    job->progress_arg = target;
    qfz_job of = qfz_regions_target_curve(job, &curve);
    if (job->work) QFZ_TRY(use_folder(&of, folder, err));
    QFZ_TRY(qfz_job_run(&of, NULL, err));
    const qfz_status st = choose(&curve, job, err);
    qfz_curve_release(&curve);
    target->from = 0.5;
    return st;
}
