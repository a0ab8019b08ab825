/* SPDX-License-Identifier: MIT */
/* omega_thin.cu - the range events of a summary, without most of those that widen nothing.
 *
 * All events of a vertex y are of one ring pixel, so an event whose range lies in that of y's
 * events of lower levels is not needed.  A component that leaves its blocks has a part for almost
 * each of its pixels, and hardly any of these widens it.
 *
 *   merge    parts that have joined y at the least level of an event of y widen the range of y's
 * own pixels, which has that level join     a pass for each of the next levels: the parts of this
 * level that widen the range of y do so, and become one event, with all of that range pick then, a
 * pass for some levels: the parts whose range does not lie in that of y become events, which widen
 * the range of y when all parts have been compared with it
 *
 * In each pass, parts of higher levels are listed for the next pass unless their range lies in that
 * of y.  The range of y lies where that of T was: T has a ring pixel, and is not needed.  Of
 * several bands there is no such place; then all parts are picked at once, and compared with the
 * ranges of own pixels. */
#include "gpu/omega/omega_events.cuh"

namespace
{
/* Passes for one level each. */
enum { JOINED = 32 };

/* A pass has the levels of y from least + before + 1 to least + reach, or from least on in the
 * first pass; `least` is the least level of an event of y.  Lists are complete up to events.room
 * items; a pass whose list is not looks at all items. */

struct thin_pass {
    uint32_t number, before, reach;
    const uint32_t *list;
    uint32_t *next;
    const uint32_t *n_listed;
    uint32_t *n_next, *n_events_before; /* n_events_before: two words, of this pass and the next */
};

/* ---- Merge ----------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_merge(qfz_omega_values values, qfz_omega_graph g, qfz_omega_events s)
{
    QFZ_OMEGA_EACH(i, (uint64_t)*g.n_records + *g.n_vertices)
    {
        const qfz_omega_item item = qfz_omega_item_of(g, s, (uint32_t)i);
        if (item.y == QFZ_NONE || !qfz_omega_merges(values, g, item)) continue;
        const uint32_t least = qfz_omega_least_level(s, item.y);
        if (item.level > least || least >= g.vertex[item.y].breaks) continue;
        for (int band = 0; band < values.n_bands; band++) {
            const uint2 range = qfz_omega_item_range(values, g, item, band);
            qfz_lower(&g.own_lo[band * g.vertex_room + item.y], range.x);
            qfz_raise(&g.own_hi[band * g.vertex_room + item.y], range.y);
        }
        g.first[item.y] = 0; /* has an event */
    }
}

/* The range of a vertex begins with that of its own pixels. */
__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_begin_ranges(qfz_omega_graph g, qfz_omega_events s)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        if (!qfz_omega_reaches_ring(s, (uint32_t)v)) continue;
        g.vertex[v].lo = g.own_lo[v];
        g.vertex[v].hi = g.own_hi[v];
        g.vertex[v].pass = 0;
    }
}

/* ---- Passes ---------------------------------------------------------------------------------- */

/* True if a part widens nothing. */
QFZ_DEVICE bool is_known(const qfz_omega_values &values, const qfz_omega_graph &g,
                         const qfz_omega_item &item)
{
    if (!qfz_omega_merges(values, g, item)) return false;
    bool inside = true;
    for (int band = 0; inside && band < values.n_bands; band++) {
        const uint2 range = qfz_omega_item_range(values, g, item, band);
        const int64_t at = band * g.vertex_room + item.y;
        const bool one = values.n_bands == 1;
        inside = range.x >= (one ? g.vertex[item.y].lo : g.own_lo[at]) &&
                 range.y <= (one ? g.vertex[item.y].hi : g.own_hi[at]);
    }
    return inside;
}

/* An event, as far as there is room for it; returns its place. */
QFZ_DEVICE uint32_t put_event(const qfz_omega_events &s, uint32_t source, uint32_t level)
{
    const uint32_t to = atomicAdd(&s.counts[QFZ_OMEGA_N_EVENTS], 1);
    if (to >= s.room) return to;
    s.level[0][to] = level;
    s.source[0][to] = source;
    return to;
}

/* What both kinds of passes have. */
struct candidate {
    qfz_omega_item item;   /* y is QFZ_NONE if the item is not a candidate */
    uint32_t level, above; /* of its event; above the least level of y */
};

/* Item i, unless an earlier pass or the range of its vertex excludes it. */
QFZ_DEVICE candidate candidate_of(const qfz_omega_values &values, const qfz_omega_graph &g,
                                  const qfz_omega_events &s, const thin_pass &pass, uint32_t i)
{
    candidate c = {qfz_omega_item_of(g, s, i), 0, 0};
    c.level = qfz_omega_event_level(values, g, s, c.item);
    if (c.level == QFZ_NONE) {
        c.item.y = QFZ_NONE;
        return c;
    }
    c.above = c.level - qfz_omega_least_level(s, c.item.y);
    const bool is_early =
        pass.number > 0 && (c.item.kind != QFZ_OMEGA_ATTACHED || c.above <= pass.before);
    if (is_early || is_known(values, g, c.item)) c.item.y = QFZ_NONE;
    return c;
}

