/* SPDX-License-Identifier: MIT */
#include "job/setup_check.h"

#include <string.h>

#include "core/criterion.h"
#include "job/label_outputs.h"
#include "job/phase_check.h"
#include "job/regions_check.h"
#include "job/setup.h"

static bool wants_omega(const qfz_job *job)
{
    return job->task == QFZ_SIMPLIFY;
}

static qfz_status check_count_only(const qfz_job *job, qfz_error *err)
{
    if (!job->count_only) return QFZ_OK;
    if (job->task == QFZ_SALIENCY)
        return qfz_fail(err, QFZ_EARG, "a saliency raster has no regions to count");
    if (job->dst || job->labels || job->regions)
        return qfz_fail(err, QFZ_EARG,
                        "%s: where regions are only counted, there are no outputs; leave it out",
                        job->dst      ? job->dst
                        : job->labels ? job->labels
                                      : job->regions);
    return QFZ_OK;
}

static qfz_status check_forest(const qfz_job *job, qfz_error *err)
{
    if (job->task != QFZ_FOREST)
        return job->forest ? qfz_fail(err, QFZ_EARG, "%s: a table of the hierarchy belongs to tree",
                                      job->forest)
                           : QFZ_OK;
    if (job->count_only)
        return qfz_fail(err, QFZ_EARG, "tree writes its outputs; label counts regions");
    if (!job->forest) return qfz_fail(err, QFZ_EARG, "the table of the hierarchy must be named");
    if (job->neighbours || job->stats || job->colors || job->polygons || job->columns)
        return qfz_fail(err, QFZ_EARG,
                        "%s: tree has no neighbours, statistics, colours, polygons and chosen "
                        "columns; use qfz regions with its labels",
                        job->dst);
    return QFZ_OK;
}

qfz_status qfz_setup_check(const qfz_job *job, qfz_error *err)
{
    const qfz_criterion *const m = &job->criterion;
    if (!job->src || (!job->dst && !job->count_only))
        return qfz_fail(err, QFZ_EARG, "source and output must be named");
    QFZ_TRY(qfz_criterion_check(m, err));
    QFZ_TRY(check_count_only(job, err));
    QFZ_TRY(check_forest(job, err));
    QFZ_TRY(qfz_regions_check_of_task(job, err));
    if (job->tile_px < 0) return qfz_fail(err, QFZ_EARG, "tile side is %d", job->tile_px);
    if (job->n_threads < 0) return qfz_fail(err, QFZ_EARG, "thread count is %d", job->n_threads);
    if (job->retries < 0 || !(job->retry_wait_s >= 0))
        return qfz_fail(err, QFZ_EARG, "%d retries after %g s", job->retries, job->retry_wait_s);
    if (job->memory_bytes < 0) return qfz_fail(err, QFZ_EARG, "memory is negative");
    if (m->omega && !wants_omega(job))
        return qfz_fail(err, QFZ_EARG, "omega belongs to simplify only");
    if (job->labels && !wants_omega(job))
        return qfz_fail(err, QFZ_EARG, "a second raster of labels belongs to simplify only");
    if (job->regions && job->task == QFZ_SALIENCY)
        return qfz_fail(err, QFZ_EARG, "a saliency raster has no regions to list");
    if (job->columns && !job->regions)
        return qfz_fail(err, QFZ_EARG, "columns are chosen, but no table of regions is named");
    if (job->labels && strcmp(job->labels, job->dst) == 0)
        return qfz_fail(err, QFZ_EARG, "%s: named for two outputs; give each its own name",
                        job->dst);
    if (job->edges && m->weights)
        return qfz_fail(err, QFZ_EARG, "weights are for levels of pixels, not of edges");
    if (job->edges && job->task == QFZ_LABEL && !m->has_alpha)
        return qfz_fail(err, QFZ_EARG,
                        "labels from levels of edges need alpha, the largest level that joins");
    if (!(job->min_area_m2 >= 0))
        return qfz_fail(err, QFZ_EARG, "least area of %g square metres", job->min_area_m2);
    if (m->min_area > 0 && job->min_area_m2 > 0)
        return qfz_fail(err, QFZ_EARG, "the least area is given in pixels and in square metres");
    if ((m->min_area > 0 || job->min_area_m2 > 0) && job->task == QFZ_CUT)
        return qfz_fail(err, QFZ_EARG,
                        "a cut has the least area of its saliency raster; give the least area to "
                        "saliency");
    if (job->has_background && job->task != QFZ_LABEL)
        return qfz_fail(err, QFZ_EARG, "background belongs to label only");
    if (job->task == QFZ_CUT && !m->has_alpha)
        return qfz_fail(err, QFZ_EARG,
                        "a cut needs alpha, the level at which the hierarchy is cut");
    return qfz_phase_check(job, err);
}
