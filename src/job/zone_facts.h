/* SPDX-License-Identifier: MIT */
/* zone_facts.h - what one pass over labels gathers of each region, for the table of regions. */
#ifndef QFZ_ZONE_FACTS_H
#define QFZ_ZONE_FACTS_H

#include "raster/raster.h"
#include "regions/regions.h"

/* Facts that only some columns need. */
typedef struct qfz_zone_needs {
    bool zones; /* first pixels, or any of those below */
    bool borders, neighbours;
    bool values;       /* counts of the values of the image */
    bool stats_values; /* and of the raster of --stats */
} qfz_zone_needs;

typedef struct qfz_zone_facts {
    qfz_zone_needs needs;
    qfz_zones *zones;
    qfz_tally *neighbours, *values, *stats_values; /* NULL: not needed */
} qfz_zone_facts;

/* How many parts of the memory the facts are given. */
int qfz_zone_facts_users(const qfz_zone_needs *needs);

/* stats: of --stats; NULL: none.  bytes: of memory for each user.  folder: of temporary files;
 * borrowed.  The facts are zeroed; the caller calls close() in any case. */
qfz_status qfz_zone_facts_open(qfz_zone_facts *facts, const qfz_zone_needs *needs,
                               const qfz_source *stats, int n_threads, int64_t bytes,
                               const char *folder, qfz_error *err);
void qfz_zone_facts_close(qfz_zone_facts *facts); /* zeroed facts are allowed */

/* Adds a tile, which has a margin where borders or neighbours are needed.  areas, lengths: as
 * qfz_zones_add().  image, stats: values of the pixels of tile and margin; NULL: none. */
qfz_status qfz_zone_facts_add(qfz_zone_facts *facts, int thread, const qfz_label_tile *tile,
                              const uint64_t *areas, const uint64_t *lengths,
                              const qfz_image *image, const qfz_image *stats, qfz_error *err);

/* After the last tile. */
qfz_status qfz_zone_facts_begin_reading(qfz_zone_facts *facts, qfz_error *err);

#endif
