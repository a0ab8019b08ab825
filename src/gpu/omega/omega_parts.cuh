/* SPDX-License-Identifier: MIT */
/* omega_parts.cuh - internals that the files of omega.cuh and the stitching of groups share:
 * values, the graph of vertices and records, memory, and the launchers of each step. */
#pragma once

#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/omega/omega.cuh"

/* ---- Values ---------------------------------------------------------------------------------- */

/* Values are read as unsigned words of the same order, so that atomic operations extend ranges.  An
 * empty range has lo > hi. */
struct qfz_omega_values {
    const void *pixels; /* planes of n_px */
    const uint8_t *valid;
    const double *limit; /* omega of each band, in device memory; NULL: no limit */
    int64_t n_px;
    int n_bands, bytes; /* of a value */
    bool is_float;
    uint32_t flip; /* XOR with flip maps signed integers to unsigned integers of the same order */

    /* The word of the i-th value of an array of the raster's type. */
    QFZ_DEVICE uint32_t read(const void *array, int64_t i) const
    {
        if (bytes == 1) return static_cast<const uint8_t *>(array)[i] ^ flip;
        if (bytes == 2) return static_cast<const uint16_t *>(array)[i] ^ flip;
        const uint32_t raw = static_cast<const uint32_t *>(array)[i];
        if (!is_float) return raw ^ flip;
        return raw >> 31 ? ~raw : raw | 1u << 31;
    }

    QFZ_DEVICE void write(void *array, int64_t i, uint32_t word) const
    {
        if (bytes == 1)
            static_cast<uint8_t *>(array)[i] = (uint8_t)(word ^ flip);
        else if (bytes == 2)
            static_cast<uint16_t *>(array)[i] = (uint16_t)(word ^ flip);
        else
            static_cast<uint32_t *>(array)[i] = is_float ? to_bits(word) : word ^ flip;
    }

    QFZ_DEVICE uint32_t pixel(int band, int64_t p) const
    {
        return read(static_cast<const char *>(pixels) + band * n_px * bytes, p);
    }

    static QFZ_DEVICE uint32_t to_bits(uint32_t word)
    {
        return word >> 31 ? word & ~(1u << 31) : ~word;
    }

    /* The words of the least and the greatest value of the type. */
    QFZ_DEVICE uint32_t least() const
    {
        return is_float ? ~0xff800000u : 0;
    }

    QFZ_DEVICE uint32_t greatest() const
    {
        return is_float ? 0xff800000u : 0xffffffffu >> (32 - 8 * bytes);
    }

    /* qfz_too_wide() of core/level.c for one band: does hi - lo exceed `most`? */
    QFZ_DEVICE bool too_wide(uint32_t lo, uint32_t hi, double most) const
    {
        if (lo >= hi) return false;
        if (!is_float) return (double)(hi - lo) > most;
        const float low = __uint_as_float(to_bits(lo)), high = __uint_as_float(to_bits(hi));
        return low < high && (double)high - (double)low > most;
    }
};

/* ---- Kernels over items ---------------------------------------------------------------------- */

/* Loops over items whose number n may be known on the device only; any grid covers all items. */
enum { QFZ_OMEGA_THREADS = 256 };

#define QFZ_OMEGA_EACH(i, n)                                                                       \
    for (uint64_t i = (uint64_t)blockIdx.x * QFZ_OMEGA_THREADS + threadIdx.x; i < (uint64_t)(n);   \
         i += (uint64_t)gridDim.x * QFZ_OMEGA_THREADS)

/* Calls use(numbers) for the numbers below n, QFZ_OMEGA_SOME at a time, so that the loads of a
 * thread's items can overlap.  Past the end, the last number comes once more. */
enum { QFZ_OMEGA_SOME = 4 };

