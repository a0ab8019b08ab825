/* SPDX-License-Identifier: MIT */
/* omega_block.cu - (alpha, omega)-regions inside blocks of 64 x 64 pixels, in shared memory.
 *
 * The nodes of a block are its pixels and its components (boruvka_parts.cuh).  Pixels have nothing
 * that hangs on them; components have no value of their own.
 *
 *   load      what each node hangs on; what joins nothing by alpha ends there
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

enum { NOWHERE = 0xffff }; /* instead of a component */

static const uint32_t NOT_WIDE = QFZ_NONE;

/* ---- Values: VALUE is the type of the raster's only band where levels have 16 bits, else
 * any_value. */
struct any_value {
};

template <typename VALUE> struct value_kind {
    typedef uint32_t KEY, RANGE;
    enum { BLOCKS = 3 }; /* on a multiprocessor */

    /* Is a range too wide?  Differences are integers. */
    struct limit {
        uint32_t most;

        __device__ explicit limit(double omega) : most((uint32_t)min(omega, 65535.0))
        {
        }
        __device__ __forceinline__ bool operator()(const qfz_omega_values &, uint2 range) const
        {
            return range.x < range.y && range.y - range.x > most;
        }
    };

    static __device__ __forceinline__ RANGE pack(uint2 range)
    {
        return range.y << 16 | (range.x & 0xffff);
    }
    static __device__ __forceinline__ uint2 unpack(RANGE range)
    {
        return make_uint2(range & 0xffff, range >> 16);
    }
};

template <> struct value_kind<any_value> {
    typedef unsigned long long KEY;
    typedef uint2 RANGE;
    enum { BLOCKS = 2 };

    struct limit {
        double most;

        __device__ explicit limit(double omega) : most(omega)
        {
        }
        __device__ __forceinline__ bool operator()(const qfz_omega_values &values,
                                                   uint2 range) const
        {
            return values.too_wide(range.x, range.y, most);
        }
    };

    static __device__ __forceinline__ RANGE pack(uint2 range)
    {
        return range;
    }
    static __device__ __forceinline__ uint2 unpack(RANGE range)
    {
        return range;
    }
};

/* ---- Memory ---------------------------------------------------------------------------------- */

template <typename VALUE> struct omega_memory {
    typename value_kind<VALUE>::KEY hook[QFZ_COMPS]; /* level << 16 | step (boruvka_parts.cuh) */
    uint2 range[QFZ_COMPS];  /* least and greatest of T; where T is too wide, of what is tried */
    uint2 bounds[QFZ_COMPS]; /* the level that breaks it; the greatest known to hold, or NOT_WIDE */
    union {
        typename value_kind<VALUE>::RANGE held[QFZ_COMPS]; /* where T is too wide, of what holds */
        uint32_t word[QFZ_COMPS];                          /* what its region has in root */
    };
    union {
        uint2 marks[QFZ_COMPS]; /* tried and left, as in qfz_omega_vertex */
        struct {
            uint32_t region[QFZ_COMPS]; /* the component that stands for its region in the block */
            uint32_t first[QFZ_COMPS];  /* of a region: first pixel in the block, QFZ_NONE: none */
        };
    };
    uint32_t n_rounds, n_records, first_record;
};

/* What the functions of one block share.  A thread has EACH pixels in a row and the components
 * threadIdx.x + j * THREADS; sets of either are masks. */
template <typename VALUE> struct omega_work {
    omega_memory<VALUE> &m;
    const qfz_gpu_forest &forest;
    const qfz_omega_values &values;
    const qfz_omega_graph &graph;
    uint32_t *root;
    uint32_t n;                        /* components */
    uint32_t first_vertex, n_vertices; /* of the block's; of the graph */
    int64_t pixel;                     /* the first of the thread's */
    int n_px;                          /* of them in the image */
    uint32_t up[EACH], level[EACH], value[EACH];
    uint32_t joined, records,
        record_comps; /* pixels that are in a region with others, or records */
};

