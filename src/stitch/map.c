/* SPDX-License-Identifier: MIT */
/* map.c - lists of the regions of border regions, one list behind the other (qfz_map). */
#include "stitch/solve.h"

#include <stdlib.h>

#include "core/memory.h"

void qfz_map_fini(qfz_map *map)
{
    free(map->words);
    *map = (qfz_map){0};
}

qfz_status qfz_map_start(qfz_map *map, uint32_t n_regions, int n_members, int64_t n_border_regions,
                         qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_LARGE(&map->words, 2 + n_members + n_border_regions, err));
    map->words[0] = n_regions;
    map->n = 1;
    return QFZ_OK;
}

uint32_t *qfz_map_list(qfz_map *map, uint32_t n)
{
    uint32_t *const list = map->words + map->n + 1;
    map->words[map->n] = n;
    map->n += 1 + (int64_t)n;
    return list;
}

const uint32_t *qfz_map_next(const uint32_t *words, int64_t *at, uint32_t *n)
{
    *n = words[*at];
    const uint32_t *const list = words + *at + 1;
    *at += 1 + (int64_t)*n;
    return list;
}
