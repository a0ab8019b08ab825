/* SPDX-License-Identifier: MIT */
/* filter_block.cu - clusters of the area filter (filter.cuh) grow inside blocks, in shared memory,
 * as far as they can.
 *
 * A round:
 *
 *   choose, agree   the first edge of each cluster: its key, then which edge it is
 *   weigh           the mass that arrives before that edge
 *   pick            a light cluster picks the edge; two that picked the same one become one
 *   flatten         other clusters hang on the one that their edge leads to
 *   settle          pixels follow
 *
 * A cluster whose picked edge leaves the block is PICKED in the tile, and goes on there
 * (filter_rounds.cu). */
#include <type_traits>

#include "gpu/filter/filter_block.cuh"

/* ---- Begin ----------------------------------------------------------------------------------- */

template <typename WORK> static QFZ_DEVICE void begin_round(const WORK &w, uint32_t root)
{
    w.m.key[root] = NO_KEY;
    w.m.edge[root] = NO_EDGE;
    w.m.mass[root] = (uint32_t)qfz_filter_row_mass(w.f, w.at(root).y);
}

/* Each pixel is a cluster. */
template <typename WORK> static QFZ_DEVICE bool begin(const WORK &w, const uint8_t *valid)
{
    auto &m = w.m;
    bool is_live = false;
    for (uint32_t i = threadIdx.x; i < CELLS; i += WORK::shape::THREADS)
        m.cluster[i] = (uint16_t)FRAME;
    for (uint32_t i = threadIdx.x; i < QUADS / 4; i += WORK::shape::THREADS)
        m.marks[i] = 0;
    if (threadIdx.x == 0) m.n_leaving = 0;
    __syncthreads();
    for (int i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t quad = w.own(i);
        const int2 at = w.at(quad);
        const bool is_light =
            w.has(quad) && qfz_filter_mass_of_px(w.f, valid, at.y, at.x) < w.f.least;
        if (w.has(quad)) begin_round(w, quad);
        m.next[quad] = (uint16_t)(is_light ? quad : quad | DONE);
        if (w.has(quad)) m.cluster[w.cell(quad)] = m.next[quad];
        is_live |= is_light;
    }
    return is_live;
}

/* ---- First edges ----------------------------------------------------------------------------- */

/* Of the edges of a thread's quads: keys of those that are not inside a cluster, else NO_KEY. */
template <int N> struct own_edges {
    uint32_t key[block_shape<N>::OWN][block_shape<N>::DIRS];
    bool is_tied; /* two of them may be the first one of a cluster */
};

template <int N, typename WORK> static QFZ_DEVICE void read_keys(const WORK &w, own_edges<N> *own)
{
    int2 at = w.at(w.own(0));
    block_cell left = w.read(at.y, at.x), right = w.read(at.y, at.x + 1);
    QFZ_EACH (i, block_shape<N>::OWN) {
        const block_cell below = w.read(at.y + 1, at.x), beyond = w.read(at.y + 1, at.x + 1);
        uint32_t *const key = own->key[i];
        key[QFZ_RIGHT] = w.key(left, right, at, QFZ_RIGHT);
        key[QFZ_BELOW] = w.key(left, below, at, QFZ_BELOW);
        if constexpr (N == 8) {
            key[QFZ_BELOW_RIGHT] = w.key(left, beyond, at, QFZ_BELOW_RIGHT);
            key[QFZ_BELOW_LEFT] = w.key(right, below, make_int2(at.x + 1, at.y), QFZ_BELOW_LEFT);
        }
        left = below;
        right = beyond;
        at.y++;
    }
}

/* The first of some edges of one cluster; edge: word of block_memory.edge. */
struct first_edge {
    uint32_t cluster, key, edge;
};

template <typename OWN>
static QFZ_DEVICE void join(first_edge *first, uint32_t key, uint32_t edge, OWN *own)
{
    own->is_tied |= key == first->key && key != NO_KEY;
    if (key >= first->key) return;
    first->key = key;
    first->edge = edge;
}

