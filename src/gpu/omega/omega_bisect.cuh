/* SPDX-License-Identifier: MIT */
/* omega_bisect.cuh - step bisect of omega_block.cu: the levels at which components of a block
 * break; the same algorithm as in omega_graph.cu. */
#pragma once

#include "gpu/omega/omega_block.cuh"

/* ---- Bisect ---------------------------------------------------------------------------------- */

/* The thread's undecided nodes: pixels and components for which it is undecided whether their level
 * breaks the component to which they are attached; and components whose T is too wide.  Parts are
 * components, and pixels that were moved. */
struct undecided {
    uint32_t pixels, parts, wide;
};

/* Marks components whose T is too wide; each of them breaks the component to which it is attached.
 */
template <typename WORK, typename LIMIT>
QFZ_DEVICE uint32_t mark_wide(WORK &w, const LIMIT &is_too_wide)
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
        if (joins(hook)) /* Components of level 0 qualify. */
            qfz_lower(&w.m.bounds[target_of(hook)].x, max(level_of(hook), 1u));
    }
    return wide;
}

/* True if it is undecided whether a component with these bounds qualifies at `level`. */
QFZ_DEVICE bool is_open(uint2 bounds, uint32_t level)
{
    return (level > bounds.y) & (level < bounds.x); /* false where T is not too wide */
}

/* First turn: tries the nodes of level 0 and leaves the others. */
template <typename WORK>
QFZ_DEVICE bool start_part(WORK &w, uint32_t a, uint32_t level, uint2 range)
{
    const uint2 bounds = w.m.bounds[a];
    const bool open = is_open(bounds, level);
    if (open)
        qfz_lower(&w.m.marks[a].y, level);
    else if (level == 0 && bounds.y == 0)
        widen(w, a, range);
    return open;
}

/* If `level` is undecided: tries the node if its level is at most the middle of the undecided
 * levels, else leaves it. */
template <typename WORK> QFZ_DEVICE bool try_part(WORK &w, uint32_t a, uint32_t level, uint2 range)
{
    const uint2 bounds = w.m.bounds[a], marks = peek_pair(&w.m.marks[a]),
                seen = peek_pair(&w.m.range[a]);
    if (!is_open(bounds, level)) return false;
    if (level - bounds.y - 1 > (bounds.x - bounds.y - 2) / 2) {
        if (level < marks.y) atomicMin(&w.m.marks[a].y, level);
    } else if ((range.x < seen.x) | (range.y > seen.y) | (level > marks.x)) { /* rarely true */
        atomicMin(&w.m.range[a].x, range.x);
        atomicMax(&w.m.range[a].y, range.y);
        atomicMax(&w.m.marks[a].x, level);
    }
    return true;
}

/* Calls use(component to which it is attached, level, range) for the thread's undecided nodes; a
 * node stays undecided if use() returns true. */
template <typename WORK, typename USE> QFZ_DEVICE void each_open(WORK &w, undecided &u, USE use)
{
#pragma unroll
    for (int k = 0; u.pixels && k < EACH; k++)
        if ((u.pixels >> k & 1) && !use(w.px.up(k), w.px.level(k), value_range(w, k)))
            u.pixels &= ~(1u << k);
    each_of(u.parts, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        if (!use(target_of(hook), level_of(hook), w.m.range[c])) u.parts &= ~bit_of(c);
    });
}

/* Moves undecided pixels to the places after those of components, as components without pixels:
 * few pixels are undecided, and from there on whole warps have some.  Pixels without room stay. */
template <typename VALUE> QFZ_DEVICE void move_pixels(omega_work<VALUE> &w, undecided &u)
{
    uint32_t c = w.n + qfz_take(&w.m.n_moved, (uint32_t)__popc(u.pixels));
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (!(u.pixels >> k & 1) || c >= QFZ_COMPS) continue;
        w.m.hook[c] = (typename value_kind<VALUE>::KEY)w.px.level(k) << 16 | w.px.up(k);
        w.m.range[c++] = value_range(w, k);
        u.pixels &= ~(1u << k);
    }
}

/* After a barrier: adds the thread's share of moved pixels to its parts. */
template <typename WORK> QFZ_DEVICE void add_moved(const WORK &w, undecided &u)
{
    const uint32_t end = min(w.n + w.m.n_moved, (uint32_t)QFZ_COMPS);
    for (uint32_t c = w.n + (threadIdx.x - w.n) % THREADS; c < end; c += THREADS)
        u.parts |= bit_of(c);
}

/* Tries the thread's nodes; true if any is undecided. */
template <typename WORK> QFZ_DEVICE bool try_all(WORK &w, undecided &u)
{
    each_open(w, u, [&](uint32_t a, uint32_t level, uint2 range) {
        return try_part(w, a, level, range);
    });
    return u.pixels | u.parts;
}

/* Decides for components whose T is too wide: if the tried component is not too wide, it qualifies
 * at all levels below the least one that is left; else it breaks at the greatest level tried.  A
 * component of level 0 always qualifies; if it is too wide, it breaks at level 1. */
template <bool FIRST, typename VALUE, typename LIMIT>
QFZ_DEVICE void judge(omega_work<VALUE> &w, undecided &u, const LIMIT &is_too_wide)
{
    typedef value_kind<VALUE> kind;
    each_of(u.wide, [&](uint32_t c) {
        const uint2 marks = w.m.marks[c];
        if (!FIRST && marks.x == 0) { /* no level was undecided */
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

/* Each turn at least halves the undecided levels between `holds` and `breaks`.  Some node is
 * undecided at the first of them, so every turn decides something. */
template <typename VALUE> QFZ_DEVICE void bisect(omega_work<VALUE> &w, int band)
{
    const typename value_kind<VALUE>::limit is_too_wide(w.values.limit[band]);
    undecided u = {0, 0, mark_wide(w, is_too_wide)};
    if (threadIdx.x == 0) w.m.n_moved = 0;
    if (!__syncthreads_or(u.wide != 0)) return;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        u.pixels |= (w.px.up(k) != NOWHERE ? 1u : 0u) << k;
    EACH_COMPONENT(w, c)
    if (joins(w.m.hook[c]) && w.m.bounds[c].y == NOT_WIDE) u.parts |= bit_of(c);
    each_open(w, u, [&](uint32_t a, uint32_t level, uint2 range) {
        return start_part(w, a, level, range);
    });
    move_pixels(w, u);
    __syncthreads();
    judge<true>(w, u, is_too_wide);
    add_moved(w, u);
    __syncthreads();
    while (__syncthreads_or(try_all(w, u))) {
        judge<false>(w, u, is_too_wide);
        __syncthreads();
    }
}
