/* SPDX-License-Identifier: MIT */
/* table_read.h - reads columns of whole numbers of a table, row by row, in every vector format that
 * GDAL can read. */
#ifndef QFZ_RASTER_TABLE_READ_H
#define QFZ_RASTER_TABLE_READ_H

#include "raster/table_rings.h"

typedef struct qfz_table_reader qfz_table_reader; /* used by one thread at a time */

/* Opens the first layer of the table `name` for the columns of the n names, which are copied.
 * QFZ_EIO: GDAL cannot open it, or it has no layer. */
qfz_status qfz_table_reader_open(qfz_table_reader **reader, const char *name,
                                 const char *const *columns, int n, bool allow_network,
                                 qfz_error *err);
void qfz_table_reader_close(qfz_table_reader *reader); /* NULL is allowed */

/* True if the table has column i of those asked for. */
bool qfz_table_reader_has(const qfz_table_reader *reader, int i);

/* values: n numbers, QFZ_COLUMN_NULL where the table has no such column, no value, or none that is
 * a whole number from -(2^63 - 1) to 2^63 - 1.  *more = false, without values, after the last row.
 * rings: of the row's polygon, in pixels of a raster with this transform; NULL: not read. */
qfz_status qfz_table_reader_next(qfz_table_reader *reader, int64_t *values, qfz_table_rings *rings,
                                 const double transform[6], bool *more, qfz_error *err);

#endif
