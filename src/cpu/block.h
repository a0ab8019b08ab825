/* SPDX-License-Identifier: MIT */
/* block.h - the sorted edges of one block of an image that a minimax path may need.
 *
 * A block fits the second-level cache.  Edges are thinned first: of every cycle inside one unit
 * square the heaviest edge is dropped, in the total order (level, kind, place).  It is the
 * heaviest edge of a cycle of the whole image, so no minimax path needs it.  The rule depends on
 * the image only, so all blocks agree on the edges between them.  At most 1.5 of 2 edges per
 * pixel remain (4-connected), or 2.5 of 4 (8-connected). */
#ifndef QFZ_CPU_BLOCK_H
#define QFZ_CPU_BLOCK_H

#include "core/summary.h"

/* Pixels and inner nodes of a block together have 16-bit numbers, so a block has at most 2^14
 * pixels. */
enum { QFZ_CPU_BLOCK_SIDE = 128, QFZ_CPU_BLOCK_PX = QFZ_CPU_BLOCK_SIDE * QFZ_CPU_BLOCK_SIDE };

/* Edges are sides and diagonals of unit squares a b / c d, and belong to pixel a of their
 * square: the horizontal side a-b, the vertical side a-c, the falling diagonal a-d, the rising
 * diagonal b-c. */
enum { QFZ_EDGE_H = 0, QFZ_EDGE_V, QFZ_EDGE_FALL, QFZ_EDGE_RISE, QFZ_EDGE_KINDS };

/* An image of h x w cut into n_y rows of n_x blocks of side x side pixels; blocks at the right
 * and at the bottom may be smaller. */
typedef struct qfz_cpu_blocks {
    int64_t h, w;
    int64_t side; /* at most QFZ_CPU_BLOCK_SIDE, or a multiple of it (cpu/filter_patch.h) */
    int64_t n_y, n_x;
} qfz_cpu_blocks;

static inline qfz_cpu_blocks qfz_cpu_blocks_of(int64_t h, int64_t w, int64_t side)
{
    return (qfz_cpu_blocks){h, w, side, (h + side - 1) / side, (w + side - 1) / side};
}

static inline qfz_box qfz_cpu_blocks_box(const qfz_cpu_blocks *blocks, int64_t by, int64_t bx)
{
    const int64_t y1 = (by + 1) * blocks->side, x1 = (bx + 1) * blocks->side;
    return (qfz_box){by * blocks->side, bx * blocks->side, y1 < blocks->h ? y1 : blocks->h,
                     x1 < blocks->w ? x1 : blocks->w};
}

/* Upper bound of the edges that leave a block to the right and down. */
static inline uint32_t qfz_cpu_blocks_max_crossing(const qfz_cpu_blocks *blocks, int connectivity,
                                                   qfz_box box)
{
    const int64_t kinds = connectivity == 4 ? 1 : 3;
    const int64_t right = box.x1 < blocks->w ? qfz_box_h(box) : 0;
    const int64_t below = box.y1 < blocks->h ? qfz_box_w(box) : 0;
    return (uint32_t)(kinds * (right + below));
}

/* An edge between two blocks; id = 4 * (place of pixel a in the image) + kind. */
typedef struct qfz_seam_edge {
    uint32_t id, level;
} qfz_seam_edge;

/* The edges that leave one block and belong to a pixel of the block: across its right side, then
 * across its lower side, then across its corner. */
typedef struct qfz_seam {
    qfz_seam_edge *edges; /* room for qfz_cpu_blocks_max_crossing() */
    uint32_t n_right, n_below, n_corner;
} qfz_seam;

/* The places of an edge's two pixels relative to pixel a, in an image with row_px pixels a row. */
typedef struct qfz_edge_offsets {
    uint32_t from[QFZ_EDGE_KINDS], to[QFZ_EDGE_KINDS];
} qfz_edge_offsets;

