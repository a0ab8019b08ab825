/* SPDX-License-Identifier: MIT */
/* boruvka_query.cu - the saliency of every edge of a tile, out of its forest.
 *
 * The way between two pixels leads up from both to where the ways meet.  Of two components the one
 * that hooked itself in an earlier round cannot lie on the other's way, so it is the one to climb
 * from.  A block's ways lie in shared memory; edges whose ways do not meet in the block are queued
 * until a warp has one a lane, and then climb on in the graph of all blocks. */
#include "gpu/boruvka_parts.cuh"

enum { THREADS = 256, WARPS = THREADS / QFZ_WARP, QUEUE = 2 * QFZ_WARP };

template <typename KEY> struct query_memory {
    typedef typename qfz_top_of<KEY>::type TOP;
    KEY hooks[QFZ_COMPS];
    uint2 queue[WARPS][QUEUE]; /* level so far; edge << 16 | vertex << 8 | vertex */
    TOP top[QFZ_BLOCK_PX];
    uint16_t comp[QFZ_BLOCK_PX];
};

/* What the functions of one block share. */
template <typename T, typename KEY> struct query_work {
    query_memory<KEY> &m;
    const qfz_gpu_forest &forest;
    T *saliency;
    qfz_block_box box;
    uint32_t first_vertex;
    int lane, warp;
    uint32_t n_queued;
};

template <typename WORK> static __device__ __forceinline__ void load(WORK &w)
{
    typedef decltype(+w.m.hooks[0]) KEY;
    typedef typename qfz_top_of<KEY>::type TOP;
    const qfz_gpu_forest &f = w.forest;
    const uint32_t n = f.block[blockIdx.x].y;
    const KEY *const hooks = static_cast<const KEY *>(f.hooks) + (int64_t)blockIdx.x * f.comp_room;
    for (uint32_t c = threadIdx.x; c < n; c += THREADS)
        w.m.hooks[c] = hooks[c];
    for (int y = w.warp; y < w.box.h; y += WARPS)
        for (int x = w.lane; x < w.box.w; x += QFZ_WARP) {
            const int64_t p = (int64_t)(w.box.y + y) * f.w + w.box.x + x;
            w.m.top[y * QFZ_SIDE + x] = static_cast<const TOP *>(f.top)[p];
            w.m.comp[y * QFZ_SIDE + x] = f.comp[p];
        }
}

/* The greatest level between two vertices, and at least `level`; QFZ_NONE if no way joins them. */
static __device__ __forceinline__ uint32_t climb(const uint2 *__restrict__ up, uint32_t u,
                                                 uint32_t v, uint32_t level)
{
    if (u == v) return level;
    uint2 a = __ldg(&up[u]), b = __ldg(&up[v]);
    do {
        const uint32_t round_a = a.x & QFZ_UP_ROOT, round_b = b.x & QFZ_UP_ROOT;
        if (min(round_a, round_b) == QFZ_UP_ROOT) return QFZ_NONE;
        const bool climbs_a = round_a <= round_b;
        const uint2 at = climbs_a ? a : b;
        level = max(level, at.y);
        const uint32_t next = at.x >> QFZ_UP_BITS;
        (climbs_a ? u : v) = next;
        if (u == v) break;
        (climbs_a ? a : b) = __ldg(&up[next]);
    } while (true);
    return level;
}

/* Where the level of an edge goes: its number is direction * QFZ_BLOCK_PX + pixel of the block. */
template <typename WORK>
static __device__ __forceinline__ void store(WORK &w, uint32_t edge, uint32_t level)
{
    const qfz_gpu_forest &f = w.forest;
    const int32_t y = w.box.y + (int32_t)(edge % QFZ_BLOCK_PX / QFZ_SIDE);
    const int32_t x = w.box.x + (int32_t)(edge % QFZ_SIDE);
    const int64_t plane = (int64_t)(edge / QFZ_BLOCK_PX) * f.h * f.w;
    w.saliency[plane + (int64_t)y * f.w + x] = (decltype(+w.saliency[0]))level;
}

