/* SPDX-License-Identifier: MIT */
/* component_blocks.cuh - the data of an image's blocks between linking (components.cu) and
 * labelling (component_labels.cu). Used inside components/.
 *
 * A block is SIDE x SIDE pixels. Its pixels are bits of words, 32 pixels of a row each; a thread
 * has one word. A run is a maximal series of joined pixels of one row of the block; it may pass
 * from the first word of the row into the second. Words and runs of a block are numbered row by
 * row. A place is y * SIDE + x inside the block. */
#pragma once

#include "gpu/device/image.cuh"

/* Sizes of a block, and the code of a run: for a component's first run RUN_ROOT, perhaps
 * RUN_ON_RING, and its first pixel's place; for any other run the number of that first run. */
enum {
    SIDE = 64,
    WORDS = 2 * SIDE,
    RUNS = SIDE * SIDE,
    RUN_ROOT = 0x8000,    /* the run is its component's first */
    RUN_ON_RING = 0x4000, /* the component may continue in other blocks */
    RUN_NUMBER = 0x0fff,
    NO_PLACE = 0xffff
};

/* A block's ring, as an array: top row, bottom row, left column, right column. */
enum { TOP = 0, BOTTOM = SIDE, LEFT = 2 * SIDE, RIGHT = 3 * SIDE, RING = 4 * SIDE };

/* Joins at a block's border, 64 bits each. BELOW and RIGHT: between a place of the bottom row or
 * right column and the pixel across. AHEAD: from a place to the pixel after the one across. BACK:
 * from the pixel after a place to the pixel across. ALONG: along a side, to the next pixel. */
enum {
    SEAM_BELOW = 0,
    SEAM_BELOW_AHEAD,
    SEAM_BELOW_BACK,
    SEAM_RIGHT,
    SEAM_RIGHT_AHEAD,
    SEAM_RIGHT_BACK,
    SEAM_ALONG_TOP,
    SEAM_ALONG_BOTTOM,
    SEAM_ALONG_LEFT,
    SEAM_ALONG_RIGHT,
    SEAMS
};

struct layout {
    int32_t h, w, blocks_w, n_blocks;
    uint32_t *parent; /* h * w: forest of the first pixels of components on their block's ring */
    uint32_t *starts; /* WORDS a block: pixels that begin a run */
    uint32_t *valid;  /* WORDS a block */
    uint32_t *inner;  /* WORDS a block: first pixels of components inside the block; or NULL */
    uint32_t *seams;  /* 2 * SEAMS a block */
    uint32_t *n_runs; /* 1 a block */
    uint16_t *ring;   /* RING a block: the place of the component's first pixel; NO_PLACE where the
                       * pixel is invalid or no join leads out of the block */
    uint16_t *runs;   /* codes of runs, room for one a pixel; a block's codes begin at a multiple of
                       * 64 and may be read and written eight at a time */
    uint8_t *joins;   /* a plane of joins (image.cuh); NULL where values are compared as they are
                       * read: of one band, without levels of edges from elsewhere */
};

/* A block's first pixel, and the index of its first code in layout.runs. */
struct block_place {
    int32_t y, x;
    int64_t runs;
};

QFZ_DEVICE block_place place_of(const layout &at, uint32_t block)
{
    const int32_t y = (int32_t)(block / (uint32_t)at.blocks_w) * SIDE;
    const int32_t x = (int32_t)(block % (uint32_t)at.blocks_w) * SIDE;
    return block_place{y, x, (int64_t)y * at.w + (int64_t)min(SIDE, at.h - y) * x};
}

QFZ_DEVICE uint32_t px_of(const layout &at, const block_place &block, uint32_t place)
{
    return (uint32_t)(block.y + (int32_t)(place / SIDE)) * (uint32_t)at.w +
           (uint32_t)(block.x + (int32_t)(place % SIDE));
}

/* Carves the arrays; parent and inner stay NULL. */
layout qfz_blocks_take(qfz_carve *carve, const qfz_rule *rule, int32_t h, int32_t w);

/* The first pixels of regions, as bits, and the number of them before each row of a block in raster
 * order, which gives region numbers. row_of(): the index of row y of a block in `before`. */
struct firsts_view {
    uint32_t *bits;   /* WORDS a block */
    uint32_t *before; /* [y * blocks_w + x]: before row y of block column x; [n]: of all */
    int64_t n;        /* entries of before, without the last */
};

QFZ_DEVICE int64_t row_of(const layout &at, const block_place &block, uint32_t y)
{
    return (int64_t)(block.y + (int32_t)y) * at.blocks_w + block.x / SIDE;
}

/* Fills the arrays of *at. In at->parent, components that touch a ring are united across blocks;
 * other words of it are not written. QFZ_EARG if the image has more than 2^31 - 1 pixels. */
qfz_status qfz_blocks_link(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                           const layout *at);

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Bits 0 .. x. */
QFZ_DEVICE uint32_t up_to(int x)
{
    return (2u << x) - 1;
}

/* The number of the run that contains valid pixel x of a word; RUNS: starts[] and before[] of the
 * block's words. */
template <typename RUNS, typename WORD>
QFZ_DEVICE uint32_t run_at(const RUNS &runs, WORD word, int x)
{
    return runs.before[word] + (uint32_t)__popc(runs.starts[word] & up_to(x)) - 1;
}

/* The lowest set bit alone; 0 if none is set. */
QFZ_DEVICE uint32_t lowest(uint32_t word)
{
    return word & (0u - word);
}

/* The index of the highest set bit; word must not be 0. */
QFZ_DEVICE uint32_t index_of(uint32_t word)
{
    return (uint32_t)(QFZ_WARP - 1 - __clz((int)word));
}

/* Moves bits one pixel to the right or left; the end bit of the neighbouring word moves in. */
QFZ_DEVICE uint32_t moved_right(uint32_t word, uint32_t previous)
{
    return __funnelshift_l(previous, word, 1);
}
QFZ_DEVICE uint32_t moved_left(uint32_t word, uint32_t next)
{
    return __funnelshift_r(word, next, 1);
}