/* An edge between cells of two clusters. */
template <typename OWN>
static QFZ_DEVICE void offer(first_edge *a, first_edge *b, uint32_t *key, uint32_t edge, OWN *own)
{
    if (a->cluster == b->cluster || (a->cluster & b->cluster & DONE)) *key = NO_KEY;
    join(a, *key, edge << TO_BITS | b->cluster, own);
    join(b, *key, edge << TO_BITS | a->cluster, own);
}

/* From a cell to the one below. */
template <typename OWN, typename USE>
static QFZ_DEVICE void go_down(first_edge *run, const first_edge &below, OWN *own, const USE &use)
{
    if (run->cluster == below.cluster) {
        join(run, below.key, below.edge, own);
    } else {
        use(*run);
        *run = below;
    }
}

/* Calls use(first) for each run of cells of one cluster, down each side of the thread's strip. */
template <int N, typename WORK, typename USE>
static QFZ_DEVICE void each_run(const WORK &w, own_edges<N> *own, const USE &use)
{
    const uint16_t *const cluster = w.m.cluster + w.cell(w.own(0));
    first_edge left = {cluster[0], NO_KEY, NO_EDGE}, right = {cluster[1], NO_KEY, NO_EDGE};
    QFZ_EACH (i, block_shape<N>::OWN) {
        const uint32_t edge = w.own(i) * block_shape<N>::DIRS;
        uint32_t *const key = own->key[i];
        first_edge below = {cluster[(i + 1) * COLUMNS], NO_KEY, NO_EDGE};
        first_edge below_right = {cluster[(i + 1) * COLUMNS + 1], NO_KEY, NO_EDGE};
        offer(&left, &right, &key[QFZ_RIGHT], edge + QFZ_RIGHT, own);
        offer(&left, &below, &key[QFZ_BELOW], edge + QFZ_BELOW, own);
        if constexpr (N == 8) {
            offer(&left, &below_right, &key[QFZ_BELOW_RIGHT], edge + QFZ_BELOW_RIGHT, own);
            offer(&right, &below, &key[QFZ_BELOW_LEFT], edge + QFZ_BELOW_LEFT, own);
        }
        go_down(&left, below, own, use);
        go_down(&right, below_right, own, use);
    }
    use(left);
    use(right);
}

template <int N, typename WORK> static QFZ_DEVICE void choose(const WORK &w, own_edges<N> *own)
{
    each_run(w, own, [&](const first_edge &first) {
        if (!(first.cluster & DONE)) qfz_lower(&w.m.key[first.cluster], first.key);
    });
}

/* Puts an edge in place of one that comes later. */
template <typename WORK>
static QFZ_DEVICE void decide(const WORK &w, uint32_t cluster, uint32_t edge)
{
    uint32_t *const word = &w.m.edge[cluster];
    for (uint32_t has = *static_cast<volatile uint32_t *>(word);
         has == NO_EDGE || (has != edge && w.is_before(edge, has));) {
        const uint32_t was = atomicCAS(word, has, edge);
        if (was == has) return;
        has = was;
    }
}

/* Decides between edges with the same key. */
template <int N, typename WORK> static QFZ_DEVICE void decide_all(const WORK &w)
{
    const auto &m = w.m;
#pragma unroll 1
    for (uint32_t i = 0; i < block_shape<N>::OWN * block_shape<N>::DIRS; i++) {
        const uint32_t quad = w.own((int)(i / block_shape<N>::DIRS));
        const int d = (int)(i % block_shape<N>::DIRS);
        const uint32_t a = m.cluster[w.first_cell(quad, d)];
        const uint32_t b = m.cluster[w.second_cell(quad, d)], key = w.key(quad, d);
        const uint32_t edge = quad * block_shape<N>::DIRS + (uint32_t)d;
        if (a == b || key == NO_KEY) continue;
        if (!(a & DONE) && m.key[a] == key) decide(w, a, edge << TO_BITS | b);
        if (!(b & DONE) && m.key[b] == key) decide(w, b, edge << TO_BITS | a);
    }
}

