/* SPDX-License-Identifier: MIT */
/* forest_tree.cu - the order of the steps, and the nodes whose top is a vertex of the graph of all
 * blocks. */
#include "gpu/collective.cuh"
#include "gpu/forest_tree_parts.cuh"

enum { THREADS = 256 };

/* ---- Vertices -------------------------------------------------------------------------------- */

/* The first pairs are what the vertices' own links name; of one without a link it is the pair of a
 * top that does not exist. */
static __global__ void __launch_bounds__(THREADS) k_name_vertices(qfz_gpu_forest_tree tree)
{
    const uint32_t n = tree.forest.count[QFZ_COUNT_VERTICES];
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x;
    if (v == 0) {
        tree.d_counts[0] = tree.d_counts[1] = n;
        tree.d_n_local[tree.forest.n_blocks] = 0;
    }
    if (v >= n) return;
    const uint2 up = tree.forest.up[v];
    const bool is_root = (up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT || up.y > tree.alpha_key;
    const uint32_t top = is_root ? n : qfz_top_of_vertex(tree.forest, up.x >> QFZ_UP_BITS, up.y);
    qfz_put_pair(tree, v, top, is_root ? 0 : up.y);
    tree.d_first_node[v] = QFZ_NONE;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* Pairs in their order. */
struct sorted_pairs {
    const uint64_t *pair;
    const uint32_t *who; /* which pair it was */
    uint32_t *rank;      /* is it the first of equal ones? then how many of these come before */
    uint32_t n, n_vertices;
};

static __device__ __forceinline__ uint32_t top_of(const qfz_gpu_forest_tree &tree, uint64_t pair)
{
    return (uint32_t)(pair >> tree.level_bits);
}

static __device__ __forceinline__ bool is_first(const qfz_gpu_forest_tree &tree,
                                                const sorted_pairs &sorted, uint32_t i)
{
    const uint64_t pair = sorted.pair[i];
    return top_of(tree, pair) != sorted.n_vertices && (i == 0 || sorted.pair[i - 1] != pair);
}

/* The first node of those with a vertex for their top. */
static __device__ __forceinline__ uint32_t first_node(const qfz_gpu_forest_tree &tree)
{
    const uint32_t n_px = (uint32_t)((int64_t)tree.forest.h * tree.forest.w);
    return n_px + tree.d_n_local[tree.forest.n_blocks];
}

static __global__ void __launch_bounds__(THREADS)
    k_mark(qfz_gpu_forest_tree tree, sorted_pairs sorted)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i > sorted.n) return;
    sorted.rank[i] = i < sorted.n && is_first(tree, sorted, i) ? 1 : 0;
}

/* Every pair learns its node, and vertices their lowest ones. */
static __global__ void __launch_bounds__(THREADS)
    k_place(qfz_gpu_forest_tree tree, sorted_pairs sorted)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= sorted.n) return;
    const uint32_t top = top_of(tree, sorted.pair[i]);
    const uint32_t node = first_node(tree) + sorted.rank[i + 1] - 1;
    tree.d_node[sorted.who[i]] = top == sorted.n_vertices ? QFZ_NONE : node;
    if (top == sorted.n_vertices || (i > 0 && top_of(tree, sorted.pair[i - 1]) == top)) return;
    tree.d_first_node[top] = node;
}

/* The results share their memory with pairs: one of them, the parents or the levels, goes to where
 * it belongs, the other has to wait elsewhere. */
struct results {
    uint32_t *direct, *wait, *waited; /* waited: where in the end */
    bool parents_wait;
};

/* Levels and parents; the last of equal pairs sees what comes next. */
static __global__ void __launch_bounds__(THREADS)
    k_link(qfz_gpu_forest_tree tree, sorted_pairs sorted, results out)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= sorted.n) return;
    const uint64_t pair = sorted.pair[i];
    const uint64_t next = i + 1 < sorted.n ? sorted.pair[i + 1] : ~(uint64_t)0;
    const uint32_t top = top_of(tree, pair);
    if (top == sorted.n_vertices || next == pair) return;
    const uint32_t k = sorted.rank[i + 1] - 1, node = first_node(tree) + k;
    uint32_t up = node + 1;
    if (i + 1 == sorted.n || top_of(tree, next) != top) up = tree.d_node[top];
    const uint32_t parent = up == QFZ_NONE ? node : up;
    const uint32_t level = (uint32_t)(pair & (((uint64_t)1 << tree.level_bits) - 1));
    out.direct[node] = out.parents_wait ? level : parent;
    out.wait[k] = out.parents_wait ? parent : level;
}

static __global__ void __launch_bounds__(THREADS)
    k_move(qfz_gpu_forest_tree tree, sorted_pairs sorted, results out, uint32_t *n_nodes)
{
    const uint32_t k = blockIdx.x * THREADS + threadIdx.x, n = sorted.rank[sorted.n];
    const uint32_t first = first_node(tree);
    if (k == 0) *n_nodes = first + n;
    if (k < n) out.waited[first + k] = out.wait[k];
}

