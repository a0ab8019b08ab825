/* SPDX-License-Identifier: MIT */
/* label.c - qfz label: connected components. */
#include "run_job.h"

static const char *check(const request *r)
{
    const bool has_alpha = r->job.criterion.has_alpha || r->job.n_alphas > 0;
    if (r->job.regions_target > 0 && has_alpha)
        return "--regions-target finds alpha; leave out --alpha";
    if (r->job.regions_target > 0 && r->job.has_background)
        return "--regions-target is not for --background; use --nodata";
    if (has_alpha || r->job.regions_target > 0) return NULL;
    if (r->job.edges) return "--edges needs --alpha, the largest level that joins";
    if (!r->job.criterion.weights) return NULL;
    return "--weights need --alpha; without it, regions are of equal values in every band of -b";
}

const command label_command = {
    .name = "qfz label",
    .page = "qfz-label",
    .bit = FOR_LABEL,
    .operands = "SRC DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "labels of the connected components of equal values, or of alpha-components",
    .description =
        "Writes a raster of labels. Without --alpha, a region is a connected component of pixels "
        "with equal values (a flat zone). With --alpha, a region is an alpha-component: a maximal "
        "set of pixels joined by paths whose neighbours differ by at most alpha.\n\n"
        "Labels are 1..N without gaps, in raster-scan order of the first pixel of each region. "
        "Invalid pixels and background pixels have label 0.",
    .example = "qfz label --connectivity 8 --background 0 mask.tif components.tif\n"
               "qfz label --alpha 12 --regions regions.gpkg scene.tif labels.tif\n"
               "qfz label --alpha 5,10,20 scene.tif labels_{alpha}.tif\n"
               "qfz label --regions-target 5000 --min-area 25 scene.tif labels.tif\n"
               "qfz label --count-only -j 4 mosaic.vrt",
    .check = check,
    .json = run_job_json,
    .run = run_job,
};
