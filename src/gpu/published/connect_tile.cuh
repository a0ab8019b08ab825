/* SPDX-License-Identifier: MIT */
/* connect_tile.cuh - methods connect-v1 and connect-v2 for tiles: saliency, (alpha,
 * omega)-components and boundary summaries, read from the tree of Carlinet, Kaci, Blin, An
 * alpha-tree algorithm for massively parallel architectures (IEEE TIP 2025).
 *
 * A tile is what is resident together on one GPU.  The paper's tiles are its blocks: their trees
 * are built in shared memory and joined in place by CONNECT along their borders
 * (connect_blocks.cu).  External links, which stand for all that is outside the tile, are inserted
 * into the tree by CONNECT, too.  Then flattening replaces every parent by the last node of its
 * level.
 *
 * Of the flattened tree is read:
 *   - the minimax level of two pixels, the saliency of an edge: the level at which the ways up from
 *     them meet;
 *   - the links of the tile's ring: each node takes the least ring pixel below it as its
 *     representative; where the representative changes on the way up from a ring pixel, there is a
 *     link;
 *   - the range of values of each node, and with it the highest node of each pixel that is within
 *     omega.
 *
 * Beyond the paper: levels of 32 bits, several bands, floats, invalid pixels, external links. All
 * functions launch kernels on gpu->stream and do not synchronise. */
#pragma once

#include "gpu/omega/omega.cuh"
#include "gpu/published/canonical_tree.cuh"

/* The phases of the paper's tables, in order; a function ends after the one that it is given. */
typedef enum qfz_connect_phase {
    QFZ_CONNECT_LOCAL = 0, /* trees of blocks */
    QFZ_CONNECT_MERGE,     /* edges across seams, external links */
    QFZ_CONNECT_FLATTEN,
    QFZ_CONNECT_READ
} qfz_connect_phase;

/* ---- Saliency -------------------------------------------------------------------------------- */

/* Bytes of memory for the two functions below, for as many external links as the ring of a tile of
 * h x w has pixels. */
size_t qfz_connect_levels_bytes(int connectivity, int32_t h, int32_t w, bool narrow);

/* As qfz_gpu_saliency(). */
qfz_status qfz_connect_saliency(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                                const qfz_gpu_links *external, qfz_connect_phase last,
                                void *d_memory, void **d_saliency);

/* As qfz_gpu_border_links(), and *d_largest = the greatest level of a join of the tile's minimum
 * spanning forest that no link stands for; d_largest may be NULL. */
qfz_status qfz_connect_ring_links(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                                  void *d_memory, const qfz_gpu_links *links, uint32_t *d_n,
                                  uint32_t *d_largest);

/* ---- (alpha, omega)-components: as the functions of omega.cuh ---------------------------------
 */
size_t qfz_connect_omega_bytes(const qfz_rule *rule, int32_t h, int32_t w);
qfz_status qfz_connect_omega(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_image *image,
                             const qfz_rule *rule, const qfz_gpu_omega_exterior *exterior,
                             qfz_connect_phase last, void *d_scratch, uint32_t *d_root);
qfz_status qfz_connect_omega_links(qfz_gpu *gpu, qfz_gpu_connect version,
                                   const qfz_gpu_image *image, const qfz_rule *rule,
                                   void *d_scratch, qfz_gpu_links *links, uint32_t **d_n);
qfz_status qfz_connect_omega_ranges(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                    void *d_scratch, uint32_t n, qfz_gpu_ranges *ranges);
