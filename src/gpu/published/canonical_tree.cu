/* SPDX-License-Identifier: MIT */
/* canonical_tree.cu - canonicalization of Carlinet, Kaci, Blin (IEEE TIP 2025): from the flattened
 * tree of a tile to the canonical tree. Aliases (nodes with the level of their parent) and nodes
 * with one child are replaced by the next ancestor that remains; the remaining nodes are numbered.
 *
 * A flat region may be represented by one of its pixels if no edge became a node for it. That pixel
 * has aliases, and an inner node of level 0 is made for it as well. */
#include "gpu/device/collective.cuh"
#include "gpu/device/edge_reader.cuh"
#include "gpu/published/connect_parts.cuh"

enum { THREADS = QFZ_CONNECT_THREADS, WORD_BITS = 32 };

namespace
{
/* Bits of nodes. */
struct node_bits {
    int64_t n_words;
    uint32_t *has_child; /* edges with a child */
    uint32_t *stays;     /* nodes that remain: edges with two children, pixels with one; behind
                          * has_child in memory */
    uint32_t *before;    /* per word: nodes that remain in earlier words; at the end, all */
    void *scan;

    QFZ_DEVICE bool does_stay(uint32_t node) const
    {
        return __ldg(stays + node / WORD_BITS) >> node % WORD_BITS & 1;
    }
    /* The number of a node that remains among these. */
    QFZ_DEVICE uint32_t number_of(uint32_t node) const
    {
        const uint32_t earlier = __ldg(stays + node / WORD_BITS) & ((1u << node % WORD_BITS) - 1);
        return __ldg(before + node / WORD_BITS) + (uint32_t)__popc(earlier);
    }
};

/* The level of a node: 0 for pixels, the edge's level for existing edges. */
template <typename T>
QFZ_DEVICE uint32_t level_of(const qfz_connect_tree &tree, const qfz_edge_reader<T> &reader,
                             uint32_t node)
{
    const uint32_t n_px = (uint32_t)tree.n_px;
    return node < n_px ? 0 : reader.level_of(node % n_px, (int)(node / n_px) - 1);
}

/* Counts children up to what decides whether a node remains: pixels, also if they are aliases, and
 * edges that are not aliases. A pixel remains with one child: it represents a flat region and is
 * itself a second child of that region. An edge needs two. A look before the atomic operations
 * skips most nodes that have enough, since a root may have millions of children; the look bypasses
 * the cache, which would be stale. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    k_count_children(qfz_connect_tree tree, qfz_edge_reader<T> reader, node_bits bits)
{
    const int64_t i = qfz_connect_item();
    if (i >= tree.n_nodes) return;
    const uint32_t node = (uint32_t)i, n_px = (uint32_t)tree.n_px;
    const qfz_link link = tree.links.get(node);
    if (link.parent == node || (node >= n_px && level_of(tree, reader, node) == link.level)) return;
    const uint32_t word = link.parent / WORD_BITS, bit = 1u << link.parent % WORD_BITS;
    if (__ldcg(bits.stays + word) & bit) return;
    if (link.parent < n_px || atomicOr(bits.has_child + word, bit) & bit)
        atomicOr(bits.stays + word, bit);
}

__global__ void __launch_bounds__(THREADS) k_count_words(node_bits bits)
{
    const int64_t i = qfz_connect_item();
    if (i <= bits.n_words) bits.before[i] = i < bits.n_words ? (uint32_t)__popc(bits.stays[i]) : 0;
}

/* The first ancestor that remains; QFZ_NONE if there is none. A node with one child is passed only
 * from that child, so all climbs together are linear. */
QFZ_DEVICE uint32_t find_staying(const qfz_connect_tree &tree, const node_bits &bits, uint32_t node)
{
    for (uint32_t parent; (parent = tree.links.get(node).parent) != node; node = parent)
        if (bits.does_stay(parent)) return parent;
    return QFZ_NONE;
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    k_write(qfz_connect_tree tree, qfz_edge_reader<T> reader, node_bits bits, uint32_t *parent,
            uint32_t *level, uint32_t *n_nodes)
{
    const int64_t i = qfz_connect_item();
    const uint32_t node = (uint32_t)i, n_px = (uint32_t)tree.n_px;
    if (i == 0) *n_nodes = n_px + bits.before[bits.n_words];
    if (i >= tree.n_nodes) return;
    const bool stays = bits.does_stay(node);
    if (node >= n_px && !stays) return;
    const uint32_t above = find_staying(tree, bits, node);
    const uint32_t id = stays ? n_px + bits.number_of(node) : node;
    parent[id] = above == QFZ_NONE ? id : n_px + bits.number_of(above);
    level[id] = level_of(tree, reader, node);
    if (node >= n_px || id == node) return;
    parent[node] = id;
    level[node] = 0;
}
} // namespace

/* ---- Launches -------------------------------------------------------------------------------- */

static void take_room(qfz_carve *carve, int connectivity, int32_t h, int32_t w,
                      qfz_connect_tree *tree, node_bits *bits)
{
    *tree = qfz_connect_tree_of(connectivity, h, w, 0);
    bits->n_words = (tree->n_nodes + WORD_BITS - 1) / WORD_BITS;
    qfz_carve_take(carve, &tree->links.words, tree->n_nodes);
    qfz_carve_take(carve, &bits->has_child, 2 * bits->n_words);
    bits->stays = bits->has_child ? bits->has_child + bits->n_words : NULL;
    qfz_carve_take(carve, &bits->before, bits->n_words + 1);
    bits->scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(bits->n_words + 1));
}

size_t qfz_gpu_tree_bytes(int connectivity, int32_t h, int32_t w)
{
    qfz_carve carve = {NULL, 0};
    qfz_connect_tree tree;
    node_bits bits;
    take_room(&carve, connectivity, h, w, &tree, &bits);
    return carve.used;
}

qfz_status qfz_gpu_tree(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                        uint32_t alpha_level, void *d_scratch, uint32_t *d_parent,
                        uint32_t *d_level, uint32_t *d_n_nodes)
{
    qfz_carve carve = {(char *)d_scratch, 0};
    qfz_connect_tree tree;
    node_bits bits;
    take_room(&carve, edges->connectivity, edges->h, edges->w, &tree, &bits);
    const int64_t n_words = bits.n_words + 1;
    QFZ_TRY(qfz_connect_build(gpu, version, edges, alpha_level, NULL, QFZ_CONNECT_FLATTEN, &tree));
    QFZ_TRY(qfz_gpu_fill(gpu, bits.has_child, 0, 2 * bits.n_words));
    return qfz_with_reader(edges, alpha_level, [&](const auto &reader) {
        typedef typename std::decay_t<decltype(reader)>::type T;
        QFZ_TRY(qfz_connect_launch(gpu, k_count_children<T>, tree.n_nodes, tree, reader, bits));
        QFZ_TRY(qfz_connect_launch(gpu, k_count_words, n_words, bits));
        QFZ_TRY(qfz_gpu_scan(gpu, bits.scan, bits.before, bits.before, n_words));
        return qfz_connect_launch(gpu, k_write<T>, tree.n_nodes, tree, reader, bits, d_parent,
                                  d_level, d_n_nodes);
    });
}
