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

namespace
{
/* The parent of v in the forest, and L(v). */
QFZ_DEVICE uint2 hook_of(const qfz_omega_graph &g, uint32_t v)
{
    return *reinterpret_cast<const uint2 *>(&g.vertex[v]);
}

/* The first vertex on the path up from v, v included, that is a root or has L above `level`. */
QFZ_DEVICE uint32_t first_after(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    for (uint2 hook; (hook = hook_of(g, v)).x != QFZ_NONE && hook.y <= level;)
        v = hook.x;
    return v;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_begin(qfz_gpu_forest f, qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.n_records = *g.n_wide = 0;
    QFZ_OMEGA_EACH(v, n)
    {
        const uint2 up = f.up[v];
        /* What is above alpha joins nothing. */
        const bool is_root = (up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT || up.y >= g.after;
        uint32_t at = up.x >> QFZ_UP_BITS;
        for (uint2 next; !is_root && (next = f.up[at], (next.x & QFZ_UP_ROOT) != QFZ_UP_ROOT) &&
                         next.y <= up.y;)
            at = next.x >> QFZ_UP_BITS;
        qfz_omega_vertex vertex = {};
        vertex.up = is_root ? QFZ_NONE : at;
        vertex.up_level = is_root ? QFZ_NONE : up.y;
        vertex.breaks = g.after;
        vertex.holds = QFZ_NONE;
        g.vertex[v] = vertex;
    }
}

/* ---- Known breaks ---------------------------------------------------------------------------- */

/* Marks that v breaks at `level`, and that each vertex above v breaks at the level at which the
 * vertex below is attached.  Stops at a vertex that another thread marked before, because that
 * thread continues upwards. */
QFZ_DEVICE void break_at(const qfz_omega_graph &g, uint32_t v, uint32_t level)
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
QFZ_DEVICE void break_component_at(const qfz_omega_graph &g, uint32_t v, uint32_t level)
{
    if (level < g.after) break_at(g, first_after(g, v, level), level);
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_break_blocks(qfz_omega_graph g)
{
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n) break_component_at(g, (uint32_t)v, g.block_breaks[v]);
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_break_ring(qfz_gpu_forest f, qfz_omega_graph g, const uint32_t *__restrict__ omega_level)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    {
        if (omega_level[i] == QFZ_NONE) continue;
        break_component_at(g, qfz_omega_ring_vertex(f, i), omega_level[i] + 1);
    }
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_attach_records(qfz_omega_graph g)
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

/* The ranges in one band, for all kernels of that band. */
struct band_ranges {
    int band;
    const uint32_t *own_lo, *own_hi; /* of vertices */
    const char *lo, *hi;             /* of records */
};

band_ranges view_of(const qfz_omega_room *room, int band)
{
    const qfz_omega_graph &g = room->graph;
    const int64_t own = band * g.vertex_room, of_record = band * g.record_room * room->values.bytes;
    return band_ranges{band, g.own_lo + own, g.own_hi + own, (const char *)g.lo + of_record,
                       (const char *)g.hi + of_record};
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_start_band(qfz_omega_graph g, band_ranges b)
{
    const uint32_t n = *g.n_vertices;
    if (blockIdx.x == 0 && threadIdx.x == 0) *g.n_wide = 0;
    QFZ_OMEGA_EACH(v, n)
    {
        g.vertex[v].lo = b.own_lo[v];
        g.vertex[v].hi = b.own_hi[v];
    }
}

/* The first vertex that a thread looked at last, and a range that its T has. */
struct known_range {
    uint32_t v, lo, hi;
};

/* Extends the range of T of v and of all vertices above v.  A read may be stale, but ranges only
 * grow: a vertex that reads as too wide is too wide, and what reads as its range belongs to it.
 * Many items in a row have one large component, whose vertex all threads would read. */
QFZ_DEVICE void spread(const qfz_omega_graph &g, const qfz_omega_values &values, double limit,
                       uint32_t v, uint32_t lo, uint32_t hi, known_range *last)
{
    if (v == last->v && lo >= last->lo && hi <= last->hi) return;
    for (bool is_first = true; v != QFZ_NONE; is_first = false) {
        qfz_omega_vertex *const at = &g.vertex[v];
        /* Many threads look at few vertices: first in the multiprocessor's own cache. */
        uint4 seen = *reinterpret_cast<const uint4 *>(&at->up);
        if (lo < seen.z || hi > seen.w) seen = qfz_omega_peek(&at->up);
        if (is_first) *last = known_range{v, min(lo, seen.z), max(hi, seen.w)};
        if (lo >= seen.z && hi <= seen.w) return;
        if (lo < seen.z) atomicMin(&at->lo, lo);
        if (hi > seen.w) atomicMax(&at->hi, hi);
        if (values.too_wide(min(lo, seen.z), max(hi, seen.w), limit)) return;
        v = seen.x;
    }
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_spread(qfz_omega_values values, qfz_omega_graph g, band_ranges b)
{
    const double limit = values.limit[b.band];
    const uint64_t n = *g.n_vertices, n_all = n + *g.n_records;
    known_range last = {QFZ_NONE, 0, 0};
    QFZ_OMEGA_EACH(i, n_all)
    {
        if (i < n) { /* the range of T of i begins with that of its own pixels */
            if (b.own_lo[i] <= b.own_hi[i])
                spread(g, values, limit, hook_of(g, (uint32_t)i).x, b.own_lo[i], b.own_hi[i],
                       &last);
            continue;
        }
        const int64_t r = (int64_t)(i - n);
        spread(g, values, limit, g.attached[r], values.read(b.lo, r), values.read(b.hi, r), &last);
    }
}

/* Lists the vertices whose T is too wide.  A vertex's own pixels qualify. */
__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_mark_wide(qfz_omega_values values, qfz_omega_graph g, band_ranges b)
{
    const double limit = values.limit[b.band];
    const auto is_wide = [&](uint64_t v) {
        qfz_omega_vertex *const at = &g.vertex[v];
        const qfz_omega_vertex seen = *at;
        const bool wide = values.too_wide(seen.lo, seen.hi, limit);
        if (!wide && seen.holds != QFZ_NONE) at->holds = QFZ_NONE; /* in another band it was */
        if (!wide) return QFZ_NONE;
        at->holds = 0;
        at->lo = b.own_lo[v];
        at->hi = b.own_hi[v];
        /* Components of level 0 always qualify. */
        if (seen.up != QFZ_NONE) break_at(g, seen.up, max(seen.up_level, 1u));
        return (uint32_t)v;
    };
    qfz_omega_append(*g.n_vertices, g.n_wide, is_wide, [&](uint32_t to, uint64_t, uint32_t v) {
        g.wide[to] = v;
        g.vertex[v].number = to;
    });
}

/* ---- Bins ------------------------------------------------------------------------------------ */

/* The same algorithm as in omega_breaks.cuh. */

enum { MIN_BINS = 4, MAX_BINS = 64 };

/* The wide vertices that have bins, and the levels of a bin: 1 << shift. */
struct turn {
    uint32_t first, end; /* by their numbers; none if there is nothing to decide */
    uint32_t n_bins, shift;
    bool is_first, is_last; /* first: level 0 has a bin of its own */
};

/* The shift in the first turn: one bin is for level 0.  `last` is the greatest level. */
__host__ QFZ_DEVICE uint32_t first_shift(uint32_t last, uint32_t n_bins)
{
    uint32_t shift = 0;
    while ((last - 1) >> shift >= n_bins - 1)
        shift++;
    return shift;
}

/* The shift in the next turn, in which the levels of one bin have n_bins bins. */
__host__ QFZ_DEVICE uint32_t next_shift(uint32_t shift, uint32_t n_bins)
{
    uint32_t least = 0;
    while ((uint64_t)n_bins << least < (uint64_t)1 << shift)
        least++;
    return least;
}

/* Turn `number` of a batch of vertices. */
QFZ_DEVICE turn turn_of(const qfz_omega_graph &g, uint32_t batch, uint32_t number)
{
    turn t = {};
    const uint32_t n = *g.n_wide, last = g.after - 1, room = (uint32_t)g.bin_room;
    if (n == 0 || last == 0) return t;
    t.n_bins = max((uint32_t)MIN_BINS, min(min((uint32_t)MAX_BINS, g.after), room / n));
    t.shift = first_shift(last, t.n_bins);
    for (uint32_t i = 0; i < number; i++) {
        if (t.shift == 0) return t;
        t.shift = next_shift(t.shift, t.n_bins);
    }
    t.is_first = number == 0;
    t.is_last = t.shift == 0;
    t.first = min(n, batch * (room / t.n_bins));
    t.end = min(n, t.first + room / t.n_bins);
    return t;
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS) k_empty_bins(qfz_omega_graph g, uint32_t batch)
{
    const turn t = turn_of(g, batch, 0);
    QFZ_OMEGA_EACH(i, (t.end - t.first) * t.n_bins) g.bin[i] = make_uint2(QFZ_NONE, 0);
}

/* The vertex that a thread looked at last, since many items in a row are attached to one: its words
 * from `breaks` on, which no thread changes now; and one of its bins, or QFZ_NONE, with a range
 * that the bin has. */
struct looked_at {
    uint32_t v;
    uint4 state;
    uint32_t bin;
    uint2 range;
};

/* An item is a vertex with all of its T, i < n, or record i - n: the vertex to which it is
 * attached, its L, and two words for its range. */
QFZ_DEVICE uint4 item_at(const qfz_omega_graph &g, uint32_t n, uint32_t i)
{
    const uint2 to = i < n ? hook_of(g, i) : qfz_omega_attached(g, i - n);
    return make_uint4(to.x, to.y, QFZ_NONE, 0);
}

/* Adds its range in the band, unless it is a vertex whose T is too wide. */
QFZ_DEVICE void add_range(const qfz_omega_values &values, const qfz_omega_graph &g,
                          const band_ranges &b, uint32_t n, uint32_t i, uint4 *item)
{
    if (i < n && g.vertex[i].holds != QFZ_NONE) return;
    item->z = i < n ? g.vertex[i].lo : values.read(b.lo, i - n);
    item->w = i < n ? g.vertex[i].hi : values.read(b.hi, i - n);
}

/* The bin of an item's level, or QFZ_NONE if it is known whether that level breaks the vertex. */
QFZ_DEVICE uint32_t bin_of(const qfz_omega_graph &g, const turn &t, uint32_t v, uint32_t level,
                           looked_at *last)
{
    if (v != last->v) {
        last->v = v;
        last->state = *reinterpret_cast<const uint4 *>(&g.vertex[v].breaks);
        last->bin = QFZ_NONE;
    }
    const uint32_t breaks = last->state.x, holds = last->state.y, place = last->state.z - t.first;
    const bool at_0 = t.is_first && level == 0;
    if (holds == QFZ_NONE || place >= t.end - t.first) return QFZ_NONE;
    if (level >= breaks || (level <= holds && !at_0)) return QFZ_NONE;
    const uint32_t bin = at_0 ? 0 : ((level - holds - 1) >> t.shift) + t.is_first;
    return bin * (t.end - t.first) + place;
}

/* Extends a bin of the vertex, unless this bin or one of lower levels has the range already. */
QFZ_DEVICE void extend_bin(const qfz_omega_graph &g, uint32_t bin, uint2 by, looked_at *last)
{
    if (bin >= last->bin && by.x >= last->range.x && by.y <= last->range.y) return;
    uint2 *const range = &g.bin[bin];
    const uint2 seen = __ldcg(range);
    if (by.x < seen.x) atomicMin(&range->x, by.x);
    if (by.y > seen.y) atomicMax(&range->y, by.y);
    last->bin = bin;
    last->range = make_uint2(min(by.x, seen.x), max(by.y, seen.y));
}

/* Items that a block of threads has listed, in memory of bins that are not in use; the first entry
 * has their number. */
struct item_list {
    uint4 *entries;
    uint32_t room; /* of items; 0: there is no list */
};

QFZ_DEVICE item_list list_of(const qfz_omega_graph &g, const turn &t)
{
    const uint64_t in_use = ((uint64_t)(t.end - t.first) * t.n_bins + 1) / 2;
    const uint64_t entries = max((uint64_t)g.bin_room / 2, in_use) - in_use;
    const uint64_t each = entries / gridDim.x;
    return item_list{reinterpret_cast<uint4 *>(g.bin) + in_use + blockIdx.x * each,
                     each ? (uint32_t)each - 1 : 0};
}

/* Puts items into bins.  A block of threads lists its own; later turns need no others. */
__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_put(qfz_omega_values values, qfz_omega_graph g, band_ranges b, uint32_t batch,
          uint32_t number)
{
    const turn t = turn_of(g, batch, number);
    __shared__ uint32_t n_listed;
    if (t.first == t.end) return;
    const item_list list = list_of(g, t);
    const uint32_t n_before = t.is_first || list.room == 0 ? QFZ_NONE : list.entries[0].x;
    const bool from_list = n_before <= list.room; /* all of them fitted */
    const uint32_t n = *g.n_vertices;
    const uint32_t end = from_list ? n_before : n + *g.n_records; /* below QFZ_OMEGA_PART */
    const uint32_t step = (from_list ? 1 : gridDim.x) * QFZ_OMEGA_THREADS;
    looked_at last = {QFZ_NONE, {}, QFZ_NONE, {}};
    if (threadIdx.x == 0) n_listed = 0;
    __syncthreads();
    for (uint32_t i = (from_list ? 0 : blockIdx.x * QFZ_OMEGA_THREADS) + threadIdx.x; i < end;
         i += step) {
        uint4 it = from_list ? list.entries[1 + i] : item_at(g, n, i);
        const uint32_t bin = it.x == QFZ_NONE ? QFZ_NONE : bin_of(g, t, it.x, it.y, &last);
        if (bin == QFZ_NONE) continue;
        if (!from_list) add_range(values, g, b, n, i, &it);
        extend_bin(g, bin, make_uint2(it.z, it.w), &last);
        if (from_list || t.is_last) continue;
        const uint32_t at = atomicAdd(&n_listed, 1u);
        if (at < list.room) list.entries[1 + at] = it;
    }
    __syncthreads();
    if (!from_list && threadIdx.x == 0 && list.room > 0) list.entries[0].x = n_listed;
}

/* Decides for vertex v, whose bins are t.end - t.first places apart: it qualifies at all levels
 * before the first bin with which it is too wide, and not at the last level of this bin.
 * Components of level 0 always qualify. */
QFZ_DEVICE void judge(const qfz_omega_values &values, const turn &t, double limit, const uint2 *bin,
                      qfz_omega_vertex *v)
{
    uint32_t i = 0;
    for (; i < t.n_bins; i++) {
        const uint2 more = bin[i * (t.end - t.first)];
        const uint32_t lo = min(v->lo, more.x), hi = max(v->hi, more.y);
        if (values.too_wide(lo, hi, limit)) break;
        v->lo = lo;
        v->hi = hi;
    }
    if (i == t.n_bins) {
        v->holds = v->breaks - 1;
    } else if (t.is_first && i == 0) {
        v->breaks = 1;
    } else {
        i -= t.is_first;
        v->breaks = v->holds + min(v->breaks - v->holds - 1, ((i + 1) << t.shift) - 1) + 1;
        v->holds += i << t.shift;
    }
}

__global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_judge(qfz_omega_values values, qfz_omega_graph g, band_ranges b, uint32_t batch,
            uint32_t number)
{
    const turn t = turn_of(g, batch, number);
    const double limit = values.limit[b.band];
    QFZ_OMEGA_EACH(i, t.end - t.first)
    {
        qfz_omega_vertex *const at = &g.vertex[g.wide[t.first + i]];
        qfz_omega_vertex v = *at;
        judge(values, t, limit, g.bin + i, &v);
        *at = v;
        for (uint32_t k = 0; !t.is_last && k < t.n_bins; k++)
            g.bin[k * (t.end - t.first) + i] = make_uint2(QFZ_NONE, 0);
    }
}
} // namespace

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_omega_begin(qfz_gpu *gpu, const qfz_omega_room *room)
{
    return qfz_omega_launch(gpu, k_begin, room->graph.vertex_room, room->forest, room->graph);
}

/* Upper bound of the turns after which no level is undecided. */
static uint32_t n_turns(uint32_t after)
{
    uint32_t n = 0;
    if (after < 2) return 0;
    for (uint32_t shift = first_shift(after - 1, MIN_BINS);; shift = next_shift(shift, MIN_BINS)) {
        n++;
        if (shift == 0) return n;
    }
}

static qfz_status find_breaks(qfz_gpu *gpu, const qfz_omega_room *room, const band_ranges *b)
{
    const qfz_omega_values &values = room->values;
    const qfz_omega_graph &g = room->graph;
    const int64_t n = g.vertex_room, n_all = n + g.record_room, bins = g.bin_room / MIN_BINS;
    const uint32_t turns = n_turns(g.after);
    for (uint32_t batch = 0; batch * bins < n; batch++) {
        QFZ_TRY(qfz_omega_launch(gpu, k_empty_bins, n_all, g, batch));
        for (uint32_t i = 0; i < turns; i++) {
            QFZ_TRY(qfz_omega_launch(gpu, k_put, n_all, values, g, *b, batch, i));
            QFZ_TRY(qfz_omega_launch(gpu, k_judge, n, values, g, *b, batch, i));
        }
    }
    return QFZ_OK;
}

qfz_status qfz_omega_spread(qfz_gpu *gpu, const qfz_omega_room *room, int band)
{
    const qfz_omega_graph &g = room->graph;
    const band_ranges b = view_of(room, band);
    QFZ_TRY(qfz_omega_launch(gpu, k_start_band, g.vertex_room, g, b));
    return qfz_omega_launch(gpu, k_spread, g.vertex_room + g.record_room, room->values, g, b);
}

static qfz_status solve_band(qfz_gpu *gpu, const qfz_omega_room *room, int band)
{
    const qfz_omega_graph &g = room->graph;
    const int64_t n = g.vertex_room;
    const band_ranges b = view_of(room, band);
    /* The first band was started when vertices were set. */
    if (band > 0) QFZ_TRY(qfz_omega_launch(gpu, k_start_band, n, g, b));
    QFZ_TRY(qfz_omega_launch(gpu, k_spread, n + g.record_room, room->values, g, b));
    QFZ_TRY(qfz_omega_launch(gpu, k_mark_wide, n, room->values, g, b));
    return find_breaks(gpu, room, &b);
}

qfz_status qfz_omega_solve(qfz_gpu *gpu, const qfz_omega_room *room, const uint32_t *d_omega_level)
{
    const qfz_gpu_forest &f = room->forest;
    const qfz_omega_graph &g = room->graph;
    QFZ_TRY(qfz_omega_launch(gpu, k_break_blocks, g.vertex_room, g));
    if (d_omega_level)
        QFZ_TRY(qfz_omega_launch(gpu, k_break_ring, qfz_ring_size(f.h, f.w), f, g, d_omega_level));
    QFZ_TRY(qfz_omega_launch(gpu, k_attach_records, g.record_room, g));
    for (int band = 0; room->values.limit && band < room->values.n_bands; band++)
        QFZ_TRY(solve_band(gpu, room, band));
    return QFZ_OK;
}
