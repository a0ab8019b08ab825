/* SPDX-License-Identifier: MIT */
/* omega_breaks.cuh - step breaks of omega_block.cu: the levels at which components of a block whose
 * T is too wide break.
 *
 * A component has bins, each for some levels; a node that is attached to it widens the bin of its
 * level.  The first bin with which the component is too wide has the level at which it breaks.  In
 * the next turn, the levels of that bin are divided in the same way. */
#pragma once

#include "gpu/omega/omega_block.cuh"

enum { MIN_BINS = 4, MAX_BINS = 16 };

/* The components that have bins, and the levels of a bin: 1 << shift. */
struct omega_turn {
    uint32_t first, n; /* by their numbers among components whose T is too wide */
    uint32_t n_bins, shift;
    bool is_first; /* level 0 has a bin of its own */
};

/* ---- Components whose T is too wide ---------------------------------------------------------- */

/* Numbers components whose T is too wide; each of them breaks the component to which it is
 * attached.  Empties all bins. */
template <typename WORK, typename LIMIT>
QFZ_DEVICE void number_wide(WORK &w, const LIMIT &is_too_wide)
{
    uint32_t wide = 0;
    EACH_COMPONENT(w, c)
    {
        w.m.wide_number[c] = NOWHERE;
        w.m.holds[c] = 0;
        if (!is_too_wide(w.values, w.m.range[c])) continue;
        wide |= bit_of(c);
        const auto hook = w.m.hook[c];
        if (joins(hook)) /* Components of level 0 qualify. */
            qfz_lower(&w.m.breaks[target_of(hook)], max(level_of(hook), 1u));
    }
    for (uint32_t i = threadIdx.x; i < QFZ_COMPS; i += THREADS)
        w.m.bin[i] = make_uint2(QFZ_NONE, 0);
    uint32_t number = qfz_take(&w.m.n_wide, (uint32_t)__popc(wide));
    each_of(wide, [&](uint32_t c) {
        w.m.wide_number[c] = (uint16_t)number;
        w.m.wide[number++] = (uint16_t)c;
    });
}

/* ---- Bins ------------------------------------------------------------------------------------ */

/* Puts a node that is attached to component a into a bin, if it is undecided whether its level
 * breaks a; returns whether it is. */
template <typename WORK>
QFZ_DEVICE bool put(WORK &w, const omega_turn &turn, uint32_t a, uint32_t level, uint2 range)
{
    const uint32_t place = w.m.wide_number[a] - turn.first;
    if (place >= turn.n) return false;
    const uint32_t breaks = w.m.breaks[a], holds = w.m.holds[a];
    const bool at_0 = turn.is_first & (level == 0);
    if ((level >= breaks) | ((level <= holds) & !at_0)) return false;
    const uint32_t bin = at_0 ? 0 : ((level - holds - 1) >> turn.shift) + turn.is_first;
    extend(&w.m.bin[bin * turn.n + place], range);
    return true;
}

/* Puts the thread's nodes into bins; nodes that need no later turn are removed from the sets. */
template <typename WORK>
QFZ_DEVICE void put_all(WORK &w, const omega_turn &turn, uint32_t *pixels, uint32_t *parts)
{
#pragma unroll
    for (int k = 0; *pixels && k < EACH; k++)
        if ((*pixels >> k & 1) && !put(w, turn, w.px.up(k), w.px.level(k), value_range(w, k)))
            *pixels &= ~(1u << k);
    each_of(*parts, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        if (!put(w, turn, target_of(hook), level_of(hook), w.m.range[c])) *parts &= ~bit_of(c);
    });
}

/* Component c qualifies at all levels before the first bin with which it is too wide, and not at
 * the last level of this bin.  Components of level 0 always qualify.  Empties its bins, which are
 * turn.n places apart. */
template <typename WORK, typename LIMIT>
QFZ_DEVICE void judge(WORK &w, const omega_turn &turn, uint2 *bin, uint32_t c,
                      const LIMIT &is_too_wide)
{
    uint2 range = turn.is_first ? make_uint2(QFZ_NONE, 0) : w.m.range[c];
    const uint32_t breaks = w.m.breaks[c], holds = w.m.holds[c];
    uint32_t i = 0;
    for (; i < turn.n_bins; i++) {
        const uint2 more = bin[i * turn.n];
        const uint2 wider = make_uint2(min(range.x, more.x), max(range.y, more.y));
        if (is_too_wide(w.values, wider)) break;
        range = wider;
    }
    w.m.range[c] = range;
    if (i == turn.n_bins) {
        w.m.holds[c] = breaks - 1;
    } else if (turn.is_first && i == 0) {
        w.m.breaks[c] = 1;
    } else {
        i -= turn.is_first;
        w.m.breaks[c] = holds + min(breaks - holds - 1, ((i + 1) << turn.shift) - 1) + 1;
        w.m.holds[c] = holds + (i << turn.shift);
    }
    for (i = 0; i < turn.n_bins; i++)
        bin[i * turn.n] = make_uint2(QFZ_NONE, 0);
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Decides for the components of a turn, in as many turns as their levels need. */
template <typename WORK, typename LIMIT>
QFZ_DEVICE void break_some(WORK &w, omega_turn turn, const LIMIT &is_too_wide)
{
    uint32_t pixels = 0, parts = 0;
    QFZ_EACH (k, EACH)
        pixels |= (w.px.up(k) != NOWHERE ? 1u : 0u) << k;
    EACH_COMPONENT(w, c)
    if (joins(w.m.hook[c]) && w.m.wide_number[c] == NOWHERE) parts |= bit_of(c);
    for (;; turn.shift -= min(turn.shift, 31u - (uint32_t)__clz((int)turn.n_bins))) {
        put_all(w, turn, &pixels, &parts);
        if (!__syncthreads_or(pixels | parts)) return;
        for (uint32_t i = threadIdx.x; i < turn.n; i += THREADS)
            judge(w, turn, &w.m.bin[i], w.m.wide[turn.first + i], is_too_wide);
        __syncthreads();
        if (turn.shift == 0) return;
        turn.is_first = false;
    }
}

template <typename WORK> QFZ_DEVICE void find_breaks(WORK &w, int band)
{
    const typename WORK::LIMIT is_too_wide(w.values.limit[band]);
    number_wide(w, is_too_wide);
    __syncthreads();
    const uint32_t n = w.m.n_wide, last = w.graph.after - 1;
    if (n == 0 || last == 0) return;
    omega_turn turn = {};
    turn.n_bins = min(min((uint32_t)MAX_BINS, w.graph.after), QFZ_COMPS / n);
    turn.n_bins = max((uint32_t)MIN_BINS, turn.n_bins);
    while ((last - 1) >> turn.shift >= turn.n_bins - 1)
        turn.shift++;
    turn.is_first = true;
    const uint32_t room = QFZ_COMPS / turn.n_bins;
    for (; turn.first < n; turn.first += room) {
        turn.n = min(room, n - turn.first);
        break_some(w, turn, is_too_wide);
    }
}
