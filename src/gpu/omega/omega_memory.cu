/* SPDX-License-Identifier: MIT */
/* omega_memory.cu - the scratch memory of (alpha, omega)-components.
 *
 * Of a tile, in the order of addresses; what is in a column follows what is above it:
 *
 *   rounds      hooks of pixels | hooks of components  | up, rims | lists of edges, edge levels
 *   blocks      hooks, roots    | hooks of components  | up, rims | vertices, records
 *   breaks      roots           | bins               | rims     | vertices, records
 *   regions     roots           |                      | rims     | vertices, records
 *   summary     events, links, and what sorts them     | up, rims | vertices, records
 *
 * So the graph begins where only the rounds have needed memory, and everything about the boundary
 * lies where a block has read its hooks.  docs/dev/gpu-engine.md has the bytes of each array. */
#include "gpu/device/collective.cuh"
#include "gpu/omega/omega_parts.cuh"

/* The greatest number of events in one part of a summary is at least this. */
enum { EVENTS_AT_LEAST = 1024 };

/* Bins of a tile: those of 64 pixels, and some.  A whole block has four for each vertex that it may
 * have, and its hooks, where bins lie, have as many bytes. */
enum { BINS_OF_64_PX = 17, BINS_AT_LEAST = 64 };

static qfz_gpu_edges edges_of(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_gpu_edges edges = {};
    edges.h = h;
    edges.w = w;
    edges.connectivity = rule->connectivity;
    edges.form = qfz_gpu_edges_are_wide(rule) ? QFZ_EDGES_LEVELS : QFZ_EDGES_U16;
    return edges;
}

/* Planes of integers of 32 bits, too, since their greatest level is lowered (omega.cu). */
static bool needs_planes(const qfz_rule *rule)
{
    return qfz_gpu_edges_need_levels(rule) || rule->type == QFZ_U32 || rule->type == QFZ_I32;
}

/* ---- The graph ------------------------------------------------------------------------------- */

/* What one of these steps needs: blocks; the levels at which vertices break, after them; the
 * regions, after these; a summary, after these. */
static void carve_steps(qfz_omega_room *room, int64_t n_ring, qfz_carve *carve)
{
    qfz_omega_graph *const g = &room->graph;
    qfz_carve breaks = *carve, regions = *carve, summary = *carve;
    qfz_carve_take(carve, &g->block_breaks, g->vertex_room);
    qfz_carve_take(&breaks, &g->wide, g->vertex_room);
    qfz_carve_take(&regions, &g->region_first, g->vertex_room + n_ring);
    qfz_carve_take(&regions, &room->d_border_of, g->vertex_room);
    qfz_carve_take(&summary, &room->events.representatives, g->vertex_room);
    qfz_carve_take(&summary, &room->d_best, g->vertex_room);
    const qfz_carve *const steps[] = {&breaks, &regions, &summary};
    for (const qfz_carve *step : steps)
        if (carve->used < step->used) carve->used = step->used;
}

void qfz_omega_carve_graph(qfz_omega_room *room, const qfz_rule *rule, int64_t n_ring,
                           qfz_carve *carve)
{
    qfz_omega_graph *const g = &room->graph;
    const int64_t bytes = (int64_t)qfz_type_bytes(rule->type) * rule->n_bands;
    qfz_carve_take(carve, &room->d_limit, rule->n_bands);
    qfz_carve_take(carve, &g->vertex, g->vertex_room);
    qfz_carve_take(carve, &g->first, g->vertex_room + g->record_room);
    qfz_carve_take(carve, &g->attached, g->record_room);
    g->attached_level =
        qfz_carve_bytes(carve, (size_t)g->record_room * (g->has_wide_levels ? 4 : 2));
    g->lo = qfz_carve_bytes(carve, (size_t)(g->record_room * bytes));
    g->hi = qfz_carve_bytes(carve, (size_t)(g->record_room * bytes));
    qfz_carve_take(carve, &g->own_lo, g->vertex_room * rule->n_bands);
    qfz_carve_take(carve, &g->own_hi, g->vertex_room * rule->n_bands);
    qfz_carve_take(carve, &g->n_wide, 1);
    qfz_carve_take(carve, &g->n_records, 1);
    qfz_carve_take(carve, &room->events.counts, QFZ_OMEGA_COUNTS);
    carve_steps(room, n_ring, carve);
}

void qfz_omega_carve_bins(qfz_omega_graph *g, int64_t n, qfz_carve *carve)
{
    g->bin_room = n + BINS_AT_LEAST;
    qfz_carve_take(carve, &g->bin, g->bin_room);
}

/* ---- Summaries ------------------------------------------------------------------------------- */

void qfz_omega_carve_links(qfz_omega_room *room, int32_t h, int32_t w, qfz_carve *carve)
{
    qfz_gpu_links_take(carve, qfz_ring_size(h, w), &room->links);
    room->d_links_scratch = qfz_carve_bytes(carve, qfz_gpu_border_links_bytes(h, w));
}

