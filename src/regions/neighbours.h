/* SPDX-License-Identifier: MIT */
/* neighbours.h - the region adjacency graph: pairs of regions that share sides of pixels.
 *
 * Tiles with a margin (label_tile.h) come in any order, from several threads; the pairs are read in
 * ascending order of (a, b), a < b.  Pixels that touch in a corner only share no side. */
#ifndef QFZ_NEIGHBOURS_H
#define QFZ_NEIGHBOURS_H

#include "core/level.h"
#include "regions/gather.h"
#include "regions/label_tile.h"

typedef struct qfz_neighbours qfz_neighbours;

typedef struct qfz_neighbours_pair {
    uint64_t a, b;
    uint64_t edges;                 /* shared sides of pixels */
    uint64_t length_below;          /* of the sides between two rows, */
    uint64_t length_right;          /* and between two columns: sums of weights */
    uint64_t n_levels;              /* edges that have a level */
    double mean_level, least_level; /* of these; NaN: none has a level */
} qfz_neighbours_pair;

/* rule: of levels (borrowed); NULL: pairs have no levels.  bytes: of memory for all threads.
 * folder: of temporary files; borrowed. */
qfz_status qfz_neighbours_open(qfz_neighbours **neighbours, const qfz_rule *rule, int n_threads,
                               int64_t bytes, const char *folder, qfz_error *err);
void qfz_neighbours_close(qfz_neighbours *neighbours); /* NULL is allowed */

/* Adds the pairs of a tile with a margin.  lengths: for each of the tile's rows the weight of the
 * side below and of the right side of a pixel.  values: an image of tile->h x tile->w pixels, for
 * levels; NULL: the edges of this tile have none. */
qfz_status qfz_neighbours_add(qfz_neighbours *neighbours, int thread, const qfz_label_tile *tile,
                              const uint64_t *lengths, const qfz_image *values, qfz_error *err);

/* What the tiles have added so far; borrowed, for records of other processes. */
qfz_gather *qfz_neighbours_gather(const qfz_neighbours *neighbours);

/* After the last tile. */
qfz_status qfz_neighbours_begin_reading(qfz_neighbours *neighbours, qfz_error *err);

/* *more = false after the last pair. */
qfz_status qfz_neighbours_next(qfz_neighbours *neighbours, qfz_neighbours_pair *pair, bool *more,
                               qfz_error *err);

/* The part of the records that was read, 0 to 1. */
double qfz_neighbours_part(const qfz_neighbours *neighbours);

#endif
