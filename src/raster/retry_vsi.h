/* SPDX-License-Identifier: MIT */
/* retry_vsi.h - a virtual file system of GDAL that repeats writes and reads that failed. */
#ifndef QFZ_RASTER_RETRY_VSI_H
#define QFZ_RASTER_RETRY_VSI_H

#include "core/retry.h"

/* Names in the file system: QFZ_RETRY_VSI_PREFIX RETRIES,SECONDS/path. */
#define QFZ_RETRY_VSI_PREFIX "/vsiqfz/"

/* Adds the file system to GDAL, once for the process; later calls do nothing.  False if GDAL
 * refuses. */
bool qfz_retry_vsi_install(void);

/* *name = the name under which GDAL opens the plain file `path` in this file system; path itself if
 * path is in another virtual file system or nothing is to be repeated.  Freed by free(). */
qfz_status qfz_retry_vsi_name(char **name, const char *path, const qfz_retry *retry,
                              qfz_error *err);

#endif
