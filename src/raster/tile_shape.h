/* SPDX-License-Identifier: MIT */
/* tile_shape.h - the shape of tiles that suits a source. */
#ifndef QFZ_RASTER_TILE_SHAPE_H
#define QFZ_RASTER_TILE_SHAPE_H

#include "core/tiling.h"
#include "raster/source.h"

/* tile_px > 0: square tiles of that side.  tile_px = 0: tiles of at most max_px pixels, whole rows
 * for a raster in strips, else multiples of the source's blocks (and of 256, where possible). */
qfz_status qfz_tiling_choose(qfz_tiling *tiling, const qfz_source_info *info, int32_t tile_px,
                             int64_t max_px, qfz_error *err);

#endif
