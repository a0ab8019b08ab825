/* SPDX-License-Identifier: MIT */
/* boruvka_block.cuh - shared memory, packed words and keys of the block kernel, for all of its
 * steps (boruvka_block.cu). */
#ifndef QFZ_GPU_BORUVKA_BLOCK_CUH
#define QFZ_GPU_BORUVKA_BLOCK_CUH

#include "gpu/forest/boruvka_source.cuh"

enum {
    SQUARES = QFZ_SIDE + 1, /* squares of 2 x 2 pixels that touch a side of the block */
    PITCH = SQUARES + 1
};

/* The word of a pixel in block_memory::pixel: the pixel to which it hooked itself (itself if it
 * waits); after settle(), SETTLED | component; NO_EDGE if it has no edge. */
enum { SETTLED = 0x8000, NO_EDGE = SETTLED | QFZ_NO_COMP };

/* The word of a component in block_memory::find: a component further up; at a root, the root itself
 * and flags.  WAITS: the root waits.  ENDED: the root has no edge left, and waits for good. */
enum { WAITS = 0x8000, ENDED = 0x4000, NUMBER = 0x0fff };

/* The key of an edge orders edges by level and then by place: level << 16 | pixel << 2 | direction,
 * or level << 16 | LEAVES for an edge that leaves the block. */
enum { LEAVES = 0x8000 };

template <typename SOURCE, bool EIGHT> struct block_memory {
    typedef typename SOURCE::KEY KEY;
    enum {
        /* Upper bound of the list.  At most 1.5 edges a pixel are not marked by
         * qfz_square_drops(), or 2.5 a pixel and half an edge a rim pixel.  At least half of the
         * pixels that do not wait hook themselves by unmarked edges, except for rim pixels that
         * prefer an edge inside; an edge of a hook is not in the list. */
        UNMARKED = EIGHT ? (5 * QFZ_FOREST_BLOCK_PX + QFZ_RIM) / 2 : 3 * QFZ_FOREST_BLOCK_PX / 2,
        LIST = UNMARKED - (QFZ_FOREST_BLOCK_PX - QFZ_RIM) / 2 + QFZ_RIM,
        LEAVING = EIGHT ? 6 * QFZ_SIDE - 2 : 2 * QFZ_SIDE
    };
    union {
        __align__(16) uint32_t value[SOURCE::ROOM]; /* until the list is made */
        struct {
            KEY best[QFZ_COMPS];      /* lightest edge of a component */
            uint16_t step[QFZ_COMPS]; /* round << QFZ_STEP_BITS | component */
        };
    };
    KEY list[LIST];
    KEY leaving[LEAVING]; /* edges that start in the block and leave it */
    union {
        uint8_t drops[SQUARES * PITCH];              /* until the list is made */
        uint16_t active[2][QFZ_FOREST_BLOCK_PX / 4]; /* roots of components that do not wait */
        struct {
            KEY lightest[QFZ_VERTICES], tree[QFZ_VERTICES]; /* for the spanning tree */
            uint16_t set[QFZ_VERTICES], hook[QFZ_VERTICES];
        };
    };
    KEY leave[QFZ_RIM]; /* per rim pixel: level << 16 | pixel, lightest edge that leaves */
    uint16_t pixel[QFZ_FOREST_BLOCK_PX];
    uint16_t find[QFZ_COMPS];
    uint32_t n_numbers; /* components after the first round: not waiting << 16 | waiting */
    uint32_t n_list, n_leaving, n_next, n_tree, n_vertices, first_vertex, first_edge;
};

/* The variables of a thread that all steps of a block use. */
template <typename SOURCE, bool EIGHT> struct block_work {
    typedef typename SOURCE::KEY KEY;
    typedef typename qfz_top_of<KEY>::type TOP;
    /* With as many blocks as shared memory holds, a multiprocessor has about 32 warps. */
    enum { THREADS = sizeof(KEY) == 8 ? 512 : 256, WARPS = THREADS / QFZ_WARP };
    block_memory<SOURCE, EIGHT> &m;
    const qfz_gpu_forest &forest;
    const SOURCE &source;
    qfz_block_box box;
    int32_t rim; /* pixels on the box's ring */
    int thread, lane, warp;
};

template <typename KEY> static __device__ __forceinline__ uint32_t level_of(KEY key)
{
    return (uint32_t)(key >> 16);
}

template <typename KEY> static __device__ __forceinline__ uint32_t first_end(KEY key)
{
    return (uint32_t)key >> 2 & (QFZ_FOREST_BLOCK_PX - 1);
}

template <typename KEY> static __device__ __forceinline__ uint32_t second_end(KEY key)
{
    const int dir = (int)((uint32_t)key & 3);
    const int step = dir == QFZ_RIGHT ? 1
                                      : QFZ_SIDE + (dir == QFZ_BELOW         ? 0
                                                    : dir == QFZ_BELOW_RIGHT ? 1
                                                                             : -1);
    return (uint32_t)((int)first_end(key) + step);
}

template <typename WORK>
static __device__ __forceinline__ bool in_image(const WORK &w, int y, int x)
{
    return y < w.box.h && x < w.box.w;
}

#endif
