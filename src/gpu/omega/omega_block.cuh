/* SPDX-License-Identifier: MIT */
/* omega_block.cuh - pixels, values, shared memory, hooks and ranges, for all steps of
 * omega_block.cu. */
#pragma once

#include "gpu/omega/omega_parts.cuh"
#include "gpu/device/warp.cuh"

enum {
    THREADS = 512,
    EACH = QFZ_FOREST_BLOCK_PX / THREADS, /* pixels of a thread */
    NOWHERE = QFZ_NO_COMP, /* instead of a component: one that ends, and breaks at level 1 */
    NO_NUMBER = 0xffff     /* instead of a number of a component */
};

/* ---- Pixels of a thread ---------------------------------------------------------------------- */

/* Prevents the compiler from unpacking a word early into two registers, of which there are too few.
 * Emits no instruction. */
QFZ_DEVICE uint32_t as_late(uint32_t word)
{
    asm volatile("" : "+r"(word));
    return word;
}

/* The pixels of a thread, for levels of 16 bits: the component to which each is attached, the
 * level, and the pixel's value. */
struct short_pixels {
    enum { LOWER_HALF = 0x4410 }; /* by a mask, an address would take one instruction more */
    uint32_t at_level[EACH], pair[EACH / 2];

    QFZ_DEVICE uint32_t up(int k) const
    {
        return __byte_perm(as_late(at_level[k]), 0, LOWER_HALF);
    }
    QFZ_DEVICE uint32_t level(int k) const
    {
        return as_late(at_level[k]) >> 16;
    }
    QFZ_DEVICE uint32_t value(int k) const
    {
        return k % 2 ? as_late(pair[k / 2]) >> 16 : as_late(pair[k / 2]) & 0xffff;
    }
    QFZ_DEVICE void set_hang(int k, uint32_t up, uint32_t level)
    {
        at_level[k] = level << 16 | up;
    }
    QFZ_DEVICE void set_value(int k, uint32_t word) /* in ascending order */
    {
        pair[k / 2] = k % 2 ? pair[k / 2] | word << 16 : word;
    }
};

struct word_pixels {
    uint32_t ups[EACH], levels[EACH], values[EACH];

    QFZ_DEVICE uint32_t up(int k) const
    {
        return ups[k];
    }
    QFZ_DEVICE uint32_t level(int k) const
    {
        return levels[k];
    }
    QFZ_DEVICE uint32_t value(int k) const
    {
        return values[k];
    }
    QFZ_DEVICE void set_hang(int k, uint32_t up, uint32_t level)
    {
        ups[k] = up;
        levels[k] = level;
    }
    QFZ_DEVICE void set_value(int k, uint32_t word)
    {
        values[k] = word;
    }
};

/* ---- Values ---------------------------------------------------------------------------------- */

/* VALUE: the type of the raster's only band if levels have 16 bits; else any_value. */
struct any_value {
};

template <typename VALUE> struct value_kind {
    typedef uint32_t KEY;
    typedef short_pixels PIXELS;
    enum { BLOCKS = QFZ_SM_THREADS / THREADS }; /* on a multiprocessor */

    /* True if a range is too wide; differences of this type are integers. */
    struct limit {
        uint32_t most;

        __device__ explicit limit(double omega) : most((uint32_t)min(omega, 65535.0))
        {
        }
        QFZ_DEVICE bool operator()(const qfz_omega_values &, uint2 range) const
        {
            return range.x < range.y && range.y - range.x > most;
        }
    };
};

