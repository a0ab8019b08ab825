/* SPDX-License-Identifier: MIT */
/* vrt_text.h - facts about a VRT that its XML text shows without a parser. */
#ifndef QFZ_RASTER_VRT_TEXT_H
#define QFZ_RASTER_VRT_TEXT_H

#include <stdbool.h>

enum { QFZ_VRT_BYTES_MAX = 256 << 20 }; /* longer texts are not read */

/* The number in an attribute, given as `xOff="`, of the tag that begins at text.  NaN: the tag has
 * no such attribute. */
double qfz_vrt_number(const char *text, const char *attribute);

/* True if GDAL may resample a source of the VRT, so that the value of a pixel depends on the window
 * that is read. */
bool qfz_vrt_resamples(const char *text);

#endif