#define EACH_COMPONENT(w, c) for (uint32_t c = threadIdx.x; c < (w).n; c += THREADS)

/* Calls use(c) for the thread's components of the set. */
template <typename USE> static __device__ __forceinline__ void each_of(uint32_t comps, USE use)
{
    for (; comps; comps &= comps - 1)
        use(threadIdx.x + ((uint32_t)__ffs((int)comps) - 1) * THREADS);
}

static __device__ __forceinline__ uint32_t bit_of(uint32_t c)
{
    return 1u << c / THREADS;
}

/* Pixels of the block are numbered row by row. */
static __device__ __forceinline__ uint32_t place_of(int k)
{
    return threadIdx.x * EACH + (uint32_t)k;
}

template <typename WORK>
static __device__ __forceinline__ int64_t pixel_at(const WORK &w, uint32_t p)
{
    const uint32_t own = place_of(0);
    return w.pixel + (int64_t)((int32_t)(p / QFZ_SIDE) - (int32_t)(own / QFZ_SIDE)) * w.forest.w +
           (int32_t)(p % QFZ_SIDE) - (int32_t)(own % QFZ_SIDE);
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

template <typename KEY> static __device__ __forceinline__ uint32_t level_of(KEY hook)
{
    return (uint32_t)(hook >> 16);
}

/* The component that it hangs on, or the vertex that it is. */
template <typename KEY> static __device__ __forceinline__ uint32_t target_of(KEY hook)
{
    return (uint32_t)hook & QFZ_STEP_MASK;
}

template <typename KEY> static __device__ __forceinline__ uint32_t round_of(KEY hook)
{
    return ((uint32_t)hook & 0xffff) >> QFZ_STEP_BITS;
}

/* Does it hang on another component of the block? */
template <typename KEY> static __device__ __forceinline__ bool joins(KEY hook)
{
    return round_of(hook) != QFZ_STEP_ROOT;
}

template <typename KEY> static __device__ __forceinline__ bool is_vertex(KEY hook)
{
    return !joins(hook) && ((uint32_t)hook & 0xffff) != QFZ_STEP_ENDED;
}

/* Does what hangs on a vertex by `level` become a record, if the vertex holds with it?  Else it is
 * the vertex itself. */
template <typename KEY> static __device__ __forceinline__ bool is_outer(KEY hook, uint32_t level)
{
    return is_vertex(hook) && level >= max(level_of(hook), 1u);
}

template <typename WORK>
static __device__ __forceinline__ bool is_record(const WORK &w, uint32_t a, uint32_t level)
{
    return level < w.m.bounds[a].x && is_outer(w.m.hook[a], level);
}

/* ---- Load ------------------------------------------------------------------------------------ */

/* A component that joins others above alpha only has ended. */
template <typename VALUE>
static __device__ __forceinline__ void load_components(omega_work<VALUE> &w)
{
    typedef typename value_kind<VALUE>::KEY KEY;
    const KEY *const hooks =
        static_cast<const KEY *>(w.forest.hooks) + (int64_t)blockIdx.x * w.forest.comp_room;
    EACH_COMPONENT(w, c)
    {
        KEY hook = hooks[c];
        if (joins(hook) && level_of(hook) >= w.graph.after) hook = QFZ_STEP_ENDED;
        if (joins(hook)) qfz_raise(&w.m.n_rounds, round_of(hook) + 1);
        w.m.hook[c] = hook;
        w.m.bounds[c] = make_uint2(w.graph.after, NOT_WIDE);
    }
}

/* The first component from a on that joins another after `level`. */
template <typename WORK>
static __device__ __forceinline__ uint32_t first_after(const WORK &w, uint32_t a, uint32_t level)
{
    auto hook = w.m.hook[a];
    while (joins(hook) && level_of(hook) <= level) {
        a = target_of(hook);
        hook = w.m.hook[a];
    }
    return a;
}

/* All look before any changes a word. */
template <typename VALUE>
static __device__ __forceinline__ void hang_components(omega_work<VALUE> &w)
{
    enum { EACH_COMPS = (QFZ_COMPS + THREADS - 1) / THREADS };
    uint32_t up[EACH_COMPS];
#pragma unroll
    for (uint32_t j = 0; j < (uint32_t)EACH_COMPS; j++) {
        const uint32_t c = threadIdx.x + j * THREADS;
        if (c < w.n && joins(w.m.hook[c]))
            up[j] = first_after(w, target_of(w.m.hook[c]), level_of(w.m.hook[c]));
    }
    __syncthreads();
#pragma unroll
    for (uint32_t j = 0; j < (uint32_t)EACH_COMPS; j++) {
        const uint32_t c = threadIdx.x + j * THREADS;
        if (c < w.n && joins(w.m.hook[c]))
            w.m.hook[c] = (w.m.hook[c] & ~(typename value_kind<VALUE>::KEY)QFZ_STEP_MASK) | up[j];
    }
}

/* EACH items of a plane, those of the thread's pixels; 0 outside the image. */
template <typename T, typename WORK>
static __device__ __forceinline__ void load_row(const WORK &w, const T *plane, uint32_t out[EACH])
{
    struct __align__(EACH * sizeof(T) < 16 ? EACH * sizeof(T) : 16) many
    {
        T item[EACH];
    };
    const T *const row = plane + w.pixel;
    if (w.n_px == EACH && (uintptr_t)row % sizeof(many) == 0) {
        const many all = *reinterpret_cast<const many *>(row);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            out[k] = all.item[k];
        return;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        out[k] = k < w.n_px ? row[k] : 0;
}

/* Invalid pixels of the tile's ring may have components. */
template <typename VALUE> static __device__ __forceinline__ void load_pixels(omega_work<VALUE> &w)
{
    typedef typename qfz_top_of<typename value_kind<VALUE>::KEY>::type TOP;
    uint32_t comp[EACH];
    load_row(w, w.forest.comp, comp);
    load_row(w, static_cast<const TOP *>(w.forest.top), w.level);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const bool valid = k < w.n_px && (!w.values.valid || w.values.valid[w.pixel + k]);
        const bool hangs = valid && comp[k] != QFZ_NO_COMP && w.level[k] < w.graph.after;
        w.up[k] = hangs ? first_after(w, comp[k], w.level[k]) : (uint32_t)NOWHERE;
    }
}

/* The thread's values of a band; one value of an array. */
template <typename VALUE> struct value_io {
    template <typename WORK> static __device__ __forceinline__ void load(WORK &w, int)
    {
        load_row(w, static_cast<const VALUE *>(w.values.pixels), w.value);
#pragma unroll
        for (int k = 0; k < EACH; k++)
            w.value[k] ^= w.values.flip;
    }
    template <typename WORK>
    static __device__ __forceinline__ void store(const WORK &w, void *array, int64_t i,
                                                 uint32_t word)
    {
        static_cast<VALUE *>(array)[i] = (VALUE)(word ^ w.values.flip);
    }
};

template <> struct value_io<any_value> {
    template <typename WORK> static __device__ __forceinline__ void load(WORK &w, int band)
    {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (w.up[k] != NOWHERE) w.value[k] = w.values.pixel(band, w.pixel + k);
    }
    template <typename WORK>
    static __device__ __forceinline__ void store(const WORK &w, void *array, int64_t i,
                                                 uint32_t word)
    {
        w.values.write(array, i, word);
    }
};

/* ---- Gather ---------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint2 peek_pair(const uint2 *pair)
{
    const unsigned long long word = *reinterpret_cast<const volatile unsigned long long *>(pair);
    return make_uint2((uint32_t)word, (uint32_t)(word >> 32));
}

/* Most calls change nothing; ranges only grow, so that a stale one costs atomic operations. */
template <typename WORK> static __device__ __forceinline__ void widen(WORK &w, uint32_t a, uint2 by)
{
    const uint2 seen = peek_pair(&w.m.range[a]);
    if ((by.x >= seen.x) & (by.y <= seen.y)) return;
    atomicMin(&w.m.range[a].x, by.x);
    atomicMax(&w.m.range[a].y, by.y);
}

template <typename WORK> static __device__ __forceinline__ uint2 value_range(const WORK &w, int k)
{
    return make_uint2(w.value[k], w.value[k]);
}

/* T of every component in one band, and the thread's pixels' values. */
template <typename VALUE>
static __device__ __forceinline__ void gather(omega_work<VALUE> &w, int band)
{
    EACH_COMPONENT(w, c) w.m.range[c] = make_uint2(QFZ_NONE, 0);
    value_io<VALUE>::load(w, band);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (w.up[k] != NOWHERE) widen(w, w.up[k], value_range(w, k));
    __syncthreads();
    for (uint32_t round = 0; round < w.m.n_rounds; round++) {
        EACH_COMPONENT(w, c)
        if (round_of(w.m.hook[c]) == round) widen(w, target_of(w.m.hook[c]), w.m.range[c]);
        __syncthreads();
    }
}

/* ---- Bisect ---------------------------------------------------------------------------------- */

/* What the thread has not decided: pixels and components of which it is open whether what they hang
 * on holds with them, and components whose T is too wide. */
struct undecided {
    uint32_t pixels, parts, wide;
};

/* Marks components that are too wide; such a one breaks what it joins. */
template <typename WORK, typename LIMIT>
static __device__ __forceinline__ uint32_t mark_wide(WORK &w, const LIMIT &is_too_wide)
{
    uint32_t wide = 0;
    EACH_COMPONENT(w, c)
    {
        const bool is_wide = is_too_wide(w.values, w.m.range[c]);
        w.m.bounds[c].y = is_wide ? 0 : NOT_WIDE;
        if (!is_wide) continue;
        wide |= bit_of(c);
        w.m.range[c] = make_uint2(QFZ_NONE, 0);
        w.m.marks[c] = make_uint2(0, QFZ_NONE);
        const auto hook = w.m.hook[c];
        if (joins(hook))
            qfz_lower(&w.m.bounds[target_of(hook)].x, max(level_of(hook), 1u)); /* zones hold */
    }
    return wide;
}

/* Is it open whether a holds with what joins it at `level`? */
static __device__ __forceinline__ bool is_open(uint2 bounds, uint32_t level)
{
    return (level > bounds.y) & (level < bounds.x); /* never where a is not too wide */
}

/* What joins at level 0 is there from the start; the rest is left. */
template <typename WORK>
static __device__ __forceinline__ bool start_part(WORK &w, uint32_t a, uint32_t level, uint2 range)
{
    const uint2 bounds = w.m.bounds[a];
    const bool open = is_open(bounds, level);
    if (open)
        qfz_lower(&w.m.marks[a].y, level);
    else if (level == 0 && bounds.y == 0)
        widen(w, a, range);
    return open;
}

/* If it is open, what joins by the middle of the levels in question is tried, the rest is left. */
template <typename WORK>
static __device__ __forceinline__ bool try_part(WORK &w, uint32_t a, uint32_t level, uint2 range)
{
    const uint2 bounds = w.m.bounds[a], marks = peek_pair(&w.m.marks[a]),
                seen = peek_pair(&w.m.range[a]);
    if (!is_open(bounds, level)) return false;
    if (level - bounds.y - 1 > (bounds.x - bounds.y - 2) / 2) {
        if (level < marks.y) atomicMin(&w.m.marks[a].y, level);
    } else if ((range.x < seen.x) | (range.y > seen.y) | (level > marks.x)) { /* few are */
        atomicMin(&w.m.range[a].x, range.x);
        atomicMax(&w.m.range[a].y, range.y);
        atomicMax(&w.m.marks[a].x, level);
    }
    return true;
}

/* Calls use(what it hangs on, level, range) for all that the thread has not decided; what it is
 * true of stays so. */
template <typename WORK, typename USE>
static __device__ __forceinline__ void each_open(WORK &w, undecided &u, USE use)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if ((u.pixels >> k & 1) && !use(w.up[k], w.level[k], value_range(w, k)))
            u.pixels &= ~(1u << k);
    each_of(u.parts, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        if (!use(target_of(hook), level_of(hook), w.m.range[c])) u.parts &= ~bit_of(c);
    });
}

