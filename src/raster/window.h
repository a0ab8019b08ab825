/* SPDX-License-Identifier: MIT */
/* window.h - reads a box of one band. */
#ifndef QFZ_RASTER_WINDOW_H
#define QFZ_RASTER_WINDOW_H

#include <gdal.h>

#include "core/box.h"

/* Reads a box in GDAL's type `type`, rows without gaps.
 *
 * by_blocks: always reads whole blocks of the band, so that pixels of a VRT that resamples do not
 * depend on the box. */
CPLErr qfz_window_read(GDALRasterBandH band, qfz_box box, GDALDataType type, bool by_blocks,
                       void *first);

/* The same into rows that begin `pitch` pixels apart. */
CPLErr qfz_window_read_rows(GDALRasterBandH band, qfz_box box, GDALDataType type, bool by_blocks,
                            void *first, int64_t pitch);

#endif
