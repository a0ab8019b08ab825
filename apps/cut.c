/* SPDX-License-Identifier: MIT */
/* cut.c - qfz cut: labels out of a saliency raster. */
#include "run_job.h"

static const char *check(const request *r)
{
    return r->job.criterion.has_alpha ? NULL : "needs --alpha";
}

const command cut_command = {
    .name = "qfz cut",
    .page = "qfz-cut",
    .bit = FOR_CUT,
    .operands = "SALIENCY DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "labels at any alpha out of a saliency raster, without the image",
    .description =
        "Reads what qfz saliency wrote (layout edges) and writes the labels that qfz label --alpha "
        "A "
        "makes of the image itself. Connectivity and distance are those of the saliency raster.",
    .example = "qfz cut --alpha 12 saliency.tif labels.tif",
    .check = check,
    .run = run_job,
};
