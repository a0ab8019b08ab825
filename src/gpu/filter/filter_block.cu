/* SPDX-License-Identifier: MIT */
/* filter_block.cu - the rounds of the area filter inside blocks of 64 x 64 pixels, in shared
 * memory.
 *
 * Light components of a block join as those of the whole tile do (filter_rounds.cu), but a
 * component whose first edge leaves the block is stuck, and so is one whose chain of choices ends
 * in a stuck one: nothing in the block can decide more of them.  When every light component is
 * stuck, they, and the pixels with edges that are undecided, are the first lists of the rounds of
 * the whole tile.
 *
 * A warp has the pixels of four rows, and the components whose roots are there.  Between two
 * barriers an array of shared memory is written or read, not both, but for atomic minima. */
#include "gpu/filter/filter_parts.cuh"
#include "gpu/forest/boruvka_parts.cuh"

enum {
    SIDE = QFZ_SIDE,
    PX = SIDE * SIDE,
    THREADS = 512,
    WARPS = THREADS / QFZ_WARP,
    OWN = PX / WARPS /* pixels of a warp */
};

/* m.target of a root.  Choice: the pixel of a root, or the root itself, as in filter_parts.cuh;
 * STUCK.  Then, of a component that has joined another: JOINED and its root; EVENT: an open one. */
enum { PLACE = PX - 1, STUCK = 0x1000, EVENT = 0x2000, JOINED = 0x4000, MUTUAL = 0x8000 };

/* m.end of an entry of a list of light roots: where the root joins, with MUTUAL or EVENT; STUCK;
 * WAITS: nowhere in this round. */
enum { WAITS = MUTUAL | EVENT };

/* Weights of 32 bits; N is less than that of an open component. */
static const uint32_t OPEN = UINT32_MAX;

namespace
{
/* Of a root: its first edge, weight, choice.  Of a pixel: its root, and its bits of the result. */
struct block_memory {
    unsigned long long first[PX];
    uint32_t low[PX], mass[PX], zeroed[PX / 4];
    uint16_t root[PX], target[PX];
    uint16_t px[PX], light[PX]; /* lists, OWN entries of each warp; in the end one of the block */
    uint16_t end[PX];           /* by place in light[] */
    uint32_t n_px, n_light, first_px, first_light;
};

/* A thread and its block, which begins at pixel (y, x) of the tile; a pixel of the block has the
 * number row * SIDE + column. */
template <typename T> struct block_work {
    block_memory &m;
    const qfz_gpu_filter &f;
    const qfz_edge_reader<T> &reader;
    int n_dirs;
    int32_t y, x, h, w;
    uint32_t thread, lane, warp, least;
    uint32_t n_px, n_light;   /* of the warp's lists */
    uint32_t ring;            /* the thread's pixel of the block's ring, or QFZ_NONE */
    qfz_filter_place leaving; /* the first edge of this pixel that leaves the block */
};
} // namespace

