/* SPDX-License-Identifier: MIT */
/* attributes.h - the rows of a table of regions as the raster attribute table of their labels: in
 * the file itself (HFA, KEA) or in the .aux.xml beside it (GTiff). */
#ifndef QFZ_RASTER_ATTRIBUTES_H
#define QFZ_RASTER_ATTRIBUTES_H

#include "raster/sink.h"
#include "raster/table.h"

enum { QFZ_ATTRIBUTE_ROWS = 100000 };

typedef struct qfz_attributes qfz_attributes;

/* QFZ_EARG if the format of the raster path holds no attribute table. */
qfz_status qfz_attributes_check(const char *format, const char *path, qfz_error *err);

/* Bytes of memory that a table of so many cells takes. */
int64_t qfz_attributes_bytes(int64_t n_columns, int64_t n_rows);

/* QFZ_EARG if there are more than QFZ_ATTRIBUTE_ROWS regions; QFZ_ENOMEM if their rows take more
 * than memory_bytes. */
qfz_status qfz_attributes_check_rows(const char *path, int n_columns, int64_t n_rows,
                                     int64_t memory_bytes, qfz_error *err);

/* A table of n_rows rows, in ascending order of labels 1 .. n_rows, in memory, for the raster path
 * (borrowed).  QFZ_EARG if no column is called label. */
qfz_status qfz_attributes_open(qfz_attributes **attributes, const char *format, const char *path,
                               const qfz_column *columns, int n_columns, int64_t n_rows,
                               qfz_error *err);
void qfz_attributes_close(qfz_attributes *attributes); /* NULL is allowed */

/* Appends rows. */
qfz_status qfz_attributes_add(qfz_attributes *attributes, const qfz_table_rows *rows,
                              qfz_error *err);

/* After the last row, before the sink is finished: the raster that the sink writes gets the table.
 */
qfz_status qfz_attributes_write(const qfz_attributes *attributes, qfz_sink *sink, qfz_error *err);

#endif
