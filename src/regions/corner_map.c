/* SPDX-License-Identifier: MIT */
#include "regions/corner_map.h"

#include <stdlib.h>

#include "core/memory.h"

struct qfz_corner_map {
    int64_t w, h;  /* of the raster in pixels */
    int64_t pitch; /* words of a row */
    uint64_t *words;
};

static int64_t row_words(int64_t w)
{
    return (w + 1 + 63) / 64;
}

int64_t qfz_corner_map_bytes(int64_t w, int64_t h)
{
    return row_words(w) * (h + 1) * (int64_t)sizeof(uint64_t);
}

qfz_status qfz_corner_map_create(qfz_corner_map **map, int64_t w, int64_t h, qfz_error *err)
{
    qfz_corner_map *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->w = w;
    made->h = h;
    made->pitch = row_words(w);
    const qfz_status st = QFZ_NEW_ZERO(&made->words, made->pitch * (h + 1), err);
    if (st != QFZ_OK) {
        free(made);
        return st;
    }
    *map = made;
    return QFZ_OK;
}

void qfz_corner_map_close(qfz_corner_map *map)
{
    if (!map) return;
    free(map->words);
    free(map);
}

/* Tiles share corners; both set the same bits. */
void qfz_corner_map_add(qfz_corner_map *map, qfz_box tile, const qfz_arcs *arcs)
{
    const int64_t w = qfz_box_w(tile), h = qfz_box_h(tile);
    for (int64_t y = 0; y <= h; y++) {
        const uint8_t *const corners = arcs->corners + y * arcs->corners_pitch;
        uint64_t *const words = map->words + (tile.y0 + y) * map->pitch;
        for (int64_t x = 0; x <= w; x++) {
            const uint64_t is_border = (corners[x] & QFZ_ARC_EDGES) != 0;
            words[(tile.x0 + x) / 64] |= is_border << (tile.x0 + x) % 64;
        }
    }
}

int64_t qfz_corner_map_row_words(const qfz_corner_map *map)
{
    return map->pitch;
}

uint64_t *qfz_corner_map_row(const qfz_corner_map *map, int64_t y)
{
    return map->words + y * map->pitch;
}

int64_t qfz_corner_map_count(const qfz_corner_map *map, int64_t y, int64_t x0, int64_t x1)
{
    const uint64_t *const words = map->words + y * map->pitch;
    int64_t n = 0;
    for (int64_t i = x0 / 64; i <= x1 / 64; i++) {
        uint64_t word = words[i];
        if (i == x0 / 64) word &= ~UINT64_C(0) << x0 % 64;
        if (i == x1 / 64) word &= ~UINT64_C(0) >> (63 - x1 % 64);
        n += __builtin_popcountll(word);
    }
    return n;
}

bool qfz_corner_map_is_outermost(const qfz_corner_map *map, int64_t y, int64_t x)
{
    return (y == 0 || y == map->h) && (x == 0 || x == map->w);
}
