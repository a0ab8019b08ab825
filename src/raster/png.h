/* SPDX-License-Identifier: MIT */
/* png.h - a small colour image as a PNG file. */
#ifndef QFZ_RASTER_PNG_H
#define QFZ_RASTER_PNG_H

#include "raster/output.h"

/* Writes w x h pixels of red, green and blue, row by row; the file, a local one, appears under its
 * name when it is complete.  Fails if the file exists, without overwrite. */
qfz_status qfz_png_write(const char *path, const uint8_t *rgb, int w, int h, bool overwrite,
                         qfz_error *err);

/* The same in steps: create() writes a complete file under a temporary name; then as
 * qfz_sink_place(), qfz_sink_commit() and qfz_sink_close(). */
typedef struct qfz_png qfz_png;
qfz_status qfz_png_create(qfz_png **png, const char *path, const uint8_t *rgb, int w, int h,
                          const qfz_output_options *options, qfz_error *err);
qfz_status qfz_png_place(qfz_png *png, qfz_error *err);
qfz_status qfz_png_commit(qfz_png *png, qfz_error *err);
void qfz_png_close(qfz_png *png); /* NULL is allowed */

#endif
