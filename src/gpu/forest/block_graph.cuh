/* SPDX-License-Identifier: MIT */
/* block_graph.cuh - what a block adds to the graph of all blocks. The remaining components become
 * vertices; edges are those of a minimum spanning forest of the vertices, and needed edges that
 * leave the block. Invariant: no other edge of the block affects a minimax level outside. */
#pragma once

#include "gpu/forest/block_rounds.cuh"

/* ---- Vertices -------------------------------------------------------------------------------- */

/* Numbers the roots that have edges left; best[] holds the vertices afterwards. */
template <typename WORK> QFZ_DEVICE void name_vertices(WORK &w)
{
    const uint32_t n = ACTIVE + (w.m.n_numbers >> 16);
    uint32_t vertices = 0; /* bit k: the thread's k-th component becomes a vertex */
#pragma unroll 1
    for (uint32_t c = (uint32_t)w.thread, bit = 1; c < n; c += w.THREADS, bit *= 2) {
        const uint32_t name = w.m.name[c];
        if (name / 4 != c) continue;
        if (name & ENDED)
            w.m.best[c] = QFZ_STEP_ENDED;
        else
            vertices |= bit;
    }
    uint32_t v = qfz_take(&w.m.n_vertices, (uint32_t)__popc(vertices));
    for (; vertices; vertices &= vertices - 1, v++) {
        const uint32_t c = (uint32_t)w.thread + ((uint32_t)__ffs((int)vertices) - 1) * w.THREADS;
        w.m.best[c] = ROOT | v;
    }
}

template <typename WORK> QFZ_DEVICE uint32_t vertex_of(const WORK &w, uint32_t comp4)
{
    return (uint32_t)of_comp(w.m.best, name_of(w, comp4) & ~3u) & QFZ_STEP_MASK;
}

/* ---- Span: Boruvka rounds between vertices, without the edges that leave the block ----------- */

/* The set that the set v of vertices joins: the set at the other end of its lightest edge; or v
 * itself if v has no edge, or if both chose the same edge and v comes first. */
template <typename WORK> QFZ_DEVICE uint32_t taken_by(const WORK &w, uint32_t v)
{
    const typename WORK::KEY key = w.m.lightest[v];
    if (key == w.NO_KEY) return v;
    const uint32_t ends = w.m.ends[key & 0xffff], a = ends & 0xffff, b = ends >> 16;
    const uint32_t other = a == v ? b : a;
    return v < other && w.m.lightest[other] == key ? v : other;
}

template <typename WORK> QFZ_DEVICE void begin_span(WORK &w)
{
#pragma unroll 1
    for (uint32_t v = (uint32_t)w.thread; v < QFZ_VERTICES; v += w.THREADS) {
        w.m.set[v] = (uint16_t)v;
        w.m.lightest[v] = w.NO_KEY;
    }
}

/* Adds the chosen edges to the tree, and finds the new set of every vertex. */
template <typename WORK> QFZ_DEVICE void join_sets(WORK &w)
{
    const uint32_t first = (uint32_t)w.thread, n = w.m.n_vertices;
    for (uint32_t v = first; v < n; v += w.THREADS) {
        if (w.m.set[v] != v) continue;
        const uint32_t other = taken_by(w, v);
        w.m.taken[v] = (uint16_t)other;
        if (other == v) continue;
        const uint32_t at = qfz_add(&w.m.n_tree, 1u);
        w.m.tree_ends[at] = v | other << 16;
        w.m.tree_level[at] = (typename WORK::LEVEL)hook_level(w.m.lightest[v]);
    }
    __syncthreads();
    for (uint32_t v = first; v < n; v += w.THREADS) {
        uint32_t root = w.m.set[v];
        while (w.m.taken[root] != root)
            root = w.m.taken[root];
        w.m.set[v] = (uint16_t)root;
        w.m.lightest[v] = w.NO_KEY;
    }
    __syncthreads();
}

/* Fills tree_ends[] and tree_level[] with the edges of a minimum spanning forest; lightest[] has no
 * keys afterwards. */
