/* SPDX-License-Identifier: MIT */
/* saliency_tile.cuh - the saliency of every edge of a tile, and the tile's links on its ring, from
 * a forest (forest/boruvka.cuh) of which only the graph of all blocks is stored.
 *
 * Kernels and data: saliency.cuh. */
#pragma once

#include "gpu/forest/boruvka.cuh"

/* The saliency of every edge of a tile. external: links through the outside of the tile, or NULL.
 * *d_saliency receives n_dirs planes of h * w: the minimax level of each edge's two pixels, or the
 * largest value of the type where there is no edge inside the tile. The type is uint16_t for narrow
 * edges (qfz_gpu_is_narrow()), else uint32_t; an existing edge may have the largest value, too. The
 * planes lie in d_memory, which has qfz_gpu_saliency_bytes(): 1.5 bytes a pixel more than the
 * planes for wide edges of eight neighbours, else 5.5 to 7. */
size_t qfz_gpu_saliency_bytes(const qfz_gpu_edges *edges, int64_t n_external);
qfz_status qfz_gpu_saliency(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_links *external,
                            void *d_memory, void **d_saliency);

/* Makes a forest that serves only qfz_gpu_border_links(); d_scratch has
 * qfz_gpu_ring_forest_bytes(). */
size_t qfz_gpu_ring_forest_bytes(const qfz_gpu_edges *edges);
qfz_status qfz_gpu_ring_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_scratch,
                                    qfz_gpu_forest *forest);