template <typename USE> QFZ_DEVICE void qfz_omega_each_some(uint64_t n, USE use)
{
    const uint64_t step = (uint64_t)gridDim.x * (QFZ_OMEGA_THREADS * QFZ_OMEGA_SOME);
    const uint64_t first = (uint64_t)blockIdx.x * (QFZ_OMEGA_THREADS * QFZ_OMEGA_SOME);
    for (uint64_t base = first + threadIdx.x; base < n; base += step) {
        uint32_t i[QFZ_OMEGA_SOME];
        QFZ_EACH (j, QFZ_OMEGA_SOME)
            i[j] = (uint32_t)min(base + (uint64_t)j * QFZ_OMEGA_THREADS, n - 1);
        use(i);
    }
}

/* Launches a kernel that loops over at most n items. */
template <typename... P, typename... A>
static inline qfz_status qfz_omega_launch(qfz_gpu *gpu, void (*kernel)(P...), int64_t n, A... args)
{
    return qfz_launch(gpu, kernel, qfz_launch_grid(gpu, n, QFZ_OMEGA_THREADS, 8),
                      dim3(QFZ_OMEGA_THREADS), 0, args...);
}

/* For each i below n: appends i to a list unless word(i) is QFZ_NONE, by put(place in the list, i,
 * word(i)).  A warp reserves places for several items at a time. */
template <typename WORD, typename PUT>
QFZ_DEVICE void qfz_omega_append(uint64_t n, uint32_t *counter, WORD word, PUT put)
{
    enum { EACH = 4 };
    const uint64_t step = (uint64_t)gridDim.x * QFZ_OMEGA_THREADS * EACH;
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    const uint64_t first = (uint64_t)blockIdx.x * QFZ_OMEGA_THREADS + threadIdx.x - lane;
    for (uint64_t base = first * EACH; base < n; base += step) {
        uint32_t found[EACH], count = 0;
        QFZ_EACH (j, EACH) {
            const uint64_t i = base + lane + (uint64_t)j * QFZ_WARP;
            found[j] = i < n ? word(i) : QFZ_NONE;
            count += found[j] != QFZ_NONE;
        }
        uint32_t to = qfz_take(counter, count);
        QFZ_EACH (j, EACH)
            if (found[j] != QFZ_NONE) put(to++, base + lane + (uint64_t)j * QFZ_WARP, found[j]);
    }
}

/* The vertex of ring pixel i, in a forest that keeps the ring. */
QFZ_DEVICE uint32_t qfz_omega_ring_vertex(const qfz_gpu_forest &f, uint64_t i)
{
    const int2 place = qfz_ring_pixel(f.h, f.w, (int32_t)i);
    return f.rim[qfz_rim_place(f, place.y, place.x)].x;
}

/* ---- The graph of all blocks ----------------------------------------------------------------- */

/* A region consists of parts.  Part i is vertex i, with the pixels of its block that belong to it
 * under any circumstances; or, from *n_vertices on, a record: a node of a block that is attached to
 * a waiting component, and its T.  A part is named by its first pixel. */

/* A vertex; one 32-byte sector of memory, because most kernels read most of its words. */
struct __align__(16) qfz_omega_vertex
{
    uint32_t up, up_level; /* the vertex to which it is attached, QFZ_NONE at a root; its L */
    uint32_t lo, hi; /* range of T in one band; if T is too wide, of its component that holds */
    uint32_t breaks; /* s */
    union {
        uint32_t holds;  /* greatest level known to qualify; QFZ_NONE: T is not too wide */
        uint32_t region; /* at the end: the index of its region in region_first */
    };
    union {
        uint32_t number; /* if T is too wide: its place in wide[] */
        uint32_t pass;   /* in a summary: the last pass in which it has got an event */
    };
    uint32_t unused;
};

struct qfz_omega_graph {
    uint32_t after; /* no edge of this level or above joins: the level of alpha, plus 1 */
    int64_t record_room, vertex_room;
    const uint32_t *n_vertices;
    uint32_t *n_records;
    uint32_t *first; /* first pixel of each part; QFZ_NONE: the vertex has no pixels of its own */
    uint32_t *attached;   /* per record: the vertex to which it is attached, */
    void *attached_level; /* and its level L, a qfz_top_of<>::type by has_wide_levels */
    bool has_wide_levels; /* those of the forest */
    void *lo, *hi; /* ranges of records: n_bands planes of record_room, in the raster's type */

