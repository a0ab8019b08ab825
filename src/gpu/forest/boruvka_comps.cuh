/* SPDX-License-Identifier: MIT */
/* boruvka_comps.cuh - the rounds of a block on its list of open edges, and the numbering of the
 * components that remain.
 *
 * On the path from a component to the root of a round, levels do not increase.  So each component
 * can point to that root directly, with the level of its own hook; the root keeps its number. */
#ifndef QFZ_GPU_BORUVKA_COMPS_CUH
#define QFZ_GPU_BORUVKA_COMPS_CUH

#include "gpu/forest/boruvka_block.cuh"

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* The root of component c, with the root's flags.  Every component is one step from its root. */
template <typename WORK>
static __device__ __forceinline__ uint32_t root_of(const WORK &w, uint32_t c)
{
    const uint32_t word = w.m.find[c], up = word & NUMBER;
    return up == c ? word : w.m.find[up];
}

template <typename WORK>
static __device__ __forceinline__ uint32_t comp_of_pixel(const WORK &w, uint32_t p)
{
    return w.m.pixel[p] & ~(uint32_t)SETTLED;
}

template <typename WORK>
static __device__ __forceinline__ uint32_t root_of_pixel(const WORK &w, uint32_t p)
{
    return root_of(w, comp_of_pixel(w, p));
}

/* The part of the list that a warp processes: n edges from `first` on. */
struct list_share {
    uint32_t first, n;
};

/* Removes from the part the edges for which keeps(key) is false.  A warp writes only to places that
 * it has read, and synchronises between reads and writes. */
template <typename WORK, typename KEEPS>
static __device__ __forceinline__ void sweep(WORK &w, list_share &part, KEEPS keeps)
{
    typedef typename WORK::KEY KEY;
    KEY *const list = w.m.list + part.first;
    uint32_t kept = 0;
    for (uint32_t base = 0; base < part.n; base += QFZ_WARP) {
        const uint32_t i = base + (uint32_t)w.lane;
        KEY key = 0;
        bool stays = i < part.n;
        if (stays) {
            key = list[i];
            stays = keeps(key);
        }
        const unsigned mask = __ballot_sync(0xffffffffu, stays);
        __syncwarp();
        if (stays) list[kept + (uint32_t)__popc(mask & ((1u << w.lane) - 1))] = key;
        kept += (uint32_t)__popc(mask);
    }
    part.n = kept;
}

/* Offers every edge of the list to the components of its two ends.  In the first round every
 * component is a root, and the components that wait have the numbers below rim_room. */
template <typename WORK>
static __device__ __forceinline__ void offer_first(WORK &w, list_share part)
{
    typedef typename WORK::KEY KEY;
    const uint32_t active = (uint32_t)w.forest.rim_room;
    for (uint32_t i = (uint32_t)w.lane; i < part.n; i += QFZ_WARP) {
        const KEY key = w.m.list[part.first + i];
        const uint32_t a = comp_of_pixel(w, first_end(key)), b = comp_of_pixel(w, second_end(key));
        if (a >= active) qfz_lower(&w.m.best[a], key);
        if (b >= active) qfz_lower(&w.m.best[b], key);
    }
}

/* The same in later rounds; removes edges inside a component from the list. */
template <typename WORK>
static __device__ __forceinline__ void offer_again(WORK &w, list_share &part)
{
    typedef typename WORK::KEY KEY;
    sweep(w, part, [&](KEY key) {
        const uint32_t a = root_of_pixel(w, first_end(key)), b = root_of_pixel(w, second_end(key));
        if (((a ^ b) & NUMBER) == 0) return false;
        if (!(a & WAITS)) qfz_lower(&w.m.best[a], key);
        if (!(b & WAITS)) qfz_lower(&w.m.best[b], key);
        return true;
    });
}

/* Offers the edges that leave the block to the components of their first ends. */
template <typename WORK> static __device__ __forceinline__ void offer_leaving(WORK &w)
{
    typedef typename WORK::KEY KEY;
    for (int i = w.thread; i < w.rim; i += w.THREADS) {
        const KEY key = w.m.leave[i];
        if (key == ~(KEY)0) continue;
        const uint32_t c = root_of_pixel(w, (uint32_t)key & 0xffff);
        if (!(c & WAITS)) qfz_lower(&w.m.best[c], key >> 16 << 16 | LEAVES);
    }
}

/* The choice of component c: to wait, or the component at the other end of its lightest edge.  Of
 * two components that chose the same edge, the one with the lower number stays a root; a waiting
 * component has no choice. */
