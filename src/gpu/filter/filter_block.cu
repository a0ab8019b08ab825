/* SPDX-License-Identifier: MIT */
/* filter_block.cu - light components join (filter.cuh) inside blocks of 64 x 64 pixels, in shared
 * memory.
 *
 * There are three passes, whose blocks are shifted against each other.  The first one begins with
 * pixels, the others with the components that the pass before has left.  Each pass marks the first
 * edges of components that have not marked theirs.  Then rounds follow, until no edge was marked
 * twice; a thread works for one pair of components that marked the same edge:
 *
 *   join     the two components join; the pixels of the smaller one get a new root
 *   search   if the result is light, the thread finds its first edge, and marks it
 *
 * So the work of a round depends on the number of pixels that search, not on that of the block.
 *
 * The pixels of a component are a circular list.  A component that is not inside one block of the
 * pass is foreign: it does not change.  A component *takes* its first edge later if the edge leaves
 * the block, if a foreign component has marked it before, or if the list would become too long for
 * one thread.
 *
 * Between two barriers a word of a component is written by one thread, but for atomic operations.
 */
#include <type_traits>

#include "gpu/filter/filter_edges.cuh"
#include "gpu/forest/boruvka_parts.cuh"

enum { SIDE = QFZ_SIDE, PX = SIDE * SIDE, THREADS = 512, OWN = PX / THREADS };
enum { PASSES = QFZ_FILTER_PASSES, MOST_PX = QFZ_FILTER_MOST_PX };

/* In place of a pixel of the block.  NOTHING: no pixel; as a root: the pixel is in no component
 * that joins others. */
static const uint32_t NOTHING = 0xffff, FOREIGN = 0xfffe;

/* Weights of 32 bits; N is less than that of an open component. */
static const uint32_t OPEN = UINT32_MAX;

namespace
{
struct block_memory {
    uint32_t key[PX];            /* by pixel with an edge out of its component: of the first one */
    uint32_t mass[PX];           /* by root; OPEN also: of a foreign component */
    uint32_t zeroed[PX / 4];     /* as in qfz_gpu_filter */
    uint8_t side[PX];            /* by pixel: as in qfz_gpu_filter */
    uint16_t root[PX], next[PX]; /* by pixel */
    uint16_t top[PX];            /* by root: the pixel with the first edge */
    uint16_t pair[2][PX / 2]; /* by round: pixels that were second to mark their edge, then roots */
    uint32_t n_pairs[2], n_leaving, first_leaving;
};

/* A block, which begins at pixel (y, x) of the tile; a pixel of the block has the number row * SIDE
 * + column. */
template <typename T> struct block_work {
    block_memory &m;
    qfz_filter_edges<T> edges;
    int32_t y, x, h, w;

    QFZ_DEVICE int2 at(uint32_t p) const
    {
        return make_int2(x + (int32_t)(p % SIDE), y + (int32_t)(p / SIDE));
    }
    /* The number of a pixel of the tile; NOTHING if it is not in the block. */
    QFZ_DEVICE uint32_t number(int2 at) const
    {
        const int32_t in_y = at.y - y, in_x = at.x - x;
        const bool inside = in_y >= 0 && in_y < h && in_x >= 0 && in_x < w;
        return inside ? (uint32_t)(in_y * SIDE + in_x) : NOTHING;
    }
    QFZ_DEVICE bool has(uint32_t p) const
    {
        return (int32_t)(p / SIDE) < h && (int32_t)(p % SIDE) < w;
    }
    QFZ_DEVICE int side(uint32_t p) const
    {
        return m.side[p] & QFZ_FILTER_SIDE;
    }
    /* The pixel at the other end of the first edge of p. */
    QFZ_DEVICE uint32_t other(uint32_t p) const
    {
        return number(qfz_filter_other(at(p), side(p)));
    }
    QFZ_DEVICE uint64_t position(uint32_t p) const
    {
        return edges.position(at(p), side(p));
    }
    /* Pixels of the tile. */
    QFZ_DEVICE uint32_t px_of(uint32_t p) const
    {
        const int2 pixel = at(p);
        return (uint32_t)pixel.y * (uint32_t)edges.f.w + (uint32_t)pixel.x;
    }
    QFZ_DEVICE uint32_t number_of_px(uint32_t px) const
    {
        const uint32_t row = (uint32_t)edges.f.w;
        return number(make_int2((int32_t)(px % row), (int32_t)(px / row)));
    }
    QFZ_DEVICE uint8_t &zeroed(uint32_t p) const
    {
        return reinterpret_cast<uint8_t *>(edges.f.d_zeroed)[px_of(p)];
    }
};
} // namespace

