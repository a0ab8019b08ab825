/* SPDX-License-Identifier: MIT */
/* tree.c - the canonical alpha-tree of an image: trees of blocks, joined two by two.
 *
 * A group of blocks is halved recursively down to single blocks.  The trees of two halves are
 * joined as soon as both exist, so that the data is mostly in the cache.  Each half is a task. */
#include <omp.h>
#include <string.h>

#include "cpu/cpu.h"
#include "cpu/tree_parts.h"

typedef struct build {
    qfz_tree_work t;
    char *block_scratch; /* qfz_tree_block_bytes() for each thread */
} build;

/* Upper bound of the crossing edges of all blocks. */
static int64_t max_crossing_of_all(int connectivity, const qfz_cpu_blocks *in)
{
    const int64_t kinds = connectivity == 4 ? 1 : 3;
    return kinds * ((in->n_x - 1) * in->h + (in->n_y - 1) * in->w);
}

int64_t qfz_tree_room(const qfz_rule *rule, int64_t h, int64_t w)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, QFZ_CPU_BLOCK_SIDE);
    return 2 * (h * w + max_crossing_of_all(rule->connectivity, &in));
}

/* Offsets in the scratch memory behind its first address that is a multiple of 64. */
typedef struct scratch_layout {
    size_t blocks, seam, block_scratch, bytes;
} scratch_layout;

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static scratch_layout layout_of(const qfz_rule *rule, const qfz_cpu_blocks *in, int n_threads)
{
    const size_t crossing = (size_t)max_crossing_of_all(rule->connectivity, in);
    scratch_layout at = {0};
    at.seam = aligned((size_t)(in->n_y * in->n_x + 1) * sizeof(qfz_tree_block));
    at.block_scratch = at.seam + aligned(crossing * sizeof(qfz_seam_edge));
    at.bytes =
        at.block_scratch + aligned((size_t)n_threads * qfz_tree_block_bytes(rule->connectivity));
    return at;
}

static build lay_out_scratch(char *scratch, const qfz_rule *rule, int64_t h, int64_t w,
                             int n_threads)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, QFZ_CPU_BLOCK_SIDE);
    const scratch_layout at = layout_of(rule, &in, n_threads);
    char *const start = scratch + (64 - (uintptr_t)scratch % 64) % 64;
    return (build){.t = {.rule = rule,
                         .layout = in,
                         .blocks = (qfz_tree_block *)(void *)(start + at.blocks),
                         .seam = (qfz_seam_edge *)(void *)(start + at.seam)},
                   .block_scratch = start + at.block_scratch};
}

size_t qfz_tree_bytes(const qfz_rule *rule, int64_t h, int64_t w, int n_threads)
{
    const qfz_cpu_blocks in = qfz_cpu_blocks_of(h, w, QFZ_CPU_BLOCK_SIDE);
    return layout_of(rule, &in, n_threads).bytes + 64;
}

/* Assigns slots to each block. */
static void lay_out(const qfz_tree_work *t)
{
    uint32_t slot = 0, seam = 0;
    for (int64_t by = 0; by < t->layout.n_y; by++) {
        for (int64_t bx = 0; bx < t->layout.n_x; bx++) {
            const qfz_box box = qfz_cpu_blocks_box(&t->layout, by, bx);
            const int64_t n_px = qfz_box_h(box) * qfz_box_w(box);
            const uint32_t crossing =
                qfz_cpu_blocks_max_crossing(&t->layout, t->rule->connectivity, box);
            t->blocks[by * t->layout.n_x + bx] = (qfz_tree_block){.slot = slot, .seam = seam};
            slot += (uint32_t)n_px + crossing;
            seam += crossing;
        }
    }
}

/* Builds the tree of a group of blocks. */
static void build_group(const build *b, qfz_box group)
{
    const int64_t h = qfz_box_h(group), w = qfz_box_w(group);
    if (h == 1 && w == 1) {
        char *const scratch = b->block_scratch + (size_t)omp_get_thread_num() *
                                                     qfz_tree_block_bytes(b->t.rule->connectivity);
        qfz_tree_build_block(&b->t, group.y0, group.x0, scratch);
        return;
    }
    qfz_box one = group, other = group;
    if (w >= h)
        one.x1 = other.x0 = group.x0 + w / 2;
    else
        one.y1 = other.y0 = group.y0 + h / 2;
#pragma omp task firstprivate(one) if (h * w > 16)
    build_group(b, one);
    build_group(b, other);
#pragma omp taskwait
    if (w >= h)
        qfz_tree_join_columns(&b->t, group, one.x1);
    else
        qfz_tree_join_rows(&b->t, group, one.y1);
}

void qfz_tree_build(const qfz_image *image, const qfz_rule *rule, int n_threads, void *scratch,
                    uint32_t *parent, uint32_t *level, int64_t *n_nodes)
{
    build b = lay_out_scratch(scratch, rule, image->h, image->w, n_threads);
    b.t.image = image;
    b.t.leaf = parent;
    b.t.children = parent + image->h * image->w;
    b.t.node = (qfz_tree_node *)(void *)level;
    lay_out(&b.t);
#pragma omp parallel num_threads(n_threads)
#pragma omp single
    build_group(&b, (qfz_box){0, 0, b.t.layout.n_y, b.t.layout.n_x});
    qfz_tree_number(&b.t, n_threads, parent, level, n_nodes);
}
