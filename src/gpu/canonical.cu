/* SPDX-License-Identifier: MIT */
/* canonical.cu - from links to the canonical tree: nodes of the level of their parent (aliases) and
 * nodes of one child give way to the next one above that stays; those that stay are numbered.
 *
 * A zone of equal values may be named by one of its pixels, when no edge became a node for it; then
 * that pixel has aliases, and an inner node of level 0 is made for it all the same. */
#include "gpu/collective.cuh"
#include "gpu/connect.cuh"
#include "gpu/edge_reader.cuh"
#include "gpu/launch.cuh"
#include "gpu/tree.cuh"

enum { BLOCK = 256 };

/* What kernels see: links and, after counting, numbers of the nodes that stay. */
template <typename T> struct tree_view {
    qfz_edge_reader<T> reader;
    uint32_t n_px;
    qfz_wide_links links;
    uint32_t *children; /* counted up to 2; then 1 for what stays; then, by a scan, numbers */

    __device__ __forceinline__ bool stays(uint32_t node) const
    {
        return children[(size_t)node + 1] != children[node];
    }
};

/* A thread's node: blockIdx.y says of which kind, a pixel or the edge of one direction. */
struct tree_place {
    uint32_t px, node;
    bool is_pixel, is_there;
};

template <typename T>
static __device__ __forceinline__ tree_place place_of(const tree_view<T> &tree)
{
    const uint32_t px = blockIdx.x * BLOCK + threadIdx.x;
    return tree_place{px, blockIdx.y * tree.n_px + px, blockIdx.y == 0, px < tree.n_px};
}

/* Is there such a node?  level: its own. */
template <typename T>
static __device__ __forceinline__ bool exists(const tree_view<T> &tree, const tree_place &at,
                                              uint32_t *level)
{
    const uint32_t w = (uint32_t)tree.reader.w;
    *level = 0;
    if (at.is_pixel) return true;
    return tree.reader.read((int32_t)(at.px / w), (int32_t)(at.px % w), (int)blockIdx.y - 1, level);
}

/* Parents become the last of their level.  Later nodes first: so most parents are done before. */
static __global__ void __launch_bounds__(BLOCK) k_flatten(qfz_wide_links links, int64_t n)
{
    const int64_t k = n - 1 - ((int64_t)blockIdx.x * BLOCK + threadIdx.x);
    if (k < 0) return;
    const uint32_t node = (uint32_t)k;
    qfz_climber at = qfz_start(links, node, 0);
    const qfz_link link = at.link;
    if (link.parent == node) return;
    qfz_step(links, &at);
    qfz_climb(links, &at, link.level);
    if (at.node != link.parent) links.put(node, qfz_link{at.node, link.level});
}

/* Nodes count their children: pixels, be they aliases, and edges that are none. */
template <typename T> static __global__ void __launch_bounds__(BLOCK) k_count(tree_view<T> tree)
{
    const tree_place at = place_of(tree);
    uint32_t level;
    if (!at.is_there) return;
    const qfz_link link = tree.links.get(at.node);
    if (link.parent == at.node || !exists(tree, at, &level)) return;
    if (!at.is_pixel && link.level == level) return;
    /* Two are as good as more; a stale count only costs an addition, but a root has millions of
     * children: past the cache, therefore. */
    uint32_t *const count = tree.children + link.parent;
    if (__ldcg(count) < 2) atomicAdd(count, 1u);
}

/* An edge that is nobody's alias stays if it has two children; a pixel, as its zone's name, if it
 * has an alias, since it is a child of the zone itself. */
template <typename T> static __global__ void __launch_bounds__(BLOCK) k_choose(tree_view<T> tree)
{
    const tree_place at = place_of(tree);
    uint32_t level;
    if (!at.is_there) return;
    bool stays = tree.children[at.node] >= (at.is_pixel ? 1u : 2u);
    if (stays && exists(tree, at, &level)) {
        const qfz_link link = tree.links.get(at.node);
        stays = link.parent == at.node || link.level != level;
    }
    tree.children[at.node] = stays ? 1 : 0;
}

/* The first of a node's ancestors that stays, itself excluded; false: there is none. */
template <typename T>
static __device__ __forceinline__ bool find_staying(const tree_view<T> &tree, uint32_t *node)
{
    for (;;) {
        const uint32_t up = tree.links.get(*node).parent;
        if (up == *node) return false;
        *node = up;
        if (tree.stays(up)) return true;
    }
}

/* A node of one child is climbed from that child alone, so all climbs together are linear. */
template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    k_write(tree_view<T> tree, int64_t n, uint32_t *parent, uint32_t *level, uint32_t *n_nodes)
{
    const tree_place at = place_of(tree);
    if (at.node == 0) *n_nodes = tree.n_px + tree.children[n];
    if (!at.is_there) return;
    const bool stays = tree.stays(at.node);
    if (!at.is_pixel && !stays) return;
    uint32_t above = at.node, own_level;
    const bool has_above = find_staying(tree, &above);
    const uint32_t over = tree.n_px + tree.children[above], id = tree.n_px + tree.children[at.node];
    if (stays) {
        (void)exists(tree, at, &own_level);
        parent[id] = has_above ? over : id;
        level[id] = own_level;
    }
    if (at.is_pixel) {
        parent[at.node] = stays ? id : has_above ? over : at.node;
        level[at.node] = 0;
    }
}