/* ---- First edges ----------------------------------------------------------------------------- */

/* A number for an edge: of two edges, the later one does not have the smaller number. */
template <typename T> static QFZ_DEVICE uint32_t key_of(uint32_t level, uint64_t position)
{
    const int bits = 8 * (int)sizeof(T);
    return bits == 32 ? level : level << (32 - bits) | (uint32_t)(position >> (32 + bits));
}

template <typename T> static QFZ_DEVICE void set_key(const block_work<T> &w, uint32_t p)
{
    const int2 at = w.at(p);
    const int side = w.side(p);
    if (side != QFZ_FILTER_NO_SIDE)
        w.m.key[p] = key_of<T>(w.edges.level(at, side), w.edges.position(at, side));
}

/* Finds the first edge of pixel p for which is_out(pixel at the other end) is true. */
template <typename WORK, typename IS_OUT>
static QFZ_DEVICE void find_first(const WORK &w, uint32_t p, const IS_OUT &is_out)
{
    w.m.side[p] = (uint8_t)qfz_filter_first_edge(w.edges, w.at(p), is_out).side;
    set_key(w, p);
}

/* Does the first edge of pixel p come before that of q? */
template <typename WORK> static QFZ_DEVICE bool is_before(const WORK &w, uint32_t p, uint32_t q)
{
    const uint32_t of_p = w.m.key[p], of_q = w.m.key[q];
    return of_p < of_q || (of_p == of_q && w.position(p) < w.position(q));
}

/* The pixel with the first edge of a component; NOTHING if no edge leaves it. */
template <typename WORK> static QFZ_DEVICE uint32_t find_top(const WORK &w, uint32_t root)
{
    const auto is_inner = [&](uint32_t q) { return q != NOTHING && w.m.root[q] == root; };
    uint32_t top = NOTHING, p = root;
    do {
        if (w.side(p) != QFZ_FILTER_NO_SIDE && is_inner(w.other(p)))
            find_first(w, p, [&](int2 at) { return !is_inner(w.number(at)); });
        if (w.side(p) != QFZ_FILTER_NO_SIDE && (top == NOTHING || is_before(w, p, top))) top = p;
        p = w.m.next[p];
    } while (p != root);
    return top;
}

/* Marks the first edge of a component, that of pixel `top`, and lists the pixel in the pairs of the
 * round if another component of the block has marked it before. */
