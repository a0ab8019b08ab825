/* SPDX-License-Identifier: MIT */
/* tree_block.c - the tree of one block by Kruskal's algorithm, in the first two caches. */
#include <string.h>

#include "cpu/spanning.h"
#include "cpu/tree_parts.h"

typedef struct block_scratch {
    uint16_t find[QFZ_CPU_BLOCK_PX];       /* disjoint sets of pixels */
    uint16_t top[QFZ_CPU_BLOCK_PX];        /* by root of a set: the node of the set */
    uint16_t parent[2 * QFZ_CPU_BLOCK_PX]; /* pixels, then nodes by level */
    uint16_t
        number[2 * QFZ_CPU_BLOCK_PX]; /* by node: its place among the nodes that are no aliases */
    uint16_t joins[QFZ_CPU_BLOCK_PX]; /* by node: number of joins of two sets at it */
    uint32_t level[QFZ_CPU_BLOCK_PX];
    int32_t n_nodes;
} block_scratch;

/* One block under construction. */
typedef struct builder {
    const qfz_tree_work *t;
    qfz_tree_block *block;
    qfz_box box;
    block_scratch *s;
} builder;

static size_t struct_bytes(void)
{
    return (sizeof(block_scratch) + 63) / 64 * 64;
}

size_t qfz_tree_block_bytes(int connectivity)
{
    return struct_bytes() + qfz_block_edges_bytes(connectivity);
}

/* ---- Kruskal's algorithm in two passes, sets and then nodes, so that neither waits for the
 * other. */

static void start_sets(block_scratch *s)
{
    for (int i = 0; i < QFZ_CPU_BLOCK_PX; i++)
        s->top[i] = (uint16_t)i;
    qfz_spanning_start(s->find, QFZ_CPU_BLOCK_PX);
    for (int i = 0; i < 2 * QFZ_CPU_BLOCK_PX; i++)
        s->parent[i] = (uint16_t)i;
    memset(s->joins, 0, sizeof s->joins);
}

/* Nodes are numbered by ascending level, so a top is of the current level if its number is not
 * below the first number of that level.  The two tops get a node of the current level as their
 * parent: the later top if it is of that level (if the other one is, too, it becomes an alias),
 * else a new node. */
static void grow_tree(block_scratch *s, const uint64_t *forest, int32_t n)
{
    uint16_t *const top = s->top, *const parent = s->parent;
    uint32_t node = QFZ_CPU_BLOCK_PX, first = QFZ_CPU_BLOCK_PX, level = 0;
    for (int32_t i = 0; i < n; i++) {
        const uint32_t p = qfz_edge_p(forest[i]), tp = top[p], tq = top[qfz_edge_q(forest[i])];
        first = qfz_edge_level(forest[i]) == level ? first : node;
        level = qfz_edge_level(forest[i]);
        const uint32_t later = tp > tq ? tp : tq;
        const bool is_new = later < first;
        const uint32_t over = is_new ? node : later;
        s->level[node - QFZ_CPU_BLOCK_PX] = level;
        s->joins[over - QFZ_CPU_BLOCK_PX]++;
        parent[tp] = parent[tq] = (uint16_t)over;
        top[p] = (uint16_t)over;
        node += is_new;
    }
    s->n_nodes = (int32_t)(node - QFZ_CPU_BLOCK_PX);
}

/* ---- From the block's numbers to slots. */

/* Parents come after their children, so a descending loop meets an alias after the node that it
 * represents.  Each set that a node joins is a child, and there is one more set than joins. */
static void write_nodes(const builder *b)
{
    block_scratch *const s = b->s;
    const uint32_t base = b->block->slot;
    qfz_tree_node *const node = b->t->node + base;
    uint32_t *const children = b->t->children + base;
    uint32_t n = 0;
    for (int32_t i = s->n_nodes - 1; i >= 0; i--) {
        const uint32_t me = (uint32_t)i + QFZ_CPU_BLOCK_PX, up = s->parent[me];
        if (up != me && s->level[up - QFZ_CPU_BLOCK_PX] == s->level[i]) {
            s->number[me] = s->number[up];
            children[s->number[up]] += s->joins[i];
            continue;
        }
        s->number[me] = (uint16_t)n;
        node[n] = (qfz_tree_node){base + s->number[up], s->level[i]};
        children[n++] = s->joins[i] + 1u;
    }
    b->block->n_nodes = n;
}

/* Writes the leaves of a row; number: by node. */
static void write_row(const uint16_t *restrict parent, int n, const uint16_t *restrict number,
                      uint32_t base, uint32_t *restrict leaf)
{
    for (int i = 0; i < n; i++) {
        const uint32_t up = base + number[parent[i]];
        leaf[i] = parent[i] < QFZ_CPU_BLOCK_PX ? QFZ_NONE : up;
    }
}

static void write_leaves(const builder *b)
{
    const uint32_t base = b->block->slot;
    const int n = (int)qfz_box_w(b->box);
    for (int64_t y = b->box.y0; y < b->box.y1; y++)
        write_row(b->s->parent + (y - b->box.y0) * n, n, b->s->number, base,
                  b->t->leaf + y * b->t->layout.w + b->box.x0);
}

static void clear_crossing_slots(const qfz_tree_work *t, const qfz_tree_block *block)
{
    const uint32_t n = qfz_tree_block_slots(block);
    for (uint32_t i = block->n_nodes; i < n; i++)
        t->node[block->slot + i] = (qfz_tree_node){QFZ_NONE, 0};
}

void qfz_tree_build_block(const qfz_tree_work *t, int64_t by, int64_t bx, void *scratch)
{
    qfz_tree_block *const block = &t->blocks[by * t->layout.n_x + bx];
    const builder b = {
        .t = t, .block = block, .box = qfz_cpu_blocks_box(&t->layout, by, bx), .s = scratch};
    qfz_block_edges *const edges = (void *)((char *)scratch + struct_bytes());
    qfz_seam seam = {.edges = t->seam + block->seam};
    int32_t n_edges;
    qfz_block_find(edges, t->image, t->rule, b.box, &seam, NULL, NULL);
    block->n_right = seam.n_right;
    block->n_below = seam.n_below;
    block->n_corner = seam.n_corner;
    uint64_t *const sorted = qfz_block_sort(edges, &n_edges);
    start_sets(b.s);
    grow_tree(b.s, sorted, qfz_spanning_keep(b.s->find, sorted, n_edges, false));
    write_nodes(&b);
    write_leaves(&b);
    clear_crossing_slots(t, b.block);
}
