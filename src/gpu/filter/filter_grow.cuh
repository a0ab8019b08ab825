/* SPDX-License-Identifier: MIT */
/* filter_grow.cuh - the rounds of the area filter in a block after the first one
 * (filter_first.cuh).  They look at clusters and listed edges only:
 *
 *   choose, agree   the first edge of each cluster: its key, then which edge it is
 *   weigh           the mass that arrives before that edge and did not arrive before
 *   pick            a light cluster picks the edge; two that picked the same one become one
 *   settle          others hang on the cluster that their edge leads to */
#pragma once

#include "gpu/filter/filter_first.cuh"

/* ---- First edges ----------------------------------------------------------------------------- */

/* The word of the root of what a word names. */
template <typename WORK> static QFZ_DEVICE uint32_t root_of(const WORK &w, uint32_t word)
{
    return word & LIVE ? w.m.graph.root[word & NUMBER] : word;
}

/* True for the words of the ends of an edge that a cluster may need, here or in the tile. */
static QFZ_DEVICE bool is_needed(uint32_t a, uint32_t b)
{
    return a != b && (a & b & DONE) == 0;
}

template <int N, typename WORK> static QFZ_DEVICE void choose(const WORK &w, own_edges<N> *edges)
{
    auto &g = w.m.graph;
    QFZ_EACH (k, own_edges<N>::COUNT) {
        const uint32_t key = edges->key[k];
        if (key == NO_KEY) continue;
        const uint32_t a = root_of(w, edges->ends[k] >> 16), b = root_of(w, edges->ends[k] & TO);
        edges->ends[k] = a << 16 | b;
        if (!is_needed(a, b)) {
            edges->key[k] = NO_KEY;
            continue;
        }
        if (a & LIVE) qfz_lower(&g.key[a & NUMBER], key);
        if (b & LIVE) qfz_lower(&g.key[b & NUMBER], key);
    }
}

/* Calls use(cluster, word of the edge) for each listed edge with the least key of a cluster. */
template <int N, typename WORK, typename USE>
static QFZ_DEVICE void each_first(const WORK &w, const own_edges<N> &edges, const USE &use)
{
    auto &g = w.m.graph;
    QFZ_EACH (k, own_edges<N>::COUNT) {
        const uint32_t key = edges.key[k], a = edges.ends[k] >> 16, b = edges.ends[k] & TO;
        if (key == NO_KEY) continue;
        if ((a & LIVE) && g.key[a & NUMBER] == key) use(a & NUMBER, edges.number[k] | b);
        if ((b & LIVE) && g.key[b & NUMBER] == key) use(b & NUMBER, edges.number[k] | a);
    }
}

/* Puts an edge in place of one that comes later. */
template <typename WORK>
static QFZ_DEVICE void decide(const WORK &w, uint32_t cluster, uint32_t edge)
{
    uint32_t *const word = &w.m.graph.edge[cluster];
    for (uint32_t has = *static_cast<volatile uint32_t *>(word);
         has != edge && w.is_before(edge, has);) {
        const uint32_t was = atomicCAS(word, has, edge);
        if (was == has) return;
        has = was;
    }
}

/* Hardly ever, two edges have the same least key. */
template <int N, typename WORK>
static QFZ_DEVICE void agree(const WORK &w, const own_edges<N> &edges)
{
    bool is_tied = false;
    each_first(w, edges, [&](uint32_t cluster, uint32_t edge) {
        is_tied |= atomicExch(&w.m.graph.edge[cluster], edge) != NO_EDGE;
    });
    if (!__syncthreads_or(is_tied)) return;
    each_first(w, edges, [&](uint32_t cluster, uint32_t edge) { decide(w, cluster, edge); });
    __syncthreads();
}

/* ---- Masses ---------------------------------------------------------------------------------- */

/* True if what arrives with such an edge arrives before the first edge of a root. */
template <typename WORK>
static QFZ_DEVICE bool arrives(const WORK &w, uint32_t key, uint32_t edge, uint32_t root)
{
    const auto &g = w.m.graph;
    if (key != g.key[root]) return key < g.key[root];
    return g.edge[root] != NO_EDGE && w.is_before(edge, g.edge[root]);
}

/* For masses whose sum may have more than 32 bits. */
static QFZ_APART void add_great_mass(uint32_t *sum, uint32_t mass, uint32_t least)
{
    if (atomicAdd(sum, mass) > UINT32_MAX - mass) atomicMax(sum, least);
}

template <typename WORK>
static QFZ_DEVICE void add_mass(const WORK &w, uint32_t root, uint32_t mass)
{
    uint32_t *const sum = &w.m.graph.mass[root];
    if (w.f.least > UINT32_MAX / QUADS)
        add_great_mass(sum, mass, (uint32_t)w.f.least);
    else
        atomicAdd(sum, mass);
}

