/* SPDX-License-Identifier: MIT */
/* saliency.c - qfz saliency: the hierarchy of all alpha-components as a raster. */
#include "run_job.h"

const command saliency_command = {
    .name = "qfz saliency",
    .page = "qfz-saliency",
    .bit = FOR_SALIENCY,
    .operands = "SRC DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "the hierarchy of quasi-flat zones, as levels between pixels",
    .description = "Writes for every two neighbours the least alpha at which they are in one "
                   "region: the whole "
                   "hierarchy, without loss; qfz cut makes labels of it at any alpha.\n\n"
                   "Bands are the neighbours to the right and below; with --connectivity 8 also "
                   "below right and "
                   "below left. Where there is no neighbour the value is nodata.",
    .example = "qfz saliency --distance linf scene.tif saliency.tif",
    .run = run_job,
};
