/* SPDX-License-Identifier: MIT */
/* values.h - the values of an image in boxes of any size, for several threads. */
#ifndef QFZ_VALUES_H
#define QFZ_VALUES_H

#include "raster/raster.h"

typedef struct qfz_values qfz_values;

/* Bytes of memory for a pixel of one thread. */
int64_t qfz_values_px_bytes(const qfz_source_info *info);

/* Opens the source (borrowed) once more for each thread.  max_px: pixels of the largest box. */
qfz_status qfz_values_open(qfz_values **values, const qfz_source *source, int n_threads,
                           int64_t max_px, qfz_error *err);
void qfz_values_close(qfz_values *values); /* NULL is allowed */

/* Reads a box; *image is valid until the thread's next call.  image->edges are the source's, if it
 * has levels of edges. */
qfz_status qfz_values_read(qfz_values *values, int thread, qfz_box box, qfz_image *image,
                           qfz_error *err);

#endif