/* Adds what arrives to the weight of the root.  What has arrived once is a part of it. */
template <int N, typename WORK>
static QFZ_DEVICE void weigh(const WORK &w, own_quads<N> *own, bool is_first)
{
    const auto &g = w.m.graph;
    const uint32_t quad_0 = w.own(0);
    for (uint32_t left = own->waits; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__ffs((int)left) - 1, quad = quad_0 + i * SIDE;
        const uint32_t root = root_of(w, w.m.word[quad]), c = root & ENDED ? 0 : root & NUMBER;
        const uint32_t key = g.first[quad], limit = root & ENDED ? NO_KEY : g.key[c];
        bool has_arrived = key < limit;
        if (key == limit)
            has_arrived = arrives(w, key, edge_of<WORK>(quad, side_at(*own, (int)i)), c);
        if (!has_arrived) continue;
        own->waits ^= 1u << i;
        if (!(root & ENDED)) add_mass(w, c, w.mass(quad));
    }
    if (is_first) return; /* each cluster is a root */
    uint32_t bit = 1;
    for (uint32_t c = threadIdx.x; c < w.m.n_clusters; c += WORK::shape::THREADS, bit *= 2) {
        const uint32_t word = g.root[c], root = word & NUMBER;
        const bool waits = root != c && !(word & ENDED) && !(own->counted & bit);
        if (!waits || !arrives(w, g.key[c], g.edge[c], root)) continue;
        own->counted |= bit;
        add_mass(w, root, g.mass[c]);
    }
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* What becomes of a cluster that picks its first edge. */
template <typename WORK> static QFZ_DEVICE uint32_t next_of(const WORK &w, uint32_t c)
{
    const auto &g = w.m.graph;
    const uint32_t least = (uint32_t)w.f.least, to = g.edge[c] & TO, other = to & NUMBER;
    if (to == FRAME) return g.cell[c] | LEAVES;
    if ((to & ENDED) || other < c || (g.edge[other] ^ g.edge[c]) > TO || g.mass[other] >= least)
        return to;
    return g.mass[c] < least - g.mass[other] ? c | LIVE : g.cell[c] | DONE;
}

template <typename WORK> static QFZ_DEVICE void pick(const WORK &w)
{
    auto &g = w.m.graph;
    for (uint32_t c = threadIdx.x; c < w.m.n_clusters; c += WORK::shape::THREADS) {
        if (g.root[c] != (c | LIVE)) continue;
        uint32_t next = g.cell[c] | DONE;
        if (g.edge[c] != NO_EDGE && g.mass[c] < w.f.least) {
            next = next_of(w, c);
            if (w.is_above_0(g.key[c])) mark(w, g.edge[c]);
        }
        g.next[c] = (uint16_t)next;
    }
}

/* Keys grow from hop to hop back from the end of a chain, so that the first hop is the last edge of
 * the path.  True if a cluster of this thread is live. */
template <typename WORK> static QFZ_DEVICE bool settle(const WORK &w)
{
    auto &g = w.m.graph;
    bool is_live = false;
    for (uint32_t c = threadIdx.x; c < w.m.n_clusters; c += WORK::shape::THREADS) {
        const uint32_t before = g.root[c] & NUMBER;
        if (g.root[c] & ENDED) continue;
        uint32_t now = g.next[before], at = before;
        while ((now & LIVE) && (now & NUMBER) != at) {
            at = now & NUMBER;
            now = g.next[at];
        }
        const bool hangs = at != before || (now & NUMBER) != (now & LIVE ? before : g.cell[before]);
        if (hangs && c != before && arrives(w, g.key[c], g.edge[c], before)) {
            g.key[c] = g.key[before];
            g.edge[c] = g.edge[before];
            g.mass[c] = 0;
        }
        if (now == (c | LIVE)) {
            g.key[c] = NO_KEY;
            g.edge[c] = NO_EDGE;
            is_live = true;
        }
        g.root[c] = (uint16_t)now;
    }
    return is_live;
}

template <int N, typename WORK>
static QFZ_DEVICE void grow(const WORK &w, own_quads<N> *own, own_edges<N> *edges)
{
    own->counted = 0;
    bool is_live = w.m.n_clusters > 0;
    for (bool is_first = true; __syncthreads_or(is_live); is_first = false) {
        choose(w, edges);
        __syncthreads();
        agree(w, *edges);
        weigh(w, own, is_first);
        __syncthreads();
        pick(w);
        __syncthreads();
        is_live = settle(w);
    }
}
