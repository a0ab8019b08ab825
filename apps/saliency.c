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
    .summary = "the hierarchy of all alpha-components, as the saliency of every edge",
    .description =
        "Writes the saliency of every edge. An edge joins two neighbouring pixels; its saliency is "
        "the smallest alpha at which both pixels are in the same alpha-component. The saliency "
        "raster holds the whole hierarchy without loss: the edges of saliency at most alpha join "
        "the alpha-components of this alpha, for every alpha.\n\n"
        "Band 1 has the edges to the right neighbours, band 2 the edges to the neighbours below. "
        "With --connectivity 8, bands 2, 3 and 4 have the edges to the neighbours below, below "
        "right and below left. Nodata marks the absence of an edge.",
    .example = "qfz saliency --distance linf scene.tif saliency.tif\n"
               "qfz saliency --connectivity 8 -b 1,2,3 --memory 8GB mosaic.vrt saliency.tif",
    .json = run_job_json,
    .run = run_job,
};
