/* SPDX-License-Identifier: MIT */
/* temp_output.h - temporary names: an output appears under its own name only when it is complete.
 */
#ifndef QFZ_RASTER_TEMP_OUTPUT_H
#define QFZ_RASTER_TEMP_OUTPUT_H

#include "core/status.h"

/* *temp = a name of this process beside path, with the extension of path or the given one; freed by
 * free().  kind tells several temporary files of one output apart. */
qfz_status qfz_temp_name(char **temp, const char *path, const char *kind, const char *extension,
                         qfz_error *err);

/* QFZ_EARG if path is free, but a side file of temp would, renamed with it, replace the side file
 * of another raster (a header .hdr, for example), which may be the source. */
qfz_status qfz_temp_check(const char *temp, const char *path, qfz_error *err);

/* Renames the temporary file and its side files to path and the side files of path. */
qfz_status qfz_temp_rename(const char *temp, const char *path, qfz_error *err);

/* Deletes the temporary file and its side files, as far as they exist.  NULL is allowed. */
void qfz_temp_delete(const char *temp);

/* Deletes all temporary files of an output, which killed processes have left. */
void qfz_output_clean(const char *path);

#endif
