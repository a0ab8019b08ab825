/* SPDX-License-Identifier: MIT */
/* connect_blocks.cu - versions 1 and 2 of the paper (connect_tile.cuh): a kernel builds the tree
 * of a block of pixels in shared memory, and kernels insert the edges across vertical, then
 * horizontal seams. In version 1 every edge is a node, and each pixel begins as the chain of its
 * edges. In version 2 an edge becomes a node only if it is neither residual nor redundant. */
#include "gpu/published/connect.cuh"
#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/published/connect_tile.cuh"

enum { TREE_W = 32, SEAM_BLOCK = 256 };

namespace
{
/* A block of pixels, a warp wide. High blocks pay off where merging chains across seams in global
 * memory costs more than in shared memory: with many levels and many edges. */
template <int N_DIRS, typename T> struct block_of {
    enum { H = sizeof(T) > 1 && N_DIRS == 4 ? 32 : 8, N = TREE_W * H };
};

/* A pixel's edges: bit d of `there` is set if the edge in direction d exists, with level key[d]. */
template <int N_DIRS> struct pixel_edges {
    uint32_t key[N_DIRS];
    unsigned there;
};
} // namespace

template <int N_DIRS, typename T>
static QFZ_DEVICE pixel_edges<N_DIRS> edges_at(const qfz_edge_reader<T> &reader, int32_t y,
                                               int32_t x)
{
    pixel_edges<N_DIRS> edges = {};
    if (y >= reader.h || x >= reader.w) return edges;
    QFZ_EACH (d, N_DIRS)
        if (reader.read(y, x, d, &edges.key[d])) edges.there |= 1u << d;
    return edges;
}

/* Version 1: links a pixel and its edges, ascending, to a chain; n_local nodes of each kind. */
template <int N_DIRS>
static QFZ_DEVICE void put_chain(const qfz_tree_links &links, uint32_t i, uint32_t n_local,
                                 const pixel_edges<N_DIRS> &edges)
{
    uint64_t order[N_DIRS];
    QFZ_EACH (d, N_DIRS)
        order[d] = edges.there >> d & 1 ? (uint64_t)edges.key[d] << 2 | (unsigned)d : UINT64_MAX;
#pragma unroll
    for (int end = N_DIRS - 1; end > 0; end--)
        QFZ_EACH (k, end) {
            const uint64_t low = order[k] < order[k + 1] ? order[k] : order[k + 1];
            order[k + 1] = order[k] < order[k + 1] ? order[k + 1] : order[k];
            order[k] = low;
        }
    uint32_t node = i, level = 0;
    QFZ_EACH (k, N_DIRS) {
        if (order[k] == UINT64_MAX) break;
        const qfz_link up = {(1 + (uint32_t)(order[k] & 3)) * n_local + i,
                             (uint32_t)(order[k] >> 2)};
        links.put(node, up);
        node = up.parent;
        level = up.level;
    }
    links.put(node, qfz_link{node, level});
}

/* Version 2: makes every node a root. */
template <int N_DIRS>
static QFZ_DEVICE void put_roots(const qfz_tree_links &links, uint32_t i, uint32_t n_local,
                                 const pixel_edges<N_DIRS> &edges)
{
    links.put(i, qfz_link{i, 0});
    QFZ_EACH (d, N_DIRS) {
        const uint32_t node = (1 + (uint32_t)d) * n_local + i;
        if (edges.there >> d & 1) links.put(node, qfz_link{node, edges.key[d]});
    }
}

/* A node's link, after its parent has been replaced by the last node of its level. All nodes do so
 * at once, so every step halves the paths. */
static QFZ_DEVICE qfz_link shortened(const qfz_tree_links &links, uint32_t node)
{
    qfz_link link = links.get(node);
    while (link.parent != node) {
        const qfz_link up = links.get(link.parent);
        if (up.parent == link.parent || up.level != link.level) break;
        link = up;
        links.shorten(node, link);
    }
    return link;
}

/* Copies a block's links to global memory and renumbers nodes from the block to the tile. Later
 * nodes come first, since parents are later. */
