/* SPDX-License-Identifier: MIT */
/* omega_block.cu - (alpha, omega)-regions inside blocks of 64 x 64 pixels, in shared memory.
 *
 * The nodes of a block are its pixels and its components (boruvka_parts.cuh).  Pixels have nothing
 * that hangs on them; components have no value of their own.
 *
 *   load      what each node hangs on
 *   gather    T of every component, one round after the other
 *   bisect    where components whose T is too wide break
 *   settle    the region of every pixel as far as the block knows it
 *   record    what hangs on components that go on outside the block
 *
 * A waiting component x, a vertex of the graph of all blocks, joins others at level n or later, n
 * being its lightest edge out of the block.  What hangs on it by a lower level is the vertex
 * itself. Anything else may in truth hang on what x joins, and becomes a record, unless x is broken
 * by then by what it has in the block. */
#include "gpu/omega_parts.cuh"

enum { THREADS = 512, EACH = QFZ_BLOCK_PX / THREADS };

/* A component's kind: the round in which it joined another, or one of these. */
enum { ENDED = 14, VERTEX = 15 };

enum { NOWHERE = 0xffff }; /* of a pixel: it hangs on nothing */

template <typename KEY> struct omega_memory {
    typedef typename qfz_top_of<KEY>::type TOP;
    uint32_t lo[QFZ_COMPS], hi[QFZ_COMPS]; /* of T; where that is too wide, of what is tried */
    uint32_t held_lo[QFZ_COMPS], held_hi[QFZ_COMPS]; /* where T is too wide, of what holds */
    uint32_t breaks[QFZ_COMPS];
    uint32_t holds[QFZ_COMPS]; /* known to hold, QFZ_NONE: T is not too wide; then: first pixel */
    TOP level[QFZ_COMPS];      /* L; of a vertex: n */
    uint16_t up[QFZ_COMPS];
    uint8_t kind[QFZ_COMPS];
    uint32_t n_rounds, n_records, first_record;
};

/* What the functions of one block share; the arrays are of the thread's pixels. */
template <typename KEY> struct omega_work {
    omega_memory<KEY> &m;
    const qfz_gpu_forest &forest;
    const qfz_omega_values &values;
    const qfz_omega_graph &graph;
    uint32_t *root;
    qfz_block_box box;
    uint32_t n; /* components */
    uint32_t up[EACH], level[EACH], value[EACH], region[EACH];
};

template <typename WORK>
static __device__ __forceinline__ int64_t pixel_of(const WORK &w, uint32_t p)
{
    return (int64_t)(w.box.y + (int32_t)(p / QFZ_SIDE)) * w.forest.w + w.box.x +
           (int32_t)(p % QFZ_SIDE);
}

static __device__ __forceinline__ uint32_t place_of(int k)
{
    return threadIdx.x + (uint32_t)k * THREADS;
}

template <typename WORK> static __device__ __forceinline__ bool in_image(const WORK &w, uint32_t p)
{
    return (int32_t)(p / QFZ_SIDE) < w.box.h && (int32_t)(p % QFZ_SIDE) < w.box.w;
}

#define EACH_COMPONENT(w, c) for (uint32_t c = threadIdx.x; c < (w).n; c += THREADS)

/* ---- Load ------------------------------------------------------------------------------------ */

template <typename KEY> static __device__ __forceinline__ void load_components(omega_work<KEY> &w)
{
    typedef typename qfz_top_of<KEY>::type TOP;
    const KEY *const hooks =
        static_cast<const KEY *>(w.forest.hooks) + (int64_t)blockIdx.x * w.forest.comp_room;
    EACH_COMPONENT(w, c)
    {
        const KEY hook = hooks[c];
        const uint32_t step = (uint32_t)hook & 0xffff, round = step >> QFZ_STEP_BITS;
        const bool is_root = round == QFZ_STEP_ROOT;
        w.m.level[c] = (TOP)(hook >> 16);
        w.m.up[c] = (uint16_t)(is_root ? c : step & QFZ_STEP_MASK);
        const uint32_t root_kind = step == QFZ_STEP_ENDED ? ENDED : VERTEX;
        w.m.kind[c] = (uint8_t)(is_root ? root_kind : round);
        w.m.breaks[c] = w.graph.after;
        if (!is_root) qfz_raise(&w.m.n_rounds, round + 1);
    }
}

