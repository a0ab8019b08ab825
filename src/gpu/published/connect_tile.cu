/* SPDX-License-Identifier: MIT */
/* connect_tile.cu - the tree of a tile by CONNECT, and what saliency reads of it. */
#include "gpu/device/collective.cuh"
#include "gpu/device/edge_reader.cuh"
#include "gpu/published/connect_parts.cuh"

enum { THREADS = QFZ_CONNECT_THREADS };

/* ---- The tree -------------------------------------------------------------------------------- */

qfz_connect_tree qfz_connect_tree_of(int connectivity, int32_t h, int32_t w, int64_t n_external)
{
    qfz_connect_tree tree = {};
    tree.h = h;
    tree.w = w;
    tree.n_px = (int64_t)h * w;
    tree.n_nodes = (1 + connectivity / 2) * tree.n_px + n_external;
    return tree;
}

/* A node for each external link, as a root. */
static __global__ void __launch_bounds__(THREADS)
    k_put_external(qfz_connect_tree tree, qfz_gpu_links external)
{
    const int64_t i = qfz_connect_item();
    if (i >= external.n) return;
    const uint32_t node = (uint32_t)(tree.n_nodes - external.n + i);
    tree.links.put(node, qfz_link{node, external.d_level[i]});
}

/* Connects the two ring pixels of each external link by its node, as edges across a seam. */
static __global__ void __launch_bounds__(THREADS)
    k_insert_external(qfz_connect_tree tree, qfz_gpu_links external, bool tests_first)
{
    const int64_t i = qfz_connect_item();
    if (i >= external.n) return;
    const uint32_t node = (uint32_t)(tree.n_nodes - external.n + i), level = external.d_level[i];
    const uint32_t p = qfz_connect_ring_node(tree, external.d_u[i]);
    const uint32_t q = qfz_connect_ring_node(tree, external.d_v[i]);
    if (tests_first) {
        qfz_connect_with(tree.links, p, q, node, level);
        return;
    }
    qfz_connect(tree.links, qfz_start(tree.links, node, level), qfz_start(tree.links, p, 0));
    qfz_connect(tree.links, qfz_start(tree.links, node, level), qfz_start(tree.links, q, 0));
}

/* Replaces each parent by the last node of its level.  Later nodes come first, so that most parents
 * are done before. */
static __global__ void __launch_bounds__(THREADS) k_flatten(qfz_connect_tree tree)
{
    const int64_t i = qfz_connect_item();
    if (i >= tree.n_nodes) return;
    const uint32_t node = (uint32_t)(tree.n_nodes - 1 - i);
    const qfz_link link = tree.links.get(node);
    if (link.parent == node) return;
    qfz_climber up = qfz_start(tree.links, link.parent, link.level);
    qfz_climb(tree.links, &up, link.level);
    if (up.node != link.parent) tree.links.put(node, qfz_link{up.node, link.level});
}

static qfz_status insert_external(qfz_gpu *gpu, qfz_gpu_connect version,
                                  const qfz_gpu_links *external, const qfz_connect_tree *tree)
{
    QFZ_TRY(qfz_connect_launch(gpu, k_put_external, external->n, *tree, *external));
    return qfz_connect_launch(gpu, k_insert_external, external->n, *tree, *external,
                              version == QFZ_CONNECT_V2);
}

qfz_status qfz_connect_build(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                             uint32_t alpha_level, const qfz_gpu_links *external,
                             qfz_connect_phase last, const qfz_connect_tree *tree)
{
    const bool is_local = last == QFZ_CONNECT_LOCAL;
    uint64_t *const d_links = (uint64_t *)tree->links.words;
    if (tree->n_nodes > UINT32_MAX)
        return qfz_fail(gpu->err, QFZ_EARG,
                        "GPU: the tree of a tile of %d x %d pixels has more than 2^32 nodes; "
                        "choose smaller tiles",
                        (int)edges->w, (int)edges->h);
    QFZ_TRY(qfz_gpu_connect_trees(gpu, version, edges, alpha_level, is_local, d_links));
    if (external && !is_local) QFZ_TRY(insert_external(gpu, version, external, tree));
    if (last < QFZ_CONNECT_FLATTEN) return QFZ_OK;
    return qfz_connect_launch(gpu, k_flatten, tree->n_nodes, *tree);
}

/* ---- The ring -------------------------------------------------------------------------------- */

/* Offers each ring pixel to all nodes above it.  Stops at a node with a lesser ring pixel, because
 * the thread of that pixel goes on. */
