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

/* The bits of four quads in a row, from a column on; 0 outside the block. */
template <typename WORK>
static QFZ_DEVICE uint32_t marks_from(const WORK &w, uint32_t row, int column)
{
    enum { WORDS = SIDE / 4 };
    const uint32_t *const of_row = w.m.marks + row * WORDS;
    const int word = column >> 2;
    const uint32_t low = (uint32_t)word < WORDS ? of_row[word] : 0;
    const uint32_t high = (uint32_t)(word + 1) < WORDS ? of_row[word + 1] : 0;
    return (uint32_t)(((uint64_t)high << 32 | low) >> 8 * (column & 3));
}

/* The bits of a quad belong to its pixel, but the last one to the pixel on the right.  Other blocks
 * have edges that start from the last row and from the first and last column, and write bits of
 * these pixels, too; behind the tile's last column, a word has pixels of the next row. */
template <typename WORK> static QFZ_DEVICE void store_marks(const WORK &w)
{
    enum { WORDS = SIDE / 4 + 1, FIRST = 2, LAST = SIDE - 2 };
    const int end = min(SIDE - 1, w.f.w - w.x);
    const uint32_t of_right = 0x01010101u << QFZ_BELOW_LEFT;
    for (uint32_t i = threadIdx.x; i < SIDE * WORDS; i += WORK::shape::THREADS) {
        const uint32_t row = i / WORDS, px = w.px_of(row * SIDE);
        const int column = (int)(i % WORDS * 4) - (int)(px % 4);
        uint32_t bits = marks_from(w, row, column);
        if (WORK::shape::DIRS > 2)
            bits = (bits & ~of_right) | (marks_from(w, row, column - 1) & of_right);
        if (bits == 0) continue;
        uint32_t *const word = &w.f.d_zeroed[(px + (uint32_t)column) / 4];
        const bool is_own = row - 1 < LAST && column >= FIRST && column + 3 < end;
        if (is_own)
            *word = bits;
        else
            atomicOr(word, bits);
    }
}

/* The arrival of a pixel, or of a cluster whose root the pixel was, at the root of its cluster, or
 * the first edge of the root. */
struct arrival {
    uint32_t edge, mass;
};

template <typename WORK> static QFZ_DEVICE arrival arrival_of_cluster(const WORK &w, uint32_t c)
{
    return {w.m.graph.edge[c], w.m.graph.mass[c]};
}

template <typename WORK>
static QFZ_DEVICE arrival arrival_of_px(const WORK &w, uint32_t quad, uint32_t side)
{
    return {edge_of<WORK>(quad, side), w.mass(quad)};
}

/* Of any pixel: it may have arrived at the root of a cluster, with which it arrives then. */
template <typename WORK>
static QFZ_DEVICE arrival arrival_of(const WORK &w, uint32_t quad, uint32_t side)
{
    const auto &g = w.m.graph;
    const uint32_t word = w.m.word[quad], c = word & NUMBER;
    const arrival alone = arrival_of_px(w, quad, side);
    if (!(word & GROWS)) return alone;
    const arrival with = arrival_of_cluster(w, c);
    if (g.cell[c] == quad) return with;
    const bool is_of_root = g.cell[c] == (g.root[c] & NUMBER);
    if (is_of_root || with.edge == NO_WORD || !w.is_before(alone.edge, with.edge)) return alone;
    return {with.edge, 0};
}

template <typename WORK>
static QFZ_DEVICE void store_arrival(const WORK &w, uint32_t px, const arrival &with)
{
    qfz_filter_set_first(w.f, px, w.place(with.edge));
    w.f.d_mass[px] = with.mass;
}

/* Entries of the list of what goes on: BY_CLUSTER and the number of a cluster that waits; or a
 * pixel that is a root, or waits, beside the side of its first edge. */
enum { BY_CLUSTER = 1 << 15 };

/* Stores the root of each pixel, and lists roots that go on in the tile, from the front. */
template <int N, typename WORK>
static QFZ_DEVICE void store_roots(const WORK &w, const own_quads<N> &own)
{
    auto &m = w.m;
    const uint32_t has = own_pixels(w), first = w.px_of(w.own(0));
    uint32_t roots = 0; /* a bit a pixel */
    QFZ_EACH (i, block_shape<N>::OWN) {
        const uint32_t quad = w.own(i), word = root_of(w, m.word[quad]), root = word & NUMBER;
        if (!(has >> i & 1)) continue;
        const uint32_t of_root = QFZ_FILTER_ROOT | (word & OUTSIDE ? QFZ_FILTER_PICKED : 0u);
        w.f.d_up[first + (uint32_t)(i * w.f.w)] = root == quad ? of_root : w.px_of(root);
        roots |= (uint32_t)(word == (quad | OUTSIDE)) << i;
    }
    uint32_t at = qfz_take(&m.n_roots, (uint32_t)__popc(roots));
    for (; roots != 0; roots &= roots - 1) {
        const int i = __ffs((int)roots) - 1;
        m.graph.leaving[at++] = (uint16_t)(side_at(own, i) * QUADS + w.own(i));
    }
}

/* The masses of other pixels of clusters that leave, before what waits has its own, and arrivals at
 * open pixels. */
template <int N, typename WORK>
static QFZ_DEVICE void store_for_ring(const WORK &w, const own_quads<N> &own)
{
    const uint32_t has = own_pixels(w);
#pragma unroll 1
    for (int i = 0; i < block_shape<N>::OWN; i++) {
        const uint32_t quad = w.own(i), word = root_of(w, w.m.word[quad]), root = word & NUMBER;
        if (!(has >> i & 1) || root == quad) continue;
        const uint32_t px = w.px_of(quad);
        const int2 at = w.at(root);
        if (word & OUTSIDE)
            w.f.d_mass[px] = 0;
        else if (qfz_filter_is_on_ring(w.f, at.y, at.x))
            store_arrival(w, px, arrival_of(w, quad, side_at(own, i)));
    }
}

