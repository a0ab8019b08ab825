/* SPDX-License-Identifier: MIT */
/* filter_grow.cuh - the rounds of the area filter in a block after the first one
 * (filter_first.cuh).  They look at clusters and listed edges only:
 *
 *   choose, agree   the first edge of each cluster: its key, then which edge it is; edges that no
 *                   cluster needs any more leave the list
 *   weigh           the mass that arrives before that edge and did not arrive before
 *   pick            a light cluster picks the edge; two that picked the same one become one
 *   settle          others hang on the cluster that their edge leads to */
#pragma once

#include "gpu/filter/filter_first.cuh"

/* ---- First edges ----------------------------------------------------------------------------- */

/* The word of the root of what a word names. */
template <typename WORK> static QFZ_DEVICE uint32_t root_of(const WORK &w, uint32_t word)
{
    return word & GROWS ? w.m.graph.root[word & NUMBER] : word;
}

/* True for the words of the ends of an edge that a cluster may need, here or in the tile. */
static QFZ_DEVICE bool is_needed(uint32_t a, uint32_t b)
{
    return a != b && (a & b & DONE) == 0;
}

/* The place of a warp's listed edge i: those of a lane are THREADS apart. */
template <typename WORK> static QFZ_DEVICE uint32_t entry_of(uint32_t i)
{
    return i / QFZ_WARP * WORK::shape::THREADS + threadIdx.x / QFZ_WARP * QFZ_WARP + i % QFZ_WARP;
}

/* Calls use(has, entry) for all lanes, where has is false behind the last of the warp's edges. */
template <int N, typename USE> static QFZ_DEVICE void each_listed(uint32_t n_edges, const USE &use)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    uint32_t entry = threadIdx.x;
    for (uint32_t first = 0; first < n_edges; first += QFZ_WARP, entry += block_shape<N>::THREADS)
        use(first + lane < n_edges, entry);
}

/* Edges that no cluster needs any more leave the list, and each end becomes its root. */
template <int N, typename WORK>
static QFZ_DEVICE void shorten_list(const WORK &w, own_quads<N> *own)
{
    auto &listed = w.m.graph.listed;
    const uint32_t before = (1u << threadIdx.x % QFZ_WARP) - 1;
    uint32_t n = 0;
    each_listed<N>(own->n_edges, [&](bool has, uint32_t entry) {
        uint32_t a = 0, b = 0, key = 0, number = 0;
        if (has) {
            const uint32_t ends = listed.ends[entry];
            a = root_of(w, ends >> 16);
            b = root_of(w, ends & TO);
            key = listed.key[entry];
            number = listed.number[entry];
        }
        const bool stays = is_needed(a, b);
        const uint32_t who = __ballot_sync(QFZ_ALL_LANES, stays);
        __syncwarp(); /* what is overwritten has been read */
        if (stays) {
            const uint32_t to = entry_of<WORK>(n + (uint32_t)__popc(who & before));
            listed.key[to] = key;
            listed.ends[to] = a << 16 | b;
            listed.number[to] = (uint16_t)number;
        }
        n += (uint32_t)__popc(who);
    });
    own->n_edges = n;
    __syncwarp();
}

/* The least key of each cluster. */
template <int N, typename WORK>
static QFZ_DEVICE void choose(const WORK &w, const own_quads<N> &own)
{
    auto &g = w.m.graph;
    each_listed<N>(own.n_edges, [&](bool has, uint32_t entry) {
        if (!has) return;
        const uint32_t key = g.listed.key[entry], ends = g.listed.ends[entry];
        const uint32_t a = ends >> 16, b = ends & TO;
        if (a & GROWS) qfz_lower(&g.key[a & NUMBER], key);
        if (b & GROWS) qfz_lower(&g.key[b & NUMBER], key);
    });
}