/* Hardly ever, two edges have the same least key. */
template <int N, typename WORK> static QFZ_DEVICE void agree(const WORK &w, own_edges<N> *own)
{
    auto &m = w.m;
    own->is_tied = false;
    each_run(w, own, [&](const first_edge &first) {
        if ((first.cluster & DONE) || first.key == NO_KEY || m.key[first.cluster] != first.key)
            return;
        own->is_tied |= atomicExch(&m.edge[first.cluster], first.edge) != NO_EDGE;
    });
    if (!__syncthreads_or(own->is_tied)) return;
    decide_all<N>(w);
    __syncthreads();
}

/* ---- Masses ---------------------------------------------------------------------------------- */

/* True if pixel `quad`, which is not the root, arrives before the cluster's first edge. */
template <typename WORK> static QFZ_DEVICE bool arrives(const WORK &w, uint32_t quad, uint32_t root)
{
    const auto &m = w.m;
    if (m.key[quad] != m.key[root]) return m.key[quad] < m.key[root];
    return m.edge[root] != NO_EDGE && w.is_before(m.edge[quad], m.edge[root]);
}

/* Adds what arrives to the root's own weight. */
template <typename WORK> static QFZ_DEVICE void weigh(const WORK &w)
{
    auto &m = w.m;
    const uint32_t least = (uint32_t)w.f.least;
    for (int i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t quad = w.own(i), root = m.cluster[w.cell(quad)];
        if ((root & DONE) || quad == root || !arrives(w, quad, root)) continue;
        const uint32_t mass = (uint32_t)qfz_filter_row_mass(w.f, w.at(quad).y);
        if (atomicAdd(&m.mass[root], mass) > UINT32_MAX - mass) atomicMax(&m.mass[root], least);
    }
}

/* ---- Clusters -------------------------------------------------------------------------------- */

template <typename WORK> static QFZ_DEVICE void mark(const WORK &w, uint32_t edge)
{
    const uint32_t quad = (edge >> TO_BITS) / WORK::shape::DIRS;
    const uint32_t d = (edge >> TO_BITS) % WORK::shape::DIRS;
    atomicOr(&w.m.marks[quad / 4], 1u << d << 8 * (quad % 4));
}

/* What becomes of a cluster that picks its first edge. */
template <typename WORK> static QFZ_DEVICE uint32_t next_of(const WORK &w, uint32_t root)
{
    const auto &m = w.m;
    const uint32_t least = (uint32_t)w.f.least, to = m.edge[root] & TO;
    if (to == FRAME) return root | DONE | LEAVES;
    if ((to & DONE) || to < root || (m.edge[to] ^ m.edge[root]) > TO || m.mass[to] >= least)
        return to;
    return m.mass[root] < least - m.mass[to] ? root : root | DONE;
}

/* Calls use(root) for each live cluster. */
template <typename WORK, typename USE>
static QFZ_DEVICE void each_root(const WORK &w, uint32_t round, const USE &use)
{
    const auto &m = w.m;
    if (round > 0) {
        for (uint32_t i = threadIdx.x; i < m.n_roots[round % 2]; i += WORK::shape::THREADS)
            use((uint32_t)m.roots[i]);
        return;
    }
    QFZ_EACH (i, WORK::shape::OWN)
        if (m.cluster[w.cell(w.own(i))] == w.own(i)) use(w.own(i));
}