/* The first component from a on that joins another after `level`. */
template <typename WORK>
static __device__ __forceinline__ uint32_t first_after(const WORK &w, uint32_t a, uint32_t level)
{
    while (w.m.kind[a] < ENDED && w.m.level[a] <= level)
        a = w.m.up[a];
    return a;
}

template <typename KEY> static __device__ __forceinline__ void hang(omega_work<KEY> &w)
{
    typedef typename qfz_top_of<KEY>::type TOP;
    enum { EACH_COMPS = (QFZ_COMPS + THREADS - 1) / THREADS };
    uint32_t comp_up[EACH_COMPS]; /* all look before any changes a word */
#pragma unroll
    for (int k = 0; k < EACH_COMPS; k++) {
        const uint32_t c = place_of(k);
        if (c < w.n && w.m.kind[c] < ENDED) comp_up[k] = first_after(w, w.m.up[c], w.m.level[c]);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t p = place_of(k);
        w.up[k] = NOWHERE;
        w.level[k] = 0;
        if (!in_image(w, p)) continue;
        const int64_t at = pixel_of(w, p);
        const bool valid = !w.values.valid || w.values.valid[at];
        const uint32_t comp = w.forest.comp[at];
        if (!valid || comp == QFZ_NO_COMP) {
            w.root[at] = valid ? (uint32_t)at : QFZ_NONE;
            continue;
        }
        w.level[k] = static_cast<const TOP *>(w.forest.top)[at];
        w.up[k] = first_after(w, comp, w.level[k]);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH_COMPS; k++) {
        const uint32_t c = place_of(k);
        if (c < w.n && w.m.kind[c] < ENDED) w.m.up[c] = (uint16_t)comp_up[k];
    }
}

/* ---- Gather ---------------------------------------------------------------------------------- */

template <typename WORK>
static __device__ __forceinline__ void widen(WORK &w, uint32_t a, uint32_t lo, uint32_t hi)
{
    qfz_omega_widen(&w.m.lo[a], &w.m.hi[a], lo, hi);
}

template <typename WORK> static __device__ __forceinline__ void empty(WORK &w, uint32_t c)
{
    w.m.lo[c] = QFZ_NONE;
    w.m.hi[c] = 0;
}

/* T of every component in one band, and the thread's pixels' values. */
template <typename WORK> static __device__ __forceinline__ void gather(WORK &w, int band)
{
    EACH_COMPONENT(w, c) empty(w, c);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (w.up[k] == NOWHERE) continue;
        w.value[k] = w.values.pixel(band, pixel_of(w, place_of(k)));
        widen(w, w.up[k], w.value[k], w.value[k]);
    }
    __syncthreads();
    for (uint32_t round = 0; round < w.m.n_rounds; round++) {
        EACH_COMPONENT(w, c)
        if (w.m.kind[c] == round) widen(w, w.m.up[c], w.m.lo[c], w.m.hi[c]);
        __syncthreads();
    }
}

/* ---- Bisect ---------------------------------------------------------------------------------- */

/* The level that is tried next. */
template <typename WORK>
static __device__ __forceinline__ uint32_t middle(const WORK &w, uint32_t c)
{
    return w.m.holds[c] + (w.m.breaks[c] - w.m.holds[c]) / 2;
}

template <typename WORK> static __device__ __forceinline__ bool is_wide(const WORK &w, uint32_t c)
{
    return w.m.holds[c] != QFZ_NONE;
}

/* Is it open whether a holds with what joins it at `level`?  Then that is tried, if it comes in by
 * the level that is. */
template <typename WORK>
static __device__ __forceinline__ bool try_item(WORK &w, uint32_t a, uint32_t level, uint32_t lo,
                                                uint32_t hi)
{
    if (level <= w.m.holds[a] || level >= w.m.breaks[a]) return false;
    if (level <= middle(w, a)) widen(w, a, lo, hi);
    return true;
}

