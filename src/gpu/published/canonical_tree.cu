/* SPDX-License-Identifier: MIT */
/* canonical_tree.cu - canonicalization of Carlinet, Kaci, Blin (IEEE TIP 2025): from links to the
 * canonical tree. Aliases (nodes with the level of their parent) and nodes with one child are
 * replaced by the next ancestor that remains; the remaining nodes are numbered.
 *
 * A flat region may be represented by one of its pixels if no edge became a node for it. That pixel
 * has aliases, and an inner node of level 0 is made for it as well. */
#include "gpu/device/collective.cuh"
#include "gpu/published/connect.cuh"
#include "gpu/device/edge_reader.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/published/connect_tile.cuh"

/* A thread handles EACH nodes, so that their loads overlap. */
enum { BLOCK = 256, EACH = 4, WORD_BITS = 32 };

namespace
{
/* The data of the kernels: links, and bits of nodes. */
template <typename T> struct tree_view {
    qfz_edge_reader<T> reader;
    uint32_t n_px;
    qfz_wide_links links;
    uint32_t *has_child; /* edges with a child */
    uint32_t *stays;     /* nodes that remain: edges with two children, pixels with one */
    uint32_t *before;    /* per word: nodes that remain in earlier words */

    QFZ_DEVICE bool does_stay(uint32_t node) const
    {
        return __ldg(stays + node / WORD_BITS) >> node % WORD_BITS & 1;
    }
    /* The canonical number of a node that remains. */
    QFZ_DEVICE uint32_t number_of(uint32_t node) const
    {
        const uint32_t earlier = __ldg(stays + node / WORD_BITS) & ((1u << node % WORD_BITS) - 1);
        return n_px + __ldg(before + node / WORD_BITS) + (uint32_t)__popc(earlier);
    }
};

/* The pixel of a thread's k-th node; the node's number is kind * n_px + pixel. */
QFZ_DEVICE uint32_t px_of(uint32_t block, int k)
{
    return (block * EACH + (uint32_t)k) * BLOCK + threadIdx.x;
}

/* The levels of a thread's nodes: 0 for pixels (kind 0), the edge's level for existing edges in
 * direction kind - 1. */
template <typename T>
QFZ_DEVICE void levels_of(const tree_view<T> &tree, const uint32_t node[EACH], uint32_t kind,
                          uint32_t level[EACH])
{
    QFZ_EACH (k, EACH)
        level[k] = 0;
    if (kind == 0) return;
    QFZ_EACH (k, EACH)
        level[k] = tree.reader.level_of(node[k] - kind * tree.n_px, (int)kind - 1);
}

/* Counts children up to what decides whether a node remains. A pixel remains with one child: it
 * represents a flat region and is itself a second child of that region. An edge needs two. A look
 * before the atomic operations skips most nodes that have enough, since a root may have millions of
 * children; the look bypasses the cache, which would be stale. parent[k] counts if bit k of
 * children is set. */
template <typename T>
QFZ_DEVICE void count_children(const tree_view<T> &tree, uint32_t children,
                               const uint32_t parent[EACH])
{
    uint32_t has[EACH];
    QFZ_EACH (k, EACH)
        has[k] = children >> k & 1 ? __ldcg(tree.stays + parent[k] / WORD_BITS) : ~0u;
    QFZ_EACH (k, EACH) {
        const uint32_t bit = 1u << parent[k] % WORD_BITS;
        if (has[k] & bit)
            has[k] = 0;
        else
            has[k] = parent[k] < tree.n_px
                         ? bit
                         : atomicOr(tree.has_child + parent[k] / WORD_BITS, bit) & bit;
    }
    QFZ_EACH (k, EACH)
        if (has[k]) atomicOr(tree.stays + parent[k] / WORD_BITS, has[k]);
}

/* Replaces each parent by the last node of its level, and counts the children of that node: pixels,
 * also if they are aliases, and edges that are not aliases. An alias then has no children and does
 * not remain. Later nodes come first, so that most parents are done before. */
template <typename T> __global__ void __launch_bounds__(BLOCK) k_flatten(tree_view<T> tree)
{
    const uint32_t block = gridDim.x - 1 - blockIdx.x, kind = gridDim.y - 1 - blockIdx.y;
    qfz_link link[EACH];
    qfz_climber up[EACH];
    uint32_t node[EACH], parent[EACH], level[EACH], is_root = 0, children = 0;
    QFZ_EACH (k, EACH) {
        node[k] = kind * tree.n_px + min(px_of(block, k), tree.n_px - 1);
        link[k] = tree.links.get(node[k]);
    }
    QFZ_EACH (k, EACH) {
        up[k] = qfz_start(tree.links, link[k].parent, link[k].level);
        if (px_of(block, k) >= tree.n_px || link[k].parent == node[k]) is_root |= 1u << k;
    }
    levels_of(tree, node, kind, level);
    QFZ_EACH (k, EACH) {
        if (is_root >> k & 1) continue;
        qfz_climb(tree.links, up + k, link[k].level);
        parent[k] = up[k].node;
        if (parent[k] != link[k].parent)
            tree.links.put(node[k], qfz_link{parent[k], link[k].level});
        if (kind == 0 || level[k] != link[k].level) children |= 1u << k;
    }
    count_children(tree, children, parent);
}

__global__ void __launch_bounds__(BLOCK)
    k_count_words(const uint32_t *__restrict__ stays, int64_t n_words, uint32_t *counts)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i <= n_words) counts[i] = i < n_words ? (uint32_t)__popc(stays[i]) : 0;
}

