/* SPDX-License-Identifier: MIT */
/* connect_parts.cuh - internals that connect_tile.cu and connect_omega.cu share: the tree of a
 * tile, and the links of its ring. */
#pragma once

#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/published/connect.cuh"
#include "gpu/published/connect_tile.cuh"

enum { QFZ_CONNECT_THREADS = 256 };

/* The tree of a tile.  Nodes: the pixels, the edges in each direction, external links. */
struct qfz_connect_tree {
    int32_t h, w;
    int64_t n_px, n_nodes;
    qfz_tree_links links;
};

/* The items of a kernel with one thread each; 0 <= item, and the kernel returns if item >= n. */
QFZ_DEVICE int64_t qfz_connect_item(void)
{
    return (int64_t)blockIdx.x * QFZ_CONNECT_THREADS + threadIdx.x;
}

template <typename... P, typename... A>
static inline qfz_status qfz_connect_launch(qfz_gpu *gpu, void (*kernel)(P...), int64_t n,
                                            A... args)
{
    return qfz_launch_each(gpu, kernel, n, QFZ_CONNECT_THREADS, args...);
}

/* The number of ring pixel i as a pixel of the tile. */
QFZ_DEVICE uint32_t qfz_connect_ring_node(const qfz_connect_tree &tree, int64_t i)
{
    const int2 place = qfz_ring_pixel(tree.h, tree.w, (int32_t)i);
    return (uint32_t)place.y * (uint32_t)tree.w + (uint32_t)place.x;
}

/* The memory in which the links of a ring are sorted. */
struct qfz_connect_ring_room {
    uint64_t *keys[2]; /* level << 32 | v; all ones after the last link */
    uint32_t *u[2];
    void *sort;
};

/* The tree with room for n_external links. */
qfz_connect_tree qfz_connect_tree_of(int connectivity, int32_t h, int32_t w, int64_t n_external);

/* Builds the tree, whose memory is carved. */
qfz_status qfz_connect_build(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                             uint32_t alpha_level, const qfz_gpu_links *external,
                             qfz_connect_phase last, const qfz_connect_tree *tree);

/* rep[node] = the least ring pixel below it, QFZ_NONE where there is none; and the links. */
void qfz_connect_ring_carve(int64_t n_ring, qfz_carve *carve, qfz_connect_ring_room *room);
qfz_status qfz_connect_ring(qfz_gpu *gpu, const qfz_connect_tree *tree, uint32_t *d_rep,
                            const qfz_connect_ring_room *room, const qfz_gpu_links *links,
                            uint32_t *d_n);