static __global__ void __launch_bounds__(THREADS)
    k_choose_reps(qfz_connect_tree tree, int64_t n_ring, uint32_t *rep)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring) return;
    uint32_t node = qfz_connect_ring_node(tree, i);
    while (atomicMin(rep + node, (uint32_t)i) > (uint32_t)i) {
        const uint32_t parent = tree.links.get(node).parent;
        if (parent == node) return;
        node = parent;
    }
}

/* A ring pixel's link: to the representative of the first node above it that has another one. */
static __global__ void __launch_bounds__(THREADS)
    k_find_links(qfz_connect_tree tree, int64_t n_ring, const uint32_t *__restrict__ rep,
                 uint64_t *keys, uint32_t *u, uint32_t *n)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring) return;
    qfz_climber at = qfz_start(tree.links, qfz_connect_ring_node(tree, i), 0);
    while (rep[at.node] == (uint32_t)i) {
        if (at.link.parent == at.node) return;
        qfz_step(tree.links, &at);
    }
    const uint32_t to = atomicAdd(n, 1u);
    keys[to] = (uint64_t)at.level << 32 | rep[at.node];
    u[to] = (uint32_t)i;
}

static __global__ void __launch_bounds__(THREADS)
    k_store_links(int64_t n_ring, const uint64_t *keys, const uint32_t *u, qfz_gpu_links links)
{
    const int64_t i = qfz_connect_item();
    if (i >= n_ring) return;
    links.d_u[i] = u[i];
    links.d_v[i] = (uint32_t)keys[i];
    links.d_level[i] = (uint32_t)(keys[i] >> 32);
}

void qfz_connect_ring_carve(int64_t n_ring, qfz_carve *carve, qfz_connect_ring_room *room)
{
    for (int i = 0; i < 2; i++) {
        qfz_carve_take(carve, &room->keys[i], n_ring);
        qfz_carve_take(carve, &room->u[i], n_ring);
    }
    room->sort = qfz_carve_bytes(carve, qfz_gpu_sort_bytes(n_ring));
}

qfz_status qfz_connect_ring(qfz_gpu *gpu, const qfz_connect_tree *tree, uint32_t *d_rep,
                            const qfz_connect_ring_room *room, const qfz_gpu_links *links,
                            uint32_t *d_n)
{
    const int64_t n_ring = qfz_ring_size(tree->h, tree->w);
    int out = 0;
    QFZ_TRY(qfz_gpu_fill(gpu, d_rep, 0xff, tree->n_nodes));
    QFZ_TRY(qfz_gpu_fill(gpu, room->keys[0], 0xff, n_ring));
    QFZ_TRY(qfz_gpu_fill(gpu, room->u[0], 0xff, n_ring));
    QFZ_TRY(qfz_gpu_fill(gpu, d_n, 0, 1));
    QFZ_TRY(qfz_connect_launch(gpu, k_choose_reps, n_ring, *tree, n_ring, d_rep));
    QFZ_TRY(qfz_connect_launch(gpu, k_find_links, n_ring, *tree, n_ring, d_rep, room->keys[0],
                               room->u[0], d_n));
    QFZ_TRY(qfz_gpu_sort_pairs(gpu, room->sort, room->keys, room->u, n_ring, 0, 64, &out));
    return qfz_connect_launch(gpu, k_store_links, n_ring, n_ring, room->keys[out], room->u[out],
                              *links);
}

/* ---- Saliency -------------------------------------------------------------------------------- */

/* Calls use(pixel, direction, whether there is such an edge, its level) for all edges of a thread's
 * pixel. */
template <typename T, typename USE>
static QFZ_DEVICE void each_edge(const qfz_edge_reader<T> &reader, int n_dirs, USE use)
{
    const int64_t p = qfz_connect_item();
    if (p >= (int64_t)reader.h * reader.w) return;
    const int32_t y = (int32_t)(p / reader.w), x = (int32_t)(p % reader.w);
    for (int d = 0; d < n_dirs; d++) {
        uint32_t level = 0;
        const bool is = reader.read(y, x, d, &level);
        use((uint32_t)p, d, is, level);
    }
}

template <typename T, typename OUT>
static __global__ void __launch_bounds__(THREADS)
    k_saliency(qfz_connect_tree tree, qfz_edge_reader<T> reader, int n_dirs, OUT *out)
{
    each_edge(reader, n_dirs, [&](uint32_t p, int d, bool is, uint32_t level) {
        if (is && level > 0) level = qfz_meet(tree.links, p, p + (uint32_t)reader.beyond(d)).level;
        out[d * tree.n_px + p] = is ? (OUT)level : (OUT)QFZ_NONE;
    });
}

