/* SPDX-License-Identifier: MIT */
/* temp_output.h - temporary names: an output appears under its own name only when it is complete.
 */
#ifndef QFZ_RASTER_TEMP_OUTPUT_H
#define QFZ_RASTER_TEMP_OUTPUT_H

#include "raster/placement.h"

/* In every temporary name, before its number. */
#define QFZ_TEMP_MARK ".qfz-"

/* *temp = a name beside path that nobody can predict, with the extension of path or the given one;
 * freed by free().  kind distinguishes several temporary files of one output.  stage: the local
 * folder for the name, if path is an object in a bucket (object_store.h); NULL: beside path. */
qfz_status qfz_temp_name(char **temp, const char *path, const char *kind, const char *extension,
                         const char *stage, qfz_error *err);

/* QFZ_EARG if path is free, but a side file of temp would, renamed with it, replace the side file
 * of another raster (a header .hdr, for example), which may be the source. */
qfz_status qfz_temp_check(const char *temp, const char *path, qfz_error *err);

/* Creates the temporary file, empty, where no file is yet; does nothing for names of GDAL's virtual
 * file systems. */
qfz_status qfz_temp_reserve(const char *temp, const char *path, qfz_error *err);

/* Moves the temporary file and its side files to path and the side files of path; after a failure
 * nothing has been moved.  overwrite false: QFZ_EARG if path exists.  Files of an object in a
 * bucket are uploaded, and appear when the placement is settled. */
qfz_status qfz_temp_place(const char *temp, const char *path, bool overwrite,
                          qfz_placement *placement, qfz_error *err);

/* Deletes the temporary file and its side files, as far as they exist.  NULL is allowed. */
void qfz_temp_delete(const char *temp);

/* Deletes all temporary files of an output, which killed processes have left, and discards uploads
 * that they did not complete; stage as in qfz_temp_name(). */
void qfz_output_clean(const char *path, const char *stage);

#endif
