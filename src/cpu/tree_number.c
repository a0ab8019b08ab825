/* SPDX-License-Identifier: MIT */
/* tree_number.c - turns slots into the canonical tree: aliases and nodes with one child are
 * replaced by the next remaining node above them; the remaining nodes are numbered by block.
 *
 * All steps work in the memory of the result.  First, the numbers of slots overwrite their counts
 * of children, and final parents overwrite the parents in the nodes.  Then the numbers are no
 * longer needed, and the nodes' parents overwrite them.  Levels, still in the nodes, move to their
 * places last. */
#include <string.h>

#include "cpu/tree_parts.h"

/* A parent with this bit belongs to a slot that is removed. */
#define GONE 0x80000000u

static bool stays(const qfz_tree_node *node, uint32_t children, uint32_t slot)
{
    const qfz_tree_node me = node[slot];
    if (me.parent == QFZ_NONE || children < 2) return false;
    return me.parent == slot || node[me.parent].level != me.level;
}

/* Counts the remaining slots of a block, and marks the others. */
static void mark_block(const qfz_tree_work *t, qfz_tree_block *block)
{
    qfz_tree_node *const node = t->node;
    const uint32_t *const children = t->children;
    uint32_t n = 0;
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++) {
        const bool stay = stays(node, children[i], i);
        node[i].parent |= stay ? 0 : GONE;
        n += stay;
    }
    block->number = n;
}

/* Removed slots form a list: each has the number of the removed slot before it, the first one
 * QFZ_NONE. */
static void number_block(const qfz_tree_work *t, qfz_tree_block *block)
{
    const qfz_tree_node *const node = t->node;
    uint32_t *const children = t->children;
    uint32_t number = block->number, last_gone = QFZ_NONE;
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++) {
        const bool gone = node[i].parent & GONE;
        children[i] = gone ? last_gone : number;
        last_gone = gone ? i : last_gone;
        number += !gone;
    }
    block->last_gone = last_gone;
}

/* A removed slot gets the number of the first remaining slot above it, or QFZ_NONE. */
static void number_gone(const qfz_tree_work *t, const qfz_tree_block *block)
{
    for (uint32_t i = block->last_gone, before; i != QFZ_NONE; i = before) {
        uint32_t slot = i, parent = t->node[i].parent;
        before = t->children[i];
        if (parent == QFZ_NONE) continue;
        while (parent & GONE && (parent & ~GONE) != slot) {
            slot = parent & ~GONE;
            parent = t->node[slot].parent;
        }
        t->children[i] = parent & GONE ? QFZ_NONE : t->children[slot];
    }
}

static void write_leaf_parents(const qfz_tree_work *t, qfz_box box, uint32_t *parent)
{
    const uint32_t *const number = t->children;
    for (int64_t y = box.y0; y < box.y1; y++) {
        const uint32_t first = (uint32_t)(y * t->layout.w + box.x0);
        const uint32_t end = first + (uint32_t)qfz_box_w(box);
        for (uint32_t px = first; px < end; px++) {
            const uint32_t slot = parent[px];
            const uint32_t up = slot == QFZ_NONE ? QFZ_NONE : number[slot];
            parent[px] = up == QFZ_NONE ? px : up;
        }
    }
}

/* The remaining nodes of a block get the numbers of their parents. */
static void resolve_node_parents(const qfz_tree_work *t, const qfz_tree_block *block)
{
    qfz_tree_node *const node = t->node;
    const uint32_t *const number = t->children;
    uint32_t me = block->number;
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++) {
        const uint32_t slot = node[i].parent;
        if (slot & GONE) continue;
        const uint32_t up = number[slot];
        node[i].parent = up == QFZ_NONE ? me : up;
        me++;
    }
}

/* Moves parents to their places, and levels, packed, to where the block's nodes begin. */
static void write_nodes(const qfz_tree_work *t, const qfz_tree_block *block, uint32_t *parent,
                        uint32_t *level)
{
    const qfz_tree_node *const node = t->node;
    uint32_t *up = parent + block->number, *packed = level + 2 * (size_t)block->slot;
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++) {
        const qfz_tree_node me = node[i];
        if (me.parent & GONE) continue;
        *up++ = me.parent;
        *packed++ = me.level;
    }
}

static void move_levels(const qfz_tree_block *block, uint32_t *level)
{
    const uint32_t n = block[1].number - block->number;
    memmove(level + block->number, level + 2 * (size_t)block->slot, n * sizeof *level);
}

/* The first block whose packed levels do not lie before their places.  Nodes are larger than
 * levels, so the levels of no later block do. */
static int64_t first_behind(const qfz_tree_work *t, int64_t n_blocks)
{
    int64_t i = 0;
    while (i < n_blocks && 2 * (size_t)t->blocks[i].slot < t->blocks[i].number)
        i++;
    return i;
}

/* Turns counts into first numbers, with one more after the last block; returns the number of all
 * nodes. */
static int64_t sum_counts(const qfz_tree_work *t, int64_t n_blocks)
{
    uint32_t at = (uint32_t)(t->layout.h * t->layout.w);
    for (int64_t i = 0; i < n_blocks; i++) {
        const uint32_t n = t->blocks[i].number;
        t->blocks[i].number = at;
        at += n;
    }
    t->blocks[n_blocks].number = at;
    return at;
}

/* Called by all threads of a team.  Levels that move up are moved from the last block to the first,
 * levels that move down from the first to the last: so none is overwritten, and the two kinds do
 * not interfere. */
static void move_all_levels(const qfz_tree_work *t, int64_t n_blocks, uint32_t *level)
{
    const int64_t behind = first_behind(t, n_blocks);
#pragma omp sections
    {
#pragma omp section
        for (int64_t i = behind; i-- > 0;)
            move_levels(&t->blocks[i], level);
#pragma omp section
        for (int64_t i = behind; i < n_blocks; i++)
            move_levels(&t->blocks[i], level);
    }
}

void qfz_tree_number(const qfz_tree_work *t, int n_threads, uint32_t *parent, uint32_t *level,
                     int64_t *n_nodes)
{
    const int64_t n_blocks = t->layout.n_y * t->layout.n_x;
#pragma omp parallel num_threads(n_threads)
    {
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            mark_block(t, &t->blocks[i]);
#pragma omp single
        *n_nodes = sum_counts(t, n_blocks);
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            number_block(t, &t->blocks[i]);
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            number_gone(t, &t->blocks[i]);
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++) {
            const int64_t by = i / t->layout.n_x, bx = i % t->layout.n_x;
            write_leaf_parents(t, qfz_cpu_blocks_box(&t->layout, by, bx), parent);
            resolve_node_parents(t, &t->blocks[i]);
        }
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            write_nodes(t, &t->blocks[i], parent, level);
        move_all_levels(t, n_blocks, level);
#pragma omp for
        for (int64_t y = 0; y < t->layout.h; y++)
            memset(level + y * t->layout.w, 0, (size_t)t->layout.w * sizeof *level);
    }
}