/* Calls use(cluster, word of the edge) for each listed edge with the least key of a cluster. */
template <int N, typename WORK, typename USE>
static QFZ_DEVICE void each_first(const WORK &w, const own_quads<N> &own, const USE &use)
{
    const auto &g = w.m.graph;
    each_listed<N>(own.n_edges, [&](bool has, uint32_t entry) {
        if (!has) return;
        const uint32_t key = g.listed.key[entry], ends = g.listed.ends[entry];
        const uint32_t a = ends >> 16, b = ends & TO;
        const uint32_t number = (uint32_t)g.listed.number[entry] << TO_BITS;
        if ((a & GROWS) && g.key[a & NUMBER] == key) use(a & NUMBER, number | b);
        if ((b & GROWS) && g.key[b & NUMBER] == key) use(b & NUMBER, number | a);
    });
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
template <int N, typename WORK> static QFZ_DEVICE void agree(const WORK &w, const own_quads<N> &own)
{
    bool is_tied = false;
    each_first(w, own, [&](uint32_t cluster, uint32_t edge) {
        is_tied |= atomicExch(&w.m.graph.edge[cluster], edge) != NO_WORD;
    });
    if (!__syncthreads_or(is_tied)) return;
    each_first(w, own, [&](uint32_t cluster, uint32_t edge) { decide(w, cluster, edge); });
    __syncthreads();
}

/* ---- Masses ---------------------------------------------------------------------------------- */

/* True if what arrives with such an edge arrives before the first edge of a root. */
template <typename WORK>
static QFZ_DEVICE bool arrives(const WORK &w, uint32_t key, uint32_t edge, uint32_t root)
{
    const auto &g = w.m.graph;
    if (key != g.key[root]) return key < g.key[root];
    return g.edge[root] != NO_WORD && w.is_before(edge, g.edge[root]);
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
    if (w.least > UINT32_MAX / QUADS)
        add_great_mass(sum, mass, w.least);
    else
        atomicAdd(sum, mass);
}

/* Adds the pixels that arrive to the weight of the root.  What has arrived once is a part of it. */
template <int N, typename WORK>
static QFZ_DEVICE void weigh_pixels(const WORK &w, own_quads<N> *own, const own_late<N> &late)
{
    const auto &g = w.m.graph;
    for (uint32_t left = own->waits; left != 0; left &= left - 1) {
        const uint32_t i = (uint32_t)__ffs((int)left) - 1;
        const uint32_t px = late.px[i], root = g.root[px >> 16], c = root & NUMBER;
        const uint32_t quad = px % QUADS, limit = root & STOPPED ? NO_KEY : g.key[c];
        bool has_arrived = late.key[i] < limit;
        if (late.key[i] == limit) /* hardly ever */
            has_arrived = arrives(w, limit, edge_of<WORK>(quad, px / QUADS & SIDE_MASK), c);
        if (!has_arrived) continue;
        own->waits ^= 1u << i;
        if (root & STOPPED)
            own->leaves |= root / OUTSIDE << i;
        else
            add_mass(w, c, w.mass(quad));
    }
    __syncwarp(); /* or lanes that are done with go on alone */
}

/* The same for clusters. */
template <int N, typename WORK>
static QFZ_DEVICE void weigh_clusters(const WORK &w, own_quads<N> *own)
{
    const auto &g = w.m.graph;
    const uint32_t n = w.m.n_clusters;
    uint32_t bit = 1;
    for (uint32_t c = threadIdx.x; c < n; c += WORK::shape::THREADS, bit *= 2) {
        const uint32_t word = g.root[c], root = word & NUMBER;
        const bool waits = root != c && !(word & STOPPED) && !(own->counted & bit);
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
    const uint32_t to = g.edge[c] & TO, other = to & NUMBER;
    if (to == FRAME) return g.cell[c] | OUTSIDE;
    if ((to & STOPPED) || other < c || (g.edge[other] ^ g.edge[c]) > TO || g.mass[other] >= w.least)
        return to;
    return g.mass[c] < w.least - g.mass[other] ? c | GROWS : g.cell[c] | DONE;
}

template <typename WORK> static QFZ_DEVICE void pick(const WORK &w)
{
    auto &g = w.m.graph;
    const uint32_t n = w.m.n_clusters;
    for (uint32_t c = threadIdx.x; c < n; c += WORK::shape::THREADS) {
        if (g.root[c] != (c | GROWS)) continue;
        uint32_t next = g.cell[c] | DONE;
        if (g.edge[c] != NO_WORD && g.mass[c] < w.least) {
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
    const uint32_t n = w.m.n_clusters;
    bool is_live = false;
    for (uint32_t c = threadIdx.x; c < n; c += WORK::shape::THREADS) {
        const uint32_t word = g.root[c], before = word & NUMBER;
        if (word & STOPPED) continue;
        uint32_t at = word, now = g.next[before]; /* words */
        while ((now & GROWS) && now != at) {
            at = now;
            now = g.next[at & NUMBER];
        }
        const bool hangs = at != word || (now & NUMBER) != (now & GROWS ? before : g.cell[before]);
        if (hangs && c != before && arrives(w, g.key[c], g.edge[c], before)) {
            g.key[c] = g.key[before];
            g.edge[c] = g.edge[before];
            g.mass[c] = 0;
        }
        if (now == (c | GROWS)) {
            g.key[c] = NO_KEY;
            g.edge[c] = NO_WORD;
            is_live = true;
        }
        g.root[c] = (uint16_t)now;
    }
    return is_live;
}

template <int N, typename WORK>
static QFZ_DEVICE void grow(const WORK &w, own_quads<N> *own, const own_late<N> &late)
{
    own->counted = 0;
    bool is_live = w.m.n_clusters > 0;
    for (bool is_first = true; __syncthreads_or(is_live); is_first = false) {
        if (!is_first) shorten_list(w, own); /* at first, all are needed */
        choose(w, *own);
        __syncthreads();
        agree(w, *own);
        weigh_pixels(w, own, late);
        if (!is_first) weigh_clusters(w, own); /* at first, each is a root */
        __syncthreads();
        pick(w);
        __syncthreads();
        is_live = settle(w);
    }
}
