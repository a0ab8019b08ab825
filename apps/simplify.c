/* SPDX-License-Identifier: MIT */
/* simplify.c - qfz simplify: (alpha, omega)-components, painted. */
#include "run_job.h"

static const char *check(const request *r)
{
    if (r->job.criterion.has_alpha || r->job.criterion.omega) return NULL;
    return "needs --omega, --alpha or both: without them all is one region";
}

const command simplify_command = {
    .name = "qfz simplify",
    .page = "qfz-simplify",
    .bit = FOR_SIMPLIFY,
    .operands = "SRC DST",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "(alpha, omega)-components, each painted with its mean",
    .description =
        "Writes the raster in the type of SRC with every region painted by its mean in each band. "
        "The region of a pixel is the largest set that steps of at most alpha' join to it, alpha' "
        "being at most A, in which no band spans more than W (Soille, IEEE TPAMI 2008). Means are "
        "rounded to nearest, halves up. One that happens to be the nodata value stays so: "
        "--labels, 0 only where SRC has no data, tells such regions from holes.",
    .example = "qfz simplify --alpha 8 --omega 24 --labels regions.tif --regions regions.gpkg "
               "scene.tif simple.tif",
    .check = check,
    .run = run_job,
};
