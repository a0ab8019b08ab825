/* SPDX-License-Identifier: MIT */
/* boruvka_block.cu - Boruvka rounds inside blocks of 64 x 64 pixels, in shared memory.
 *
 *   choose    every pixel hooks itself by its lightest edge; the edges that are the heaviest of a
 *             square's cycle are marked (qfz_square_drops)
 *   number,   of two pixels that chose the same edge the first is the root of a component; the
 *   settle    components are numbered and every pixel learns its own
 *   collect   the edges that are not marked and join two components become a list
 *   rounds    on that list, until every component waits: until its lightest edge leaves the block
 *   name      the components that remain become vertices of the graph of all blocks
 *   span      a minimum spanning tree of them inside the block; its edges and those that leave the
 *             block are all that can matter outside it
 *
 * A component whose lightest edge leaves the block waits; whoever hooks to it makes it no lighter,
 * so it waits for good, and at the end each waiting component has a pixel on the rim.  Between
 * edges of one level those inside come first, or flat areas would wait at once.
 *
 * The edge by which a component hooks itself is not lighter than those further on the way to its
 * round's root; so each may point straight at that root, and the root itself goes on under its
 * number. */
#include "gpu/boruvka_source.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / QFZ_WARP,
    ROWS = 4, /* a warp works on groups of 32 x ROWS pixels */
    GROUPS = QFZ_BLOCK_PX / (QFZ_WARP * ROWS),
    SQUARES = QFZ_SIDE + 1, /* a side of squares that touch the block */
    PITCH = SQUARES + 1
};

/* A pixel's word in block_memory::pixel: the pixel that it hooked itself to (itself: it waits),
 * later SETTLED | its component; NO_EDGE. */
enum { SETTLED = 0x8000, NO_EDGE = SETTLED | QFZ_NO_COMP };

/* A component's word in block_memory::find: some component further on, at the root itself and
 * flags: it waits; it waits for nothing, since it has no edge left. */
enum { WAITS = 0x8000, ENDED = 0x4000, NUMBER = 0x0fff };

/* Keys of edges are level << 16 | pixel << 2 | direction, or level << 16 | LEAVES. */
enum { LEAVES = 0x8000 };

template <typename SOURCE, bool EIGHT> struct block_memory {
    typedef typename SOURCE::KEY KEY;
    enum {
        /* At most 1.5 or 2.5 edges a pixel (and half an edge a rim pixel) are not marked.  Pixels
         * hook themselves by such edges, but for those on the rim that prefer an edge inside; with
         * at most COMPS components, at least BLOCK_PX - COMPS edges close. */
        LIST = (EIGHT ? 5 : 3) * QFZ_BLOCK_PX / 2 - (QFZ_BLOCK_PX - QFZ_COMPS) + 2 * QFZ_RIM,
        LEAVING = EIGHT ? 6 * QFZ_SIDE - 2 : 2 * QFZ_SIDE
    };
    KEY list[LIST];
    KEY leave[QFZ_RIM];   /* of a rim pixel: lightest edge that leaves the block there */
    KEY leaving[LEAVING]; /* edges that leave the block and start in it */
    union {
        uint32_t value[SOURCE::ROOM + 1]; /* until the list is made */
        struct {
            KEY best[QFZ_COMPS];      /* the edge that a component chooses, then: chose */
            uint16_t step[QFZ_COMPS]; /* round << QFZ_STEP_BITS | component */
            uint16_t active[2][QFZ_COMPS / 2];
        };
    };
    union {
        uint8_t drops[SQUARES * PITCH]; /* until the list is made */
        struct {
            KEY lightest[QFZ_RIM], tree[QFZ_RIM]; /* of the spanning tree */
            uint16_t set[QFZ_RIM], hook[QFZ_RIM];
        };
    };
    uint16_t pixel[QFZ_BLOCK_PX];
    uint16_t find[QFZ_COMPS];
    uint32_t n_numbers; /* components after the first round: active << 16 | waiting */
    uint32_t n_list, n_leaving, n_next, n_tree, n_vertices, first_vertex, first_edge;
};

/* What the functions of one block share. */
template <typename SOURCE, bool EIGHT> struct block_work {
    typedef typename SOURCE::KEY KEY;
    typedef typename qfz_top_of<KEY>::type TOP;
    block_memory<SOURCE, EIGHT> &m;
    const qfz_gpu_forest &forest;
    const SOURCE &source;
    qfz_block_box box;
    int32_t rim; /* pixels on the box's ring */
    int thread, lane, warp;
};

