/* SPDX-License-Identifier: MIT */
/* sink_copy.h - formats that GDAL can only copy from a finished raster. */
#ifndef QFZ_RASTER_SINK_COPY_H
#define QFZ_RASTER_SINK_COPY_H

#include "raster/sink_state.h"

/* Copies sink->work by the driver of the format to a file that GDAL opens as `name` and that is
 * sink->temp on disk.  QFZ_EIO also if the copy has other pixel values; sink->differs is true then.
 */
qfz_status qfz_sink_copy(qfz_sink *sink, const char *name, qfz_error *err);

#endif