/* What joins at level 0 holds from the start.  Is there more? */
template <typename WORK>
static __device__ __forceinline__ bool start_item(WORK &w, uint32_t a, uint32_t level, uint32_t lo,
                                                  uint32_t hi)
{
    if (!is_wide(w, a)) return false;
    if (level == 0) qfz_omega_widen(&w.m.held_lo[a], &w.m.held_hi[a], lo, hi);
    return level > 0;
}

/* Which of the thread's pixels are open yet. */
template <typename WORK> static __device__ __forceinline__ unsigned start_all(WORK &w)
{
    unsigned open = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (w.up[k] != NOWHERE && start_item(w, w.up[k], w.level[k], w.value[k], w.value[k]))
            open |= 1u << k;
    EACH_COMPONENT(w, c)
    if (w.m.kind[c] < ENDED && !is_wide(w, c))
        (void)start_item(w, w.m.up[c], w.m.level[c], w.m.lo[c], w.m.hi[c]);
    return open;
}

template <typename WORK> static __device__ __forceinline__ bool try_all(WORK &w, unsigned *open)
{
    bool any = false;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if ((*open >> k & 1) && !try_item(w, w.up[k], w.level[k], w.value[k], w.value[k]))
            *open &= ~(1u << k);
    EACH_COMPONENT(w, c)
    if (w.m.kind[c] < ENDED && !is_wide(w, c) && is_wide(w, w.m.up[c]))
        any |= try_item(w, w.m.up[c], w.m.level[c], w.m.lo[c], w.m.hi[c]);
    return any || *open;
}

/* Marks components that are too wide; such a one breaks what it joins. */
template <typename WORK> static __device__ __forceinline__ void mark_wide(WORK &w, double limit)
{
    EACH_COMPONENT(w, c)
    {
        const bool wide = w.values.too_wide(w.m.lo[c], w.m.hi[c], limit);
        w.m.holds[c] = wide ? 0 : QFZ_NONE;
        if (!wide) continue;
        empty(w, c);
        w.m.held_lo[c] = QFZ_NONE;
        w.m.held_hi[c] = 0;
        if (w.m.kind[c] < ENDED) qfz_lower(&w.m.breaks[w.m.up[c]], max((uint32_t)w.m.level[c], 1u));
    }
}

/* Does c hold at the level that was tried? */
template <typename WORK>
static __device__ __forceinline__ void judge(WORK &w, uint32_t c, double limit)
{
    const uint32_t lo = min(w.m.lo[c], w.m.held_lo[c]), hi = max(w.m.hi[c], w.m.held_hi[c]);
    const uint32_t tried = middle(w, c);
    empty(w, c);
    if (w.values.too_wide(lo, hi, limit)) {
        w.m.breaks[c] = tried;
    } else {
        w.m.holds[c] = tried;
        w.m.held_lo[c] = lo;
        w.m.held_hi[c] = hi;
    }
}

/* Levels between holds and breaks remain; when nothing comes in at any of them, breaks is s. */
template <typename WORK> static __device__ __forceinline__ void bisect(WORK &w, int band)
{
    const double limit = w.values.limit[band];
    mark_wide(w, limit);
    __syncthreads();
    unsigned open = start_all(w);
    while (__syncthreads_or(try_all(w, &open))) {
        EACH_COMPONENT(w, c)
        if (is_wide(w, c) && w.m.breaks[c] > w.m.holds[c] + 1) judge(w, c, limit);
        __syncthreads();
    }
}

/* ---- Settle ---------------------------------------------------------------------------------- */

/* Is this part of the vertex a itself, if it joins it at all? */
template <typename WORK>
static __device__ __forceinline__ bool is_own(const WORK &w, uint32_t a, uint32_t level)
{
    return level < max((uint32_t)w.m.level[a], 1u);
}

/* Does what hangs on a by `level` become a record, if there is anything? */
template <typename WORK>
static __device__ __forceinline__ bool is_open(const WORK &w, uint32_t a, uint32_t level)
{
    return level < w.m.breaks[a] && w.m.kind[a] == VERTEX && !is_own(w, a, level);
}

/* The component that stands for the region, in this block, of what hangs on a by `level`; NOWHERE:
 * it is alone. */