/* Is anything open? */
template <typename WORK> static __device__ __forceinline__ bool try_all(WORK &w, undecided &u)
{
    each_open(w, u, [&](uint32_t a, uint32_t level, uint2 range) {
        return try_part(w, a, level, range);
    });
    return u.pixels | u.parts;
}

/* What was tried holds, and so does all before what is left; or it breaks by the last of it.  Zones
 * hold, but one that is too wide breaks by whatever joins it. */
template <bool FIRST, typename VALUE, typename LIMIT>
static __device__ __forceinline__ void judge(omega_work<VALUE> &w, undecided &u,
                                             const LIMIT &is_too_wide)
{
    typedef value_kind<VALUE> kind;
    each_of(u.wide, [&](uint32_t c) {
        const uint2 marks = w.m.marks[c];
        if (!FIRST && marks.x == 0) { /* nothing was open */
            u.wide &= ~bit_of(c);
            return;
        }
        if (!is_too_wide(w.values, w.m.range[c])) {
            w.m.bounds[c].y = min(marks.y, w.m.bounds[c].x) - 1;
            w.m.held[c] = kind::pack(w.m.range[c]);
        } else {
            w.m.bounds[c].x = FIRST ? 1 : marks.x;
            if (!FIRST) w.m.range[c] = kind::unpack(w.m.held[c]);
        }
        w.m.marks[c] = make_uint2(0, QFZ_NONE);
    });
}

