/* SPDX-License-Identifier: MIT */
/* fgb_header.h - the beginning of a FlatGeobuf file, up to its index. */
#ifndef QFZ_RASTER_FGB_HEADER_H
#define QFZ_RASTER_FGB_HEADER_H

#include "raster/hilbert.h"
#include "raster/table_writer.h"

typedef struct qfz_fgb_header {
    uint8_t *bytes; /* owned; freed by free() */
    int64_t n;
    int64_t count_at, extent_at; /* where the number of features and their extent are */
} qfz_fgb_header;

/* The header that GDAL writes for the columns, the CRS and the points of a table, with an index of
 * nodes of 16. */
qfz_status qfz_fgb_header_make(qfz_fgb_header *header, const qfz_table_target *target,
                               qfz_error *err);

void qfz_fgb_header_set(qfz_fgb_header *header, int64_t n_features, const qfz_extent *extent);

#endif
