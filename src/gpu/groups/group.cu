/* SPDX-License-Identifier: MIT */
/* group.cu - memory of a group, its forest, minimax levels of links, and (alpha, omega). */
#include "gpu/groups/group.cuh"

#include "gpu/forest/boruvka_climb.cuh"

enum { THREADS = 256 };

/* ---- Memory ---------------------------------------------------------------------------------- */

QFZ_HOST_AND_DEVICE uint32_t all_of(const qfz_gpu_lists &lists)
{
    return lists.first[lists.n];
}

static void carve_sent(qfz_gpu_group *group, const qfz_rule *rule, qfz_carve *carve)
{
    const int64_t n_links = all_of(group->links), n_events = all_of(group->events);
    const size_t bytes = qfz_type_bytes(rule->type) * (size_t)rule->n_bands;
    qfz_carve_take(carve, &group->d_u, n_links);
    qfz_carve_take(carve, &group->d_v, n_links);
    qfz_carve_take(carve, &group->d_link_level, n_links);
    qfz_carve_take(carve, &group->d_ring, group->n_ring);
    if (group->kind != QFZ_OMEGA) return;
    group->d_values = qfz_carve_bytes(carve, (size_t)group->n * bytes);
    qfz_carve_take(carve, &group->d_valid, group->n);
    qfz_carve_take(carve, &group->d_at, n_events);
    qfz_carve_take(carve, &group->d_level, n_events);
    group->d_lo = qfz_carve_bytes(carve, (size_t)n_events * bytes);
    group->d_hi = qfz_carve_bytes(carve, (size_t)n_events * bytes);
    qfz_carve_take(carve, &group->d_own_border_region, group->n_ring);
    qfz_carve_take(carve, &group->d_own_omega_level, group->n_ring);
}

static void carve_forest(qfz_gpu_group *group, qfz_carve *carve)
{
    qfz_gpu_forest *const f = &group->room.forest;
    const int64_t first_best = group->kind == QFZ_LEVELS ? group->n * group->members.n : group->n;
    f->vertex_room = group->n;
    f->edge_room = all_of(group->links);
    f->connectivity = 4;
    f->keeps_ring = true;
    qfz_carve_take(carve, &f->rim, group->n);
    qfz_carve_take(carve, &f->up, group->n);
    qfz_carve_take(carve, &f->root, group->n);
    qfz_carve_take(carve, &f->count, QFZ_COUNTERS);
    for (int i = 0; i < 2; i++) {
        f->level[i] = qfz_carve_bytes(carve, (size_t)f->edge_room * (f->wide ? 4 : 2));
        qfz_carve_take(carve, &f->ends[i], f->edge_room);
        qfz_carve_take(carve, &f->best[i], i == 0 ? first_best : group->n / 2 + 1);
        qfz_carve_take(carve, &f->origin[i], group->n / 2 + 1);
    }
}

static void carve_omega(qfz_gpu_group *group, const qfz_rule *rule, qfz_carve *carve)
{
    qfz_gpu_group_regions_carve(group, carve);
    qfz_omega_room *const room = &group->room;
    room->graph.has_wide_levels = room->forest.wide;
    room->graph.vertex_room = group->n;
    room->graph.record_room = all_of(group->events);
    const int64_t n_events = qfz_omega_events_of(&room->graph);
    qfz_omega_carve_graph(room, rule, group->n_ring, carve);
    qfz_carve bins = *carve;
    qfz_omega_carve_bins(&room->graph, n_events, &bins);
    qfz_omega_carve_links(room, 1, (int32_t)group->n_ring, carve);
    qfz_omega_carve_events(room, rule, n_events, carve);
    if (carve->used < bins.used) carve->used = bins.used;
}

static void carve_levels(qfz_gpu_group *group, qfz_carve *carve)
{
    qfz_gpu_links_take(carve, group->n, &group->found);
    qfz_carve_take(carve, &group->d_n_found, 1);
    group->d_border = qfz_carve_bytes(carve, qfz_gpu_border_links_bytes(1, (int32_t)group->n));
}