/* Levels between those known to hold and to break remain, at least halved in each turn; some part
 * is open at the first of them, so that something is decided. */
template <typename VALUE>
static __device__ __forceinline__ void bisect(omega_work<VALUE> &w, int band)
{
    const typename value_kind<VALUE>::limit is_too_wide(w.values.limit[band]);
    undecided u = {0, 0, mark_wide(w, is_too_wide)};
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++)
        u.pixels |= (w.up[k] != NOWHERE ? 1u : 0u) << k;
    EACH_COMPONENT(w, c)
    if (joins(w.m.hook[c]) && w.m.bounds[c].y == NOT_WIDE) u.parts |= bit_of(c);
    each_open(w, u, [&](uint32_t a, uint32_t level, uint2 range) {
        return start_part(w, a, level, range);
    });
    __syncthreads();
    judge<true>(w, u, is_too_wide);
    __syncthreads();
    while (__syncthreads_or(try_all(w, u))) {
        judge<false>(w, u, is_too_wide);
        __syncthreads();
    }
}

/* ---- Settle ---------------------------------------------------------------------------------- */

/* The component that stands for the region of c, as far as the block knows it. */
template <typename WORK>
static __device__ __forceinline__ uint32_t region_of(const WORK &w, uint32_t c)
{
    for (;;) {
        const auto hook = w.m.hook[c];
        const uint32_t a = target_of(hook), level = level_of(hook);
        if (!joins(hook) || level >= w.m.bounds[a].x || is_outer(w.m.hook[a], level)) return c;
        c = a;
    }
}