template <typename WORK>
static __device__ __forceinline__ uint32_t region_of(const WORK &w, uint32_t a, uint32_t level)
{
    uint32_t c = NOWHERE;
    while (level < w.m.breaks[a] && !is_open(w, a, level)) {
        c = a;
        if (w.m.kind[c] >= ENDED) break;
        level = w.m.level[c];
        a = w.m.up[c];
    }
    return c;
}

/* holds[] gives way to first pixels, in the block. */
template <typename WORK> static __device__ __forceinline__ void settle(WORK &w)
{
    EACH_COMPONENT(w, c) w.m.holds[c] = QFZ_NONE;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        w.region[k] = NOWHERE;
        if (w.up[k] == NOWHERE) continue;
        w.region[k] = region_of(w, w.up[k], w.level[k]);
        if (w.region[k] != NOWHERE) qfz_lower(&w.m.holds[w.region[k]], place_of(k));
    }
    __syncthreads();
}

/* ---- Record ---------------------------------------------------------------------------------- */

template <typename KEY>
static __device__ __forceinline__ uint32_t vertex_of(const omega_work<KEY> &w, uint32_t c)
{
    const KEY *const hooks =
        static_cast<const KEY *>(w.forest.hooks) + (int64_t)blockIdx.x * w.forest.comp_room;
    return w.forest.block[blockIdx.x].x + ((uint32_t)hooks[c] & QFZ_STEP_MASK);
}

/* Calls use(a, level, first pixel, lo, hi) for all of the thread's that becomes a record. */
template <typename WORK, typename USE>
static __device__ __forceinline__ void each_record(const WORK &w, USE use)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (w.up[k] != NOWHERE && is_open(w, w.up[k], w.level[k]))
            use(w.up[k], w.level[k], place_of(k), w.value[k], w.value[k]);
    EACH_COMPONENT(w, c)
    if (w.m.kind[c] < ENDED && w.m.holds[c] != QFZ_NONE && is_open(w, w.m.up[c], w.m.level[c]))
        use(w.m.up[c], w.m.level[c], w.m.holds[c], w.m.lo[c], w.m.hi[c]);
}

/* The thread's first record. */
template <typename WORK> static __device__ __forceinline__ uint32_t take_records(WORK &w)
{
    uint32_t n = 0;
    each_record(w, [&](uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) { n++; });
    const uint32_t at = qfz_take(&w.m.n_records, n);
    __syncthreads();
    if (threadIdx.x == 0) w.m.first_record = atomicAdd(w.graph.n_records, w.m.n_records);
    __syncthreads();
    return w.m.first_record + at;
}

template <typename WORK>
static __device__ __forceinline__ void store_records(const WORK &w, int band, uint32_t at)
{
    const qfz_omega_graph &g = w.graph;
    each_record(w, [&](uint32_t a, uint32_t level, uint32_t first, uint32_t lo, uint32_t hi) {
        if (band == 0) {
            g.first[*g.n_vertices + at] = (uint32_t)pixel_of(w, first);
            g.hang[at] = make_uint2(vertex_of(w, a), level);
        }
        w.values.write(g.lo, band * g.record_room + at, lo);
        w.values.write(g.hi, band * g.record_room + at, hi);
        at++;
    });
}

/* Pixels' words: regions that end in the block are named by their first pixels, others are parts of
 * what the graph finds.  held_lo[] gives way to the words of components. */
template <typename WORK> static __device__ __forceinline__ void name(WORK &w, uint32_t at)
{
    const uint32_t records = QFZ_OMEGA_PART | *w.graph.n_vertices;
    uint32_t part[EACH]; /* of pixels that are records */
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        part[k] = QFZ_NONE;
        if (w.up[k] != NOWHERE && is_open(w, w.up[k], w.level[k])) part[k] = records + at++;
    }
    EACH_COMPONENT(w, c)
    {
        if (w.m.holds[c] == QFZ_NONE) continue;
        uint32_t word = (uint32_t)pixel_of(w, w.m.holds[c]);
        if (w.m.kind[c] == VERTEX)
            word = QFZ_OMEGA_PART | vertex_of(w, c);
        else if (w.m.kind[c] < ENDED && is_open(w, w.m.up[c], w.m.level[c]))
            word = records + at++;
        w.m.held_lo[c] = word;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (w.up[k] == NOWHERE) continue;
        const int64_t own = pixel_of(w, place_of(k));
        const uint32_t word = w.region[k] == NOWHERE ? part[k] : w.m.held_lo[w.region[k]];
        w.root[own] = word == QFZ_NONE ? (uint32_t)own : word;
    }
}

