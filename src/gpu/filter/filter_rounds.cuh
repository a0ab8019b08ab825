/* SPDX-License-Identifier: MIT */
/* filter_rounds.cuh - the minimum spanning forest of the vertices of a block, by Boruvka's rounds.
 *
 *   choose    each vertex chooses its first edge; in the first round from the edges of its pixels,
 *             then from lists of the edges that are left, one a warp
 *   join      each vertex joins the one at the other end
 *
 * OUTSIDE and HEAVY choose nothing.  Thus edges of the forest may be missing, but only between two
 * components, in the order of edges up to them, that both have one of the two. */
#pragma once

#include "gpu/filter/filter_block.cuh"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Calls use(edge, is it one of the warp's cells?) in all lanes, as often as it takes for the edges
 * of the warp's cells. */
template <typename SHAPE, typename USE> QFZ_DEVICE void each_edge_of_warp(const USE &use)
{
    const uint32_t first = threadIdx.x / QFZ_WARP * SHAPE::ROOM_OF_WARP;
    for (uint32_t i = threadIdx.x % QFZ_WARP; i - threadIdx.x % QFZ_WARP < SHAPE::ROOM_OF_WARP;
         i += QFZ_WARP)
        use(first + i, i < SHAPE::ROOM_OF_WARP);
}

/* The keys of all edges; NO_KEY for those that are not between two vertices. */
template <typename T, int N> QFZ_DEVICE void make_keys(const block_work<T, N> &w)
{
    each_edge_of_warp<block_shape<N>>([&](uint32_t edge, bool is_edge) {
        uint32_t level, key = NO_KEY;
        if (!is_edge) return;
        if (w.is_between_vertices(edge) && w.edges.read(w.start(edge), w.side(edge), &level))
            key = w.key_of(level, w.edges.position(w.start(edge), w.side(edge)));
        w.m.key[edge] = key;
    });
    __syncthreads();
}

/* ---- Choose ---------------------------------------------------------------------------------- */

/* The first edge of a pixel that is between two vertices, or NOTHING. */
template <typename WORK> QFZ_DEVICE uint32_t first_of_px(const WORK &w, uint32_t p, uint32_t *key)
{
    uint32_t first = NOTHING;
    *key = NO_KEY;
    for (int side = 0; side < 2 * (int)WORK::shape::DIRS; side++) {
        const uint32_t edge = w.edge_of(p, side), of_edge = w.m.key[edge];
        if (of_edge > *key || of_edge == NO_KEY) continue;
        if (of_edge == *key && !w.is_before(edge, first)) continue;
        first = edge;
        *key = of_edge;
    }
    return first;
}

/* IS_EACH: each pixel is a vertex. */
template <bool IS_EACH, typename WORK> QFZ_DEVICE void choose_of_pixels(const WORK &w)
{
    auto &m = w.m;
    uint32_t key[WORK::shape::OWN];
    uint16_t first[WORK::shape::OWN];
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i), root = m.root[w.cell(p)];
        first[i] = NOTHING;
        if (root >= PX) continue;
        first[i] = (uint16_t)first_of_px(w, p, &key[i]);
        if (IS_EACH) {
            m.best[p] = key[i];
            m.edge[p] = first[i];
        } else if (first[i] != NOTHING) {
            atomicMin(&m.best[root], key[i]);
        }
    }
    __syncthreads();
    for (uint32_t i = 0; !IS_EACH && i < WORK::shape::OWN; i++) {
        const uint32_t root = m.root[w.cell(w.own(i))];
        if (first[i] != NOTHING && key[i] == m.best[root])
            offer(m.edge, root, first[i],
                  [&](uint32_t a, uint32_t b) { return w.is_before(a, b); });
    }
    if (!IS_EACH) __syncthreads();
}

/* Appends an edge of each lane that wants to, and offers its key to the vertices at its ends; *n:
 * length of the warp's list. */
template <typename WORK>
QFZ_DEVICE void append(const WORK &w, uint16_t *list, uint32_t *n, bool wants, uint32_t edge)
{
    const unsigned who = __ballot_sync(0xffffffffu, wants);
    if (wants) {
        const uint32_t ends[2] = {w.first_root(edge), w.second_root(edge)}, key = w.m.key[edge];
        list[*n + (uint32_t)__popc(who & ((1u << threadIdx.x % QFZ_WARP) - 1))] = (uint16_t)edge;
        for (uint32_t end : ends)
            if (end < PX) atomicMin(&w.m.best[end], key);
    }
    *n += (uint32_t)__popc(who);
}

/* The key of the edge between two cells that are neighbours. */
template <typename WORK> QFZ_DEVICE uint32_t key_between(const WORK &w, uint32_t a, uint32_t b)
{
    const uint32_t from = min(a, b), to = max(a, b);
    if (from > (SIDE + 1) * COLUMNS) return NO_KEY; /* in the frame */
    for (uint32_t dir = 0; dir < WORK::shape::DIRS; dir++)
        if (to - from == w.beyond(dir)) return w.m.key[from * WORK::shape::DIRS + dir];
    return NO_KEY;
}

/* False for an edge that is the last one of a triangle: it is not in the forest. */
template <typename WORK> QFZ_DEVICE bool is_needed(const WORK &w, uint32_t edge)
{
    const uint32_t dir = edge % WORK::shape::DIRS, a = edge / WORK::shape::DIRS;
    const uint32_t b = a + w.beyond(dir), key = w.m.key[edge];
    const uint32_t left = dir == QFZ_RIGHT ? a - COLUMNS : a - 1; /* of a third cell */
    const uint32_t third[4] = {dir == QFZ_RIGHT ? a + COLUMNS : a + 1,
                               dir == QFZ_RIGHT ? a + COLUMNS + 1 : b + 1, left,
                               dir == QFZ_RIGHT ? left + 1 : b - 1};
    for (uint32_t c : third)
        if (key_between(w, a, c) < key && key_between(w, c, b) < key) return false;
    return true;
}

