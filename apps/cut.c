/* SPDX-License-Identifier: MIT */
/* cut.c - qfz cut: labels from a saliency raster. */
#include "run_job.h"

static const char *check(const request *r)
{
    const bool has_alpha = r->job.criterion.has_alpha || r->job.n_alphas > 0;
    if (r->job.regions_target > 0 && has_alpha)
        return "--regions-target finds alpha; leave out --alpha";
    if (has_alpha || r->job.regions_target > 0) return NULL;
    return "--alpha is missing; the level of the cut is required";
}

const command cut_command = {
    .name = "qfz cut",
    .page = "qfz-cut",
    .bit = FOR_CUT,
    .operands = "SALIENCY DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "labels of the alpha-components of any alpha, from a saliency raster",
    .description =
        "Reads a raster that qfz saliency wrote in layout edges, and writes the labels of the "
        "alpha-components at level alpha. The labels equal those of qfz label --alpha of the "
        "image; the image itself is not read. Connectivity and distance are those of the saliency "
        "raster.\n\n"
        "Labels are 1..N without gaps, in raster-scan order of the first pixel of each region. "
        "Invalid pixels have label 0.",
    .example = "qfz cut --alpha 12 saliency.tif labels.tif\n"
               "qfz cut --alpha 5,10,20 saliency.tif labels_{alpha}.tif\n"
               "qfz cut --regions-target 5000 saliency.tif labels.tif\n"
               "qfz cut --alpha 30 --regions regions.csv saliency.tif labels.tif",
    .json = run_job_json,
    .check = check,
    .run = run_job,
};
