/* SPDX-License-Identifier: MIT */
/* engine_filter.cu - the CUDA engine's area filter.
 *
 * The device decides the components inside the tile; the host solves the small graph of the ring.
 */
#include <stdlib.h>
#include <string.h>

#include "core/exterior_fits.h"
#include "core/filter_saved.h"
#include "core/memory.h"
#include "core/position.h"
#include "gpu/engine/worker.cuh"

/* Items of a download: one chunk.  Each download waits for the device, which other workers use,
 * too.
 */
enum { SOME_ITEMS = QFZ_STAGING_BYTES / sizeof(qfz_gpu_filter_item) };

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The rule of the tile's own levels, to which the filter applies. */
static qfz_rule rule_of(const qfz_worker_spec *spec)
{
    qfz_rule rule = *spec->rule;
    rule.min_mass = 0;
    return rule;
}

void qfz_filter_carve(qfz_worker *worker, qfz_carve *carve)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const qfz_rule rule = rule_of(spec);
    qfz_filter_room *const room = &worker->filter;
    const int64_t n = (int64_t)spec->max_h * spec->max_w;
    const size_t level_bytes = qfz_gpu_edges_bytes(&rule, n);
    if (level_bytes > 0) room->d_edge_levels = (uint32_t *)qfz_carve_bytes(carve, level_bytes);
    qfz_carve_take(carve, &room->d_row_mass, spec->max_h);
    qfz_gpu_filter_take(carve, spec->max_h, spec->max_w, &room->on_device);
}

qfz_status qfz_filter_open(qfz_worker *worker)
{
    const qfz_worker_spec *const spec = &worker->spec;
    const int64_t n_ring = qfz_ring_size(spec->max_h, spec->max_w);
    qfz_filter_room *const room = &worker->filter;
    qfz_error *const err = worker->gpu.err;
    QFZ_TRY(qfz_filter_sets_init(&room->sets, n_ring, err));
    QFZ_TRY(QFZ_NEW(&room->weight, n_ring, err));
    QFZ_TRY(QFZ_NEW(&room->mark, n_ring, err));
    QFZ_TRY(QFZ_NEW(&room->at_zero, n_ring, err));
    return QFZ_NEW(&room->some_items, SOME_ITEMS, err);
}

void qfz_filter_close(qfz_worker *worker)
{
    qfz_filter_room *const room = &worker->filter;
    qfz_filter_items_fini(&room->items);
    qfz_filter_sets_fini(&room->sets);
    free(room->weight);
    free(room->mark);
    free(room->at_zero);
    free(room->found);
    free(room->some_items);
}

/* ---- Rounds ------------------------------------------------------------------------------------
 */

/* As qfz_gpu_filter_round(). */
typedef qfz_status (*rounds_fn)(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_filter *filter, const uint32_t **d_n);

static qfz_status run_rounds(qfz_worker *worker, rounds_fn rounds)
{
    qfz_filter_room *const room = &worker->filter;
    for (uint32_t n = 1; n > 0;) {
        const uint32_t *d_n;
        QFZ_TRY(rounds(&worker->gpu, &room->edges, &room->on_device, &d_n));
        room->on_device.n_rounds++;
        QFZ_TRY(qfz_worker_down(worker, &n, d_n, sizeof n));
    }
    return QFZ_OK;
}

/* ---- The tile -------------------------------------------------------------------------------- */

static qfz_status run(qfz_worker *worker, qfz_box box, const uint64_t *row_mass, bool is_open_ring)
{
    qfz_filter_room *const room = &worker->filter;
    qfz_gpu_filter *const filter = &room->on_device;
    const qfz_rule rule = rule_of(&worker->spec);
    filter->h = worker->image.h;
    filter->w = worker->image.w;
    filter->y0 = box.y0;
    filter->x0 = box.x0;
    filter->least = worker->spec.rule->min_mass;
    filter->is_open_ring = is_open_ring;
    filter->n_rounds = 0;
    filter->d_row_mass = row_mass ? room->d_row_mass : NULL;
    QFZ_TRY(qfz_edges_send(worker));
    if (row_mass)
        QFZ_TRY(qfz_worker_up(worker, room->d_row_mass, row_mass,
                              (size_t)filter->h * sizeof *row_mass));
    QFZ_TRY(
        qfz_gpu_edges_make(&worker->gpu, &worker->image, &rule, room->d_edge_levels, &room->edges));
    QFZ_TRY(qfz_gpu_filter_begin(&worker->gpu, &room->edges, filter));
    return run_rounds(worker, qfz_gpu_filter_round);
}

