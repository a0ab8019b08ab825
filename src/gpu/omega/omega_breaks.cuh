/* SPDX-License-Identifier: MIT */
/* omega_breaks.cuh - step breaks of omega_block.cu: the levels at which components of a block whose
 * T is too wide break.
 *
 * A component has bins, each for some levels; a node that is attached to it widens the bin of its
 * level.  The first bin with which the component is too wide has the level at which it breaks.  In
 * the next turn, the levels of that bin are divided in the same way.  Few nodes have levels in such
 * bins, so they are listed after the first turn, one for each thread. */
#pragma once

#include "gpu/omega/omega_block.cuh"

enum { MIN_BINS = 4, MAX_BINS = 16 };

/* The components that have bins, and the levels of a bin, 1 << shift: level - 1 >> shift is the
 * same for all of them. */
struct omega_turn {
    uint32_t first, n; /* by their numbers among components whose T is too wide */
    uint32_t n_bins, shift;
    uint32_t before; /* the shift in the turn before */
};

/* Nodes of a thread: bit masks of its pixels and of its components. */
struct node_set {
    uint32_t pixels, comps;
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
        w.m.wide_number[c] = NO_NUMBER;
        if (c == NOWHERE || !is_too_wide(w.values, w.m.range[c])) continue;
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

/* Puts a node that is attached to component a into a bin of the first turn, if a has bins and its T
 * may have the node at the node's level.  Level 0 has a bin of its own.  Returns whether a later
 * turn may need the node. */
template <typename WORK>
QFZ_DEVICE bool put_first(WORK &w, const omega_turn &turn, uint32_t a, uint32_t level, uint2 range)
{
    typedef typename WORK::KEY KEY;
    const uint32_t place = w.m.wide_number[a] - turn.first;
    if ((level >= w.m.breaks[a]) | (place >= turn.n)) return false;
    const KEY last = ((KEY)1 << turn.shift) - 1;
    extend(&w.m.bin[(uint32_t)((level + last) >> turn.shift) * turn.n + place], range);
    return true;
}

/* Puts the thread's nodes into bins of the first turn; returns those that a later turn may need.
 * The T of a component that is too wide is in that of no other. */
template <typename WORK> QFZ_DEVICE node_set put_all(WORK &w, const omega_turn &turn)
{
    node_set set = {};
    QFZ_EACH (k, EACH)
        if (put_first(w, turn, w.px.up(k), w.px.level(k), value_range(w, k))) set.pixels |= 1u << k;
    EACH_COMPONENT(w, c)
    {
        const auto hook = w.m.hook[c];
        if (joins(hook) && w.m.wide_number[c] == NO_NUMBER &&
            put_first(w, turn, target_of(hook), level_of(hook), w.m.range[c]))
            set.comps |= bit_of(c);
    }
    return set;
}

/* True if a bin of the turn before, of levels 1 << shift, that is not decided yet has the level. */
template <typename WORK>
QFZ_DEVICE bool is_undecided(const WORK &w, uint32_t shift, uint32_t a, uint32_t level)
{
    return ((typename WORK::KEY)level - 1) >> shift == w.m.undecided[a];
}

/* Puts a node into one of the bins that divide a bin of the turn before. */
template <typename WORK>
QFZ_DEVICE void put(WORK &w, const omega_turn &turn, typename WORK::NODE node)
{
    if (!is_undecided(w, turn.before, node.at, node.level)) return;
    const uint32_t bin = (node.level - 1u) >> turn.shift & (turn.n_bins - 1);
    extend(&w.m.bin[bin * turn.n + w.m.wide_number[node.at] - turn.first],
           make_uint2(node.lo, node.hi));
}

/* Component c qualifies at all levels before the first bin with which it is too wide, and not at
 * the last level of this bin.  Components of level 0 always qualify.  Empties its bins, which are
 * turn.n places apart. */
template <bool FIRST, typename WORK, typename LIMIT>
QFZ_DEVICE void judge(WORK &w, const omega_turn &turn, uint2 *bin, uint32_t c,
                      const LIMIT &is_too_wide)
{
    typedef typename WORK::LEVEL LEVEL;
    const uint32_t breaks = w.m.breaks[c], divided = FIRST ? 0 : w.m.undecided[c];
    uint2 range = FIRST ? make_uint2(QFZ_NONE, 0) : w.m.range[c];
    uint32_t i = 0;
    if (!FIRST && divided == (LEVEL)QFZ_NONE) return;
    for (; i < turn.n_bins; i++) {
        const uint2 more = bin[i * turn.n];
        const uint2 wider = make_uint2(min(range.x, more.x), max(range.y, more.y));
        if (is_too_wide(w.values, wider)) break;
        range = wider;
    }
    w.m.range[c] = range;
    w.m.undecided[c] = (LEVEL)QFZ_NONE;
    if (FIRST && i == 0) {
        w.m.breaks[c] = 1;
    } else if (i < turn.n_bins) {
        const uint32_t number = FIRST ? i - 1 : divided * turn.n_bins + i;
        const uint32_t holds = number << turn.shift;
        w.m.undecided[c] = (LEVEL)number;
        w.m.breaks[c] = holds + min(breaks - holds - 1, (1u << turn.shift) - 1) + 1;
    }
    for (i = 0; i < turn.n_bins; i++)
        bin[i * turn.n] = make_uint2(QFZ_NONE, 0);
}

template <bool FIRST, typename WORK, typename LIMIT>
QFZ_DEVICE void judge_all(WORK &w, const omega_turn &turn, const LIMIT &is_too_wide)
{
    __syncthreads();
    if (FIRST && threadIdx.x == 0) w.m.n_listed = 0;
    for (uint32_t i = threadIdx.x; i < turn.n; i += THREADS)
        judge<FIRST>(w, turn, &w.m.bin[i], w.m.wide[turn.first + i], is_too_wide);
    __syncthreads();
}

/* ---- Turns ----------------------------------------------------------------------------------- */

/* Calls use(node) for the nodes of a set. */
template <typename WORK, typename USE>
QFZ_DEVICE void each_node(const WORK &w, node_set set, USE use)
{
    typedef typename WORK::NODE NODE;
    QFZ_EACH (k, EACH)
        if (set.pixels >> k & 1) use(NODE::of(w.px.up(k), w.px.level(k), value_range(w, k)));
    each_of(set.comps, [&](uint32_t c) {
        use(NODE::of(target_of(w.m.hook[c]), level_of(w.m.hook[c]), w.m.range[c]));
    });
}

/* Removes from a set what the first turn has decided, and lists the other nodes. */
template <typename WORK>
QFZ_DEVICE void list_undecided(WORK &w, const omega_turn &turn, node_set *set)
{
    QFZ_EACH (k, EACH)
        if (!is_undecided(w, turn.shift, w.px.up(k), w.px.level(k))) set->pixels &= ~(1u << k);
    each_of(set->comps, [&](uint32_t c) {
        const auto hook = w.m.hook[c];
        if (!is_undecided(w, turn.shift, target_of(hook), level_of(hook))) set->comps &= ~bit_of(c);
    });
    const uint32_t n = (uint32_t)(__popc(set->pixels) + __popc(set->comps));
    uint32_t at = qfz_take(&w.m.n_listed, n);
    each_node(w, *set, [&](const typename WORK::NODE &node) {
        if (at < THREADS) w.m.listed[at] = node;
        at++;
    });
}

/* Decides for the components of a turn, in as many turns as their levels need. */
template <typename WORK, typename LIMIT>
QFZ_DEVICE void break_some(WORK &w, omega_turn turn, const LIMIT &is_too_wide)
{
    node_set set = put_all(w, turn);
    judge_all<true>(w, turn, is_too_wide);
    if (turn.shift == 0) return;
    list_undecided(w, turn, &set);
    __syncthreads();
    const uint32_t n = w.m.n_listed;
    while (n > 0 && turn.shift > 0) {
        const uint32_t bits = min(turn.shift, 31u - (uint32_t)__clz((int)turn.n_bins));
        turn.before = turn.shift;
        turn.shift -= bits;
        turn.n_bins = 1u << bits;
        if (n > THREADS)
            each_node(w, set, [&](const typename WORK::NODE &node) { put(w, turn, node); });
        else if (threadIdx.x < n)
            put(w, turn, w.m.listed[threadIdx.x]);
        judge_all<false>(w, turn, is_too_wide);
    }
}

/* The shift of the first turn: all levels but 0, `last` the greatest, have n_bins - 1 bins. */
QFZ_DEVICE uint32_t first_shift(uint32_t last, uint32_t n_bins)
{
    const int shift = max(0, __clz((int)n_bins - 1) - __clz((int)last - 1));
    return (uint32_t)shift + ((last - 1) >> shift >= n_bins - 1);
}

/* The components that are too wide take all bins if MIN_BINS of each do not fit. */
template <typename WORK> QFZ_DEVICE void find_breaks(WORK &w, int band)
{
    const typename WORK::LIMIT is_too_wide(w.values.limit[band]);
    number_wide(w, is_too_wide);
    __syncthreads();
    const uint32_t n = w.m.n_wide, last = w.graph.after - 1;
    if (n == 0 || last == 0) return;
    omega_turn turn = {};
    turn.n_bins = MAX_BINS;
    if (n > QFZ_COMPS / MAX_BINS) turn.n_bins = max((uint32_t)MIN_BINS, QFZ_COMPS / n);
    turn.n_bins = min(turn.n_bins, max((uint32_t)MIN_BINS, w.graph.after));
    turn.shift = first_shift(last, turn.n_bins);
    for (; turn.first < n; turn.first += QFZ_COMPS / MIN_BINS) {
        turn.n = min((uint32_t)(QFZ_COMPS / MIN_BINS), n - turn.first);
        break_some(w, turn, is_too_wide);
    }
}
