/* SPDX-License-Identifier: MIT */
/* boruvka_block.cu - Boruvka rounds inside blocks of 64 x 64 pixels, in shared memory.
 *
 *   choose    every pixel hooks itself by its lightest edge; edges that are the heaviest of a cycle
 *             in a square are marked (qfz_square_drops())
 *   number,   of two pixels that chose the same edge, the first is the root of a component; the
 *   settle    components are numbered, and every pixel gets the number of its component
 *   collect   the unmarked edges between two components become a list
 *   rounds    Boruvka rounds on that list, until all components but a few wait
 *   name      the components that remain become vertices of the graph of all blocks
 *   span      a minimum spanning tree of these vertices inside the block; the edges of this tree
 *             and those that leave the block become the edges of the graph
 *
 * A component waits if its lightest edge leaves the block.  A component that hooks itself to a
 * waiting one does not bring a lighter edge; so a waiting component waits until the end, and has a
 * pixel on the rim.  Among edges of one level, those inside the block come first; otherwise flat
 * areas would wait at once.
 */
#include "gpu/forest/boruvka_comps.cuh"
#include "gpu/forest/boruvka_pixels.cuh"

/* ---- Span ------------------------------------------------------------------------------------ */

/* Offers every edge of the part to the sets of its two vertices, and removes edges inside a set;
 * true if edges remain. */
template <typename WORK>
static __device__ __forceinline__ bool offer_to_sets(WORK &w, list_share &part)
{
    typedef typename WORK::KEY KEY;
    sweep(w, part, [&](KEY key) {
        const uint32_t a = w.m.set[vertex_of_pixel(w, first_end(key))];
        const uint32_t b = w.m.set[vertex_of_pixel(w, second_end(key))];
        if (a == b) return false;
        qfz_lower(&w.m.lightest[a], key);
        qfz_lower(&w.m.lightest[b], key);
        return true;
    });
    return part.n > 0;
}

/* The set to which set v of vertices hooks itself: the set at the other end of its lightest edge.
 * Set v itself if it has no edge, or if the other set, with a greater number, chose the same edge.
 */
template <typename WORK> static __device__ __forceinline__ uint32_t taken_by(WORK &w, uint32_t v)
{
    typedef typename WORK::KEY KEY;
    const KEY key = w.m.lightest[v];
    if (key == ~(KEY)0) return v;
    const uint32_t a = w.m.set[vertex_of_pixel(w, first_end(key))];
    const uint32_t b = w.m.set[vertex_of_pixel(w, second_end(key))];
    const uint32_t other = a == v ? b : a;
    return v < other && w.m.lightest[other] == key ? v : other;
}

/* Boruvka's algorithm on the vertices, without the edges that leave the block: tree[] gets the
 * edges of the minimum spanning forest. */
template <typename WORK> static __device__ __forceinline__ void span(WORK &w, list_share &part)
{
    typedef typename WORK::KEY KEY;
    const uint32_t first = (uint32_t)w.thread, n = w.m.n_vertices, step = w.THREADS;
    for (uint32_t v = first; v < n; v += step) {
        w.m.set[v] = (uint16_t)v;
        w.m.lightest[v] = ~(KEY)0;
    }
    __syncthreads();
    while (__syncthreads_or(offer_to_sets(w, part))) {
        for (uint32_t v = first; v < n; v += step) {
            if (w.m.set[v] != v) continue;
            const uint32_t other = taken_by(w, v);
            w.m.hook[v] = (uint16_t)other;
            if (other != v) w.m.tree[atomicAdd(&w.m.n_tree, 1u)] = w.m.lightest[v];
        }
        __syncthreads();
        for (uint32_t v = first; v < n; v += step) {
            uint32_t root = w.m.set[v];
            while (w.m.hook[root] != root)
                root = w.m.hook[root];
            w.m.set[v] = (uint16_t)root;
            w.m.lightest[v] = ~(KEY)0;
        }
        __syncthreads();
    }
}

/* Appends the block's edges to the graph.  The other end of an edge that leaves the block is given
 * as an index into forest->rim. */