/* ---- The graph of the ring ------------------------------------------------------------------- */

static qfz_status take_items(qfz_worker *worker, int64_t n)
{
    qfz_filter_room *const room = &worker->filter;
    QFZ_TRY(qfz_filter_items_reserve(&room->items, room->items.n + n, worker->gpu.err));
    for (int64_t done = 0; done < n; done += SOME_ITEMS) {
        const int64_t left = n - done, some = left < SOME_ITEMS ? left : (int64_t)SOME_ITEMS;
        QFZ_TRY(qfz_worker_down(worker, room->some_items, room->on_device.d_items + done,
                                (size_t)some * sizeof *room->some_items));
        for (int64_t i = 0; i < some; i++) {
            const qfz_gpu_filter_item *const item = &room->some_items[i];
            qfz_filter_add(&room->items, item->level, item->position, item->u, item->v, item->mass);
        }
    }
    return QFZ_OK;
}

/* The weights of the ring's pixels, in sets. */
static void weigh_ring(qfz_worker *worker, const uint64_t *row_mass)
{
    const int64_t h = worker->image.h, w = worker->image.w;
    const uint64_t least = worker->spec.rule->min_mass;
    qfz_filter_sets *const sets = &worker->filter.sets;
    sets->n = (uint32_t)qfz_ring_size(h, w);
    for (int64_t i = 0; i < sets->n; i++) {
        int64_t y, x;
        qfz_ring_place(h, w, i, &y, &x);
        const uint64_t mass = row_mass ? row_mass[y] : 1;
        sets->weight[i] = mass < least ? mass : least;
    }
}

/* Items beyond this number are thinned: four for each ring pixel stay at most. */
static int64_t most_items(const qfz_worker *worker)
{
    enum { LEAST = 1 << 16 };
    return 8 * (int64_t)worker->filter.sets.n + LEAST;
}

/* Takes all items of some kinds, by parts of the tile whose items fit. */
static qfz_status take_all(qfz_worker *worker, int kinds)
{
    qfz_filter_room *const room = &worker->filter;
    const int64_t n_px = (int64_t)worker->image.h * worker->image.w;
    for (int64_t done = 0, some = n_px; done < n_px;) {
        const int64_t end = some < n_px - done ? done + some : n_px;
        const uint32_t *d_n;
        uint32_t n;
        QFZ_TRY(qfz_gpu_filter_items(&worker->gpu, &room->edges, &room->on_device, kinds, done, end,
                                     &d_n));
        QFZ_TRY(qfz_worker_down(worker, &n, d_n, sizeof n));
        if (n > room->on_device.item_room) {
            some = (end - done + 1) / 2;
            continue;
        }
        QFZ_TRY(take_items(worker, n));
        if (room->items.n > most_items(worker))
            QFZ_TRY(qfz_filter_thin(&room->items, &room->sets, worker->spec.rule->min_mass,
                                    worker->gpu.err));
        done = end;
    }
    return QFZ_OK;
}

/* The edges of the forest that are certain. */
static qfz_status find_forest(qfz_worker *worker)
{
    QFZ_TRY(qfz_gpu_filter_forest_begin(&worker->gpu, &worker->filter.on_device));
    return run_rounds(worker, qfz_gpu_filter_forest_rounds);
}

static qfz_status take_links(qfz_worker *worker)
{
    QFZ_TRY(qfz_gpu_filter_links_begin(&worker->gpu, &worker->filter.on_device));
    QFZ_TRY(run_rounds(worker, qfz_gpu_filter_links_rounds));
    return take_all(worker, QFZ_FILTER_CHOSEN_LINKS);
}

