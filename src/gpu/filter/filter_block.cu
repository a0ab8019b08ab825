/* SPDX-License-Identifier: MIT */
/* filter_block.cu - light components join (filter.cuh) inside blocks of 64 x 64 pixels, in shared
 * memory.
 *
 * There are three passes, whose blocks are shifted against each other.  The first one begins with
 * pixels, the others with the components that the pass before has left.  These are the vertices of
 * a block.  All that is outside the block is one vertex more, OUTSIDE, with the components that
 * are only partly inside; HEAVY stands for all components that are open or finished.
 *
 *   forest   the minimum spanning forest of the vertices (filter_rounds.cuh)
 *   parts    light components, as far as the block shows, and their first edges (filter_walk.cuh)
 *   mark     each part that is new, or that has not done so yet, marks its first edge
 *
 * No component waits for another one in this.  A component is finished if the one that its first
 * edge leads to weighs N with it.  A component *takes* its first edge later if the edge leaves the
 * block, or if another component has marked the edge before and the two have not joined.
 */
#include <type_traits>

#include "gpu/filter/filter_rounds.cuh"
#include "gpu/filter/filter_walk.cuh"

/* ---- Vertices -------------------------------------------------------------------------------- */

template <bool IS_FIRST, typename WORK>
static QFZ_DEVICE uint32_t vertex_mass(const WORK &w, const uint8_t *valid, uint32_t p)
{
    if (!IS_FIRST) return (uint32_t)w.edges.f.d_mass[w.px_of(p)];
    const int2 at = w.at(p);
    return (uint32_t)qfz_filter_mass_of_px(w.edges.f, valid, at.y, at.x);
}

/* The vertex of a pixel that a pass before has left; *takes: it takes its first edge.  Marks
 * vertices that are not inside the block: of their circular lists, a pixel inside is before one
 * outside. */
template <typename WORK> static QFZ_DEVICE uint32_t resume(const WORK &w, uint32_t p, bool *takes)
{
    const qfz_gpu_filter &f = w.edges.f;
    const uint32_t px = w.px_of(p);
    if (!(f.d_side[px] & QFZ_FILTER_LIST)) return HEAVY;
    const uint32_t up = f.d_up[px], behind = f.d_right[px];
    const uint32_t root_px = up & QFZ_FILTER_ROOT ? px : up;
    const uint32_t top_px = (up & QFZ_FILTER_ROOT ? up : f.d_up[root_px]) & QFZ_FILTER_NIL;
    const uint32_t root = w.number_of_px(root_px);
    if (root == NOTHING) return OUTSIDE;
    if (w.number_of_px(behind == QFZ_FILTER_NIL ? top_px : behind) == NOTHING)
        atomicOr(&w.m.marked[root / 32], 1u << root % 32);
    *takes = root == p && (f.d_side[top_px] & QFZ_FILTER_TAKES) != 0;
    return root;
}

template <bool IS_FIRST, typename WORK, typename OWN>
static QFZ_DEVICE void begin(const WORK &w, const uint8_t *valid, OWN *own)
{
    auto &m = w.m;
    for (uint32_t i = threadIdx.x; i < CELLS; i += WORK::shape::THREADS) {
        m.root[i] = OUTSIDE;
        if (i < PX / 32) m.marked[i] = 0;
    }
    if (threadIdx.x == 0) m.n_open = m.n_leaving = 0;
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        bool takes = IS_FIRST;
        own->vertex[i] = OUTSIDE;
        m.best[p] = NO_KEY;
        m.edge[p] = NOTHING;
        if (!w.has(p)) continue;
        own->vertex[i] = (uint16_t)(IS_FIRST ? p : resume(w, p, &takes));
        own->takes |= (uint32_t)takes << i;
        if (own->vertex[i] != p) continue;
        m.mass[p] = vertex_mass<IS_FIRST>(w, valid, p);
        if (m.mass[p] >= w.edges.f.least) own->vertex[i] = HEAVY;
    }
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t vertex = own->vertex[i];
        if (vertex < PX && (m.marked[vertex / 32] >> vertex % 32 & 1)) own->vertex[i] = OUTSIDE;
        m.root[w.cell(w.own(i))] = own->vertex[i];
    }
    __syncthreads();
}

/* ---- Marks ----------------------------------------------------------------------------------- */

/* The result of a part: the pixel of its first edge | d_side << 16; NOTHING if no edge leaves it;
 * more in place of d_side if it weighs N with the part that has the same first edge. */
