/* SPDX-License-Identifier: MIT */
/* label_parts.h - reads the labels that several processes have written, each a part, before the
 * parts are joined. */
#ifndef QFZ_LABEL_PARTS_H
#define QFZ_LABEL_PARTS_H

#include "raster/raster.h"

typedef struct qfz_label_parts qfz_label_parts;

/* Borrows what the options and the spec, that of the whole raster, name.  Part k has rows
 * rows[k]..rows[k + 1].  If an earlier join was killed after the parts had become one file, that
 * file is read. */
qfz_status qfz_label_parts_open(qfz_label_parts **parts, const qfz_sink_options *options,
                                const qfz_sink_spec *spec, const int64_t *rows, int n_threads,
                                qfz_error *err);
void qfz_label_parts_close(qfz_label_parts *parts); /* NULL is allowed */

/* As qfz_sink_read() of the whole raster, in the thread of this number.  Each thread has files of
 * its own open, those of two parts. */
qfz_status qfz_label_parts_read(qfz_label_parts *parts, int thread, qfz_box box, void *pixels,
                                qfz_error *err);

#endif
