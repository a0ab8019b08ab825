/* SPDX-License-Identifier: MIT */
/* parts_vrt.h - a VRT that shows the parts of an output, one below the other, as one raster. */
#ifndef QFZ_RASTER_PARTS_VRT_H
#define QFZ_RASTER_PARTS_VRT_H

#include "raster/sink_spec.h"

/* Writes the VRT to temp.
 *
 * Part k has rows rows[k]..rows[k + 1].  The VRT names the parts in `folder`, relative to itself;
 * part_path: where one part can be opened now, from which the VRT takes types and blocks. */
qfz_status qfz_parts_vrt_write(const char *temp, const qfz_source *source,
                               const qfz_sink_spec *spec, const int64_t *rows, const char *folder,
                               const char *part_path, qfz_error *err);

#endif
