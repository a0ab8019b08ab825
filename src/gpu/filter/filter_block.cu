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

/* Adds bits to the byte of each lane's pixel.  Pixels of neighbouring lanes are neighbours. */
static QFZ_DEVICE void add_bits(const qfz_gpu_filter &f, uint32_t px, uint32_t bits)
{
    uint32_t word = bits << 8 * (px % 4);
    for (int lanes = 1; lanes <= 2; lanes *= 2) {
        const uint32_t other = __shfl_down_sync(QFZ_ALL_LANES, word, lanes);
        const uint32_t other_px = __shfl_down_sync(QFZ_ALL_LANES, px, lanes);
        if (other_px / 4 == px / 4) word |= other;
    }
    const bool is_first = threadIdx.x % QFZ_WARP == 0 || px % 4 == 0;
    if (is_first && word != 0) atomicOr(&f.d_zeroed[px / 4], word);
}

/* The bits of a quad belong to its pixel, but the last one to the pixel on the right. */
template <typename WORK> static QFZ_DEVICE void store_marks(const WORK &w)
{
    enum { OF_RIGHT = 1 << QFZ_BELOW_LEFT };
    for (int i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t quad = w.own(i), bits = w.m.marks[quad / 4] >> 8 * (quad % 4) & 0xff;
        const uint32_t px = w.px_of(quad); /* where there are no bits, any number */
        add_bits(w.f, px, bits & ~(uint32_t)OF_RIGHT);
        if (WORK::shape::DIRS > 2) add_bits(w.f, px + 1, bits & OF_RIGHT);
    }
}

/* A pixel's arrival at the root of its cluster, or the first edge of the root. */
struct arrival {
    uint32_t edge, mass;
};

template <typename WORK>
static QFZ_DEVICE arrival arrival_of(const WORK &w, uint32_t quad, uint32_t side)
{
    const auto &g = w.m.graph;
    const uint32_t word = w.m.word[quad], c = word & NUMBER, edge = edge_of<WORK>(quad, side);
    const arrival alone = {edge, w.mass(quad)};
    if (!(word & LIVE)) return alone;
    if (g.cell[c] == quad) return {g.edge[c], g.mass[c]};
    const bool is_of_root = g.cell[c] == (g.root[c] & NUMBER);
    if (is_of_root || !arrives(w, g.first[quad], edge, c)) return alone;
    return {g.edge[c], 0};
}

template <typename WORK>
static QFZ_DEVICE void store_arrival(const WORK &w, uint32_t quad, uint32_t side)
{
    const uint32_t px = w.px_of(quad);
    const arrival with = arrival_of(w, quad, side);
    qfz_filter_set_first(w.f, px, w.place(with.edge));
    w.f.d_mass[px] = with.mass;
}

/* Stores the root of each pixel, and lists those of clusters that grow on in the tile, roots from
 * the front and others from the back. */
template <int N, typename WORK>
static QFZ_DEVICE void store_roots(const WORK &w, const uint8_t *valid, const own_quads<N> &own)
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
        if (is_root)
            w.f.d_mass[px] =
                is_open ? max(w.f.least, qfz_filter_mass_of_px(w.f, valid, at.y, at.x)) : w.f.least;
        else if (is_open)
            store_arrival(w, quad, side);
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
        w.f.d_mass[px] = mass;
        w.f.d_up[px] = QFZ_FILTER_ROOT | (mass < w.f.least ? QFZ_FILTER_LIVE : 0u);
        w.growing()[at] = px;
    }
    __syncthreads();
    if (threadIdx.x == 0) w.f.d_n_growing[blockIdx.x] = make_uint2(w.m.n_roots, w.m.n_roots);
}

/* Stores with which edges the listed pixels arrive, and the list. */
template <typename WORK> static QFZ_DEVICE void store_leaving(const WORK &w)
{
    const auto &m = w.m;
    const uint32_t n_roots = m.n_roots, n = n_roots + m.n_others;
    for (uint32_t i = threadIdx.x; i < n; i += WORK::shape::THREADS) {
        const uint32_t entry = m.graph.leaving[i < n_roots ? i : QUADS - 1 - (i - n_roots)];
        w.growing()[i] = w.px_of(entry % QUADS);
        store_arrival(w, entry % QUADS, entry / QUADS);
    }
    if (threadIdx.x == 0) w.f.d_n_growing[blockIdx.x] = make_uint2(n, n_roots);
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
        store_marks(w);
        store_roots(w, valid, own);
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
