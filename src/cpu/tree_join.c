/* SPDX-License-Identifier: MIT */
/* tree_join.c - inserts edges into finished trees: CONNECT of Carlinet, Kaci and Blin, An
 * alpha-tree algorithm for massively parallel architectures (2025).
 *
 * From both ends of an edge, the algorithm climbs to the component at the edge's level.  If the
 * two components differ, it joins them there, then merges their chains of ancestors by level
 * until they meet.  Where they meet, a node loses a child; tree_number.c removes nodes that are
 * left with one. */
#include "cpu/tree_parts.h"

/* The largest component of a pixel below some level: an inner node, or the pixel itself if slot is
 * QFZ_NONE; and its parent, QFZ_NONE at a root. */
typedef struct branch {
    uint32_t slot, up;
} branch;

/* The node that an alias represents.  Aliases on the way are shortened to skip one another. */
static inline uint32_t stands_for(qfz_tree_node *node, uint32_t slot)
{
    for (;;) {
        const uint32_t up = node[slot].parent;
        if (up == slot || node[up].level != node[slot].level) return slot;
        const uint32_t over = node[up].parent;
        if (node[over].level == node[slot].level) node[slot].parent = over;
        slot = up;
    }
}

static inline uint32_t parent_of(qfz_tree_node *node, uint32_t slot)
{
    const uint32_t up = node[slot].parent;
    return up == slot ? QFZ_NONE : stands_for(node, up);
}

static branch climb(const qfz_tree_work *t, uint32_t px, uint32_t level)
{
    qfz_tree_node *const node = t->node;
    uint32_t slot = QFZ_NONE, up = t->leaf[px];
    while (up != QFZ_NONE && node[up].level <= level) {
        slot = up;
        up = node[slot].parent;
        if (up == slot) up = QFZ_NONE;
    }
    if (up != QFZ_NONE) up = stands_for(node, up);
    return (branch){slot, up};
}

static void put_under(const qfz_tree_work *t, branch b, uint32_t px, uint32_t over)
{
    if (b.slot == QFZ_NONE)
        t->leaf[px] = over;
    else
        t->node[b.slot].parent = over;
    t->children[over]++;
}

/* The node of an edge's level over its two branches; spare is the edge's own slot. */
static uint32_t join_branches(const qfz_tree_work *t, uint32_t p, branch bp, uint32_t q, branch bq,
                              uint32_t level, uint32_t spare)
{
    qfz_tree_node *const node = t->node;
    const bool p_has = bp.slot != QFZ_NONE && node[bp.slot].level == level;
    const bool q_has = bq.slot != QFZ_NONE && node[bq.slot].level == level;
    if (p_has && q_has) {
        node[bq.slot].parent = bp.slot;
        t->children[bp.slot] += t->children[bq.slot];
        return bp.slot;
    }
    if (p_has) {
        put_under(t, bq, q, bp.slot);
        return bp.slot;
    }
    if (q_has) {
        put_under(t, bp, p, bq.slot);
        return bq.slot;
    }
    node[spare].level = level;
    t->children[spare] = 0;
    put_under(t, bp, p, spare);
    put_under(t, bq, q, spare);
    return spare;
}

/* Makes the union of two chains the ancestors of slot. */
static void merge_chains(const qfz_tree_work *t, uint32_t slot, uint32_t p, uint32_t q)
{
    qfz_tree_node *const node = t->node;
    while (p != q && p != QFZ_NONE && q != QFZ_NONE) {
        if (node[p].level > node[q].level) {
            const uint32_t other = p;
            p = q;
            q = other;
        }
        const uint32_t next = parent_of(node, p);
        node[slot].parent = p;
        slot = p;
        if (node[p].level == node[q].level) {
            const uint32_t next_q = parent_of(node, q);
            node[q].parent = p;
            t->children[p] += t->children[q] - 1;
            q = next_q;
        }
        p = next;
    }
    if (p == q && p != QFZ_NONE) t->children[p]--;
    const uint32_t last = p == QFZ_NONE ? q : p;
    node[slot].parent = last == QFZ_NONE ? slot : last;
}

static void insert(const qfz_tree_work *t, uint32_t p, uint32_t q, uint32_t level, uint32_t spare)
{
    const branch bp = climb(t, p, level), bq = climb(t, q, level);
    if (bp.slot == bq.slot && bp.slot != QFZ_NONE) return;
    merge_chains(t, join_branches(t, p, bp, q, bq, level, spare), bp.up, bq.up);
}

/* The pixels of a crossing edge. */
typedef struct ends {
    uint32_t p, q;
} ends;

static inline ends ends_of(const qfz_tree_work *t, uint32_t id)
{
    const qfz_edge_offsets offsets = qfz_edge_offsets_of((uint32_t)t->layout.w);
    const uint32_t kind = id % QFZ_EDGE_KINDS, a = id / QFZ_EDGE_KINDS;
    return (ends){a + offsets.from[kind], a + offsets.to[kind]};
}

static inline void fetch_leaves(const qfz_tree_work *t, ends e)
{
    __builtin_prefetch(&t->leaf[e.p]);
    __builtin_prefetch(&t->leaf[e.q]);
}

/* A prefetch at index QFZ_NONE has no effect. */
static inline void fetch_nodes(const qfz_tree_work *t, ends e)
{
    __builtin_prefetch(&t->node[t->leaf[e.p]]);
    __builtin_prefetch(&t->node[t->leaf[e.q]]);
}

/* Inserts n crossing edges of a block, from number `first` on.  The nodes of a climb are seldom in
 * the cache, so they are prefetched while earlier edges are inserted. */
static void insert_some(const qfz_tree_work *t, const qfz_tree_block *block, uint32_t first,
                        uint32_t n)
{
    enum { NODES_AHEAD = 2, LEAVES_AHEAD = 4 };
    const qfz_seam_edge *const edges = t->seam + block->seam;
    const uint32_t end = first + n, spare = block->slot + block->n_nodes;
    for (uint32_t i = first; i < end; i++) {
        if (i + LEAVES_AHEAD < end) fetch_leaves(t, ends_of(t, edges[i + LEAVES_AHEAD].id));
        if (i + NODES_AHEAD < end) fetch_nodes(t, ends_of(t, edges[i + NODES_AHEAD].id));
        const ends e = ends_of(t, edges[i].id);
        insert(t, e.p, e.q, edges[i].level, spare + i);
    }
}

static void insert_corner(const qfz_tree_work *t, const qfz_tree_block *block)
{
    insert_some(t, block, block->n_right + block->n_below, block->n_corner);
}

void qfz_tree_join_columns(const qfz_tree_work *t, qfz_box blocks, int64_t at)
{
    for (int64_t by = blocks.y0; by < blocks.y1; by++) {
        const qfz_tree_block *const block = &t->blocks[by * t->layout.n_x + at - 1];
        insert_some(t, block, 0, block->n_right);
        if (by + 1 < blocks.y1) insert_corner(t, block);
    }
}

void qfz_tree_join_rows(const qfz_tree_work *t, qfz_box blocks, int64_t at)
{
    for (int64_t bx = blocks.x0; bx < blocks.x1; bx++) {
        const qfz_tree_block *const block = &t->blocks[(at - 1) * t->layout.n_x + bx];
        insert_some(t, block, block->n_right, block->n_below);
        if (bx + 1 < blocks.x1) insert_corner(t, block);
    }
}
