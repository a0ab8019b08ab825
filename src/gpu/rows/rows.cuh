/* SPDX-License-Identifier: MIT */
/* rows.cuh - the saliency of every edge: the forest of boruvka.cuh, but edges whose two pixels meet
 * in their block are answered there, out of registers (rows_block.cu; levels of 32 bits:
 * rows_wide_block.cu; eight neighbours: rows_eight_block.cu, rows_eight_wide_block.cu).  What a
 * block leaves open goes to a list, which is served when the graph of all blocks is done
 * (rows_query.cu, rows_eight_query.cu). */
#ifndef QFZ_GPU_ROWS_CUH
#define QFZ_GPU_ROWS_CUH

#include "gpu/forest/boruvka_parts.cuh"

/* An open edge: two vertices, counted from the block's first, at bits 0 and 16; the pixel where it
 * starts; bit 31: it leads down.  The level up to these vertices is in its place in the planes. */
enum { QFZ_OPEN_ROOM = QFZ_BLOCK_PX / 2, QFZ_OPEN_VERTEX = 0x1ff, QFZ_OPEN_X = 9, QFZ_OPEN_Y = 25 };
static const uint32_t QFZ_OPEN_DOWN = 1u << 31;

/* With eight neighbours there is no list: the vertex of each pixel tells which edges are open. */
enum { QFZ_OPEN_INVALID = QFZ_OPEN_VERTEX }; /* in place of one: the pixel is not valid */

/* Of two pixels beside each other and the one below the first, two of the three levels are equal
 * and the third is no greater.  So where levels have 32 bits the plane of the last edge, down to
 * the left from the second pixel, waits until the graph is done: it is the greater of the two
 * others, or, if it is less, lies in the place of the second's, which then is equal to the first.
 * Bits tell which, of the first pixels: two words a row, of its even columns and of its odd ones.
 */
enum { QFZ_MOVED_WORDS = 2 * QFZ_SIDE };

/* forest.top, .comp and .hooks are not made; forest.block is (first vertex; open edges << 16 |
 * vertices). */
typedef struct qfz_rows {
    qfz_gpu_forest forest;
    /* QFZ_OPEN_ROOM edges a block.  A block that has more, or one of eight neighbours, stores in
     * the same room the vertex of each pixel instead, 16 bits: where there is none, QFZ_STEP_MASK
     * or more, or QFZ_OPEN_INVALID. */
    uint32_t *open;
    bool anti_last;  /* the last plane is made by the query, out of the others and of */
    uint32_t *moved; /* QFZ_MOVED_WORDS a block */
} qfz_rows;

/* Shared memory that a block of threads needs: where a band is read as it is, with 8 or 16 bits,
 * and otherwise; four neighbours, eight. */
size_t qfz_rows_narrow_shared(void);
size_t qfz_rows_eight_shared(void);
size_t qfz_rows_wide_shared(void);
size_t qfz_rows_eight_wide_shared(void);

/* The rounds in blocks; d_saliency as in boruvka.cuh, of the edges that blocks answer; NULL: none
 * is asked for, and rows->open is not made. */
qfz_status qfz_rows_narrow_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                                  uint16_t *d_saliency);
qfz_status qfz_rows_eight_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                                 uint16_t *d_saliency);
qfz_status qfz_rows_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                                void *d_saliency);
qfz_status qfz_rows_eight_wide_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                                      const qfz_rows *rows, void *d_saliency);

/* All other edges, after qfz_boruvka_rounds(); narrow: saliency has 16 bits. */
qfz_status qfz_rows_query(qfz_gpu *gpu, const qfz_rows *rows, bool narrow, void *d_saliency);
qfz_status qfz_rows_eight_query(qfz_gpu *gpu, const qfz_rows *rows, bool narrow, void *d_saliency);

#endif
