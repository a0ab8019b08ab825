/* SPDX-License-Identifier: MIT */
/* saliency_picture.h - the picture of a hierarchy, from its complete raster of edges. */
#ifndef QFZ_SALIENCY_PICTURE_H
#define QFZ_SALIENCY_PICTURE_H

#include "job/outputs.h"

/* Writes the picture complete under a temporary name: outputs->picture.  Reports progress through
 * advance(arg, ...). */
qfz_status qfz_saliency_picture_draw(qfz_outputs *outputs, qfz_advance_fn advance, void *arg,
                                     qfz_error *err);

#endif
