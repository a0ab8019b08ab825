/* SPDX-License-Identifier: MIT */
/* connect_tile.cuh - methods connect-v1 and connect-v2, of Carlinet, Kaci, Blin, An alpha-tree
 * algorithm for massively parallel architectures (IEEE TIP 2025): the canonical alpha-tree of a
 * tile, and saliency, (alpha, omega)-components and boundary summaries read from a tree. Beyond the
 * paper: levels of 32 bits, several bands, floats, invalid pixels, external links.
 *
 * A tile is what is resident together on one GPU.  The paper's tiles are its blocks: their trees
 * are built in shared memory and joined in place along their borders, by CONNECT (connect.cuh).
 * Every pixel is a node of level 0; every edge may become a node of the edge's level. Version 1
 * inserts every edge. Version 2 tests an edge first and skips it if it is residual (its pixels are
 * joined at its level already) or redundant (a node of its level exists there). External links,
 * which stand for all that is outside the tile, are inserted by CONNECT, too.  Then flattening
 * replaces every parent by the last node of its level; for the canonical tree, canonicalization
 * (canonical_tree.cu) removes aliases and nodes with one child and numbers the rest.
 *
 * Memory: 8 bytes a node while the tree grows, that is 24 a pixel 4-connected and 40 8-connected; 3
 * bits a node more for canonicalization.
 *
 * Of the flattened tree is read:
 *   - the minimax level of two pixels, the saliency of an edge: the level at which the ways up from
 *     them meet;
 *   - the links of the tile's ring: each node takes the least ring pixel below it as its
 *     representative; where the representative changes on the way up from a ring pixel, there is a
 *     link;
 *   - the range of values of each node, and with it the highest node of each pixel that is within
 *     omega. */
#pragma once

#include "gpu/omega/omega.cuh"

/* The phases of the paper's tables, in order; a function ends after the one that it is given. */
typedef enum qfz_connect_phase {
    QFZ_CONNECT_LOCAL = 0, /* trees of blocks */
    QFZ_CONNECT_MERGE,     /* edges across seams, external links */
    QFZ_CONNECT_FLATTEN,
    QFZ_CONNECT_READ
} qfz_connect_phase;

/* ---- The tree -------------------------------------------------------------------------------- */

typedef enum qfz_gpu_connect { QFZ_CONNECT_V1 = 1, QFZ_CONNECT_V2 } qfz_gpu_connect;

size_t qfz_gpu_tree_bytes(int connectivity, int32_t h, int32_t w);

/* Makes the tree: d_parent and d_level, with room for 2 * h * w entries each, become a qfz_tree
 * (qfz.h) of *d_n_nodes nodes. Edges of levels above alpha_level are left out. d_scratch has
 * qfz_gpu_tree_bytes(). */
qfz_status qfz_gpu_tree(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                        uint32_t alpha_level, void *d_scratch, uint32_t *d_parent,
                        uint32_t *d_level, uint32_t *d_n_nodes);

/* The first step, which fills d_links: one word a node (connect.cuh). is_local: only the trees of
 * blocks are built, and no edge across their seams is inserted. */
qfz_status qfz_gpu_connect_trees(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                                 uint32_t alpha_level, bool is_local, uint64_t *d_links);

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
