/* SPDX-License-Identifier: MIT */
/* omega_parts.cuh - what the parts of omega.cuh share: ranges of values, nodes, records. */
#ifndef QFZ_GPU_OMEGA_PARTS_CUH
#define QFZ_GPU_OMEGA_PARTS_CUH

#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/omega/omega.cuh"

/* ---- Values: as unsigned words of the same order, so that ranges grow by atomic operations.  An
 * empty range has lo > hi. */
struct qfz_omega_values {
    const void *pixels; /* planes of n_px */
    const uint8_t *valid;
    const double *limit; /* omega of each band, in device memory; NULL: none */
    int64_t n_px;
    int n_bands, bytes; /* of a value */
    bool is_float;
    uint32_t flip; /* what turns signed values into unsigned ones */

    /* i-th value of an array of the raster's type. */
    __device__ __forceinline__ uint32_t read(const void *array, int64_t i) const
    {
        if (bytes == 1) return static_cast<const uint8_t *>(array)[i] ^ flip;
        if (bytes == 2) return static_cast<const uint16_t *>(array)[i] ^ flip;
        const uint32_t raw = static_cast<const uint32_t *>(array)[i];
        if (!is_float) return raw ^ flip;
        return raw >> 31 ? ~raw : raw | 1u << 31;
    }

    __device__ __forceinline__ void write(void *array, int64_t i, uint32_t word) const
    {
        if (bytes == 1)
            static_cast<uint8_t *>(array)[i] = (uint8_t)(word ^ flip);
        else if (bytes == 2)
            static_cast<uint16_t *>(array)[i] = (uint16_t)(word ^ flip);
        else
            static_cast<uint32_t *>(array)[i] = is_float ? to_bits(word) : word ^ flip;
    }

    __device__ __forceinline__ uint32_t pixel(int band, int64_t p) const
    {
        return read(static_cast<const char *>(pixels) + band * n_px * bytes, p);
    }

    static __device__ __forceinline__ uint32_t to_bits(uint32_t word)
    {
        return word >> 31 ? word & ~(1u << 31) : ~word;
    }

    /* No value is less, or greater. */
    __device__ __forceinline__ uint32_t least() const
    {
        return is_float ? ~0xff800000u : 0;
    }

    __device__ __forceinline__ uint32_t greatest() const
    {
        return is_float ? 0xff800000u : 0xffffffffu >> (32 - 8 * bytes);
    }

    /* As qfz_too_wide() in src/level.c, of one band. */
    __device__ __forceinline__ bool too_wide(uint32_t lo, uint32_t hi, double most) const
    {
        if (lo >= hi) return false;
        if (!is_float) return (double)(hi - lo) > most;
        const float low = __uint_as_float(to_bits(lo)), high = __uint_as_float(to_bits(hi));
        return low < high && (double)high - (double)low > most;
    }
};

/* ---- Kernels over items: blocks that go on until as many are done as the device knows of, at most
 * n. */
enum { QFZ_OMEGA_THREADS = 256 };

#define QFZ_OMEGA_EACH(i, n)                                                                       \
    for (uint64_t i = (uint64_t)blockIdx.x * QFZ_OMEGA_THREADS + threadIdx.x; i < (uint64_t)(n);   \
         i += (uint64_t)gridDim.x * QFZ_OMEGA_THREADS)

static inline dim3 qfz_omega_grid(const qfz_gpu *gpu, int64_t n)
{
    const unsigned most = (unsigned)gpu->n_sms * 8,
                   wanted = qfz_launch_blocks(n, QFZ_OMEGA_THREADS);
    return dim3(wanted < most ? wanted : most);
}

/* For each i below n: calls word(i), and unless that is QFZ_NONE, put(its place in a list, i,
 * word). Warps take places for several items at a time. */
template <typename WORD, typename PUT>
static __device__ __forceinline__ void qfz_omega_append(uint64_t n, uint32_t *counter, WORD word,
                                                        PUT put)
{
    enum { EACH = 4 };
    const uint64_t step = (uint64_t)gridDim.x * QFZ_OMEGA_THREADS * EACH;
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    const uint64_t first = (uint64_t)blockIdx.x * QFZ_OMEGA_THREADS + threadIdx.x - lane;
    for (uint64_t base = first * EACH; base < n; base += step) {
        uint32_t found[EACH], count = 0;
#pragma unroll
        for (int j = 0; j < EACH; j++) {
            const uint64_t i = base + lane + (uint64_t)j * QFZ_WARP;
            found[j] = i < n ? word(i) : QFZ_NONE;
            count += found[j] != QFZ_NONE;
        }
        uint32_t to = qfz_take(counter, count);
#pragma unroll
        for (int j = 0; j < EACH; j++)
            if (found[j] != QFZ_NONE) put(to++, base + lane + (uint64_t)j * QFZ_WARP, found[j]);
    }
}

/* The vertex of a ring pixel, in a forest that keeps the ring. */
static __device__ __forceinline__ uint32_t qfz_omega_ring_vertex(const qfz_gpu_forest &f,
                                                                 uint64_t i)
{
    const int2 place = qfz_ring_pixel(f.h, f.w, (int32_t)i);
    return f.rim[qfz_rim_place(f, place.y, place.x)].x;
}

/* ---- The graph of all blocks.  A record is what hangs on a block's waiting component.  The parts
 * of a region are what is a vertex itself, and records: part i is vertex i or, from *n_vertices on,
 * a record; it is named by its first pixel. */

