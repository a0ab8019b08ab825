/* SPDX-License-Identifier: MIT */
/* omega_summary.cu - the boundary summary of a tile for (alpha, omega)-components: links and range
 * events.
 *
 * Links are those of the forest.  Range events: a vertex y that has a ring pixel in T(y) reaches
 * the ring at the least level at which such a part of T(y) joins y; the representative of y is a
 * ring pixel of that part.  Every other part that is attached to y becomes a range event of the
 * representative, with the range of the whole part, because no pixel of the part reaches the ring
 * earlier; its level is the one at which both the part and the representative have joined y.  So at
 * any level, the ranges of the events of a ring component's pixels make up its range.
 *
 * After y breaks, the summary has one more event for y, a range of all values of the type, which
 * exceeds every omega. */
#include "gpu/device/collective.cuh"
#include "gpu/omega/omega_parts.cuh"

/* level << 32 | ring pixel: the level at which the pixel joins the vertex */
typedef unsigned long long representative;

namespace
{
struct summary_view {
    representative *representatives; /* per vertex; ~0: none below `after` */
    uint32_t *level[2];              /* levels of events, sorted from one array to the other */
    /* What an event stems from: record, n_records + vertex, or n_records + n_vertices + broken
     * vertex. */
    uint32_t *source[2];
    uint32_t *counts; /* N_LINKS ... */
};
} // namespace

/* Indices into d_counts: links below `after`, events, links of any level, vertices. */
enum { N_LINKS = 0, N_EVENTS, N_ALL_LINKS, N_VERTICES, COUNTS };

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_begin(qfz_omega_graph g, summary_view s)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        s.counts[N_VERTICES] = n;
        s.counts[N_LINKS] = s.counts[N_EVENTS] = 0;
    }
    QFZ_OMEGA_EACH(v, n) s.representatives[v] = ~(representative)0;
}

/* Offers each ring pixel as representative to its vertex, at level 0, and to the vertices above.
 * Stops at a vertex that another pixel reached before, because the thread of that pixel continues
 * upwards. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_choose_representatives(qfz_gpu_forest f, qfz_omega_graph g, const uint8_t *valid,
                             summary_view s)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    {
        const int2 place = qfz_ring_pixel(f.h, f.w, (int32_t)i);
        if (valid && !valid[(int64_t)place.y * f.w + place.x]) continue;
        uint32_t v = qfz_omega_ring_vertex(f, i), level = 0;
        while (v != QFZ_NONE && level < g.after) {
            if (atomicMin(&s.representatives[v], (representative)level << 32 | i) !=
                ~(representative)0)
                break;
            level = g.vertex[v].up_level;
            v = g.vertex[v].up;
        }
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* The level of the event for a part that joins y at `level`; QFZ_NONE: there is no event. */
static __device__ __forceinline__ uint32_t event_level(const qfz_omega_graph &g,
                                                       const summary_view &s, uint32_t y,
                                                       uint32_t level)
{
    if (y == QFZ_NONE || s.representatives[y] == ~(representative)0) return QFZ_NONE;
    const uint32_t at = max(level, (uint32_t)(s.representatives[y] >> 32));
    return at < g.vertex[y].breaks ? at : QFZ_NONE;
}

static __device__ __forceinline__ bool reaches_ring(const summary_view &s, uint32_t v)
{
    return s.representatives[v] != ~(representative)0;
}

/* The level of the event for item i, which is a record; a vertex (its own pixels or, if it does not
 * reach the ring, its T); or a vertex that breaks. */
