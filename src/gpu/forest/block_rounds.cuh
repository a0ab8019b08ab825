/* SPDX-License-Identifier: MIT */
/* block_rounds.cuh - Boruvka rounds of a block on the list of open edges.
 *
 * An entry of the list names two components that were roots when the list was last swept.
 * Invariant: since then each has hooked itself at most once, and name[] has its root of that round,
 * so that one look-up renames an entry. */
#pragma once

#include "gpu/forest/block.cuh"

/* The root of a component: root * 4 | the root's flags. */
template <typename WORK> QFZ_DEVICE uint32_t name_of(const WORK &w, uint32_t comp4)
{
    return w.m.name[comp4 / 4];
}

/* *word = min(*word, key), in shared memory. An atomic minimum of 32 bits costs less than a look
 * first; 64 bits are compared and exchanged in a loop, so that qfz_lower() looks first. */
QFZ_DEVICE void lower(uint32_t *word, uint32_t key)
{
    (void)atomicMin(word, key);
}

QFZ_DEVICE void lower(unsigned long long *word, unsigned long long key)
{
    qfz_lower(word, key);
}

/* Neighbouring entries are loaded by one lane: edges of neighbouring pixels, which mostly lead to
 * the same components, are then not offered at the same time by several lanes. */
QFZ_DEVICE uint2 two_levels(const uint16_t *level)
{
    const uint32_t two = *reinterpret_cast<const uint32_t *>(level);
    return make_uint2(two & 0xffff, two >> 16);
}

QFZ_DEVICE uint2 two_levels(const uint32_t *level)
{
    return *reinterpret_cast<const uint2 *>(level);
}

template <int N> struct some_entries {
    uint32_t ends[N], level[N];
};

/* Entries from place `at` on, which is even; places behind the end may be loaded, too. */
template <int N, typename WORK> QFZ_DEVICE some_entries<N> entries_at(const WORK &w, uint32_t at)
{
    some_entries<N> some;
#pragma unroll
    for (uint32_t k = 0; k < N; k += 2) {
        const uint2 ends = *reinterpret_cast<const uint2 *>(w.m.ends + at + k);
        const uint2 level = two_levels(w.m.level + at + k);
        some.ends[k] = ends.x;
        some.ends[k + 1] = ends.y;
        some.level[k] = level.x;
        some.level[k + 1] = level.y;
    }
    return some;
}

/* Renames the ends of all entries by rename(ends), keeps those whose ends differ, and calls
 * offer(ends, key) for these. A warp's writes never pass its reads, and __syncwarp() stands between
 * the two. Where there is no entry, rename() is called with component or set 0 twice. */
template <typename WORK, typename RENAME, typename OFFER>
QFZ_DEVICE void sweep(WORK &w, list_part &part, RENAME rename, OFFER offer)
{
    enum { TOGETHER = 2 };
    uint32_t end = part.first;
#pragma unroll 1
    for (uint32_t base = 0; base < part.n; base += TOGETHER * QFZ_WARP) {
        const uint32_t i = base + TOGETHER * (uint32_t)w.lane;
        some_entries<TOGETHER> some = {};
        unsigned mask[TOGETHER];
        if (i < part.n) some = entries_at<TOGETHER>(w, part.first + i);
        QFZ_EACH (k, TOGETHER)
            some.ends[k] = rename(i + k < part.n ? some.ends[k] : 0);
        QFZ_EACH (k, TOGETHER)
            mask[k] =
                __ballot_sync(QFZ_ALL_LANES, __byte_perm(some.ends[k], 0, 0x1032) != some.ends[k]);
        __syncwarp();
        QFZ_EACH (k, TOGETHER) {
            const uint32_t at = end + (uint32_t)__popc(mask[k] & ((1u << w.lane) - 1));
            end += (uint32_t)__popc(mask[k]);
            if (!(mask[k] >> w.lane & 1)) continue;
            w.m.ends[at] = some.ends[k];
            w.m.level[at] = (typename WORK::LEVEL)some.level[k];
            offer(some.ends[k], (typename WORK::KEY)some.level[k] << 16 | at);
        }
    }
    part.n = end - part.first;
}

/* ---- Offers ---------------------------------------------------------------------------------- */

/* Finding the least key of each component. There is no atomic minimum of 64 bits in shared memory,
 * so 64-bit keys are offered in two steps: levels, to the upper word of best[]; then places of the
 * least level, to the lower word. best[] is level << 32 | place, later level << 32 | hook. */
template <typename WORK>
static const bool IN_TWO_STEPS = sizeof(typename WORK::KEY) > sizeof(uint32_t);

QFZ_DEVICE void offer(uint32_t *best, uint32_t key)
{
    lower(best, key);
}