template <typename WORK>
static __device__ __forceinline__ void choose_component(WORK &w, uint32_t c, uint32_t round)
{
    typedef typename WORK::KEY KEY;
    const KEY key = w.m.best[c];
    if ((uint32_t)key & LEAVES) return;
    const uint32_t a = root_of_pixel(w, first_end(key)) & NUMBER;
    const uint32_t b = root_of_pixel(w, second_end(key)) & NUMBER;
    const uint32_t other = a == c ? b : a;
    if (c < other && w.m.best[other] == key) return;
    w.m.step[c] = (uint16_t)(round << QFZ_STEP_BITS | other);
}

/* The root to which the steps of this round lead. */
template <typename WORK>
static __device__ __forceinline__ uint32_t end_of_step(const WORK &w, uint32_t step, uint32_t round)
{
    for (uint32_t up = step; up >> QFZ_STEP_BITS == round; up = w.m.step[step & QFZ_STEP_MASK])
        step = up;
    return step & QFZ_STEP_MASK;
}

/* Points c to the root of this round; true if c is a root that does not wait. */
template <typename WORK>
static __device__ __forceinline__ bool hook_component(WORK &w, uint32_t c, uint32_t round)
{
    typedef typename WORK::KEY KEY;
    const uint32_t step = w.m.step[c];
    if (step >> QFZ_STEP_BITS == round) {
        w.m.find[c] = (uint16_t)end_of_step(w, step, round);
        return false;
    }
    const KEY key = w.m.best[c];
    const bool waits = (uint32_t)key & LEAVES;
    if (waits)
        w.m.find[c] = (uint16_t)(c | WAITS | (key == ~(KEY)0 ? ENDED : 0));
    else
        w.m.best[c] = ~(KEY)0;
    return !waits;
}

/* Points the components that were hooked in earlier rounds to the new roots. */
template <typename WORK>
static __device__ __forceinline__ void follow_roots(WORK &w, uint32_t first, uint32_t end,
                                                    uint32_t round)
{
    for (uint32_t c = first + (uint32_t)w.thread; c < end; c += w.THREADS) {
        if (w.m.step[c] >> QFZ_STEP_BITS >= round) continue;
        const uint32_t step = w.m.step[w.m.find[c]];
        if (step >> QFZ_STEP_BITS == round) w.m.find[c] = (uint16_t)end_of_step(w, step, round);
    }
}

/* Runs all rounds; returns their number. */
template <typename WORK>
static __device__ __forceinline__ uint32_t rounds(WORK &w, list_share &part)
{
    typedef typename WORK::KEY KEY;
    const uint32_t first = (uint32_t)w.forest.rim_room;
    uint32_t n = w.m.n_numbers >> 16;
    const uint32_t end = first + n;
    for (uint32_t c = (uint32_t)w.thread; c < end; c += w.THREADS) {
        w.m.best[c] = ~(KEY)0;
        w.m.step[c] = (uint16_t)(QFZ_STEP_ROOT << QFZ_STEP_BITS | c);
    }
    __syncthreads();
    uint32_t round = 0;
    for (; n > QFZ_SPARE; round++) {
        const uint16_t *const active = w.m.active[round % 2];
        uint16_t *const next = w.m.active[(round + 1) % 2];
        if (round == 0)
            offer_first(w, part);
        else
            offer_again(w, part);
        offer_leaving(w);
        __syncthreads();
        if (w.thread == 0) w.m.n_next = 0;
        for (uint32_t i = (uint32_t)w.thread; i < n; i += w.THREADS)
            choose_component(w, round == 0 ? first + i : active[i], round);
        __syncthreads();
        follow_roots(w, first, end, round);
        for (uint32_t base = (uint32_t)w.thread - (uint32_t)w.lane; base < n; base += w.THREADS) {
            const uint32_t i = base + (uint32_t)w.lane;
            const uint32_t c = i >= n ? 0 : round == 0 ? first + i : active[i];
            const bool goes_on = i < n && hook_component(w, c, round);
            const uint32_t at = qfz_take_one(&w.m.n_next, goes_on);
            if (goes_on) next[at] = (uint16_t)c;
        }
        __syncthreads();
        for (uint32_t i = (uint32_t)w.thread; i < n; i += w.THREADS) {
            const uint32_t c = round == 0 ? first + i : active[i];
            if (w.m.step[c] >> QFZ_STEP_BITS == round)
                w.m.step[c] = (uint16_t)(round << QFZ_STEP_BITS | w.m.find[c]);
        }
        n = w.m.n_next;
    }
    __syncthreads();
    return round;
}

