/* SPDX-License-Identifier: MIT */
/* forest_tree_block.cuh - how threads, and the numbers of nodes, go with the pixels of a block of
 * 64 x 64 pixels, for the kernels of forest_tree_block.cu and forest_tree_write.cu. */
#pragma once

#include "gpu/tree/forest_tree_parts.cuh"
#include "gpu/device/warp.cuh"

enum {
    THREADS = 512,
    EACH = QFZ_FOREST_BLOCK_PX / THREADS /* pixels of a thread */
};

/* Numbers of nodes in a block: NOWHERE for none; LOWEST_OF | vertex, counted from the block's first
 * vertex, for the lowest node of that vertex. */
enum { NOWHERE = 0xffff, LOWEST_OF = 0x8000 };

/* The component and level of the hook of the box's pixel p; the level of its k-th pixel. */
template <typename TOP>
QFZ_DEVICE uint16_t *comp_of(const qfz_gpu_forest &forest, qfz_block_box box, uint32_t p)
{
    return qfz_comps<TOP>(forest, box, (int32_t)(p / QFZ_SIDE)) + p % QFZ_SIDE;
}

template <typename TOP>
QFZ_DEVICE TOP *level_of(const qfz_gpu_forest &forest, qfz_block_box box, uint32_t p)
{
    return qfz_tops<TOP>(forest, box, (int32_t)(p / QFZ_SIDE)) + p % QFZ_SIDE;
}

template <typename TOP>
QFZ_DEVICE TOP *kth_level(const qfz_gpu_forest &forest, qfz_block_box box, uint32_t k)
{
    const uint32_t w = (uint32_t)box.w;
    return qfz_tops<TOP>(forest, box, (int32_t)(k / w)) + k % w;
}

QFZ_DEVICE bool in_box(qfz_block_box box, uint32_t p)
{
    return (int32_t)(p / QFZ_SIDE) < box.h && (int32_t)(p % QFZ_SIDE) < box.w;
}

/* The number in the block of the thread's k-th pixel. */
QFZ_DEVICE uint32_t px_of(int k)
{
    return threadIdx.x + (uint32_t)k * THREADS;
}

/* The parents of a block's nodes, in the memory of its hooks, 16 bits each.  A block has fewer
 * nodes than pixels, and room for a hook per two pixels. */
QFZ_DEVICE uint16_t *parents_of(const qfz_gpu_forest &forest, uint32_t block)
{
    return reinterpret_cast<uint16_t *>(forest.hooks + (int64_t)block * forest.comp_room);
}
