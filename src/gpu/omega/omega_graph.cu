/* SPDX-License-Identifier: MIT */
/* omega_graph.cu - the levels at which the vertices of the graph of all blocks break.
 *
 * Vertices and records are attached to vertices.  The range of T of a vertex is computed by
 * climbing from every part of T, in at most as many steps as there were rounds.  A climb may stop
 * at a vertex that is too wide: this vertex breaks the vertices above it anyway, and a part that
 * breaks them earlier is not below a too wide vertex, so its climb reaches them.  A climb may also
 * stop at a vertex whose range has the part's range already, because the climbs that made that
 * range go on. */
#include "gpu/omega/omega_parts.cuh"

/* The parent of v in the forest, and L(v). */
static QFZ_DEVICE uint2 hook_of(const qfz_omega_graph &g, uint32_t v)
{
    return *reinterpret_cast<const uint2 *>(&g.vertex[v]);
}

/* The first vertex on the path up from v, v included, that is a root or has L above `level`. */
static QFZ_DEVICE uint32_t first_after(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    for (uint2 hook; (hook = hook_of(g, v)).x != QFZ_NONE && hook.y <= level;)
        v = hook.x;
    return v;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Empties the lists of the bisection. */
static QFZ_DEVICE void clear_lists(const qfz_omega_graph &g)
{
    if (blockIdx.x == 0 && threadIdx.x <= QFZ_OMEGA_PASSES) g.n_listed[threadIdx.x] = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.n_wide = 0;
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_begin(qfz_gpu_forest f, qfz_omega_graph g, int n_bands)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.n_records = 0;
    clear_lists(g);
    QFZ_OMEGA_EACH(v, n)
    {
        const uint2 up = f.up[v];
        const bool is_root = (up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT;
        uint32_t at = up.x >> QFZ_UP_BITS;
        for (uint2 next; !is_root && (next = f.up[at], (next.x & QFZ_UP_ROOT) != QFZ_UP_ROOT) &&
                         next.y <= up.y;)
            at = next.x >> QFZ_UP_BITS;
        qfz_omega_vertex vertex = {};
        vertex.up = is_root ? QFZ_NONE : at;
        vertex.up_level = is_root ? QFZ_NONE : up.y;
        vertex.breaks = g.after;
        g.vertex[v] = vertex;
        g.first[v] = QFZ_NONE;
        g.block_breaks[v] = g.after;
        for (int band = 0; band < n_bands; band++)
            qfz_omega_set_own(g, band, (uint32_t)v, make_uint2(QFZ_NONE, 0));
    }
}

/* ---- Known breaks ---------------------------------------------------------------------------- */

/* Marks that v breaks at `level`, and that each vertex above v breaks at the level at which the
 * vertex below is attached.  Stops at a vertex that another thread marked before, because that
 * thread continues upwards. */
static QFZ_DEVICE void break_at(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    while (level < g.after) {
        uint32_t *const breaks = &g.vertex[v].breaks;
        if (qfz_peek(breaks) <= level || atomicMin(breaks, level) < g.after) return;
        const uint2 hook = hook_of(g, v);
        if (hook.x == QFZ_NONE) return;
        v = hook.x;
        level = hook.y;
    }
}

/* Marks that the component of v at `level` is too wide. */
static QFZ_DEVICE void break_component_at(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    if (level < g.after) break_at(g, first_after(g, v, level), level);
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_break_blocks(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n) break_component_at(g, (uint32_t)v, g.block_breaks[v]);
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_break_ring(qfz_gpu_forest f, qfz_omega_graph g, const uint32_t *__restrict__ omega_level)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    {
        if (omega_level[i] == QFZ_NONE) continue;
        break_component_at(g, qfz_omega_ring_vertex(f, i), omega_level[i] + 1);
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_attach_records(qfz_omega_graph g)
{
    const uint32_t n = *g.n_records;
    QFZ_OMEGA_EACH(i, n)
    {
        const uint2 to = qfz_omega_attached(g, i);
        const uint32_t at = first_after(g, to.x, to.y);
        if (at != to.x) g.attached[i] = at;
    }
}

/* ---- One band -------------------------------------------------------------------------------- */

namespace
{
/* The ranges in one band, for all kernels of that band. */
struct band_ranges {
    int band;
    const uint32_t *own_lo, *own_hi; /* of vertices */
    const char *lo, *hi;             /* of records */
};
} // namespace

static band_ranges view_of(const qfz_omega_values *values, const qfz_omega_graph *g, int band)
{
    const int64_t own = band * g->vertex_room, of_record = band * g->record_room * values->bytes;
    return band_ranges{band, g->own_lo + own, g->own_hi + own, (const char *)g->lo + of_record,
                       (const char *)g->hi + of_record};
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_start_band(qfz_omega_graph g, band_ranges b)
{
    const uint32_t n = *g.n_vertices;
    clear_lists(g);
    QFZ_OMEGA_EACH(v, n)
    {
        g.vertex[v].lo = b.own_lo[v];
        g.vertex[v].hi = b.own_hi[v];
    }
}

/* Reads four words of a vertex, from `word` on, while other threads may write them. */
static QFZ_DEVICE uint4 peek_half(const uint32_t *word)
{
    return __ldcg(reinterpret_cast<const uint4 *>(word));
}

/* Extends the range of T of v and of all vertices above v.  A read may be stale, but ranges only
 * grow: a vertex that reads as too wide is too wide, and what reads as its range belongs to it. */
static QFZ_DEVICE void spread(const qfz_omega_graph &g, const qfz_omega_values &values,
                              double limit, uint32_t v, uint32_t lo, uint32_t hi)
{
    while (v != QFZ_NONE) {
        qfz_omega_vertex *const at = &g.vertex[v];
        const uint4 seen = peek_half(&at->up);
        if (lo >= seen.z && hi <= seen.w) return;
        if (lo < seen.z) atomicMin(&at->lo, lo);
        if (hi > seen.w) atomicMax(&at->hi, hi);
        if (values.too_wide(min(lo, seen.z), max(hi, seen.w), limit)) return;
        v = seen.x;
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_spread(qfz_omega_values values, qfz_omega_graph g, band_ranges b)
{
    const double limit = values.limit[b.band];
    const uint64_t n = *g.n_vertices, n_all = n + *g.n_records;
    QFZ_OMEGA_EACH(i, n_all)
    {
        if (i < n) { /* the range of T of i begins with that of its own pixels */
            if (b.own_lo[i] <= b.own_hi[i])
                spread(g, values, limit, hook_of(g, (uint32_t)i).x, b.own_lo[i], b.own_hi[i]);
            continue;
        }
        const int64_t r = (int64_t)(i - n);
        spread(g, values, limit, g.attached[r], values.read(b.lo, r), values.read(b.hi, r));
    }
}

/* Lists the vertices whose T is too wide.  A vertex's own pixels qualify; no level is tried yet. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_mark_wide(qfz_omega_values values, qfz_omega_graph g, band_ranges b)
{
    const double limit = values.limit[b.band];
    const auto is_wide = [&](uint64_t v) {
        qfz_omega_vertex *const at = &g.vertex[v];
        const qfz_omega_vertex seen = *at;
        const bool wide = values.too_wide(seen.lo, seen.hi, limit);
        at->holds = wide ? 0 : QFZ_NONE;
        if (!wide) return QFZ_NONE;
        at->lo = b.own_lo[v];
        at->hi = b.own_hi[v];
        at->tried = 0;
        at->left = QFZ_NONE;
        /* Components of level 0 always qualify. */
        if (seen.up != QFZ_NONE) break_at(g, seen.up, max(seen.up_level, 1u));
        return (uint32_t)v;
    };
    qfz_omega_append(*g.n_vertices, g.n_wide, is_wide,
                     [&](uint32_t to, uint64_t, uint32_t v) { g.wide[to] = v; });
}

/* ---- Bisection ------------------------------------------------------------------------------- */

/* The same algorithm as in omega_bisect.cuh.  The list has the parts for which it is undecided
 * whether their level breaks their vertex; each pass removes the decided ones.  A list that has not
 * enough room is not complete; then the pass looks at all parts, and makes a list of those that
 * stay undecided, as if all had been listed. */

namespace
{
/* An item of the list: a record, or a vertex with all of its T, that is attached to a vertex. */
struct item {
    uint32_t v, level; /* the vertex to which it is attached, and its L */
    int64_t record;    /* below 0: the item is a vertex */
};
} // namespace

static QFZ_DEVICE item item_of(const qfz_omega_graph &g, uint32_t n, uint64_t i)
{
    const int64_t r = (int64_t)i - (int64_t)n;
    const uint2 to = r < 0 ? hook_of(g, (uint32_t)i) : qfz_omega_attached(g, (uint64_t)r);
    return item{to.x, to.y, r};
}

namespace
{
/* The state of a vertex in the bisection, while other threads extend its range and raise `tried`.
 */
struct progress {
    uint32_t lo, hi, breaks, holds, tried, left;
};
} // namespace

static QFZ_DEVICE progress progress_of(const qfz_omega_graph &g, uint32_t v)
{
    const uint4 first = peek_half(&g.vertex[v].up), second = peek_half(&g.vertex[v].breaks);
    return progress{first.z, first.w, second.x, second.y, second.z, second.w};
}

/* True if it is undecided whether the vertex qualifies at `level`. */
static QFZ_DEVICE bool is_open(const progress &at, uint32_t level)
{
    return level > at.holds && level < at.breaks;
}

/* The level up to which parts are tried next.  Some part is undecided at the level after `holds`.
 */
static QFZ_DEVICE uint32_t middle(const progress &at)
{
    return at.holds + 1 + (at.breaks - at.holds - 2) / 2;
}

namespace
{
/* The vertex that a thread looked at last: its bounds, which no thread changes during a pass, and
 * its state, which may be stale.  Many items of large components in a row have the same one. */
struct looked_at {
    uint32_t v;
    bool fresh; /* the state was read for this item */
    progress at;
};
} // namespace

static QFZ_DEVICE void look(const qfz_omega_graph &g, uint32_t v, looked_at *last)
{
    last->fresh = v != last->v;
    if (!last->fresh) return;
    last->v = v;
    last->at = progress_of(g, v);
}

/* Tries an item, or leaves it for a later pass. */
static QFZ_DEVICE void try_item(const qfz_omega_graph &g, const qfz_omega_values &values,
                                const band_ranges &b, uint64_t i, const item &it, looked_at *last,
                                bool tries)
{
    qfz_omega_vertex *const at = &g.vertex[it.v];
    progress *const seen = &last->at;
    uint2 by = make_uint2(QFZ_NONE, 0);
    if (tries)
        by = it.record < 0 ? make_uint2(g.vertex[i].lo, g.vertex[i].hi)
                           : make_uint2(values.read(b.lo, it.record), values.read(b.hi, it.record));
    const auto changes = [&] {
        return tries ? by.x < seen->lo || by.y > seen->hi || it.level > seen->tried
                     : it.level < seen->left;
    };
    if (!changes()) return;
    if (!last->fresh) *seen = progress_of(g, it.v);
    if (!changes()) return;
    if (!tries) {
        atomicMin(&at->left, it.level);
        seen->left = it.level;
        return;
    }
    if (by.x < seen->lo) atomicMin(&at->lo, by.x);
    if (by.y > seen->hi) atomicMax(&at->hi, by.y);
    if (it.level > seen->tried) atomicMax(&at->tried, it.level);
    seen->lo = min(seen->lo, by.x);
    seen->hi = max(seen->hi, by.y);
    seen->tried = max(seen->tried, it.level);
}

/* True if item i is attached to a vertex, and its own T is not too wide. */
static QFZ_DEVICE bool takes_part(const qfz_omega_graph &g, const item &it, uint64_t i)
{
    return it.v != QFZ_NONE && (it.record >= 0 || g.vertex[i].holds == QFZ_NONE);
}

static QFZ_DEVICE void put_listed(const qfz_omega_graph &g, uint32_t *list, uint32_t to, uint32_t i)
{
    if (to < g.list_room) list[to] = i;
}

/* Makes the first list, and tries the items of level 0. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_list(qfz_omega_values values, qfz_omega_graph g, band_ranges b)
{
    const uint32_t n = *g.n_vertices;
    looked_at last = {QFZ_NONE, false, {}};
    const auto is_listed = [&](uint64_t i) {
        const item it = item_of(g, n, i);
        if (!takes_part(g, it, i) || g.vertex[it.v].holds == QFZ_NONE) return QFZ_NONE;
        look(g, it.v, &last);
        const bool open = is_open(last.at, it.level);
        if (it.level == 0 || open) try_item(g, values, b, i, it, &last, it.level == 0);
        return open ? (uint32_t)i : QFZ_NONE;
    };
    qfz_omega_append((uint64_t)n + *g.n_records, &g.n_listed[0], is_listed,
                     [&](uint32_t to, uint64_t, uint32_t i) { put_listed(g, g.list[0], to, i); });
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_try(qfz_omega_values values, qfz_omega_graph g, band_ranges b, int pass)
{
    const uint32_t n = *g.n_vertices, n_listed = g.n_listed[pass];
    const bool complete = n_listed <= g.list_room;
    const uint32_t *const list = g.list[pass % 2];
    uint32_t *const next = g.list[(pass + 1) % 2];
    looked_at last = {QFZ_NONE, false, {}};
    const auto stays = [&](uint64_t place) {
        const uint32_t i = complete ? list[place] : (uint32_t)place;
        const item it = item_of(g, n, i);
        if (!complete && !takes_part(g, it, i)) return QFZ_NONE;
        look(g, it.v, &last);
        if (!is_open(last.at, it.level)) return QFZ_NONE;
        try_item(g, values, b, i, it, &last, it.level <= middle(last.at));
        return i;
    };
    qfz_omega_append(complete ? n_listed : (uint64_t)n + *g.n_records, &g.n_listed[pass + 1], stays,
                     [&](uint32_t to, uint64_t, uint32_t i) { put_listed(g, next, to, i); });
}

/* Decides for the listed vertices, as in omega_bisect.cuh. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_judge(qfz_omega_values values, qfz_omega_graph g, band_ranges b, int pass)
{
    if (pass >= 0 && !g.n_listed[pass + 1]) return;
    const double limit = values.limit[b.band];
    const uint32_t n = *g.n_wide;
    QFZ_OMEGA_EACH(i, n)
    {
        qfz_omega_vertex *const at = &g.vertex[g.wide[i]];
        qfz_omega_vertex v = *at;
        if (pass >= 0 && v.tried == 0) continue; /* no level was undecided */
        if (!values.too_wide(v.lo, v.hi, limit)) {
            g.held[i] = make_uint2(v.lo, v.hi);
            v.holds = min(v.left, v.breaks) - 1;
        } else if (pass < 0) {
            v.breaks = 1;
        } else {
            v.breaks = v.tried;
            v.lo = g.held[i].x;
            v.hi = g.held[i].y;
        }
        v.tried = 0;
        v.left = QFZ_NONE;
        *at = v;
    }
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_omega_begin(qfz_gpu *gpu, const qfz_gpu_forest *forest, const qfz_omega_graph *graph,
                           int n_bands)
{
    return qfz_launch(gpu, k_begin, qfz_omega_grid(gpu, graph->vertex_room),
                      dim3(QFZ_OMEGA_THREADS), 0, *forest, *graph, n_bands);
}

/* The number of passes after which no level is undecided. */
static int n_passes(uint32_t after)
{
    int n = 1;
    while ((uint64_t)after >> n > 0)
        n++;
    return n;
}

static qfz_status launch_spread(qfz_gpu *gpu, const qfz_omega_values *values,
                                const qfz_omega_graph *graph, const band_ranges *b)
{
    return qfz_launch(gpu, k_spread, qfz_omega_grid(gpu, graph->vertex_room + graph->record_room),
                      dim3(QFZ_OMEGA_THREADS), 0, *values, *graph, *b);
}

qfz_status qfz_omega_spread(qfz_gpu *gpu, const qfz_omega_values *values,
                            const qfz_omega_graph *graph, int band)
{
    const band_ranges b = view_of(values, graph, band);
    QFZ_TRY(qfz_launch(gpu, k_start_band, qfz_omega_grid(gpu, graph->vertex_room),
                       dim3(QFZ_OMEGA_THREADS), 0, *graph, b));
    return launch_spread(gpu, values, graph, &b);
}

static qfz_status solve_band(qfz_gpu *gpu, const qfz_omega_values *values,
                             const qfz_omega_graph *graph, int band)
{
    const band_ranges b = view_of(values, graph, band);
    const dim3 block(QFZ_OMEGA_THREADS),
        vertices = qfz_omega_grid(gpu, graph->vertex_room),
        all = qfz_omega_grid(gpu, graph->vertex_room + graph->record_room);
    /* The first band was started when vertices were set. */
    QFZ_TRY(band == 0 ? launch_spread(gpu, values, graph, &b)
                      : qfz_omega_spread(gpu, values, graph, band));
    QFZ_TRY(qfz_launch(gpu, k_mark_wide, vertices, block, 0, *values, *graph, b));
    QFZ_TRY(qfz_launch(gpu, k_list, all, block, 0, *values, *graph, b));
    QFZ_TRY(qfz_launch(gpu, k_judge, vertices, block, 0, *values, *graph, b, -1));
    for (int pass = 0; pass < n_passes(graph->after); pass++) {
        QFZ_TRY(qfz_launch(gpu, k_try, all, block, 0, *values, *graph, b, pass));
        QFZ_TRY(qfz_launch(gpu, k_judge, vertices, block, 0, *values, *graph, b, pass));
    }
    return QFZ_OK;
}

qfz_status qfz_omega_solve(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                           const qfz_omega_values *values, const qfz_omega_graph *graph,
                           const uint32_t *d_omega_level)
{
    const dim3 block(QFZ_OMEGA_THREADS);
    QFZ_TRY(
        qfz_launch(gpu, k_break_blocks, qfz_omega_grid(gpu, graph->vertex_room), block, 0, *graph));
    if (d_omega_level)
        QFZ_TRY(qfz_launch(gpu, k_break_ring,
                           qfz_omega_grid(gpu, qfz_ring_size(forest->h, forest->w)), block, 0,
                           *forest, *graph, d_omega_level));
    QFZ_TRY(qfz_launch(gpu, k_attach_records, qfz_omega_grid(gpu, graph->record_room), block, 0,
                       *graph));
    for (int band = 0; values->limit && band < values->n_bands; band++)
        QFZ_TRY(solve_band(gpu, values, graph, band));
    return QFZ_OK;
}
