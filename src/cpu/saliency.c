/* SPDX-License-Identifier: MIT */
/* saliency.c - the minimax level of every edge of a contracted image. */
#include <string.h>

#include "cpu/contract.h"

/* One block, or the two on both sides of a seam. */
typedef struct side {
    const qfz_contracted_block *block;
    const uint32_t *hook, *level;
    uint32_t at; /* the hook, or root, where the climb stands */
    uint32_t key;
} side;

/* The minimax level from here on: at two different roots. */
static uint32_t between_roots(const qfz_contraction *c, uint32_t key, uint32_t p, uint32_t q)
{
    if (p == QFZ_NONE || q == QFZ_NONE) return QFZ_NONE;
    const uint32_t over = qfz_forest_minimax(&c->forest, p, q);
    return over > key ? over : key;
}

static uint32_t vertex_at(const qfz_contracted_block *block, uint32_t root)
{
    const uint32_t vertex = root >> QFZ_HOOK_BITS & ~QFZ_ROOT;
    return vertex == QFZ_CLOSED ? QFZ_NONE : block->vertex + vertex;
}

/* Of two different places in a block.  Whichever hook is the lower is the next; two of one number
 * are the same pixel. */
static inline uint32_t inside(const qfz_contraction *c, const qfz_contracted_block *block,
                              const uint32_t *hook, const uint32_t *level, uint32_t p, uint32_t q)
{
    uint32_t a = hook[p], b = hook[q], last = QFZ_ROOT_HOOK;
    do {
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        if (low >= QFZ_ROOT_HOOK)
            return between_roots(c, last == QFZ_ROOT_HOOK ? 0 : level[last >> QFZ_HOOK_BITS],
                                 vertex_at(block, a), vertex_at(block, b));
        last = low;
        a = hook[low & QFZ_HOOK_PLACE];
        b = high;
    } while (a != b);
    return level[last >> QFZ_HOOK_BITS];
}

/* The root that a pixel's climb ends at, and the last level on its way. */
static uint32_t climb(const qfz_contraction *c, int64_t y, int64_t x, uint32_t *key)
{
    const int64_t by = y / c->in_blocks.side, bx = x / c->in_blocks.side;
    const qfz_box box = qfz_blocks_box(&c->in_blocks, by, bx);
    const qfz_contracted_block *const block = &c->blocks[by * c->in_blocks.n_x + bx];
    const uint32_t *const hook = c->hook + block->px, *const level = c->level + block->px;
    uint32_t at = hook[(y - box.y0) * qfz_box_w(box) + x - box.x0], last = QFZ_ROOT_HOOK;
    for (; at < QFZ_ROOT_HOOK; at = hook[at & QFZ_HOOK_PLACE])
        last = at;
    if (last != QFZ_ROOT_HOOK && level[last >> QFZ_HOOK_BITS] > *key)
        *key = level[last >> QFZ_HOOK_BITS];
    return vertex_at(block, at);
}

static uint32_t across(const qfz_contraction *c, int64_t y, int64_t x, int64_t v, int64_t u)
{
    uint32_t key = 0;
    const uint32_t p = climb(c, y, x, &key), q = climb(c, v, u, &key);
    return between_roots(c, key, p, q);
}

/* Is there an edge inside the image? */
static bool has_edge(const qfz_image *image, int64_t y, int64_t x, int64_t v, int64_t u)
{
    if (v >= image->h || u < 0 || u >= image->w) return false;
    return !image->valid || (image->valid[y * image->w + x] && image->valid[v * image->w + u]);
}

/* Edges of one row of a block in one direction; x0 <= x < x1 are those that stay in the block. */
static void query_row(const qfz_contraction *c, const qfz_image *image, qfz_box box, int64_t y,
                      int dir, uint32_t *keys)
{
    const qfz_contracted_block *const block =
        &c->blocks[box.y0 / c->in_blocks.side * c->in_blocks.n_x + box.x0 / c->in_blocks.side];
    const uint32_t *const hook = c->hook + block->px, *const level = c->level + block->px;
    const int64_t w = qfz_box_w(box), v = y + qfz_dir_dy[dir];
    const uint32_t row = (uint32_t)((y - box.y0) * w);
    const uint32_t to = (uint32_t)(qfz_dir_dy[dir] * w + qfz_dir_dx[dir]);
    for (int64_t x = box.x0; x < box.x1; x++) {
        const int64_t u = x + qfz_dir_dx[dir];
        uint32_t *const key = &keys[y * image->w + x];
        if (!has_edge(image, y, x, v, u)) {
            *key = QFZ_NONE;
        } else if (qfz_box_has(box, v, u)) {
            const uint32_t p = row + (uint32_t)(x - box.x0);
            *key = inside(c, block, hook, level, p, p + to);
        } else {
            *key = across(c, y, x, v, u);
        }
    }
}

void qfz_contraction_saliency(const qfz_contraction *c, const qfz_image *image, uint32_t *keys)
{
    const int64_t n_blocks = c->in_blocks.n_y * c->in_blocks.n_x;
#pragma omp parallel for schedule(dynamic, 1) num_threads(c->n_threads)
    for (int64_t i = 0; i < n_blocks; i++) {
        const qfz_box box =
            qfz_blocks_box(&c->in_blocks, i / c->in_blocks.n_x, i % c->in_blocks.n_x);
        for (int64_t y = box.y0; y < box.y1; y++)
            for (int d = 0; d < qfz_n_dirs(c->rule); d++)
                query_row(c, image, box, y, d, keys + d * image->h * image->w);
    }
}