/* The greatest level at which a component without a ring pixel joins another one: an edge whose
 * ways meet there shows it.  An edge of a level that is not greater than the greatest so far shows
 * nothing new. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    k_find_largest(qfz_connect_tree tree, qfz_edge_reader<T> reader, int n_dirs,
                   const uint32_t *__restrict__ rep, uint32_t *largest)
{
    each_edge(reader, n_dirs, [&](uint32_t p, int d, bool is, uint32_t level) {
        if (!is || level <= qfz_peek(largest)) return;
        const qfz_meeting m = qfz_meet(tree.links, p, p + (uint32_t)reader.beyond(d));
        if (m.level > qfz_peek(largest) &&
            (rep[m.below[0]] == QFZ_NONE || rep[m.below[1]] == QFZ_NONE))
            atomicMax(largest, m.level);
    });
}

/* ---- Memory and launches --------------------------------------------------------------------- */

namespace
{
struct levels_room {
    qfz_connect_tree tree;
    void *d_saliency;
    uint32_t *d_rep; /* overlaps d_saliency */
    qfz_connect_ring_room ring;
};
} // namespace

static void carve(int connectivity, int32_t h, int32_t w, bool narrow, int64_t n_external,
                  qfz_carve *c, levels_room *room)
{
    const size_t plane = (size_t)h * (size_t)w * (narrow ? 2 : 4);
    room->tree = qfz_connect_tree_of(connectivity, h, w, n_external);
    qfz_carve_take(c, &room->tree.links.words, room->tree.n_nodes);
    qfz_carve second = *c;
    room->d_saliency = qfz_carve_bytes(c, (size_t)(connectivity / 2) * plane);
    qfz_carve_take(&second, &room->d_rep, room->tree.n_nodes);
    qfz_connect_ring_carve(qfz_ring_size(h, w), &second, &room->ring);
    if (c->used < second.used) c->used = second.used;
}

size_t qfz_connect_levels_bytes(int connectivity, int32_t h, int32_t w, bool narrow)
{
    qfz_carve c = {};
    levels_room room = {};
    carve(connectivity, h, w, narrow, qfz_ring_size(h, w), &c, &room);
    return c.used;
}

static void cut(const qfz_gpu_edges *edges, int64_t n_external, void *d_memory, levels_room *room)
{
    qfz_carve c = {static_cast<char *>(d_memory), 0};
    *room = levels_room{};
    carve(edges->connectivity, edges->h, edges->w, qfz_gpu_is_narrow(edges), n_external, &c, room);
}

qfz_status qfz_connect_saliency(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                                const qfz_gpu_links *external, qfz_connect_phase last,
                                void *d_memory, void **d_saliency)
{
    const int n_dirs = edges->connectivity / 2;
    levels_room room;
    cut(edges, external ? external->n : 0, d_memory, &room);
    *d_saliency = room.d_saliency;
    QFZ_TRY(qfz_connect_build(gpu, version, edges, UINT32_MAX, external, last, &room.tree));
    if (last < QFZ_CONNECT_READ) return QFZ_OK;
    return qfz_with_reader(edges, UINT32_MAX, [&](const auto &reader) {
        typedef typename std::decay_t<decltype(reader)>::type T;
        const auto read = [&](auto kernel, auto *d_out) {
            return qfz_connect_launch(gpu, kernel, room.tree.n_px, room.tree, reader, n_dirs,
                                      d_out);
        };
        return qfz_gpu_is_narrow(edges)
                   ? read(k_saliency<T, uint16_t>, (uint16_t *)room.d_saliency)
                   : read(k_saliency<T, uint32_t>, (uint32_t *)room.d_saliency);
    });
}

qfz_status qfz_connect_ring_links(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                                  void *d_memory, const qfz_gpu_links *links, uint32_t *d_n,
                                  uint32_t *d_largest)
{
    levels_room room;
    cut(edges, 0, d_memory, &room);
    QFZ_TRY(qfz_connect_build(gpu, version, edges, UINT32_MAX, NULL, QFZ_CONNECT_READ, &room.tree));
    QFZ_TRY(qfz_connect_ring(gpu, &room.tree, room.d_rep, &room.ring, links, d_n));
    if (!d_largest) return QFZ_OK;
    QFZ_TRY(qfz_gpu_fill(gpu, d_largest, 0, 1));
    return qfz_with_reader(edges, UINT32_MAX, [&](const auto &reader) {
        typedef typename std::decay_t<decltype(reader)>::type T;
        return qfz_connect_launch(gpu, k_find_largest<T>, room.tree.n_px, room.tree, reader,
                                  edges->connectivity / 2, room.d_rep, d_largest);
    });
}
