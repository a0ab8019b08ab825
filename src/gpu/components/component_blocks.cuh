/* SPDX-License-Identifier: MIT */
/* component_blocks.cuh - what components.cu leaves of an image's blocks for component_labels.cu,
 * which makes roots or labels of pixels out of it; of no use to others. */
#ifndef QFZ_GPU_COMPONENT_BLOCKS_CUH
#define QFZ_GPU_COMPONENT_BLOCKS_CUH

#include "gpu/device/image.cuh"

/* A block is SIDE x SIDE pixels; a thread has one word, 32 pixels of a row.  Words of a block are
 * numbered row by row, and so are its runs; a run may pass from the first word of a row into the
 * second.  A place is y * SIDE + x within the block. */
enum {
    SIDE = 64,
    WORDS = 2 * SIDE,
    RUNS = SIDE * SIDE,
    RUN_ROOT = 0x8000,    /* of a run's code: it is its component's first; its place follows */
    RUN_ON_RING = 0x4000, /* the component may go on in other blocks */
    RUN_NUMBER = 0x0fff,
    NO_PLACE = 0xffff
};

/* A block's sides: pixels of its top and bottom row, left and right column, in this order. */
enum { TOP = 0, BOTTOM = SIDE, LEFT = 2 * SIDE, RIGHT = 3 * SIDE, RING = 4 * SIDE };

/* Joins at a block's border, 64 bits each: those between its bottom row or right column and the
 * pixels across, of each place to that across it, to the one after that (ahead), and of the pixel
 * after it to that across it (back); and those along its sides, from each pixel to the next. */
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
    uint32_t *parent; /* h * w: the forest of first pixels of components that touch a ring */
    uint32_t *starts; /* WORDS a block: pixels that begin a run */
    uint32_t *valid;  /* WORDS a block */
    uint32_t *inner;  /* WORDS a block: first pixels of components that touch no ring; or NULL */
    uint32_t *seams;  /* 2 * SEAMS a block */
    uint32_t *n_runs; /* 1 a block */
    uint16_t *ring;   /* RING a block: the place of the component's first pixel; NO_PLACE where
                       * nothing can leave the block */
    uint16_t *runs;   /* codes of runs, as many as pixels, from multiples of 64 on; those of a block
                       * may be read and written eight at a time */
};

/* Where a block is, and where the codes of its runs are. */
struct block_place {
    int32_t y, x;
    int64_t runs;
};

static __device__ __forceinline__ block_place place_of(const layout &at, uint32_t block)
{
    const int32_t y = (int32_t)(block / (uint32_t)at.blocks_w) * SIDE;
    const int32_t x = (int32_t)(block % (uint32_t)at.blocks_w) * SIDE;
    return block_place{y, x, (int64_t)y * at.w + (int64_t)min(SIDE, at.h - y) * x};
}

static __device__ __forceinline__ uint32_t px_of(const layout &at, const block_place &block,
                                                 uint32_t place)
{
    return (uint32_t)(block.y + (int32_t)(place / SIDE)) * (uint32_t)at.w +
           (uint32_t)(block.x + (int32_t)(place % SIDE));
}

/* Carves it: starts, valid, runs and n_runs out of one carve, the rest out of another, or the same;
 * but parent and inner, which stay NULL. */
layout qfz_blocks_take(qfz_carve *kept, qfz_carve *carve, int32_t h, int32_t w);

/* Which pixels are first of their region, and how many they are before each row of a block, from
 * the left and from above: numbers of regions. */
struct firsts_view {
    uint32_t *bits; /* WORDS a block */
    uint32_t
        *before; /* of row y in the block at column x: [y * blocks_w + x]; at the end, of all */
    int64_t n;   /* of before, without the end */
};

static __device__ __forceinline__ int64_t row_of(const layout &at, const block_place &block,
                                                 uint32_t y)
{
    return (int64_t)(block.y + (int32_t)y) * at.blocks_w + block.x / SIDE;
}

firsts_view qfz_firsts_take(qfz_carve *kept, const layout *at);

/* Can an image's values be compared where they are read? */
bool qfz_blocks_read_values(const qfz_rule *rule);

/* Fills it, out of such an image or of a plane of joins.  In at->parent the components that touch
 * rings are joined across blocks; its other words stay as they are. */
qfz_status qfz_blocks_link(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                           const layout *at);
qfz_status qfz_blocks_link_joins(qfz_gpu *gpu, const uint8_t *d_joins, int connectivity,
                                 const layout *at);

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Bits 0 .. x. */
static __device__ __forceinline__ uint32_t up_to(int x)
{
    return (2u << x) - 1;
}

/* The lowest bit that is set, by itself; 0: none is. */
static __device__ __forceinline__ uint32_t lowest(uint32_t word)
{
    return word & (0u - word);
}

/* Which bit is the highest one of a word, which is not 0. */
static __device__ __forceinline__ uint32_t index_of(uint32_t word)
{
    return (uint32_t)(QFZ_WARP - 1 - __clz((int)word));
}

/* Moves bits one pixel to the right, or left; the neighbouring word's end moves in. */
static __device__ __forceinline__ uint32_t moved_right(uint32_t word, uint32_t previous)
{
    return __funnelshift_l(previous, word, 1);
}
static __device__ __forceinline__ uint32_t moved_left(uint32_t word, uint32_t next)
{
    return __funnelshift_r(word, next, 1);
}

#endif