template <typename WORK> static QFZ_DEVICE void mark(const WORK &w, int round, uint32_t top)
{
    const int2 at = w.at(top);
    const int side = w.side(top), d = side / 2;
    const uint32_t q = w.other(top), start = side % 2 ? q : top;
    bool is_second = false;
    if (q != NOTHING) {
        const uint32_t marked = (uint32_t)QFZ_FILTER_MARKED << d;
        const uint32_t bits = marked | (w.edges.level(at, side) > 0 ? 1u << d : 0);
        const uint32_t before = atomicOr(&w.m.zeroed[start / 4], bits << 8 * (start % 4));
        is_second = (before >> 8 * (start % 4) & marked) != 0;
    }
    if (q == NOTHING || (is_second && w.m.root[q] == FOREIGN))
        w.m.side[top] |= QFZ_FILTER_TAKES;
    else if (is_second)
        w.m.pair[round % 2][atomicAdd(&w.m.n_pairs[round % 2], 1)] = (uint16_t)top;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Makes pixel p a component; true if it is light and has an edge. */
template <typename WORK>
static QFZ_DEVICE bool seed(const WORK &w, const uint8_t *valid, uint32_t p)
{
    const int2 at = w.at(p);
    const uint64_t mass = qfz_filter_mass_of_px(w.edges.f, valid, at.y, at.x);
    w.m.mass[p] = mass == QFZ_GPU_FILTER_OPEN ? OPEN : (uint32_t)mass;
    w.m.root[p] = w.m.next[p] = w.m.top[p] = (uint16_t)p;
    w.m.side[p] = QFZ_FILTER_NO_SIDE;
    if (mass >= w.edges.f.least) return false;
    find_first(w, p, [](int2) { return true; });
    if (w.side(p) != QFZ_FILTER_NO_SIDE) return true;
    w.m.top[p] = (uint16_t)NOTHING;
    return false;
}

/* Loads pixel p; true if it is the root of a component that takes its first edge. */
template <typename WORK> static QFZ_DEVICE bool resume(const WORK &w, uint32_t p)
{
    const qfz_gpu_filter &f = w.edges.f;
    const uint32_t px = w.px_of(p), up = f.d_up[px];
    const uint32_t root_px = up & QFZ_FILTER_ROOT ? px : up;
    const uint32_t top_px = (up & QFZ_FILTER_ROOT ? up : f.d_up[root_px]) & QFZ_FILTER_NIL;
    w.m.root[p] = (uint16_t)NOTHING;
    if (top_px == QFZ_FILTER_NIL) return false;
    const uint32_t root = w.number_of_px(root_px), next = f.d_right[px];
    w.m.root[p] = (uint16_t)(root == NOTHING ? FOREIGN : root);
    w.m.next[p] = (uint16_t)w.number_of_px(next == QFZ_FILTER_NIL ? top_px : next);
    w.m.side[p] = f.d_side[px] & QFZ_FILTER_SIDE;
    if (root != p) return false;
    w.m.mass[p] = (uint32_t)f.d_mass[px];
    w.m.top[p] = (uint16_t)w.number_of_px(top_px);
    return (f.d_side[top_px] & QFZ_FILTER_TAKES) != 0;
}

/* Of the list of a component that is not inside the block, a pixel inside is before one outside. */
template <typename WORK> static QFZ_DEVICE void find_foreign(const WORK &w)
{
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < PX; p += THREADS)
        if (w.has(p) && w.m.root[p] < PX && w.m.next[p] == NOTHING)
            atomicMax(&w.m.mass[w.m.root[p]], OPEN);
    __syncthreads();
    for (uint32_t p = threadIdx.x; p < PX; p += THREADS) {
        if (!w.has(p) || w.m.root[p] >= PX) continue;
        if (w.m.mass[w.m.root[p]] == OPEN)
            w.m.root[p] = (uint16_t)FOREIGN;
        else
            set_key(w, p);
    }
}