/* Calls use(candidate) for all candidates; lists those for which use() returns true. */
template <typename USE>
QFZ_DEVICE void each_candidate(const qfz_omega_values &values, const qfz_omega_graph &g,
                               const qfz_omega_events &s, const thin_pass &pass, USE use)
{
    const uint32_t n_listed = *pass.n_listed;
    const bool complete = pass.number > 0 && n_listed <= s.room;
    const uint64_t all = (uint64_t)*g.n_records + 2 * (uint64_t)*g.n_vertices;
    const auto stays = [&](uint64_t place) {
        const uint32_t i = complete ? pass.list[place] : (uint32_t)place;
        const candidate c = candidate_of(values, g, s, pass, i);
        return c.item.y != QFZ_NONE && use(c) ? i : QFZ_NONE;
    };
    qfz_omega_append(complete ? (uint64_t)n_listed : all, pass.n_next, stays,
                     [&](uint32_t to, uint64_t, uint32_t i) {
                         if (to < s.room) pass.next[to] = i;
                     });
}

QFZ_DEVICE void widen(const qfz_omega_values &values, const qfz_omega_graph &g,
                      const qfz_omega_item &item)
{
    const uint2 range = qfz_omega_item_range(values, g, item, 0);
    qfz_lower(&g.vertex[item.y].lo, range.x);
    qfz_raise(&g.vertex[item.y].hi, range.y);
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_pick(qfz_omega_values values, qfz_omega_graph g, qfz_omega_events s, thin_pass pass)
{
    each_candidate(values, g, s, pass, [&](const candidate &c) {
        if (c.item.kind == QFZ_OMEGA_ATTACHED && c.above > pass.reach) return true;
        (void)put_event(s, c.item.i, c.level);
        return false;
    });
}

/* All ranges that may be compared with that of y while it grows are of this level or a higher one.
 */
__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_join(qfz_omega_values values, qfz_omega_graph g, qfz_omega_events s, thin_pass pass)
{
    const uint32_t n_items = *g.n_records + 2 * *g.n_vertices;
    each_candidate(values, g, s, pass, [&](const candidate &c) {
        if (c.above > pass.reach) return true;
        const uint32_t y = c.item.y;
        widen(values, g, c.item);
        if (qfz_peek(&g.vertex[y].pass) == pass.number ||
            atomicExch(&g.vertex[y].pass, pass.number) == pass.number)
            return false; /* y has its event of this level */
        const uint32_t to = put_event(s, 0, c.level);
        if (to >= s.room) return false;
        s.source[0][to] = n_items + to;
        s.vertex[to] = y;
        return false;
    });
}

/* The new events: those of single parts widen the range of y, and joined ones get that range. */
__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_widen(qfz_omega_values values, qfz_omega_graph g, qfz_omega_events s, thin_pass pass)
{
    const uint32_t n = (uint32_t)min((int64_t)s.counts[QFZ_OMEGA_N_EVENTS], s.room),
                   before = pass.n_events_before[0];
    if (blockIdx.x == 0 && threadIdx.x == 0) pass.n_events_before[1] = n;
    QFZ_OMEGA_EACH(place, n - before)
    {
        const uint32_t e = before + (uint32_t)place;
        const qfz_omega_item item = qfz_omega_item_of(g, s, s.source[0][e]);
        if (item.kind == QFZ_OMEGA_ATTACHED) widen(values, g, item);
        if (item.kind != QFZ_OMEGA_JOINED) continue;
        values.write(s.lo, e, g.vertex[item.y].lo);
        values.write(s.hi, e, g.vertex[item.y].hi);
    }
}

/* ---- Launchers ------------------------------------------------------------------------------- */

uint32_t next_reach(uint32_t reach, uint32_t after)
{
    const uint32_t next = reach < JOINED ? reach + 1 : reach + reach / 4;
    return next < after && next > reach ? next : QFZ_NONE;
}

qfz_status run_pass(qfz_gpu *gpu, const qfz_omega_room *room, const thin_pass *pass)
{
    const qfz_omega_graph *const g = &room->graph;
    const int64_t n = qfz_omega_events_of(g);
    const bool joins = pass->number > 0 && pass->reach - pass->before == 1;
    QFZ_TRY(
        qfz_omega_launch(gpu, joins ? k_join : k_pick, n, room->values, *g, room->events, *pass));
    if (pass->reach == QFZ_NONE) return QFZ_OK;
    return qfz_omega_launch(gpu, k_widen, n, room->values, *g, room->events, *pass);
}
} // namespace

qfz_status qfz_omega_thin(qfz_gpu *gpu, const qfz_omega_room *room)
{
    const qfz_omega_graph *const g = &room->graph;
    const qfz_omega_events &s = room->events;
    uint32_t *const lists[2] = {s.level[1], s.source[1]};
    thin_pass pass = {};
    QFZ_TRY(qfz_omega_launch(gpu, k_merge, qfz_omega_events_of(g), room->values, *g, s));
    if (room->values.n_bands == 1)
        QFZ_TRY(qfz_omega_launch(gpu, k_begin_ranges, g->vertex_room, *g, s));
    else
        pass.reach = QFZ_NONE;
    for (;; pass.number++) {
        pass.list = lists[pass.number % 2];
        pass.next = lists[(pass.number + 1) % 2];
        pass.n_listed = s.counts + QFZ_OMEGA_THIN_LISTED + pass.number;
        pass.n_next = s.counts + QFZ_OMEGA_THIN_LISTED + pass.number + 1;
        pass.n_events_before = s.counts + QFZ_OMEGA_THIN_EVENTS + pass.number;
        QFZ_TRY(run_pass(gpu, room, &pass));
        if (pass.reach == QFZ_NONE) return QFZ_OK;
        pass.before = pass.reach;
        pass.reach = next_reach(pass.reach, g->after);
    }
}