static inline qfz_edge_offsets qfz_edge_offsets_of(uint32_t row_px)
{
    return (qfz_edge_offsets){{0, 0, 0, 1}, {1, row_px, row_px + 1, row_px}};
}

/* The working memory of one thread, for one block after the other: qfz_block_edges_bytes()
 * bytes. */
typedef struct qfz_block_edges qfz_block_edges;

struct qfz_lightest;

size_t qfz_block_edges_bytes(int connectivity);

/* Finds the needed edges of levels up to rule->alpha_level, inside the block and across its
 * seams.  open: NULL, or open[i] becomes the least level of the edges that leave the block from
 * pixel i of its ring (box.h), and is unchanged if no edge does.  lightest: NULL, or set up for
 * this block: its pixels are hooked, and their hooks are left out of the edges, which then join
 * components instead of pixels.  By keys, edges inside components are left out, too, but the others
 * join pixels. */
void qfz_block_find(qfz_block_edges *scratch, const qfz_image *image, const qfz_rule *rule,
                    qfz_box box, qfz_seam *seam, uint64_t *open, struct qfz_lightest *lightest);

/* Adds a loop to the inner edges, to be sorted with them; its meaning is the caller's.  At most
 * one for each pixel of the ring. */
void qfz_block_add_loop(qfz_block_edges *scratch, uint32_t level, uint32_t place);

/* Adds n leaves that the caller wrote to qfz_block_end(), at most as many as hooks were left out.
 */
uint64_t *qfz_block_end(qfz_block_edges *scratch);
void qfz_block_add(qfz_block_edges *scratch, uint32_t n);

/* An inner edge: its level, and the places of its pixels p and q in the block, row by row.  A leaf
 * is an edge whose q is the caller's, less than 2^15, and has no other edge; of its level it comes
 * after all edges that are no leaves. */
enum { QFZ_EDGE_LEVEL_SHIFT = 32, QFZ_EDGE_LEAF_SHIFT = 31, QFZ_EDGE_Q_SHIFT = 16 };

static inline uint32_t qfz_edge_level(uint64_t edge)
{
    return (uint32_t)(edge >> QFZ_EDGE_LEVEL_SHIFT);
}

static inline uint32_t qfz_edge_p(uint64_t edge)
{
    return (uint16_t)edge;
}

static inline uint32_t qfz_edge_q(uint64_t edge)
{
    return (uint16_t)(edge >> QFZ_EDGE_Q_SHIFT);
}

static inline bool qfz_edge_is_leaf(uint64_t edge)
{
    return edge >> QFZ_EDGE_LEAF_SHIFT & 1;
}

static inline bool qfz_edge_is_loop(uint64_t edge)
{
    return qfz_edge_p(edge) == qfz_edge_q(edge);
}

static inline uint64_t qfz_edge_of(uint32_t level, uint32_t p, uint32_t q)
{
    return (uint64_t)level << QFZ_EDGE_LEVEL_SHIFT | q << QFZ_EDGE_Q_SHIFT | p;
}

static inline uint64_t qfz_leaf_of(uint32_t level, uint32_t p, uint32_t leaf)
{
    return qfz_edge_of(level, p, leaf) | UINT64_C(1) << QFZ_EDGE_LEAF_SHIFT;
}

static inline uint32_t qfz_leaf_number(uint64_t edge)
{
    return qfz_edge_q(edge) & INT16_MAX;
}

/* Returns the number of inner edges, in order of discovery in list[0]; list[1] has as much room,
 * for the caller, who may overwrite both. */
int32_t qfz_block_list(qfz_block_edges *scratch, uint64_t *list[2]);

/* Moves the edges and loops above a level to another list of n; returns the number of the rest. */
int32_t qfz_block_split(uint32_t level, uint64_t *list, int32_t n, uint64_t *above);

/* Returns the inner edges, ascending by level, edges of equal level in order of discovery, but
 * leaves last.  The caller may overwrite them. */
uint64_t *qfz_block_sort(qfz_block_edges *scratch, int32_t *n);

#endif