template <int N_DIRS>
static QFZ_DEVICE void put_out(const qfz_tree_links &links, const pixel_edges<N_DIRS> &edges,
                               int32_t block_h, int32_t h, int32_t w, unsigned long long *out)
{
    const uint32_t n_local = (uint32_t)block_h * TREE_W;
    const uint32_t i = threadIdx.y * TREE_W + threadIdx.x;
    const uint32_t y0 = blockIdx.y * (uint32_t)block_h, x0 = blockIdx.x * TREE_W;
    const uint32_t n = (uint32_t)h * (uint32_t)w;
    const uint32_t p = (y0 + threadIdx.y) * (uint32_t)w + x0 + threadIdx.x;
    if (y0 + threadIdx.y >= (uint32_t)h || x0 + threadIdx.x >= (uint32_t)w) return;
#pragma unroll
    for (int k = N_DIRS; k >= 0; k--) {
        const uint32_t node = (uint32_t)k * n_local + i;
        qfz_link link = {node, 0};
        if (k == 0 || edges.there >> (k - 1) & 1) link = shortened(links, node);
        const uint32_t kind = link.parent / n_local, r = link.parent % n_local;
        link.parent = kind * n + (y0 + r / TREE_W) * (uint32_t)w + x0 + r % TREE_W;
        out[(size_t)k * n + p] = qfz_tree_links::pack(link);
    }
}

template <int VERSION, int N_DIRS, typename T>
static __global__ void __launch_bounds__(TREE_W *block_of<N_DIRS, T>::H)
    k_build(qfz_edge_reader<T> reader, unsigned long long *out)
{
    typedef block_of<N_DIRS, T> block;
    enum { BLOCK_H = block::H, N_LOCAL = block::N };
    QFZ_SHARED(unsigned long long, words);
    const qfz_tree_links links = {words};
    const int32_t lx = (int32_t)threadIdx.x, ly = (int32_t)threadIdx.y;
    const int32_t y = (int32_t)blockIdx.y * BLOCK_H + ly;
    const int32_t x = (int32_t)blockIdx.x * TREE_W + lx;
    const uint32_t i = (uint32_t)(ly * TREE_W + lx);
    const pixel_edges<N_DIRS> edges = edges_at<N_DIRS>(reader, y, x);
    if (VERSION == QFZ_CONNECT_V1)
        put_chain<N_DIRS>(links, i, N_LOCAL, edges);
    else
        put_roots<N_DIRS>(links, i, N_LOCAL, edges);
    __syncthreads();
    QFZ_EACH (d, N_DIRS) {
        const int32_t to_y = ly + qfz_step_y(d), to_x = lx + qfz_step_x(d);
        if (!(edges.there >> d & 1) || to_y >= BLOCK_H || to_x < 0 || to_x >= TREE_W) continue;
        const uint32_t q = (uint32_t)(to_y * TREE_W + to_x);
        const uint32_t edge = (1 + (uint32_t)d) * N_LOCAL + i;
        if (VERSION == QFZ_CONNECT_V1)
            qfz_connect(links, qfz_start(links, edge, edges.key[d]), qfz_start(links, q, 0));
        else
            qfz_connect_with(links, i, q, edge, edges.key[d]);
    }
    __syncthreads();
    put_out<N_DIRS>(links, edges, BLOCK_H, reader.h, reader.w, out);
}

/* The z-th direction whose edges cross seams of a kind. A diagonal edge that crosses both kinds
 * belongs to the vertical seam. */
template <bool VERTICAL> static QFZ_DEVICE int seam_direction(unsigned z)
{
    if (!VERTICAL) return (int)z + 1;
    return z == 0 ? (int)QFZ_RIGHT : (int)z + 1;
}

/* Inserts edges across seams, one a thread: n_seams seams of `along` pixels each; blockIdx.y:
 * direction. */
