/* SPDX-License-Identifier: MIT */
/* check_rows.h - the rows of a raster under a check, with the source that it was made of.
 *
 * Both are read in strips of whole rows, once, from the first row to the last. */
#ifndef QFZ_CHECK_ROWS_H
#define QFZ_CHECK_ROWS_H

#include "check/check.h"
#include "job/setup.h"

typedef struct qfz_check_rows qfz_check_rows;

/* setup and source NULL: there is no source, and neighbours with a label have an edge. is_saliency:
 * the raster has levels of edges, else labels.  memory_bytes: for strips and for GDAL's block
 * cache; QFZ_ENOMEM if not even one row fits.  Everything is borrowed. */
typedef struct qfz_check_rows_spec {
    qfz_made *made;
    const qfz_setup *setup;
    qfz_source *source;
    int connectivity;
    bool is_saliency;
    bool by_area; /* a pixel's mass is its area, else 1 */
    const char *const *config;
    int64_t memory_bytes;
} qfz_check_rows_spec;

qfz_status qfz_check_rows_open(qfz_check_rows **rows, const qfz_check_rows_spec *spec,
                               qfz_error *err);
void qfz_check_rows_close(qfz_check_rows *rows); /* NULL is allowed */

/* *row = the next row, valid until the next call.  After the last row one more call gives an empty
 * row below the raster, for the levels of edges that would lead there. */
qfz_status qfz_check_rows_next(qfz_check_rows *rows, qfz_check_row *row, qfz_error *err);

#endif