template <typename WORK> QFZ_DEVICE void span(WORK &w, list_part &part)
{
    auto to_ends = [&](uint32_t ends, typename WORK::KEY key) {
        offer(&w.m.lightest[ends & 0xffff], key);
        offer(&w.m.lightest[ends >> 16], key);
    };
    sweep(
        w, part,
        [&](uint32_t ends) { return vertex_of(w, ends & 0xffff) | vertex_of(w, ends >> 16) << 16; },
        to_ends);
    for (;;) {
        if (!__syncthreads_or(part.n > 0)) return;
        if constexpr (IN_TWO_STEPS<WORK>) {
            offer_places(w, part, [&](uint32_t end) { return &w.m.lightest[end]; });
            __syncthreads();
        }
        join_sets(w);
        sweep(
            w, part,
            [&](uint32_t ends) {
                return (uint32_t)w.m.set[ends & 0xffff] | (uint32_t)w.m.set[ends >> 16] << 16;
            },
            to_ends);
    }
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Places of the block's vertices and edges in the graph, reserved by thread 0 long before use. */
struct graph_places {
    uint32_t leaving; /* the number of the thread's edge out of the block, or QFZ_NONE */
    uint32_t first_vertex, first_edge;
};

/* is_leaving(): true if the thread's edge out of the block (block_leaving.cuh) exists and is
 * needed. leaving_level(): its level. */
template <typename KEY, int OWN_ROWS>
QFZ_DEVICE bool is_leaving(const block_work<block_shape<KEY, OWN_ROWS, false>> &w)
{
    const KEY key = w.m.leave[RIGHT + w.thread];
    return key != w.NO_KEY && !(key & DROPPED);
}

template <typename KEY, int OWN_ROWS>
QFZ_DEVICE uint32_t leaving_level(const block_work<block_shape<KEY, OWN_ROWS, false>> &w)
{
    return (uint32_t)(w.m.leave[RIGHT + w.thread] >> 16);
}

template <typename WORK> QFZ_DEVICE void place_vertices(WORK &w, graph_places &places)
{
    const bool leaves = w.thread < qfz_leaving_count(WORK::SHAPE::EIGHT) && is_leaving(w);
    const uint32_t at = qfz_take_one(&w.m.n_leaving, leaves);
    places.leaving = leaves ? at : QFZ_NONE;
    places.first_vertex = 0;
    if (w.thread == 0)
        places.first_vertex = atomicAdd(&w.forest.count[QFZ_COUNT_VERTICES], w.m.n_vertices);
}

template <typename WORK> QFZ_DEVICE void place_edges(WORK &w, graph_places &places)
{
    places.first_edge = 0;
    if (w.thread == 0)
        places.first_edge = atomicAdd(&w.forest.count[QFZ_COUNT_EDGES], w.m.n_leaving + w.m.n_tree);
}

template <typename WORK> QFZ_DEVICE void share_places(WORK &w, const graph_places &places)
{
    if (w.thread != 0) return;
    w.m.first_vertex = places.first_vertex;
    w.m.first_edge = places.first_edge;
}

/* ---- First choices of vertices --------------------------------------------------------------- */

/* Thread i's edge out of the block, leave[i], a candidate for its vertex's lightest edge. */
template <typename KEY> struct first_choice {
    uint32_t vertex; /* or QFZ_NONE */
    KEY key;
};

/* That edge: the pixel beside the block where it ends, the pixel where it starts, and its number
 * among the STARTS edges that start there. */
struct first_edge {
    int y, x, start_y, start_x, number;
};

template <typename KEY, int OWN_ROWS>
QFZ_DEVICE first_edge first_edge_of(const block_work<block_shape<KEY, OWN_ROWS, false>> &w)
{
    const int at = w.thread % QFZ_SIDE, side = w.thread - at, beyond = (int)QFZ_SIDE;
    const int y = side == TOP ? -1 : side == BOTTOM ? beyond : at;
    const int x = side == LEFT ? -1 : side == RIGHT ? beyond : at;
    return {y, x, min(y, beyond - 1), min(x, beyond - 1), side == TOP || side == BOTTOM};
}

/* True if the lightest edge of a waiting component is in leave[]. Pixels on the tile's ring wait
 * whatever their edges are, so that only blocks inside the tile or components of the first round's
 * active pixels qualify there. */
template <typename WORK> QFZ_DEVICE bool has_first_choice(const WORK &w, uint32_t name)
{
    const qfz_block_box &box = w.box;
    const bool inside =
        box.y > 0 && box.x > 0 && box.y + box.h < w.forest.h && box.x + box.w < w.forest.w;
    return (name & WAITS) && (!w.forest.keeps_ring || inside || name >= ACTIVE * 4);
}

/* After span(): lightest[] receives the keys of the lightest edges of waiting vertices. Both blocks
 * of an edge see the same edges and order those of one level alike, by their start pixels. */
template <typename WORK> QFZ_DEVICE first_choice<typename WORK::KEY> choose_first(WORK &w)
{
    const int i = w.thread;
    if (i >= 4 * QFZ_SIDE || !w.forest.first_known || w.m.leave[i] == w.NO_KEY)
        return {QFZ_NONE, 0};
    const uint32_t name = name_of(w, w.m.leave_comp[i]);
    if (!has_first_choice(w, name)) return {QFZ_NONE, 0};
    const first_edge e = first_edge_of(w);
    const int order = ((e.start_y + 1) * (QFZ_SIDE + 2) + e.start_x + 1) * QFZ_MAX_DIRS + e.number;
    const uint32_t vertex = (uint32_t)of_comp(w.m.best, name & ~3u) & QFZ_STEP_MASK;
    const typename WORK::KEY key = w.m.leave[i] >> 16 << 16 | (uint32_t)order;
    lower(&w.m.lightest[vertex], key);
    return {vertex, key};
}

template <typename WORK>
QFZ_DEVICE void store_first(WORK &w, first_choice<typename WORK::KEY> choice)
{
    const qfz_gpu_forest &f = w.forest;
    const uint32_t first = w.m.first_vertex;
    if (choice.vertex != QFZ_NONE && w.m.lightest[choice.vertex] == choice.key) {
        const first_edge e = first_edge_of(w);
        const uint32_t start =
            (uint32_t)(w.box.y + e.start_y) * (uint32_t)f.w + (uint32_t)(w.box.x + e.start_x);
        f.best[0][first + choice.vertex] = (unsigned long long)(choice.key >> 16) << 32 |
                                           (start * WORK::SHAPE::STARTS + (uint32_t)e.number);
        f.root[first + choice.vertex] = qfz_rim_place(f, w.box.y + e.y, w.box.x + e.x);
    }
#pragma unroll 1
    for (uint32_t k = (uint32_t)w.thread; k < w.m.n_vertices; k += w.THREADS)
        if (w.m.lightest[k] == w.NO_KEY) f.best[0][first + k] = ~0ull;
}

/* ---- Store ----------------------------------------------------------------------------------- */

/* Writes the block's edges to the graph: those that leave it, by sides, then the tree. */
template <typename WORK> QFZ_DEVICE void store_graph(WORK &w, uint32_t leaving)
{
    const qfz_gpu_forest &f = w.forest;
    const uint32_t n_leaving = w.m.n_leaving, n_tree = w.m.n_tree;
    const uint32_t v = w.m.first_vertex, e = w.m.first_edge;
    if (leaving != QFZ_NONE) {
        const qfz_leaving_edge edge = qfz_leaving_at(w.thread);
        /* leave_comp[] is up to date only on the side by which an edge leaves */
        const int own = edge.to_x == QFZ_SIDE ? RIGHT + edge.y : BOTTOM + edge.x;
        const uint32_t other = qfz_rim_place(f, w.box.y + edge.to_y, w.box.x + edge.to_x);
        f.ends[0][e + leaving] =
            make_uint2(v + vertex_of(w, w.m.leave_comp[own]), QFZ_RIM_REF | other);
        qfz_set_edge_level(f, 0, e + leaving, leaving_level(w));
    }
#pragma unroll 1
    for (uint32_t t = (uint32_t)w.thread; t < n_tree; t += w.THREADS) {
        const uint32_t ends = w.m.tree_ends[t];
        f.ends[0][e + n_leaving + t] = make_uint2(v + (ends & 0xffff), v + (ends >> 16));
        qfz_set_edge_level(f, 0, e + n_leaving + t, w.m.tree_level[t]);
    }
}

/* Stores the vertex and the greatest level on the way to it of the thread's pixel on the block's
 * rim; word: as make_components() returns it. */
template <typename WORK> QFZ_DEVICE void store_rim(WORK &w, typename WORK::KEY word)
{
    if (w.thread >= qfz_ring_count(w.box.h, w.box.w)) return;
    uint32_t cost = (uint32_t)(word >> 16);
    typename WORK::KEY hook = of_comp(w.m.best, (uint32_t)word & 0x7fff);
    for (; (hook & 0xffff) < ROOT; hook = w.m.best[hook & QFZ_STEP_MASK])
        cost = max(cost, hook_level(hook));
    const uint32_t v = (uint32_t)hook & QFZ_STEP_MASK;
    w.forest.rim[(int64_t)blockIdx.x * w.forest.rim_room + w.thread] =
        make_uint2(v == QFZ_STEP_MASK ? QFZ_NONE : w.m.first_vertex + v, cost);
}
