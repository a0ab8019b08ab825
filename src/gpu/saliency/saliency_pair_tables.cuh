/* SPDX-License-Identifier: MIT */
/* saliency_pair_tables.cuh - tables that close edges, two levels of 16 bits to a word. */
#ifndef QFZ_GPU_SALIENCY_PAIR_TABLES_CUH
#define QFZ_GPU_SALIENCY_PAIR_TABLES_CUH

#include "gpu/saliency/saliency_tables.cuh"

/* A row of a thread in a table: components and levels of its two pixels, and of those one place to
 * the right. */
struct table_row {
    uint32_t comp, top, right, right_top;
};

template <bool WITH_RIGHT>
static __device__ __forceinline__ table_row look_up(uint32_t *table, uint32_t comp)
{
    const uint32_t a = of_comp(table, comp & 0xffff), b = of_comp(table, comp >> 16);
    table_row now = {low_halves(a, b), high_halves(a, b), 0, 0};
    if (!WITH_RIGHT) return now;
    const uint32_t next = of_next_lane(a);
    now.right = low_halves(b, next);
    now.right_top = high_halves(b, next);
    return now;
}

/* 0xffff in each half that is not 0. */
static __device__ __forceinline__ uint32_t mask_of(uint32_t word)
{
    return ones_of(word) * 0xffffu;
}

/* Per half: the new level where `differ` is 0, that is where both pixels are in one component, else
 * the old one. */
static __device__ __forceinline__ uint32_t chosen(uint32_t differ, uint32_t old_level,
                                                  uint32_t level)
{
    const uint32_t mask = mask_of(differ);
    return (old_level & mask) | (level & ~mask);
}

/* The vertices of a thread's two pixels of row j. */
template <typename SETTLED_PX>
static __device__ __forceinline__ uint32_t vertices_in(uint32_t *table, const SETTLED_PX &s, int j)
{
    return look_up<false>(table, s.comp[j]).comp;
}

#endif