/* The range of what is a vertex itself. */
template <typename WORK> static __device__ __forceinline__ void gather_own(WORK &w)
{
    EACH_COMPONENT(w, c)
    if (w.m.kind[c] == VERTEX) empty(w, c);
    __syncthreads();
    const auto offer = [&](uint32_t a, uint32_t level, uint32_t lo, uint32_t hi) {
        if (w.m.kind[a] == VERTEX && level < w.m.breaks[a] && is_own(w, a, level))
            widen(w, a, lo, hi);
    };
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (w.up[k] != NOWHERE) offer(w.up[k], w.level[k], w.value[k], w.value[k]);
    EACH_COMPONENT(w, c)
    if (w.m.kind[c] < ENDED) offer(w.m.up[c], w.m.level[c], w.m.lo[c], w.m.hi[c]);
    __syncthreads();
}

/* Vertices have been told to be empty; some numbers of components were not given to any. */
template <typename WORK>
static __device__ __forceinline__ void store_vertices(const WORK &w, int band)
{
    const qfz_omega_graph &g = w.graph;
    EACH_COMPONENT(w, c)
    {
        const uint32_t first = w.m.holds[c];
        if (w.m.kind[c] != VERTEX || (first == QFZ_NONE && w.m.breaks[c] == g.after)) continue;
        const uint32_t v = vertex_of(w, c);
        if (band == 0) {
            g.first[v] = first == QFZ_NONE ? QFZ_NONE : (uint32_t)pixel_of(w, first);
            g.block_breaks[v] = w.m.breaks[c];
        }
        g.own_lo[band * g.vertex_room + v] = w.m.lo[c];
        g.own_hi[band * g.vertex_room + v] = w.m.hi[c];
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename KEY>
static __global__ void __launch_bounds__(THREADS, 2)
    k_block(qfz_gpu_forest forest, qfz_omega_values values, qfz_omega_graph graph, uint32_t *root)
{
    typedef omega_memory<KEY> memory;
    QFZ_SHARED(memory, m);
    omega_work<KEY> w = {*m,
                         forest,
                         values,
                         graph,
                         root,
                         qfz_block_of(forest, blockIdx.x),
                         forest.block[blockIdx.x].y & 0xffff,
                         {},
                         {},
                         {},
                         {}};
    if (threadIdx.x == 0) m->n_rounds = m->n_records = 0;
    __syncthreads();
    load_components(w);
    __syncthreads();
    hang(w);
    __syncthreads();
    for (int band = 0; band < values.n_bands; band++) {
        gather(w, band);
        if (values.limit) bisect(w, band);
    }
    settle(w);
    const uint32_t at = take_records(w);
    name(w, at);
    for (int band = 0; band < values.n_bands; band++) {
        if (values.n_bands > 1) gather(w, band);
        store_records(w, band, at);
        gather_own(w);
        store_vertices(w, band);
        __syncthreads();
    }
}

size_t qfz_gpu_omega_shared(const qfz_gpu_edges *edges)
{
    return edges->form == QFZ_EDGES_KEYS ? sizeof(omega_memory<unsigned long long>)
                                         : sizeof(omega_memory<uint32_t>);
}

qfz_status qfz_omega_blocks(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                            const qfz_omega_values *values, const qfz_omega_graph *graph,
                            uint32_t *d_root)
{
    const dim3 grid((unsigned)forest->n_blocks), block(THREADS);
    if (forest->wide)
        return qfz_launch(gpu, k_block<unsigned long long>, grid, block,
                          sizeof(omega_memory<unsigned long long>), *forest, *values, *graph,
                          d_root);
    return qfz_launch(gpu, k_block<uint32_t>, grid, block, sizeof(omega_memory<uint32_t>), *forest,
                      *values, *graph, d_root);
}
