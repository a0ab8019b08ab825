/* SPDX-License-Identifier: MIT */
#include "job/regions_check.h"

#include <math.h>

#include "core/criterion.h"
#include "job/label_outputs.h"
#include "job/phase_check.h"
#include "job/raster_options.h"

static qfz_status check_stats(const qfz_job *job, qfz_error *err)
{
    if (job->n_stats_bands < 0 || job->n_stats_bands > QFZ_MAX_BANDS ||
        (job->n_stats_bands > 0 && !job->stats))
        return qfz_fail(err, QFZ_EARG, "%lld bands of statistics", (long long)job->n_stats_bands);
    if (job->columns && !job->regions)
        return qfz_fail(err, QFZ_EARG, "columns are chosen, but no table of regions is named");
    const bool shows = qfz_label_paint_shows_image(job) && job->task != QFZ_LABEL;
    if (job->stats && !job->regions && !shows && (!job->neighbours || job->task != QFZ_REGIONS))
        return qfz_fail(err, QFZ_EARG,
                        "%s: statistics of it need a table of regions; name one by --regions",
                        job->stats);
    return QFZ_OK;
}

/* label and simplify show their source. */
static qfz_status check_quicklook(const qfz_job *job, qfz_error *err)
{
    const qfz_quicklook_style style = job->quicklook_style;
    if ((unsigned)style > QFZ_QUICKLOOK_IMAGE)
        return qfz_fail(err, QFZ_EARG, "a quicklook of style %d", (int)style);
    if (style != QFZ_QUICKLOOK_COLORS && !job->quicklook)
        return qfz_fail(err, QFZ_EARG,
                        "a style of the quicklook is chosen, but no image is named; name one by "
                        "--quicklook");
    if (!qfz_label_paint_shows_image(job)) return QFZ_OK;
    if (job->task == QFZ_SALIENCY)
        return qfz_fail(err, QFZ_EARG,
                        "%s: a picture of saliency has no regions; leave out the style",
                        job->quicklook);
    if ((job->task == QFZ_REGIONS || job->task == QFZ_CUT) && !job->stats)
        return qfz_fail(err, QFZ_EARG,
                        "%s: the picture needs the image; name it by --stats, or choose "
                        "--quicklook-style colors",
                        job->quicklook);
    return QFZ_OK;
}

static qfz_status check_overviews(const qfz_job *job, qfz_error *err)
{
    if (job->overviews < QFZ_OVERVIEWS_NONE || job->overviews > QFZ_OVERVIEWS_MODE)
        return qfz_fail(err, QFZ_EARG, "overviews of kind %d", (int)job->overviews);
    if (job->overviews && (job->task == QFZ_REGIONS || job->task == QFZ_CURVE))
        return qfz_fail(err, QFZ_EARG,
                        "overviews belong to a raster, which this job does not write");
    return QFZ_OK;
}

static bool in_parts(const qfz_job *job)
{
    return job->phase != QFZ_PHASE_ALL || (job->ranks && job->ranks->n > 1);
}

static qfz_status check_attributes(const qfz_job *job, qfz_error *err)
{
    if (!job->attribute_table) return QFZ_OK;
    if (job->task == QFZ_REGIONS || job->task == QFZ_CURVE || job->task == QFZ_SALIENCY)
        return qfz_fail(err, QFZ_EARG,
                        "an attribute table belongs to a raster of labels, which this job does not "
                        "write");
    if (!job->regions)
        return qfz_fail(err, QFZ_EARG,
                        "an attribute table has the rows of the table of regions; name one by "
                        "--regions");
    if (!qfz_job_label_raster(job))
        return qfz_fail(err, QFZ_EARG,
                        "an attribute table belongs to a raster of labels; name one by --labels");
    return QFZ_OK;
}

static qfz_status check_polygons(const qfz_job *job, qfz_error *err)
{
    const double tolerance = job->simplify_tolerance;
    if (!(tolerance >= 0 && tolerance < INFINITY))
        return qfz_fail(err, QFZ_EARG, "tolerance of %g pixels for polygons", tolerance);
    if (tolerance > 0 && !job->polygons)
        return qfz_fail(err, QFZ_EARG,
                        "a tolerance of lines, but no polygons; name a table of "
                        "polygons, --polygons");
    return QFZ_OK;
}

qfz_status qfz_regions_check(const qfz_job *job, qfz_error *err)
{
    if (!job->src) return qfz_fail(err, QFZ_EARG, "the raster of labels must be named");
    QFZ_TRY(check_overviews(job, err));
    if (job->dst || job->labels)
        return qfz_fail(err, QFZ_EARG, "%s: the job regions writes no raster of labels",
                        job->dst ? job->dst : job->labels);
    if (!job->regions && !job->neighbours && !job->colors && !job->quicklook && !job->polygons)
        return qfz_fail(err, QFZ_EARG, "%s: no output is named; name one by --table, for example",
                        job->src);
    QFZ_TRY(check_polygons(job, err));
    QFZ_TRY(check_quicklook(job, err));
    QFZ_TRY(check_attributes(job, err));
    QFZ_TRY(qfz_criterion_check(&job->criterion, err));
    if (job->criterion.weights || job->edges)
        return qfz_fail(err, QFZ_EARG, "regions takes neither weights nor levels of edges");
    if (job->phase == QFZ_PHASE_RESOLVE)
        return qfz_fail(err, QFZ_EARG,
                        "regions has no phase resolve: phase stitch writes the outputs");
    QFZ_TRY(qfz_phase_check(job, err));
    if (job->tile_px < 0) return qfz_fail(err, QFZ_EARG, "tile side is %d", job->tile_px);
    if (job->n_threads < 0) return qfz_fail(err, QFZ_EARG, "thread count is %d", job->n_threads);
    if (job->retries < 0 || !(job->retry_wait_s >= 0))
        return qfz_fail(err, QFZ_EARG, "%d retries after %g s", job->retries, job->retry_wait_s);
    if (job->memory_bytes < 0) return qfz_fail(err, QFZ_EARG, "memory is negative");
    return check_stats(job, err);
}

qfz_status qfz_regions_check_of_task(const qfz_job *job, qfz_error *err)
{
    const char *const output = job->neighbours  ? job->neighbours
                               : job->colors    ? job->colors
                               : job->quicklook ? job->quicklook
                               : job->polygons  ? job->polygons
                                                : job->stats;
    QFZ_TRY(check_overviews(job, err));
    QFZ_TRY(check_polygons(job, err));
    QFZ_TRY(check_quicklook(job, err));
    QFZ_TRY(check_attributes(job, err));
    if (!qfz_label_outputs_wanted(job)) return QFZ_OK;
    if (job->task == QFZ_SALIENCY || job->task == QFZ_CURVE)
        return qfz_fail(err, QFZ_EARG, "%s: there are no regions in this job", output);
    if (job->count_only)
        return qfz_fail(err, QFZ_EARG,
                        "%s: where regions are only counted, there are no outputs; leave it out",
                        output);
    if (job->task == QFZ_SIMPLIFY && job->stats)
        return qfz_fail(err, QFZ_EARG,
                        "%s: simplify has no --stats; use qfz regions with its --labels",
                        job->stats);
    if (in_parts(job) && qfz_label_outputs_hide_labels(job))
        return qfz_fail(err, QFZ_EARG,
                        "%s: several processes make it from a raster of labels; name one, --labels",
                        output);
    return check_stats(job, err);
}