/* ------------------------------------------------------------------------------------ launchers */
typedef struct canonical_room {
    uint32_t *children; /* a word a node and one more */
    void *scan;
} canonical_room;

static int64_t n_nodes_of(int connectivity, int64_t n_px)
{
    return (1 + connectivity / 2) * n_px;
}

static void take_room(qfz_carve *carve, int64_t n, canonical_room *room)
{
    qfz_carve_take(carve, &room->children, n + 1);
    room->scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(n + 1));
}

size_t qfz_gpu_canonical_bytes(int connectivity, int64_t n_px)
{
    qfz_carve carve = {NULL, 0};
    canonical_room room;
    take_room(&carve, n_nodes_of(connectivity, n_px), &room);
    return carve.used;
}

template <typename T>
static qfz_status canonical(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_key,
                            uint64_t *d_links, void *d_scratch, uint32_t *d_parent,
                            uint32_t *d_level, uint32_t *d_n_nodes)
{
    const int64_t n_px = (int64_t)edges->h * edges->w;
    const int64_t n = n_nodes_of(edges->connectivity, n_px);
    qfz_carve carve = {(char *)d_scratch, 0};
    canonical_room room;
    take_room(&carve, n, &room);
    tree_view<T> tree = {};
    tree.reader = qfz_read_edges<T>(edges, alpha_key);
    tree.n_px = (uint32_t)n_px;
    tree.links.words = (unsigned long long *)d_links;
    tree.children = room.children;
    const dim3 grid(qfz_blocks(n_px, BLOCK), 1 + (unsigned)edges->connectivity / 2);
    QFZ_TRY_CUDA(gpu->err, cudaMemsetAsync(room.children, 0, (size_t)(n + 1) * sizeof(uint32_t),
                                           gpu->stream));
    QFZ_TRY(qfz_launch(gpu, k_flatten, dim3(qfz_blocks(n, BLOCK)), BLOCK, 0, tree.links, n));
    QFZ_TRY(qfz_launch(gpu, k_count<T>, grid, BLOCK, 0, tree));
    QFZ_TRY(qfz_launch(gpu, k_choose<T>, grid, BLOCK, 0, tree));
    QFZ_TRY(qfz_gpu_scan(gpu, room.scan, room.children, room.children, n + 1));
    return qfz_launch(gpu, k_write<T>, grid, BLOCK, 0, tree, n, d_parent, d_level, d_n_nodes);
}

qfz_status qfz_gpu_canonical(qfz_gpu *gpu, const qfz_gpu_edges *edges, uint32_t alpha_key,
                             uint64_t *d_links, void *d_scratch, uint32_t *d_parent,
                             uint32_t *d_level, uint32_t *d_n_nodes)
{
    switch (edges->form) {
    case QFZ_EDGES_U8:
        return canonical<uint8_t>(gpu, edges, alpha_key, d_links, d_scratch, d_parent, d_level,
                                  d_n_nodes);
    case QFZ_EDGES_U16:
        return canonical<uint16_t>(gpu, edges, alpha_key, d_links, d_scratch, d_parent, d_level,
                                   d_n_nodes);
    case QFZ_EDGES_KEYS: break;
    }
    return canonical<uint32_t>(gpu, edges, alpha_key, d_links, d_scratch, d_parent, d_level,
                               d_n_nodes);
}

static void take_tree(qfz_carve *carve, int connectivity, int64_t n_px, uint64_t **links,
                      void **scratch)
{
    qfz_carve_take(carve, links, n_nodes_of(connectivity, n_px));
    *scratch = qfz_carve_bytes(carve, qfz_gpu_canonical_bytes(connectivity, n_px));
}

size_t qfz_gpu_tree_bytes(int connectivity, int32_t h, int32_t w)
{
    qfz_carve carve = {NULL, 0};
    uint64_t *links;
    void *scratch;
    take_tree(&carve, connectivity, (int64_t)h * w, &links, &scratch);
    return carve.used;
}

qfz_status qfz_gpu_tree(qfz_gpu *gpu, qfz_gpu_connect version, const qfz_gpu_edges *edges,
                        uint32_t alpha_key, void *d_scratch, uint32_t *d_parent, uint32_t *d_level,
                        uint32_t *d_n_nodes)
{
    qfz_carve carve = {(char *)d_scratch, 0};
    uint64_t *links;
    void *scratch;
    take_tree(&carve, edges->connectivity, (int64_t)edges->h * edges->w, &links, &scratch);
    QFZ_TRY(version == QFZ_CONNECT_V1 ? qfz_gpu_connect_v1(gpu, edges, alpha_key, links)
                                      : qfz_gpu_connect_v2(gpu, edges, alpha_key, links));
    return qfz_gpu_canonical(gpu, edges, alpha_key, links, scratch, d_parent, d_level, d_n_nodes);
}
