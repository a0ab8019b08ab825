/* SPDX-License-Identifier: MIT */
/* level_bytes.c - counts instead of sorting: the joins of a minimum spanning forest with levels
 * above a limit are all joins less those of the edges up to the limit.  If there are more of them
 * than links above the limit, some of them are settled. */
#include "stitch/level_bytes.h"

#include <stdlib.h>

#include "core/memory.h"

static uint32_t root_of(uint32_t *up, uint32_t v)
{
    while (up[v] != v) {
        up[v] = up[up[v]];
        v = up[v];
    }
    return v;
}

/* The number of joins of the links up to a level.  up: working memory for n vertices. */
static int64_t count_joins(const qfz_links *links, uint32_t limit, uint32_t *up, uint32_t n)
{
    int64_t joins = 0;
    for (uint32_t v = 0; v < n; v++)
        up[v] = v;
    for (int64_t i = 0; i < links->n; i++) {
        if (links->level[i] > limit) continue;
        const uint32_t a = root_of(up, links->u[i]), b = root_of(up, links->v[i]);
        up[a > b ? a : b] = a > b ? b : a;
        joins += a != b;
    }
    return joins;
}

static int64_t count_above(const qfz_links *links, uint32_t limit)
{
    int64_t n = 0;
    for (int64_t i = 0; links && i < links->n; i++)
        n += links->level[i] > limit;
    return n;
}

static int32_t find(const qfz_links *all, const qfz_links *links, uint32_t *up, uint32_t n)
{
    static const uint32_t limits[] = {UINT8_MAX - 1, UINT16_MAX - 1, UINT32_MAX - 1};
    int64_t joins = -1;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (count_above(all, limits[i]) == 0) return qfz_level_bytes(limits[i]);
        if (joins < 0) joins = count_joins(all, UINT32_MAX, up, n);
        if (joins - count_joins(all, limits[i], up, n) == count_above(links, limits[i]))
            return qfz_level_bytes(limits[i]);
    }
    return qfz_level_bytes(UINT32_MAX);
}

qfz_status qfz_group_level_bytes(const qfz_group *group, const uint32_t *ring_vertex,
                                 const qfz_links *links, int32_t *bytes, qfz_error *err)
{
    qfz_links all = {0};
    uint32_t *up = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_group_links(group, NULL, ring_vertex, &all, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&up, qfz_group_n(group), err));
    *bytes = find(&all, links, up, qfz_group_n(group));

cleanup:
    free(up);
    qfz_links_fini(&all);
    return st;
}