/* Lists the edges between vertices; returns the length of the list. */
template <typename WORK> QFZ_DEVICE uint32_t list_edges(const WORK &w, uint16_t *list)
{
    uint32_t n = 0;
    each_edge_of_warp<typename WORK::shape>([&](uint32_t edge, bool is_edge) {
        append(w, list, &n,
               is_edge && w.m.key[edge] != NO_KEY && w.is_between_vertices(edge) &&
                   (WORK::shape::DIRS == 2 || is_needed(w, edge)),
               edge);
    });
    return n;
}

/* The same for those that were in the list. */
template <typename WORK>
QFZ_DEVICE uint32_t list_again(const WORK &w, uint16_t *list, uint32_t n_before)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    uint32_t n = 0;
    for (uint32_t i = lane; i - lane < n_before; i += QFZ_WARP) {
        const uint32_t edge = i < n_before ? list[i] : 0;
        const bool wants = i < n_before && w.is_between_vertices(edge);
        __syncwarp();
        append(w, list, &n, wants, edge);
    }
    return n;
}

template <typename WORK>
QFZ_DEVICE void choose_of_list(const WORK &w, const uint16_t *list, uint32_t n)
{
    __syncthreads();
    for (uint32_t i = threadIdx.x % QFZ_WARP; i < n; i += QFZ_WARP) {
        const uint32_t edge = list[i], key = w.m.key[edge];
        const uint32_t ends[2] = {w.first_root(edge), w.second_root(edge)};
        for (uint32_t end : ends)
            if (end < PX && key == w.m.best[end])
                offer(w.m.edge, end, edge,
                      [&](uint32_t a, uint32_t b) { return w.is_before(a, b); });
    }
    __syncthreads();
}

/* ---- Join ------------------------------------------------------------------------------------ */

/* The vertex that a vertex joins along its first edge; NOTHING if that one joins this one. */
template <typename WORK> QFZ_DEVICE uint32_t target_of(const WORK &w, uint32_t vertex)
{
    const uint32_t edge = w.m.edge[vertex];
    if (edge == NOTHING) return NOTHING;
    const uint32_t a = w.first_root(edge), b = w.second_root(edge), target = a == vertex ? b : a;
    return target < PX && w.m.edge[target] == edge && vertex < target ? NOTHING : target;
}

/* Does the edge of a vertex that has joined another one come before all edges out of the light
 * vertex that it is in now?  Then all that it joins is in this vertex. */
template <typename WORK> QFZ_DEVICE bool joins_to_light(const WORK &w, uint32_t vertex)
{
    const uint32_t root = w.m.root[w.cell(vertex)];
    return root < PX && w.m.mass[root] < (uint32_t)w.edges.f.least &&
           w.m.best[vertex] < w.m.best[root];
}

/* The vertices that own(i) has become part of, all at once. */
template <typename WORK> QFZ_DEVICE void find_roots(const WORK &w, uint16_t *root)
{
    for (uint32_t i = 0; i < WORK::shape::OWN; i++)
        root[i] = w.m.root[w.cell(w.own(i))];
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
            const uint16_t up = root[i] < PX ? w.m.root[w.cell(root[i])] : root[i];
            goes_on |= up != root[i];
            root[i] = up;
        }
    }
}

/* Joins vertices along their edges; false if there was none. */
template <typename WORK, typename OWN> QFZ_DEVICE bool join(const WORK &w, OWN *own)
{
    auto &m = w.m;
    uint16_t to[WORK::shape::OWN];
    uint32_t joins = 0;
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        to[i] = m.root[w.cell(p)] == p ? (uint16_t)target_of(w, p) : (uint16_t)NOTHING;
        joins |= (uint32_t)(to[i] != NOTHING) << i;
        if ((own->joined & ~own->light) >> i & 1) own->light |= (uint32_t)joins_to_light(w, p) << i;
    }
    if (!__syncthreads_or(joins != 0)) return false;
    own->joined |= joins;
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        if (joins >> i & 1) {
            m.root[w.cell(p)] = to[i];
        } else if (m.root[w.cell(p)] == p) {
            m.best[p] = NO_KEY;
            m.edge[p] = NOTHING;
        }
    }
    __syncthreads();
    find_roots(w, to);
    __syncthreads();
    for (uint32_t i = 0; i < WORK::shape::OWN; i++) {
        const uint32_t p = w.own(i);
        m.root[w.cell(p)] = to[i];
        if ((joins >> i & 1) && to[i] < PX)
            add_mass(&m.mass[to[i]], m.mass[p], (uint32_t)w.edges.f.least);
    }
    __syncthreads();
    return true;
}

template <bool IS_EACH, typename WORK, typename OWN>
QFZ_DEVICE void find_forest(const WORK &w, OWN *own)
{
    uint16_t *const list = w.m.list + threadIdx.x / QFZ_WARP * WORK::shape::ROOM_OF_WARP;
    make_keys(w);
    choose_of_pixels<IS_EACH>(w);
    if (!join(w, own)) return;
    for (uint32_t n = list_edges(w, list);; n = list_again(w, list, n)) {
        choose_of_list(w, list, n);
        if (!join(w, own)) return;
    }
}
