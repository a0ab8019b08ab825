/* SPDX-License-Identifier: MIT */
/* boruvka_query.cu - the saliency of every edge of a tile, out of its forest.
 *
 * The level of an edge is the greatest on the ways of its two pixels up to where these meet.  Half
 * of the edges lie in one component of the first round, more in one of the second, and these are
 * done at a glance.  The others are queued, so that all lanes of a warp have one, and walk up round
 * by round: state r holds, for each component, what it belongs to after rounds 0 .. r of the block,
 * and the greatest level up to there.  Where states end, the ways are climbed hook by hook: of two
 * components (or, further up, vertices of the graph of all blocks) the one that hooked itself in an
 * earlier round cannot lie on the other's way, so it is the one to climb from.
 * It is the way of 8-connected edges of 32 bits; for others there is rows.cuh. */
#include "gpu/boruvka_climb.cuh"
#include "gpu/boruvka_layout.cuh"

typedef unsigned long long query_key; /* level << 16 | component or step */

enum {
    N_DIRS = 4,
    THREADS = 512, /* see block_work */
    WARPS = THREADS / QFZ_WARP,
    TODO = QFZ_WARP * ROWS * N_DIRS,
    OPEN = 2 * QFZ_WARP,
    MAX_STATES = 4,
    STATE_ROOM = 3072 /* one state of QFZ_COMPS at least */
};

struct query_memory {
    __align__(16) query_key word[QFZ_BLOCK_PX]; /* of a pixel: level << 16 | component */
    query_key hooks[QFZ_COMPS];                 /* level << 16 | step */
    query_key state[STATE_ROOM]; /* level << 16 | component, all of a round after each other */
    uint2 open[WARPS][OPEN];     /* level; edge << 18 | vertex << 9 | vertex */
    uint16_t todo[WARPS][TODO];  /* edge: direction * QFZ_BLOCK_PX + pixel */
};

/* What the functions of one block share. */
template <typename T> struct query_work {
    enum { WARPS = ::WARPS };
    query_memory &m;
    const qfz_gpu_forest &forest;
    T *saliency;
    uint32_t n_px, at; /* of the tile; its number of the block's first pixel */
    qfz_block_box box;
    uint32_t first_vertex, n_comps, n_states;
    uint32_t n_open;
    int thread, lane, warp;
};

/* ---- Load ------------------------------------------------------------------------------------ */

