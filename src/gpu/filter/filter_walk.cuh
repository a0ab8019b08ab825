/* SPDX-License-Identifier: MIT */
/* filter_walk.cuh - light components of a block, from its minimum spanning forest.
 *
 *   parts   vertices that are joined by edges of which the rounds know that they join to less than
 *           N
 *   walk    for each other edge: what the edges before it join its two ends to.  If this is closed
 *           and weighs less than N, it becomes one part.
 *   first   the first edge of each part, which the forest has
 *
 * The edges at a part are a circular list of halves. */
#pragma once

#include "gpu/filter/filter_block.cuh"

/* What a walk finds out about the component that an edge joins. */
enum { IS_LIGHT = 0, IS_OPEN = 1, IS_HEAVY = 2 };

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Links the later one of two parts to the other one, for most edges; unite() does the rest. */
template <typename WORK> QFZ_DEVICE void hook(const WORK &w, uint32_t edge)
{
    const uint32_t a = qfz_in_shared::read(&w.m.part[w.first(edge)]);
    const uint32_t b = qfz_in_shared::read(&w.m.part[w.second(edge)]);
    atomicMin(&w.m.part[max(a, b)], min(a, b));
}

template <typename WORK> QFZ_DEVICE void unite(const WORK &w, uint32_t edge)
{
    qfz_unite<qfz_in_shared>(w.m.part, w.first(edge), w.second(edge));
}

/* The part of each pixel. */
template <typename WORK> QFZ_DEVICE void find_parts(const WORK &w)
{
    auto &m = w.m;
    uint16_t part[WORK::shape::OWN];
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++)
        part[i] = (uint16_t)m.part[w.own(i)];
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
            const uint16_t up = part[i] < PX ? (uint16_t)m.part[part[i]] : part[i];
            goes_on |= up != part[i];
            part[i] = up;
        }
    }
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++)
        m.part[w.own(i)] = part[i];
    __syncthreads();
}

/* The same, and the weights of parts. */
template <typename WORK> QFZ_DEVICE void add_parts(const WORK &w)
{
    auto &m = w.m;
    find_parts(w);
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i), part = m.part[p];
        if (part >= PX || part == p || m.mass[p] == NO_KEY) continue;
        add_mass(&m.mass[part], m.mass[p], (uint32_t)w.edges.f.least);
        m.mass[p] = NO_KEY; /* added */
        atomicOr(&m.marked[part / 32], 1u << part % 32);
    }
    __syncthreads();
}

/* Makes parts of vertices, lists the other edges of the forest, and links their halves.
 * mass_of(pixel): of a vertex. */
template <typename WORK, typename OWN, typename MASS>
QFZ_DEVICE void make_parts(const WORK &w, const OWN &own, const MASS &mass_of)
{
    auto &m = w.m;
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        m.part[p] = own.vertex[i];
        m.head[p] = LAST | p;
        m.mass[p] = own.vertex[i] == p ? mass_of(p) : NO_KEY;
        if (p < PX / 32) m.marked[p] = 0;
    }
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        if (own.light >> i & 1) hook(w, m.edge[w.own(i)]);
        const bool is_open = ((own.joined & ~own.light) >> i & 1) != 0;
        const uint32_t to = qfz_take_one(&m.n_open, is_open);
        if (is_open) m.open[to] = (uint16_t)w.own(i);
    }
    find_parts(w);
    for (uint32_t i = 0; i < WORK::shape::OWN; i++)
        if (own.light >> i & 1) unite(w, m.edge[w.own(i)]);
    add_parts(w);
    for (uint32_t i = threadIdx.x; i < m.n_open; i += WORK::shape::THREADS) {
        const uint32_t e = m.open[i], edge = m.edge[e];
        const uint32_t ends[2] = {w.part(w.first(edge)), w.part(w.second(edge))};
        for (uint32_t side = 0; side < 2; side++) {
            const uint32_t part = ends[side], half = 2 * e + side;
            m.next[half] = (uint16_t)(part == OUTSIDE ? TO_OUTSIDE
                                      : part == HEAVY ? TO_HEAVY
                                                      : atomicExch(&m.head[part], half));
        }
    }
    __syncthreads();
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* Is edge f of the forest before edge e?  By vertex. */
template <typename WORK> QFZ_DEVICE bool is_earlier(const WORK &w, uint32_t f, uint32_t e)
{
    const auto &m = w.m;
    return m.best[f] < m.best[e] || (m.best[f] == m.best[e] && w.is_before(m.edge[f], m.edge[e]));
}

/* Walks from both ends of the edge of vertex e along earlier edges of the forest.  Walks from part
 * to part: from the half by which a part was entered, around the list of the part. */
