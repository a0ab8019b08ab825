/* SPDX-License-Identifier: MIT */
#include "core/summary.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/ring.h"

qfz_status qfz_summary_init(qfz_summary *summary, qfz_box box, const qfz_rule *rule, qfz_error *err)
{
    return qfz_summary_init_sides(summary, box, QFZ_ALL_SIDES, rule, err);
}

qfz_status qfz_summary_init_sides(qfz_summary *summary, qfz_box box, int sides,
                                  const qfz_rule *rule, qfz_error *err)
{
    const int64_t n_ring = qfz_ring_of(box, sides).n;
    const size_t bytes = qfz_type_bytes(rule->type);
    *summary = (qfz_summary){.box = box, .sides = sides, .n_ring = n_ring};
    qfz_status st;
    QFZ_TRY_OR(st, failed, qfz_alloc(&summary->values, n_ring * rule->n_bands, bytes, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW(&summary->valid, n_ring, err));
    return QFZ_OK;

failed:
    qfz_summary_fini(summary);
    return st;
}

void qfz_summary_fini(qfz_summary *summary)
{
    if (!summary->is_view) {
        free(summary->values);
        free(summary->valid);
        free(summary->zeroed);
        free(summary->edges);
        free(summary->border_region);
        qfz_links_fini(&summary->links);
        qfz_ranges_fini(&summary->ranges);
        qfz_masses_fini(&summary->masses);
        free(summary->weight);
    }
    free(summary->packed);
    *summary = (qfz_summary){0};
}

void qfz_exterior_fini(qfz_exterior *exterior)
{
    if (!exterior->is_view) {
        qfz_links_fini(&exterior->external);
        free(exterior->cross);
        free(exterior->cross_has);
        free(exterior->border_region);
        free(exterior->omega_level);
        qfz_masses_fini(&exterior->masses);
        free(exterior->zeroed);
    }
    free(exterior->packed);
    *exterior = (qfz_exterior){0};
}

/* Capacities grow by doubling, so that the cost of an appended item is constant on average. */
static int64_t room_for(int64_t n)
{
    int64_t room = 16;
    while (room < n)
        room *= 2;
    return room;
}

qfz_status qfz_links_reserve(qfz_links *links, int64_t n, qfz_error *err)
{
    if (n <= links->room) return QFZ_OK;
    const int64_t room = room_for(n);
    QFZ_TRY(qfz_realloc((void **)&links->u, room, sizeof *links->u, err));
    QFZ_TRY(qfz_realloc((void **)&links->v, room, sizeof *links->v, err));
    QFZ_TRY(qfz_realloc((void **)&links->level, room, sizeof *links->level, err));
    links->room = room;
    return QFZ_OK;
}

qfz_status qfz_ranges_reserve(qfz_ranges *ranges, int64_t n, const qfz_rule *rule, qfz_error *err)
{
    if (n <= ranges->room) return QFZ_OK;
    const int64_t room = room_for(n);
    const size_t span_bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    QFZ_TRY(qfz_realloc((void **)&ranges->at, room, sizeof *ranges->at, err));
    QFZ_TRY(qfz_realloc((void **)&ranges->level, room, sizeof *ranges->level, err));
    QFZ_TRY(qfz_realloc(&ranges->lo, room, span_bytes, err));
    QFZ_TRY(qfz_realloc(&ranges->hi, room, span_bytes, err));
    ranges->room = room;
    return QFZ_OK;
}

qfz_status qfz_ranges_merge(qfz_ranges *ranges, int64_t n, const qfz_rule *rule, qfz_error *err)
{
    const size_t bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    qfz_ranges all = {0};
    if (n == 0 || n == ranges->n) return QFZ_OK;
    const qfz_status st = qfz_ranges_reserve(&all, ranges->n, rule, err);
    if (st != QFZ_OK) {
        qfz_ranges_fini(&all);
        return st;
    }
    for (int64_t a = 0, b = n; all.n < ranges->n; all.n++) {
        const bool of_b = a == n || (b < ranges->n && ranges->level[b] < ranges->level[a]);
        const int64_t i = of_b ? b++ : a++;
        all.at[all.n] = ranges->at[i];
        all.level[all.n] = ranges->level[i];
        qfz_copy_span((char *)all.lo + (size_t)all.n * bytes,
                      (char *)ranges->lo + (size_t)i * bytes, bytes);
        qfz_copy_span((char *)all.hi + (size_t)all.n * bytes,
                      (char *)ranges->hi + (size_t)i * bytes, bytes);
    }
    qfz_ranges_fini(ranges);
    *ranges = all;
    return QFZ_OK;
}

qfz_status qfz_links_reserve_placed(qfz_links *links, int64_t n, qfz_error *err)
{
    if (n <= links->room && links->position) return QFZ_OK;
    QFZ_TRY(qfz_links_reserve(links, n, err));
    return qfz_realloc((void **)&links->position, links->room, sizeof *links->position, err);
}

qfz_status qfz_masses_reserve(qfz_masses *masses, int64_t n, qfz_error *err)
{
    if (n <= masses->room) return QFZ_OK;
    const int64_t room = room_for(n);
    QFZ_TRY(qfz_realloc((void **)&masses->at, room, sizeof *masses->at, err));
    QFZ_TRY(qfz_realloc((void **)&masses->level, room, sizeof *masses->level, err));
    QFZ_TRY(qfz_realloc((void **)&masses->position, room, sizeof *masses->position, err));
    QFZ_TRY(qfz_realloc((void **)&masses->mass, room, sizeof *masses->mass, err));
    masses->room = room;
    return QFZ_OK;
}

void qfz_masses_fini(qfz_masses *masses)
{
    free(masses->at);
    free(masses->level);
    free(masses->position);
    free(masses->mass);
    *masses = (qfz_masses){0};
}

void qfz_links_fini(qfz_links *links)
{
    free(links->u);
    free(links->v);
    free(links->level);
    free(links->position);
    *links = (qfz_links){0};
}

void qfz_ranges_fini(qfz_ranges *ranges)
{
    free(ranges->at);
    free(ranges->level);
    free(ranges->lo);
    free(ranges->hi);
    *ranges = (qfz_ranges){0};
}

typedef struct ring_taking {
    const qfz_image *tile;
    const qfz_rows *rows;
    char *values;
    uint8_t *valid;
} ring_taking;

/* Copies the pixels 0, step, 2 * step ... of a row of the tile. */
static void take_of_row(const ring_taking *t, int64_t y, int64_t step)
{
    const qfz_image *const tile = t->tile;
    const size_t bytes = qfz_type_bytes(tile->type);
    const int64_t w = tile->w, n_ring = qfz_ring_size(tile->h, w);
    for (int64_t x = 0; x < w; x += step) {
        const int64_t i = qfz_ring_index(tile->h, w, y, x), px = (y - t->rows->y0) * w + x;
        t->valid[i] = tile->valid ? tile->valid[y * w + x] : 1;
        for (int64_t b = 0; b < tile->n_bands; b++)
            qfz_copy_span(t->values + (size_t)(b * n_ring + i) * bytes,
                          (const char *)t->rows->pixels +
                              (size_t)(b * t->rows->plane_px + px) * bytes,
                          bytes);
    }
}

void qfz_ring_take(const qfz_image *tile, const qfz_rows *rows, void *values, uint8_t *valid)
{
    const ring_taking t = {.tile = tile, .rows = rows, .values = values, .valid = valid};
    for (int64_t y = rows->y0; y < rows->y1; y++)
        take_of_row(&t, y, y == 0 || y == tile->h - 1 || tile->w == 1 ? 1 : tile->w - 1);
}

qfz_status qfz_summary_take_zeroed(qfz_summary *summary, const qfz_image *tile, qfz_error *err)
{
    if (!tile->zeroed) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&summary->zeroed, summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        summary->zeroed[i] = tile->zeroed[y * tile->w + x];
    }
    return QFZ_OK;
}

