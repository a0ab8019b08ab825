/* SPDX-License-Identifier: MIT */
/* corner_map.h - one bit for each corner of pixels: whether borders pass there. */
#ifndef QFZ_REGIONS_CORNER_MAP_H
#define QFZ_REGIONS_CORNER_MAP_H

#include "regions/arc.h"

typedef struct qfz_corner_map qfz_corner_map;

/* For a raster of w x h pixels, which has (w + 1) x (h + 1) corners; an eighth of a byte each. */
qfz_status qfz_corner_map_create(qfz_corner_map **map, int64_t w, int64_t h, qfz_error *err);
void qfz_corner_map_close(qfz_corner_map *map); /* NULL is allowed */
int64_t qfz_corner_map_bytes(int64_t w, int64_t h);

/* Takes the corners of a tile that was just traced; one thread at a time. */
void qfz_corner_map_add(qfz_corner_map *map, qfz_box tile, const qfz_arcs *arcs);

/* Row y of corners, 0..h, for other processes: words that are added by OR. */
int64_t qfz_corner_map_row_words(const qfz_corner_map *map);
uint64_t *qfz_corner_map_row(const qfz_corner_map *map, int64_t y);

/* The number of corners of row y, columns x0..x1 (both included), at which borders pass. */
int64_t qfz_corner_map_count(const qfz_corner_map *map, int64_t y, int64_t x0, int64_t x1);

/* Whether a corner is one of the four of the raster. */
bool qfz_corner_map_is_outermost(const qfz_corner_map *map, int64_t y, int64_t x);

#endif