/* Fills items with the graph of the ring. */
static qfz_status make_ring_graph(qfz_worker *worker, const uint64_t *row_mass)
{
    qfz_filter_room *const room = &worker->filter;
    weigh_ring(worker, row_mass);
    room->items.n = 0;
    QFZ_TRY(qfz_gpu_filter_end(&worker->gpu, &room->edges, &room->on_device));
    if (!worker->spec.rule->wants_forest)
        return take_all(worker, QFZ_FILTER_EVENTS | QFZ_FILTER_LINKS);
    QFZ_TRY(take_all(worker, QFZ_FILTER_EVENTS));
    QFZ_TRY(find_forest(worker));
    return take_links(worker);
}

static qfz_status set_ring_weights(const qfz_worker *worker, const uint64_t *row_mass,
                                   qfz_summary *summary)
{
    if (!row_mass) return QFZ_OK;
    QFZ_TRY(QFZ_NEW(&summary->weight, summary->n_ring, worker->gpu.err));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        int64_t y, x;
        qfz_ring_place(worker->image.h, worker->image.w, i, &y, &x);
        summary->weight[i] = row_mass[y];
    }
    return QFZ_OK;
}

/* The bits that are certain without an exterior. */
static qfz_status fetch_bits(qfz_worker *worker, const qfz_edge_bits *bits)
{
    const size_t n_px = qfz_worker_px(worker);
    QFZ_TRY(qfz_worker_down(worker, bits->zeroed, worker->filter.on_device.d_zeroed, n_px));
    static_assert(QFZ_FILTER_IN_FOREST == 1 << 4, "qfz_filter_split_bits()");
    if (bits->forest) qfz_filter_split_bits(bits->zeroed, bits->forest, (int64_t)n_px);
    return QFZ_OK;
}

qfz_status qfz_filter_find_summary(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                                   const qfz_edge_bits *bits, qfz_summary *summary, qfz_error *err)
{
    qfz_filter_room *const room = &worker->filter;
    qfz_filter_outside outside = {};
    QFZ_TRY(qfz_worker_enter(worker, err));
    QFZ_TRY(qfz_worker_take_ring(worker, summary));
    QFZ_TRY(set_ring_weights(worker, row_mass, summary));
    QFZ_TRY(qfz_links_reserve_placed(&summary->links, summary->n_ring, err));
    QFZ_TRY(run(worker, box, row_mass, true));
    QFZ_TRY(make_ring_graph(worker, row_mass));
    for (int64_t i = 0; i < summary->n_ring; i++) {
        room->mark[i] = summary->valid[i] ? (uint32_t)i : QFZ_NONE;
        room->at_zero[i] = 0;
    }
    if (bits) {
        memcpy(room->weight, room->sets.weight, (size_t)room->sets.n * sizeof *room->weight);
        QFZ_TRY(fetch_bits(worker, bits));
    }
    outside.mark = room->mark;
    outside.at_zero = room->at_zero;
    outside.links = &summary->links;
    outside.masses = &summary->masses;
    qfz_filter_sort(&room->items);
    return qfz_filter_summarise(&room->items, &room->sets, worker->spec.rule->min_mass, &outside,
                                err);
}

/* ---- Edges of filtered level 0, and of the forest -------------------------------------------- */

/* An edge, and the event of the same place that decides its filtered level, may both be items. */
static void set_found(const qfz_edge_bits *bits, int64_t p, uint8_t bit, uint8_t found,
                      bool is_edge)
{
    const bool is_zeroed = found == QFZ_FILTER_ZEROED;
    if (is_zeroed) bits->zeroed[p] |= bit;
    if (!bits->forest) return;
    if (is_zeroed)
        bits->forest[p] &= (uint8_t)~bit;
    else if (is_edge && !(bits->zeroed[p] & bit))
        bits->forest[p] |= bit;
}

