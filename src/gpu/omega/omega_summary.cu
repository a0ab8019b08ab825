/* SPDX-License-Identifier: MIT */
/* omega_summary.cu - the boundary summary of a tile for (alpha, omega)-components: links and range
 * events.
 *
 * Links are those of the forest.  Range events: a vertex y that has a ring pixel in T(y) reaches
 * the ring at the least level at which such a part of T(y) joins y; the representative of y is a
 * ring pixel of that part.  Every other part that is attached to y becomes a range event of the
 * representative, with the range of the whole part, because no pixel of the part reaches the ring
 * earlier; its level is the one at which both the part and the representative have joined y.  So at
 * any level, the ranges of the events of a ring component's pixels make up its range.  Most events
 * that widen nothing are left out (omega_thin.cu), unless there is not enough room for the others.
 *
 * After y breaks, the summary has one more event for y, a range of all values of the type, which
 * exceeds every omega. */
#include "gpu/device/collective.cuh"
#include "gpu/omega/omega_events.cuh"

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_begin(qfz_omega_graph g, qfz_omega_events s)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        s.counts[QFZ_OMEGA_N_VERTICES] = n;
        s.counts[QFZ_OMEGA_N_ITEMS] = *g.n_records + 2 * n;
    }
    QFZ_OMEGA_EACH(v, n) s.representatives[v] = QFZ_OMEGA_NO_RING;
}

