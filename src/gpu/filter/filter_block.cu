/* SPDX-License-Identifier: MIT */
/* filter_block.cu - clusters of the area filter (filter.cuh) grow inside blocks, in shared memory,
 * as far as they can.
 *
 * A cluster whose picked edge leaves the block is PICKED in the tile, and goes on there
 * (filter_rounds.cu).  A block with more clusters or edges than fit leaves all its pixels to the
 * rounds there. */
#include <type_traits>

#include "gpu/filter/filter_grow.cuh"

/* ---- Store ----------------------------------------------------------------------------------- */

static QFZ_DEVICE void add_bits(const qfz_gpu_filter &f, uint32_t px, uint32_t bits)
{
    if (bits != 0) atomicOr(&f.d_zeroed[px / 4], bits << 8 * (px % 4));
}

/* True if no other block writes bits of any of the four pixels of the word: other blocks have edges
 * that start from the last row and from the first and last column. */
static QFZ_DEVICE bool is_own_word(uint32_t quad, uint32_t px)
{
    enum { FIRST = 2, LAST = SIDE - 2 };
    const uint32_t left = quad % SIDE - px % 4, row = quad / SIDE;
    return row - 1 < LAST && left - FIRST <= (uint32_t)(LAST - 3 - FIRST);
}

/* The bits of a quad belong to its pixel, but the last one to the pixel on the right. */
template <typename WORK> static QFZ_DEVICE void store_marks(const WORK &w)
{
    enum { OF_RIGHT = 1 << QFZ_BELOW_LEFT };
    const uint8_t *const marks = reinterpret_cast<const uint8_t *>(w.m.marks);
    const bool is_first = w.own(0) % SIDE == 0, is_last = w.own(0) % SIDE == SIDE - 1;
    for (int i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t quad = w.own(i), px = w.px_of(quad); /* without bits, any number */
        uint32_t bits = marks[quad];
        if (WORK::shape::DIRS > 2) {
            if (is_last) add_bits(w.f, px + 1, bits & OF_RIGHT);
            bits &= ~(uint32_t)OF_RIGHT;
            if (!is_first) bits |= marks[quad - 1] & OF_RIGHT;
        }
        if (!is_own_word(quad, px))
            add_bits(w.f, px, bits);
        else if (bits != 0)
            reinterpret_cast<uint8_t *>(w.f.d_zeroed)[px] = (uint8_t)bits;
    }
}

/* A pixel's arrival at the root of its cluster, or the first edge of the root. */
struct arrival {
    uint32_t key, edge, mass;
};

template <typename WORK>
static QFZ_DEVICE arrival arrival_of(const WORK &w, uint32_t quad, uint32_t side)
{
    const auto &g = w.m.graph;
    const uint32_t word = w.m.word[quad], c = word & NUMBER, edge = edge_of<WORK>(quad, side);
    const arrival alone = {g.first[quad], edge, w.mass(quad)};
    if (!(word & LIVE)) return alone;
    if (g.cell[c] == quad) return {g.key[c], g.edge[c], g.mass[c]};
    const bool is_of_root = g.cell[c] == (g.root[c] & NUMBER);
    if (is_of_root || !arrives(w, alone.key, edge, c)) return alone;
    return {g.key[c], g.edge[c], 0};
}

/* True if a pixel has mass that did not arrive at the root of its cluster, which has picked an
 * edge, before that edge. */
template <typename WORK>
static QFZ_DEVICE bool waits(const WORK &w, uint32_t quad, const arrival &with)
{
    const uint32_t cell = root_of(w, w.m.word[quad]) & NUMBER, root = w.m.word[cell];
    if (with.mass == 0) return false;
    return !(root & LIVE) || !arrives(w, with.key, with.edge, root & NUMBER);
}

template <typename WORK>
static QFZ_DEVICE void store_arrival(const WORK &w, uint32_t px, const arrival &with)
{
    qfz_filter_set_first(w.f, px, w.place(with.edge));
    w.f.d_mass[px] = with.mass;
}

/* Stores the root of each pixel, and lists those of clusters that grow on in the tile, roots from
 * the front and others from the back. */
template <int N, typename WORK>
static QFZ_DEVICE void store_roots(const WORK &w, const own_quads<N> &own)
{
    auto &m = w.m;
    uint16_t *const leaving = m.graph.leaving;
#pragma unroll 1
    for (int i = 0; i < block_shape<N>::OWN; i++) {
        const uint32_t quad = w.own(i), word = root_of(w, m.word[quad]), root = word & NUMBER;
        const uint32_t px = w.px_of(quad), side = side_at(own, i);
        const bool has = w.has(quad), is_root = root == quad;
        const bool leaves = has && (word & LEAVES) != 0;
        const uint16_t entry = (uint16_t)(side * QUADS + quad);
        const uint32_t front = qfz_take_one(&m.n_roots, leaves && is_root);
        const uint32_t back = qfz_take_one(&m.n_others, leaves && !is_root);
        if (leaves) leaving[is_root ? front : QUADS - 1 - back] = entry;
        if (!has) continue;
        w.f.d_up[px] =
            !is_root ? w.px_of(root) : QFZ_FILTER_ROOT | (leaves ? QFZ_FILTER_PICKED : 0u);
        if (leaves) continue;
        const int2 at = w.at(root);
        const bool is_open = w.f.is_open_ring && qfz_filter_is_on_ring(w.f, at.y, at.x);
        if (is_open && !is_root) store_arrival(w, px, arrival_of(w, quad, side));
    }
}

