/* SPDX-License-Identifier: MIT */
/* description.h - lines of text that identify a raster, or an output, without reading its pixels.
 *
 * Each line is "what<tab>facts".  A resumed job compares the lines with the lines in its journal.
 */
#ifndef QFZ_RASTER_DESCRIPTION_H
#define QFZ_RASTER_DESCRIPTION_H

#include <stdio.h>

#include "raster/source.h"

/* Size, bands, georeference, and names, sizes and times of all files. */
void qfz_source_describe(qfz_source *source, FILE *out);

/* One line about the files under an output's name, a raster or a table; there may be none. */
void qfz_output_describe(const char *path, FILE *out);

#endif
