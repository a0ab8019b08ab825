/* SPDX-License-Identifier: MIT */
/* forest_tree_write.cu - the results for pixels and for nodes inside blocks: the numbers that
 * blocks have for their nodes become nodes of the tree. */
#include "gpu/tree/forest_tree_block.cuh"

namespace
{
/* The map from a block's numbers to nodes of the tree. */
struct numbering {
    uint32_t base, n_local, first_pair, first_vertex;
};

/* Replaces a block's numbers of parents by the nodes that they stand for, QFZ_NONE if there is
 * none. The look-ups of all of them overlap. */
template <int N>
QFZ_DEVICE void find_parents(const qfz_gpu_forest_tree &tree, const numbering &of,
                             uint32_t (&parent)[N])
{
    uint32_t vertex[N];
    QFZ_EACH (j, N) {
        const uint32_t number = parent[j];
        const bool is_lowest = number & LOWEST_OF && number != NOWHERE;
        vertex[j] =
            is_lowest ? of.first_vertex + (number & ~(uint32_t)LOWEST_OF) : (uint32_t)QFZ_NONE;
        parent[j] = number < of.n_local ? of.base + number : (uint32_t)QFZ_NONE;
        if (number >= of.n_local && !(number & LOWEST_OF))
            parent[j] = tree.d_node[of.first_pair + number - of.n_local];
        if (is_lowest) parent[j] = tree.d_first_node[vertex[j]];
    }
    QFZ_EACH (j, N)
        if (vertex[j] != QFZ_NONE && parent[j] == QFZ_NONE) parent[j] = tree.d_node[vertex[j]];
}

/* Writes the parents and levels of a block's nodes. */
template <typename TOP>
QFZ_DEVICE void write_nodes(const qfz_gpu_forest_tree &tree, const numbering &of, qfz_block_box box)
{
    enum { BATCH = 4 };
    const uint16_t *const parents = parents_of(tree.forest, blockIdx.x);
    const uint32_t at = of.base - (uint32_t)((int64_t)tree.forest.h * tree.forest.w);
    for (uint32_t first = threadIdx.x; first < of.n_local; first += BATCH * THREADS) {
        uint32_t parent[BATCH];
        TOP level[BATCH];
        QFZ_EACH (j, BATCH) {
            const uint32_t k = first + (uint32_t)j * THREADS;
            parent[j] = k < of.n_local ? (uint32_t)parents[k] : (uint32_t)NOWHERE;
            level[j] = k < of.n_local ? *kth_level<TOP>(tree.forest, box, k) : (TOP)0;
        }
        find_parents(tree, of, parent);
        QFZ_EACH (j, BATCH) {
            const uint32_t k = first + (uint32_t)j * THREADS;
            if (k >= of.n_local) break;
            tree.d_inside_parent[at + k] = parent[j] == QFZ_NONE ? of.base + k : parent[j];
            static_cast<TOP *>(tree.d_inside_level)[at + k] = level[j];
        }
    }
}

/* Writes parents and levels.  The parents of pixels overwrite levels and components of the same
 * row, so a block reads all of these first. */
template <typename KEY>
__global__ void __launch_bounds__(THREADS, QFZ_SM_THREADS / THREADS)
    k_write(qfz_gpu_forest_tree tree)
{
    typedef typename qfz_top_of<KEY>::type TOP;
    const qfz_gpu_forest &forest = tree.forest;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 inside = tree.d_inside[blockIdx.x];
    const numbering of = {(uint32_t)((int64_t)forest.h * forest.w) + inside.x, inside.y,
                          tree.d_first_pair[blockIdx.x], forest.block[blockIdx.x].x};
    uint32_t parent[EACH];
    QFZ_EACH (k, EACH)
        parent[k] = in_box(box, px_of(k)) ? (uint32_t)*comp_of<TOP>(forest, box, px_of(k))
                                          : (uint32_t)NOWHERE;
    find_parents(tree, of, parent);
    write_nodes<TOP>(tree, of, box);
    __syncthreads();
    QFZ_EACH (k, EACH) {
        const uint32_t p = px_of(k);
        if (!in_box(box, p)) continue;
        const int64_t at =
            (int64_t)(box.y + (int32_t)(p / QFZ_SIDE)) * forest.w + box.x + (int32_t)(p % QFZ_SIDE);
        tree.d_parent[at] = parent[k] == QFZ_NONE ? (uint32_t)at : parent[k];
    }
}
} // namespace

/* ---- Launchers ------------------------------------------------------------------------------- */

qfz_status qfz_forest_tree_write(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree)
{
    return qfz_launch(gpu, tree->forest.wide ? k_write<unsigned long long> : k_write<uint32_t>,
                      dim3((unsigned)tree->forest.n_blocks), dim3(THREADS), 0, *tree);
}
