/* SPDX-License-Identifier: MIT */
/* rows_query.cu - the edges that the blocks of rows.cuh left open, and those between blocks.
 *
 * A block has some hundred vertices and ten times as many open edges, half of which meet in the
 * graph's first round, most of the others in the next.  So what each vertex becomes in the first
 * rounds is looked up once; the few edges that are open then are climbed.  Half of the threads do
 * that, while the others climb from the edges that leave the block. */
#include "gpu/boruvka_climb.cuh"
#include "gpu/rows.cuh"

enum { THREADS = 256, HALF = THREADS / 2, STATES = 4, AT_ONCE = 4 };

/* state[d][v]: where vertex v is after rounds 0 to d, and the greatest level up to there. */
struct query_memory {
    uint2 state[STATES][QFZ_VERTICES];
};

template <typename OUT_TYPE> struct query_work {
    const query_memory &m;
    const qfz_gpu_forest &forest;
    OUT_TYPE *saliency;
    qfz_block_box box;
    uint32_t n_px, at; /* of the tile; its number of the block's first pixel */
};

template <typename OUT_TYPE>
static __device__ __forceinline__ void store(const query_work<OUT_TYPE> &w, uint32_t edge,
                                             uint32_t level)
{
    const uint32_t y = edge / QFZ_SIDE % QFZ_SIDE, x = edge % QFZ_SIDE;
    const uint32_t plane = edge >= QFZ_BLOCK_PX ? w.n_px : 0;
    w.saliency[plane + w.at + y * (uint32_t)w.forest.w + x] = (OUT_TYPE)level;
}

static __device__ __forceinline__ void make_states(query_memory &m, const uint2 *__restrict__ up,
                                                   uint32_t first, uint32_t n)
{
    for (uint32_t v = threadIdx.x; v < n; v += HALF) {
        uint2 state = make_uint2(first + v, 0), from = __ldg(&up[first + v]);
#pragma unroll
        for (int d = 0; d < STATES; d++) {
            if ((from.x & QFZ_UP_ROOT) == (uint32_t)d) {
                state = make_uint2(from.x >> QFZ_UP_BITS, max(state.y, from.y));
                from = __ldg(&up[state.x]);
            }
            m.state[d][v] = state;
        }
    }
}

/* An entry of the list. */
template <typename OUT_TYPE>
static __device__ __forceinline__ void answer(const query_work<OUT_TYPE> &w, uint2 item)
{
    const uint32_t u = item.x >> 9 & 0x1ff, v = item.x & 0x1ff;
    uint2 s = w.m.state[0][u], t = w.m.state[0][v];
    for (int d = 1; d < STATES && s.x != t.x; d++) {
        s = w.m.state[d][u];
        t = w.m.state[d][v];
    }
    store(w, item.x >> 18, climb(w.forest.up, s.x, t.x, max(item.y, max(s.y, t.y))));
}

template <typename OUT_TYPE>
static __device__ __forceinline__ void answer_list(const query_work<OUT_TYPE> &w,
                                                   const uint2 *__restrict__ items, uint32_t n)
{
    for (uint32_t base = threadIdx.x; base < n; base += AT_ONCE * THREADS) {
        uint2 item[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            item[k] = __ldg(&items[min(base + (uint32_t)k * THREADS, n - 1)]);
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++)
            if (base + (uint32_t)k * THREADS < n) answer(w, item[k]);
    }
}

/* All edges whose pixels are in different vertices, where the list had no room. */
template <typename OUT_TYPE>
static __device__ __forceinline__ void answer_words(const query_work<OUT_TYPE> &w,
                                                    const uint32_t *__restrict__ words)
{
    for (uint32_t edge = threadIdx.x; edge < 2 * QFZ_BLOCK_PX; edge += THREADS) {
        const uint32_t p = edge % QFZ_BLOCK_PX;
        const bool down = edge >= QFZ_BLOCK_PX;
        if ((down ? p / QFZ_SIDE : p % QFZ_SIDE) == QFZ_SIDE - 1) continue;
        const uint32_t a = words[p], b = words[p + (down ? (uint32_t)QFZ_SIDE : 1u)];
        const uint32_t u = a & QFZ_STEP_MASK, v = b & QFZ_STEP_MASK;
        if (u == v || max(u, v) == QFZ_STEP_MASK) continue;
        answer(w, make_uint2(edge << 18 | u << 9 | v, max(a, b) >> 16));
    }
}

/* Edge i of those to the right and down that leave the block, or would leave the image. */
template <typename OUT_TYPE>
static __device__ __forceinline__ void answer_leaving(const query_work<OUT_TYPE> &w, int i)
{
    const qfz_gpu_forest &f = w.forest;
    const bool right = i < QFZ_SIDE;
    const int y = right ? i : QFZ_SIDE - 1, x = right ? QFZ_SIDE - 1 : i - QFZ_SIDE;
    if (y >= w.box.h || x >= w.box.w) return;
    const int32_t ty = w.box.y + y + !right, tx = w.box.x + x + right;
    uint32_t level = QFZ_NONE;
    if (ty < f.h && tx < f.w) {
        const uint2 own =
            f.rim[(int64_t)blockIdx.x * f.rim_room + qfz_ring_number(w.box.h, w.box.w, y, x)];
        const uint2 other = f.rim[qfz_rim_place(f, ty, tx)];
        if (own.x != QFZ_NONE && other.x != QFZ_NONE)
            level = climb(f.up, own.x, other.x, max(own.y, other.y));
    }
    store(w, (uint32_t)((right ? 0 : QFZ_BLOCK_PX) + y * QFZ_SIDE + x), level);
}

template <typename OUT_TYPE>
static __global__ void __launch_bounds__(THREADS)
    k_query(qfz_gpu_forest forest, const uint2 *open, OUT_TYPE *saliency)
{
    QFZ_SHARED(query_memory, m);
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n = block.y >> 16;
    const uint2 *const items = open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM;
    const query_work<OUT_TYPE> w = {*m,
                                    forest,
                                    saliency,
                                    box,
                                    (uint32_t)forest.h * (uint32_t)forest.w,
                                    (uint32_t)box.y * (uint32_t)forest.w + (uint32_t)box.x};
    static_assert(HALF == 2 * QFZ_SIDE, "a thread for each edge that leaves");
    if (threadIdx.x < HALF)
        make_states(*m, forest.up, block.x, block.y & 0xffff);
    else
        answer_leaving(w, (int)threadIdx.x - HALF);
    __syncthreads();
    if (n <= QFZ_OPEN_ROOM)
        answer_list(w, items, n);
    else
        answer_words(w, reinterpret_cast<const uint32_t *>(items));
}

template <typename OUT_TYPE>
static qfz_status query(qfz_gpu *gpu, const qfz_rows *rows, void *d_saliency)
{
    return qfz_launch(gpu, k_query<OUT_TYPE>, dim3((unsigned)rows->forest.n_blocks), dim3(THREADS),
                      sizeof(query_memory), rows->forest, rows->open,
                      static_cast<OUT_TYPE *>(d_saliency));
}

qfz_status qfz_rows_query(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                          void *d_saliency)
{
    return edges->form == QFZ_EDGES_U8 ? query<uint16_t>(gpu, rows, d_saliency)
                                       : query<uint32_t>(gpu, rows, d_saliency);
}