/* Lists what waits, from the back. */
template <typename WORK>
static QFZ_DEVICE void list_waiting(const WORK &w, bool waits, uint32_t entry)
{
    const uint32_t back = qfz_take_one(&w.m.n_others, waits);
    if (waits) w.m.graph.leaving[QUADS - 1 - back] = (uint16_t)entry;
}

/* Lists pixels that wait in clusters that leave. */
template <int N, typename WORK>
static QFZ_DEVICE void list_pixels(const WORK &w, const own_quads<N> &own, const own_late<N> &late)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    for (uint32_t i = 0; i * QFZ_WARP < own.n_late; i++) {
        const uint32_t px = i * QFZ_WARP + lane < own.n_late ? late.px[i] : 0;
        const bool waits = (own.waits >> i & 1) && (w.m.graph.root[px >> 16] & OUTSIDE);
        const bool leaves = waits || (own.leaves >> i & 1);
        list_waiting(w, leaves && w.mass(px % QUADS) > 0, px & (BY_CLUSTER - 1));
    }
}

/* Lists clusters that wait, or are a part of one that leaves with the mass that they have. */
template <int N, typename WORK>
static QFZ_DEVICE void list_clusters(const WORK &w, const own_quads<N> &own)
{
    const auto &g = w.m.graph;
    const uint32_t n = w.m.n_clusters;
    uint32_t bit = 1;
    for (uint32_t first = 0; first < n; first += WORK::shape::THREADS, bit *= 2) {
        const uint32_t c = first + threadIdx.x;
        const uint32_t word = c < n ? g.root[c] : 0;
        const bool waits = (word & OUTSIDE) && g.cell[c] != (word & NUMBER) && g.mass[c] > 0 &&
                           !(own.counted & bit);
        list_waiting(w, waits, BY_CLUSTER | c);
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

/* Stores the list, roots first, and with which edge each arrives. */
template <typename WORK> static QFZ_DEVICE void store_leaving(const WORK &w)
{
    const auto &g = w.m.graph;
    const uint32_t n_roots = w.m.n_roots, n = n_roots + w.m.n_others;
    for (uint32_t i = threadIdx.x; i < n; i += WORK::shape::THREADS) {
        const bool is_root = i < n_roots;
        const uint32_t entry = g.leaving[is_root ? i : QUADS - 1 - (i - n_roots)];
        const uint32_t quad = entry & BY_CLUSTER ? g.cell[entry - BY_CLUSTER] : entry % QUADS;
        const uint32_t word = is_root ? w.m.word[quad] : 0, px = w.px_of(quad);
        const bool is_cluster = (entry & BY_CLUSTER) || (word & GROWS);
        const arrival with =
            is_cluster
                ? arrival_of_cluster(w, entry & BY_CLUSTER ? entry - BY_CLUSTER : word & NUMBER)
                : arrival_of_px(w, quad, entry / QUADS);
        w.growing()[i] = px;
        store_arrival(w, px, with);
    }
    if (threadIdx.x == 0) w.f.d_n_growing[blockIdx.x] = make_uint2(n, n_roots);
}

/* Lists the other edges of clusters that grow on. */
template <int N, typename WORK>
static QFZ_DEVICE void store_edges(const WORK &w, const own_quads<N> &own)
{
    const auto &listed = w.m.graph.listed;
    each_listed<N>(own.n_edges, [&](bool has, uint32_t entry) {
        const uint32_t ends = has ? listed.ends[entry] : 0;
        const bool leaves = has && is_needed(root_of(w, ends >> 16), root_of(w, ends & TO));
        const uint32_t at = qfz_take_one(&w.m.n_left, leaves);
        if (leaves) leave_edge(w, at, listed.number[entry]);
    });
    __syncthreads();
    if (threadIdx.x == 0)
        w.f.d_n_edges[blockIdx.x] =
            w.m.n_left <= QFZ_FILTER_BLOCK_PX ? w.m.n_left : QFZ_FILTER_ALL_EDGES;
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T, int N>
static __global__ void __launch_bounds__(block_shape<N>::THREADS, block_shape<N>::RESIDENT)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, const uint8_t *valid, int n_level_bits,
            uint32_t key_of_1)
{
    QFZ_SHARED(block_memory<N>, m);
    const qfz_block_box box = qfz_filter_block_of(f, blockIdx.x);
    const block_work<T, N> w = {*m,           f,        reader,           box.y - 1, box.x - 1,
                                n_level_bits, key_of_1, (uint32_t)f.least};
    own_quads<N> own;
    own_late<N> late;
    begin<N>(w);
    if (first_round(w, &own, &late)) {
        grow(w, &own, late);
        store_edges(w, own);
        store_marks(w);
        store_roots(w, own);
        if (f.is_open_ring) store_for_ring(w, own);
        list_pixels(w, own, late);
        list_clusters(w, own);
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
    const uint32_t key_of_1 = n_level_bits == 0                ? NO_KEY
                              : n_level_bits > MOST_LEVEL_BITS ? KEYS_OF_0
                                                               : 1u << (32 - n_level_bits);
    return qfz_launch(gpu, k_block<T, N>, n_blocks, dim3(block_shape<N>::THREADS), shared_of(edges),
                      *f, reader, edges->d_valid, n_level_bits, key_of_1);
}

qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_filter *filter)
{
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        using T = typename std::decay<decltype(*reader.from)>::type;
        return edges->connectivity == 4 ? launch_blocks<T, 4>(gpu, filter, reader, edges)
                                        : launch_blocks<T, 8>(gpu, filter, reader, edges);
    });
}
