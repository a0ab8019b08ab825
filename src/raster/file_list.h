/* SPDX-License-Identifier: MIT */
/* file_list.h - the files that a raster is read from. */
#ifndef QFZ_RASTER_FILE_LIST_H
#define QFZ_RASTER_FILE_LIST_H

#include <gdal.h>

/* All files of a dataset that GDAL can name, with the files of VRTs in VRTs; some more than once.
 * NULL: none, or dataset is NULL.
 *
 * *list keeps the result: NULL before the first call, released by CSLDestroy(). */
char *const *qfz_file_list(GDALDatasetH dataset, char ***list);

#endif
