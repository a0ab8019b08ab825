/* SPDX-License-Identifier: MIT */
/* saliency_layout.h - converts a raster of edges into one of the layouts for display.
 *
 * pixel: the largest level around a pixel.  khalimsky: (2h - 1) x (2w - 1) cells; even rows and
 * columns hold pixels (0), the cells between two pixels their edge, and the cells between four
 * pixels the largest level of the edges there.  Where there is no pixel or no edge: nodata. */
#ifndef QFZ_SALIENCY_LAYOUT_H
#define QFZ_SALIENCY_LAYOUT_H

#include "raster/raster.h"

/* Reads all of `edges`, a sink that was written with edges_spec, and writes all of `to`, in strips
 * of rows of about 16 MB.  Reports progress through advance(arg, ...). */
qfz_status qfz_layout_convert(qfz_sink *edges, const qfz_sink_spec *edges_spec, qfz_sink *to,
                              const qfz_sink_spec *to_spec, int n_threads, qfz_advance_fn advance,
                              void *arg, qfz_error *err);

#endif