template <typename WORK> static QFZ_DEVICE uint32_t decide(const WORK &w, uint32_t part, bool marks)
{
    auto &m = w.m;
    const uint32_t i = m.first[part], least = (uint32_t)w.edges.f.least;
    if (i == NOTHING) return NOTHING;
    const uint32_t edge = m.edge[m.open[i] % PX], a = w.first(edge), b = w.second(edge);
    const bool is_heavy = m.open[i] / PX == IS_HEAVY, starts = w.part(a) == part;
    const uint32_t q = starts ? b : a, beyond = w.part(q);
    bool takes = marks && q == NOTHING;
    if (q != NOTHING) {
        const bool is_pair = beyond < PX && m.first[beyond] == i;
        const uint32_t had = set_bits(w, edge, w.with_level(edge).level > 0,
                                      marks ? (uint32_t)QFZ_FILTER_MARKED : 0);
        if (is_pair && m.mass[part] >= least - m.mass[beyond]) return NOTHING | 1u << 16;
        takes = marks && (had & QFZ_FILTER_MARKED) != 0;
    }
    const uint32_t side = (uint32_t)w.side(edge) + (starts ? 0 : 1);
    const uint32_t flags = takes      ? QFZ_FILTER_LIST | QFZ_FILTER_TAKES
                           : is_heavy ? 0
                                      : QFZ_FILTER_LIST;
    return (starts ? a : b) | (side | flags) << 16;
}

static QFZ_DEVICE bool is_list(uint32_t result)
{
    return (result >> 16 & QFZ_FILTER_LIST) != 0;
}

/* The results of parts into `best`, and the lists of pixels of those that are not finished. */
template <typename WORK, typename OWN> static QFZ_DEVICE void mark(const WORK &w, const OWN &own)
{
    auto &m = w.m;
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        if (m.part[p] != p) continue;
        const bool is_new = (m.marked[p / 32] >> p % 32 & 1) != 0;
        m.best[p] = decide(w, p, is_new || (own.takes >> i & 1) != 0);
        m.head[p] = NOTHING;
    }
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i), part = m.part[p];
        if (part < PX && is_list(m.best[part]) && (m.best[part] & NOTHING) != p)
            m.behind[p] = (uint16_t)atomicExch(&m.head[part], p);
    }
    __syncthreads();
}

/* ---- Store ----------------------------------------------------------------------------------- */

/* Stores a pixel of a part. */
template <typename WORK> static QFZ_DEVICE void store_px(const WORK &w, uint32_t p, uint32_t part)
{
    const qfz_gpu_filter &f = w.edges.f;
    const auto &m = w.m;
    const uint32_t px = w.px_of(p), result = m.best[part], top = result & NOTHING;
    const uint32_t top_px = top == NOTHING ? QFZ_FILTER_NIL : w.px_of(top);
    f.d_up[px] = part == p ? QFZ_FILTER_ROOT | top_px : w.px_of(part);
    if (part == p) f.d_mass[px] = top == NOTHING && result != NOTHING ? f.least : m.mass[p];
    f.d_side[px] = (uint8_t)(p == top          ? result >> 16
                             : is_list(result) ? QFZ_FILTER_NO_SIDE | QFZ_FILTER_LIST
                                               : QFZ_FILTER_NO_SIDE);
    if (!is_list(result)) return;
    const uint32_t behind = p == top ? m.head[part] : m.behind[p];
    f.d_right[px] = behind == NOTHING ? QFZ_FILTER_NIL : w.px_of(behind);
}

/* Stores a pixel that weighs N, or is open, in the first pass. */
template <typename WORK>
static QFZ_DEVICE void store_heavy(const WORK &w, uint32_t p, const uint8_t *valid)
{
    const qfz_gpu_filter &f = w.edges.f;
    const int2 at = w.at(p);
    f.d_up[w.px_of(p)] = QFZ_FILTER_ROOT | QFZ_FILTER_NIL;
    f.d_mass[w.px_of(p)] = qfz_filter_mass_of_px(f, valid, at.y, at.x);
    f.d_side[w.px_of(p)] = QFZ_FILTER_NO_SIDE;
}

template <bool IS_FIRST, typename WORK>
static QFZ_DEVICE void store(const WORK &w, const uint8_t *valid)
{
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i), part = w.m.part[p];
        if (!w.has(p)) continue;
        w.zeroed(p) = reinterpret_cast<const uint8_t *>(w.m.zeroed)[p];
        if (part < PX)
            store_px(w, p, part);
        else if (IS_FIRST)
            store_heavy(w, p, valid);
    }
}