/* The last n of the warp's queue, one a lane. */
template <typename WORK> static __device__ __forceinline__ void serve(WORK &w, uint32_t n)
{
    __syncwarp();
    w.n_queued -= n;
    if ((uint32_t)w.lane < n) {
        const uint2 item = w.m.queue[w.warp][w.n_queued + (uint32_t)w.lane];
        const uint32_t u = w.first_vertex + (item.y >> 8 & 0xff),
                       v = w.first_vertex + (item.y & 0xff);
        store(w, item.y >> 16, climb(w.forest.up, u, v, item.x));
    }
    __syncwarp();
}

/* Adds an item of those lanes that have one. */
template <typename WORK> static __device__ __forceinline__ void queue(WORK &w, bool has, uint2 item)
{
    const unsigned who = __ballot_sync(0xffffffffu, has);
    if (has) w.m.queue[w.warp][w.n_queued + (uint32_t)__popc(who & ((1u << w.lane) - 1))] = item;
    w.n_queued += (uint32_t)__popc(who);
    if (w.n_queued >= QFZ_WARP) serve(w, QFZ_WARP);
}

/* The edge between pixels p and q of the block.  True if the ways do not meet in it; *item then is
 * what to queue, else its x is the level. */
template <typename WORK>
static __device__ __forceinline__ bool look_up(const WORK &w, uint32_t p, uint32_t q, uint32_t edge,
                                               uint2 *item)
{
    uint32_t a = w.m.comp[p], b = w.m.comp[q];
    uint32_t level = max((uint32_t)w.m.top[p], (uint32_t)w.m.top[q]);
    item->x = QFZ_NONE;
    if (a == QFZ_NO_COMP || b == QFZ_NO_COMP) return false;
    if (a != b) {
        auto at_a = w.m.hooks[a], at_b = w.m.hooks[b];
        do {
            const uint32_t step_a = (uint32_t)at_a & 0xffff, step_b = (uint32_t)at_b & 0xffff;
            const uint32_t round_a = step_a >> QFZ_STEP_BITS, round_b = step_b >> QFZ_STEP_BITS;
            if (min(round_a, round_b) == QFZ_STEP_ROOT) {
                if (max(step_a, step_b) == QFZ_STEP_ENDED) return false;
                *item = make_uint2(level, edge << 16 | (step_a & 0xff) << 8 | (step_b & 0xff));
                return true;
            }
            const bool climbs_a = round_a <= round_b;
            level = max(level, (uint32_t)((climbs_a ? at_a : at_b) >> 16));
            const uint32_t next = (climbs_a ? step_a : step_b) & QFZ_STEP_MASK;
            (climbs_a ? a : b) = next;
            if (a == b) break;
            (climbs_a ? at_a : at_b) = w.m.hooks[next];
        } while (true);
    }
    item->x = level;
    return false;
}

static __device__ __forceinline__ int dy_of(int dir)
{
    return dir == QFZ_RIGHT ? 0 : 1;
}

static __device__ __forceinline__ int dx_of(int dir)
{
    return dir == QFZ_BELOW ? 0 : dir == QFZ_BELOW_LEFT ? -1 : 1;
}

/* Edges inside the block, and places of edges that would leave the image. */
template <typename WORK, int N_DIRS> static __device__ __forceinline__ void query_inside(WORK &w)
{
    for (int i = w.warp; i < 2 * w.box.h; i += WARPS) {
        const int y = i / 2, x = w.lane + i % 2 * QFZ_WARP;
        const uint32_t p = (uint32_t)(y * QFZ_SIDE + x);
#pragma unroll
        for (int dir = 0; dir < N_DIRS; dir++) {
            const int ny = y + dy_of(dir), nx = x + dx_of(dir);
            const int32_t ty = w.box.y + ny, tx = w.box.x + nx;
            const bool here = x < w.box.w;
            const bool inside = here && ny < w.box.h && nx >= 0 && nx < w.box.w;
            const bool leaves = !inside && ty < w.forest.h && tx >= 0 && tx < w.forest.w;
            const uint32_t edge = (uint32_t)dir * QFZ_BLOCK_PX + p;
            uint2 item = make_uint2(QFZ_NONE, 0);
            const bool open = inside && look_up(w, p, (uint32_t)(ny * QFZ_SIDE + nx), edge, &item);
            if (here && !open && !leaves) store(w, edge, item.x);
            queue(w, open, item);
        }
    }
    serve(w, w.n_queued);
}

