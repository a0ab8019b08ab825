/* SPDX-License-Identifier: MIT */
/* saliency_source.h - a saliency raster as a source, to be cut at a level. */
#ifndef QFZ_RASTER_SALIENCY_SOURCE_H
#define QFZ_RASTER_SALIENCY_SOURCE_H

#include "core/box.h"
#include "raster/source_state.h"

/* QFZ_EARG unless the open raster holds saliency in layout edges.  Sets source->connectivity. */
qfz_status qfz_saliency_source_init(qfz_source *source, qfz_error *err);

/* Reads a box as one byte for each pixel: bit d is set if the edge in direction d (core/level.h)
 * exists and its level is at most options.alpha. */
qfz_status qfz_saliency_source_read(qfz_source *source, qfz_box box, uint8_t *pixels,
                                    qfz_error *err);

#endif
