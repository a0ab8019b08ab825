/* SPDX-License-Identifier: MIT */
/* omega_graph.cu - at which levels the vertices of the graph of all blocks break.
 *
 * Vertices hang on vertices, records on vertices; T of a vertex is gathered by climbing from
 * everything that is in it, at most as many steps as there were rounds.  A climb ends at a vertex
 * that is too wide already: whatever it joins is told that it breaks there, and what breaks it
 * before is something that is not too wide itself, from which every climb gets on to it. */
#include "gpu/omega_parts.cuh"

/* The first vertex from v on that joins another after `level`. */
static __device__ __forceinline__ uint32_t first_after(const qfz_omega_graph &g, uint32_t v,
                                                       uint32_t level)
{
    while (g.up[v] != QFZ_NONE && g.up_level[v] <= level)
        v = g.up[v];
    return v;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_begin(qfz_gpu_forest f, qfz_omega_graph g, int n_bands)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.n_records = 0;
    QFZ_OMEGA_EACH(v, n)
    {
        const uint2 up = f.up[v];
        const bool is_root = (up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT;
        uint32_t at = up.x >> QFZ_UP_BITS;
        for (uint2 next; !is_root && (next = f.up[at], (next.x & QFZ_UP_ROOT) != QFZ_UP_ROOT) &&
                         next.y <= up.y;)
            at = next.x >> QFZ_UP_BITS;
        g.up[v] = is_root ? QFZ_NONE : at;
        g.up_level[v] = is_root ? QFZ_NONE : up.y;
        g.own_first[v] = QFZ_NONE;
        g.block_breaks[v] = g.breaks[v] = g.after;
        for (int band = 0; band < n_bands; band++) {
            g.own_lo[band * g.vertex_room + (int64_t)v] = QFZ_NONE;
            g.own_hi[band * g.vertex_room + (int64_t)v] = 0;
        }
    }
}

/* ---- What is known to break ------------------------------------------------------------------ */

/* v breaks at `level`, and so does all that it joins, as soon as it joins it.  Where a vertex is
 * told for the second time, who told it first has gone on. */
static __device__ __forceinline__ void tell(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    while (level < g.after) {
        if (qfz_peek(&g.breaks[v]) <= level) return;
        if (atomicMin(&g.breaks[v], level) < g.after || g.up[v] == QFZ_NONE) return;
        level = g.up_level[v];
        v = g.up[v];
    }
}

/* The component of v at `level` is too wide. */
static __device__ __forceinline__ void tell_at(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    if (level < g.after) tell(g, first_after(g, v, level), level);
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_tell_blocks(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n) tell_at(g, (uint32_t)v, g.block_breaks[v]);
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_tell_ring(qfz_gpu_forest f, qfz_omega_graph g, const uint32_t *__restrict__ holds_to)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    {
        if (holds_to[i] == QFZ_NONE) continue;
        tell_at(g, qfz_omega_ring_vertex(f, i), holds_to[i] + 1);
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_hang_records(qfz_omega_graph g)
{
    const uint32_t n = *g.n_records;
    QFZ_OMEGA_EACH(i, n) g.at[i] = first_after(g, g.at[i], g.level[i]);
}

/* ---- One band -------------------------------------------------------------------------------- */

/* What every kernel of a band needs. */
struct band_view {
    int band;
    const uint32_t *own_lo, *own_hi; /* of vertices */
    const char *lo, *hi;             /* of records */
};

static band_view view_of(const qfz_omega_values *values, const qfz_omega_graph *g, int band)
{
    const int64_t own = band * g->vertex_room, of_record = band * g->record_room * values->bytes;
    return band_view{band, g->own_lo + own, g->own_hi + own, (const char *)g->lo + of_record,
                     (const char *)g->hi + of_record};
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_start_band(qfz_omega_graph g, band_view b)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x <= QFZ_OMEGA_PASSES) g.n_listed[threadIdx.x] = 0;
    QFZ_OMEGA_EACH(v, n)
    {
        g.range_lo[v] = b.own_lo[v];
        g.range_hi[v] = b.own_hi[v];
    }
}

/* Is T of v too wide? */
static __device__ __forceinline__ bool
is_too_wide(const qfz_omega_graph &g, const qfz_omega_values &values, double limit, uint32_t v)
{
    return values.too_wide(qfz_peek(&g.range_lo[v]), qfz_peek(&g.range_hi[v]), limit);
}

/* A range goes into T of v and of all that v hangs on. */
static __device__ __forceinline__ void spread(const qfz_omega_graph &g,
                                              const qfz_omega_values &values, double limit,
                                              uint32_t v, uint32_t lo, uint32_t hi)
{
    while (v != QFZ_NONE) {
        qfz_omega_widen(&g.range_lo[v], &g.range_hi[v], lo, hi);
        if (is_too_wide(g, values, limit, v)) return;
        v = g.up[v];
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_spread(qfz_omega_values values, qfz_omega_graph g, band_view b)
{
    const double limit = values.limit[b.band];
    const uint64_t n = *g.n_vertices, n_all = n + *g.n_records;
    QFZ_OMEGA_EACH(i, n_all)
    {
        if (i < n) {
            if (b.own_lo[i] <= b.own_hi[i])
                spread(g, values, limit, (uint32_t)i, b.own_lo[i], b.own_hi[i]);
            continue;
        }
        const int64_t r = (int64_t)(i - n);
        spread(g, values, limit, g.at[r], values.read(b.lo, r), values.read(b.hi, r));
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_mark_wide(qfz_omega_values values, qfz_omega_graph g, band_view b)
{
    const double limit = values.limit[b.band];
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        const bool wide = is_too_wide(g, values, limit, (uint32_t)v);
        g.holds[v] = wide ? 0 : QFZ_NONE;
        if (!wide) continue;
        g.held_lo[v] = b.own_lo[v];
        g.held_hi[v] = b.own_hi[v];
        g.range_lo[v] = QFZ_NONE;
        g.range_hi[v] = 0;
        if (g.up[v] != QFZ_NONE) tell(g, g.up[v], max(g.up_level[v], 1u)); /* zones always hold */
    }
}

/* ---- Bisection, as in omega_block.cu.  What it is open for whether a vertex holds with it is
 * listed; in each pass what has been decided leaves the list. */

/* One of them, by its number: vertices first. */
struct item {
    uint32_t v, level; /* what it hangs on, and by which level */
    int64_t record;    /* below 0: it is a vertex */
};

static __device__ __forceinline__ item item_of(const qfz_omega_graph &g, uint32_t n, uint64_t i)
{
    const int64_t r = (int64_t)i - (int64_t)n;
    return r < 0 ? item{g.up[i], g.up_level[i], r} : item{g.at[r], g.level[r], r};
}

static __device__ __forceinline__ void join_item(const qfz_omega_graph &g,
                                                 const qfz_omega_values &values, const band_view &b,
                                                 uint64_t i, const item &it, uint32_t *lo,
                                                 uint32_t *hi)
{
    const bool is_vertex = it.record < 0;
    qfz_omega_widen(&lo[it.v], &hi[it.v], is_vertex ? g.range_lo[i] : values.read(b.lo, it.record),
                    is_vertex ? g.range_hi[i] : values.read(b.hi, it.record));
}

/* Is it open whether what it hangs on holds with it?  What is too wide itself is known to break
 * that. */
static __device__ __forceinline__ bool is_open(const qfz_omega_graph &g, const item &it)
{
    return it.level > g.holds[it.v] && it.level < g.breaks[it.v];
}

/* The first list; what joins at level 0 is there from the start. */
static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_list(qfz_omega_values values, qfz_omega_graph g, band_view b)
{
    const uint32_t n = *g.n_vertices;
    const auto is_listed = [&](uint64_t i) {
        const item it = item_of(g, n, i);
        if (it.v == QFZ_NONE || g.holds[it.v] == QFZ_NONE) return QFZ_NONE;
        if (it.record < 0 && g.holds[i] != QFZ_NONE) return QFZ_NONE;
        if (it.level == 0) join_item(g, values, b, i, it, g.held_lo, g.held_hi);
        return is_open(g, it) ? (uint32_t)i : QFZ_NONE;
    };
    qfz_omega_append((uint64_t)n + *g.n_records, &g.n_listed[0], is_listed,
                     [&](uint32_t to, uint64_t, uint32_t i) { g.list[0][to] = i; });
}

static __device__ __forceinline__ uint32_t middle(const qfz_omega_graph &g, uint32_t v)
{
    return g.holds[v] + (g.breaks[v] - g.holds[v]) / 2;
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_try(qfz_omega_values values, qfz_omega_graph g, band_view b, int pass)
{
    const uint32_t n = *g.n_vertices;
    const uint32_t *const list = g.list[pass % 2];
    uint32_t *const next = g.list[(pass + 1) % 2];
    const auto stays = [&](uint64_t at) {
        const uint32_t i = list[at];
        const item it = item_of(g, n, i);
        if (!is_open(g, it)) return QFZ_NONE;
        if (it.level <= middle(g, it.v)) join_item(g, values, b, i, it, g.range_lo, g.range_hi);
        return i;
    };
    qfz_omega_append(g.n_listed[pass], &g.n_listed[pass + 1], stays,
                     [&](uint32_t to, uint64_t, uint32_t i) { next[to] = i; });
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_judge(qfz_omega_values values, qfz_omega_graph g, band_view b, int pass)
{
    if (!g.n_listed[pass + 1]) return;
    const double limit = values.limit[b.band];
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        if (g.holds[v] == QFZ_NONE || g.breaks[v] <= g.holds[v] + 1) continue;
        const uint32_t lo = min(g.range_lo[v], g.held_lo[v]), hi = max(g.range_hi[v], g.held_hi[v]);
        const uint32_t tried = middle(g, (uint32_t)v);
        g.range_lo[v] = QFZ_NONE;
        g.range_hi[v] = 0;
        if (values.too_wide(lo, hi, limit)) {
            g.breaks[v] = tried;
        } else {
            g.holds[v] = tried;
            g.held_lo[v] = lo;
            g.held_hi[v] = hi;
        }
    }
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_omega_begin(qfz_gpu *gpu, const qfz_gpu_forest *forest, const qfz_omega_graph *graph,
                           int n_bands)
{
    return qfz_launch(gpu, k_begin, qfz_omega_grid(gpu, graph->vertex_room),
                      dim3(QFZ_OMEGA_THREADS), 0, *forest, *graph, n_bands);
}

/* After so many halvings of 0 .. after there is nothing between its ends. */
static int n_passes(uint32_t after)
{
    int n = 1;
    while ((uint64_t)after >> n > 0)
        n++;
    return n;
}

qfz_status qfz_omega_spread(qfz_gpu *gpu, const qfz_omega_values *values,
                            const qfz_omega_graph *graph, int band)
{
    const band_view b = view_of(values, graph, band);
    const dim3 block(QFZ_OMEGA_THREADS),
        vertices = qfz_omega_grid(gpu, graph->vertex_room),
        all = qfz_omega_grid(gpu, graph->vertex_room + graph->record_room);
    QFZ_TRY(qfz_launch(gpu, k_start_band, vertices, block, 0, *graph, b));
    return qfz_launch(gpu, k_spread, all, block, 0, *values, *graph, b);
}

static qfz_status solve_band(qfz_gpu *gpu, const qfz_omega_values *values,
                             const qfz_omega_graph *graph, int band)
{
    const band_view b = view_of(values, graph, band);
    const dim3 block(QFZ_OMEGA_THREADS),
        vertices = qfz_omega_grid(gpu, graph->vertex_room),
        all = qfz_omega_grid(gpu, graph->vertex_room + graph->record_room);
    QFZ_TRY(qfz_omega_spread(gpu, values, graph, band));
    QFZ_TRY(qfz_launch(gpu, k_mark_wide, vertices, block, 0, *values, *graph, b));
    QFZ_TRY(qfz_launch(gpu, k_list, all, block, 0, *values, *graph, b));
    for (int pass = 0; pass < n_passes(graph->after); pass++) {
        QFZ_TRY(qfz_launch(gpu, k_try, all, block, 0, *values, *graph, b, pass));
        QFZ_TRY(qfz_launch(gpu, k_judge, vertices, block, 0, *values, *graph, b, pass));
    }
    return QFZ_OK;
}

qfz_status qfz_omega_solve(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                           const qfz_omega_values *values, const qfz_omega_graph *graph,
                           const uint32_t *d_holds_to)
{
    const dim3 block(QFZ_OMEGA_THREADS);
    QFZ_TRY(
        qfz_launch(gpu, k_tell_blocks, qfz_omega_grid(gpu, graph->vertex_room), block, 0, *graph));
    if (d_holds_to)
        QFZ_TRY(qfz_launch(gpu, k_tell_ring,
                           qfz_omega_grid(gpu, qfz_ring_size(forest->h, forest->w)), block, 0,
                           *forest, *graph, d_holds_to));
    QFZ_TRY(
        qfz_launch(gpu, k_hang_records, qfz_omega_grid(gpu, graph->record_room), block, 0, *graph));
    for (int band = 0; values->limit && band < values->n_bands; band++)
        QFZ_TRY(solve_band(gpu, values, graph, band));
    return QFZ_OK;
}
