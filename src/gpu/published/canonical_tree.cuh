/* SPDX-License-Identifier: MIT */
/* tree.cuh - the canonical alpha-tree of a tile, by Carlinet, Kaci and Blin, An alpha-tree
 * algorithm for massively parallel architectures (IEEE TIP 2025).
 *
 * Every pixel is a node of level 0, and every edge may become one, of the edge's level.  Trees of
 * blocks are built in shared memory, then the edges across the seams are inserted, all by CONNECT
 * (connect.cuh).  Version 1 puts every edge into the tree; version 2 those only that its test does
 * not find residual (their pixels are joined already) or redundant (a node of their level is
 * there).  Then aliases and nodes of one child give way, and what stays is numbered.
 *
 * 8 bytes a node while the tree grows: 24 a pixel 4-connected, 40 8-connected; 3 bits a node more
 * for the numbering. */
#ifndef QFZ_GPU_TREE_CUH
#define QFZ_GPU_TREE_CUH

#include "gpu/device/image.cuh"

typedef enum qfz_gpu_connect { QFZ_CONNECT_V1 = 1, QFZ_CONNECT_V2 } qfz_gpu_connect;

size_t qfz_gpu_tree_bytes(int connectivity, int32_t h, int32_t w);

/* d_parent and d_level, of room for 2 * h * w, become a qfz_tree (qfz.h) of *d_n_nodes nodes. Edges
 * of keys above alpha_level are left out. */
qfz_status qfz_gpu_tree(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                        uint32_t alpha_level, void *d_scratch, uint32_t *d_parent,
                        uint32_t *d_level, uint32_t *d_n_nodes);

/* ---- Its parts.  d_links: one word a node; node p is pixel p, node (1 + d) * n + p the edge of
 * pixel p in direction d, n being h * w. */
qfz_status qfz_gpu_connect_v1(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                              uint64_t *d_links);
qfz_status qfz_gpu_connect_v2(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                              uint64_t *d_links);

size_t qfz_gpu_canonical_bytes(int connectivity, int64_t n_px);
qfz_status qfz_gpu_canonical(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                             uint64_t *d_links, void *d_scratch, uint32_t *d_parent,
                             uint32_t *d_level, uint32_t *d_n_nodes);

#endif
