/* SPDX-License-Identifier: MIT */
/* saliency.cuh - the saliency of every edge of a tile, without storing the tile's forest
 * (boruvka.cuh). The block solver (block.cuh) closes most edges of each block of 64 x 64 pixels
 * while its pixels are in registers: saliency_block.cu (four neighbours, levels of 16 bits),
 * saliency_wide_block.cu (32 bits), saliency_eight_block.cu and saliency_eight_wide_block.cu (eight
 * neighbours). The graph of all blocks is then solved in global memory (boruvka_global.cu), and the
 * queries saliency_query.cu and saliency_eight_query.cu find the saliency of the remaining edges.
 *
 * To close an edge is to find its saliency; an edge is open until then. */
#pragma once

#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/saliency/saliency_tile.cuh"
#include "core/level.h"

/* An entry of the list of open edges: bits 0-8 and 16-24 two vertices, counted from the block's
 * first; bits 9-14 x and 25-30 y of the pixel where the edge starts; bit 31: the edge leads down,
 * else right. Its place in the planes has the level from its pixels up to these vertices. */
enum {
    QFZ_OPEN_ROOM = QFZ_FOREST_BLOCK_PX / 2,
    QFZ_OPEN_VERTEX = 0x1ff,
    QFZ_OPEN_X = 9,
    QFZ_OPEN_Y = 25
};
static const uint32_t QFZ_OPEN_DOWN = 1u << 31;

/* With eight neighbours there is no list: the stored vertex of each pixel shows which edges are
 * open. */
enum { QFZ_OPEN_INVALID = QFZ_OPEN_VERTEX }; /* stored instead of a vertex: the pixel is invalid */

/* Room for the planes that are made late. Among any three pixels of a square a b / c d, two of the
 * three saliencies are equal and the third is not greater. Where levels have 32 bits, the query
 * therefore makes the planes of a-d and b-c from the other two. The saliency of b-c is the greater
 * of those of a-b and a-c; if it is less, it is stored at the place of a-c, whose saliency then
 * equals that of a-b. The saliency of a-d is the greater of those of a-b and b-d; if it is less, it
 * is stored at the place of a-b, whose saliency then equals that of b-d. Bits mark the moved
 * levels, by pixel a: per row, those of a-d, then those of b-c; even columns, then odd columns. */
enum { QFZ_MOVED_WORDS = 4 * QFZ_SIDE };

/* Where a block stores the vertices of its pixels: h rows of n_words words, two pixels a word,
 * `pitch` words from one row to the next. */
struct vertex_map {
    uint32_t *first;
    int64_t pitch;
    int32_t h, n_words;
};

/* The results of all blocks: a forest without top, comp and hooks, whose block[b] is (first vertex;
 * number of open edges << 16 | number of vertices), and what the query needs besides. */
typedef struct qfz_saliency_blocks {
    qfz_gpu_forest forest;
    /* QFZ_OPEN_ROOM open edges a block. A block with more open edges, or with eight neighbours,
     * stores the vertex of each pixel in the same room instead, 16 bits each: QFZ_STEP_MASK or more
     * (four neighbours) or QFZ_OPEN_INVALID (eight) where there is none. */
    uint32_t *open;
    /* The query makes the last two planes, from the other two and from QFZ_MOVED_WORDS a block;
     * until then the block's vertices are stored in the place of these planes. */
    bool made_late;
    uint32_t *moved;
} qfz_saliency_blocks;

/* The vertices of this thread block's pixels: in blocks.open, or, for levels of 32 bits, in the
 * plane of the diagonals that the query makes. */
template <typename T>
QFZ_DEVICE vertex_map vertices_at(const qfz_gpu_forest &f, const qfz_block_box &box, uint32_t *open,
                                  T *saliency)
{
    const int64_t n_px = (int64_t)f.h * f.w, first_px = (int64_t)box.y * f.w + box.x;
    if constexpr (sizeof(T) == sizeof(uint32_t))
        return {saliency + (QFZ_BELOW_RIGHT * n_px + first_px), f.w, box.h, (box.w + 1) / 2};
    return {open + (int64_t)blockIdx.x * QFZ_OPEN_ROOM, QFZ_SIDE / 2, QFZ_SIDE, QFZ_SIDE / 2};
}

/* Runs the rounds in all blocks, by a variant of the block solver (boruvka_parts.cuh): fills
 * blocks->forest, and blocks->open (and moved) for the query. d_saliency, the planes of
 * boruvka.cuh, receives the saliency of edges closed inside a block, the query writes the others.
 * NULL: the forest alone is wanted; blocks->open is not written. */
template <typename WAY>
qfz_status qfz_saliency_solve(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency);

/* Write the saliency of all other edges; call after qfz_boruvka_rounds(). narrow: d_saliency is
 * uint16_t, else uint32_t. */
qfz_status qfz_saliency_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks, bool narrow,
                              void *d_saliency);
qfz_status qfz_saliency_eight_query(qfz_gpu *gpu, const qfz_saliency_blocks *blocks, bool narrow,
                                    void *d_saliency);
