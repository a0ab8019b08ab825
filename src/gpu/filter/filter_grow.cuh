/* SPDX-License-Identifier: MIT */
/* filter_grow.cuh - how a light component grows over the tile, by one thread.
 *
 * The pixels of a component are a tree of parents.  Those of its pixels that have edges out of the
 * component are a skew heap (Sleator, Tarjan, Self-adjusting heaps, SIAM Journal on Computing 15,
 * 1986), in the order of each pixel's first edge out of the component.  A pixel's edge may
 * meanwhile be inside the component; it is looked at again when the pixel is on top.  A component
 * that comes from a block (filter_block.cu) has a list of pixels first, which becomes a heap when
 * needed.
 *
 * A component belongs to one thread, until this thread has marked its first edge.  Then no thread
 * changes it before a second component marks the same edge.  The result of the atomic operation
 * that marks the edge shows which thread was second; both components belong to this thread from
 * then on.  Other threads may read parents at any time.  They see roots of other components than
 * their own: which ones does not matter.
 *
 * The template parameter WORK is tile_work of filter_tile.cu. */
#pragma once

#include "gpu/filter/filter_edges.cuh"

/* ---- Heaps ----------------------------------------------------------------------------------- */

template <typename WORK> QFZ_DEVICE qfz_filter_edge qfz_filter_edge_of(const WORK &w, uint32_t p)
{
    const int2 at = w.at(p);
    const int side = w.side(p);
    return {at, side, w.edges.level(at, side)};
}

/* The top of the heap that two heaps become. */
template <typename WORK> QFZ_DEVICE uint32_t qfz_filter_meld(const WORK &w, uint32_t a, uint32_t b)
{
    if (a == WORK::NIL || b == WORK::NIL) return a == WORK::NIL ? b : a;
    qfz_filter_edge of_a = qfz_filter_edge_of(w, a), of_b = qfz_filter_edge_of(w, b);
    if (qfz_filter_is_before(w.edges, of_b, of_a)) {
        const uint32_t c = a;
        const qfz_filter_edge of_c = of_a;
        a = b;
        of_a = of_b;
        b = c;
        of_b = of_c;
    }
    const uint32_t top = a;
    for (;;) { /* a is before b, and gets b below it */
        const uint32_t left = w.left(a), right = w.right(a);
        if (right == WORK::NIL) {
            w.set_node(a, of_a.side, b, left);
            return top;
        }
        const qfz_filter_edge of_right = qfz_filter_edge_of(w, right);
        if (qfz_filter_is_before(w.edges, of_b, of_right)) {
            w.set_node(a, of_a.side, b, left);
            a = b;
            of_a = of_b;
            b = right;
            of_b = of_right;
        } else {
            w.set_node(a, of_a.side, right, left);
            a = right;
            of_a = of_right;
        }
    }
}

/* True for pixels that are not in the component of this root. */
template <typename WORK> struct qfz_filter_is_out {
    const WORK &w;
    uint32_t root;

    QFZ_DEVICE bool operator()(int2 other) const
    {
        return w.find(w.node(other)) != root;
    }
};

/* The heap of a component.  A list begins at the top, which has the first edge of the component;
 * the first edges of its other pixels are not known yet. */
template <typename WORK> QFZ_DEVICE uint32_t qfz_filter_heap(const WORK &w, uint32_t root)
{
    const uint32_t top = w.top(root);
    const qfz_filter_is_out<WORK> is_out = {w, root};
    if (!w.is_list(top)) return top;
    uint32_t heap = top, next = w.right(top);
    w.set_node(top, w.side(top), WORK::NIL, WORK::NIL);
    while (next != WORK::NIL) {
        const uint32_t p = next;
        const int side = qfz_filter_first_edge(w.edges, w.at(p), is_out).side;
        next = w.right(p);
        if (side == QFZ_FILTER_NO_SIDE) continue;
        w.set_node(p, side, WORK::NIL, WORK::NIL);
        heap = qfz_filter_meld(w, heap, p);
    }
    return heap;
}

/* Brings the first edge out of the component of this root to the top of its heap; returns the top,
 * NIL if no edge leaves the component. */
template <typename WORK>
QFZ_DEVICE uint32_t qfz_filter_settle(const WORK &w, uint32_t root, uint32_t top)
{
    const qfz_filter_is_out<WORK> is_out = {w, root};
    while (top != WORK::NIL) {
        const int2 at = w.at(top);
        if (is_out(qfz_filter_other(at, w.side(top)))) break;
        const uint32_t rest = qfz_filter_meld(w, w.left(top), w.right(top));
        const int side = qfz_filter_first_edge(w.edges, at, is_out).side;
        if (side == QFZ_FILTER_NO_SIDE) {
            top = rest;
            continue;
        }
        w.set_node(top, side, WORK::NIL, WORK::NIL);
        top = qfz_filter_meld(w, top, rest);
    }
    return top;
}

/* ---- Components ------------------------------------------------------------------------------ */

/* A light component with a first edge, that of the node at the top. */
struct qfz_filter_component {
    uint32_t root, top;
    uint64_t mass;
};

template <typename WORK> QFZ_DEVICE bool qfz_filter_mark(const WORK &w, uint32_t top)
{
    w.fence();
    const bool was_marked = w.mark(w.at(top), w.side(top));
    w.fence();
    return was_marked;
}

/* Joins component *c to the one that has marked the same first edge, and marks the first edge of
 * the result; true if that one was marked before, so that *c grows on. */
template <typename WORK> QFZ_DEVICE bool qfz_filter_grow(const WORK &w, qfz_filter_component *c)
{
    const uint64_t least = w.edges.f.least;
    uint32_t root = c->root, other = w.find(w.node(qfz_filter_other(w.at(c->top), w.side(c->top))));
    const uint64_t other_mass = w.mass(other);
    const uint64_t mass = c->mass >= least - other_mass ? least : c->mass + other_mass;
    if (other_mass > c->mass) {
        const uint32_t lighter = root;
        root = other;
        other = lighter;
    }
    uint32_t top = WORK::NIL;
    if (mass < least) top = qfz_filter_meld(w, qfz_filter_heap(w, root), qfz_filter_heap(w, other));
    w.link(other, root);
    top = qfz_filter_settle(w, root, top);
    w.set_root(root, top, mass);
    *c = qfz_filter_component{root, top, mass};
    return top != WORK::NIL && qfz_filter_mark(w, top);
}