/* Offers each ring pixel as representative to its vertex, at level 0, and to the vertices above.
 * Stops at a vertex that another pixel reached before, because the thread of that pixel continues
 * upwards. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_choose_representatives(qfz_gpu_forest f, qfz_omega_graph g, const uint8_t *valid,
                             qfz_omega_events s)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    {
        const int2 place = qfz_ring_pixel(f.h, f.w, (int32_t)i);
        if (valid && !valid[(int64_t)place.y * f.w + place.x]) continue;
        uint32_t v = qfz_omega_ring_vertex(f, i), level = 0;
        while (v != QFZ_NONE && level < g.after) {
            if (atomicMin(&s.representatives[v], (qfz_omega_representative)level << 32 | i) !=
                QFZ_OMEGA_NO_RING)
                break;
            level = g.vertex[v].up_level;
            v = g.vertex[v].up;
        }
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Makes the events of at most n items from `first` on. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_collect(qfz_omega_values values, qfz_omega_graph g, qfz_omega_events s, uint32_t first,
              uint32_t n)
{
    const auto level_of = [&](uint64_t i) {
        const qfz_omega_item item = qfz_omega_item_of(g, s, first + (uint32_t)i);
        return qfz_omega_event_level(values, g, s, item);
    };
    qfz_omega_append(min(n, *g.n_records + 2 * *g.n_vertices - first),
                     &s.counts[QFZ_OMEGA_N_EVENTS], level_of,
                     [&](uint32_t to, uint64_t i, uint32_t level) {
                         s.level[0][to] = level;
                         s.source[0][to] = first + (uint32_t)i;
                     });
}

/* Writes the ranges of events in one band; for the first band their ring pixels, too. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_store(qfz_omega_values values, qfz_omega_graph g, qfz_omega_events s, int band, int sorted,
            qfz_gpu_ranges ranges)
{
    const uint32_t n = s.counts[QFZ_OMEGA_N_EVENTS];
    QFZ_OMEGA_EACH(e, n)
    {
        const qfz_omega_item item = qfz_omega_item_of(g, s, s.source[sorted][e]);
        const uint2 range = item.kind == QFZ_OMEGA_JOINED
                                ? qfz_omega_joined_range(values, g, s, item)
                                : qfz_omega_item_range(values, g, item, band);
        values.write(ranges.d_lo, (int64_t)e * values.n_bands + band, range.x);
        values.write(ranges.d_hi, (int64_t)e * values.n_bands + band, range.y);
        if (band == 0) ranges.d_at[e] = (uint32_t)s.representatives[item.y];
    }
}

/* Counts the links up to alpha; links are in ascending order. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_count_links(qfz_omega_graph g, qfz_omega_events s, const uint32_t *__restrict__ level)
{
    const uint32_t n = s.counts[QFZ_OMEGA_N_ALL_LINKS];
    QFZ_OMEGA_EACH(i, n)
    if (level[i] < g.after && (i + 1 == n || level[i + 1] >= g.after))
        s.counts[QFZ_OMEGA_N_LINKS] = (uint32_t)i + 1;
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_omega_summary_links(qfz_gpu *gpu, const qfz_rule *rule, const uint8_t *d_valid,
                                   qfz_omega_room *room)
{
    const qfz_omega_graph *const g = &room->graph;
    const qfz_gpu_forest *const forest = &room->forest;
    const qfz_omega_events *const s = &room->events;
    const int64_t n_ring = qfz_ring_size(forest->h, forest->w);
    QFZ_TRY(qfz_gpu_fill(gpu, s->counts, 0, QFZ_OMEGA_COUNTS));
    QFZ_TRY(qfz_omega_launch(gpu, k_begin, g->vertex_room, *g, *s));
    QFZ_TRY(qfz_omega_launch(gpu, k_choose_representatives, n_ring, *forest, *g, d_valid, *s));
    if (rule->omega) QFZ_TRY(qfz_omega_thin(gpu, room));
    QFZ_TRY(qfz_gpu_border_links(gpu, forest, room->d_links_scratch, &room->links,
                                 s->counts + QFZ_OMEGA_N_ALL_LINKS));
    return qfz_omega_launch(gpu, k_count_links, n_ring, *g, *s, room->links.d_level);
}

qfz_status qfz_omega_summary_ranges(qfz_gpu *gpu, const qfz_rule *rule, uint32_t n,
                                    qfz_omega_room *room, qfz_gpu_ranges *ranges)
{
    int sorted = 0;
    const qfz_omega_events *const s = &room->events;
    room->graph.n_vertices = s->counts + QFZ_OMEGA_N_VERTICES;
    if (n > 0)
        QFZ_TRY(qfz_gpu_sort_pairs(gpu, room->d_sort, s->level, s->source, n, 0,
                                   qfz_gpu_key_bits(room->graph.after), &sorted));
    *ranges = qfz_gpu_ranges{s->source[1 - sorted], s->level[sorted], room->d_lo, room->d_hi};
    for (int band = 0; band < rule->n_bands; band++) {
        if (rule->omega && rule->n_bands > 1) QFZ_TRY(qfz_omega_spread(gpu, room, band));
        QFZ_TRY(qfz_omega_launch(gpu, k_store, n, room->values, room->graph, *s, band, sorted,
                                 *ranges));
    }
    return QFZ_OK;
}

qfz_status qfz_gpu_omega_links(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                               void *d_scratch, qfz_gpu_links *links, uint32_t **d_n)
{
    qfz_omega_room room = {};
    QFZ_TRY(qfz_omega_cut(gpu, image, rule, d_scratch, &room));
    QFZ_TRY(qfz_omega_prepare(gpu, image, rule, true, &room));
    uint32_t *const d_root = static_cast<uint32_t *>(room.d_forest); /* not read */
    QFZ_TRY(qfz_omega_blocks(gpu, &room, d_root));
    room.forest.best[0] = room.d_best; /* the graph lies over the forest's own */
    QFZ_TRY(qfz_omega_solve(gpu, &room, NULL));
    QFZ_TRY(qfz_omega_summary_links(gpu, rule, image->d_valid, &room));
    *links = room.links;
    *d_n = room.events.counts;
    return QFZ_OK;
}

qfz_status qfz_gpu_omega_part(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t first_item, uint32_t n)
{
    qfz_omega_room room = {};
    QFZ_TRY(qfz_omega_cut(gpu, image, rule, d_scratch, &room));
    const qfz_omega_events &s = room.events;
    /* The forest's memory may be events by now, so the number of vertices is a copy. */
    room.graph.n_vertices = s.counts + QFZ_OMEGA_N_VERTICES;
    QFZ_TRY(qfz_gpu_fill(gpu, s.counts + QFZ_OMEGA_N_EVENTS, 0, 1));
    return qfz_omega_launch(gpu, k_collect, n, room.values, room.graph, s, first_item, n);
}

qfz_status qfz_gpu_omega_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges)
{
    qfz_omega_room room = {};
    QFZ_TRY(qfz_omega_cut(gpu, image, rule, d_scratch, &room));
    return qfz_omega_summary_ranges(gpu, rule, n, &room, ranges);
}
