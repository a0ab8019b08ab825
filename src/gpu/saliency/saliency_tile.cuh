/* SPDX-License-Identifier: MIT */
/* saliency_tile.cuh - the saliency of every edge of a tile, and the tile's links on its ring, from
 * a forest (forest/boruvka.cuh) of which only the graph of all blocks is stored.
 *
 * Kernels and data: saliency.cuh. */
#ifndef QFZ_GPU_SALIENCY_TILE_CUH
#define QFZ_GPU_SALIENCY_TILE_CUH

#include "gpu/forest/boruvka.cuh"

/* Dynamic shared memory, bytes, that a block of threads of the functions below needs. */
size_t qfz_gpu_saliency_shared(const qfz_gpu_edges *edges);

/* The saliency of every edge, out of a forest that does not remain.  external: links through the
 * outside of the tile, or NULL. *d_saliency: n_dirs planes of h * w, the minimax level of each
 * edge's two pixels, the greatest value of the type where there is no edge inside the tile; of
 * uint16_t for narrow edges, among which a level may be as great as that, else of uint32_t.  They
 * lie in d_memory, which has qfz_gpu_saliency_bytes(): 1.5 bytes a pixel more than the planes have
 * for wide edges of eight neighbours, else 5.5 to 7. */
size_t qfz_gpu_saliency_bytes(const qfz_gpu_edges *edges, int64_t n_external);
qfz_status qfz_gpu_saliency(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_links *external,
                            void *d_memory, void **d_saliency);

/* A forest of which only qfz_gpu_border_links() is asked; d_scratch has
 * qfz_gpu_ring_forest_bytes(). */
size_t qfz_gpu_ring_forest_bytes(const qfz_gpu_edges *edges);
qfz_status qfz_gpu_ring_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_scratch,
                                    qfz_gpu_forest *forest);

#endif