/* Eight pixels of row y from x on, all of them inside the image or none. */
template <typename WORK> static __device__ __forceinline__ void load_many(WORK &w, int y, int x)
{
    typedef qfz_top_of<query_key>::type TOP;
    enum { N = 8, TOP_WORDS = N * sizeof(TOP) / sizeof(uint4) };
    union {
        uint4 words;
        uint16_t px[N];
    } comp;
    union {
        uint4 words[TOP_WORDS];
        TOP px[N];
    } top;
    const bool there = y < w.box.h && x < w.box.w;
    const int64_t p = (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
    if (there) {
        const TOP *const tops = static_cast<const TOP *>(w.forest.top) + p;
        comp.words = *reinterpret_cast<const uint4 *>(w.forest.comp + p);
#pragma unroll
        for (int i = 0; i < (int)TOP_WORDS; i++)
            top.words[i] = reinterpret_cast<const uint4 *>(tops)[i];
    }
    union {
        uint4 words[N * sizeof(query_key) / sizeof(uint4)];
        query_key px[N];
    } word;
#pragma unroll
    for (int i = 0; i < (int)N; i++)
        word.px[i] = there ? (query_key)top.px[i] << 16 | comp.px[i] : (query_key)QFZ_NO_COMP;
    uint4 *const out = reinterpret_cast<uint4 *>(&w.m.word[y * QFZ_SIDE + x]);
#pragma unroll
    for (int i = 0; i < (int)(N * sizeof(query_key) / sizeof(uint4)); i++)
        out[i] = word.words[i];
}

template <typename WORK> static __device__ __forceinline__ void load_one(WORK &w, int y, int x)
{
    typedef qfz_top_of<query_key>::type TOP;
    query_key word = QFZ_NO_COMP;
    if (y < w.box.h && x < w.box.w) {
        const int64_t p = (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
        word = (query_key) static_cast<const TOP *>(w.forest.top)[p] << 16 | w.forest.comp[p];
    }
    w.m.word[y * QFZ_SIDE + x] = word;
}

template <typename WORK> static __device__ __forceinline__ void load(WORK &w)
{
    const qfz_gpu_forest &f = w.forest;
    const query_key *const hooks =
        static_cast<const query_key *>(f.hooks) + (int64_t)blockIdx.x * f.comp_room;
    for (uint32_t c = (uint32_t)w.thread; c < w.n_comps; c += THREADS)
        w.m.hooks[c] = hooks[c];
    if (f.w % 8 == 0) /* so that rows begin at multiples of 16 bytes */
        for (int i = w.thread; i < QFZ_BLOCK_PX / 8; i += THREADS)
            load_many(w, i / (QFZ_SIDE / 8), i % (QFZ_SIDE / 8) * 8);
    else
        for (int i = w.thread; i < QFZ_BLOCK_PX; i += THREADS)
            load_one(w, i / QFZ_SIDE, i % QFZ_SIDE);
}

template <typename WORK> static __device__ __forceinline__ void make_states(WORK &w)
{
    for (uint32_t c = (uint32_t)w.thread; c < w.n_comps; c += THREADS) {
        query_key state = c;
        for (uint32_t round = 0; round < w.n_states; round++) {
            const query_key hook = w.m.hooks[(uint32_t)state & 0xffff];
            if (((uint32_t)hook >> QFZ_STEP_BITS & QFZ_STEP_ROOT) == round)
                state = max(state >> 16, hook >> 16) << 16 | ((uint32_t)hook & QFZ_STEP_MASK);
            w.m.state[round * w.n_comps + c] = state;
        }
    }
}

/* ---- Climb ----------------------------------------------------------------------------------- */

/* The greatest level between two components of the block, and at least `level`.  If their ways do
 * not meet in it, *open is true and they become their roots' steps. */
template <typename WORK>
static __device__ __forceinline__ uint32_t climb_block(const WORK &w, uint32_t &a, uint32_t &b,
                                                       uint32_t level, bool *open)
{
    query_key from_a = w.m.hooks[a], from_b = w.m.hooks[b];
    for (;;) {
        if (((uint32_t)from_b & 0xffff) < ((uint32_t)from_a & 0xffff)) {
            swap(a, b);
            swap(from_a, from_b);
        }
        const uint32_t step = (uint32_t)from_a & 0xffff;
        if (step >> QFZ_STEP_BITS == QFZ_STEP_ROOT) {
            a = step;
            b = (uint32_t)from_b & 0xffff;
            *open = true;
            return level;
        }
        level = max(level, (uint32_t)(from_a >> 16));
        a = step & QFZ_STEP_MASK;
        if (a == b) return level;
        from_a = w.m.hooks[a];
    }
}

/* ---- Edges that leave the block's ways ------------------------------------------------------- */

/* Edges are numbered direction * QFZ_BLOCK_PX + pixel. */
template <typename WORK>
static __device__ __forceinline__ void store(const WORK &w, uint32_t edge, uint32_t level)
{
    const uint32_t y = edge / QFZ_SIDE % QFZ_SIDE, x = edge % QFZ_SIDE;
    const uint32_t plane = edge / QFZ_BLOCK_PX * w.n_px;
    w.saliency[plane + w.at + y * (uint32_t)w.forest.w + x] = (decltype(+w.saliency[0]))level;
}

/* The last n of the warp's queue, one a lane. */
template <typename WORK> static __device__ __forceinline__ void serve_open(WORK &w, uint32_t n)
{
    __syncwarp();
    w.n_open -= n;
    if ((uint32_t)w.lane < n) {
        const uint2 item = w.m.open[w.warp][w.n_open + (uint32_t)w.lane];
        const uint32_t u = w.first_vertex + (item.y >> 9 & 0x1ff);
        const uint32_t v = w.first_vertex + (item.y & 0x1ff);
        store(w, item.y >> 18, climb(w.forest.up, u, v, item.x));
    }
    __syncwarp();
}

/* Queues an item of those lanes that have one. */
template <typename WORK>
static __device__ __forceinline__ void queue_open(WORK &w, bool has, uint2 item)
{
    const unsigned who = __ballot_sync(0xffffffffu, has);
    if (has) w.m.open[w.warp][w.n_open + (uint32_t)__popc(who & ((1u << w.lane) - 1))] = item;
    w.n_open += (uint32_t)__popc(who);
    if (w.n_open >= QFZ_WARP) serve_open(w, QFZ_WARP);
}

/* ---- Edges between components ---------------------------------------------------------------- */

static __device__ __forceinline__ bool same_comp(query_key a, query_key b)
{
    return (((uint32_t)a ^ (uint32_t)b) & 0xffff) == 0;
}

/* From a pixel's number to that of its neighbour in a direction. */
static __device__ __forceinline__ uint32_t step_along(uint32_t dir)
{
    return __byte_perm(0x3f414001u, 0, 0x4440u | dir);
}

/* The level of an edge, or *open and what to queue. */
template <typename WORK>
static __device__ __forceinline__ uint32_t look_up(const WORK &w, uint32_t edge, bool *open,
                                                   uint2 *item)
{
    const uint32_t p = edge % QFZ_BLOCK_PX, q = p + step_along(edge / QFZ_BLOCK_PX);
    const query_key at_p = w.m.word[p], at_q = w.m.word[q];
    uint32_t a = (uint32_t)at_p & 0xffff, b = (uint32_t)at_q & 0xffff;
    uint32_t level = (uint32_t)(max(at_p, at_q) >> 16);
    const query_key *state = w.m.state;
    query_key state_a = state[a], state_b = state[b]; /* seen to differ */
    for (uint32_t round = 1; round < w.n_states; round++) {
        state += w.n_comps;
        state_a = state[a];
        state_b = state[b];
        if (same_comp(state_a, state_b)) break;
    }
    level = max(level, (uint32_t)(max(state_a, state_b) >> 16));
    a = (uint32_t)state_a & 0xffff;
    b = (uint32_t)state_b & 0xffff;
    if (a == b) return level;
    level = climb_block(w, a, b, level, open);
    if (*open && max(a, b) == QFZ_STEP_ENDED) {
        *open = false;
        return QFZ_NONE;
    }
    *item = make_uint2(level, edge << 18 | (a & 0x1ff) << 9 | (b & 0x1ff));
    return level;
}

template <typename WORK> static __device__ __forceinline__ void serve_todo(WORK &w, uint32_t n)
{
    __syncwarp();
    for (uint32_t base = 0; base < n; base += QFZ_WARP) {
        const uint32_t i = base + (uint32_t)w.lane;
        bool open = false;
        uint2 item = make_uint2(0, 0);
        if (i < n) {
            const uint32_t edge = w.m.todo[w.warp][i];
            const uint32_t level = look_up(w, edge, &open, &item);
            if (!open) store(w, edge, level);
        }
        queue_open(w, open, item);
    }
    __syncwarp();
}

/* ---- All edges ------------------------------------------------------------------------------- */

/* Puts the edges whose bits are set into the warp's queue; returns how many there are of all
 * lanes.  Bit j * N_DIRS + dir: row j of the strip part that starts at p. */
template <typename WORK>
static __device__ __forceinline__ uint32_t queue_todo(WORK &w, uint32_t bits, uint32_t p)
{
    const unsigned all = 0xffffffffu;
    uint32_t sum = (uint32_t)__popc(bits);
#pragma unroll
    for (unsigned step = 1; step < QFZ_WARP; step *= 2) {
        const uint32_t before = __shfl_up_sync(all, sum, step);
        if (w.lane >= (int)step) sum += before;
    }
    uint16_t *to = &w.m.todo[w.warp][sum - (uint32_t)__popc(bits)];
#pragma unroll
    for (uint32_t j = 0; j < ROWS; j++)
#pragma unroll
        for (uint32_t dir = 0; dir < N_DIRS; dir++)
            if (bits >> (j * N_DIRS + dir) & 1)
                *to++ = (uint16_t)(dir * QFZ_BLOCK_PX + p + j * QFZ_SIDE);
    return __shfl_sync(all, sum, QFZ_WARP - 1);
}

/* What a pixel belongs to after the first round in the block that has a state. */
template <typename WORK>
static __device__ __forceinline__ query_key state_of(const WORK &w, query_key word)
{
    /* Where the pixel has no component, something else is read, and not used. */
    return w.m.state[(uint32_t)word & QFZ_STEP_MASK];
}

/* Edges between two pixels of the block. */
template <typename WORK> static __device__ __forceinline__ void query_inside(WORK &w)
{
    enum { STRIPS = pixel_layout<WORK>::STRIPS };
    const int x = own_x(w);
    const bool in_row = x < w.box.w;
    for (int strip = 0; strip < (int)STRIPS; strip++) {
        const int y = own_y(w, strip), p = y * QFZ_SIDE + x;
        const query_key *const word = w.m.word + p;
        const uint32_t out = w.at + (uint32_t)y * (uint32_t)w.forest.w + (uint32_t)x;
        uint32_t todo = 0;
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const frame edge = frame_of(y, x, j);
            const bool here = in_row & (y + j < w.box.h);
            const query_key own = word[j * QFZ_SIDE], own_state = state_of(w, own);
            const bool none = ((uint32_t)own & 0xffff) == QFZ_NO_COMP;
#pragma unroll
            for (int dir = 0; dir < N_DIRS; dir++) {
                const int k = QFZ_R + dir;
                /* Beyond the block something else is read, and not used. */
                const query_key other = word[(j + qfz_around_dy(k)) * QFZ_SIDE + qfz_around_dx(k)];
                const query_key other_state = state_of(w, other);
                const query_key level = max(own, other), state_level = max(own_state, other_state);
                const bool first = same_comp(own, other);
                const bool valid = !none & (((uint32_t)other & 0xffff) != QFZ_NO_COMP);
                const bool inside = here & !edge.is_out(k);
                const bool done = first | !valid | same_comp(own_state, other_state);
                uint32_t result = (uint32_t)((first ? level : max(level, state_level)) >> 16);
                if (!valid) result = QFZ_NONE;
                todo |= (inside & !done ? 1u : 0u) << (j * N_DIRS + dir);
                const uint32_t at =
                    (uint32_t)dir * w.n_px + out + (uint32_t)j * (uint32_t)w.forest.w;
                if (inside & done) w.saliency[at] = (decltype(+w.saliency[0]))result;
            }
        }
        serve_todo(w, queue_todo(w, todo, (uint32_t)p));
    }
    serve_open(w, w.n_open);
}

/* Edges to other blocks, whose rims tell how far it is up to the vertices; and those that would
 * leave the image. */
template <typename WORK> static __device__ __forceinline__ void query_leaving(WORK &w)
{
    const qfz_gpu_forest &f = w.forest;
    const int rim = qfz_ring_count(w.box.h, w.box.w);
    for (int i = w.thread; i < rim; i += THREADS) {
        const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
        const int y = place.y, x = place.x;
        const frame edge = {y == 0, y == QFZ_SIDE - 1, x == 0, x == QFZ_SIDE - 1};
        const uint2 own = f.rim[(int64_t)blockIdx.x * f.rim_room + i];
        for (int dir = 0; dir < (int)N_DIRS; dir++) {
            const int k = QFZ_R + dir;
            if (!edge.is_out(k)) continue;
            const int32_t ty = w.box.y + y + qfz_around_dy(k), tx = w.box.x + x + qfz_around_dx(k);
            uint32_t level = QFZ_NONE;
            if (ty < f.h && tx >= 0 && tx < f.w) {
                const uint2 other = f.rim[qfz_rim_place(f, ty, tx)];
                if (own.x != QFZ_NONE && other.x != QFZ_NONE)
                    level = climb(f.up, own.x, other.x, max(own.y, other.y));
            }
            store(w, (uint32_t)(dir * QFZ_BLOCK_PX + y * QFZ_SIDE + x), level);
        }
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T>
static __global__ void __launch_bounds__(THREADS) k_query(qfz_gpu_forest forest, T *saliency)
{
    QFZ_SHARED(query_memory, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 block = forest.block[blockIdx.x];
    const uint32_t n_comps = block.y & 0xffff, n_rounds = block.y >> 16;
    const uint32_t most = min(STATE_ROOM / n_comps, (uint32_t)MAX_STATES);
    const uint32_t n_states = max(min(n_rounds, most), 1u);
    query_work<T> w = {*m,
                       forest,
                       saliency,
                       (uint32_t)forest.h * (uint32_t)forest.w,
                       (uint32_t)box.y * (uint32_t)forest.w + (uint32_t)box.x,
                       box,
                       block.x,
                       n_comps,
                       n_states,
                       0,
                       thread,
                       thread % QFZ_WARP,
                       thread / QFZ_WARP};
    load(w);
    __syncthreads();
    make_states(w);
    __syncthreads();
    query_inside(w);
    query_leaving(w);
}

size_t qfz_boruvka_query_shared(void)
{
    return sizeof(query_memory);
}

template <typename T>
static qfz_status query(qfz_gpu *gpu, const qfz_gpu_forest *forest, void *d_saliency)
{
    return qfz_launch(gpu, k_query<T>, dim3((unsigned)forest->n_blocks), dim3(THREADS),
                      sizeof(query_memory), *forest, static_cast<T *>(d_saliency));
}

qfz_status qfz_boruvka_query(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_forest *forest,
                             void *d_saliency)
{
    return qfz_gpu_is_narrow(edges) ? query<uint16_t>(gpu, forest, d_saliency)
                                    : query<uint32_t>(gpu, forest, d_saliency);
}