static qfz_status resolve_ring(qfz_worker *worker, const qfz_image *tile, qfz_box box,
                               const qfz_exterior *exterior, const qfz_edge_bits *bits)
{
    qfz_filter_room *const room = &worker->filter;
    qfz_filter_items *const items = &room->items;
    const int64_t n_own = items->n, n = n_own + exterior->external.n + exterior->masses.n;
    QFZ_TRY(qfz_filter_items_reserve(items, n, worker->gpu.err));
    if (items->room > room->found_room) {
        QFZ_TRY(
            qfz_realloc((void **)&room->found, items->room, sizeof *room->found, worker->gpu.err));
        room->found_room = items->room;
    }
    qfz_filter_add_links(items, &exterior->external, 0, NULL);
    qfz_filter_add_masses(items, &exterior->masses, 0, NULL);
    memset(room->found, 0, (size_t)items->n);
    qfz_filter_sort(items);
    qfz_filter_resolve(items, &room->sets, worker->spec.rule->min_mass, room->found);
    for (int64_t i = 0; i < items->n; i++) {
        const qfz_filter_key *const key = &items->key[i];
        const uint8_t found = room->found[key->item];
        int64_t y, x;
        int dir;
        if (key->item >= n_own || !found) continue;
        qfz_position_edge(key->position, &y, &x, &dir);
        set_found(bits, (y - box.y0) * tile->w + x - box.x0, (uint8_t)(1u << dir), found,
                  items->v[key->item] != QFZ_NONE);
    }
    qfz_filter_take_crossing(exterior, tile->h, tile->w, qfz_n_dirs(worker->spec.rule),
                             bits->zeroed, bits->forest);
    return QFZ_OK;
}

qfz_status qfz_filter_find_bits(qfz_worker *worker, qfz_box box, const uint64_t *row_mass,
                                const qfz_exterior *exterior, const qfz_edge_bits *bits,
                                qfz_error *err)
{
    QFZ_TRY(qfz_worker_enter(worker, err));
    if (exterior) QFZ_TRY(qfz_exterior_fits(exterior, &worker->tile, err));
    QFZ_TRY(run(worker, box, row_mass, exterior != NULL));
    if (exterior) {
        QFZ_TRY(make_ring_graph(worker, row_mass));
    } else if (bits->forest) {
        QFZ_TRY(find_forest(worker));
    }
    QFZ_TRY(fetch_bits(worker, bits));
    return exterior ? resolve_ring(worker, &worker->tile, box, exterior, bits) : QFZ_OK;
}

/* ---- Tiles that are kept between summarise and resolve --------------------------------------- */

struct qfz_filter_kept {
    qfz_filter_saved saved;
};

int64_t qfz_filter_kept_bytes(const qfz_worker *worker)
{
    const qfz_filter_room *const room = &worker->filter;
    return qfz_filter_saved_bytes(&room->items, room->sets.n, (int64_t)qfz_worker_px(worker),
                                  worker->spec.rule);
}

qfz_status qfz_filter_keep(const qfz_worker *worker, const qfz_edge_bits *bits,
                           qfz_filter_kept **out, qfz_error *err)
{
    const qfz_filter_room *const room = &worker->filter;
    qfz_filter_kept *kept = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&kept, 1, err));
    const qfz_status st = qfz_filter_save(&kept->saved, &room->items, room->weight, room->sets.n,
                                          bits, (int64_t)qfz_worker_px(worker), err);
    if (st == QFZ_OK)
        *out = kept;
    else
        qfz_filter_drop(kept);
    return st;
}

void qfz_filter_drop(qfz_filter_kept *kept)
{
    if (!kept) return;
    qfz_filter_saved_fini(&kept->saved);
    free(kept);
}

/* The host does all of it. */
qfz_status qfz_filter_resolve_kept(qfz_worker *worker, const qfz_image *tile, qfz_box box,
                                   const qfz_filter_kept *kept, const qfz_exterior *exterior,
                                   const qfz_edge_bits *bits, qfz_error *err)
{
    qfz_filter_room *const room = &worker->filter;
    worker->gpu.err = err;
    QFZ_TRY(qfz_exterior_fits(exterior, tile, err));
    QFZ_TRY(qfz_filter_restore(&kept->saved, &room->items, &room->sets, bits, err));
    return resolve_ring(worker, tile, box, exterior, bits);
}

/* ---- Time ------------------------------------------------------------------------------------ */

qfz_status qfz_filter_work(qfz_worker *worker)
{
    qfz_box box = {};
    box.y1 = worker->image.h;
    box.x1 = worker->image.w;
    return run(worker, box, NULL, false);
}
