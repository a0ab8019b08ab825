/* SPDX-License-Identifier: MIT */
#include "job/raster_options.h"

#include <string.h>

#include "job/temp_folder.h"

static qfz_retry retry_of(const qfz_job *job)
{
    return (qfz_retry){.retries = job->retries, .wait_s = job->retry_wait_s};
}

bool qfz_job_reads_saliency(const qfz_job *job)
{
    return job->task == QFZ_CUT ||
           (job->task == QFZ_CURVE && job->edges && strcmp(job->edges, job->src) == 0);
}

qfz_source_options qfz_job_source_options(const qfz_job *job)
{
    return (qfz_source_options){.name = job->src,
                                .open_options = job->open_options,
                                .bands = job->bands,
                                .n_bands = job->n_bands,
                                .mask = job->mask,
                                .has_nodata = job->has_nodata,
                                .nodata = job->nodata,
                                .nodata_rule = job->nodata_rule,
                                .has_background = job->has_background,
                                .background = job->background,
                                .is_saliency = qfz_job_reads_saliency(job),
                                .any_edges = qfz_job_reads_saliency(job) && job->edges,
                                .is_labels = job->task == QFZ_REGIONS,
                                .edges = job->task == QFZ_CUT ? NULL : job->edges,
                                .alpha = job->criterion.alpha,
                                .alphas = job->task == QFZ_CUT ? job->alphas : NULL,
                                .n_alphas = job->task == QFZ_CUT ? job->n_alphas : 0,
                                .retry = retry_of(job),
                                .allow_network = job->allow_network};
}

qfz_source_options qfz_job_stats_options(const qfz_job *job)
{
    return (qfz_source_options){.name = job->stats,
                                .bands = job->stats_bands,
                                .n_bands = (int)job->n_stats_bands,
                                .nodata_rule = QFZ_NODATA_ANY,
                                .retry = retry_of(job),
                                .allow_network = job->allow_network};
}

qfz_output_options qfz_job_output_options(const qfz_job *job)
{
    return (qfz_output_options){.names = {job->dst, job->labels, job->regions, job->neighbours,
                                          job->colors, job->quicklook, job->forest, job->polygons},
                                .overwrite = job->overwrite,
                                .allow_network = job->allow_network,
                                .stage = qfz_temp_folder_local(job),
                                .retry = retry_of(job)};
}

qfz_sink_options qfz_job_sink_options(const qfz_job *job, const char *path)
{
    const bool is_dst = job->dst && strcmp(job->dst, path) == 0;
    return (qfz_sink_options){.output = qfz_job_output_options(job),
                              .format = job->format,
                              .type = is_dst ? job->type : NULL,
                              .creation_options = job->creation_options,
                              .merge = job->merge,
                              .overviews = job->overviews,
                              .n_threads = job->n_threads,
                              .tile_px = job->tile_px,
                              .has_journal = job->work != NULL};
}

qfz_sink_options qfz_job_colors_options(const qfz_job *job)
{
    return (qfz_sink_options){.output = qfz_job_output_options(job),
                              .n_threads = job->n_threads,
                              .tile_px = job->tile_px,
                              .has_journal = job->work != NULL};
}

qfz_sink_options qfz_job_hidden_options(const qfz_job *job, int n_parts)
{
    return (qfz_sink_options){.output = qfz_job_output_options(job),
                              .format = n_parts > 1 ? "VRT" : "GTiff",
                              .n_threads = job->n_threads,
                              .tile_px = job->tile_px,
                              .has_journal = job->work != NULL};
}

const char *qfz_job_label_raster(const qfz_job *job)
{
    return job->task == QFZ_SIMPLIFY ? job->labels : job->dst;
}
