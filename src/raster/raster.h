/* SPDX-License-Identifier: MIT */
/* raster.h - rasters and tables on disk, through GDAL and PROJ: the header of this room for other
 * rooms, and the only room that uses these two libraries.
 *
 * GDAL prints nothing: the first message of a failed call becomes part of the qfz_error.  Every
 * read and write checks its return value.  image.c defines qfz_bench_image_read() and
 * qfz_bench_image_free() of qfz_bench.h; without GDAL, none.c does, and the rest of this room is
 * not built. */
#ifndef QFZ_RASTER_H
#define QFZ_RASTER_H

#include "raster/attributes.h"
#include "raster/gdal_setup.h"

/* Input */
#include "raster/area.h"
#include "raster/description.h"
#include "raster/length.h"
#include "raster/made.h"
#include "raster/place.h"
#include "raster/places.h"
#include "raster/source.h"
#include "raster/source_read.h"
#include "raster/table_read.h"
#include "raster/tile_shape.h"

/* Output */
#include "raster/object_store.h"
#include "raster/output.h"
#include "raster/output_format.h"
#include "raster/part_folder.h"
#include "raster/png.h"
#include "raster/paths.h"
#include "raster/sink.h"
#include "raster/sink_memory.h"
#include "raster/parts_join.h"
#include "raster/sink_parts.h"
#include "raster/sink_write.h"
#include "raster/table.h"
#include "raster/temp_output.h"
#include "raster/text.h"

#endif