void qfz_gpu_group_carve(qfz_gpu_group *group, const qfz_rule *rule, qfz_carve *carve)
{
    carve_sent(group, rule, carve);
    carve_forest(group, carve);
    if (group->kind == QFZ_OMEGA)
        carve_omega(group, rule, carve);
    else
        carve_levels(group, carve);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static QFZ_DEVICE uint2 ends_of(const qfz_gpu_group &g, uint32_t i)
{
    const int list = qfz_list_of(g.links, i);
    const uint32_t u = g.d_u[i], v = g.d_v[i], offset = g.links.offset[list];
    return g.links.is_outside[list] ? make_uint2(g.d_ring[u], g.d_ring[v])
                                    : make_uint2(u + offset, v + offset);
}

/* ---- The forest ------------------------------------------------------------------------------ */

static __global__ void __launch_bounds__(THREADS) k_enter(qfz_gpu_group g)
{
    const qfz_gpu_forest &f = g.room.forest;
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const uint32_t n_links = all_of(g.links);
    if (i < QFZ_COUNTERS)
        f.count[i] = i == QFZ_COUNT_VERTICES ? (uint32_t)g.n : i == QFZ_COUNT_EDGES ? n_links : 0;
    if (i < g.n) f.best[0][i] = ~0ull;
    if (i >= n_links) return;
    f.ends[0][i] = ends_of(g, (uint32_t)i);
    qfz_set_edge_level(f, 0, (uint64_t)i, g.d_link_level[i]);
}

qfz_status qfz_gpu_group_join(qfz_gpu *gpu, qfz_gpu_group *group)
{
    const int64_t n = group->n + all_of(group->links) + QFZ_COUNTERS; /* more than any of them */
    QFZ_TRY(qfz_launch_each(gpu, k_enter, n, THREADS, *group));
    return qfz_boruvka_rounds(gpu, &group->room.forest);
}

/* Writes the marks; ring: their vertices, or NULL for all vertices. */
static __global__ void __launch_bounds__(THREADS)
    k_mark(qfz_gpu_forest f, const uint32_t *__restrict__ ring)
{
    const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
    if (i < f.w) f.rim[i] = make_uint2(ring ? ring[i] : (uint32_t)i, 0);
}

static qfz_status mark(qfz_gpu *gpu, qfz_gpu_forest *f, const uint32_t *d_ring, int64_t n)
{
    f->h = 1;
    f->w = (int32_t)n;
    f->n_x = (int32_t)qfz_launch_blocks(n, QFZ_SIDE);
    f->rim_room = QFZ_SIDE;
    return qfz_launch_each(gpu, k_mark, n, THREADS, *f, d_ring);
}

qfz_status qfz_gpu_group_mark_ring(qfz_gpu *gpu, qfz_gpu_group *group)
{
    return mark(gpu, &group->room.forest, group->d_ring, group->n_ring);
}

qfz_status qfz_gpu_group_mark_members(qfz_gpu *gpu, qfz_gpu_group *group)
{
    qfz_gpu_forest *const f = &group->room.forest;
    f->n_cuts = group->members.n - 1;
    for (int m = 0; m < f->n_cuts; m++)
        f->cut[m] = group->members.first[m + 1];
    return mark(gpu, f, NULL, group->n);
}

static __global__ void __launch_bounds__(THREADS)
    k_levels(qfz_gpu_group g, int list, uint32_t *__restrict__ level)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x, first = g.links.first[list];
    if (i >= g.links.first[list + 1] - first) return;
    const uint2 ends = ends_of(g, first + i);
    level[i] = climb(g.room.forest.up, ends.x, ends.y, 0);
}

qfz_status qfz_gpu_group_levels(qfz_gpu *gpu, const qfz_gpu_group *group, int list,
                                uint32_t *d_level)
{
    const uint32_t n = group->links.first[list + 1] - group->links.first[list];
    return qfz_launch_each(gpu, k_levels, n, THREADS, *group, list, d_level);
}

/* ---- (alpha, omega)-components --------------------------------------------------------------- */

/* A vertex's own pixels are its one ring pixel.  first[v] is 0 so that a summary has the pixel's
 * value as an event; k_clear_marks() excludes the marks, whose values the summary has anyway. */
static QFZ_DEVICE void begin_vertex(const qfz_gpu_group &g, uint32_t v)
{
    const qfz_omega_graph &graph = g.room.graph;
    const qfz_omega_values &values = g.room.values;
    const int m = qfz_list_of(g.members, v);
    const int64_t first = g.members.first[m], n = g.members.first[m + 1] - first;
    graph.first[v] = 0;
    graph.block_breaks[v] = graph.after;
    for (int band = 0; band < values.n_bands; band++) {
        const int64_t at = first * values.n_bands + band * n + (v - first);
        const uint32_t value = values.read(g.d_values, at);
        qfz_omega_set_own(graph, band, v, make_uint2(value, value));
    }
}

/* Makes a range event a record. */
static QFZ_DEVICE void begin_record(const qfz_gpu_group &g, uint32_t i)
{
    const qfz_omega_graph &graph = g.room.graph;
    const qfz_omega_values &values = g.room.values;
    const int n_bands = values.n_bands;
    const uint32_t v = g.d_at[i] + g.events.offset[qfz_list_of(g.events, i)];
    if (graph.has_wide_levels)
        qfz_omega_attach<uint32_t>(graph, i, v, g.d_level[i]);
    else
        qfz_omega_attach<uint16_t>(graph, i, v, g.d_level[i]);
    for (int band = 0; band < n_bands; band++) {
        const int64_t from = (int64_t)i * n_bands + band, to = band * graph.record_room + i;
        values.write(graph.lo, to, values.read(g.d_lo, from));
        values.write(graph.hi, to, values.read(g.d_hi, from));
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_begin(qfz_gpu_group g)
{
    const uint32_t n = (uint32_t)g.n, n_events = all_of(g.events);
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.room.graph.n_records = n_events;
    QFZ_OMEGA_EACH(i, (uint64_t)n + n_events)
    {
        if (i < n)
            begin_vertex(g, (uint32_t)i);
        else
            begin_record(g, (uint32_t)(i - n));
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_clear_marks(qfz_gpu_group g, bool down)
{
    QFZ_OMEGA_EACH(i, g.room.forest.w)
    {
        const uint32_t v = g.room.forest.rim[i].x;
        g.room.graph.first[v] = QFZ_NONE;
        if (down && g.d_own_omega_level[i] != QFZ_NONE)
            g.room.graph.block_breaks[v] = g.d_own_omega_level[i] + 1;
    }
}

qfz_status qfz_gpu_group_break(qfz_gpu *gpu, const qfz_rule *rule, bool down, qfz_gpu_group *group)
{
    qfz_omega_room *const room = &group->room;
    QFZ_TRY(qfz_omega_set_rule(gpu, rule, room));
    QFZ_TRY(qfz_omega_send_limits(gpu, rule, room));
    room->graph.n_vertices = room->forest.count + QFZ_COUNT_VERTICES;
    QFZ_TRY(qfz_omega_begin(gpu, room));
    QFZ_TRY(qfz_omega_launch(gpu, k_begin, group->n + all_of(group->events), *group));
    QFZ_TRY(qfz_omega_launch(gpu, k_clear_marks, room->forest.w, *group, down));
    return qfz_omega_solve(gpu, room, NULL);
}
