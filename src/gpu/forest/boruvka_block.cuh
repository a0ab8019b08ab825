/* SPDX-License-Identifier: MIT */
/* boruvka_block.cuh - what the steps inside a block share: its memory, words, keys, places. */
#ifndef QFZ_GPU_BORUVKA_BLOCK_CUH
#define QFZ_GPU_BORUVKA_BLOCK_CUH

#include "gpu/forest/boruvka_source.cuh"

enum {
    SQUARES = QFZ_SIDE + 1, /* a side of squares that touch the block */
    PITCH = SQUARES + 1
};

/* A pixel's word in block_memory::pixel: the pixel that it hooked itself to (itself: it waits),
 * later SETTLED | its component; NO_EDGE. */
enum { SETTLED = 0x8000, NO_EDGE = SETTLED | QFZ_NO_COMP };

/* A component's word in block_memory::find: some component further on, at the root itself and
 * flags: it waits; it waits for nothing, since it has no edge left. */
enum { WAITS = 0x8000, ENDED = 0x4000, NUMBER = 0x0fff };

/* Keys of edges are level << 16 | pixel << 2 | direction, or level << 16 | LEAVES. */
enum { LEAVES = 0x8000 };

template <typename SOURCE, bool EIGHT> struct block_memory {
    typedef typename SOURCE::KEY KEY;
    enum {
        /* At most 1.5 edges a pixel, or 2.5 and half an edge a rim pixel, are not marked.  At least
         * half of the pixels that do not wait hook themselves, by such edges, but for those on the
         * rim that prefer an edge inside; these edges are closed then. */
        UNMARKED = EIGHT ? (5 * QFZ_FOREST_BLOCK_PX + QFZ_RIM) / 2 : 3 * QFZ_FOREST_BLOCK_PX / 2,
        LIST = UNMARKED - (QFZ_FOREST_BLOCK_PX - QFZ_RIM) / 2 + QFZ_RIM,
        LEAVING = EIGHT ? 6 * QFZ_SIDE - 2 : 2 * QFZ_SIDE
    };
    union {
        __align__(16) uint32_t value[SOURCE::ROOM]; /* until the list is made */
        struct {
            KEY best[QFZ_COMPS];      /* the edge that a component chooses, then: chose */
            uint16_t step[QFZ_COMPS]; /* round << QFZ_STEP_BITS | component */
        };
    };
    KEY list[LIST];
    KEY leaving[LEAVING]; /* edges that leave the block and start in it */
    union {
        uint8_t drops[SQUARES * PITCH];              /* until the list is made */
        uint16_t active[2][QFZ_FOREST_BLOCK_PX / 4]; /* roots of components that do not wait */
        struct {
            KEY lightest[QFZ_VERTICES], tree[QFZ_VERTICES]; /* of the spanning tree */
            uint16_t set[QFZ_VERTICES], hook[QFZ_VERTICES];
        };
    };
    KEY leave[QFZ_RIM]; /* of a rim pixel: level << 16 | pixel, of its lightest edge that leaves */
    uint16_t pixel[QFZ_FOREST_BLOCK_PX];
    uint16_t find[QFZ_COMPS];
    uint32_t n_numbers; /* components after the first round: active << 16 | waiting */
    uint32_t n_list, n_leaving, n_next, n_tree, n_vertices, first_vertex, first_edge;
};

/* What the functions of one block share. */
template <typename SOURCE, bool EIGHT> struct block_work {
    typedef typename SOURCE::KEY KEY;
    typedef typename qfz_top_of<KEY>::type TOP;
    /* As many blocks as shared memory holds keep some 32 warps on a multiprocessor. */
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