static __device__ __forceinline__ uint32_t level_of_event(const qfz_omega_graph &g,
                                                          const summary_view &s, uint32_t n_records,
                                                          uint32_t n_vertices, uint64_t i)
{
    if (i < n_records) return event_level(g, s, g.attached[i].x, g.attached[i].y);
    uint32_t v = (uint32_t)(i - n_records);
    if (v < n_vertices) {
        if (!reaches_ring(s, v)) return event_level(g, s, g.vertex[v].up, g.vertex[v].up_level);
        return g.first[v] == QFZ_NONE ? QFZ_NONE : event_level(g, s, v, 0);
    }
    v -= n_vertices;
    if (!reaches_ring(s, v)) return QFZ_NONE;
    const uint32_t at = max(g.vertex[v].breaks, (uint32_t)(s.representatives[v] >> 32));
    return at < g.after ? at : QFZ_NONE;
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_collect(qfz_omega_graph g, summary_view s)
{
    const uint32_t n_vertices = *g.n_vertices, n_records = *g.n_records;
    qfz_omega_append(
        n_records + 2 * (uint64_t)n_vertices, &s.counts[N_EVENTS],
        [&](uint64_t i) { return level_of_event(g, s, n_records, n_vertices, i); },
        [&](uint32_t to, uint64_t i, uint32_t level) {
            s.level[0][to] = level;
            s.source[0][to] = (uint32_t)i;
        });
}

/* The vertex whose representative has the event of an item. */
static __device__ __forceinline__ uint32_t vertex_of_event(const qfz_omega_graph &g,
                                                           const summary_view &s,
                                                           uint32_t n_records, uint32_t n_vertices,
                                                           uint32_t i)
{
    if (i < n_records) return g.attached[i].x;
    const uint32_t v = i - n_records;
    if (v >= n_vertices) return v - n_vertices;
    return reaches_ring(s, v) ? v : g.vertex[v].up;
}

/* Writes the ranges of events in one band; for the first band their ring pixels, too. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_store(qfz_omega_values values, qfz_omega_graph g, summary_view s, int band, int sorted,
            qfz_gpu_ranges ranges)
{
    const uint32_t n_vertices = *g.n_vertices, n_records = *g.n_records;
    const uint32_t n = s.counts[N_EVENTS];
    QFZ_OMEGA_EACH(e, n)
    {
        const uint32_t i = s.source[sorted][e], v = i - n_records;
        uint32_t lo = 0, hi = values.greatest();
        if (i < n_records) {
            lo = values.read(g.lo, band * g.record_room + i);
            hi = values.read(g.hi, band * g.record_room + i);
        } else if (v < n_vertices) {
            const bool own = reaches_ring(s, v);
            lo = own ? g.own_lo[band * g.vertex_room + v] : g.vertex[v].lo;
            hi = own ? g.own_hi[band * g.vertex_room + v] : g.vertex[v].hi;
        } else {
            lo = values.least();
        }
        values.write(ranges.d_lo, (int64_t)e * values.n_bands + band, lo);
        values.write(ranges.d_hi, (int64_t)e * values.n_bands + band, hi);
        if (band == 0)
            ranges.d_at[e] =
                (uint32_t)s.representatives[vertex_of_event(g, s, n_records, n_vertices, i)];
    }
}

/* Counts the links up to alpha; links are in ascending order. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_count_links(qfz_omega_graph g, summary_view s, const uint32_t *__restrict__ level)
{
    const uint32_t n = s.counts[N_ALL_LINKS];
    QFZ_OMEGA_EACH(i, n)
    if (level[i] < g.after && (i + 1 == n || level[i + 1] >= g.after))
        s.counts[N_LINKS] = (uint32_t)i + 1;
}

/* ---- Launchers ------------------------------------------------------------------------------- */

static summary_view view_of(const qfz_omega_room *room)
{
    summary_view s = {};
    s.representatives = room->d_representatives;
    for (int i = 0; i < 2; i++) {
        s.level[i] = room->d_level[i];
        s.source[i] = room->d_source[i];
    }
    s.counts = room->d_counts;
    return s;
}

qfz_status qfz_omega_summary_links(qfz_gpu *gpu, const qfz_rule *rule, const uint8_t *d_valid,
                                   qfz_omega_room *room)
{
    const qfz_omega_graph *const g = &room->graph;
    const qfz_gpu_forest *const forest = &room->forest;
    const summary_view s = view_of(room);
    const dim3 block(QFZ_OMEGA_THREADS),
        ring = qfz_omega_grid(gpu, qfz_ring_size(forest->h, forest->w));
    QFZ_TRY(qfz_launch(gpu, k_begin, qfz_omega_grid(gpu, g->vertex_room), block, 0, *g, s));
    QFZ_TRY(qfz_launch(gpu, k_choose_representatives, ring, block, 0, *forest, *g, d_valid, s));
    if (rule->omega)
        QFZ_TRY(qfz_launch(gpu, k_collect, qfz_omega_grid(gpu, room->event_room), block, 0, *g, s));
    QFZ_TRY(qfz_gpu_border_links(gpu, forest, room->d_links_scratch, &room->links,
                                 room->d_counts + N_ALL_LINKS));
    return qfz_launch(gpu, k_count_links, ring, block, 0, *g, s, room->links.d_level);
}

static int bits_of(uint32_t number)
{
    int bits = 1;
    while (bits < 32 && number >> bits)
        bits++;
    return bits;
}

qfz_status qfz_omega_summary_ranges(qfz_gpu *gpu, const qfz_rule *rule, uint32_t n,
                                    qfz_omega_room *room, qfz_gpu_ranges *ranges)
{
    int sorted = 0;
    room->graph.n_vertices = room->d_counts + N_VERTICES;
    const summary_view s = view_of(room);
    if (n > 0)
        QFZ_TRY(qfz_gpu_sort_pairs(gpu, room->d_sort, room->d_level, room->d_source, n, 0,
                                   bits_of(room->graph.after), &sorted));
    *ranges =
        qfz_gpu_ranges{room->d_source[1 - sorted], room->d_level[sorted], room->d_lo, room->d_hi};
    for (int band = 0; band < rule->n_bands; band++) {
        if (rule->omega && rule->n_bands > 1)
            QFZ_TRY(qfz_omega_spread(gpu, &room->values, &room->graph, band));
        QFZ_TRY(qfz_launch(gpu, k_store, qfz_omega_grid(gpu, n), dim3(QFZ_OMEGA_THREADS), 0,
                           room->values, room->graph, s, band, sorted, *ranges));
    }
    return QFZ_OK;
}

qfz_status qfz_gpu_omega_links(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                               void *d_scratch, qfz_gpu_links *links, uint32_t **d_n)
{
    qfz_omega_room room = {};
    QFZ_TRY(qfz_omega_cut(gpu, image, rule, d_scratch, &room));
    QFZ_TRY(qfz_omega_prepare(gpu, image, rule, true, &room));
    QFZ_TRY(qfz_omega_blocks(gpu, &room.forest, &room.values, &room.graph, room.d_source[0]));
    QFZ_TRY(qfz_omega_solve(gpu, &room.forest, &room.values, &room.graph, NULL));
    QFZ_TRY(qfz_omega_summary_links(gpu, rule, image->d_valid, &room));
    *links = room.links;
    *d_n = room.d_counts;
    return QFZ_OK;
}

qfz_status qfz_gpu_omega_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges)
{
    qfz_omega_room room = {};
    QFZ_TRY(qfz_omega_cut(gpu, image, rule, d_scratch, &room));
    return qfz_omega_summary_ranges(gpu, rule, n, &room, ranges);
}
