/* SPDX-License-Identifier: MIT */
/* forest_tree.cu - memory, the order of the steps, and nodes whose top is a vertex. */
#include "gpu/device/collective.cuh"
#include "gpu/tree/forest_tree_parts.cuh"

namespace
{
enum { THREADS = 256 };

/* ---- Vertices -------------------------------------------------------------------------------- */

/* Pair v is that of vertex v's own link; for a vertex without a link, a pair whose top does not
 * exist. */
__global__ void __launch_bounds__(THREADS) k_name_vertices(qfz_gpu_forest_tree tree)
{
    const uint32_t n = tree.forest.count[QFZ_COUNT_VERTICES];
    const uint32_t v = blockIdx.x * THREADS + threadIdx.x;
    if (v == 0) *tree.d_counts = qfz_gpu_tree_counts{n, n, 0, 0};
    if (v >= n) return;
    const uint2 up = tree.forest.up[v];
    const bool is_root = (up.x & QFZ_UP_ROOT) == QFZ_UP_ROOT || up.y > tree.alpha_level;
    const uint32_t top = is_root ? n : qfz_top_of_vertex(tree.forest, up.x >> QFZ_UP_BITS, up.y);
    qfz_put_pair(tree, v, top, is_root ? 0 : up.y);
    tree.d_first_node[v] = QFZ_NONE;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* The pairs in ascending order. */
struct sorted_pairs {
    const uint64_t *pair;
    const uint32_t *source; /* the pair's number before the sort */
    uint32_t *rank; /* 1 for the first of equal pairs, else 0; later, exclusive sums of these */
    uint32_t n, n_vertices;
    uint32_t first_node; /* the first node whose top is a vertex */
};

QFZ_DEVICE uint32_t top_of(const qfz_gpu_forest_tree &tree, uint64_t pair)
{
    return (uint32_t)(pair >> tree.level_bits);
}

QFZ_DEVICE bool is_first(const qfz_gpu_forest_tree &tree, const sorted_pairs &sorted, uint32_t i)
{
    const uint64_t pair = sorted.pair[i];
    return top_of(tree, pair) != sorted.n_vertices && (i == 0 || sorted.pair[i - 1] != pair);
}

__global__ void __launch_bounds__(THREADS) k_number(uint32_t *source, uint32_t n)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) source[i] = i;
}

__global__ void __launch_bounds__(THREADS) k_mark(qfz_gpu_forest_tree tree, sorted_pairs sorted)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i > sorted.n) return;
    sorted.rank[i] = i < sorted.n && is_first(tree, sorted, i) ? 1 : 0;
}

/* Stores the node of each pair, and the lowest node of each vertex. */
__global__ void __launch_bounds__(THREADS) k_place(qfz_gpu_forest_tree tree, sorted_pairs sorted)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= sorted.n) return;
    const uint32_t top = top_of(tree, sorted.pair[i]);
    const uint32_t node = sorted.first_node + sorted.rank[i + 1] - 1;
    tree.d_node[sorted.source[i]] = top == sorted.n_vertices ? QFZ_NONE : node;
    if (top == sorted.n_vertices || (i > 0 && top_of(tree, sorted.pair[i - 1]) == top)) return;
    tree.d_first_node[top] = node;
}

/* Writes levels and parents of nodes; the last of equal pairs is adjacent to the next node. */
__global__ void __launch_bounds__(THREADS) k_link(qfz_gpu_forest_tree tree, sorted_pairs sorted)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i == 0) tree.d_counts->others = sorted.rank[sorted.n];
    if (i >= sorted.n) return;
    const uint64_t pair = sorted.pair[i];
    const uint64_t next = i + 1 < sorted.n ? sorted.pair[i + 1] : ~(uint64_t)0;
    const uint32_t top = top_of(tree, pair);
    if (top == sorted.n_vertices || next == pair) return;
    const uint32_t k = sorted.rank[i + 1] - 1, node = sorted.first_node + k;
    uint32_t up = node + 1;
    if (i + 1 == sorted.n || top_of(tree, next) != top) up = tree.d_node[top];
    tree.d_other_parent[k] = up == QFZ_NONE ? node : up;
    tree.d_other_level[k] = (uint32_t)(pair & (((uint64_t)1 << tree.level_bits) - 1));
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The layout: data of blocks and vertices; the forest; pairs, and everything whose size depends on
 * their number.  When the forest is complete, pairs overwrite the memory that only its construction
 * used; when the pairs are sorted, results overwrite the memory that only climbing used. */

