/* SPDX-License-Identifier: MIT */
/* polygon_rows.h - the table of the polygons of labels. */
#ifndef QFZ_POLYGON_ROWS_H
#define QFZ_POLYGON_ROWS_H

#include "job/polygon_chains.h"

/* Checks what is known before labels are: the name and format of job->polygons, and the memory that
 * simplification needs, in a raster of w x h pixels. */
qfz_status qfz_polygon_rows_check(const qfz_job *job, qfz_source *source, int64_t memory_bytes,
                                  qfz_error *err);

/* Bytes for the areas of all rows of a raster h high; 0: the job writes no polygons. */
int64_t qfz_polygon_rows_bytes(const qfz_job *job, int64_t h);

typedef struct qfz_polygon_counts {
    uint64_t labels, pixels;
} qfz_polygon_counts;

/* Traces the labels of a pass, or joins what the parts of a job have traced (files->n_parts > 0),
 * and writes a row for each label, ascending: label, pixels, area, and a multipolygon.  from: the
 * members that its caller sets.  The caller places, commits and closes *table, which is finished.
 */
qfz_status qfz_polygon_rows_write(const qfz_polygon_chains *from, const qfz_part_files *files,
                                  qfz_table **table, qfz_polygon_counts *counts, qfz_error *err);

#endif
