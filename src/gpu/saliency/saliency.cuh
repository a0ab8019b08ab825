/* SPDX-License-Identifier: MIT */
/* saliency.cuh - the saliency of every edge: the forest of boruvka.cuh, but edges whose two pixels
 * meet in their block are answered there, out of registers (saliency_block.cu; levels of 32 bits:
 * saliency_wide_block.cu; eight neighbours: saliency_eight_block.cu, saliency_eight_wide_block.cu).
 * What a block leaves open goes to a list, which is served when the graph of all blocks is done
 * (saliency_query.cu, saliency_eight_query.cu). */
#ifndef QFZ_GPU_SALIENCY_CUH
#define QFZ_GPU_SALIENCY_CUH

#include "gpu/forest/boruvka_parts.cuh"
#include "core/level.h"

/* An open edge: two vertices, counted from the block's first, at bits 0 and 16; the pixel where it
 * starts; bit 31: it leads down.  The level up to these vertices is in its place in the planes. */
enum { QFZ_OPEN_ROOM = QFZ_BLOCK_PX / 2, QFZ_OPEN_VERTEX = 0x1ff, QFZ_OPEN_X = 9, QFZ_OPEN_Y = 25 };
static const uint32_t QFZ_OPEN_DOWN = 1u << 31;

/* With eight neighbours there is no list: the vertex of each pixel tells which edges are open. */
enum { QFZ_OPEN_INVALID = QFZ_OPEN_VERTEX }; /* in place of one: the pixel is not valid */

/* Of a square's pixels a b / c d the levels of any three are such that two are equal and the third
 * is no greater.  So where levels have 32 bits the planes of a - d and b - c wait until the graph
 * is done.  b - c is the greater of a - b and a - c; or, if it is less, it lies in the place of a -
 * c, which then is equal to a - b.  a - d is the greater of a - b and b - d; or, if it is less, it
 * lies in the place of a - b, which then is equal to b - d.  Bits tell which, of a row's pixels a:
 * those of a - d, then those of b - c; even columns, then odd ones. */
enum { QFZ_MOVED_WORDS = 4 * QFZ_SIDE };

/* Where a block has the vertices of its pixels: two a word, n_words of them in each of h rows, with
 * `pitch` words from one to the next. */
struct vertex_map {
    uint32_t *first;
    int64_t pitch;
    int32_t h, n_words;
};

/* forest.top, .comp and .hooks are not made; forest.block is (first vertex; open edges << 16 |
 * vertices). */
typedef struct qfz_saliency_blocks {
    qfz_gpu_forest forest;
    /* QFZ_OPEN_ROOM edges a block.  A block that has more, or one of eight neighbours, stores in
     * the same room the vertex of each pixel instead, 16 bits: where there is none, QFZ_STEP_MASK
     * or more, or QFZ_OPEN_INVALID. */
    uint32_t *open;
    /* The last two planes are made by the query, out of the others and of QFZ_MOVED_WORDS a block;
     * the vertices of a row of a block lie where the row of the first of them will be. */
    bool made_late;
    uint32_t *moved;
} qfz_saliency_blocks;

/* The room of a block in rows.open, or in the planes. */
template <typename T>
static __device__ __forceinline__ vertex_map vertices_at(const qfz_gpu_forest &f,
                                                         const qfz_block_box &box, uint32_t *open,
                                                         T *saliency)
{
    const int64_t n_px = (int64_t)f.h * f.w, first_px = (int64_t)box.y * f.w + box.x;
    if constexpr (sizeof(T) == sizeof(uint32_t))
        return {saliency + (QFZ_BELOW_RIGHT * n_px + first_px), f.w, box.h, (box.w + 1) / 2};
    return {open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM, QFZ_SIDE / 2, QFZ_SIDE, QFZ_SIDE / 2};
}

/* Shared memory that a block of threads needs: where a band is read as it is, with 8 or 16 bits,
 * and otherwise; four neighbours, eight. */
size_t qfz_saliency_narrow_shared(void);
size_t qfz_saliency_eight_shared(void);
size_t qfz_saliency_wide_shared(void);
size_t qfz_saliency_eight_wide_shared(void);

/* The rounds in blocks; d_saliency as in boruvka.cuh, of the edges that blocks answer; NULL: none
 * is asked for, and rows->open is not made. */
qfz_status qfz_saliency_narrow_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_saliency_blocks *blocks, uint16_t *d_saliency);
qfz_status qfz_saliency_eight_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                     const qfz_saliency_blocks *blocks, uint16_t *d_saliency);
qfz_status qfz_saliency_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                    const qfz_saliency_blocks *blocks, void *d_saliency);
qfz_status qfz_saliency_eight_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                          const qfz_saliency_blocks *blocks, void *d_saliency);

/* All other edges, after qfz_boruvka_rounds(); narrow: saliency has 16 bits. */
qfz_status qfz_saliency_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks, bool narrow,
                              void *d_saliency);
qfz_status qfz_saliency_eight_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks, bool narrow,
                                    void *d_saliency);

#endif
