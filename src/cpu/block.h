/* SPDX-License-Identifier: MIT */
/* block.h - the edges of one block of an image that any minimax path may need, sorted.
 *
 * Blocks fit the second cache.  Edges are thinned first: of every cycle inside one unit square the
 * heaviest edge is dropped, in the total order (key, kind, place).  Each is the heaviest of a cycle
 * of the whole image, so no minimax path needs it; squares that lie in several blocks serve as
 * well, and blocks agree on the edges between them.  At most 1.5 of 2 edges a pixel stay
 * (4-connected), or 2.5 of 4. */
#ifndef QFZ_CPU_BLOCK_H
#define QFZ_CPU_BLOCK_H

#include "core/summary.h"

/* A block's pixels and its inner nodes together have 16-bit numbers: at most 2^14 pixels. */
enum { QFZ_BLOCK_SIDE = 128, QFZ_BLOCK_PX = QFZ_BLOCK_SIDE * QFZ_BLOCK_SIDE };

/* Edges as sides and diagonals of unit squares a b / c d, named by the square's pixel a; so the
 * falling diagonal is a-d and the rising one b-c. */
enum { QFZ_EDGE_H = 0, QFZ_EDGE_V, QFZ_EDGE_FALL, QFZ_EDGE_RISE, QFZ_EDGE_KINDS };

/* An image cut into blocks of side x side pixels, those at the right and the bottom smaller. */
typedef struct qfz_blocks {
    int64_t h, w;
    int64_t side; /* at most QFZ_BLOCK_SIDE */
    int64_t n_y, n_x;
} qfz_blocks;

static inline qfz_blocks qfz_blocks_of(int64_t h, int64_t w, int64_t side)
{
    return (qfz_blocks){h, w, side, (h + side - 1) / side, (w + side - 1) / side};
}

static inline qfz_box qfz_blocks_box(const qfz_blocks *blocks, int64_t by, int64_t bx)
{
    const int64_t y1 = (by + 1) * blocks->side, x1 = (bx + 1) * blocks->side;
    return (qfz_box){by * blocks->side, bx * blocks->side, y1 < blocks->h ? y1 : blocks->h,
                     x1 < blocks->w ? x1 : blocks->w};
}

/* Edges that leave a block to the right and down: the most that there can be. */
static inline uint32_t qfz_blocks_max_crossing(const qfz_blocks *blocks, int connectivity,
                                               qfz_box box)
{
    const int64_t kinds = connectivity == 4 ? 1 : 3;
    const int64_t right = box.x1 < blocks->w ? qfz_box_h(box) : 0;
    const int64_t below = box.y1 < blocks->h ? qfz_box_w(box) : 0;
    return (uint32_t)(kinds * (right + below));
}

/* An edge between two blocks: 4 * (its square's pixel a) + kind. */
typedef struct qfz_seam_edge {
    uint32_t id, key;
} qfz_seam_edge;

/* The edges that leave one block and whose pixel a lies in it: those across its right side, across
 * its lower side, across its corner. */
typedef struct qfz_seam {
    qfz_seam_edge *edges; /* room for qfz_blocks_max_crossing() */
    uint32_t n_right, n_below, n_corner;
} qfz_seam;

/* Where an edge's two pixels lie, counted from pixel a, in rows of so many pixels. */
typedef struct qfz_edge_offsets {
    uint32_t from[QFZ_EDGE_KINDS], to[QFZ_EDGE_KINDS];
} qfz_edge_offsets;

static inline qfz_edge_offsets qfz_edge_offsets_of(uint32_t row_px)
{
    return (qfz_edge_offsets){{0, 0, 0, 1}, {1, row_px, row_px + 1, row_px}};
}

/* What one thread needs for one block after the other. */
typedef struct qfz_block_edges qfz_block_edges;

struct qfz_lightest;

size_t qfz_block_edges_bytes(int connectivity);

/* Finds what stays of the edges of keys up to rule->alpha_level: inside the block, and across its
 * seams.  open, if not NULL: open[i] = the least key of any edge that leaves the block from pixel
 * i of its ring (box.h), where there is one; those without stay as they are.  lightest, if not
 * NULL, is for this block: its pixels are hooked, and their hooks are left out. */
void qfz_block_find(qfz_block_edges *scratch, const qfz_image *image, const qfz_rule *rule,
                    qfz_box box, qfz_seam *seam, uint64_t *open, struct qfz_lightest *lightest);

/* One more for the list of inner edges, a loop, which means something to the caller only; at most
 * one for each pixel of the ring. */
void qfz_block_add_loop(qfz_block_edges *scratch, uint32_t key, uint32_t place);

/* Others, at most as many as hooks are left out: n of them, written to where the list ends. */
uint64_t *qfz_block_end(qfz_block_edges *scratch);
void qfz_block_add(qfz_block_edges *scratch, uint32_t n);

/* An inner edge: its key and the places of its pixels, row by row in the block. */
enum { QFZ_EDGE_KEY_SHIFT = 32, QFZ_EDGE_Q_SHIFT = 16 };

static inline uint32_t qfz_edge_level(uint64_t edge)
{
    return (uint32_t)(edge >> QFZ_EDGE_KEY_SHIFT);
}

static inline uint32_t qfz_edge_p(uint64_t edge)
{
    return (uint16_t)edge;
}

static inline uint32_t qfz_edge_q(uint64_t edge)
{
    return (uint16_t)(edge >> QFZ_EDGE_Q_SHIFT);
}

static inline bool qfz_edge_is_loop(uint64_t edge)
{
    return qfz_edge_p(edge) == qfz_edge_q(edge);
}

static inline uint64_t qfz_edge_of(uint32_t key, uint32_t p, uint32_t q)
{
    return (uint64_t)key << QFZ_EDGE_KEY_SHIFT | q << QFZ_EDGE_Q_SHIFT | p;
}

/* The inner edges, ascending by key, equal ones as they were found.  The caller may write to
 * them. */
uint64_t *qfz_block_sort(qfz_block_edges *scratch, int32_t *n);

#endif