QFZ_DEVICE void offer(unsigned long long *best, unsigned long long key)
{
    lower(reinterpret_cast<uint32_t *>(best) + 1, (uint32_t)(key >> 16));
}

QFZ_DEVICE void offer_place(unsigned long long *best, uint32_t level, uint32_t place)
{
    uint32_t *const words = reinterpret_cast<uint32_t *>(best);
    if (words[1] == level) lower(words, place);
}

/* The second step, after all offers and a barrier: offers the places of the list's entries.
 * at(end): the key of an end. The last entry may be offered twice. */
template <typename WORK, typename AT>
QFZ_DEVICE void offer_places(const WORK &w, const list_part &part, AT at)
{
    enum { TOGETHER = 2 }; /* entries of a lane whose loads overlap */
#pragma unroll 1
    for (uint32_t base = (uint32_t)w.lane; base < part.n; base += TOGETHER * QFZ_WARP) {
        uint32_t place[TOGETHER], ends[TOGETHER], level[TOGETHER];
        QFZ_EACH (k, TOGETHER) {
            place[k] = part.first + min(base + k * QFZ_WARP, part.n - 1);
            ends[k] = w.m.ends[place[k]];
            level[k] = w.m.level[place[k]];
        }
        QFZ_EACH (k, TOGETHER) {
            offer_place(at(ends[k] & 0xffff), level[k], place[k]);
            offer_place(at(ends[k] >> 16), level[k], place[k]);
        }
    }
}

/* The level of a component that has chosen: as a number, and in its place in the key. */
QFZ_DEVICE uint32_t hook_level(uint32_t best)
{
    return best >> 16;
}

QFZ_DEVICE uint32_t hook_level(unsigned long long best)
{
    return (uint32_t)(best >> 32);
}

QFZ_DEVICE uint32_t level_part(uint32_t best)
{
    return best >> 16 << 16;
}

QFZ_DEVICE unsigned long long level_part(unsigned long long best)
{
    return best >> 32 << 32;
}

/* False for components that wait; those with small numbers do from the first round on. Waiting
 * components are offered keys, too, which costs less than a test: their best[] is not read. */
QFZ_DEVICE bool takes_offers(uint32_t name)
{
    return !(name & WAITS) && name >= ACTIVE * 4;
}

/* Offers an edge of the list to both its ends. */
template <typename WORK>
QFZ_DEVICE void offer_to_ends(WORK &w, uint32_t ends, typename WORK::KEY key)
{
    offer(&of_comp(w.m.best, ends & 0xfffc), key);
    offer(&of_comp(w.m.best, ends >> 16 & 0xfffc), key);
}

/* The first round, in which every component is still a root. */
template <typename WORK> QFZ_DEVICE void offer_first(WORK &w, list_part part)
{
    enum { TOGETHER = 4 };
#pragma unroll 1
    for (uint32_t i = TOGETHER * (uint32_t)w.lane; i < part.n; i += TOGETHER * QFZ_WARP) {
        const uint32_t at = part.first + i;
        const some_entries<TOGETHER> some = entries_at<TOGETHER>(w, at);
        QFZ_EACH (k, TOGETHER)
            if (i + k < part.n)
                offer_to_ends(w, some.ends[k], (typename WORK::KEY)some.level[k] << 16 | (at + k));
    }
}

template <typename WORK> QFZ_DEVICE void offer_again(WORK &w, list_part &part)
{
    sweep(
        w, part,
        [&](uint32_t ends) { return name_of(w, ends & 0xffff) | name_of(w, ends >> 16) << 16; },
        [&](uint32_t ends, typename WORK::KEY key) { offer_to_ends(w, ends, key); });
}

/* Offers the edges that leave the block, at most one a thread. */
template <typename WORK> QFZ_DEVICE void offer_leaving(WORK &w, uint32_t round)
{
    if (w.thread >= 4 * QFZ_SIDE) return;
    const typename WORK::KEY key = w.m.leave[w.thread];
    if (key == w.NO_KEY) return;
    uint32_t name = w.m.leave_comp[w.thread];
    if (round > 0) {
        name = name_of(w, name);
        w.m.leave_comp[w.thread] = (uint16_t)name;
    }
    if (takes_offers(name)) offer(&of_comp(w.m.best, name), key);
}

template <typename WORK> QFZ_DEVICE void offer_all_places(WORK &w, const list_part &part)
{
    offer_places(w, part, [&](uint32_t end) { return &of_comp(w.m.best, end & 0xfffc); });
    if (w.thread >= 4 * QFZ_SIDE) return;
    const typename WORK::KEY key = w.m.leave[w.thread];
    const uint32_t name = w.m.leave_comp[w.thread];
    if (key != w.NO_KEY && takes_offers(name))
        offer_place(&of_comp(w.m.best, name), (uint32_t)(key >> 16), (uint32_t)key & 0xffff);
}