template <typename KEY> static __device__ __forceinline__ uint32_t level_of(KEY key)
{
    return (uint32_t)(key >> 16);
}

template <typename KEY> static __device__ __forceinline__ uint32_t first_end(KEY key)
{
    return (uint32_t)key >> 2 & (QFZ_BLOCK_PX - 1);
}

template <typename KEY> static __device__ __forceinline__ uint32_t second_end(KEY key)
{
    const int dir = (int)((uint32_t)key & 3);
    const int step = dir == QFZ_RIGHT ? 1
                                      : QFZ_SIDE + (dir == QFZ_BELOW         ? 0
                                                    : dir == QFZ_BELOW_RIGHT ? 1
                                                                             : -1);
    return (uint32_t)((int)first_end(key) + step);
}

static __device__ __forceinline__ bool in_block(int y, int x)
{
    return (unsigned)y < QFZ_SIDE && (unsigned)x < QFZ_SIDE;
}

/* Row j of a warp's share of a group. */
static __device__ __forceinline__ int row_of(int group, int j)
{
    return group / 2 * ROWS + j;
}

template <typename WORK> static __device__ __forceinline__ int column_of(const WORK &w, int group)
{
    return w.lane + group % 2 * QFZ_WARP;
}

template <typename WORK>
static __device__ __forceinline__ bool in_image(const WORK &w, int y, int x)
{
    return y < w.box.h && x < w.box.w;
}

template <typename WORK>
static __device__ __forceinline__ int64_t pixel_of(const WORK &w, int y, int x)
{
    return (int64_t)(w.box.y + y) * w.forest.w + w.box.x + x;
}

/* ---- Choose ---------------------------------------------------------------------------------- */

/* Must this pixel stay a component of its own, so that it becomes a vertex? */
template <typename WORK> static __device__ __forceinline__ bool is_kept(const WORK &w, int y, int x)
{
    if (!w.forest.keeps_ring || !in_image(w, y, x)) return false;
    const int32_t ty = w.box.y + y, tx = w.box.x + x;
    return ty == 0 || ty == w.forest.h - 1 || tx == 0 || tx == w.forest.w - 1;
}

/* The pixel's word, and its level in *top. */
template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ uint32_t choose_one(const block_work<SOURCE, EIGHT> &w, int y,
                                                      int x, uint32_t *top)
{
    typedef typename SOURCE::KEY KEY;
    enum { CODE_BITS = 4, OUT = 8 };
    uint32_t level[QFZ_AROUND];
    w.source.template around<EIGHT>(y, x, level);
    KEY least = ~(KEY)0;
#pragma unroll
    for (int k = 0; k < QFZ_AROUND; k++) {
        if (!qfz_around_has(EIGHT, k)) continue;
        const bool out = !in_block(y + qfz_around_dy(k), x + qfz_around_dx(k));
        least = min(least, (KEY)level[k] << CODE_BITS | (KEY)(k | (out ? OUT : 0)));
    }
    const uint32_t p = (uint32_t)(y * QFZ_SIDE + x), k = (uint32_t)least & (OUT - 1);
    const bool none = (least >> CODE_BITS) > SOURCE::MOST;
    *top = 0;
    if (is_kept(w, y, x)) return p;
    if (none) return NO_EDGE;
    if ((uint32_t)least & OUT) return p;
    *top = (uint32_t)(least >> CODE_BITS);
    return p + (uint32_t)(qfz_around_dy((int)k) * QFZ_SIDE + qfz_around_dx((int)k));
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ unsigned drops_of(const SOURCE &source, int y, int x)
{
    uint32_t level[QFZ_SQUARE];
    source.template square<EIGHT>(y, x, level);
    return qfz_square_drops<EIGHT>(level);
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void choose(block_work<SOURCE, EIGHT> &w)
{
    typedef typename block_work<SOURCE, EIGHT>::TOP TOP;
    TOP *const tops = static_cast<TOP *>(w.forest.top);
#pragma unroll 1
    for (int group = w.warp; group < GROUPS; group += WARPS) {
        uint32_t word[ROWS], top[ROWS];
        unsigned drops[ROWS];
        const int x = column_of(w, group);
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            word[j] = choose_one(w, row_of(group, j), x, &top[j]);
            drops[j] = drops_of<SOURCE, EIGHT>(w.source, row_of(group, j), x);
        }
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const int y = row_of(group, j);
            w.m.pixel[y * QFZ_SIDE + x] = (uint16_t)word[j];
            w.m.drops[(y + 1) * PITCH + x + 1] = (uint8_t)drops[j];
            if (in_image(w, y, x)) tops[pixel_of(w, y, x)] = (TOP)top[j];
        }
    }
    for (int i = w.thread; i < 2 * SQUARES - 1; i += THREADS) {
        const int y = i < SQUARES ? -1 : i - SQUARES, x = i < SQUARES ? i - 1 : -1;
        w.m.drops[(y + 1) * PITCH + x + 1] = (uint8_t)drops_of<SOURCE, EIGHT>(w.source, y, x);
    }
}