    qfz_omega_vertex *vertex;
    uint32_t *own_lo, *own_hi; /* ranges of vertices' own pixels: n_bands planes of vertex_room */
    uint32_t *block_breaks;    /* the level at which the vertex breaks inside its block, or after */
    uint32_t *wide, *n_wide;   /* the vertices whose T is too wide */
    uint32_t *region_first;    /* first pixels of regions, by their last vertex; then by border
                                * region */
    uint2 *bin;                /* bin_room ranges (omega_graph.cu) */
    int64_t bin_room;
};

/* A record's vertex and level. */
QFZ_DEVICE uint2 qfz_omega_attached(const qfz_omega_graph &g, uint64_t record)
{
    const uint32_t level = g.has_wide_levels
                               ? static_cast<const uint32_t *>(g.attached_level)[record]
                               : static_cast<const uint16_t *>(g.attached_level)[record];
    return make_uint2(g.attached[record], level);
}

template <typename LEVEL>
QFZ_DEVICE void qfz_omega_attach(const qfz_omega_graph &g, uint64_t record, uint32_t v,
                                 uint32_t level)
{
    g.attached[record] = v;
    static_cast<LEVEL *>(g.attached_level)[record] = (LEVEL)level;
}

/* Sets the range of v's own pixels; in the first band that of T, which begins with it, as well. */
QFZ_DEVICE void qfz_omega_set_own(const qfz_omega_graph &g, int band, uint32_t v, uint2 range)
{
    g.own_lo[band * g.vertex_room + (int64_t)v] = range.x;
    g.own_hi[band * g.vertex_room + (int64_t)v] = range.y;
    if (band == 0) *reinterpret_cast<uint2 *>(&g.vertex[v].lo) = range;
}

/* Marks a word of d_root that is the part of the pixel, not yet the first pixel of its region. */
static const uint32_t QFZ_OMEGA_PART = 1u << 31;

/* *word = max(*word, value); see qfz_lower(). */
QFZ_DEVICE void qfz_raise(uint32_t *word, uint32_t value)
{
    if (value > *static_cast<volatile uint32_t *>(word)) atomicMax(word, value);
}

/* Upper bound of the passes of omega_thin.cu, for levels of 32 bits. */
enum { QFZ_OMEGA_THIN_PASSES = 128 };

/* Indices into counts: links below `after`, events, items that may have events, links of any
 * level, vertices. */
enum {
    QFZ_OMEGA_N_LINKS = 0,
    QFZ_OMEGA_N_EVENTS,
    QFZ_OMEGA_N_ITEMS,
    QFZ_OMEGA_N_ALL_LINKS,
    QFZ_OMEGA_N_VERTICES,
    /* In each pass of omega_thin.cu: items in the list; events before the pass. */
    QFZ_OMEGA_THIN_LISTED,
    QFZ_OMEGA_THIN_EVENTS = QFZ_OMEGA_THIN_LISTED + QFZ_OMEGA_THIN_PASSES + 1,
    QFZ_OMEGA_COUNTS = QFZ_OMEGA_THIN_EVENTS + QFZ_OMEGA_THIN_PASSES + 1
};

/* level << 32 | ring pixel: the level at which the pixel joins the vertex */
typedef unsigned long long qfz_omega_representative;

static const qfz_omega_representative QFZ_OMEGA_NO_RING = ~(qfz_omega_representative)0;

/* The range events of a summary (omega_events.cuh). */
struct qfz_omega_events {
    qfz_omega_representative
        *representatives; /* per vertex; QFZ_OMEGA_NO_RING: none below `after` */
    uint32_t *level[2];   /* levels of events, sorted from one array to the other */
    uint32_t *source[2];  /* their items */
    uint32_t *vertex;     /* by number, of events of several parts: the vertex, */
    void *lo, *hi;        /* and the range */
    uint32_t *counts;     /* QFZ_OMEGA_N_... */
    int64_t room;
};