void qfz_omega_carve_events(qfz_omega_room *room, const qfz_rule *rule, int64_t n, qfz_carve *carve)
{
    const size_t bytes = (size_t)n * qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    qfz_omega_events *const events = &room->events;
    events->room = n;
    for (int i = 0; i < 2; i++) {
        qfz_carve_take(carve, &events->level[i], n);
        qfz_carve_take(carve, &events->source[i], n);
    }
    qfz_carve_take(carve, &events->vertex, n);
    void **const ends[] = {&events->lo, &events->hi, &room->d_lo, &room->d_hi};
    for (void **end : ends)
        *end = qfz_carve_bytes(carve, bytes);
    room->d_sort = qfz_carve_bytes(carve, qfz_gpu_sort_bytes(n));
}

int64_t qfz_omega_events_of(const qfz_omega_graph *g)
{
    return g->record_room + 2 * g->vertex_room;
}

/* The number of events for which `bytes` bytes suffice. */
static int64_t events_that_fit(const qfz_rule *rule, size_t bytes)
{
    enum { ARRAYS = 10, ALIGN = 256, SORTED = 1 }; /* SORTED: bytes of a sort for an event */
    const size_t event =
        5 * sizeof(uint32_t) + SORTED + 4 * qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    const size_t fixed = ARRAYS * ALIGN + qfz_gpu_sort_bytes(0);
    return fixed < bytes ? (int64_t)((bytes - fixed) / event) : 0;
}

/* Events lie in the `bytes` bytes from `begin` on.  A small tile has no room there, so that some
 * events have room after everything else, in a large tile, too: a worker's memory is that of its
 * largest tile, and a smaller tile must not take more. */
static void carve_tile_summary(qfz_omega_room *room, const qfz_rule *rule, int32_t h, int32_t w,
                               size_t begin, size_t bytes, qfz_carve *carve)
{
    qfz_carve over = {carve->base, begin};
    const int64_t n = events_that_fit(rule, bytes);
    qfz_omega_carve_links(room, h, w, carve);
    qfz_omega_carve_events(room, rule, EVENTS_AT_LEAST, carve);
    if (n > EVENTS_AT_LEAST) qfz_omega_carve_events(room, rule, n, &over);
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static void carve_tile_bins(qfz_omega_graph *g, int64_t n_px, size_t begin, const qfz_carve *carve)
{
    qfz_carve over = {carve->base, begin};
    uint32_t *d_root;
    qfz_carve_take(&over, &d_root, n_px); /* may lie here */
    qfz_omega_carve_bins(g, n_px * BINS_OF_64_PX / 64, &over);
}

static void carve(qfz_omega_room *room, const qfz_rule *rule, int32_t h, int32_t w, qfz_carve *c)
{
    const qfz_gpu_edges edges = edges_of(rule, h, w);
    const int64_t n_px = (int64_t)h * w;
    const size_t begin = c->used;
    qfz_carve graph = {c->base, begin + qfz_gpu_forest_bytes(&edges, QFZ_FOREST_RING)};
    room->graph.has_wide_levels = edges.form >= QFZ_EDGES_WIDE;
    room->graph.record_room = n_px;
    room->graph.vertex_room = qfz_gpu_forest_vertices(h, w);
    room->d_forest = qfz_carve_bytes(c, qfz_gpu_forest_bytes(&edges, QFZ_FOREST_ALL));
    if (needs_planes(rule))
        room->d_edge_levels = (uint32_t *)qfz_carve_bytes(c, qfz_gpu_edges_bytes(rule, n_px));
    qfz_omega_carve_graph(room, rule, qfz_ring_size(h, w), &graph);
    if (c->used < graph.used) c->used = graph.used;
    carve_tile_bins(&room->graph, n_px, begin, c);
    carve_tile_summary(room, rule, h, w, begin, qfz_gpu_forest_bytes(&edges, QFZ_FOREST_HOOKS), c);
}

size_t qfz_gpu_omega_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_omega_room room = {};
    qfz_carve c = {};
    carve(&room, rule, h, w, &c);
    return c.used;
}

uint32_t qfz_gpu_omega_events(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_omega_room room = {};
    qfz_carve c = {};
    carve(&room, rule, h, w, &c);
    return (uint32_t)room.events.room;
}

qfz_status qfz_omega_cut(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         void *d_scratch, qfz_omega_room *room)
{
    qfz_carve c = {static_cast<char *>(d_scratch), 0};
    carve(room, rule, image->h, image->w, &c);
    const int64_t n_parts = room->graph.record_room + room->graph.vertex_room;
    if (n_parts > (int64_t)QFZ_OMEGA_PART)
        return qfz_fail(gpu->err, QFZ_EARG, "tile of %d x %d pixels", image->w, image->h);
    room->values.pixels = image->d_pixels;
    room->values.valid = image->d_valid;
    room->values.n_px = (int64_t)image->h * image->w;
    return qfz_omega_set_rule(gpu, rule, room);
}