/* One sector of memory, for whoever looks at a vertex looks at most of it. */
struct __align__(16) qfz_omega_vertex
{
    uint32_t up, up_level; /* what it hangs on, QFZ_NONE at a root; its L */
    uint32_t lo, hi;       /* range of T, in one band; where T is too wide, of what is tried */
    uint32_t breaks;       /* s */
    union {
        uint32_t holds;  /* the greatest level that is known to hold, QFZ_NONE: T is not too wide */
        uint32_t region; /* in the end: its region's place in region_first */
    };
    uint32_t tried, left; /* where it is: the greatest open level that is tried, the least that is
                             not; 0, QFZ_NONE: none */
};

struct qfz_omega_graph {
    uint32_t after; /* the level from which on nothing joins: alpha's + 1 */
    int64_t record_room, vertex_room;
    const uint32_t *n_vertices;
    uint32_t *n_records;
    uint32_t *first; /* first pixel of each part, QFZ_NONE: nothing is the vertex itself */
    uint2 *hang;     /* of a record: the vertex that it hangs on, level */
    void *lo, *hi;   /* n_bands planes of record_room, in the raster's type */

    qfz_omega_vertex *vertex;
    uint32_t *own_lo,
        *own_hi;             /* range of what is the vertex itself, n_bands planes of vertex_room */
    uint32_t *block_breaks;  /* the level at which its block saw it break, or after */
    uint32_t *wide, *n_wide; /* the vertices whose T is too wide */
    uint2 *held;             /* of each of them: the range of what holds */
    uint32_t *
        region_first; /* first pixels, by the vertex that a region ends at, then by border_region */
    uint32_t *list[2], *n_listed; /* parts of which it is open whether a vertex holds with them; by
                                     pass */
};

/* A word of a pixel's root on the way: the part that the pixel is of, not yet the first pixel of
 * its region. */
static const uint32_t QFZ_OMEGA_PART = 1u << 31;

enum { QFZ_OMEGA_PASSES = 33 };

/* *word = max(*word, value); as qfz_lower(). */
static __device__ __forceinline__ void qfz_raise(uint32_t *word, uint32_t value)
{
    if (value > *static_cast<volatile uint32_t *>(word)) atomicMax(word, value);
}

/* Everything that lies in the scratch memory. */
struct qfz_omega_room {
    qfz_gpu_forest forest;
    qfz_omega_values values;
    qfz_omega_graph graph;
    void *d_forest;
    uint32_t *d_edge_levels;
    double *d_limit;
    uint32_t *d_border_of; /* of a vertex that a region is named by */

    /* Summaries (omega_summary.cu). */
    int64_t event_room;
    unsigned long long *d_envoys;
    uint32_t *d_level[2], *d_source[2];
    uint32_t *d_counts; /* (omega_summary.cu) */
    void *d_lo, *d_hi, *d_links_scratch, *d_sort;
    qfz_gpu_links links;
};

/* All but the forest and its keys, for as many vertices and records as room->graph says, of an
 * image of h x w or of its ring.  They begin at forest_at: from there on memory may be used when
 * the forest is of no more use. */
void qfz_omega_carve(qfz_omega_room *room, const qfz_rule *rule, int32_t h, int32_t w,
                     size_t forest_at, qfz_carve *carve);

/* What the rule says of values and levels, into room->values and room->graph.  Pixels stay NULL. */
qfz_status qfz_omega_set_rule(qfz_gpu *gpu, const qfz_rule *rule, qfz_omega_room *room);

/* The rule's limits to the device. */
qfz_status qfz_omega_send_limits(qfz_gpu *gpu, const qfz_rule *rule, qfz_omega_room *room);

/* Cuts the scratch memory. */
qfz_status qfz_omega_cut(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         void *d_scratch, qfz_omega_room *room);

/* Then makes the forest and empties the graph. */
qfz_status qfz_omega_prepare(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             bool keep_ring, qfz_omega_room *room);

/* Empties vertices, records and counters; the forest is made. */
qfz_status qfz_omega_begin(qfz_gpu *gpu, const qfz_gpu_forest *forest, const qfz_omega_graph *graph,
                           int n_bands);

/* T of all vertices that are not too wide, once more, in one band. */
qfz_status qfz_omega_spread(qfz_gpu *gpu, const qfz_omega_values *values,
                            const qfz_omega_graph *graph, int band);

/* Regions inside blocks: d_root of every pixel as far as its block knows; records; of every vertex
 * what is the vertex itself. */
qfz_status qfz_omega_blocks(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                            const qfz_omega_values *values, const qfz_omega_graph *graph,
                            uint32_t *d_root);

/* The level at which each vertex breaks; records then hang on the vertices that they belong to. */
qfz_status qfz_omega_solve(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                           const qfz_omega_values *values, const qfz_omega_graph *graph,
                           const uint32_t *d_omega_level);

/* What is told of the ring, in two steps as in omega.cuh; the graph is solved.  valid: of an
 * image's pixels, or NULL. */
qfz_status qfz_omega_summary_links(qfz_gpu *gpu, const qfz_rule *rule, const uint8_t *d_valid,
                                   qfz_omega_room *room);
qfz_status qfz_omega_summary_ranges(qfz_gpu *gpu, const qfz_rule *rule, uint32_t n,
                                    qfz_omega_room *room, qfz_gpu_ranges *ranges);

/* Whether a record or a vertex belongs to the region of what it hangs on. */
static __device__ __forceinline__ bool qfz_omega_joins(const qfz_omega_graph &g, uint32_t at,
                                                       uint32_t level)
{
    return level < g.vertex[at].breaks;
}

#endif