/* ---- Launchers ------------------------------------------------------------------------------- */

static int bits_of(uint32_t value)
{
    int bits = 0;
    while (value >> bits)
        if (++bits == 32) break;
    return bits;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The memory behind the forest.  A block's pairs and its vertices are together at most as many as
 * its pixels. */
static void carve(qfz_gpu_forest_tree *tree, const qfz_gpu_edges *edges, qfz_carve *room)
{
    const int64_t n_px = (int64_t)edges->h * edges->w;
    const int64_t n_y = (edges->h + QFZ_SIDE - 1) / QFZ_SIDE;
    const int64_t n_blocks = n_y * ((edges->w + QFZ_SIDE - 1) / QFZ_SIDE);
    const size_t sums = larger(qfz_gpu_scan_bytes(n_px + 1), qfz_gpu_scan_bytes(n_blocks + 1));
    (void)qfz_carve_bytes(room, qfz_gpu_forest_kept_bytes(edges));
    qfz_carve_take(room, &tree->d_who[0], n_px + 1);
    qfz_carve_take(room, &tree->d_who[1], n_px + 1);
    qfz_carve_take(room, &tree->d_node, n_px);
    qfz_carve_take(room, &tree->d_first_node, qfz_gpu_forest_vertices(edges->h, edges->w));
    qfz_carve_take(room, &tree->d_n_local, n_blocks + 1);
    qfz_carve_take(room, &tree->d_first_pair, n_blocks);
    qfz_carve_take(room, &tree->d_counts, 2);
    tree->d_sort = qfz_carve_bytes(room, larger(sums, qfz_gpu_sort_wide_bytes(n_px)));
}

size_t qfz_gpu_forest_tree_bytes(const qfz_gpu_edges *edges)
{
    qfz_gpu_forest_tree tree = {};
    qfz_carve room = {};
    carve(&tree, edges, &room);
    return larger(room.used, qfz_gpu_forest_bytes(edges, 0));
}

qfz_status qfz_gpu_forest_tree_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_key,
                                     void *d_scratch, uint32_t *d_parent, uint32_t *d_level,
                                     qfz_gpu_forest_tree *tree)
{
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    *tree = qfz_gpu_forest_tree{};
    carve(tree, edges, &room);
    tree->alpha_key = alpha_key;
    tree->level_bits = bits_of(edges->max_key < alpha_key ? edges->max_key : alpha_key);
    tree->d_parent = d_parent;
    tree->d_level = d_level;
    tree->d_pairs[0] = reinterpret_cast<uint64_t *>(d_level);
    tree->d_pairs[1] = reinterpret_cast<uint64_t *>(d_parent);
    QFZ_TRY(qfz_gpu_forest_make(gpu, edges, false, NULL, d_scratch, &tree->forest));
    const dim3 grid(qfz_blocks(tree->forest.vertex_room, THREADS)), block(THREADS);
    QFZ_TRY(qfz_launch(gpu, k_name_vertices, grid, block, 0, *tree));
    return qfz_forest_tree_blocks(gpu, tree);
}

qfz_status qfz_gpu_forest_tree_end(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree,
                                   const uint32_t counts[2], uint32_t *d_n_nodes)
{
    const int64_t n = counts[1], n_blocks = tree->forest.n_blocks;
    const dim3 grid(qfz_blocks(n + 1, THREADS)), block(THREADS);
    int out = 0;
    QFZ_TRY(qfz_gpu_scan(gpu, tree->d_sort, tree->d_n_local, tree->d_n_local, n_blocks + 1));
    if (n > 0)
        QFZ_TRY(qfz_gpu_sort_wide(gpu, tree->d_sort, tree->d_pairs, tree->d_who, n, 0,
                                  tree->level_bits + bits_of(counts[0]), &out));
    const sorted_pairs sorted = {tree->d_pairs[out], tree->d_who[out], tree->d_who[1 - out],
                                 (uint32_t)n, counts[0]};
    const bool over_parents = out == 1;
    const results results = {over_parents ? tree->d_level : tree->d_parent, tree->d_who[out],
                             over_parents ? tree->d_parent : tree->d_level, over_parents};
    QFZ_TRY(qfz_launch(gpu, k_mark, grid, block, 0, *tree, sorted));
    QFZ_TRY(qfz_gpu_scan(gpu, tree->d_sort, sorted.rank, sorted.rank, n + 1));
    QFZ_TRY(qfz_launch(gpu, k_place, grid, block, 0, *tree, sorted));
    QFZ_TRY(qfz_launch(gpu, k_link, grid, block, 0, *tree, sorted, results));
    QFZ_TRY(qfz_launch(gpu, k_move, grid, block, 0, *tree, sorted, results, d_n_nodes));
    return qfz_forest_tree_write(gpu, tree);
}
