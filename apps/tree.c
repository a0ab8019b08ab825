/* SPDX-License-Identifier: MIT */
/* tree.c - qfz tree: the hierarchy as labels and a table. */
#include "run_job.h"

const command tree_command = {
    .name = "qfz tree",
    .page = "qfz-tree",
    .bit = FOR_TREE,
    .operands = "SRC REGIONS FOREST",
    .min_operands = 3,
    .max_operands = 3,
    .summary = "the hierarchy of the alpha-components as labels and a table",
    .description =
        "Writes two outputs that together hold the alpha-components of every alpha. The raster "
        "REGIONS has the labels of the regions of level 0: without --min-area the flat zones, with "
        "it the regions of the minimum mapping unit. The table FOREST has the edges of the minimum "
        "spanning forest between them, at most one row fewer than there are regions: a and b are "
        "the labels of two regions, level is the dissimilarity at which they meet, x and y are the "
        "middle of the edge in the CRS of SRC. The extension of FOREST selects the GDAL vector "
        "driver: .csv, .gpkg, .fgb, .parquet and others.\n\n"
        "Joining the regions a and b of all rows with level <= A gives the regions of qfz label "
        "--alpha A. The rows are in the order in which they join: by level, then in an order that "
        "depends on the raster alone. A row joins two regions that no earlier row has joined.",
    .example = "qfz tree --distance linf scene.tif regions.tif tree.csv\n"
               "qfz tree --distance linf --min-area 25 --regions areas.csv scene.tif regions.tif "
               "tree.gpkg",
    .json = run_job_json,
    .run = run_job,
};
