/* SPDX-License-Identifier: MIT */
/* omega_certain.cu - what belongs to a vertex for certain, before blocks are solved.
 *
 * For each vertex, find the range of the pixels that levels up to alpha join to it inside its
 * block. The ranges of all vertices in T(v) together hold that of T(v); call v narrow if they are
 * not too wide.  A node that is attached to x by `level` is in T(y), where y is the first vertex on
 * the path up from x, x included, whose L is above `level`.  If y is narrow, T(y) lies in one
 * region, and so the node is in the region of x.  Vertices above a vertex that is not narrow are
 * not narrow.  So the node belongs to x for certain if its level is below L of the last narrow
 * vertex on the path.
 *
 * What is outside a tile may break components with ring pixels, and a summary has events of these.
 * So vertices with ring pixels are not narrow where the forest keeps the ring.
 *
 * There is one band, of 16 bits; a range is greatest << 16 | least. */
#include "gpu/omega/omega_gather.cuh"

/* ---- Ranges in blocks ------------------------------------------------------------------------ */

namespace
{
struct range_memory {
    uint32_t hook[QFZ_COMPS];
    uint16_t vertex[QFZ_COMPS]; /* that levels up to alpha join the component to, or NOWHERE */
    uint2 range[QFZ_VERTICES];
};

/* A thread's pixels: EACH adjacent ones, of which n_px are in the tile. */
struct pixel_row {
    int n_px;
    uint32_t comp[EACH], top[EACH], value[EACH];
};
} // namespace

static QFZ_DEVICE void load_pixels(const qfz_gpu_forest &f, const qfz_omega_values &values,
                                   pixel_row &row)
{
    const qfz_block_box box = qfz_block_of(f, blockIdx.x);
    const int32_t y = (int32_t)place_of(0) / QFZ_SIDE, x = (int32_t)place_of(0) % QFZ_SIDE;
    const int64_t first = (int64_t)(box.y + y) * f.w + box.x + x;
    row.n_px = y < box.h ? max(0, min((int)EACH, box.w - x)) : 0;
    load_row(row, qfz_comps<uint16_t>(f, box, y) + x, row.comp);
    load_row(row, qfz_tops<uint16_t>(f, box, y) + x, row.top);
    load_row(row, static_cast<const uint16_t *>(values.pixels) + first, row.value);
}

/* The vertex that levels below `after` join component c to, or NOWHERE. */
static QFZ_DEVICE uint32_t vertex_of(const range_memory &m, uint32_t c, uint32_t after)
{
    uint32_t hook = m.hook[c];
    while (joins(hook) && level_of(hook) < after)
        hook = m.hook[target_of(hook)];
    return is_vertex(hook) ? target_of(hook) : (uint32_t)NOWHERE;
}

/* Neighbouring pixels mostly have one vertex. */
static QFZ_DEVICE void extend_ranges(range_memory &m, const pixel_row &row, uint32_t after,
                                     uint32_t flip)
{
    uint32_t last = NOWHERE;
    uint2 range = make_uint2(QFZ_NONE, 0);
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (k >= row.n_px || row.top[k] >= after) continue;
        const uint32_t v = m.vertex[row.comp[k]], value = row.value[k] ^ flip;
        if (v == NOWHERE) continue;
        if (v != last) {
            if (last != NOWHERE) extend(&m.range[last], range);
            last = v;
            range = make_uint2(QFZ_NONE, 0);
        }
        range = make_uint2(min(range.x, value), max(range.y, value));
    }
    if (last != NOWHERE) extend(&m.range[last], range);
}

/* A pixel without an edge has a component that is no vertex. */
static __global__ void __launch_bounds__(THREADS, 3)
    k_find_ranges(qfz_gpu_forest f, qfz_omega_values values, qfz_omega_graph g)
{
    QFZ_SHARED(range_memory, m);
    const uint2 block = f.block[blockIdx.x];
    pixel_row row;
    load_pixels(f, values, row);
    for (uint32_t c = threadIdx.x; c < block.y; c += THREADS)
        m->hook[c] = qfz_hook_at<uint32_t>(f, blockIdx.x, c);
    for (uint32_t v = threadIdx.x; v < QFZ_VERTICES; v += THREADS)
        m->range[v] = make_uint2(QFZ_NONE, 0);
    __syncthreads();
    for (uint32_t c = threadIdx.x; c < block.y; c += THREADS)
        m->vertex[c] = (uint16_t)vertex_of(*m, c, g.after);
    __syncthreads();
    extend_ranges(*m, row, g.after, values.flip);
    __syncthreads();
    for (uint32_t c = threadIdx.x; c < block.y; c += THREADS) {
        if (!is_vertex(m->hook[c])) continue;
        const uint32_t v = target_of(m->hook[c]);
        g.certain[block.x + v] = m->range[v].y << 16 | (m->range[v].x & 0xffff);
    }
}

