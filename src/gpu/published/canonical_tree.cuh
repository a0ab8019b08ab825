/* SPDX-License-Identifier: MIT */
/* canonical_tree.cuh - methods connect-v1 and connect-v2: the canonical alpha-tree of a tile, by
 * Carlinet, Kaci, Blin, An alpha-tree algorithm for massively parallel architectures (IEEE TIP
 * 2025). 4- and 8-connected; 8-, 16- and 32-bit levels.
 *
 * Every pixel is a node of level 0; every edge may become a node of the edge's level. Trees of
 * blocks are built in shared memory, then the edges across the seams are inserted, all by CONNECT
 * (connect.cuh). Version 1 inserts every edge. Version 2 tests an edge first and skips it if it is
 * residual (its pixels are joined at its level already) or redundant (a node of its level exists
 * there). Canonicalization (canonical_tree.cu) then removes aliases and nodes with one child and
 * numbers the rest.
 *
 * Memory: 8 bytes a node while the tree grows, that is 24 a pixel 4-connected and 40 8-connected; 3
 * bits a node more for canonicalization. */
#pragma once

#include "gpu/device/image.cuh"

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