template <typename WORK> static QFZ_DEVICE void pick(const WORK &w, uint32_t round)
{
    auto &m = w.m;
    if (threadIdx.x == 0) m.n_roots[(round + 1) % 2] = 0;
    each_root(w, round, [&](uint32_t root) {
        uint32_t next = root | DONE;
        if (m.edge[root] != NO_EDGE && m.mass[root] < w.f.least) {
            next = next_of(w, root);
            if (w.is_above_0(m.key[root])) mark(w, m.edge[root]);
        }
        m.next[root] = (uint16_t)next;
    });
}

/* The i-th root of this thread, or a quad that is no pixel. */
template <typename WORK> static QFZ_DEVICE uint32_t root_at(const WORK &w, uint32_t round, int i)
{
    const uint32_t at = threadIdx.x + (uint32_t)i * WORK::shape::THREADS;
    if (round == 0) return at;
    return at < w.m.n_roots[round % 2] ? w.m.roots[at] : 0;
}

/* To the ends of chains; first without changes.  A thread goes along all its chains at once. */
template <int N, typename WORK> static QFZ_DEVICE void flatten(const WORK &w, uint32_t round)
{
    auto &m = w.m;
    uint32_t end[block_shape<N>::OWN];
    QFZ_EACH (i, block_shape<N>::OWN)
        end[i] = root_at(w, round, i);
    for (bool is_inside = true; is_inside;) {
        is_inside = false;
        QFZ_EACH (i, block_shape<N>::OWN) {
            const uint32_t to = m.next[end[i] & NUMBER];
            is_inside |= ((to ^ end[i]) & NUMBER) != 0;
            end[i] = to;
        }
    }
    __syncthreads();
    QFZ_EACH (i, block_shape<N>::OWN) {
        const uint32_t root = root_at(w, round, i);
        if ((end[i] & NUMBER) != root) m.next[root] = (uint16_t)end[i];
    }
}

/* Keys grow from hop to hop back from the end of a chain, so that the first hop is the last edge of
 * the path.  Lists the live clusters of the next round; true if a pixel of this thread is a root.
 */
template <typename WORK> static QFZ_DEVICE bool settle(const WORK &w, uint32_t round)
{
    auto &m = w.m;
    uint32_t roots = 0;
    for (int i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t quad = w.own(i), before = m.cluster[w.cell(quad)];
        if (before & DONE) continue;
        const uint32_t now = m.next[before];
        if ((now & NUMBER) != before && quad != before && arrives(w, quad, before)) {
            m.key[quad] = m.key[before];
            m.edge[quad] = m.edge[before];
            m.mass[quad] = 0;
        }
        if (now == quad) begin_round(w, quad);
        m.cluster[w.cell(quad)] = (uint16_t)now;
        roots |= (uint32_t)(now == quad) << i;
    }
    uint32_t at = qfz_take(&m.n_roots[(round + 1) % 2], (uint32_t)__popc(roots));
    for (uint32_t left = roots; left != 0; left &= left - 1)
        m.roots[at++] = (uint16_t)w.own(__ffs((int)left) - 1);
    return roots != 0;
}

template <int N, typename WORK> static QFZ_DEVICE void grow(const WORK &w, bool is_live)
{
    own_edges<N> own;
    read_keys(w, &own);
    for (uint32_t round = 0; __syncthreads_or(is_live); round++) {
        choose(w, &own);
        __syncthreads();
        agree(w, &own);
        if (round > 0) weigh(w);
        __syncthreads();
        pick(w, round);
        __syncthreads();
        flatten<N>(w, round);
        __syncthreads();
        is_live = settle(w, round);
    }
}

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

