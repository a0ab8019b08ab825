/* SPDX-License-Identifier: MIT */
/* omega_bisect.cuh - the levels at which a block's components break; as in omega_graph.cu. */
#ifndef QFZ_GPU_OMEGA_BISECT_CUH
#define QFZ_GPU_OMEGA_BISECT_CUH

#include "gpu/omega/omega_block.cuh"

/* ---- Bisect ---------------------------------------------------------------------------------- */

/* What the thread has not decided: pixels and components of which it is open whether what they hang
 * on holds with them, and components whose T is too wide. */
struct undecided {
    uint32_t pixels, parts, wide;
};

/* Marks components that are too wide; such a one breaks what it joins. */
template <typename WORK, typename LIMIT>
static __device__ __forceinline__ uint32_t mark_wide(WORK &w, const LIMIT &is_too_wide)
{
    uint32_t wide = 0;
    EACH_COMPONENT(w, c)
    {
        const bool is_wide = is_too_wide(w.values, w.m.range[c]);
        w.m.bounds[c].y = is_wide ? 0 : NOT_WIDE;
        if (!is_wide) continue;
        wide |= bit_of(c);
        w.m.range[c] = make_uint2(QFZ_NONE, 0);
        w.m.marks[c] = make_uint2(0, QFZ_NONE);
        const auto hook = w.m.hook[c];
        if (joins(hook))
            qfz_lower(&w.m.bounds[target_of(hook)].x, max(level_of(hook), 1u)); /* zones hold */
    }
    return wide;
}

/* Is it open whether a holds with what joins it at `level`? */
static __device__ __forceinline__ bool is_open(uint2 bounds, uint32_t level)
{
    return (level > bounds.y) & (level < bounds.x); /* never where a is not too wide */
}

/* What joins at level 0 is there from the start; the rest is left. */
template <typename WORK>
static __device__ __forceinline__ bool start_part(WORK &w, uint32_t a, uint32_t level, uint2 range)
{
    const uint2 bounds = w.m.bounds[a];
    const bool open = is_open(bounds, level);
    if (open)
        qfz_lower(&w.m.marks[a].y, level);
    else if (level == 0 && bounds.y == 0)
        widen(w, a, range);
    return open;
}

/* If it is open, what joins by the middle of the levels in question is tried, the rest is left. */
template <typename WORK>
static __device__ __forceinline__ bool try_part(WORK &w, uint32_t a, uint32_t level, uint2 range)
{
    const uint2 bounds = w.m.bounds[a], marks = peek_pair(&w.m.marks[a]),
                seen = peek_pair(&w.m.range[a]);
    if (!is_open(bounds, level)) return false;
    if (level - bounds.y - 1 > (bounds.x - bounds.y - 2) / 2) {
        if (level < marks.y) atomicMin(&w.m.marks[a].y, level);
    } else if ((range.x < seen.x) | (range.y > seen.y) | (level > marks.x)) { /* few are */
        atomicMin(&w.m.range[a].x, range.x);
        atomicMax(&w.m.range[a].y, range.y);
        atomicMax(&w.m.marks[a].x, level);
    }
    return true;
}

/* Calls use(what it hangs on, level, range) for all that the thread has not decided; what it is
 * true of stays so. */
template <typename WORK, typename USE>
static __device__ __forceinline__ void each_open(WORK &w, undecided &u, USE use)
{
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if ((u.pixels >> k & 1) && !use(w.px.up(k), w.px.level(k), value_range(w, k)))
            u.pixels &= ~(1u << k);
    each_of(u.parts, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        if (!use(target_of(hook), level_of(hook), w.m.range[c])) u.parts &= ~bit_of(c);
    });
}

/* Is anything open? */
template <typename WORK> static __device__ __forceinline__ bool try_all(WORK &w, undecided &u)
{
    each_open(w, u, [&](uint32_t a, uint32_t level, uint2 range) {
        return try_part(w, a, level, range);
    });
    return u.pixels | u.parts;
}

/* What was tried holds, and so does all before what is left; or it breaks by the last of it.  Zones
 * hold, but one that is too wide breaks by whatever joins it. */
template <bool FIRST, typename VALUE, typename LIMIT>
static __device__ __forceinline__ void judge(omega_work<VALUE> &w, undecided &u,
                                             const LIMIT &is_too_wide)
{
    typedef value_kind<VALUE> kind;
    each_of(u.wide, [&](uint32_t c) {
        const uint2 marks = w.m.marks[c];
        if (!FIRST && marks.x == 0) { /* nothing was open */
            u.wide &= ~bit_of(c);
            return;
        }
        if (!is_too_wide(w.values, w.m.range[c])) {
            w.m.bounds[c].y = min(marks.y, w.m.bounds[c].x) - 1;
            w.m.held[c] = kind::pack(w.m.range[c]);
        } else {
            w.m.bounds[c].x = FIRST ? 1 : marks.x;
            if (!FIRST) w.m.range[c] = kind::unpack(w.m.held[c]);
        }
        w.m.marks[c] = make_uint2(0, QFZ_NONE);
    });
}

/* Levels between those known to hold and to break remain, at least halved in each turn; some part
 * is open at the first of them, so that something is decided. */
template <typename VALUE>
static __device__ __forceinline__ void bisect(omega_work<VALUE> &w, int band)
{
    const typename value_kind<VALUE>::limit is_too_wide(w.values.limit[band]);
    undecided u = {0, 0, mark_wide(w, is_too_wide)};
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++)
        u.pixels |= (w.px.up(k) != NOWHERE ? 1u : 0u) << k;
    EACH_COMPONENT(w, c)
    if (joins(w.m.hook[c]) && w.m.bounds[c].y == NOT_WIDE) u.parts |= bit_of(c);
    each_open(w, u, [&](uint32_t a, uint32_t level, uint2 range) {
        return start_part(w, a, level, range);
    });
    __syncthreads();
    judge<true>(w, u, is_too_wide);
    __syncthreads();
    while (__syncthreads_or(try_all(w, u))) {
        judge<false>(w, u, is_too_wide);
        __syncthreads();
    }
}

#endif
