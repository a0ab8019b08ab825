/* SPDX-License-Identifier: MIT */
/* lightest.h - the first round of Boruvka's algorithm in a block: each pixel is hooked along its
 * lightest edge, unless that leaves the block.
 *
 * Every path from a pixel begins with an edge that is no lighter.  So its minimax level to a pixel
 * elsewhere is the larger one of its hook's level and of the minimax level from the hook's other
 * end; and hooks grow lighter from one to the next, so that of all hooks on the way up only the
 * first counts.  The edges of a unit square come in the total order of block.h, in which hooks
 * close no cycle: two pixels that are hooked to each other share their edge, and the first of them
 * stays.  What is left are components of two pixels or more, and single ones whose lightest edge
 * leaves the block: a fifth to a third of the pixels in natural scenes.
 */
#ifndef QFZ_CPU_LIGHTEST_H
#define QFZ_CPU_LIGHTEST_H

#include "cpu/block_rows.h"

/* One block; what is borrowed has room for QFZ_BLOCK_PX pixels, however many it has. */
typedef struct qfz_lightest {
    qfz_box box;
    int64_t image_h, image_w;
    int connectivity;
    uint32_t alpha_level; /* of the heaviest edge that there is */
    bool open_ring;       /* an edge of level 0 leads outwards from the image's own ring */
    /* NULL, or borrowed: its valid pixels without an edge below QFZ_NONE have the level 0 and are
     * components of their own. */
    const qfz_image *lonely;
    /* Both borrowed.  Levels of pixels' hooks, 0: of none, QFZ_NONE: it has no edge below that,
     * which is where saliency says that there is none.  Components of pixels, 0: of these. */
    uint32_t *level;
    uint16_t *component;
    uint32_t n_components;

    uint8_t to[2][QFZ_SQUARES]; /* where the pixels of even and of odd rows go */
    uint16_t up[QFZ_BLOCK_PX];  /* places of pixels */
} qfz_lightest;

/* The most components that n_px pixels with a ring of n_ring can have. */
static inline uint32_t qfz_lightest_max(uint32_t n_px, uint32_t n_ring)
{
    return (n_px + n_ring) / 2 + 1;
}

/* The row of squares y, counted in the block, has been filled: nobody shall take an edge that does
 * not exist.  y: -1 to the block's last, and -1 is told even where it lies outside the image. */
void qfz_lightest_bound(const qfz_lightest *l, int64_t y, qfz_square_row *row);

/* Hooks the block's row y; both rows of squares around it are bounded. */
void qfz_lightest_choose(qfz_lightest *l, int64_t y, const qfz_square_row *above,
                         const qfz_square_row *row);

/* Takes hooks out of keep, the edges of row y, when this row and the next one are hooked. */
void qfz_lightest_take(qfz_lightest *l, int64_t y, uint8_t *keep);

/* When all are taken: numbers the components. */
void qfz_lightest_finish(qfz_lightest *l);

#endif
