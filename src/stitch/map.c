/* SPDX-License-Identifier: MIT */
/* map.c - lists of slots and their regions, one behind the other (qfz_map). */
#include "stitch/solve.h"

#include <stdlib.h>

#include "memory.h"

void qfz_map_fini(qfz_map *map)
{
    free(map->words);
    *map = (qfz_map){0};
}

static qfz_status reserve(qfz_map *map, int64_t more, qfz_error *err)
{
    const int64_t n = map->n + more;
    if (n <= map->room) return QFZ_OK;
    const int64_t room = 2 * n;
    QFZ_TRY(qfz_realloc((void **)&map->words, room, sizeof *map->words, err));
    map->room = room;
    return QFZ_OK;
}

qfz_status qfz_map_start(qfz_map *map, uint32_t n_regions, qfz_error *err)
{
    map->n = 0;
    QFZ_TRY(reserve(map, 1, err));
    map->words[map->n++] = n_regions;
    return QFZ_OK;
}

qfz_status qfz_map_list(qfz_map *map, uint32_t n, uint32_t **list, qfz_error *err)
{
    QFZ_TRY(reserve(map, 1 + (int64_t)n, err));
    map->words[map->n++] = n;
    *list = map->words + map->n;
    map->n += n;
    return QFZ_OK;
}

const uint32_t *qfz_map_next(const uint32_t *words, int64_t *at, uint32_t *n)
{
    *n = words[*at];
    const uint32_t *const list = words + *at + 1;
    *at += 1 + (int64_t)*n;
    return list;
}
