/* SPDX-License-Identifier: MIT */
/* saliency_source.h - a raster of levels of edges as a source: saliency, to be cut at a level, or
 * levels from anywhere. */
#ifndef QFZ_RASTER_SALIENCY_SOURCE_H
#define QFZ_RASTER_SALIENCY_SOURCE_H

#include "core/box.h"
#include "raster/source_state.h"

/* QFZ_EARG unless the open raster holds saliency in layout edges, or with options.any_edges may
 * hold levels of edges.  Sets source->connectivity, and the facts of levels in source->info. */
qfz_status qfz_saliency_source_init(qfz_source *source, qfz_error *err);

/* Reads a box as one byte for each pixel: bit d is set if the edge in direction d (core/level.h)
 * exists and its level is at most options.alpha.  With options.alphas: such a plane for each of
 * them, plane_px bytes apart. */
qfz_status qfz_saliency_source_read(qfz_source *source, qfz_box box, int64_t plane_px,
                                    uint8_t *pixels, qfz_error *err);

/* Reads a box with options.any_edges: levels of the edges of each direction (qfz_image.edges), a
 * plane after the other.  QFZ_EARG: a level is negative, or 2^32 - 1 or more. */
qfz_status qfz_saliency_source_levels(qfz_source *source, qfz_box box, uint32_t *levels,
                                      qfz_error *err);

#endif
