/* SPDX-License-Identifier: MIT */
/* block_steps.cuh - the steps of a block kernel that all variants share. */
#pragma once

#include "gpu/forest/block_graph.cuh"
#include "gpu/forest/block_settle.cuh"

/* The pixel of entry i of leave[]. */
QFZ_DEVICE int leaving_pixel(int i)
{
    const int at = i % QFZ_SIDE, side = i - at;
    const int y = side == TOP ? 0 : side == BOTTOM ? QFZ_SIDE - 1 : at;
    const int x = side == LEFT ? 0 : side == RIGHT ? QFZ_SIDE - 1 : at;
    return y * QFZ_SIDE + x;
}

/* The thread's pixel of the block's rim; threads beyond it get the last one. */
template <typename WORK> QFZ_DEVICE int ring_pixel(const WORK &w)
{
    const int last = qfz_ring_count(w.box.h, w.box.w) - 1;
    const int2 place = qfz_ring_pixel(w.box.h, w.box.w, min(w.thread, last));
    return place.y * QFZ_SIDE + place.x;
}

template <typename WORK> QFZ_DEVICE void begin(WORK &w)
{
    if (w.thread == 0)
        w.m.n_numbers = w.m.n_list = w.m.n_next = w.m.n_tree = w.m.n_vertices = w.m.n_leaving =
            w.m.n_open = 0;
    const uint32_t ones = 0xffffffffu; /* all bits set: NO_KEY */
    uint4 *const best = reinterpret_cast<uint4 *>(w.m.best + ACTIVE);
#pragma unroll 1
    for (int i = w.thread; i < (COMPS - ACTIVE) * (int)sizeof *w.m.best / (int)sizeof *best;
         i += w.THREADS)
        best[i] = make_uint4(ones, ones, ones, ones);
}

/* Sets the names of components that wait from the first round on, and of the first few others, in
 * case there is no round. */
template <typename WORK> QFZ_DEVICE void begin_names(WORK &w)
{
    const uint32_t c = (uint32_t)w.thread, n_waiting = w.m.n_numbers & 0xffff;
    if (c >= ACTIVE) return;
    w.m.name[c] = (uint16_t)(c * 4 | WAITS | (c < n_waiting ? 0 : ENDED));
    if (c < QFZ_SPARE) w.m.name[ACTIVE + c] = (uint16_t)((ACTIVE + c) * 4);
}

/* From chosen ways, which publish() and the tops have made visible, to components in comp[].
 * Returns the word with which store_rim() begins. */
template <typename WORK, typename CHOSEN>
QFZ_DEVICE typename WORK::KEY make_components(WORK &w, const CHOSEN &p,
                                              uint32_t comp[WORK::OWN_ROWS + 1])
{
    const int on_ring = ring_pixel(w);
    const typename WORK::KEY top = w.m.top[on_ring];
    number(w, p);
    __syncthreads();
    begin_names(w);
    settle(w, comp);
    if (w.thread < 4 * QFZ_SIDE)
        w.m.leave_comp[w.thread] = w.m.pixel()[leaving_pixel(w.thread)] & 0x7fff;
    return top << 16 | w.m.pixel()[on_ring];
}

/* A thread's pixels after the first round, and those of the row below: components, tops, and masks
 * of the edges between two components. */
template <typename WORK, typename BETWEEN> struct settled_px {
    uint32_t comp[WORK::OWN_ROWS + 1];
    typename WORK::PAIR top[WORK::OWN_ROWS + 1];
    BETWEEN between;

    QFZ_DEVICE void set_top(const WORK &, int j, const typename WORK::PAIR &pair)
    {
        top[j] = pair;
    }
    QFZ_DEVICE typename WORK::PAIR top_at(const WORK &, int j) const
    {
        return top[j];
    }
};

/* Stores the tops of a thread's pixels of row j where other threads read them. */
template <typename WORK> QFZ_DEVICE void show_top(WORK &w, int j, const typename WORK::PAIR &pair)
{
    store_pair(w.m.top + 2 * two_at(w, j), pair);
}

