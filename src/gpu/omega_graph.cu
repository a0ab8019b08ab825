/* SPDX-License-Identifier: MIT */
/* omega_graph.cu - at which levels the vertices of the graph of all blocks break.
 *
 * Vertices hang on vertices, records on vertices; T of a vertex is gathered by climbing from
 * everything that is in it, at most as many steps as there were rounds.  A climb ends at a vertex
 * that is too wide already: whatever it joins is told that it breaks there, and what breaks it
 * before is something that is not too wide itself, from which every climb gets on to it. */
#include "gpu/omega_parts.cuh"

enum { THREADS = 256 };

#define EACH_ITEM(i, n)                                                                            \
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < (n);                       \
         i += (uint64_t)gridDim.x * THREADS)

/* Blocks that go on until as many items are done as the device knows of, at most n. */
static dim3 grid_of(const qfz_gpu *gpu, int64_t n)
{
    const unsigned most = (unsigned)gpu->n_sms * 8, wanted = qfz_blocks(n, THREADS);
    return dim3(wanted < most ? wanted : most);
}

/* The first vertex from v on that joins another after `level`. */
static __device__ __forceinline__ uint32_t first_after(const qfz_omega_graph &g, uint32_t v,
                                                       uint32_t level)
{
    while (g.up[v] != QFZ_NONE && g.up_level[v] <= level)
        v = g.up[v];
    return v;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

static __global__ void __launch_bounds__(THREADS)
    k_begin(qfz_gpu_forest f, qfz_omega_graph g, int n_bands)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.n_records = 0;
    EACH_ITEM(v, n)
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

static __global__ void __launch_bounds__(THREADS) k_tell_blocks(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    EACH_ITEM(v, n) tell_at(g, (uint32_t)v, g.block_breaks[v]);
}

static __global__ void __launch_bounds__(THREADS)
    k_tell_ring(qfz_gpu_forest f, qfz_omega_graph g, const uint32_t *__restrict__ holds_to)
{
    EACH_ITEM(i, (uint64_t)qfz_ring_count(f.h, f.w))
    {
        if (holds_to[i] == QFZ_NONE) continue;
        const int2 place = qfz_ring_pixel(f.h, f.w, (int32_t)i);
        tell_at(g, f.rim[qfz_rim_place(f, place.y, place.x)].x, holds_to[i] + 1);
    }
}

static __global__ void __launch_bounds__(THREADS) k_hang_records(qfz_omega_graph g)
{
    const uint32_t n = *g.n_records;
    EACH_ITEM(i, n) g.at[i] = first_after(g, g.at[i], g.level[i]);
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

static __device__ __forceinline__ void reset_range(const qfz_omega_graph &g, const band_view &b,
                                                   uint64_t v)
{
    g.range_lo[v] = b.own_lo[v];
    g.range_hi[v] = b.own_hi[v];
}

static __global__ void __launch_bounds__(THREADS) k_start_band(qfz_omega_graph g, band_view b)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x < QFZ_OMEGA_PASSES) g.is_active[threadIdx.x] = 0;
    EACH_ITEM(v, n) reset_range(g, b, v);
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

static __global__ void __launch_bounds__(THREADS)
    k_spread(qfz_omega_values values, qfz_omega_graph g, band_view b)
{
    const double limit = values.limit[b.band];
    const uint64_t n = *g.n_vertices, n_all = n + *g.n_records;
    EACH_ITEM(i, n_all)
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

static __global__ void __launch_bounds__(THREADS)
    k_mark_wide(qfz_omega_values values, qfz_omega_graph g, band_view b)
{
    const double limit = values.limit[b.band];
    const uint32_t n = *g.n_vertices;
    EACH_ITEM(v, n)
    {
        const bool wide = is_too_wide(g, values, limit, (uint32_t)v);
        g.holds[v] = wide ? 0 : QFZ_NONE;
        if (!wide) continue;
        reset_range(g, b, v);
        if (g.up[v] != QFZ_NONE) tell(g, g.up[v], g.up_level[v]);
    }
}

/* ---- Bisection, as in omega_block.cu --------------------------------------------------------- */

static __device__ __forceinline__ uint32_t middle(const qfz_omega_graph &g, uint32_t v)
{
    return g.holds[v] + (g.breaks[v] - g.holds[v]) / 2;
}

/* Would what joins v at `level` have to be looked at?  Then *open tells if it is still open whether
 * v holds with it. */
static __device__ __forceinline__ bool is_tried(const qfz_omega_graph &g, uint32_t v,
                                                uint32_t level, bool *open)
{
    if (v == QFZ_NONE || g.holds[v] == QFZ_NONE || level >= g.breaks[v]) return false;
    *open |= level > g.holds[v];
    return level <= middle(g, v);
}

static __device__ __forceinline__ bool is_over(const qfz_omega_graph &g, int pass)
{
    return pass > 0 && !g.is_active[pass - 1];
}

static __global__ void __launch_bounds__(THREADS)
    k_try(qfz_omega_values values, qfz_omega_graph g, band_view b, int pass)
{
    if (is_over(g, pass)) return;
    const uint64_t n = *g.n_vertices, n_all = n + *g.n_records;
    bool open = false;
    EACH_ITEM(i, n_all)
    {
        const bool is_record = i >= n;
        const int64_t r = (int64_t)(i - n);
        if (!is_record && g.holds[i] != QFZ_NONE) continue;
        const uint32_t v = is_record ? g.at[r] : g.up[i];
        if (!is_tried(g, v, is_record ? g.level[r] : g.up_level[i], &open)) continue;
        const uint32_t lo = is_record ? values.read(b.lo, r) : g.range_lo[i];
        const uint32_t hi = is_record ? values.read(b.hi, r) : g.range_hi[i];
        qfz_omega_widen(&g.range_lo[v], &g.range_hi[v], lo, hi);
    }
    if (__syncthreads_or(open) && threadIdx.x == 0) atomicOr(&g.is_active[pass], 1u);
}

static __global__ void __launch_bounds__(THREADS)
    k_judge(qfz_omega_values values, qfz_omega_graph g, band_view b, int pass)
{
    if (!g.is_active[pass]) return;
    const double limit = values.limit[b.band];
    const uint32_t n = *g.n_vertices;
    EACH_ITEM(v, n)
    {
        if (g.holds[v] == QFZ_NONE) continue;
        if (g.breaks[v] > g.holds[v] + 1) {
            uint32_t *const end =
                values.too_wide(g.range_lo[v], g.range_hi[v], limit) ? g.breaks : g.holds;
            end[v] = middle(g, (uint32_t)v);
        }
        reset_range(g, b, v);
    }
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_omega_begin(qfz_gpu *gpu, const qfz_gpu_forest *forest, const qfz_omega_graph *graph,
                           int n_bands)
{
    return qfz_launch(gpu, k_begin, grid_of(gpu, graph->vertex_room), dim3(THREADS), 0, *forest,
                      *graph, n_bands);
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
    const dim3 block(THREADS), vertices = grid_of(gpu, graph->vertex_room),
                               all = grid_of(gpu, graph->vertex_room + graph->record_room);
    QFZ_TRY(qfz_launch(gpu, k_start_band, vertices, block, 0, *graph, b));
    return qfz_launch(gpu, k_spread, all, block, 0, *values, *graph, b);
}

static qfz_status solve_band(qfz_gpu *gpu, const qfz_omega_values *values,
                             const qfz_omega_graph *graph, int band)
{
    const band_view b = view_of(values, graph, band);
    const dim3 block(THREADS), vertices = grid_of(gpu, graph->vertex_room),
                               all = grid_of(gpu, graph->vertex_room + graph->record_room);
    QFZ_TRY(qfz_omega_spread(gpu, values, graph, band));
    QFZ_TRY(qfz_launch(gpu, k_mark_wide, vertices, block, 0, *values, *graph, b));
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
    const dim3 block(THREADS);
    QFZ_TRY(qfz_launch(gpu, k_tell_blocks, grid_of(gpu, graph->vertex_room), block, 0, *graph));
    if (d_holds_to)
        QFZ_TRY(qfz_launch(gpu, k_tell_ring, grid_of(gpu, qfz_ring_size(forest->h, forest->w)),
                           block, 0, *forest, *graph, d_holds_to));
    QFZ_TRY(qfz_launch(gpu, k_hang_records, grid_of(gpu, graph->record_room), block, 0, *graph));
    for (int band = 0; values->limit && band < values->n_bands; band++)
        QFZ_TRY(solve_band(gpu, values, graph, band));
    return QFZ_OK;
}