template <> struct value_kind<any_value> {
    typedef unsigned long long KEY;
    typedef word_pixels PIXELS;
    enum { BLOCKS = 2 };

    struct limit {
        double most;

        __device__ explicit limit(double omega) : most(omega)
        {
        }
        QFZ_DEVICE bool operator()(const qfz_omega_values &values, uint2 range) const
        {
            return values.too_wide(range.x, range.y, most);
        }
    };
};

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A node of any thread. */
template <typename LEVEL> struct __align__(4 * sizeof(LEVEL)) omega_node
{
    LEVEL at, level, lo, hi; /* the component to which it is attached, L, the range of its T */

    static QFZ_DEVICE omega_node of(uint32_t a, uint32_t l, uint2 range)
    {
        return omega_node{(LEVEL)a, (LEVEL)l, (LEVEL)range.x, (LEVEL)range.y};
    }
};

/* What becomes of a node that is attached to component a: by a level up to `in`, it is in the
 * region of a in the block.  By a level up to `out`, it is a record, which may be in the region of
 * the vertex a in the tile.  By any other level, it is in no region of a. */
template <typename LEVEL> struct __align__(2 * sizeof(LEVEL)) level_ends
{
    LEVEL in, out;
};

template <typename VALUE> struct omega_memory {
    typedef typename value_kind<VALUE>::KEY KEY;
    typedef typename qfz_top_of<KEY>::type LEVEL;
    typedef omega_node<LEVEL> NODE;
    KEY hook[QFZ_COMPS];        /* level << 16 | step (boruvka_parts.cuh) */
    uint2 range[QFZ_COMPS];     /* of T; if T is too wide, of the component that qualifies */
    uint32_t breaks[QFZ_COMPS]; /* as in qfz_omega_vertex */
    union {
        struct {
            LEVEL undecided[QFZ_COMPS]; /* the bin of the first level that breaks it, or all ones */
            NODE listed[THREADS];       /* those with a level in such a bin */
        };
        level_ends<LEVEL> ends[QFZ_COMPS]; /* when all breaks are known */
    };
    uint2 own[QFZ_VERTICES]; /* per vertex: the range of its own pixels */
    union {
        struct { /* of components whose T is too wide: their number, or NO_NUMBER; by it, they */
            uint16_t wide_number[QFZ_COMPS], wide[QFZ_COMPS];
        };
        uint32_t word[QFZ_COMPS]; /* the root word of its region */
    };
    union {
        KEY in_forest[QFZ_COMPS]; /* hooks, before components are attached */
        uint2 bin[QFZ_COMPS];     /* ranges (omega_breaks.cuh) */
        struct {
            uint32_t region[QFZ_COMPS]; /* the component that represents its region in the block */
            uint32_t first[QFZ_COMPS];  /* per region: its first pixel in the block, or QFZ_NONE */
        };
    };
    uint32_t n_wide, n_listed, n_records, first_record;
};

/* The variables of a thread that all steps use.  A thread has EACH adjacent pixels and the
 * components threadIdx.x + j * THREADS; sets of these are bit masks. */
template <typename VALUE> struct omega_work {
    typedef typename value_kind<VALUE>::limit LIMIT;
    typedef typename omega_memory<VALUE>::KEY KEY;
    typedef typename omega_memory<VALUE>::LEVEL LEVEL;
    typedef typename omega_memory<VALUE>::NODE NODE;
    omega_memory<VALUE> &m;
    const qfz_gpu_forest &forest;
    const qfz_omega_values &values;
    const qfz_omega_graph &graph;
    uint32_t *root;
    uint32_t n;    /* number of components */
    int64_t pixel; /* the thread's first pixel */
    int n_px;      /* number of the thread's pixels in the image */

    uint32_t joined;       /* pixels that are in the region of a component */
    uint32_t records;      /* pixels that are records */
    uint32_t record_comps; /* components that are records */
    typename value_kind<VALUE>::PIXELS px;

    QFZ_DEVICE omega_work(omega_memory<VALUE> *memory, const qfz_gpu_forest &f,
                          const qfz_omega_values &v, const qfz_omega_graph &g, uint32_t *d_root)
        : m(*memory), forest(f), values(v), graph(g), root(d_root)
    {
        const qfz_block_box box = qfz_block_of(f, blockIdx.x);
        const int32_t p = (int32_t)(threadIdx.x * EACH), y = p / QFZ_SIDE, x = p % QFZ_SIDE;
        n = f.block[blockIdx.x].y;
        pixel = (int64_t)(box.y + y) * f.w + box.x + x;
        n_px = y < box.h ? max(0, min((int)EACH, box.w - x)) : 0;
        joined = records = record_comps = 0;
    }
};