/* The same for a block whose pixels are all clusters of their own. */
template <int N, typename WORK>
static QFZ_DEVICE void store_alone(const WORK &w, const uint8_t *valid)
{
#pragma unroll 1
    for (int i = 0; i < block_shape<N>::OWN; i++) {
        const uint32_t quad = w.own(i), px = w.px_of(quad);
        const uint32_t at = qfz_take_one(&w.m.n_roots, w.has(quad));
        if (!w.has(quad)) continue;
        const uint64_t mass = qfz_filter_mass_of_px(w.f, valid, w.at(quad).y, w.at(quad).x);
        qfz_filter_begin_px(w.f, px, mass);
        w.growing()[at] = px;
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    w.f.d_n_growing[blockIdx.x] = make_uint2(w.m.n_roots, w.m.n_roots);
    w.f.d_n_edges[blockIdx.x] = QFZ_FILTER_ALL_EDGES;
}

/* Stores with which edges listed pixels arrive, and the list of roots and of what waits. */
template <typename WORK> static QFZ_DEVICE void store_leaving(const WORK &w)
{
    enum { THREADS = WORK::shape::THREADS };
    auto &m = w.m;
    const uint32_t n_roots = m.n_roots, n_others = m.n_others;
    for (uint32_t i = threadIdx.x; i < n_roots; i += THREADS) {
        const uint32_t entry = m.graph.leaving[i], px = w.px_of(entry % QUADS);
        w.growing()[i] = px;
        store_arrival(w, px, arrival_of(w, entry % QUADS, entry / QUADS));
    }
    for (uint32_t first = 0; first < n_others; first += THREADS) {
        const uint32_t i = first + threadIdx.x;
        const uint32_t entry = i < n_others ? m.graph.leaving[QUADS - 1 - i] : 0;
        const uint32_t quad = entry % QUADS, px = w.px_of(quad);
        arrival with = {};
        if (i < n_others) with = arrival_of(w, quad, entry / QUADS);
        const bool is_listed = i < n_others && waits(w, quad, with);
        const uint32_t at = n_roots + qfz_take_one(&m.n_waiting, is_listed);
        if (is_listed) {
            w.growing()[at] = px;
            store_arrival(w, px, with);
        } else if (i < n_others && w.f.is_open_ring) {
            w.f.d_mass[px] = 0;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) w.f.d_n_growing[blockIdx.x] = make_uint2(n_roots + m.n_waiting, n_roots);
}

/* Lists the other edges of clusters that grow on. */
template <int N, typename WORK>
static QFZ_DEVICE void store_edges(const WORK &w, own_edges<N> *edges)
{
    uint32_t n = 0;
    QFZ_EACH (k, own_edges<N>::COUNT) {
        if (edges->key[k] == NO_KEY) continue;
        if (is_needed(root_of(w, edges->ends[k] >> 16), root_of(w, edges->ends[k] & TO)))
            n++;
        else
            edges->key[k] = NO_KEY;
    }
    uint32_t at = qfz_take(&w.m.n_left, n);
    QFZ_EACH (k, own_edges<N>::COUNT)
        if (edges->key[k] != NO_KEY) leave_edge(w, at++, edges->number[k] >> TO_BITS);
    __syncthreads();
    if (threadIdx.x == 0)
        w.f.d_n_edges[blockIdx.x] =
            w.m.n_left <= QFZ_FILTER_BLOCK_PX ? w.m.n_left : QFZ_FILTER_ALL_EDGES;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T, int N>
static __global__ void __launch_bounds__(block_shape<N>::THREADS, block_shape<N>::RESIDENT)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, const uint8_t *valid, int n_level_bits)
{
    QFZ_SHARED(block_memory<N>, m);
    const qfz_block_box box = qfz_filter_block_of(f, blockIdx.x);
    const block_work<T, N> w = {*m, f, reader, box.y - 1, box.x - 1, n_level_bits};
    own_quads<N> own;
    own_edges<N> edges;
    begin(w, &own);
    if (first_round(w, &own, &edges)) {
        grow(w, &own, &edges);
        store_edges(w, &edges);
        store_marks(w);
        store_roots(w, own);
        __syncthreads();
        store_leaving(w);
    } else {
        store_alone<N>(w, valid);
    }
}

static size_t shared_of(const qfz_gpu_edges *edges)
{
    return edges->connectivity == 4 ? sizeof(block_memory<4>) : sizeof(block_memory<8>);
}

bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_edges *edges,
                           const qfz_gpu_filter *filter)
{
    return filter->least < UINT32_MAX && shared_of(edges) <= gpu->shared_max;
}

template <typename T, int N>
static qfz_status launch_blocks(qfz_gpu *gpu, const qfz_gpu_filter *f,
                                const qfz_edge_reader<T> &reader, const qfz_gpu_edges *edges)
{
    const dim3 n_blocks(qfz_filter_block_count(f->h, f->w));
    int n_level_bits = 0;
    while (n_level_bits < 32 && edges->max_level >> n_level_bits > 0)
        n_level_bits++;
    return qfz_launch(gpu, k_block<T, N>, n_blocks, dim3(block_shape<N>::THREADS), shared_of(edges),
                      *f, reader, edges->d_valid, n_level_bits);
}

qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_filter *filter)
{
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        using T = typename std::decay<decltype(*reader.from)>::type;
        return edges->connectivity == 4 ? launch_blocks<T, 4>(gpu, filter, reader, edges)
                                        : launch_blocks<T, 8>(gpu, filter, reader, edges);
    });
}