void carve_first(qfz_gpu_forest_tree *tree, const qfz_gpu_edges *edges, qfz_carve *room)
{
    const int64_t n_blocks =
        (int64_t)qfz_launch_blocks(edges->h, QFZ_SIDE) * qfz_launch_blocks(edges->w, QFZ_SIDE);
    qfz_carve_take(room, &tree->d_first_node, qfz_gpu_forest_vertices(edges->h, edges->w));
    qfz_carve_take(room, &tree->d_inside, n_blocks);
    qfz_carve_take(room, &tree->d_first_pair, n_blocks);
    qfz_carve_take(room, &tree->d_counts, 1);
}

/* The pairs in order of discovery; after the sort, the results. */
void carve_pairs(qfz_gpu_forest_tree *tree, const qfz_gpu_edges *edges,
                 const qfz_gpu_tree_counts *counts, qfz_carve *room)
{
    const int64_t n = counts->pairs;
    const size_t level_bytes = edges->form >= QFZ_EDGES_WIDE ? 4 : 2;
    qfz_carve result = *room;
    (void)qfz_carve_bytes(room, qfz_gpu_forest_bytes(edges, QFZ_FOREST_MADE));
    qfz_carve_take(room, &tree->d_pairs[0], n);
    (void)qfz_carve_bytes(&result, qfz_gpu_forest_bytes(edges, QFZ_FOREST_CACHED));
    qfz_carve_take(&result, &tree->d_node, n);
    qfz_carve_take(&result, &tree->d_other_parent, n);
    qfz_carve_take(&result, &tree->d_other_level, n);
    room->used = max(room->used, result.used);
    qfz_carve_take(room, &tree->d_pairs[1], n);
    qfz_carve_take(room, &tree->d_source[0], n + 1);
    qfz_carve_take(room, &tree->d_source[1], n + 1);
    tree->d_sort = qfz_carve_bytes(room, max(qfz_gpu_scan_bytes(n + 1), qfz_gpu_sort_bytes(n)));
    qfz_carve_take(&result, &tree->d_inside_parent, counts->inside);
    tree->d_inside_level = qfz_carve_bytes(&result, counts->inside * level_bytes);
    room->used = max(room->used, result.used);
}

size_t level_bytes(const qfz_gpu_edges *edges)
{
    const size_t n_px = (size_t)edges->h * (size_t)edges->w;
    return edges->form == QFZ_EDGES_LEVELS ? n_px * (size_t)(edges->connectivity / 2) * 4 : 0;
}
} // namespace

size_t qfz_gpu_forest_tree_bytes(const qfz_gpu_edges *edges, const qfz_gpu_tree_counts *counts)
{
    qfz_gpu_forest_tree tree = {};
    qfz_carve room = {}, forest = {};
    carve_first(&tree, edges, &room);
    forest = room;
    (void)qfz_carve_bytes(&forest, qfz_gpu_forest_bytes(edges, QFZ_FOREST_ALL));
    (void)qfz_carve_bytes(&forest, level_bytes(edges));
    carve_pairs(&tree, edges, counts, &room);
    return max(room.used, forest.used);
}

qfz_gpu_tree_counts qfz_gpu_tree_counts_usual(const qfz_gpu_edges *edges)
{
    const uint32_t n_px = (uint32_t)edges->h * (uint32_t)edges->w;
    return qfz_gpu_tree_counts{0, n_px / 5, n_px / 5 * 3, 0};
}