template <bool IS_FIRST, typename WORK>
static QFZ_DEVICE void begin(const WORK &w, const uint8_t *valid)
{
    uint32_t takes = 0; /* bit i: root i of the thread */
    for (uint32_t i = 0; i < OWN; i++) {
        const uint32_t p = threadIdx.x + i * THREADS;
        if (!w.has(p)) continue;
        takes |= (uint32_t)(IS_FIRST ? seed(w, valid, p) : resume(w, p)) << i;
        reinterpret_cast<uint8_t *>(w.m.zeroed)[p] = IS_FIRST ? 0 : w.zeroed(p);
    }
    if (!IS_FIRST) find_foreign(w);
    __syncthreads();
    for (; takes != 0; takes &= takes - 1) {
        const uint32_t p = threadIdx.x + ((uint32_t)__ffs((int)takes) - 1) * THREADS;
        if (w.m.root[p] == p) mark(w, 0, w.m.top[p]);
    }
    __syncthreads();
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The number of pixels of a component, at most MOST_PX + 1. */
template <typename WORK> static QFZ_DEVICE uint32_t count_px(const WORK &w, uint32_t root)
{
    uint32_t n = 1;
    for (uint32_t p = w.m.next[root]; p != root && n <= MOST_PX; p = w.m.next[p])
        n++;
    return n;
}

/* Pixel p was the second one to mark its edge: its component and the other one join.  A component
 * is in one pair at most.  Returns the root of the result if it is to search, else NOTHING. */
template <typename WORK> static QFZ_DEVICE uint32_t join(const WORK &w, uint32_t p)
{
    block_memory &m = w.m;
    const uint32_t a = m.root[p], b = m.root[w.other(p)], least = (uint32_t)w.edges.f.least;
    if (m.mass[a] >= least - m.mass[b]) { /* of components that weigh N only the weight matters */
        m.mass[a] = m.mass[b] = least;
        return NOTHING;
    }
    const uint32_t mass = m.mass[a] + m.mass[b], n_a = count_px(w, a), n_b = count_px(w, b);
    if (n_a + n_b > MOST_PX) {
        m.side[p] |= QFZ_FILTER_TAKES;
        return NOTHING;
    }
    const uint32_t larger = n_a < n_b ? b : a, smaller = n_a < n_b ? a : b;
    uint32_t q = smaller;
    do {
        m.root[q] = (uint16_t)larger;
        q = m.next[q];
    } while (q != smaller);
    const uint16_t next = m.next[a];
    m.next[a] = m.next[b];
    m.next[b] = next;
    m.mass[larger] = mass;
    return larger;
}

template <typename WORK> static QFZ_DEVICE void search(const WORK &w, int round, uint32_t root)
{
    const uint32_t top = find_top(w, root);
    w.m.top[root] = (uint16_t)top;
    if (top != NOTHING) mark(w, round, top);
}

template <typename WORK> static QFZ_DEVICE void run_rounds(const WORK &w)
{
    for (int round = 0;; round++) {
        uint16_t *const pair = w.m.pair[round % 2];
        const uint32_t n = w.m.n_pairs[round % 2];
        if (n == 0) return;
        if (threadIdx.x == 0) w.m.n_pairs[(round + 1) % 2] = 0;
        for (uint32_t i = threadIdx.x; i < n; i += THREADS)
            pair[i] = (uint16_t)join(w, pair[i]);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < n; i += THREADS)
            if (pair[i] != NOTHING) search(w, round + 1, pair[i]);
        __syncthreads();
    }
}

/* ---- Store ----------------------------------------------------------------------------------- */

template <typename WORK> static QFZ_DEVICE void store_px(const WORK &w, uint32_t p)
{
    const qfz_gpu_filter &f = w.edges.f;
    const uint32_t px = w.px_of(p), root = w.m.root[p];
    w.zeroed(p) = reinterpret_cast<const uint8_t *>(w.m.zeroed)[p];
    if (root >= PX) return;
    const uint32_t top = w.m.mass[root] < f.least ? w.m.top[root] : NOTHING, next = w.m.next[p];
    if (root == p) f.d_mass[px] = w.m.mass[p] == OPEN ? QFZ_GPU_FILTER_OPEN : w.m.mass[p];
    if (top == NOTHING) {
        f.d_side[px] = QFZ_FILTER_NO_SIDE;
        f.d_up[px] = root == p ? QFZ_FILTER_ROOT | QFZ_FILTER_NIL : w.px_of(root);
        return;
    }
    f.d_side[px] = w.m.side[p] | (uint8_t)(p == top ? QFZ_FILTER_LIST : 0);
    f.d_up[px] = root == p ? QFZ_FILTER_ROOT | w.px_of(top) : w.px_of(root);
    f.d_right[px] = next == top ? QFZ_FILTER_NIL : w.px_of(next);
}

