/* SPDX-License-Identifier: MIT */
/* explore_data.h - the data of a page of qfz explore, as blocks of an HTML page. */
#ifndef EXPLORE_DATA_H
#define EXPLORE_DATA_H

#include <stdint.h>
#include <stdio.h>

#include "options.h"

typedef struct explore_data {
    const request *r;
    int64_t raster_w, raster_h;
    const qfz_window *windows; /* n_windows; of the same bands and type */
    int n_windows;
    const qfz_curve *curve; /* of the whole raster; NULL: none */
} explore_data;

/* The number of pixels of a window that are valid. */
int64_t explore_count_valid(const qfz_window *window);

/* Writes a block of JSON, in which no text ends the block, and a block of packed pixels for each
 * window.  False: out of memory.
 *
 * The pixels of a window are those of each band, then, if some are invalid, the validity; all
 * packed as one sequence of bytes.  A band is written as differences to the pixel on the left (to 0
 * in the first column), as unsigned numbers of the type's size that wrap, floats by their bits; and
 * these as planes of bytes: all lowest bytes, then all second bytes ... */
bool explore_data_write(FILE *out, const explore_data *data);

#endif