uint32_t *qfz_gpu_forest_tree_edge_levels(const qfz_gpu_edges *edges, void *d_scratch)
{
    qfz_gpu_forest_tree tree = {};
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    carve_first(&tree, edges, &room);
    (void)qfz_carve_bytes(&room, qfz_gpu_forest_bytes(edges, QFZ_FOREST_ALL));
    return static_cast<uint32_t *>(qfz_carve_bytes(&room, level_bytes(edges)));
}

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_gpu_forest_tree_begin(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_level,
                                     void *d_scratch, size_t scratch_bytes,
                                     qfz_gpu_forest_tree *tree)
{
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    *tree = qfz_gpu_forest_tree{};
    carve_first(tree, edges, &room);
    void *const d_forest = room.base + room.used;
    (void)qfz_carve_bytes(&room, qfz_gpu_forest_bytes(edges, QFZ_FOREST_MADE));
    tree->pair_room = (int64_t)((scratch_bytes - room.used) / sizeof *tree->d_pairs[0]);
    qfz_carve_take(&room, &tree->d_pairs[0], tree->pair_room);
    tree->alpha_level = alpha_level;
    tree->level_bits = qfz_gpu_key_bits(min(edges->max_level, alpha_level));
    QFZ_TRY(qfz_gpu_forest_make(gpu, edges, false, d_forest, &tree->forest));
    QFZ_TRY(qfz_launch_each(gpu, k_name_vertices, tree->forest.vertex_room, THREADS, *tree));
    return qfz_forest_tree_blocks(gpu, tree);
}

/* Sorts the pairs into the second of their two buffers; results overwrite the first. */
static qfz_status sort_pairs(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree,
                             const qfz_gpu_tree_counts *counts)
{
    const int64_t n = counts->pairs;
    int in = 0;
    if (n == 0) return QFZ_OK;
    QFZ_TRY(qfz_launch_each(gpu, k_number, n, THREADS, tree->d_source[0], counts->pairs));
    QFZ_TRY(qfz_gpu_sort_pairs(gpu, tree->d_sort, tree->d_pairs, tree->d_source, n, 0,
                               tree->level_bits + qfz_gpu_key_bits(counts->vertices), &in));
    if (in == 1) return QFZ_OK;
    QFZ_TRY_CUDA(gpu->err, cudaMemcpyAsync(tree->d_pairs[1], tree->d_pairs[0],
                                           (size_t)n * sizeof *tree->d_pairs[0],
                                           cudaMemcpyDeviceToDevice, gpu->stream));
    QFZ_TRY_CUDA(gpu->err, cudaMemcpyAsync(tree->d_source[1], tree->d_source[0],
                                           (size_t)n * sizeof *tree->d_source[0],
                                           cudaMemcpyDeviceToDevice, gpu->stream));
    return QFZ_OK;
}

qfz_status qfz_gpu_forest_tree_end(qfz_gpu *gpu, qfz_gpu_forest_tree *tree,
                                   const qfz_gpu_edges *edges, const qfz_gpu_tree_counts *counts)
{
    const int64_t n = counts->pairs;
    const uint32_t n_px = (uint32_t)((int64_t)edges->h * edges->w);
    qfz_carve room = {reinterpret_cast<char *>(tree->d_first_node), 0}; /* the first array */
    carve_first(tree, edges, &room);
    carve_pairs(tree, edges, counts, &room);
    QFZ_TRY(sort_pairs(gpu, tree, counts));
    tree->d_parent = static_cast<uint32_t *>(tree->forest.top);
    const sorted_pairs sorted = {tree->d_pairs[1], tree->d_source[1], tree->d_source[0],
                                 counts->pairs,    counts->vertices,  n_px + counts->inside};
    QFZ_TRY(qfz_launch_each(gpu, k_mark, n + 1, THREADS, *tree, sorted));
    QFZ_TRY(qfz_gpu_scan(gpu, tree->d_sort, sorted.rank, sorted.rank, n + 1));
    QFZ_TRY(qfz_launch_each(gpu, k_place, n + 1, THREADS, *tree, sorted));
    QFZ_TRY(qfz_launch_each(gpu, k_link, n + 1, THREADS, *tree, sorted));
    return qfz_forest_tree_write(gpu, tree);
}
