/* SPDX-License-Identifier: MIT */
/* png.h - a small colour image as a PNG file. */
#ifndef QFZ_RASTER_PNG_H
#define QFZ_RASTER_PNG_H

#include "core/status.h"

/* Writes w x h pixels of red, green and blue, row by row; the file appears under its name when it
 * is complete.  Fails if the file exists, without overwrite. */
qfz_status qfz_png_write(const char *path, const uint8_t *rgb, int w, int h, bool overwrite,
                         qfz_error *err);

#endif