template <typename WORK>
static QFZ_DEVICE void store_px(const WORK &w, const uint8_t *valid, uint32_t quad)
{
    const uint32_t word = w.m.cluster[w.cell(quad)], root = word & NUMBER, px = w.px_of(quad);
    const bool leaves = (word & LEAVES) != 0, is_root = root == quad;
    const int2 at = w.at(root);
    const bool is_open = qfz_filter_mass_of_px(w.f, valid, at.y, at.x) == QFZ_GPU_FILTER_OPEN;
    w.f.d_up[px] = is_root ? QFZ_FILTER_ROOT | (leaves ? QFZ_FILTER_PICKED : 0u) : w.px_of(root);
    if (is_root && !leaves) w.f.d_mass[px] = is_open ? QFZ_GPU_FILTER_OPEN : w.f.least;
    if (is_root ? !leaves : !leaves && !is_open) return;
    qfz_filter_set_first(w.f, px, w.place(w.m.edge[quad]));
    w.f.d_mass[px] = w.m.mass[quad];
}

/* Lists pixels for which is_listed(quad) is true.  Warps take part as a whole. */
template <typename WORK, typename IS_LISTED>
static QFZ_DEVICE void list_pixels(const WORK &w, const IS_LISTED &is_listed)
{
    uint32_t *const growing = w.f.d_growing + (int64_t)blockIdx.x * QFZ_FILTER_BLOCK_PX;
    uint32_t which = 0;
    QFZ_EACH (i, WORK::shape::OWN)
        which |= (uint32_t)is_listed(w.own(i)) << i;
    uint32_t at = qfz_take(&w.m.n_leaving, (uint32_t)__popc(which));
    for (; which != 0; which &= which - 1)
        growing[at++] = w.px_of(w.own(__ffs((int)which) - 1));
}

/* Pixels of clusters that grow on in the tile, roots first. */
template <typename WORK> static QFZ_DEVICE void list_leaving(const WORK &w)
{
    const auto &m = w.m;
    list_pixels(w,
                [&](uint32_t quad) { return m.cluster[w.cell(quad)] == (quad | DONE | LEAVES); });
    __syncthreads();
    const uint32_t n_roots = m.n_leaving;
    __syncthreads();
    list_pixels(w, [&](uint32_t quad) {
        const uint32_t cluster = m.cluster[w.cell(quad)];
        return (cluster & LEAVES) && (cluster & NUMBER) != quad;
    });
    __syncthreads();
    if (threadIdx.x == 0) w.f.d_n_growing[blockIdx.x] = make_uint2(m.n_leaving, n_roots);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T, int N>
static __global__ void __launch_bounds__(block_shape<N>::THREADS, block_shape<N>::RESIDENT)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, const uint8_t *valid, int n_level_bits)
{
    QFZ_SHARED(block_memory, m);
    const qfz_block_box box = qfz_filter_block_of(f, blockIdx.x);
    const block_work<T, N> w = {*m, f, reader, box.y - 1, box.x - 1, n_level_bits};
    grow<N>(w, begin(w, valid));
    store_marks(w);
    for (int i = 0; i < block_shape<N>::OWN; i++)
        if (w.has(w.own(i))) store_px(w, valid, w.own(i));
    list_leaving(w);
}

bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    return filter->least < UINT32_MAX && sizeof(block_memory) <= gpu->shared_max;
}

template <typename T, int N>
static qfz_status launch_blocks(qfz_gpu *gpu, const qfz_gpu_filter *f,
                                const qfz_edge_reader<T> &reader, const qfz_gpu_edges *edges)
{
    const dim3 n_blocks(qfz_filter_block_count(f->h, f->w));
    int n_level_bits = 0;
    while (n_level_bits < 32 && edges->max_level >> n_level_bits > 0)
        n_level_bits++;
    return qfz_launch(gpu, k_block<T, N>, n_blocks, dim3(block_shape<N>::THREADS),
                      sizeof(block_memory), *f, reader, edges->d_valid, n_level_bits);
}

qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_filter *filter)
{
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        using T = typename std::decay<decltype(*reader.from)>::type;
        return edges->connectivity == 4 ? launch_blocks<T, 4>(gpu, filter, reader, edges)
                                        : launch_blocks<T, 8>(gpu, filter, reader, edges);
    });
}