/* Edges to other blocks: their rims tell how far it is up to the vertices. */
template <typename WORK, int N_DIRS> static __device__ __forceinline__ void query_leaving(WORK &w)
{
    const qfz_gpu_forest &f = w.forest;
    const int rim = qfz_ring_count(w.box.h, w.box.w);
    for (int i = (int)threadIdx.x; i < rim; i += THREADS) {
        const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
        const uint2 own = f.rim[(int64_t)blockIdx.x * f.rim_room + i];
        for (int dir = 0; dir < N_DIRS; dir++) {
            const int ny = place.y + dy_of(dir), nx = place.x + dx_of(dir);
            const int32_t ty = w.box.y + ny, tx = w.box.x + nx;
            if (ny < w.box.h && nx >= 0 && nx < w.box.w) continue;
            if (ty >= f.h || tx < 0 || tx >= f.w) continue;
            const uint2 other = f.rim[qfz_rim_place(f, ty, tx)];
            const bool ends = own.x == QFZ_NONE || other.x == QFZ_NONE;
            const uint32_t level =
                ends ? QFZ_NONE : climb(f.up, own.x, other.x, max(own.y, other.y));
            store(w, (uint32_t)(dir * QFZ_BLOCK_PX + place.y * QFZ_SIDE + place.x), level);
        }
    }
}

template <typename T, typename KEY, int N_DIRS>
static __global__ void __launch_bounds__(THREADS) k_query(qfz_gpu_forest forest, T *saliency)
{
    typedef query_memory<KEY> memory;
    typedef query_work<T, KEY> work;
    QFZ_SHARED(memory, m);
    const int thread = (int)threadIdx.x;
    work w = {*m,
              forest,
              saliency,
              qfz_block_of(forest, blockIdx.x),
              forest.block[blockIdx.x].x,
              thread % QFZ_WARP,
              thread / QFZ_WARP,
              0};
    load(w);
    __syncthreads();
    query_inside<work, N_DIRS>(w);
    query_leaving<work, N_DIRS>(w);
}

template <typename T, typename KEY>
static qfz_status query(qfz_gpu *gpu, const qfz_gpu_forest *forest, T *d_saliency)
{
    const dim3 grid((unsigned)forest->n_blocks);
    const size_t bytes = sizeof(query_memory<KEY>);
    if (forest->connectivity == 4)
        return qfz_launch(gpu, k_query<T, KEY, 2>, grid, dim3(THREADS), bytes, *forest, d_saliency);
    return qfz_launch(gpu, k_query<T, KEY, 4>, grid, dim3(THREADS), bytes, *forest, d_saliency);
}

qfz_status qfz_gpu_saliency_u16(qfz_gpu *gpu, const qfz_gpu_forest *forest, uint16_t *d_saliency)
{
    return forest->wide ? query<uint16_t, unsigned long long>(gpu, forest, d_saliency)
                        : query<uint16_t, uint32_t>(gpu, forest, d_saliency);
}

qfz_status qfz_gpu_saliency_u32(qfz_gpu *gpu, const qfz_gpu_forest *forest, uint32_t *d_saliency)
{
    return forest->wide ? query<uint32_t, unsigned long long>(gpu, forest, d_saliency)
                        : query<uint32_t, uint32_t>(gpu, forest, d_saliency);
}
