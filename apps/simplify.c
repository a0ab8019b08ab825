/* SPDX-License-Identifier: MIT */
/* simplify.c - qfz simplify: the means of (alpha, omega)-components. */
#include "run_job.h"

static const char *check(const request *r)
{
    if (r->job.criterion.has_alpha || r->job.n_alphas > 0 || r->job.criterion.omega) return NULL;
    return "--alpha and --omega are missing; one of them is required";
}

const command simplify_command = {
    .name = "qfz simplify",
    .page = "qfz-simplify",
    .bit = FOR_SIMPLIFY,
    .operands = "SRC DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "(alpha, omega)-components, each filled with its mean value",
    .description =
        "Writes SRC with every region filled with its mean in each band, in the data type of SRC. "
        "The region of a pixel is its (alpha, omega)-component: its largest alpha'-component, "
        "alpha' <= alpha, whose value range (maximum - minimum) is at most omega in every band "
        "(Soille, IEEE TPAMI 2008).\n\n"
        "Means of integer rasters are rounded to the nearest integer, halves up. A mean may equal "
        "the nodata value; the label raster of --labels is 0 only at invalid pixels and so "
        "distinguishes such a region from nodata.",
    .example = "qfz simplify --alpha 8 --omega 24 scene.tif simple.tif\n"
               "qfz simplify --omega 24 --labels labels.tif --regions regions.gpkg scene.tif "
               "simple.tif",
    .json = run_job_json,
    .check = check,
    .run = run_job,
};
