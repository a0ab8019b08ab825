/* SPDX-License-Identifier: MIT */
/* layout.h - saliency for the eye, out of a raster of edges.
 *
 * pixel: the largest level around a pixel.  khalimsky: (2h - 1) x (2w - 1) cells, pixels (0) at
 * even places, edges between them, and where four pixels meet the largest level of the edges
 * there.  Where there is no pixel or no edge: nodata. */
#ifndef QFZ_SALIENCY_LAYOUT_H
#define QFZ_SALIENCY_LAYOUT_H

#include "raster/raster.h"

/* Reads all of edges, a sink that was written with spec edges_spec, and writes all of to, which
 * told hears of. */
qfz_status qfz_layout_convert(qfz_sink *edges, const qfz_sink_spec *edges_spec, qfz_sink *to,
                              const qfz_sink_spec *to_spec, int n_threads, qfz_advance_fn told,
                              void *arg, qfz_error *err);

#endif
