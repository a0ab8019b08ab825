/* SPDX-License-Identifier: MIT */
/* saliency_picture.h - the picture of a hierarchy, from its complete raster of edges. */
#ifndef QFZ_SALIENCY_PICTURE_H
#define QFZ_SALIENCY_PICTURE_H

#include "raster/raster.h"
#include "regions/regions.h"

/* Writes the picture complete under a temporary name.  spec: of the raster of edges. */
qfz_status qfz_saliency_picture_draw(qfz_png **png, const qfz_job *job, qfz_sink *edges,
                                     const qfz_sink_spec *spec, qfz_advance_fn advance, void *arg,
                                     qfz_error *err);

#endif