/* The content of the scratch memory (omega_memory.cu). */
struct qfz_omega_room {
    qfz_gpu_forest forest;
    qfz_omega_values values;
    qfz_omega_graph graph;
    void *d_forest;
    uint32_t *d_edge_levels;
    double *d_limit;
    uint32_t *d_border_of; /* per vertex: the border region of the region that ends there */

    /* Summaries (omega_summary.cu). */
    qfz_omega_events events;
    unsigned long long *d_best; /* the forest's, for border links */
    void *d_lo, *d_hi, *d_links_scratch, *d_sort;
    qfz_gpu_links links;
};

/* Carve, for graph.vertex_room vertices and graph.record_room records of an image with n_ring ring
 * pixels, and graph.has_wide_levels: all that has a size by vertex, record or band; n bins and a
 * few; the room for a summary's links, of an image of h x w; and for n of its events.  No bin is in
 * use when a summary is. */
void qfz_omega_carve_graph(qfz_omega_room *room, const qfz_rule *rule, int64_t n_ring,
                           qfz_carve *carve);
void qfz_omega_carve_bins(qfz_omega_graph *graph, int64_t n, qfz_carve *carve);
void qfz_omega_carve_links(qfz_omega_room *room, int32_t h, int32_t w, qfz_carve *carve);
void qfz_omega_carve_events(qfz_omega_room *room, const qfz_rule *rule, int64_t n,
                            qfz_carve *carve);

/* Upper bound of the number of range events: one for each part, and one for each vertex that
 * breaks. */
int64_t qfz_omega_events_of(const qfz_omega_graph *graph);

/* Sets room->values and room->graph from the rule; pixels stay NULL. */
qfz_status qfz_omega_set_rule(qfz_gpu *gpu, const qfz_rule *rule, qfz_omega_room *room);

/* Uploads omega of each band to room->d_limit. */
qfz_status qfz_omega_send_limits(qfz_gpu *gpu, const qfz_rule *rule, qfz_omega_room *room);

/* Divides the scratch memory for an image, and sets *room. */
qfz_status qfz_omega_cut(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                         void *d_scratch, qfz_omega_room *room);

/* Builds the forest of the image and empties the graph. */
qfz_status qfz_omega_prepare(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                             bool keep_ring, qfz_omega_room *room);

/* Attaches vertices, and empties counters, for a complete forest. */
qfz_status qfz_omega_begin(qfz_gpu *gpu, const qfz_omega_room *room);

/* Computes the ranges of T again, in one band, for all vertices whose T is not too wide. */
qfz_status qfz_omega_spread(qfz_gpu *gpu, const qfz_omega_room *room, int band);

/* Solves blocks: d_root of every pixel, which is final or has QFZ_OMEGA_PART; the records; and each
 * vertex's own pixels. */
qfz_status qfz_omega_blocks(qfz_gpu *gpu, const qfz_omega_room *room, uint32_t *d_root);

/* Finds the level at which each vertex breaks; afterwards each record is attached to the vertex of
 * its region.  d_omega_level: of the exterior, per ring pixel, or NULL. */
qfz_status qfz_omega_solve(qfz_gpu *gpu, const qfz_omega_room *room, const uint32_t *d_omega_level);

/* The boundary summary from a solved graph, in the steps of omega.cuh.  d_valid: validity of the
 * image's pixels, or NULL. */
qfz_status qfz_omega_summary_links(qfz_gpu *gpu, const qfz_rule *rule, const uint8_t *d_valid,
                                   qfz_omega_room *room);
qfz_status qfz_omega_summary_ranges(qfz_gpu *gpu, const qfz_rule *rule, uint32_t n,
                                    qfz_omega_room *room, qfz_gpu_ranges *ranges);

/* Reads four words of a vertex, from `word` on, while other threads may write them. */
QFZ_DEVICE uint4 qfz_omega_peek(const uint32_t *word)
{
    return __ldcg(reinterpret_cast<const uint4 *>(word));
}

/* True if a record or vertex that is attached to vertex `at` by `level` is in that vertex's region.
 */
QFZ_DEVICE bool qfz_omega_joins(const qfz_omega_graph &g, uint32_t at, uint32_t level)
{
    return level < g.vertex[at].breaks;
}