qfz_status qfz_summary_take_edges(qfz_summary *summary, const qfz_image *tile, const qfz_rule *rule,
                                  qfz_error *err)
{
    const int n_dirs = qfz_n_dirs(rule);
    if (!tile->edges) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&summary->edges, n_dirs * summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        for (int64_t d = 0; d < n_dirs; d++)
            summary->edges[d * summary->n_ring + i] = tile->edges[(d * tile->h + y) * tile->w + x];
    }
    return QFZ_OK;
}

qfz_status qfz_summary_take_ring(qfz_summary *summary, const qfz_image *tile, const qfz_rule *rule,
                                 qfz_error *err)
{
    const qfz_rows all = {0, tile->h, tile->pixels, tile->h * tile->w};
    qfz_ring_take(tile, &all, summary->values, summary->valid);
    QFZ_TRY(qfz_summary_take_zeroed(summary, tile, err));
    return qfz_summary_take_edges(summary, tile, rule, err);
}

void qfz_exterior_place_cross(const qfz_exterior *exterior, int64_t h, int64_t w, int n_dirs,
                              int level_bytes, void *levels)
{
    for (int64_t i = 0; i < exterior->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        for (int d = 0; d < n_dirs; d++) {
            const int64_t at = (d * h + y) * w + x;
            if (!(exterior->cross_has[i] >> d & 1)) continue;
            const uint32_t level = exterior->cross[d * exterior->n_ring + i];
            if (level_bytes == 2)
                ((uint16_t *)levels)[at] = (uint16_t)level;
            else
                ((uint32_t *)levels)[at] = level;
        }
    }
}

/* Writes never pass the next read. */
void qfz_levels_narrow_in_place(void *levels, int64_t n)
{
    enum { CHUNK = 2048 };
    uint32_t wide[CHUNK];
    uint16_t narrow[CHUNK];
    for (int64_t at = 0; at < n; at += CHUNK) {
        const size_t some = (size_t)(n - at < CHUNK ? n - at : CHUNK);
        memcpy(wide, (const char *)levels + at * (int64_t)sizeof *wide, some * sizeof *wide);
        for (size_t i = 0; i < some; i++)
            narrow[i] = (uint16_t)wide[i];
        memcpy((char *)levels + at * (int64_t)sizeof *narrow, narrow, some * sizeof *narrow);
    }
}
