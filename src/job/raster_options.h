/* SPDX-License-Identifier: MIT */
/* raster_options.h - what a job says of its rasters and tables, as options of the raster room.
 *
 * The options borrow the strings and lists of the job. */
#ifndef QFZ_JOB_RASTER_OPTIONS_H
#define QFZ_JOB_RASTER_OPTIONS_H

#include "raster/raster.h"

/* True if src holds the levels of edges themselves: of a cut, and of a curve whose edges are of the
 * same name. */
bool qfz_job_reads_saliency(const qfz_job *job);

qfz_source_options qfz_job_source_options(const qfz_job *job);

/* Of the raster job->stats. */
qfz_source_options qfz_job_stats_options(const qfz_job *job);

/* Of every output, raster or table. */
qfz_output_options qfz_job_output_options(const qfz_job *job);

/* Of the raster of that name: job->type is the type of job->dst only. */
qfz_sink_options qfz_job_sink_options(const qfz_job *job, const char *path);

/* Of the raster job->colors: its extension alone selects the format. */
qfz_sink_options qfz_job_colors_options(const qfz_job *job);

/* Of a raster from which others are made, and that is no output, such as the edges of another
 * layout of saliency: a file of one process, or a VRT over the parts of n_parts processes. */
qfz_sink_options qfz_job_hidden_options(const qfz_job *job, int n_parts);

/* The name of the raster of labels that the job writes, or NULL. */
const char *qfz_job_label_raster(const qfz_job *job);

#endif
