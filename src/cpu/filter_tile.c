/* SPDX-License-Identifier: MIT */
#include "cpu/filter_tile.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/position.h"

qfz_status qfz_filter_tile_init(qfz_filter_tile *f, const qfz_rule *rule, int64_t h, int64_t w,
                                qfz_error *err)
{
    const int64_t n = h * w, n_edges = n * qfz_n_dirs(rule);
    *f = (qfz_filter_tile){.rule = rule};
    qfz_status st;
    QFZ_TRY_OR(st, failed, qfz_filter_items_reserve(&f->items, n_edges, err));
    QFZ_TRY_OR(st, failed, qfz_filter_sets_init(&f->sets, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->mark, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->at_zero, n, err));
    QFZ_TRY_OR(st, failed, QFZ_NEW_LARGE(&f->edge, n_edges, err));
    return QFZ_OK;

failed:
    qfz_filter_tile_fini(f);
    return st;
}

void qfz_filter_tile_fini(qfz_filter_tile *f)
{
    qfz_filter_items_fini(&f->items);
    qfz_filter_sets_fini(&f->sets);
    free(f->mark);
    free(f->at_zero);
    free(f->edge);
    *f = (qfz_filter_tile){0};
}

int64_t qfz_filter_tile_bytes(const qfz_rule *rule, int64_t h, int64_t w)
{
    return h * w * (24 + 70 * qfz_n_dirs(rule));
}

/* ---- Edges. */
static bool is_valid(const qfz_image *tile, int64_t p)
{
    return !tile->valid || tile->valid[p];
}

/* Adds the edges that start from one row in one direction and stay in the tile. */
static void add_row(qfz_filter_tile *f, const qfz_image *tile, qfz_box box, int64_t y, int dir)
{
    enum { SOME = 256 };
    const int64_t w = tile->w, dy = qfz_dir_dy[dir], dx = qfz_dir_dx[dir];
    const int64_t x0 = dx < 0 ? 1 : 0, x1 = dx > 0 ? w - 1 : w;
    uint32_t levels[SOME];
    if (y + dy >= tile->h) return;
    for (int64_t x = x0; x < x1; x += SOME) {
        const int64_t some = x1 - x < SOME ? x1 - x : SOME, p = y * w + x, q = p + dy * w + dx;
        qfz_edge_levels(tile, f->rule, dir, p, q, some, levels);
        for (int64_t i = 0; i < some; i++) {
            if (!is_valid(tile, p + i) || !is_valid(tile, q + i)) continue;
            if (levels[i] > qfz_top_level(f->rule)) continue;
            f->edge[f->items.n] = (uint32_t)(p + i) * QFZ_MAX_DIRS + (uint32_t)dir;
            qfz_filter_add(&f->items, levels[i], qfz_position(box.y0 + y, box.x0 + x + i, dir),
                           (uint32_t)(p + i), (uint32_t)(q + i), 0);
        }
    }
}

static void set_weights(qfz_filter_tile *f, const qfz_image *tile, const uint64_t *row_mass)
{
    const uint64_t least = f->rule->min_mass;
    f->sets.n = (uint32_t)(tile->h * tile->w);
    for (int64_t y = 0; y < tile->h; y++) {
        const uint64_t own = row_mass ? row_mass[y] : 1;
        for (int64_t x = 0; x < tile->w; x++)
            f->sets.weight[y * tile->w + x] = own < least ? own : least;
    }
}

static void start(qfz_filter_tile *f, const qfz_image *tile, qfz_box box, const uint64_t *row_mass)
{
    f->items.n = 0;
    for (int64_t y = 0; y < tile->h; y++)
        for (int dir = 0; dir < qfz_n_dirs(f->rule); dir++)
            add_row(f, tile, box, y, dir);
    set_weights(f, tile, row_mass);
}

/* ---- Results. */
static qfz_status set_ring_weights(const qfz_image *tile, const uint64_t *row_mass,
                                   qfz_summary *summary, qfz_error *err)
{
    if (!row_mass) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&summary->weight, summary->n_ring, err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        summary->weight[i] = row_mass[y];
    }
    return QFZ_OK;
}

qfz_status qfz_filter_tile_summarise(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                     const uint64_t *row_mass, qfz_summary *summary, qfz_error *err)
{
    const qfz_filter_outside outside = {.mark = f->mark,
                                        .at_zero = f->at_zero,
                                        .links = &summary->links,
                                        .masses = &summary->masses};
    QFZ_TRY(set_ring_weights(tile, row_mass, summary, err));
    QFZ_TRY(qfz_links_reserve_placed(&summary->links, summary->n_ring, err));
    start(f, tile, box, row_mass);
    memset(f->mark, 0xff, f->sets.n * sizeof *f->mark);
    memset(f->at_zero, 0, f->sets.n * sizeof *f->at_zero);
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        f->mark[y * tile->w + x] = (uint32_t)i;
    }
    qfz_filter_sort(&f->items);
    return qfz_filter_summarise(&f->items, &f->sets, f->rule->min_mass, &outside, err);
}

static qfz_status add_exterior(qfz_filter_tile *f, const qfz_image *tile,
                               const qfz_exterior *exterior, qfz_error *err)
{
    const int64_t n_ring = exterior->n_ring;
    uint32_t *pixel = NULL;
    QFZ_TRY(qfz_filter_items_reserve(&f->items,
                                     f->items.n + exterior->external.n + exterior->masses.n, err));
    QFZ_TRY(QFZ_NEW(&pixel, n_ring, err));
    for (int64_t i = 0; i < n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        pixel[i] = (uint32_t)(y * tile->w + x);
    }
    qfz_filter_add_links(&f->items, &exterior->external, 0, pixel);
    qfz_filter_add_masses(&f->items, &exterior->masses, 0, pixel);
    free(pixel);
    return QFZ_OK;
}

static void take_crossing(const qfz_image *tile, const qfz_exterior *exterior, uint8_t *zeroed)
{
    for (int64_t i = 0; i < exterior->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(tile->h, tile->w, i, &y, &x);
        zeroed[y * tile->w + x] |= exterior->zeroed[i];
    }
}

qfz_status qfz_filter_tile_resolve(qfz_filter_tile *f, const qfz_image *tile, qfz_box box,
                                   const uint64_t *row_mass, const qfz_exterior *exterior,
                                   uint8_t *zeroed, qfz_error *err)
{
    start(f, tile, box, row_mass);
    const int64_t n_edges = f->items.n;
    if (exterior) QFZ_TRY(add_exterior(f, tile, exterior, err));
    uint8_t *is_zeroed = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&is_zeroed, f->items.n, err));
    qfz_filter_sort(&f->items);
    qfz_filter_resolve(&f->items, &f->sets, f->rule->min_mass, is_zeroed);
    memset(zeroed, 0, (size_t)(tile->h * tile->w));
    for (int64_t i = 0; i < n_edges; i++)
        if (is_zeroed[i])
            zeroed[f->edge[i] / QFZ_MAX_DIRS] |= (uint8_t)(1u << f->edge[i] % QFZ_MAX_DIRS);
    free(is_zeroed);
    if (exterior) take_crossing(tile, exterior, zeroed);
    return QFZ_OK;
}