/* ---- Ranges of T ----------------------------------------------------------------------------- */

static const uint32_t ALL_VALUES = 0xffff0000u;

static QFZ_DEVICE uint2 range_of(uint32_t packed)
{
    return make_uint2(packed & 0xffff, packed >> 16);
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_open_ring(qfz_gpu_forest f, qfz_omega_graph g)
{
    QFZ_OMEGA_EACH(i, qfz_ring_count(f.h, f.w))
    {
        const uint32_t v = qfz_omega_ring_vertex(f, i);
        if (v == QFZ_NONE) continue; /* invalid */
        g.certain[v] = ALL_VALUES;
        qfz_omega_begin_certain(g, v);
    }
}

/* Extends the ranges of v and of all vertices above v; a range that is too wide becomes that of all
 * values, for which most climbs stop soon. */
static QFZ_DEVICE void extend(const qfz_omega_graph &g, const qfz_omega_values &values,
                              double limit, uint32_t v, uint2 range)
{
    while (v != QFZ_NONE) {
        qfz_omega_vertex *const at = &g.vertex[v];
        const uint4 seen = qfz_omega_peek(&at->up);
        if (range.x >= seen.z && range.y <= seen.w) return;
        if (values.too_wide(min(range.x, seen.z), max(range.y, seen.w), limit))
            range = range_of(ALL_VALUES);
        if (range.x < seen.z) atomicMin(&at->lo, range.x);
        if (range.y > seen.w) atomicMax(&at->hi, range.y);
        v = seen.x;
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_spread_blocks(qfz_omega_values values, qfz_omega_graph g)
{
    const double limit = *values.limit;
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        const uint2 range = range_of(g.certain[v]);
        if (range.x <= range.y) extend(g, values, limit, g.vertex[v].up, range);
    }
}

static __global__ void __launch_bounds__(QFZ_OMEGA_THREADS)
    k_find_certain(qfz_omega_values values, qfz_omega_graph g)
{
    const double limit = *values.limit;
    const uint32_t n = *g.n_vertices;
    QFZ_OMEGA_EACH(v, n)
    {
        uint32_t certain = 0;
        for (uint32_t at = (uint32_t)v; at != QFZ_NONE;) {
            const uint4 seen = *reinterpret_cast<const uint4 *>(&g.vertex[at].up);
            if (values.too_wide(seen.z, seen.w, limit)) break;
            certain = seen.y;
            at = seen.x;
        }
        g.certain[v] = certain;
    }
}

qfz_status qfz_omega_find_ranges(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                                 const qfz_omega_values *values, const qfz_omega_graph *graph)
{
    return qfz_launch(gpu, k_find_ranges, dim3((unsigned)forest->n_blocks), dim3(THREADS),
                      sizeof(range_memory), *forest, *values, *graph);
}

qfz_status qfz_omega_find_certain(qfz_gpu *gpu, const qfz_gpu_forest *forest,
                                  const qfz_omega_values *values, const qfz_omega_graph *graph)
{
    const dim3 block(QFZ_OMEGA_THREADS),
        vertices = qfz_omega_grid(gpu, graph->vertex_room),
        ring = qfz_omega_grid(gpu, qfz_ring_size(forest->h, forest->w));
    if (forest->keeps_ring) QFZ_TRY(qfz_launch(gpu, k_open_ring, ring, block, 0, *forest, *graph));
    QFZ_TRY(qfz_launch(gpu, k_spread_blocks, vertices, block, 0, *values, *graph));
    return qfz_launch(gpu, k_find_certain, vertices, block, 0, *values, *graph);
}
