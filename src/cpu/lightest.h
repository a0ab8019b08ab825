/* SPDX-License-Identifier: MIT */
/* lightest.h - the first round of Boruvka's algorithm in a block: each pixel is hooked to a
 * neighbour along its lightest edge, unless that edge leaves the block.
 *
 * Every path from a pixel begins with an edge that is no lighter than its hook.  So the pixel's
 * minimax level to a pixel elsewhere is the larger one of two levels: the hook's, and the
 * minimax level from the hook's other end.  Along a chain of hooks the levels decrease, so only
 * the first hook counts.  The edges of a unit square have the total order of block.h, in which
 * hooks close no cycle: if two pixels are hooked to each other, they share an edge, and the
 * first of the two is the root.  The result has components of two pixels or more, and single
 * pixels whose lightest edge leaves the block: together a fifth to a third of the pixels of a
 * natural scene. */
#ifndef QFZ_CPU_LIGHTEST_H
#define QFZ_CPU_LIGHTEST_H

#include "cpu/block_rows.h"

/* One block.  Borrowed arrays have room for QFZ_CPU_BLOCK_PX pixels, whatever the size of the
 * block. */
typedef struct qfz_lightest {
    qfz_box box;
    int64_t image_h, image_w;
    int connectivity;
    uint32_t alpha_level; /* no heavier edge exists */
    bool
        open_ring; /* each pixel of the image's ring has an edge of level 0 that leaves the image */
    /* NULL, or an image (borrowed) whose valid pixels without an edge below QFZ_NONE get level 0
     * and become components of their own. */
    const qfz_image *lonely;
    /* Both borrowed.  level: of each pixel's hook; 0: the pixel is not hooked; QFZ_NONE: the
     * pixel has no edge below QFZ_NONE, so its saliency is missing.  component: of each pixel;
     * component 0 has the pixels of level QFZ_NONE. */
    uint32_t *level;
    uint16_t *component;
    uint32_t n_components;

    uint8_t to[2]
              [QFZ_SQUARES]; /* directions of the hooks in the last even row and the last odd row */
    uint16_t up[QFZ_CPU_BLOCK_PX]; /* place in the block of the pixel that a pixel is hooked to; its
                                      own place at a root */
} qfz_lightest;

/* Upper bound of the components of n_px pixels with a ring of n_ring pixels. */
static inline uint32_t qfz_lightest_max(uint32_t n_px, uint32_t n_ring)
{
    return (n_px + n_ring) / 2 + 1;
}

/* Sets edges that do not exist to QFZ_NONE in a filled row of squares; y, counted in the block,
 * is -1 or a row of the block.  Row -1 is required even if it lies outside the image. */
void qfz_lightest_bound(const qfz_lightest *l, int64_t y, qfz_square_row *row);

/* Hooks the pixels of the block's row y; qfz_lightest_bound() has processed the rows of squares
 * above and below it. */
void qfz_lightest_choose(qfz_lightest *l, int64_t y, const qfz_square_row *above,
                         const qfz_square_row *row);

/* Removes the hooks from keep, the edges of row y.  This row and the next one have been hooked. */
void qfz_lightest_take(qfz_lightest *l, int64_t y, uint8_t *keep);

/* Numbers the components, after the last qfz_lightest_take(). */
void qfz_lightest_finish(qfz_lightest *l);

#endif
