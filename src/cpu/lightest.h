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
 * natural scene.
 *
 * The area filter needs the total order of (level, position) instead: by keys (block_rows.h). There
 * a pixel is not hooked, either, if two of its edges have the least key. */
#ifndef QFZ_CPU_LIGHTEST_H
#define QFZ_CPU_LIGHTEST_H

#include "cpu/block_rows.h"

/* What a pixel is in its component, by keys. */
enum {
    QFZ_MATE_RIGHT = 1, /* a root that shares its hook with the pixel to the right, */
    QFZ_MATE_BELOW = 2, /* or with one in the row below */
    QFZ_EARLY = 4,      /* a pixel that shares its hook with none, of level 0, */
    QFZ_LATE = 8        /* or of a level above 0 */
};

/* Hooks by keys: what the area filter has to know beside components. */
typedef struct qfz_key_hooks {
    int64_t y0, x0;                 /* of the image in the raster */
    bool stays[QFZ_CPU_BLOCK_SIDE]; /* pixels of a row of the block are not hooked */
    uint8_t role[QFZ_CPU_BLOCK_PX]; /* of each pixel, above; or 0 */
    uint8_t *zeroed; /* borrowed; by pixel: a bit for each edge that is a hook of a level above 0,
                        as in qfz_image */
} qfz_key_hooks;

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
    qfz_key_hooks *by_key; /* borrowed; NULL: hooks by levels.  By keys, the pixels of an open ring
                              are not hooked, no pixel has level QFZ_NONE, and the levels of pixels
                              that are not hooked mean nothing */
    /* Both borrowed.  level: of each pixel's hook; 0: the pixel is not hooked; QFZ_NONE: the
     * pixel has no edge below QFZ_NONE, so its saliency is missing.  component: of each pixel;
     * component 0 has the pixels of level QFZ_NONE. */
    uint32_t *level;
    uint16_t *component;
    uint32_t n_components;

    uint8_t to[3][QFZ_SQUARES];    /* directions of the hooks of row y at y % 3 */
    uint16_t up[QFZ_CPU_BLOCK_PX]; /* place in the block of the pixel that a pixel is hooked to; its
                                      own place at a root; of a root that has been merged, the place
                                      of the root of its component */
} qfz_lightest;

/* Upper bound of the components of n_px pixels with a ring of n_ring pixels. */
static inline uint32_t qfz_lightest_max(uint32_t n_px, uint32_t n_ring)
{
    return (n_px + n_ring) / 2 + 1;
}

/* Sets edges that do not exist to QFZ_NONE in a filled row of squares, and its keys; y, counted in
 * the block, is -1 or a row of the block, or the row behind them.  Row -1 is required even if it
 * lies outside the image. */
void qfz_lightest_bound(const qfz_lightest *l, int64_t y, qfz_square_row *row);

/* Hooks the pixels of the block's row y; qfz_lightest_bound() has processed the rows of squares
 * above and below it. */
void qfz_lightest_choose(qfz_lightest *l, int64_t y, const qfz_square_row *above,
                         const qfz_square_row *row);

/* Removes the hooks from keep, the edges of row y.  This row and the next one have been hooked. */
void qfz_lightest_take(qfz_lightest *l, int64_t y, const qfz_square_row *row, uint8_t *keep);

/* Numbers the components, after the last qfz_lightest_take(). */
void qfz_lightest_finish(qfz_lightest *l);

/* Merges components that n edges of level 0 join, which is right for climbs: the pixels of such an
 * edge have hooks of level 0, or none.  Of the roots the first one remains, so components stay in
 * the order of their roots.  Overwrites the edges, whose ends are components. */
void qfz_lightest_merge(qfz_lightest *l, uint64_t *edges, int32_t n);

#endif
