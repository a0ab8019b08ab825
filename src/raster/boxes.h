/* SPDX-License-Identifier: MIT */
/* boxes.h - boxes of pixels inside other boxes. */
#ifndef QFZ_RASTER_BOXES_H
#define QFZ_RASTER_BOXES_H

#include "core/box.h"
#include "core/status.h"

/* QFZ_EARG unless the box has pixels and lies in `whole`, the pixels of the raster `name`. */
qfz_status qfz_box_check(qfz_box box, qfz_box whole, const char *name, qfz_error *err);

/* The pixels of both boxes.  Meaningless if the boxes have none in common. */
qfz_box qfz_box_common(qfz_box a, qfz_box b);

/* Rows of a box that are processed at a time where a temporary buffer is needed: about a million
 * pixels, at least one row. */
int64_t qfz_box_chunk_rows(qfz_box box);

#endif