static __device__ __forceinline__ bool is_earlier(const qfz_filter_place &a,
                                                  const qfz_filter_place &b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static __device__ __forceinline__ bool has_edge(const qfz_filter_place &place)
{
    return place.high != QFZ_FILTER_NO_EDGE || place.low != UINT32_MAX;
}

template <typename WORK>
static __device__ __forceinline__ bool is_inside(const WORK &w, int32_t y, int32_t x)
{
    return y >= 0 && y < w.h && x >= 0 && x < w.w;
}

/* Light, and not stuck. */
template <typename WORK> static __device__ __forceinline__ bool is_active(const WORK &w, uint32_t c)
{
    return w.m.mass[c] < w.least && !(w.m.target[c] & STUCK);
}

static __device__ __forceinline__ int32_t down_of(int d)
{
    return d == QFZ_RIGHT ? 0 : 1;
}

static __device__ __forceinline__ int32_t right_of(int d)
{
    return d == QFZ_BELOW ? 0 : d == QFZ_BELOW_LEFT ? -1 : 1;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

template <typename WORK>
static __device__ __forceinline__ uint32_t mass_of(const WORK &w, const uint8_t *valid, int32_t y,
                                                   int32_t x)
{
    const qfz_gpu_filter &f = w.f;
    const int32_t at_y = w.y + y, at_x = w.x + x;
    if (valid && !valid[(int64_t)at_y * f.w + at_x]) return w.least;
    if (f.is_open_ring && (at_y == 0 || at_y == f.h - 1 || at_x == 0 || at_x == f.w - 1))
        return OPEN;
    const uint64_t mass = f.d_row_mass ? f.d_row_mass[at_y] : 1;
    return mass < w.least ? (uint32_t)mass : w.least;
}

/* Appends an item of each lane that has one to a list of the warp. */
static __device__ __forceinline__ void append(uint16_t *list, uint32_t *n, uint32_t lane,
                                              bool wants, uint32_t item)
{
    const unsigned who = __ballot_sync(0xffffffffu, wants);
    if (wants) list[*n + (uint32_t)__popc(who & ((1u << lane) - 1))] = (uint16_t)item;
    *n += (uint32_t)__popc(who);
}

template <typename WORK> static __device__ __forceinline__ void begin(WORK &w, const uint8_t *valid)
{
    for (uint32_t p = w.warp * OWN + w.lane; p < (w.warp + 1) * OWN; p += QFZ_WARP) {
        const int32_t y = (int32_t)(p / SIDE), x = (int32_t)(p % SIDE);
        const bool inside = y < w.h && x < w.w;
        const uint32_t mass = inside ? mass_of(w, valid, y, x) : w.least;
        w.m.first[p] = QFZ_FILTER_NO_EDGE;
        w.m.low[p] = UINT32_MAX;
        w.m.mass[p] = mass;
        w.m.root[p] = (uint16_t)p;
        w.m.target[p] = 0;
        if (p % 4 == 0) w.m.zeroed[p / 4] = 0;
        append(w.m.px + w.warp * OWN, &w.n_px, w.lane, inside, p);
        append(w.m.light + w.warp * OWN, &w.n_light, w.lane, mass < w.least, p);
    }
}

/* Finds the first edge of the thread's ring pixel that leaves the block, whether it starts or ends
 * there. */
template <typename WORK> static __device__ __forceinline__ void find_leaving(WORK &w)
{
    w.ring = QFZ_NONE;
    if ((int32_t)w.thread >= qfz_ring_count(w.h, w.w)) return;
    const int2 at = qfz_ring_pixel(w.h, w.w, (int32_t)w.thread);
    w.ring = (uint32_t)(at.y * SIDE + at.x);
    w.leaving = qfz_filter_place{QFZ_FILTER_NO_EDGE, UINT32_MAX};
    for (int k = 0; k < 2 * w.n_dirs; k++) {
        const int d = k / 2;
        const int32_t sign = k % 2 ? -1 : 1;
        const int32_t y = at.y + sign * down_of(d), x = at.x + sign * right_of(d);
        if (is_inside(w, y, x)) continue;
        const int32_t from_y = w.y + (k % 2 ? y : at.y), from_x = w.x + (k % 2 ? x : at.x);
        uint32_t level;
        if (from_y < 0 || from_x < 0 || from_x >= w.f.w ||
            !w.reader.read(from_y, from_x, d, &level))
            continue;
        const qfz_filter_place place = qfz_filter_place_of(w.f, from_y, from_x, d, level);
        if (is_earlier(place, w.leaving)) w.leaving = place;
    }
}

/* ---- Offer and refine ------------------------------------------------------------------------ */

/* Calls use(root of the pixel, root of its neighbour, place) for each edge inside the block that
 * starts from pixel p and joins two components, one of them active; true if there is any. */
template <typename WORK, typename USE>
static __device__ __forceinline__ bool each_edge(const WORK &w, uint32_t p, const USE &use)
{
    const int32_t y = (int32_t)(p / SIDE), x = (int32_t)(p % SIDE);
    const uint32_t a = w.m.root[p];
    const bool of_a = is_active(w, a);
    bool any = false;
    for (int d = 0; d < w.n_dirs; d++) {
        const int32_t to_y = y + down_of(d), to_x = x + right_of(d);
        uint32_t level;
        if (!is_inside(w, to_y, to_x)) continue;
        const uint32_t b = w.m.root[to_y * SIDE + to_x];
        if (a == b || (!of_a && !is_active(w, b)) || !w.reader.read(w.y + y, w.x + x, d, &level))
            continue;
        use(a, b, qfz_filter_place_of(w.f, w.y + y, w.x + x, d, level));
        any = true;
    }
    return any;
}

/* Offers all edges, and keeps the pixels in the list that have any. */
template <typename WORK> static __device__ __forceinline__ void offer(WORK &w)
{
    uint16_t *const list = w.m.px + w.warp * OWN;
    uint32_t n = 0;
    if (w.ring != QFZ_NONE) {
        const uint32_t c = w.m.root[w.ring];
        if (is_active(w, c)) qfz_lower(&w.m.first[c], w.leaving.high);
    }
    for (uint32_t base = 0; base < w.n_px; base += QFZ_WARP) {
        const uint32_t p = base + w.lane < w.n_px ? list[base + w.lane] : QFZ_NONE;
        const bool stays =
            p != QFZ_NONE &&
            each_edge(w, p, [&](uint32_t a, uint32_t b, const qfz_filter_place &place) {
                if (is_active(w, a)) qfz_lower(&w.m.first[a], place.high);
                if (is_active(w, b)) qfz_lower(&w.m.first[b], place.high);
            });
        __syncwarp();
        append(list, &n, w.lane, stays, p);
        __syncwarp();
    }
    w.n_px = n;
}

template <typename WORK>
static __device__ __forceinline__ void refine_one(const WORK &w, uint32_t c,
                                                  const qfz_filter_place &place)
{
    if (is_active(w, c) && w.m.first[c] == place.high) qfz_lower(&w.m.low[c], place.low);
}

template <typename WORK> static __device__ __forceinline__ void refine(const WORK &w)
{
    const uint16_t *const list = w.m.px + w.warp * OWN;
    if (w.ring != QFZ_NONE) refine_one(w, w.m.root[w.ring], w.leaving);
    for (uint32_t i = w.lane; i < w.n_px; i += QFZ_WARP)
        (void)each_edge(w, list[i], [&](uint32_t a, uint32_t b, const qfz_filter_place &place) {
            refine_one(w, a, place);
            refine_one(w, b, place);
        });
}

/* ---- Choose and follow ----------------------------------------------------------------------- */

/* The choice of active root a. */
template <typename WORK>
static __device__ __forceinline__ uint32_t choice_of(const WORK &w, uint32_t a)
{
    const qfz_filter_place first = {w.m.first[a], w.m.low[a]};
    int64_t at_y, at_x;
    int d;
    if (!has_edge(first)) return STUCK;
    qfz_position_edge(qfz_filter_position(first), &at_y, &at_x, &d);
    const int32_t y = (int32_t)(at_y - w.f.y0) - w.y, x = (int32_t)(at_x - w.f.x0) - w.x;
    const int32_t to_y = y + down_of(d), to_x = x + right_of(d);
    if (!is_inside(w, y, x) || !is_inside(w, to_y, to_x)) return STUCK;
    const uint32_t p = (uint32_t)(y * SIDE + x);
    if (first.high >> 32 > 0) atomicOr(&w.m.zeroed[p / 4], 1u << (8 * (p % 4) + (uint32_t)d));
    const uint32_t one = w.m.root[p], other = one == a ? w.m.root[to_y * SIDE + to_x] : one;
    if (w.m.mass[other] >= w.least || w.m.first[other] != first.high || w.m.low[other] != first.low)
        return other;
    return a < other ? a : MUTUAL | other;
}

/* Removes components that have become heavy from the list; the others choose. */
template <typename WORK> static __device__ __forceinline__ void choose(WORK &w)
{
    uint16_t *const list = w.m.light + w.warp * OWN;
    uint32_t n = 0;
    for (uint32_t base = 0; base < w.n_light; base += QFZ_WARP) {
        const uint32_t a = base + w.lane < w.n_light ? list[base + w.lane] : QFZ_NONE;
        const bool stays = a != QFZ_NONE && w.m.mass[a] < w.least;
        if (stays) w.m.target[a] = (uint16_t)choice_of(w, a);
        __syncwarp();
        append(list, &n, w.lane, stays, a);
        __syncwarp();
    }
    w.n_light = n;
}

/* The end of light root a's chain of choices. */
template <typename WORK>
static __device__ __forceinline__ uint32_t end_of(const WORK &w, uint32_t a)
{
    const uint32_t target = w.m.target[a];
    if (target & (STUCK | MUTUAL)) return target;
    if (target == a) return WAITS;
    for (uint32_t at = target;;) {
        const uint32_t mass = w.m.mass[at], further = w.m.target[at];
        if (mass >= w.least) return mass == OPEN ? EVENT | at : at;
        if (further & STUCK) return STUCK;
        if ((further & PLACE) == at) return WAITS;
        at = further & PLACE;
    }
}

template <typename WORK> static __device__ __forceinline__ void follow(const WORK &w)
{
    const uint32_t first = w.warp * OWN;
    for (uint32_t i = w.lane; i < w.n_light; i += QFZ_WARP)
        w.m.end[first + i] = (uint16_t)end_of(w, w.m.light[first + i]);
}

/* ---- Join ------------------------------------------------------------------------------------ */

/* Joins light root a to the end of its chain; true if a stays in the list.  Of two that chose the
 * same edge, the one that remains gets weight from the other one alone.  A component that joins an
 * open one keeps its first edge. */
template <typename WORK>
static __device__ __forceinline__ bool join(const WORK &w, uint32_t a, uint32_t end)
{
    if (end == WAITS) {
        w.m.first[a] = QFZ_FILTER_NO_EDGE;
        w.m.low[a] = UINT32_MAX;
        return true;
    }
    if (end & STUCK) {
        w.m.target[a] = STUCK;
        return false;
    }
    if (end & MUTUAL) {
        const uint32_t own = w.m.mass[a], has = w.m.mass[end & PLACE];
        w.m.mass[end & PLACE] = own >= w.least - has ? w.least : own + has;
    }
    w.m.target[a] = (uint16_t)(JOINED | (end & (EVENT | PLACE)));
    return false;
}

template <typename WORK> static __device__ __forceinline__ void join_all(WORK &w)
{
    uint16_t *const list = w.m.light + w.warp * OWN;
    uint32_t n = 0;
    for (uint32_t base = 0; base < w.n_light; base += QFZ_WARP) {
        const uint32_t i = base + w.lane;
        const uint32_t a = i < w.n_light ? list[i] : QFZ_NONE;
        const bool stays = a != QFZ_NONE && join(w, a, w.m.end[w.warp * OWN + i]);
        __syncwarp();
        append(list, &n, w.lane, stays, a);
        __syncwarp();
    }
    w.n_light = n;
}

/* After a round, each pixel's root is the root of its former root, one step away. */
template <typename WORK> static __device__ __forceinline__ void settle(const WORK &w)
{
    for (uint32_t p = w.warp * OWN + w.lane; p < (w.warp + 1) * OWN; p += QFZ_WARP) {
        const uint32_t target = w.m.target[w.m.root[p]];
        if (target & JOINED) w.m.root[p] = (uint16_t)(target & PLACE);
    }
}

/* ---- Store ----------------------------------------------------------------------------------- */

template <typename WORK> static __device__ __forceinline__ uint32_t px_of(const WORK &w, uint32_t p)
{
    return (uint32_t)(w.y + (int32_t)(p / SIDE)) * (uint32_t)w.f.w +
           (uint32_t)(w.x + (int32_t)(p % SIDE));
}

/* True if an edge that starts from pixel p leaves the block, or joins two components one of which
 * is light. */
template <typename WORK>
static __device__ __forceinline__ bool is_undecided(const WORK &w, uint32_t p)
{
    const int32_t y = (int32_t)(p / SIDE), x = (int32_t)(p % SIDE);
    const uint32_t a = w.m.root[p];
    for (int d = 0; d < w.n_dirs; d++) {
        const int32_t to_y = y + down_of(d), to_x = x + right_of(d);
        uint32_t level;
        if (is_inside(w, to_y, to_x)) {
            const uint32_t b = w.m.root[to_y * SIDE + to_x];
            if (a == b || (w.m.mass[a] >= w.least && w.m.mass[b] >= w.least)) continue;
        }
        if (w.reader.read(w.y + y, w.x + x, d, &level)) return true;
    }
    return false;
}

/* Stores pixel p of the block, and its component if it is or was a root of interest. */
template <typename WORK> static __device__ __forceinline__ void store_px(const WORK &w, uint32_t p)
{
    const qfz_gpu_filter &f = w.f;
    const uint32_t at = px_of(w, p), root = w.m.root[p], mass = w.m.mass[p];
    const bool is_event = root != p && (w.m.target[p] & EVENT);
    f.d_up[at] = px_of(w, root);
    f.d_target[at] = is_event ? QFZ_FILTER_JOINED : QFZ_FILTER_NOWHERE;
    reinterpret_cast<uint8_t *>(f.d_zeroed)[at] = (uint8_t)(w.m.zeroed[p / 4] >> (8 * (p % 4)));
    if (root != p && !is_event) return;
    f.d_mass[at] = mass == OPEN ? QFZ_GPU_FILTER_OPEN : mass;
    f.d_first[at] = is_event ? w.m.first[p] : QFZ_FILTER_NO_EDGE;
    f.d_first_low[at] = is_event ? w.m.low[p] : UINT32_MAX;
}

/* Stores all pixels, and lists what is undecided. */
template <typename WORK> static __device__ __forceinline__ void store(const WORK &w)
{
    block_memory &m = w.m;
    const qfz_gpu_filter &f = w.f;
    for (uint32_t p = w.warp * OWN + w.lane; p < (w.warp + 1) * OWN; p += QFZ_WARP) {
        const bool inside = is_inside(w, (int32_t)(p / SIDE), (int32_t)(p % SIDE));
        const bool is_light = inside && m.root[p] == p && m.mass[p] < w.least;
        const bool undecided = inside && is_undecided(w, p);
        if (inside) store_px(w, p);
        const uint32_t at_light = qfz_take_one(&m.n_light, is_light);
        const uint32_t at_px = qfz_take_one(&m.n_px, undecided);
        if (is_light) m.light[at_light] = (uint16_t)p;
        if (undecided) m.px[at_px] = (uint16_t)p;
    }
    __syncthreads();
    if (w.thread == 0) {
        m.first_px = atomicAdd(&f.d_count[QFZ_FILTER_N_PX + 1], m.n_px);
        m.first_light = atomicAdd(&f.d_count[QFZ_FILTER_N_LIGHT + 1], m.n_light);
    }
    __syncthreads();
    for (uint32_t i = w.thread; i < m.n_px; i += THREADS)
        f.d_px[1][m.first_px + i] = px_of(w, m.px[i]);
    for (uint32_t i = w.thread; i < m.n_light; i += THREADS)
        f.d_light[1][m.first_light + i] = px_of(w, m.light[i]);
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename T>
static __global__ void __launch_bounds__(THREADS, 2)
    k_block(qfz_gpu_filter f, qfz_edge_reader<T> reader, int n_dirs, const uint8_t *valid)
{
    QFZ_SHARED(block_memory, m);
    const uint32_t n_x = ((uint32_t)f.w + SIDE - 1) / SIDE;
    const int32_t y = (int32_t)(blockIdx.x / n_x) * SIDE, x = (int32_t)(blockIdx.x % n_x) * SIDE;
    const uint32_t thread = threadIdx.x;
    block_work<T> w = {*m,
                       f,
                       reader,
                       n_dirs,
                       y,
                       x,
                       min((int32_t)SIDE, f.h - y),
                       min((int32_t)SIDE, f.w - x),
                       thread,
                       thread % QFZ_WARP,
                       thread / QFZ_WARP,
                       (uint32_t)f.least,
                       0,
                       0,
                       QFZ_NONE,
                       {QFZ_FILTER_NO_EDGE, UINT32_MAX}};
    if (thread == 0) m->n_px = m->n_light = 0;
    begin(w, valid);
    find_leaving(w);
    while (__syncthreads_or(w.n_light > 0)) {
        offer(w);
        __syncthreads();
        refine(w);
        __syncthreads();
        choose(w);
        __syncthreads();
        follow(w);
        __syncthreads();
        join_all(w);
        __syncthreads();
        settle(w);
    }
    store(w);
}

static __global__ void k_clear(qfz_gpu_filter f)
{
    f.d_count[threadIdx.x] = 0;
}

bool qfz_filter_has_blocks(const qfz_gpu *gpu, const qfz_gpu_filter *filter)
{
    return filter->least < OPEN && sizeof(block_memory) <= gpu->shared_max;
}

template <typename T>
static qfz_status launch_blocks(qfz_gpu *gpu, const qfz_gpu_filter *f,
                                const qfz_edge_reader<T> &reader, const qfz_gpu_edges *edges)
{
    const unsigned n_blocks = qfz_launch_blocks(f->w, SIDE) * qfz_launch_blocks(f->h, SIDE);
    return qfz_launch(gpu, k_block<T>, dim3(n_blocks), dim3(THREADS), sizeof(block_memory), *f,
                      reader, edges->connectivity / 2, edges->d_valid);
}

qfz_status qfz_filter_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_filter *filter)
{
    QFZ_TRY(qfz_launch(gpu, k_clear, dim3(1), dim3(QFZ_FILTER_COUNTERS), 0, *filter));
    return qfz_filter_with_reader(
        edges, [=](const auto &reader) { return launch_blocks(gpu, filter, reader, edges); });
}