/* Regions, their first pixels in the block, and what becomes a record. */
template <typename WORK> static __device__ __forceinline__ void settle(WORK &w)
{
    w.joined = w.records = w.record_comps = 0;
    EACH_COMPONENT(w, c)
    {
        w.m.region[c] = region_of(w, c);
        w.m.first[c] = QFZ_NONE;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t a = w.up[k], level = w.level[k];
        if (a == NOWHERE || level >= w.m.bounds[a].x) continue;
        if (is_outer(w.m.hook[a], level)) {
            w.records |= 1u << k;
            continue;
        }
        w.joined |= 1u << k;
        qfz_lower(&w.m.first[w.m.region[a]], place_of(k));
    }
    __syncthreads();
    EACH_COMPONENT(w, c)
    {
        const auto hook = w.m.hook[c];
        if (joins(hook) && w.m.first[c] != QFZ_NONE &&
            is_record(w, target_of(hook), level_of(hook)))
            w.record_comps |= bit_of(c);
    }
}

/* ---- Record ---------------------------------------------------------------------------------- */

template <typename WORK>
static __device__ __forceinline__ uint32_t vertex_of(const WORK &w, uint32_t c)
{
    return w.first_vertex + target_of(w.m.hook[c]);
}

/* The thread's first record. */
template <typename WORK> static __device__ __forceinline__ uint32_t take_records(WORK &w)
{
    const uint32_t n = (uint32_t)(__popc(w.records) + __popc(w.record_comps));
    const uint32_t at = qfz_take(&w.m.n_records, n);
    __syncthreads();
    if (threadIdx.x == 0) w.m.first_record = atomicAdd(w.graph.n_records, w.m.n_records);
    __syncthreads();
    return w.m.first_record + at;
}