/* The first ancestor that remains, from the parent on; QFZ_NONE if there is none. A node with one
 * child is passed only from that child, so all climbs together are linear. */
template <typename T>
QFZ_DEVICE uint32_t find_staying(const tree_view<T> &tree, uint32_t node, uint32_t parent)
{
    while (parent != node) {
        if (tree.does_stay(parent)) return parent;
        node = parent;
        parent = tree.links.get(node).parent;
    }
    return QFZ_NONE;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK)
    k_write(tree_view<T> tree, int64_t n_words, uint32_t *parent, uint32_t *level,
            uint32_t *n_nodes)
{
    const uint32_t kind = blockIdx.y;
    uint32_t node[EACH], above[EACH], own[EACH], id[EACH], stays = 0, is_written = 0, is_found = 0;
    if (blockIdx.x == 0 && kind == 0 && threadIdx.x == 0)
        *n_nodes = tree.n_px + tree.before[n_words];
    QFZ_EACH (k, EACH) {
        const uint32_t px = px_of(blockIdx.x, k);
        node[k] = kind * tree.n_px + min(px, tree.n_px - 1);
        if (px < tree.n_px && tree.does_stay(node[k])) stays |= 1u << k;
        if (px < tree.n_px && kind == 0) is_written |= 1u << k;
    }
    is_written |= stays;
    if (!is_written) return;
    QFZ_EACH (k, EACH)
        above[k] = is_written >> k & 1 ? tree.links.get(node[k]).parent : node[k];
    QFZ_EACH (k, EACH)
        if (above[k] != node[k] && tree.does_stay(above[k])) is_found |= 1u << k;
    QFZ_EACH (k, EACH)
        if (!(is_found >> k & 1)) above[k] = find_staying(tree, node[k], above[k]);
    levels_of(tree, node, kind, own);
    QFZ_EACH (k, EACH) {
        id[k] = stays >> k & 1 ? tree.number_of(node[k]) : node[k];
        above[k] = above[k] == QFZ_NONE ? id[k] : tree.number_of(above[k]);
    }
    QFZ_EACH (k, EACH) {
        if (!(is_written >> k & 1)) continue;
        parent[id[k]] = above[k];
        level[id[k]] = own[k];
        if (kind != 0 || id[k] == node[k]) continue;
        parent[node[k]] = id[k];
        level[node[k]] = 0;
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */
typedef struct canonical_room {
    int64_t n_words;
    uint64_t *links;
    uint32_t *has_child, *stays; /* adjacent in memory */
    uint32_t *before;            /* per word, and at the end the sum of all */
    void *scan;
} canonical_room;
} // namespace

static void take_room(qfz_carve *carve, int connectivity, int64_t n_px, canonical_room *room)
{
    const int64_t n_nodes = (1 + connectivity / 2) * n_px;
    room->n_words = (n_nodes + WORD_BITS - 1) / WORD_BITS;
    qfz_carve_take(carve, &room->links, n_nodes);
    qfz_carve_take(carve, &room->has_child, 2 * room->n_words);
    room->stays = room->has_child ? room->has_child + room->n_words : NULL;
    qfz_carve_take(carve, &room->before, room->n_words + 1);
    room->scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(room->n_words + 1));
}

size_t qfz_gpu_tree_bytes(int connectivity, int32_t h, int32_t w)
{
    qfz_carve carve = {NULL, 0};
    canonical_room room;
    take_room(&carve, connectivity, (int64_t)h * w, &room);
    return carve.used;
}

template <typename T>
static qfz_status canonicalize(qfz_gpu *gpu, const qfz_edge_reader<T> &reader, int n_dirs,
                               const canonical_room &room, uint32_t *d_parent, uint32_t *d_level,
                               uint32_t *d_n_nodes)
{
    const int64_t n_px = (int64_t)reader.h * reader.w;
    const tree_view<T> tree = {reader,         (uint32_t)n_px, {(unsigned long long *)room.links},
                               room.has_child, room.stays,     room.before};
    const dim3 grid(qfz_launch_blocks(n_px, BLOCK * EACH), 1 + (unsigned)n_dirs);
    QFZ_TRY(qfz_gpu_fill(gpu, room.has_child, 0, 2 * room.n_words));
    QFZ_TRY(qfz_launch(gpu, k_flatten<T>, grid, BLOCK, 0, tree));
    QFZ_TRY(qfz_launch_each(gpu, k_count_words, room.n_words + 1, BLOCK, room.stays, room.n_words,
                            room.before));
    QFZ_TRY(qfz_gpu_scan(gpu, room.scan, room.before, room.before, room.n_words + 1));
    return qfz_launch(gpu, k_write<T>, grid, BLOCK, 0, tree, room.n_words, d_parent, d_level,
                      d_n_nodes);
}

qfz_status qfz_gpu_tree(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                        uint32_t alpha_level, void *d_scratch, uint32_t *d_parent,
                        uint32_t *d_level, uint32_t *d_n_nodes)
{
    qfz_carve carve = {(char *)d_scratch, 0};
    canonical_room room;
    take_room(&carve, edges->connectivity, (int64_t)edges->h * edges->w, &room);
    QFZ_TRY(qfz_gpu_connect_trees(gpu, version, edges, alpha_level, false, room.links));
    return qfz_with_reader(edges, alpha_level, [&](const auto &reader) {
        return canonicalize(gpu, reader, edges->connectivity / 2, room, d_parent, d_level,
                            d_n_nodes);
    });
}