/* Is pixel p the root of a component that takes its first edge, now or never? */
template <typename WORK> static QFZ_DEVICE bool is_left(const WORK &w, uint32_t p)
{
    const qfz_gpu_filter &f = w.edges.f;
    if (w.m.root[p] == p) {
        const uint32_t top = w.m.mass[p] < f.least ? w.m.top[p] : NOTHING;
        return top != NOTHING && (w.m.side[top] & QFZ_FILTER_TAKES) != 0;
    }
    if (w.m.root[p] != FOREIGN) return false;
    const uint32_t up = f.d_up[w.px_of(p)];
    return (up & QFZ_FILTER_ROOT) != 0 && (f.d_side[up & QFZ_FILTER_NIL] & QFZ_FILTER_TAKES) != 0;
}

/* Lists what takes its first edge on the whole tile. */
template <typename WORK> static QFZ_DEVICE void list_left(const WORK &w)
{
    block_memory &m = w.m;
    const qfz_gpu_filter &f = w.edges.f;
    for (uint32_t p = threadIdx.x; p < PX; p += THREADS) {
        const bool leaves = w.has(p) && is_left(w, p);
        const uint32_t at = qfz_take_one(&m.n_leaving, leaves);
        if (leaves) m.pair[0][at] = (uint16_t)p;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        m.first_leaving = atomicAdd(&f.d_count[QFZ_FILTER_N_LEAVING], m.n_leaving);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < m.n_leaving; i += THREADS)
        f.d_leaving[m.first_leaving + i] = w.px_of(m.pair[0][i]);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Thread blocks on a multiprocessor; those of compute capability 7.5 run 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static const int resident = 2;
#else
static const int resident = 3;
#endif

/* Blocks begin at multiples of SIDE less the shift. */
template <typename T, int N, bool IS_FIRST>
static __global__ void __launch_bounds__(THREADS, resident)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, const uint8_t *valid, int2 shift,
            bool is_last)
{
    QFZ_SHARED(block_memory, m);
    const uint32_t n_x = (uint32_t)(f.w + shift.x + SIDE - 1) / SIDE;
    const int32_t y = (int32_t)(blockIdx.x / n_x) * SIDE - shift.y;
    const int32_t x = (int32_t)(blockIdx.x % n_x) * SIDE - shift.x;
    const int32_t y0 = max(y, 0), x0 = max(x, 0);
    const block_work<T> w = {*m,
                             {f, reader, N},
                             y0,
                             x0,
                             min(y + (int32_t)SIDE, f.h) - y0,
                             min(x + (int32_t)SIDE, f.w) - x0};
    if (threadIdx.x == 0) m->n_pairs[0] = m->n_leaving = 0;
    __syncthreads();
    begin<IS_FIRST>(w, valid);
    run_rounds(w);
    for (uint32_t p = threadIdx.x; p < PX; p += THREADS)
        if (w.has(p)) store_px(w, p);
    if (is_last) list_left(w);
}

bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    return filter->least < OPEN && sizeof(block_memory) <= gpu->shared_max;
}

template <typename T, int N>
static qfz_status launch_passes(qfz_gpu *gpu, const qfz_gpu_filter *f,
                                const qfz_edge_reader<T> &reader, const uint8_t *valid)
{
    static const int32_t shift[PASSES][2] = {
        {0, 0}, {SIDE / 2, SIDE / 2}, {SIDE / 4, 3 * SIDE / 4}};
    for (int i = 0; i < PASSES; i++) {
        const int2 by = make_int2(shift[i][1], shift[i][0]);
        const dim3 n_blocks(qfz_launch_blocks(f->w + by.x, SIDE) *
                            qfz_launch_blocks(f->h + by.y, SIDE));
        QFZ_TRY(qfz_launch(gpu, i == 0 ? k_block<T, N, true> : k_block<T, N, false>, n_blocks,
                           dim3(THREADS), sizeof(block_memory), *f, reader, valid, by,
                           i == PASSES - 1));
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