template <typename WORK> static __device__ __forceinline__ void store_edges(WORK &w)
{
    typedef typename WORK::KEY KEY;
    const uint32_t n_leaving = w.m.n_leaving, n = n_leaving + w.m.n_tree;
    if (w.thread == 0) w.m.first_edge = atomicAdd(&w.forest.count[QFZ_COUNT_EDGES], n);
    __syncthreads();
    for (uint32_t i = (uint32_t)w.thread; i < n; i += w.THREADS) {
        const bool leaves = i < n_leaving;
        const KEY key = leaves ? w.m.leaving[i] : w.m.tree[i - n_leaving];
        const uint32_t p = first_end(key);
        uint2 ends = make_uint2(w.m.first_vertex + vertex_of_pixel(w, p), 0);
        if (leaves) {
            const int k = QFZ_R + (int)((uint32_t)key & 3);
            const int32_t y = w.box.y + (int32_t)p / QFZ_SIDE + qfz_around_dy(k);
            const int32_t x = w.box.x + (int32_t)p % QFZ_SIDE + qfz_around_dx(k);
            ends.y = QFZ_RIM_REF | qfz_rim_place(w.forest, y, x);
        } else {
            ends.y = w.m.first_vertex + vertex_of_pixel(w, second_end(key));
        }
        w.forest.ends[0][w.m.first_edge + i] = ends;
        qfz_set_edge_level(w.forest, 0, w.m.first_edge + i, level_of(key));
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename SOURCE, bool EIGHT>
static __global__ void __launch_bounds__(block_work<SOURCE, EIGHT>::THREADS)
    k_block(qfz_gpu_forest forest, SOURCE source)
{
    typedef block_memory<SOURCE, EIGHT> memory;
    QFZ_SHARED(memory, m);
    const int thread = (int)threadIdx.x;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    block_work<SOURCE, EIGHT> w = {*m,
                                   forest,
                                   source,
                                   box,
                                   qfz_ring_count(box.h, box.w),
                                   thread,
                                   thread % QFZ_WARP,
                                   thread / QFZ_WARP};
    source.y0 = box.y;
    source.x0 = box.x;
    source.begin(m->value);
    if (thread == 0)
        m->n_numbers = m->n_list = m->n_leaving = m->n_next = m->n_tree = m->n_vertices = 0;
    __syncthreads();
    choose(w);
    __syncthreads();
    if (forest.keeps_ring) {
        keep_ring(w);
        __syncthreads();
    }
    number(w);
    __syncthreads();
    settle(w);
    collect(w);
    collect_leaving(w);
    __syncthreads();
    const uint32_t warp = (uint32_t)w.warp, n = m->n_list;
    list_share part = {warp * n / w.WARPS, (warp + 1) * n / w.WARPS - warp * n / w.WARPS};
    const uint32_t n_rounds = rounds(w, part);
    name_vertices(w, n_rounds);
    store_forest(w);
    span(w, part);
    store_edges(w);
}

template <typename SOURCE, bool EIGHT>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_forest *forest, const SOURCE &source)
{
    const dim3 grid((unsigned)forest->n_blocks), block(block_work<SOURCE, EIGHT>::THREADS);
    return qfz_launch(gpu, k_block<SOURCE, EIGHT>, grid, block, sizeof(block_memory<SOURCE, EIGHT>),
                      *forest, source);
}

template <typename SOURCE>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_forest *forest, const SOURCE &source)
{
    return forest->connectivity == 4 ? launch<SOURCE, false>(gpu, forest, source)
                                     : launch<SOURCE, true>(gpu, forest, source);
}

template <typename T>
static qfz_status launch_values(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                const qfz_gpu_forest *forest)
{
    qfz_values_source<T> source = {};
    source.pixels = static_cast<const T *>(edges->d_values);
    source.valid = edges->d_valid;
    source.bias = edges->bias;
    source.h = edges->h;
    source.w = edges->w;
    const uintptr_t row = (uintptr_t)edges->w * sizeof(T), start = (uintptr_t)edges->d_values;
    source.aligned = (row | start) % 16 == 0;
    return launch(gpu, forest, source);
}

template <typename SOURCE> static size_t shared_of(bool eight)
{
    return eight ? sizeof(block_memory<SOURCE, true>) : sizeof(block_memory<SOURCE, false>);
}

size_t qfz_gpu_forest_shared(const qfz_gpu_edges *edges)
{
    const bool eight = edges->connectivity == 8;
    if (edges->form == QFZ_EDGES_U8) return shared_of<qfz_values_source<uint8_t>>(eight);
    if (edges->form == QFZ_EDGES_U16) return shared_of<qfz_values_source<uint16_t>>(eight);
    if (edges->form == QFZ_EDGES_F32) return shared_of<qfz_values_source<float>>(eight);
    return shared_of<qfz_levels_source>(eight);
}

bool qfz_gpu_forest_needs_levels(const qfz_rule *rule)
{
    return qfz_gpu_edges_need_levels(rule) || rule->type == QFZ_U32 || rule->type == QFZ_I32;
}

qfz_status qfz_boruvka_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_forest *forest)
{
    if (edges->form == QFZ_EDGES_U8) return launch_values<uint8_t>(gpu, edges, forest);
    if (edges->form == QFZ_EDGES_U16) return launch_values<uint16_t>(gpu, edges, forest);
    if (edges->form == QFZ_EDGES_F32) return launch_values<float>(gpu, edges, forest);
    qfz_levels_source source = {};
    source.levels = edges->d_levels;
    source.n_px = (int64_t)edges->h * edges->w;
    source.h = edges->h;
    source.w = edges->w;
    return launch(gpu, forest, source);
}
