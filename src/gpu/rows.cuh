/* SPDX-License-Identifier: MIT */
/* rows.cuh - the saliency of every edge where a tile has 4-connected edges and one band of 8 or 16
 * bits: the forest of boruvka.cuh, but edges whose two pixels meet in their block are answered
 * there, out of registers (rows_block.cu).  What a block leaves open goes to a list, which is
 * served when the graph of all blocks is done (rows_query.cu). */
#ifndef QFZ_GPU_ROWS_CUH
#define QFZ_GPU_ROWS_CUH

#include "gpu/boruvka_parts.cuh"

/* What blocks leave open: `most` entries a block, each (edge << 18 | vertex << 9 | vertex, level),
 * the edge being direction * QFZ_BLOCK_PX + pixel; vertices count from the block's first.  A block
 * that has more than `most` stores of each pixel level << 16 | vertex in the same room. */
enum { QFZ_OPEN_ROOM = QFZ_BLOCK_PX / 2 };

/* forest.top, .comp and .hooks are not made; forest.block is (first vertex; open edges << 16 |
 * vertices). */
typedef struct qfz_rows {
    qfz_gpu_forest forest;
    uint2 *open; /* QFZ_OPEN_ROOM entries a block */
} qfz_rows;

/* Is it the way for such edges? */
static inline bool qfz_rows_fit(const qfz_gpu_edges *edges)
{
    return edges->connectivity == 4 && edges->form != QFZ_EDGES_KEYS;
}

/* Shared memory that a block of threads needs. */
size_t qfz_rows_shared(void);

/* The rounds in blocks; d_saliency as in boruvka.cuh, of the edges that blocks answer. */
qfz_status qfz_rows_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                           void *d_saliency);

/* All other edges, after qfz_boruvka_rounds(). */
qfz_status qfz_rows_query(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_rows *rows,
                          void *d_saliency);

#endif