/* ---- Number, settle -------------------------------------------------------------------------- */

/* While roots' words change, the test for a root reads no word that changes: that of the pixel
 * that a root chose, which is no root itself; where it reads another, no value that this may have
 * makes the test true. */
template <typename WORK> static __device__ __forceinline__ void number(WORK &w)
{
    volatile uint16_t *const pixel = w.m.pixel;
    const unsigned all = 0xffffffffu, before = (1u << w.lane) - 1;
#pragma unroll 1
    for (int group = w.warp; group < GROUPS; group += WARPS) {
        unsigned waits[ROWS], roots[ROWS], total = 0;
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const uint32_t p = (uint32_t)(row_of(group, j) * QFZ_SIDE + column_of(w, group));
            const uint32_t q = pixel[p];
            const bool root = q < QFZ_BLOCK_PX && p < q && pixel[q] == p;
            waits[j] = __ballot_sync(all, q == p);
            roots[j] = __ballot_sync(all, root);
            total += (unsigned)__popc(waits[j]) + ((unsigned)__popc(roots[j]) << 16);
        }
        unsigned first = 0;
        if (w.lane == 0) first = atomicAdd(&w.m.n_numbers, total);
        first = __shfl_sync(all, first, 0);
        uint32_t waiting = first & 0xffff, active = (uint32_t)w.forest.rim_room + (first >> 16);
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const uint32_t p = (uint32_t)(row_of(group, j) * QFZ_SIDE + column_of(w, group));
            const bool waits_here = waits[j] >> w.lane & 1;
            if (waits_here || (roots[j] >> w.lane & 1)) {
                const uint32_t c = waits_here ? waiting + (uint32_t)__popc(waits[j] & before)
                                              : active + (uint32_t)__popc(roots[j] & before);
                pixel[p] = (uint16_t)(SETTLED | c);
                w.m.find[c] = (uint16_t)(c | (waits_here ? WAITS : 0));
            }
            waiting += (uint32_t)__popc(waits[j]);
            active += (uint32_t)__popc(roots[j]);
        }
    }
}

/* Every word only moves on along its way, so whatever is read is further on that way. */
template <typename WORK> static __device__ __forceinline__ void settle(WORK &w)
{
    volatile uint16_t *const pixel = w.m.pixel;
#pragma unroll 1
    for (int group = w.warp; group < GROUPS; group += WARPS) {
        const int x = column_of(w, group);
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const int y = row_of(group, j), p = y * QFZ_SIDE + x;
            uint32_t word = pixel[p];
            while (!(word & SETTLED)) {
                word = pixel[word];
                pixel[p] = (uint16_t)word;
            }
            if (in_image(w, y, x)) w.forest.comp[pixel_of(w, y, x)] = (uint16_t)(word & ~SETTLED);
        }
    }
}

/* ---- Collect --------------------------------------------------------------------------------- */