/* Is pixel p the root of a component that takes its first edge, now or never? */
template <typename WORK> static QFZ_DEVICE bool is_left(const WORK &w, uint32_t p)
{
    const qfz_gpu_filter &f = w.edges.f;
    const uint32_t part = w.m.part[p];
    if (part < PX) return part == p && (w.m.best[p] >> 16 & QFZ_FILTER_TAKES) != 0;
    if (part != OUTSIDE) return false;
    const uint32_t up = f.d_up[w.px_of(p)];
    return (up & QFZ_FILTER_ROOT) != 0 && (f.d_side[up & QFZ_FILTER_NIL] & QFZ_FILTER_TAKES) != 0;
}

/* Lists what takes its first edge on the whole tile. */
template <typename WORK> static QFZ_DEVICE void list_left(const WORK &w)
{
    auto &m = w.m;
    const qfz_gpu_filter &f = w.edges.f;
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        const bool leaves = w.has(p) && is_left(w, p);
        const uint32_t at = qfz_take_one(&m.n_leaving, leaves);
        if (leaves) m.open[at] = (uint16_t)p;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        m.first_leaving = atomicAdd(&f.d_count[QFZ_FILTER_N_LEAVING], m.n_leaving);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < m.n_leaving; i += WORK::shape::THREADS)
        f.d_leaving[m.first_leaving + i] = w.px_of(m.open[i]);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Blocks begin at multiples of SIDE less the shift. */
template <typename T, int N, bool IS_FIRST>
static __global__ void __launch_bounds__(block_shape<N>::THREADS, block_shape<N>::RESIDENT)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, const uint8_t *valid, int2 shift,
            bool is_last)
{
    QFZ_SHARED(block_memory<N>, m);
    const uint32_t n_x = (uint32_t)(f.w + shift.x + SIDE - 1) / SIDE;
    const int32_t y = (int32_t)(blockIdx.x / n_x) * SIDE - shift.y;
    const int32_t x = (int32_t)(blockIdx.x % n_x) * SIDE - shift.x;
    const int32_t y0 = max(y, 0), x0 = max(x, 0);
    const block_work<T, N> w = {*m,
                                {f, reader, N},
                                y0,
                                x0,
                                min(y + (int32_t)SIDE, f.h) - y0,
                                min(x + (int32_t)SIDE, f.w) - x0};
    own_pixels<N> own = {};
    begin<IS_FIRST>(w, valid, &own);
    find_forest<IS_FIRST>(w, &own);
    make_parts(w, own, [&](uint32_t p) { return vertex_mass<IS_FIRST>(w, valid, p); });
    walk_all(w);
    find_first(w, own,
               [&](uint32_t p) { return IS_FIRST || !w.has(p) ? (uint8_t)0 : w.zeroed(p); });
    mark(w, own);
    store<IS_FIRST>(w, valid);
    if (is_last) list_left(w);
}

bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_edges *edges,
                           const qfz_gpu_filter *filter)
{
    const size_t bytes =
        edges->connectivity == 4 ? sizeof(block_memory<4>) : sizeof(block_memory<8>);
    return filter->least < NO_KEY && bytes <= gpu->shared_max;
}

template <typename T, int N>
static qfz_status launch_passes(qfz_gpu *gpu, const qfz_gpu_filter *f,
                                const qfz_edge_reader<T> &reader, const uint8_t *valid)
{
    static const int32_t shift[QFZ_FILTER_PASSES][2] = {
        {0, 0}, {SIDE / 2, SIDE / 2}, {SIDE / 4, 3 * SIDE / 4}};
    for (int i = 0; i < QFZ_FILTER_PASSES; i++) {
        const int2 by = make_int2(shift[i][1], shift[i][0]);
        const dim3 n_blocks(qfz_launch_blocks(f->w + by.x, SIDE) *
                            qfz_launch_blocks(f->h + by.y, SIDE));
        QFZ_TRY(qfz_launch(gpu, i == 0 ? k_block<T, N, true> : k_block<T, N, false>, n_blocks,
                           dim3(block_shape<N>::THREADS), sizeof(block_memory<N>), *f, reader,
                           valid, by, i == QFZ_FILTER_PASSES - 1));
    }
    return QFZ_OK;
}

qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_filter *filter)
{
    return qfz_filter_with_reader(edges, [=](const auto &reader) {
        using T = typename std::decay<decltype(*reader.from)>::type;
        return edges->connectivity == 4 ? launch_passes<T, 4>(gpu, filter, reader, edges->d_valid)
                                        : launch_passes<T, 8>(gpu, filter, reader, edges->d_valid);
    });
}