template <int VERSION, bool VERTICAL, typename T>
static __global__ void __launch_bounds__(SEAM_BLOCK)
    k_seams(qfz_edge_reader<T> reader, int32_t block_h, int64_t n, unsigned long long *words)
{
    const int64_t k = (int64_t)blockIdx.x * SEAM_BLOCK + threadIdx.x;
    const int32_t along = VERTICAL ? reader.h : reader.w;
    if (k >= n) return;
    const int32_t seam = (int32_t)(k / along) + 1, at = (int32_t)(k % along);
    const int d = seam_direction<VERTICAL>(blockIdx.y);
    const int32_t y = VERTICAL ? at : seam * block_h - 1;
    const int32_t x = VERTICAL ? seam * TREE_W - (d == QFZ_BELOW_LEFT ? 0 : 1) : at;
    if (!VERTICAL && d == QFZ_BELOW_RIGHT && (x + 1) % TREE_W == 0) return;
    if (!VERTICAL && d == QFZ_BELOW_LEFT && x % TREE_W == 0) return;
    uint32_t key;
    if (!reader.read(y, x, d, &key)) return;
    const qfz_tree_links links = {words};
    const uint32_t w = (uint32_t)reader.w, n_px = (uint32_t)reader.h * w;
    const uint32_t p = (uint32_t)y * w + (uint32_t)x, q = p + (uint32_t)reader.beyond(d);
    const uint32_t edge = (1 + (uint32_t)d) * n_px + p;
    if (VERSION == QFZ_CONNECT_V1)
        qfz_connect(links, qfz_start(links, edge, key), qfz_start(links, q, 0));
    else
        qfz_connect_with(links, p, q, edge, key);
}

template <int VERSION, bool VERTICAL, typename T>
static qfz_status connect_seams(qfz_gpu *gpu, const qfz_edge_reader<T> &reader, int n_dirs,
                                int32_t block_h, unsigned long long *d_words)
{
    const int64_t n_seams = VERTICAL ? (reader.w - 1) / TREE_W : (reader.h - 1) / block_h;
    const int64_t n = n_seams * (VERTICAL ? reader.h : reader.w);
    const dim3 grid(qfz_launch_blocks(n, SEAM_BLOCK), n_dirs == 2 ? 1 : 3);
    return qfz_launch(gpu, k_seams<VERSION, VERTICAL, T>, grid, SEAM_BLOCK, 0, reader, block_h, n,
                      d_words);
}

template <int VERSION, int N_DIRS, typename T>
static qfz_status connect_all(qfz_gpu *gpu, const qfz_edge_reader<T> &reader, bool is_local,
                              unsigned long long *d_words)
{
    typedef block_of<N_DIRS, T> block;
    const dim3 grid(qfz_launch_blocks(reader.w, TREE_W), qfz_launch_blocks(reader.h, block::H));
    if (grid.y > 65535)
        return qfz_fail(gpu->err, QFZ_EARG, "GPU: a tree of a tile of %d rows; %d are the most",
                        (int)reader.h, 65535 * block::H);
    QFZ_TRY(qfz_launch(gpu, k_build<VERSION, N_DIRS, T>, grid, dim3(TREE_W, block::H),
                       (1 + N_DIRS) * block::N * sizeof(unsigned long long), reader, d_words));
    if (is_local) return QFZ_OK;
    QFZ_TRY((connect_seams<VERSION, true>(gpu, reader, N_DIRS, block::H, d_words)));
    return connect_seams<VERSION, false>(gpu, reader, N_DIRS, block::H, d_words);
}

template <int VERSION>
static qfz_status connect_any(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                              bool is_local, unsigned long long *d_words)
{
    return qfz_with_reader(edges, alpha_level, [&](const auto &reader) {
        return edges->connectivity == 4 ? connect_all<VERSION, 2>(gpu, reader, is_local, d_words)
                                        : connect_all<VERSION, 4>(gpu, reader, is_local, d_words);
    });
}

qfz_status qfz_gpu_connect_trees(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                                 uint32_t alpha_level, bool is_local, uint64_t *d_links)
{
    unsigned long long *const d_words = (unsigned long long *)d_links;
    return version == QFZ_CONNECT_V1
               ? connect_any<QFZ_CONNECT_V1>(gpu, edges, alpha_level, is_local, d_words)
               : connect_any<QFZ_CONNECT_V2>(gpu, edges, alpha_level, is_local, d_words);
}
