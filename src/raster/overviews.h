/* SPDX-License-Identifier: MIT */
/* overviews.h - exact overviews of a GTiff that is being written.
 *
 * GDAL 3.6 computes overviews by numbers of single precision, which round labels and levels above
 * 2^24; so GDAL makes the overviews empty here, and this file fills them.  An overview of factor f
 * has a pixel for each square of f x f pixels, which has the value of one of them. */
#ifndef QFZ_RASTER_OVERVIEWS_H
#define QFZ_RASTER_OVERVIEWS_H

#include <gdal.h>

#include "raster/sink.h"

/* Adds overviews of factors 2, 4, 8 ... to a GTiff whose pixels are complete, until both sides of
 * the last one are at most 512 pixels.  A mask of the dataset gets overviews too.
 *
 * QFZ_OVERVIEWS_NEAREST: the upper left pixel of the square.  QFZ_OVERVIEWS_MODE: the most frequent
 * value other than 0, of several the least; 0 if there is no other; up to factor 1024.
 * progress: of this work; NULL: no reports.  A dataset of UInt64 has no nodata value yet: GDAL 3.6
 * damages the directories of overviews that have one. */
qfz_status qfz_overviews_build(GDALDatasetH dataset, qfz_overviews method, const char *path,
                               qfz_advance_fn progress, void *arg, qfz_error *err);

#endif
