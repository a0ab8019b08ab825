/* SPDX-License-Identifier: MIT */
/* sink_write.h - writes pixels into a sink. */
#ifndef QFZ_RASTER_SINK_WRITE_H
#define QFZ_RASTER_SINK_WRITE_H

#include "raster/sink.h"

/* Writes a box: n_bands planes of h * w pixels of spec->type.  valid: h * w bytes, or NULL for all
 * valid; used only if spec->has_mask.  Each pixel is written once.  Any thread. */
qfz_status qfz_sink_write(qfz_sink *sink, qfz_box box, const void *pixels, const uint8_t *valid,
                          qfz_error *err);

/* True if no pixel goes through GDAL's block cache, provided that boxes begin at multiples of box_w
 * and, counted from the file's first row, of box_h, and reach to the next multiple or the edge. */
bool qfz_sink_is_direct(const qfz_sink *sink, int64_t box_w, int64_t box_h);

#endif
