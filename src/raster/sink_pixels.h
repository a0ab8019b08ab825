/* SPDX-License-Identifier: MIT */
/* sink_pixels.h - moves boxes of pixels between memory and the open file of a sink. */
#ifndef QFZ_RASTER_SINK_PIXELS_H
#define QFZ_RASTER_SINK_PIXELS_H

#include "raster/sink_state.h"

/* QFZ_EARG unless the box lies in the rows of the file. */
qfz_status qfz_sink_check_box(const qfz_sink *sink, qfz_box box, qfz_error *err);

/* Copies a part of a plane, stride_px pixels wide, into the upper left corner of a block, and zeros
 * into the rest. */
void qfz_sink_fill_block(const qfz_sink *sink, char *block, const char *from, int64_t stride_px,
                         qfz_box part);

/* Reads or writes a box through GDAL's cache: all bands, or values of the mask band (255: valid).
 * The caller holds the lock. */
CPLErr qfz_sink_move_pixels(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *pixels);
CPLErr qfz_sink_move_mask(const qfz_sink *sink, GDALRWFlag way, qfz_box box, void *values);

#endif