/* Is the edge from (y, x) to neighbour k marked by one of its squares? */
template <typename WORK>
static __device__ __forceinline__ bool is_dropped(const WORK &w, int y, int x, int k)
{
    const uint8_t *const here = w.m.drops + (y + 1) * PITCH + x + 1; /* square below right */
    const unsigned below = here[0], above = here[-PITCH], below_left = here[-1],
                   above_left = here[-PITCH - 1];
    switch (k) {
    case QFZ_UL: return above_left >> QFZ_DIAGONAL & 1;
    case QFZ_U: return (above >> QFZ_LEFT | above_left >> QFZ_SIDE_RIGHT) & 1;
    case QFZ_UR: return above >> QFZ_ANTIDIAGONAL & 1;
    case QFZ_L: return (below_left >> QFZ_TOP | above_left >> QFZ_BOTTOM) & 1;
    case QFZ_R: return (below >> QFZ_TOP | above >> QFZ_BOTTOM) & 1;
    case QFZ_D: return (below >> QFZ_LEFT | below_left >> QFZ_SIDE_RIGHT) & 1;
    case QFZ_DR: return below >> QFZ_DIAGONAL & 1;
    default: return below_left >> QFZ_ANTIDIAGONAL & 1;
    }
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void collect(block_work<SOURCE, EIGHT> &w)
{
    typedef typename SOURCE::KEY KEY;
    const unsigned all = 0xffffffffu, before = (1u << w.lane) - 1;
#pragma unroll 1
    for (int i = w.warp; i < GROUPS * ROWS; i += WARPS) {
        const int y = i / 2, x = w.lane + i % 2 * QFZ_WARP;
        const uint32_t p = (uint32_t)(y * QFZ_SIDE + x), own = w.m.pixel[p];
        uint32_t level[QFZ_AROUND];
        unsigned open[QFZ_AROUND], total = 0;
        w.source.template around<EIGHT>(y, x, level);
#pragma unroll
        for (int k = QFZ_R; k < QFZ_AROUND; k++) {
            if (!qfz_around_has(EIGHT, k)) continue;
            const int ny = y + qfz_around_dy(k), nx = x + qfz_around_dx(k);
            const bool is_open = in_block(ny, nx) && level[k] <= SOURCE::MOST &&
                                 w.m.pixel[ny * QFZ_SIDE + nx] != own && !is_dropped(w, y, x, k);
            open[k] = __ballot_sync(all, is_open);
            total += (unsigned)__popc(open[k]);
        }
        unsigned at = 0;
        if (w.lane == 0) at = atomicAdd(&w.m.n_list, total);
        at = __shfl_sync(all, at, 0);
#pragma unroll
        for (int k = QFZ_R; k < QFZ_AROUND; k++) {
            if (!qfz_around_has(EIGHT, k)) continue;
            if (open[k] >> w.lane & 1)
                w.m.list[at + (unsigned)__popc(open[k] & before)] =
                    (KEY)level[k] << 16 | (KEY)(p << 2 | (unsigned)qfz_around_dir(k));
            at += (unsigned)__popc(open[k]);
        }
    }
}

/* The edges of a rim pixel that leave the block. */
template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void collect_leaving(block_work<SOURCE, EIGHT> &w)
{
    typedef typename SOURCE::KEY KEY;
    for (int i = w.thread; i < w.rim; i += THREADS) {
        const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
        const int y = place.y, x = place.x;
        const KEY p = (KEY)(y * QFZ_SIDE + x);
        uint32_t level[QFZ_AROUND];
        KEY least = ~(KEY)0;
        w.source.template around<EIGHT>(y, x, level);
#pragma unroll
        for (int k = 0; k < QFZ_AROUND; k++) {
            if (!qfz_around_has(EIGHT, k)) continue;
            if (in_block(y + qfz_around_dy(k), x + qfz_around_dx(k))) continue;
            if (level[k] > SOURCE::MOST || is_dropped(w, y, x, k)) continue;
            least = min(least, (KEY)level[k] << 16 | LEAVES);
            if (k >= QFZ_R)
                w.m.leaving[atomicAdd(&w.m.n_leaving, 1u)] =
                    (KEY)level[k] << 16 | p << 2 | (KEY)qfz_around_dir(k);
        }
        w.m.leave[i] = least;
    }
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The root of a component, with its flags.  Words on the way only move on towards the root. */
template <typename WORK> static __device__ __forceinline__ uint32_t root_of(WORK &w, uint32_t c)
{
    volatile uint16_t *const find = w.m.find;
    uint32_t word = find[c], up = word & NUMBER;
    if (up == c) return word;
    for (word = find[up]; (word & NUMBER) != up; word = find[up]) {
        up = word & NUMBER;
        find[c] = (uint16_t)up;
    }
    return word;
}

template <typename WORK>
static __device__ __forceinline__ uint32_t root_of_pixel(WORK &w, uint32_t p)
{
    return root_of(w, w.m.pixel[p] & ~(uint32_t)SETTLED);
}

/* A warp's part of the list; edges inside one component leave it. */
struct list_part {
    uint32_t first, n;
};

/* Calls use(key, a, b) for every edge of the part, a and b from name(pixel); keeps those for which
 * it says so.  A warp's writes never pass its reads. */
template <typename WORK, typename USE>
static __device__ __forceinline__ void sweep(WORK &w, list_part &part, USE use)
{
    typedef typename WORK::KEY KEY;
    const unsigned all = 0xffffffffu;
    uint32_t kept = 0;
    for (uint32_t base = 0; base < part.n; base += QFZ_WARP) {
        const uint32_t i = base + (uint32_t)w.lane;
        KEY key = 0;
        bool keeps = i < part.n;
        if (keeps) {
            key = w.m.list[part.first + i];
            keeps = use(key);
        }
        const unsigned mask = __ballot_sync(all, keeps);
        if (keeps)
            w.m.list[part.first + kept + (uint32_t)__popc(mask & ((1u << w.lane) - 1))] = key;
        kept += (uint32_t)__popc(mask);
    }
    part.n = kept;
}

template <typename WORK>
static __device__ __forceinline__ void offer_edges(WORK &w, list_part &part)
{
    typedef typename WORK::KEY KEY;
    sweep(w, part, [&](KEY key) {
        const uint32_t a = root_of_pixel(w, first_end(key)), b = root_of_pixel(w, second_end(key));
        if (((a ^ b) & NUMBER) == 0) return false;
        if (!(a & WAITS)) qfz_lower(&w.m.best[a], key);
        if (!(b & WAITS)) qfz_lower(&w.m.best[b], key);
        return true;
    });
    for (int i = w.thread; i < w.rim; i += THREADS) {
        const KEY key = w.m.leave[i];
        if (key == ~(KEY)0) continue;
        const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
        const uint32_t c = root_of_pixel(w, (uint32_t)(place.y * QFZ_SIDE + place.x));
        if (!(c & WAITS)) qfz_lower(&w.m.best[c], key);
    }
}

/* What c chose: to wait, or the component at the other end of its edge.  Of two that chose the
 * same edge the first stays root; a waiting one has chosen none. */
template <typename WORK>
static __device__ __forceinline__ void choose_component(WORK &w, uint32_t c, uint32_t round)
{
    typedef typename WORK::KEY KEY;
    const KEY key = w.m.best[c];
    if ((uint32_t)key & LEAVES) {
        w.m.find[c] = (uint16_t)(c | WAITS | (key == ~(KEY)0 ? ENDED : 0));
        return;
    }
    const uint32_t a = root_of_pixel(w, first_end(key)) & NUMBER;
    const uint32_t b = root_of_pixel(w, second_end(key)) & NUMBER;
    const uint32_t other = a == c ? b : a;
    if (c < other && w.m.best[other] == key) return;
    w.m.step[c] = (uint16_t)(round << QFZ_STEP_BITS | other);
}

/* Points c at its round's root; true if c is a root that goes on.  A step that another thread
 * shortens meanwhile still leads to the same root. */
template <typename WORK>
static __device__ __forceinline__ bool hook_component(WORK &w, uint32_t c, uint32_t round)
{
    typedef typename WORK::KEY KEY;
    volatile uint16_t *const step = w.m.step;
    uint32_t up = step[c];
    if (up >> QFZ_STEP_BITS != round) {
        const bool goes_on = !(w.m.find[c] & WAITS);
        if (goes_on) w.m.best[c] = ~(KEY)0;
        return goes_on;
    }
    for (uint32_t next; (next = step[up & QFZ_STEP_MASK]) >> QFZ_STEP_BITS == round;)
        up = next;
    step[c] = (uint16_t)up;
    w.m.find[c] = (uint16_t)(up & QFZ_STEP_MASK);
    return false;
}

template <typename WORK> static __device__ __forceinline__ void rounds(WORK &w, list_part &part)
{
    typedef typename WORK::KEY KEY;
    const uint32_t first = (uint32_t)w.forest.rim_room;
    uint32_t n = w.m.n_numbers >> 16;
    for (uint32_t c = (uint32_t)w.thread; c < first + n; c += THREADS) {
        w.m.best[c] = ~(KEY)0;
        w.m.step[c] = (uint16_t)(QFZ_STEP_ROOT << QFZ_STEP_BITS | c);
    }
    __syncthreads();
    for (uint32_t round = 0; n > 0; round++) {
        const uint16_t *const active = w.m.active[round % 2];
        uint16_t *const next = w.m.active[(round + 1) % 2];
        offer_edges(w, part);
        __syncthreads();
        if (w.thread == 0) w.m.n_next = 0;
        for (uint32_t i = (uint32_t)w.thread; i < n; i += THREADS)
            choose_component(w, round == 0 ? first + i : active[i], round);
        __syncthreads();
        for (uint32_t base = (uint32_t)w.thread - (uint32_t)w.lane; base < n; base += THREADS) {
            const uint32_t i = base + (uint32_t)w.lane;
            const uint32_t c = i >= n ? 0 : round == 0 ? first + i : active[i];
            const bool goes_on = i < n && hook_component(w, c, round);
            const uint32_t at = qfz_take(&w.m.n_next, goes_on ? 1 : 0);
            if (goes_on) next[at] = (uint16_t)c;
        }
        __syncthreads();
        n = w.m.n_next;
    }
}

/* ---- Name ------------------------------------------------------------------------------------ */

/* Numbers the waiting components; their steps then tell their vertices. */
template <typename WORK> static __device__ __forceinline__ void name_vertices(WORK &w)
{
    const uint32_t first = (uint32_t)w.forest.rim_room, n_waiting = w.m.n_numbers & 0xffff;
    const uint32_t n = first + (w.m.n_numbers >> 16);
    for (uint32_t base = (uint32_t)w.thread - (uint32_t)w.lane; base < n; base += THREADS) {
        const uint32_t c = base + (uint32_t)w.lane;
        const bool is_root =
            c < n && (c < n_waiting || c >= first) && w.m.step[c] >> QFZ_STEP_BITS == QFZ_STEP_ROOT;
        const bool is_vertex = is_root && !(w.m.find[c] & ENDED);
        const uint32_t v = qfz_take(&w.m.n_vertices, is_vertex ? 1 : 0);
        if (is_root)
            w.m.step[c] = (uint16_t)(QFZ_STEP_ROOT << QFZ_STEP_BITS |
                                     (is_vertex ? v : (uint32_t)QFZ_STEP_MASK));
    }
    __syncthreads();
    if (w.thread == 0) {
        w.m.first_vertex = atomicAdd(&w.forest.count[QFZ_COUNT_VERTICES], w.m.n_vertices);
        w.forest.block[blockIdx.x] = make_uint2(w.m.first_vertex, n);
    }
    __syncthreads();
}

/* The block's vertex of a pixel that has one. */
template <typename WORK>
static __device__ __forceinline__ uint32_t vertex_of_pixel(WORK &w, uint32_t p)
{
    return w.m.step[root_of_pixel(w, p) & NUMBER] & QFZ_STEP_MASK;
}

/* Vertex and cost of rim pixel i. */
template <typename WORK> static __device__ __forceinline__ uint2 rim_entry(WORK &w, int i)
{
    typedef typename WORK::TOP TOP;
    const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
    const uint32_t word = w.m.pixel[place.y * QFZ_SIDE + place.x];
    if (word == NO_EDGE) return make_uint2(QFZ_NONE, 0);
    uint32_t cost = static_cast<const TOP *>(w.forest.top)[pixel_of(w, place.y, place.x)];
    uint32_t c = word & ~(uint32_t)SETTLED, step = w.m.step[c];
    for (; step >> QFZ_STEP_BITS != QFZ_STEP_ROOT; step = w.m.step[c]) {
        cost = max(cost, level_of(w.m.best[c]));
        c = step & QFZ_STEP_MASK;
    }
    const uint32_t v = step & QFZ_STEP_MASK;
    return make_uint2(v == QFZ_STEP_MASK ? QFZ_NONE : w.m.first_vertex + v, cost);
}

template <typename WORK> static __device__ __forceinline__ void store_forest(WORK &w)
{
    typedef typename WORK::KEY KEY;
    const uint32_t n = (uint32_t)w.forest.rim_room + (w.m.n_numbers >> 16);
    KEY *const hooks =
        static_cast<KEY *>(w.forest.hooks) + (int64_t)blockIdx.x * w.forest.comp_room;
    for (uint32_t c = (uint32_t)w.thread; c < n; c += THREADS)
        hooks[c] = w.m.best[c] >> 16 << 16 | w.m.step[c];
    for (uint32_t v = (uint32_t)w.thread; v < w.m.n_vertices; v += THREADS)
        w.forest.best[0][w.m.first_vertex + v] = ~0ull;
    uint2 *const rim = w.forest.rim + (int64_t)blockIdx.x * w.forest.rim_room;
    for (int i = w.thread; i < w.rim; i += THREADS)
        rim[i] = rim_entry(w, i);
}

/* ---- Span ------------------------------------------------------------------------------------ */

template <typename WORK>
static __device__ __forceinline__ bool offer_to_sets(WORK &w, list_part &part)
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

/* Boruvka once more, between vertices, edges that leave the block put aside: tree[] gets the edges
 * of the minimum spanning forest. */
template <typename WORK> static __device__ __forceinline__ void span(WORK &w, list_part &part)
{
    typedef typename WORK::KEY KEY;
    const uint32_t v = (uint32_t)w.thread, n = w.m.n_vertices; /* at most QFZ_RIM < THREADS */
    if (v < n) {
        w.m.set[v] = (uint16_t)v;
        w.m.lightest[v] = ~(KEY)0;
    }
    __syncthreads();
    while (__syncthreads_or(offer_to_sets(w, part))) {
        if (v < n && w.m.set[v] == v) {
            const KEY key = w.m.lightest[v];
            uint32_t other = v;
            if (key != ~(KEY)0) {
                const uint32_t a = w.m.set[vertex_of_pixel(w, first_end(key))];
                other = a == v ? w.m.set[vertex_of_pixel(w, second_end(key))] : a;
            }
            const bool stays = other == v || (v < other && w.m.lightest[other] == key);
            w.m.hook[v] = (uint16_t)(stays ? v : other);
            if (!stays) w.m.tree[atomicAdd(&w.m.n_tree, 1u)] = key;
        }
        __syncthreads();
        if (v < n) {
            uint32_t root = w.m.set[v];
            while (w.m.hook[root] != root)
                root = w.m.hook[root];
            w.m.set[v] = (uint16_t)root;
            w.m.lightest[v] = ~(KEY)0;
        }
        __syncthreads();
    }
}

/* Edges that leave the block name the other end by its place on the other block's rim. */
template <typename WORK> static __device__ __forceinline__ void store_edges(WORK &w)
{
    typedef typename WORK::KEY KEY;
    const uint32_t n_leaving = w.m.n_leaving, n = n_leaving + w.m.n_tree;
    if (w.thread == 0) w.m.first_edge = atomicAdd(&w.forest.count[QFZ_COUNT_EDGES], n);
    __syncthreads();
    for (uint32_t i = (uint32_t)w.thread; i < n; i += THREADS) {
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
        w.forest.level[0][w.m.first_edge + i] = level_of(key);
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

template <typename SOURCE, bool EIGHT>
static __global__ void __launch_bounds__(THREADS) k_block(qfz_gpu_forest forest, SOURCE source)
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
    number(w);
    __syncthreads();
    settle(w);
    __syncthreads();
    collect(w);
    collect_leaving(w);
    __syncthreads();
    const uint32_t warp = (uint32_t)w.warp, n = m->n_list;
    list_part part = {warp * n / WARPS, (warp + 1) * n / WARPS - warp * n / WARPS};
    rounds(w, part);
    name_vertices(w);
    store_forest(w);
    span(w, part);
    store_edges(w);
}

template <typename SOURCE>
static qfz_status launch(qfz_gpu *gpu, const qfz_gpu_forest *forest, const SOURCE &source)
{
    const dim3 grid((unsigned)forest->n_blocks);
    if (forest->connectivity == 4)
        return qfz_launch(gpu, k_block<SOURCE, false>, grid, dim3(THREADS),
                          sizeof(block_memory<SOURCE, false>), *forest, source);
    return qfz_launch(gpu, k_block<SOURCE, true>, grid, dim3(THREADS),
                      sizeof(block_memory<SOURCE, true>), *forest, source);
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
    return launch(gpu, forest, source);
}

qfz_status qfz_boruvka_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_gpu_forest *forest)
{
    if (edges->form == QFZ_EDGES_U8) return launch_values<uint8_t>(gpu, edges, forest);
    if (edges->form == QFZ_EDGES_U16) return launch_values<uint16_t>(gpu, edges, forest);
    qfz_keys_source source = {};
    source.keys = edges->d_keys;
    source.n_px = (int64_t)edges->h * edges->w;
    source.h = edges->h;
    source.w = edges->w;
    return launch(gpu, forest, source);
}