/* ---- Name ------------------------------------------------------------------------------------ */

/* Numbers the components that remain as vertices, and stores the number in each one's step. */
template <typename WORK>
static __device__ __forceinline__ void name_vertices(WORK &w, uint32_t n_rounds)
{
    const uint32_t first = (uint32_t)w.forest.rim_room, n_waiting = w.m.n_numbers & 0xffff;
    const uint32_t n = first + (w.m.n_numbers >> 16);
    for (uint32_t base = (uint32_t)w.thread - (uint32_t)w.lane; base < n; base += w.THREADS) {
        const uint32_t c = base + (uint32_t)w.lane;
        const bool is_root =
            c < n && (c < n_waiting || c >= first) && w.m.step[c] >> QFZ_STEP_BITS == QFZ_STEP_ROOT;
        const bool is_vertex = is_root && !(w.m.find[c] & ENDED);
        const uint32_t v = qfz_take_one(&w.m.n_vertices, is_vertex);
        if (c >= n_waiting && c < first) w.m.step[c] = QFZ_STEP_ENDED; /* no component */
        if (is_root)
            w.m.step[c] = (uint16_t)(QFZ_STEP_ROOT << QFZ_STEP_BITS |
                                     (is_vertex ? v : (uint32_t)QFZ_STEP_MASK));
    }
    __syncthreads();
    if (w.thread == 0) {
        w.m.first_vertex = atomicAdd(&w.forest.count[QFZ_COUNT_VERTICES], w.m.n_vertices);
        w.forest.block[blockIdx.x] = make_uint2(w.m.first_vertex, n | n_rounds << 16);
    }
    __syncthreads();
}

/* The vertex of a pixel that has one, counted from the block's first vertex. */
template <typename WORK>
static __device__ __forceinline__ uint32_t vertex_of_pixel(WORK &w, uint32_t p)
{
    return w.m.step[root_of_pixel(w, p) & NUMBER] & QFZ_STEP_MASK;
}

/* The vertex of rim pixel i, and the greatest level on the path up to it. */
template <typename WORK> static __device__ __forceinline__ uint2 rim_entry(WORK &w, int i)
{
    typedef typename WORK::TOP TOP;
    const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
    const uint32_t word = w.m.pixel[place.y * QFZ_SIDE + place.x];
    if (word == NO_EDGE) return make_uint2(QFZ_NONE, 0);
    uint32_t cost = qfz_tops<TOP>(w.forest, w.box, place.y)[place.x];
    uint32_t c = word & ~(uint32_t)SETTLED, step = w.m.step[c];
    for (; step >> QFZ_STEP_BITS != QFZ_STEP_ROOT; step = w.m.step[c]) {
        cost = max(cost, level_of(w.m.best[c]));
        c = step & QFZ_STEP_MASK;
    }
    const uint32_t v = step & QFZ_STEP_MASK;
    return make_uint2(v == QFZ_STEP_MASK ? QFZ_NONE : w.m.first_vertex + v, cost);
}

/* The level of a root's lightest edge; 0 if the root has not determined it. */
template <typename WORK>
static __device__ __forceinline__ typename WORK::KEY hook_of(const WORK &w, uint32_t c)
{
    typedef typename WORK::KEY KEY;
    const KEY best = w.m.best[c];
    const uint32_t step = w.m.step[c];
    const bool looked = best != ~(KEY)0 || step == QFZ_STEP_ENDED;
    return (looked ? best >> 16 << 16 : 0) | step;
}

template <typename WORK> static __device__ __forceinline__ void store_forest(WORK &w)
{
    const uint32_t n = (uint32_t)w.forest.rim_room + (w.m.n_numbers >> 16);
    for (uint32_t c = (uint32_t)w.thread; c < n; c += w.THREADS)
        qfz_set_hook(w.forest, blockIdx.x, c, hook_of(w, c));
    for (uint32_t v = (uint32_t)w.thread; v < w.m.n_vertices; v += w.THREADS)
        w.forest.best[0][w.m.first_vertex + v] = ~0ull;
    uint2 *const rim = w.forest.rim + (int64_t)blockIdx.x * w.forest.rim_room;
    for (int i = w.thread; i < w.rim; i += w.THREADS)
        rim[i] = rim_entry(w, i);
}

#endif