#define EACH_COMPONENT(w, c) for (uint32_t c = threadIdx.x; c < (w).n; c += THREADS)

/* Calls use(c) for the thread's components of the set. */
template <typename USE> QFZ_DEVICE void each_of(uint32_t comps, USE use)
{
    for (; comps; comps &= comps - 1)
        use(threadIdx.x + ((uint32_t)__ffs((int)comps) - 1) * THREADS);
}

QFZ_DEVICE uint32_t bit_of(uint32_t c)
{
    return 1u << c / THREADS;
}

/* The number in the block of the thread's k-th pixel; pixels are numbered row by row. */
QFZ_DEVICE uint32_t place_of(int k)
{
    return threadIdx.x * EACH + (uint32_t)k;
}

template <typename WORK> QFZ_DEVICE int64_t pixel_at(const WORK &w, uint32_t p)
{
    const uint32_t own = place_of(0);
    return w.pixel + (int64_t)((int32_t)(p / QFZ_SIDE) - (int32_t)(own / QFZ_SIDE)) * w.forest.w +
           (int32_t)(p % QFZ_SIDE) - (int32_t)(own % QFZ_SIDE);
}

/* ---- Hooks ----------------------------------------------------------------------------------- */

template <typename KEY> QFZ_DEVICE uint32_t level_of(KEY hook)
{
    return (uint32_t)(hook >> 16);
}

/* The component to which the node is attached; or the vertex that the component is. */
template <typename KEY> QFZ_DEVICE uint32_t target_of(KEY hook)
{
    return (uint32_t)hook & QFZ_STEP_MASK;
}

template <typename KEY> QFZ_DEVICE uint32_t round_of(KEY hook)
{
    return ((uint32_t)hook & 0xffff) >> QFZ_STEP_BITS;
}

/* True if the node is attached to a component of the block. */
template <typename KEY> QFZ_DEVICE bool joins(KEY hook)
{
    return round_of(hook) != QFZ_STEP_ROOT;
}

template <typename KEY> QFZ_DEVICE bool is_vertex(KEY hook)
{
    return !joins(hook) && ((uint32_t)hook & 0xffff) != QFZ_STEP_ENDED;
}

template <typename WORK>
QFZ_DEVICE level_ends<typename WORK::LEVEL> ends_of(const WORK &w, uint32_t a)
{
    typedef typename WORK::LEVEL LEVEL;
    const auto hook = w.m.hook[a];
    const uint32_t out = w.m.breaks[a] - 1;
    const uint32_t own = is_vertex(hook) ? max(level_of(hook), 1u) - 1 : QFZ_NONE;
    return level_ends<LEVEL>{(LEVEL)min(own, out), (LEVEL)out};
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

QFZ_DEVICE uint2 peek_pair(const uint2 *pair)
{
    const unsigned long long word = *reinterpret_cast<const volatile unsigned long long *>(pair);
    return make_uint2((uint32_t)word, (uint32_t)(word >> 32));
}

/* Extends a range; false if nothing changed, as in most calls.  Ranges only grow, so a stale read
 * costs an atomic operation but loses nothing. */
QFZ_DEVICE bool extend(uint2 *range, uint2 by)
{
    const uint2 seen = peek_pair(range);
    if ((by.x >= seen.x) & (by.y <= seen.y)) return false;
    atomicMin(&range->x, by.x);
    atomicMax(&range->y, by.y);
    return true;
}

template <typename WORK> QFZ_DEVICE uint2 value_range(const WORK &w, int k)
{
    return make_uint2(w.px.value(k), w.px.value(k));
}
