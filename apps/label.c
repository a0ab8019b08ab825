/* SPDX-License-Identifier: MIT */
/* label.c - qfz label: connected components. */
#include "run_job.h"

const command label_command = {
    .name = "qfz label",
    .page = "qfz-label",
    .bit = FOR_LABEL,
    .operands = "SRC DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "connected components of equal values, or of steps up to alpha",
    .description =
        "Writes a raster of labels: neighbouring pixels of equal value have the same one, or, with "
        "--alpha, all pixels that are joined by steps of at most A between neighbours.\n\n"
        "Labels are 1..N without gaps, in the order of each region's first pixel, row by row; 0 is "
        "nodata or background.",
    .example = "qfz label --connectivity 8 --background 0 mask.tif pieces.tif",
    .run = run_job,
};