/* Stores the tops of a thread's pixels, unless they are SHOWN already, and reads those of the row
 * below; sets the tops of s. */
template <bool SHOWN, typename WORK, typename SETTLED_PX>
QFZ_DEVICE void show_tops(WORK &w, const typename WORK::PAIR top[WORK::OWN_ROWS], SETTLED_PX &s)
{
    QFZ_EACH (j, WORK::OWN_ROWS) {
        if (!SHOWN) show_top(w, j, top[j]);
        s.set_top(w, j, top[j]);
    }
    __syncthreads();
    s.set_top(w, WORK::OWN_ROWS, load_pair(w.m.top + 2 * below(w)));
}

/* Appends the needed edges to the right and down that join two components to the list; returns the
 * masks of all edges that join two components. */
template <typename WORK>
QFZ_DEVICE edge_masks collect(WORK &w, const four_edges<WORK> &edges,
                              const uint32_t comp[WORK::OWN_ROWS + 1])
{
    uint32_t right[WORK::OWN_ROWS];
    edge_masks between = {0, 0};
    QFZ_EACH (j, WORK::OWN_ROWS) {
        right[j] = shifted(comp[j], of_next_lane(comp[j]));
        between.right += ones_of(comp[j] ^ right[j]) << (2 * j);
        between.down += ones_of(comp[j] ^ comp[j + 1]) << (2 * j);
    }
    const uint32_t open_r = between.right & edges.needed_r, open_d = between.down & edges.needed_d;
    enum { BYTES = sizeof(typename WORK::LEVEL) };
    uint32_t at = BYTES * qfz_take(&w.m.n_list, (uint32_t)(__popc(open_r) + __popc(open_d)));
    auto append = [&](uint32_t is_open, uint32_t ends, uint32_t level) {
        if (!is_open) return;
        at_byte(w.m.ends, at * (uint32_t)(sizeof(uint32_t) / BYTES)) = ends;
        at_byte(w.m.level, at) = (typename WORK::LEVEL)level;
        at += BYTES;
    };
    QFZ_EACH (j, WORK::OWN_ROWS) {
        const uint32_t own = comp[j], under = comp[j + 1];
        append(open_r >> (2 * j) & 1, own, item_of(edges.right[j], 0));
        append(open_r >> (2 * j + 16) & 1, right[j], item_of(edges.right[j], 1));
        append(open_d >> (2 * j) & 1, low_halves(own, under), item_of(edges.down[j], 0));
        append(open_d >> (2 * j + 16) & 1, high_halves(own, under), item_of(edges.down[j], 1));
    }
    return between;
}

/* The warp's part of the list; it begins where entries can be loaded by fours. */
template <typename WORK> QFZ_DEVICE list_part part_of_list(const WORK &w)
{
    const uint32_t n = w.m.n_list, each = (n / w.WARPS + 4) & ~3u;
    const uint32_t first = min((uint32_t)w.warp * each, n);
    return {first, min(each, n - first)};
}

/* Steps rounds and span: from the list to what the block adds to the graph of all blocks. Calls
 * after_list(number of rounds) when the list is dead, and returns its result; calls after_choice()
 * while lightest[] has the first choices of vertices and no thread writes best[]. */
template <typename WORK, typename AFTER_LIST, typename AFTER_CHOICE>
QFZ_DEVICE auto make_graph(WORK &w, typename WORK::KEY rim, AFTER_LIST after_list,
                           AFTER_CHOICE after_choice)
{
    graph_places places;
    list_part part = part_of_list(w);
    const uint32_t n_rounds = rounds(w, part);
    name_vertices(w);
    begin_span(w);
    __syncthreads();
    place_vertices(w, places);
    span(w, part);
    place_edges(w, places);
    const first_choice<typename WORK::KEY> choice = choose_first(w);
    const auto result = after_list(n_rounds);
    share_places(w, places);
    __syncthreads();
    store_graph(w, places.leaving);
    store_first(w, choice);
    after_choice();
    store_rim(w, rim);
    __syncthreads();
    return result;
}