template <typename WORK> QFZ_DEVICE uint32_t walk(const WORK &w, uint32_t e)
{
    const auto &m = w.m;
    const uint32_t least = (uint32_t)w.edges.f.least;
    uint16_t waiting[QFZ_FILTER_MOST_WAITING];
    uint32_t n_waiting = 1, entered = 2 * e, half = entered, mass = 0, found = IS_LIGHT;
    waiting[0] = (uint16_t)(2 * e + 1);
    for (int step = 0; step < QFZ_FILTER_MOST_STEPS; step++) {
        uint32_t next = m.next[half];
        if (next == TO_HEAVY) return IS_HEAVY;
        if (next == TO_OUTSIDE) {
            found = IS_OPEN;
        } else {
            if (next & LAST) {
                const uint32_t part = next - LAST;
                if (m.mass[part] >= least - mass) return IS_HEAVY;
                mass += m.mass[part];
                next = m.head[part];
            }
            half = next;
            if (half != entered && is_earlier(w, half / 2, e)) {
                if (n_waiting == QFZ_FILTER_MOST_WAITING) return IS_OPEN;
                waiting[n_waiting++] = (uint16_t)(half ^ 1);
            }
        }
        if (half != entered) continue;
        if (n_waiting == 0) return found;
        half = entered = waiting[--n_waiting];
    }
    return IS_OPEN;
}

/* Walks around all edges in `open`, and adds what is found out << 12. */
template <typename WORK> QFZ_DEVICE void walk_all(const WORK &w)
{
    auto &m = w.m;
    for (uint32_t i = threadIdx.x; i < m.n_open; i += WORK::shape::THREADS) {
        const uint32_t e = m.open[i], found = walk(w, e);
        if (found == IS_LIGHT) unite(w, m.edge[e]);
        m.open[i] = (uint16_t)(e | found << 12);
    }
    add_parts(w);
}

/* ---- First edges ----------------------------------------------------------------------------- */

/* Sets bits of an edge inside the block, ZEROED if its level is not 0; the bits that its byte had.
 */
template <typename WORK>
QFZ_DEVICE uint32_t set_bits(const WORK &w, uint32_t edge, bool is_above_0, uint32_t bits)
{
    const uint32_t p = w.first(edge), shift = p % 4 * 8 + edge % WORK::shape::DIRS;
    if (is_above_0) bits |= QFZ_FILTER_ZEROED;
    return atomicOr(&w.m.zeroed[p / 4], bits << shift) >> shift;
}

/* Calls use(index in open, key, part) for each part at an end of an edge between two parts. */
template <typename WORK, typename USE> QFZ_DEVICE void each_end(const WORK &w, const USE &use)
{
    const auto &m = w.m;
    for (uint32_t i = threadIdx.x; i < m.n_open; i += WORK::shape::THREADS) {
        const uint32_t e = m.open[i] % PX, edge = m.edge[e];
        if (m.open[i] / PX == IS_LIGHT) continue;
        const uint32_t ends[2] = {w.part(w.first(edge)), w.part(w.second(edge))};
        for (uint32_t end : ends)
            if (end < PX) use(i, m.best[e], end);
    }
}

/* The first edge of each part; the bits of edges inside parts.  had_bits(pixel): its byte of
 * zeroed. */
template <typename WORK, typename OWN, typename BITS>
QFZ_DEVICE void find_first(const WORK &w, const OWN &own, const BITS &had_bits)
{
    auto &m = w.m;
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        m.head[p] = NO_KEY;
        m.first[p] = NOTHING;
        reinterpret_cast<uint8_t *>(m.zeroed)[p] = had_bits(p);
    }
    __syncthreads();
    each_end(w, [&](uint32_t, uint32_t key, uint32_t part) { atomicMin(&m.head[part], key); });
    const auto set_light = [&](uint32_t e) {
        set_bits(w, m.edge[e], WORK::is_above_0(m.best[e]), 0);
    };
    for (uint32_t i = 0; i < WORK::shape::OWN; i++)
        if (own.light >> i & 1) set_light(w.own(i));
    for (uint32_t i = threadIdx.x; i < m.n_open; i += WORK::shape::THREADS)
        if (m.open[i] / PX == IS_LIGHT) set_light(m.open[i]);
    __syncthreads();
    each_end(w, [&](uint32_t i, uint32_t key, uint32_t part) {
        if (key != m.head[part]) return;
        offer(m.first, part, i, [&](uint32_t a, uint32_t b) {
            return w.is_before(m.edge[m.open[a] % PX], m.edge[m.open[b] % PX]);
        });
    });
    __syncthreads();
}