template <typename WORK>
static __device__ __forceinline__ void store_row(const WORK &w, uint32_t word[EACH])
{
    struct __align__(16) many
    {
        uint32_t item[EACH];
    };
    uint32_t *const row = w.root + w.pixel;
    if (w.values.valid) {
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (k < w.n_px && w.up[k] == NOWHERE && !w.values.valid[w.pixel + k])
                word[k] = QFZ_NONE;
    }
    if (w.n_px == EACH && (uintptr_t)row % sizeof(many) == 0) {
        many all;
#pragma unroll
        for (int k = 0; k < EACH; k++)
            all.item[k] = word[k];
        *reinterpret_cast<many *>(row) = all;
        return;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k < w.n_px) row[k] = word[k];
}

/* What each pixel has in root: regions that end in the block are named by their first pixels,
 * others are parts of what the graph finds. */
template <typename WORK> static __device__ __forceinline__ void name(WORK &w, uint32_t at)
{
    const uint32_t records = QFZ_OMEGA_PART | (w.n_vertices + at);
    uint32_t comp_record = records + (uint32_t)__popc(w.records), word[EACH];
    EACH_COMPONENT(w, c)
    {
        const uint32_t first = w.m.first[c];
        if (first == QFZ_NONE) continue;
        uint32_t part = (uint32_t)pixel_at(w, first);
        if (is_vertex(w.m.hook[c])) part = QFZ_OMEGA_PART | vertex_of(w, c);
        if (w.record_comps & bit_of(c)) part = comp_record++;
        w.m.word[c] = part;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t before = (uint32_t)__popc(w.records & ((1u << k) - 1));
        word[k] = w.records >> k & 1 ? records + before : (uint32_t)w.pixel + (uint32_t)k;
        if (w.joined >> k & 1) word[k] = w.m.word[w.m.region[w.up[k]]];
    }
    store_row(w, word);
}

template <typename VALUE>
static __device__ __forceinline__ void store_records(const omega_work<VALUE> &w, int band,
                                                     uint32_t at)
{
    const qfz_omega_graph &g = w.graph;
    const auto store = [&](uint32_t a, uint32_t level, uint32_t first, uint2 range) {
        if (band == 0) {
            g.first[w.n_vertices + at] = first;
            g.hang[at] = make_uint2(vertex_of(w, a), level);
        }
        value_io<VALUE>::store(w, g.lo, band * g.record_room + at, range.x);
        value_io<VALUE>::store(w, g.hi, band * g.record_room + at, range.y);
        at++;
    };
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (w.records >> k & 1)
            store(w.up[k], w.level[k], (uint32_t)w.pixel + (uint32_t)k, value_range(w, k));
    each_of(w.record_comps, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        store(target_of(hook), level_of(hook), (uint32_t)pixel_at(w, w.m.first[c]), w.m.range[c]);
    });
}