/* The step of component c: to wait, or to hook itself to the other end of its edge. Of two
 * components that chose the same edge the first stays a root. A component that waits chose no edge
 * of the list: in the first round its number is small, later it is marked in the list. */
template <typename WORK> QFZ_DEVICE uint32_t step_of(const WORK &w, uint32_t c, uint32_t round)
{
    const typename WORK::KEY key = w.m.best[c];
    const bool waits = key & LEAVES; /* without branches: if c waits, the list's first entry and c
                                      * itself are read */
    const uint32_t ends = w.m.ends[waits ? 0 : key & 0x7fff], a = ends & 0xffff, b = ends >> 16;
    const uint32_t name = a / 4 == c ? b : a, other = waits ? c : name / 4;
    const bool chosen = w.m.best[other] == key;
    const bool first = chosen && c < other && !(name & WAITS);
    if (waits) return ROOT | WAITS | (key == w.NO_KEY ? ENDED : 0);
    return first ? (uint32_t)ROOT : round << QFZ_STEP_BITS | other;
}

/* Active component i of a round. */
template <typename WORK> QFZ_DEVICE uint32_t active_of(const WORK &w, uint32_t round, uint32_t i)
{
    if (round == 0) return ACTIVE + i;
    return round % 2 ? w.m.odd[i] : w.m.even[i];
}

template <typename WORK> QFZ_DEVICE void choose_steps(WORK &w, uint32_t n, uint32_t round)
{
#pragma unroll 1
    for (uint32_t i = (uint32_t)w.thread; i < n; i += w.THREADS) {
        const uint32_t c = active_of(w, round, i);
        w.m.step[c] = (uint16_t)step_of(w, c, round);
    }
}

/* The end of a component's way: the last step of this round (hook), and the step after it. */
struct comp_way {
    uint32_t hook, step;
};

/* Stores the name and the hook of component c; returns true if c is a root that is not done. */
template <typename WORK>
QFZ_DEVICE bool name_comp(WORK &w, uint32_t c, comp_way way, uint32_t first_step)
{
    const bool hooks = way.hook < ROOT, goes_on = !hooks && way.step == ROOT;
    const uint32_t root = hooks ? way.hook - first_step : c;
    const typename WORK::KEY best = level_part(w.m.best[c]) | way.hook;
    w.m.name[c] = (uint16_t)(root * 4 | (way.step & (WAITS | ENDED)));
    w.m.best[c] = goes_on ? w.NO_KEY : best; /* not read for a component that waits */
    return goes_on;
}

/* Points components at their round's roots, and lists the roots that are not done. The list of even
 * rounds is half as long, since the first round has none. */
template <typename WORK> QFZ_DEVICE void hook_comps(WORK &w, uint32_t n, uint32_t round)
{
    const uint32_t first_step = round << QFZ_STEP_BITS;
    uint16_t *const next = round % 2 ? w.m.even : w.m.odd;
#pragma unroll 1
    for (uint32_t i = (uint32_t)w.thread; i - (uint32_t)w.lane < n; i += w.THREADS) {
        const uint32_t c = active_of(w, round, min(i, n - 1));
        comp_way way = {ROOT, w.m.step[c]};
        while (way.step - first_step < 1u << QFZ_STEP_BITS)
            way = {way.step, w.m.step[way.step - first_step]};
        const bool goes_on = i < n && name_comp(w, c, way, first_step);
        const uint32_t at = qfz_take_one(&w.m.n_next, goes_on);
        if (goes_on) next[at] = (uint16_t)c;
    }
}

/* Runs rounds until almost every component waits; returns their number. Components that wait from
 * the first round on make no step in any round. */
template <typename WORK> QFZ_DEVICE uint32_t rounds(WORK &w, list_part &part)
{
    uint32_t n = w.m.n_numbers >> 16, round = 0;
    for (; n > QFZ_SPARE; round++) {
        if (round == 0)
            offer_first(w, part);
        else
            offer_again(w, part);
        offer_leaving(w, round);
        __syncthreads();
        if constexpr (IN_TWO_STEPS<WORK>) {
            offer_all_places(w, part);
            __syncthreads();
        }
        if (w.thread == 0) w.m.n_next = 0;
        if (round == 0 && w.thread < ACTIVE) w.m.step[w.thread] = (uint16_t)(ROOT | WAITS);
        choose_steps(w, n, round);
        __syncthreads();
        hook_comps(w, n, round);
        __syncthreads();
        n = w.m.n_next;
    }
    return round;
}
