/* SPDX-License-Identifier: MIT */
/* output_header.h - everything in an output except its pixels. */
#ifndef QFZ_RASTER_OUTPUT_HEADER_H
#define QFZ_RASTER_OUTPUT_HEADER_H

#include <gdal.h>

#include "raster/sink_spec.h"

/* Writes georeference, metadata, names and nodata of bands, and the mask band of a raster that was
 * just created.  name: of the raster, for messages. */
qfz_status qfz_output_header_fill(GDALDatasetH dataset, const qfz_source *source,
                                  const qfz_sink_spec *spec, const char *name, qfz_error *err);

/* Writes the nodata value of a raster whose header was filled by a spec without one. */
qfz_status qfz_output_header_set_nodata(GDALDatasetH dataset, const qfz_sink_spec *spec,
                                        const char *name, qfz_error *err);

#endif
