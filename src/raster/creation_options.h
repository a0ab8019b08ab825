/* SPDX-License-Identifier: MIT */
/* creation_options.h - creation options that a driver gets where the user gave none. */
#ifndef QFZ_RASTER_CREATION_OPTIONS_H
#define QFZ_RASTER_CREATION_OPTIONS_H

#include <gdal.h>

#include "raster/sink_spec.h"

/* Adds defaults for a raster of that type to a list of options and returns the list; released by
 * CSLDestroy(). */
char **qfz_creation_options_add(char **list, GDALDriverH driver, GDALDataType file_type,
                                const qfz_source *source, const qfz_sink_options *options,
                                const qfz_sink_spec *spec);

/* True if each of these options of a GTiff is known to keep every value: how blocks lie, and codecs
 * that are always exact.  list may be NULL. */
bool qfz_creation_options_are_exact(const char *const *list);

#endif
