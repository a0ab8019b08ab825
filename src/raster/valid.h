/* SPDX-License-Identifier: MIT */
/* valid.h - which pixels of a source are valid. */
#ifndef QFZ_RASTER_VALID_H
#define QFZ_RASTER_VALID_H

#include "core/box.h"
#include "raster/source_state.h"

/* Finds masks, nodata and background of the open bands, and completes source->info. */
qfz_status qfz_valid_init(qfz_source *source, qfz_error *err);

/* valid[i] = 1 or 0 for each pixel of the box, from the pixels just read and from masks.  Planes of
 * pixels are plane_px pixels apart.  valid NULL: does nothing. */
qfz_status qfz_valid_read(qfz_source *source, qfz_box box, const void *pixels, int64_t plane_px,
                          uint8_t *valid, qfz_error *err);

#endif
