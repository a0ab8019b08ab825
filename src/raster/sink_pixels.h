/* SPDX-License-Identifier: MIT */
/* sink_pixels.h - moves boxes of pixels between memory and the open file of a sink. */
#ifndef QFZ_RASTER_SINK_PIXELS_H
#define QFZ_RASTER_SINK_PIXELS_H

#include "raster/sink_state.h"

/* QFZ_EARG unless the box lies in the rows of the file. */
qfz_status qfz_sink_check_box(const qfz_sink *sink, qfz_box box, qfz_error *err);

/* Reads or writes a box through GDAL's cache: all bands, or values of the mask band (255: valid).
 * The caller holds the lock. */
CPLErr qfz_sink_move_pixels(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *pixels);
CPLErr qfz_sink_move_mask(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *values);

#endif
