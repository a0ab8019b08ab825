/* SPDX-License-Identifier: MIT */
/* regions.c - qfz regions: tables from a raster of labels. */
#include "run_job.h"

static const char *check(const request *r)
{
    const qfz_job *const job = &r->job;
    if (job->regions || job->neighbours || job->colors || job->quicklook || job->polygons)
        return NULL;
    return "no output is named; use --table, --neighbours, --polygons, --colors or --quicklook";
}

const command regions_command = {
    .name = "qfz regions",
    .page = "qfz-regions",
    .bit = FOR_REGIONS,
    .operands = "LABELS",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "tables, polygons and maps of the regions of any raster of labels",
    .description =
        "Reads a raster of labels, made by qfz or by any other program, and writes what follows "
        "from it. LABELS has integers of up to 64 bits in one band. Pixels of one label are one "
        "region, wherever they lie: a region may have several pieces, and labels may have gaps. "
        "Pixels that are 0 or nodata belong to no region. Negative labels are an error.\n\n"
        "Rows are in ascending order of labels. The result depends neither on the tiling nor on "
        "the "
        "number of processes, which share the reading.",
    .example = "qfz regions --table regions.gpkg labels.tif\n"
               "qfz regions --table fields.csv --stats ndvi.tif,1 fields.tif\n"
               "qfz regions --colors colors.tif --quicklook map.png labels.tif\n"
               "qfz regions --neighbours pairs.csv --stats scene.tif labels.tif\n"
               "qfz regions --polygons regions.fgb --simplify-tolerance 1 labels.tif\n"
               "mpirun -n 8 qfz regions --table regions.gpkg --work DIR --resume labels.vrt",
    .check = check,
    .json = run_job_json,
    .run = run_job,
};
