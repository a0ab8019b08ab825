/* SPDX-License-Identifier: MIT */
/* tree_number.c - from slots to the canonical tree: aliases and nodes with one child give way to
 * the next node above that stays; those that stay are numbered by block.
 *
 * Both results double as scratch until they are written: numbers of nodes are kept where the
 * children were counted, in level, whose own values come last. */
#include <string.h>

#include "cpu/tree_parts.h"

/* A parent with this bit belongs to a slot that does not stay. */
#define GONE 0x80000000u

static bool stays(const qfz_tree_work *t, uint32_t slot)
{
    const qfz_tree_node me = t->node[slot];
    if (me.parent == QFZ_NONE || t->children[slot] < 2) return false;
    return me.parent == slot || t->node[me.parent].level != me.level;
}

/* Numbers the slots of a block that stay from 0, and marks the others. */
static void number_block(const qfz_tree_work *t, qfz_tree_block *block)
{
    uint32_t n = 0;
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++) {
        if (stays(t, i))
            t->children[i] = n++;
        else
            t->node[i].parent |= GONE;
    }
    block->number = n;
}

static void add_number(const qfz_tree_work *t, const qfz_tree_block *block)
{
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++)
        t->children[i] += block->number;
}

/* The number of the first node from slot up that stays, or `otherwise` if there is none. */
static inline uint32_t number_from(const qfz_tree_work *t, uint32_t slot, uint32_t otherwise)
{
    for (;;) {
        const uint32_t parent = t->node[slot].parent;
        if (!(parent & GONE)) return t->children[slot];
        if ((parent & ~GONE) == slot) return otherwise;
        slot = parent & ~GONE;
    }
}

static void write_leaf_parents(const qfz_tree_work *t, qfz_box box, uint32_t *parent)
{
    for (int64_t y = box.y0; y < box.y1; y++) {
        for (int64_t x = box.x0; x < box.x1; x++) {
            const uint32_t px = (uint32_t)(y * t->w + x), up = parent[px];
            parent[px] = up == QFZ_NONE ? px : number_from(t, up, px);
        }
    }
}

static void write_node_parents(const qfz_tree_work *t, const qfz_tree_block *block,
                               uint32_t *parent)
{
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    for (uint32_t i = block->slot; i < end; i++) {
        const uint32_t up = t->node[i].parent;
        if (up & GONE) continue;
        const uint32_t me = t->children[i];
        parent[me] = up == i ? me : number_from(t, up, me);
    }
}

static void write_levels(const qfz_tree_work *t, const qfz_tree_block *block, uint32_t *level)
{
    const uint32_t end = block->slot + qfz_tree_block_slots(block);
    uint32_t at = block->number;
    for (uint32_t i = block->slot; i < end; i++)
        if (!(t->node[i].parent & GONE)) level[at++] = t->node[i].level;
}

/* Counts become first numbers; returns the number of all nodes. */
static int64_t sum_counts(const qfz_tree_work *t)
{
    uint32_t at = (uint32_t)(t->h * t->w);
    for (int64_t i = 0; i < t->blocks_y * t->blocks_x; i++) {
        const uint32_t n = t->blocks[i].number;
        t->blocks[i].number = at;
        at += n;
    }
    return at;
}

void qfz_tree_number(const qfz_tree_work *t, int n_threads, uint32_t *parent, uint32_t *level,
                     int64_t *n_nodes)
{
    const int64_t n_blocks = t->blocks_y * t->blocks_x;
#pragma omp parallel num_threads(n_threads)
    {
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            number_block(t, &t->blocks[i]);
#pragma omp single
        *n_nodes = sum_counts(t);
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            add_number(t, &t->blocks[i]);
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++) {
            const int64_t by = i / t->blocks_x, bx = i % t->blocks_x;
            write_leaf_parents(t, qfz_tree_block_box(t, by, bx), parent);
            write_node_parents(t, &t->blocks[i], parent);
        }
#pragma omp for
        for (int64_t i = 0; i < n_blocks; i++)
            write_levels(t, &t->blocks[i], level);
#pragma omp for
        for (int64_t y = 0; y < t->h; y++)
            memset(level + y * t->w, 0, (size_t)t->w * sizeof *level);
    }
}