/* The range of what is a vertex itself. */
template <typename WORK> static __device__ __forceinline__ void gather_own(WORK &w)
{
    EACH_COMPONENT(w, c)
    if (is_vertex(w.m.hook[c])) w.m.range[c] = make_uint2(QFZ_NONE, 0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if ((w.joined >> k & 1) && is_vertex(w.m.hook[w.up[k]]))
            widen(w, w.up[k], value_range(w, k));
    EACH_COMPONENT(w, c)
    {
        const auto hook = w.m.hook[c];
        const uint32_t a = target_of(hook), level = level_of(hook);
        if (joins(hook) && is_vertex(w.m.hook[a]) && level < w.m.bounds[a].x &&
            !is_outer(w.m.hook[a], level))
            widen(w, a, w.m.range[c]);
    }
    __syncthreads();
}

/* Vertices have been told to be empty; some numbers of components were not given to any. */
template <typename WORK>
static __device__ __forceinline__ void store_vertices(const WORK &w, int band)
{
    const qfz_omega_graph &g = w.graph;
    EACH_COMPONENT(w, c)
    {
        const uint32_t first = w.m.first[c], breaks = w.m.bounds[c].x;
        if (!is_vertex(w.m.hook[c]) || (first == QFZ_NONE && breaks == g.after)) continue;
        const uint32_t v = vertex_of(w, c);
        if (band == 0) {
            g.first[v] = first == QFZ_NONE ? QFZ_NONE : (uint32_t)pixel_at(w, first);
            g.block_breaks[v] = breaks;
        }
        g.own_lo[band * g.vertex_room + v] = w.m.range[c].x;
        g.own_hi[band * g.vertex_room + v] = w.m.range[c].y;
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename VALUE>
static __global__ void __launch_bounds__(THREADS, value_kind<VALUE>::BLOCKS)
    k_block(qfz_gpu_forest forest, qfz_omega_values values, qfz_omega_graph graph, uint32_t *root)
{
    typedef omega_memory<VALUE> memory;
    QFZ_SHARED(memory, m);
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const int32_t y = (int32_t)place_of(0) / QFZ_SIDE, x = (int32_t)place_of(0) % QFZ_SIDE;
    omega_work<VALUE> w = {*m,
                           forest,
                           values,
                           graph,
                           root,
                           block.y & 0xffff,
                           block.x,
                           *graph.n_vertices,
                           (int64_t)(box.y + y) * forest.w + box.x + x,
                           y < box.h ? max(0, min((int)EACH, box.w - x)) : 0,
                           {},
                           {},
                           {},
                           0,
                           0,
                           0};
    if (threadIdx.x == 0) m->n_rounds = m->n_records = 0;
    __syncthreads();
    load_components(w);
    __syncthreads();
    load_pixels(w);
    hang_components(w);
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

template <typename VALUE>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_forest *forest, const qfz_omega_values *values,
                         const qfz_omega_graph *graph, uint32_t *d_root)
{
    return qfz_launch(gpu, k_block<VALUE>, dim3((unsigned)forest->n_blocks), dim3(THREADS),
                      sizeof(omega_memory<VALUE>), *forest, *values, *graph, d_root);
}

size_t qfz_gpu_omega_shared(const qfz_gpu_edges *edges)
{
    return edges->form == QFZ_EDGES_KEYS ? sizeof(omega_memory<any_value>)
                                         : sizeof(omega_memory<uint16_t>);
}

qfz_status qfz_omega_blocks(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                            const qfz_omega_values *values, const qfz_omega_graph *graph,
                            uint32_t *d_root)
{
    if (forest->wide) return launch<any_value>(gpu, forest, values, graph, d_root);
    if (values->bytes == 1) return launch<uint8_t>(gpu, forest, values, graph, d_root);
    return launch<uint16_t>(gpu, forest, values, graph, d_root);
}
