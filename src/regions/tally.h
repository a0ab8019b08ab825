/* SPDX-License-Identifier: MIT */
/* tally.h - counts of items by region: the values of its pixels, or the regions beside it.
 *
 * Tiles come in any order, from several threads; the counts are read region by region, the labels
 * and the items of each label in ascending order.  Any number of counts passes through the memory
 * given (gather.h). */
#ifndef QFZ_TALLY_H
#define QFZ_TALLY_H

#include "core/level.h"
#include "regions/gather.h"
#include "regions/label_tile.h"

typedef struct qfz_tally qfz_tally;

/* bytes: of memory for all threads together.  folder: of temporary files; borrowed. */
qfz_status qfz_tally_open(qfz_tally **tally, int n_threads, int64_t bytes, const char *folder,
                          qfz_error *err);
void qfz_tally_close(qfz_tally *tally); /* NULL is allowed */

/* Of a tile with a margin: counts the other regions with which a region shares sides of pixels. */
qfz_status qfz_tally_add_neighbours(qfz_tally *tally, int thread, const qfz_label_tile *tile,
                                    qfz_error *err);

/* Counts the integer values of the tile's pixels.  values: an image of tile->h x tile->w pixels;
 * a pixel without a value does not count. */
qfz_status qfz_tally_add_values(qfz_tally *tally, int thread, const qfz_label_tile *tile,
                                const qfz_image *values, qfz_error *err);

/* What the tiles have added so far; borrowed, for records of other processes. */
qfz_gather *qfz_tally_gather(const qfz_tally *tally);

/* After the last tile. */
qfz_status qfz_tally_begin_reading(qfz_tally *tally, qfz_error *err);

/* The functions below read the counts of one region.  Labels ascend; those of regions without
 * counts are allowed, those of regions with counts are not left out. */

/* *n = the number of different items of the region. */
qfz_status qfz_tally_number(qfz_tally *tally, uint64_t label, uint64_t *n, qfz_error *err);

/* The most and the least frequent value of a band; of several equally frequent ones, the least. */
typedef struct qfz_tally_mode {
    int64_t majority, minority;
    uint64_t n_majority, n_minority; /* pixels that have these values */
    uint64_t n;                      /* pixels that have a value; 0: the members above are 0 */
} qfz_tally_mode;

/* modes[b] = that of band b of the values, whose type is given. */
qfz_status qfz_tally_modes(qfz_tally *tally, uint64_t label, qfz_type type, int n_bands,
                           qfz_tally_mode *modes, qfz_error *err);

#endif
