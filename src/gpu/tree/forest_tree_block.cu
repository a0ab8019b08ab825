/* SPDX-License-Identifier: MIT */
/* forest_tree_block.cu - nodes of the alpha-tree whose top is a component inside a block of 64 x 64
 * pixels, in shared memory; and the pairs of vertices that links inside a block yield.
 *
 *   load      the hooks of components
 *   name      finds the pair of the link of each pixel and component; a hash table makes pairs
 *             unique
 *   order     stores the pairs of a component, its chain, adjacent in a list; pairs whose top is a
 *             vertex are appended to the tree's
 *   link      finds the next pair of each pair in its chain */
#include "gpu/tree/forest_tree_parts.cuh"
#include "gpu/device/warp.cuh"

enum {
    THREADS = 512,
    EACH = QFZ_FOREST_BLOCK_PX / THREADS, /* pixels of a thread */
    TABLE_BITS = 13, /* at most half of the table is used: a block has fewer pairs than pixels */
    TABLE = 1 << TABLE_BITS
};

/* The word of a component in tree_memory::up: its parent, or IS_ROOT | vertex. */
enum { IS_ROOT = 0x8000, NO_VERTEX = IS_ROOT | QFZ_STEP_MASK };

/* Numbers of nodes in a block: NOWHERE for none; LOWEST_OF | vertex, counted from the block's first
 * vertex, for the lowest node of that vertex. */
enum { NOWHERE = 0xffff, LOWEST_OF = 0x8000 };

/* Marks an index into the table: the pair was inserted by this link. */
enum { FIRST = TABLE };

static __device__ __forceinline__ bool is_first(uint32_t named)
{
    return (named & (LOWEST_OF | FIRST)) == FIRST;
}

namespace
{
/* Pairs in the table: component << LEVEL_BITS | level. */
template <typename KEY> struct pair_of {
    enum { LEVEL_BITS = sizeof(KEY) * 4 };

    static __device__ __forceinline__ KEY make(uint32_t comp, uint32_t level)
    {
        return (KEY)comp << LEVEL_BITS | level;
    }
    static __device__ __forceinline__ uint32_t comp(KEY pair)
    {
        return (uint32_t)(pair >> LEVEL_BITS);
    }
    static __device__ __forceinline__ uint32_t level(KEY pair)
    {
        return (uint32_t)(pair & (((KEY)1 << LEVEL_BITS) - 1));
    }
    static __device__ __forceinline__ uint32_t place(KEY pair)
    {
        const uint32_t mixed = level(pair) * 0x9e3779b1u ^ comp(pair) * 0x85ebca6bu;
        return (mixed ^ mixed >> 15) * 0x2c1b3c6du >> (32 - TABLE_BITS);
    }
};

template <typename KEY> struct tree_memory {
    typedef typename qfz_top_of<KEY>::type TOP;
    KEY table[TABLE]; /* pairs, then their numbers */
    uint32_t
        chain[QFZ_COMPS];   /* number of pairs << 16 | their start in the list; later, their end */
    uint16_t up[QFZ_COMPS]; /* the parent, or IS_ROOT | vertex, counted from the block's first */
    uint16_t named[QFZ_COMPS]; /* index into the table of the pair of the hook */
    TOP level[QFZ_COMPS];      /* level of the hook */
    TOP list_level[QFZ_FOREST_BLOCK_PX];
    uint16_t list_comp[QFZ_FOREST_BLOCK_PX];
    uint32_t n_local, n_open, first_pair;
};

/* The variables of a thread that all steps use; the arrays are for the thread's pixels and pairs.
 */
template <typename KEY> struct tree_work {
    typedef typename qfz_top_of<KEY>::type TOP;
    tree_memory<KEY> &m;
    const qfz_gpu_forest_tree &tree;
    qfz_block_box box;
    uint32_t n; /* number of components */
    uint32_t first_vertex;
    uint32_t open; /* number of the thread's pairs of vertices; later, the next one's number */
    uint32_t named[EACH]; /* an index into the table; later, a number of a node */
};
} // namespace

/* The component and the level of the hook of pixel p of the box; then the level of its k-th pixel.
 */
template <typename TOP>
static __device__ __forceinline__ uint16_t *comp_of(const qfz_gpu_forest &forest, qfz_block_box box,
                                                    uint32_t p)
{
    return qfz_comps<TOP>(forest, box, (int32_t)(p / QFZ_SIDE)) + p % QFZ_SIDE;
}

template <typename TOP>
static __device__ __forceinline__ TOP *level_of(const qfz_gpu_forest &forest, qfz_block_box box,
                                                uint32_t p)
{
    return qfz_tops<TOP>(forest, box, (int32_t)(p / QFZ_SIDE)) + p % QFZ_SIDE;
}

template <typename TOP>
static __device__ __forceinline__ TOP *kth_level(const qfz_gpu_forest &forest, qfz_block_box box,
                                                 uint32_t k)
{
    const uint32_t w = (uint32_t)box.w;
    return qfz_tops<TOP>(forest, box, (int32_t)(k / w)) + k % w;
}

static __device__ __forceinline__ bool in_box(qfz_block_box box, uint32_t p)
{
    return (int32_t)(p / QFZ_SIDE) < box.h && (int32_t)(p % QFZ_SIDE) < box.w;
}

static __device__ __forceinline__ uint32_t place_of(int k)
{
    return threadIdx.x + (uint32_t)k * THREADS;
}

#define EACH_COMPONENT(w, c) for (uint32_t c = threadIdx.x; c < (w).n; c += THREADS)

/* The parents of a block's nodes, in the memory of its hooks, 16 bits each.  A block has fewer
 * nodes than pixels, and room for a hook per two pixels. */
static __device__ __forceinline__ uint16_t *parents_of(const qfz_gpu_forest &forest, uint32_t block)
{
    return reinterpret_cast<uint16_t *>(forest.hooks + (int64_t)block * forest.comp_room);
}

/* ---- Load ------------------------------------------------------------------------------------ */

template <typename KEY> static __device__ __forceinline__ void load(tree_work<KEY> &w)
{
    typedef typename tree_work<KEY>::TOP TOP;
    const qfz_gpu_forest &forest = w.tree.forest;
    EACH_COMPONENT(w, c)
    {
        const KEY hook = qfz_hook_at<KEY>(forest, blockIdx.x, c);
        const uint32_t step = (uint32_t)hook & 0xffff, level = (uint32_t)(hook >> 16);
        const bool is_root = step >> QFZ_STEP_BITS == QFZ_STEP_ROOT;
        uint32_t up = step & QFZ_STEP_MASK;
        if (is_root)
            up |= IS_ROOT;
        else if (level > w.tree.alpha_level)
            up = NO_VERTEX;
        w.m.up[c] = (uint16_t)up;
        w.m.level[c] = (TOP)level;
        w.m.chain[c] = 0;
    }
    for (uint32_t i = threadIdx.x; i < TABLE; i += THREADS)
        w.m.table[i] = ~(KEY)0;
    if (threadIdx.x == 0) w.m.n_local = w.m.n_open = 0;
}

/* ---- Name ------------------------------------------------------------------------------------ */

template <typename WORK> static __device__ __forceinline__ bool is_vertex(const WORK &w, uint32_t c)
{
    return w.m.up[c] & IS_ROOT && w.m.up[c] != NO_VERTEX;
}

/* Inserts the pair (c, level) and counts it, unless the table has it; returns its index, with FIRST
 * if it was inserted.  An entry never changes once it is set, so a stale read of a free entry only
 * costs an exchange that fails. */
template <typename KEY>
static __device__ __forceinline__ uint32_t put_into_table(tree_work<KEY> &w, uint32_t c,
                                                          uint32_t level)
{
    const KEY pair = pair_of<KEY>::make(c, level), none = ~(KEY)0;
    uint32_t i = pair_of<KEY>::place(pair);
    for (;; i = (i + 1) % TABLE) {
        KEY was = *static_cast<volatile KEY *>(&w.m.table[i]);
        if (was == none) was = atomicCAS(&w.m.table[i], none, pair);
        if (was == pair) return i;
        if (was == none) break;
    }
    if (is_vertex(w, c))
        w.open++;
    else
        atomicAdd(&w.m.chain[c], 1u << 16);
    return i | FIRST;
}

/* The same for the pair of component c's piece at a level. */
template <typename KEY>
static __device__ __forceinline__ uint32_t name(tree_work<KEY> &w, uint32_t c, uint32_t level)
{
    uint32_t up = w.m.up[c];
    while (!(up & IS_ROOT) && w.m.level[c] <= level) {
        c = up;
        up = w.m.up[c];
    }
    return put_into_table(w, c, level);
}

/* Finds the pairs of the links of the thread's pixels.  A pixel that waited from the start, because
 * its lightest edge leaves the block, has no link; it is a vertex, and its parent is the lowest
 * node of that vertex.  Such a pixel is in a waiting component and has level 0.  No other pixel of
 * such a component has level 0: an edge of level 0 inside the block would have come before the edge
 * that leaves. */
template <typename KEY> static __device__ __forceinline__ void name_pixels(tree_work<KEY> &w)
{
    typedef typename tree_work<KEY>::TOP TOP;
    const qfz_gpu_forest &forest = w.tree.forest;
    uint32_t comp[EACH], level[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t p = place_of(k);
        const bool there = in_box(w.box, p);
        comp[k] = there ? (uint32_t)*comp_of<TOP>(forest, w.box, p) : (uint32_t)QFZ_NO_COMP;
        level[k] = there ? (uint32_t)*level_of<TOP>(forest, w.box, p) : 0;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        w.named[k] = NOWHERE;
        if (comp[k] == QFZ_NO_COMP) continue;
        if (comp[k] < QFZ_ACTIVE && level[k] == 0)
            w.named[k] = LOWEST_OF | (w.m.up[comp[k]] & QFZ_STEP_MASK);
        else if (level[k] <= w.tree.alpha_level)
            w.named[k] = name(w, comp[k], level[k]);
    }
}

template <typename KEY> static __device__ __forceinline__ void name_components(tree_work<KEY> &w)
{
    EACH_COMPONENT(w, c)
    {
        const uint32_t up = w.m.up[c];
        w.m.named[c] = (uint16_t)(up & IS_ROOT ? (uint32_t)NOWHERE : name(w, up, w.m.level[c]));
    }
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Reserves places for chains in the list, and for pairs of vertices among the tree's. */
template <typename KEY> static __device__ __forceinline__ void take_places(tree_work<KEY> &w)
{
    uint32_t n_local = 0;
    w.open = qfz_take(&w.m.n_open, w.open);
    EACH_COMPONENT(w, c) n_local += w.m.chain[c] >> 16;
    uint32_t at = qfz_take(&w.m.n_local, n_local);
    EACH_COMPONENT(w, c)
    {
        const uint32_t n = w.m.chain[c] >> 16;
        w.m.chain[c] = n << 16 | at;
        at += n;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t before = atomicAdd(&w.tree.d_counts->inside, w.m.n_local);
        w.m.first_pair = atomicAdd(&w.tree.d_counts->pairs, w.m.n_open);
        w.tree.d_first_pair[blockIdx.x] = w.m.first_pair;
        w.tree.d_inside[blockIdx.x] = make_uint2(before, w.m.n_local);
    }
    __syncthreads();
}

/* Numbers a pair that the thread inserted into the table. */
template <typename KEY>
static __device__ __forceinline__ void number(tree_work<KEY> &w, uint32_t place)
{
    typedef typename tree_work<KEY>::TOP TOP;
    const KEY pair = w.m.table[place];
    const uint32_t c = pair_of<KEY>::comp(pair), level = pair_of<KEY>::level(pair);
    uint32_t at;
    if (is_vertex(w, c)) {
        const uint32_t vertex = w.first_vertex + (w.m.up[c] & QFZ_STEP_MASK);
        at = w.m.n_local + w.open;
        qfz_put_pair(w.tree, w.m.first_pair + w.open,
                     qfz_top_of_vertex(w.tree.forest, vertex, level), level);
        w.open++;
    } else {
        at = atomicAdd(&w.m.chain[c], 1u) & 0xffff;
        w.m.list_level[at] = (TOP)level;
        w.m.list_comp[at] = (uint16_t)c;
    }
    w.m.table[place] = at;
}

template <typename KEY> static __device__ __forceinline__ void order(tree_work<KEY> &w)
{
    take_places(w);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (is_first(w.named[k])) number(w, w.named[k] % TABLE);
    EACH_COMPONENT(w, c)
    if (is_first(w.m.named[c])) number(w, w.m.named[c] % TABLE);
}

/* ---- Link ------------------------------------------------------------------------------------ */

/* Finds the next pair in the chain of each pair by a search of the chain.  Most chains are short;
 * threads of a long chain read the same words. */
template <typename KEY> static __device__ __forceinline__ void link(tree_work<KEY> &w)
{
    typedef typename tree_work<KEY>::TOP TOP;
    const qfz_gpu_forest &forest = w.tree.forest;
    uint16_t *const parents = parents_of(forest, blockIdx.x);
    for (uint32_t k = threadIdx.x; k < w.m.n_local; k += THREADS) {
        const uint32_t c = w.m.list_comp[k], level = w.m.list_level[k];
        const uint32_t end = w.m.chain[c] & 0xffff, begin = end - (w.m.chain[c] >> 16);
        uint32_t next = NOWHERE, next_level = QFZ_NONE;
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t other = w.m.list_level[i];
            if (other <= level || other > next_level) continue;
            next = i;
            next_level = other;
        }
        if (next == NOWHERE && w.m.named[c] != NOWHERE)
            next = (uint32_t)w.m.table[w.m.named[c] % TABLE];
        *kth_level<TOP>(forest, w.box, k) = (TOP)level;
        parents[k] = (uint16_t)next;
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (!in_box(w.box, place_of(k))) continue;
        const uint32_t named = w.named[k];
        *comp_of<TOP>(forest, w.box, place_of(k)) =
            (uint16_t)(named & LOWEST_OF ? named : (uint32_t)w.m.table[named % TABLE]);
    }
}

template <typename KEY>
static __global__ void __launch_bounds__(THREADS) k_nodes(qfz_gpu_forest_tree tree)
{
    typedef tree_memory<KEY> memory;
    QFZ_SHARED(memory, m);
    const uint2 block = tree.forest.block[blockIdx.x];
    tree_work<KEY> w = {*m, tree, qfz_block_of(tree.forest, blockIdx.x), block.y, block.x, 0, {}};
    load(w);
    __syncthreads();
    name_pixels(w);
    name_components(w);
    __syncthreads();
    order(w);
    __syncthreads();
    link(w);
}

/* ---- Write ----------------------------------------------------------------------------------- */

namespace
{
/* The map from a block's numbers to nodes of the tree. */
struct numbering {
    uint32_t base, n_local, first_pair, first_vertex;
};
} // namespace

/* The node that a block's `number` of a parent stands for; `self` if there is none. */
static __device__ __forceinline__ uint32_t parent_by(const qfz_gpu_forest_tree &tree,
                                                     const numbering &of, uint32_t number,
                                                     uint32_t self)
{
    if (number < of.n_local) return of.base + number;
    uint32_t node = QFZ_NONE;
    if (!(number & LOWEST_OF)) {
        node = tree.d_node[of.first_pair + number - of.n_local];
    } else if (number != NOWHERE) {
        const uint32_t vertex = of.first_vertex + (number & ~(uint32_t)LOWEST_OF);
        node = tree.d_first_node[vertex];
        if (node == QFZ_NONE) node = tree.d_node[vertex];
    }
    return node == QFZ_NONE ? self : node;
}

/* Writes parents and levels.  The parents of pixels overwrite levels and components of the same
 * row, so a block reads all of these first. */
template <typename KEY>
static __global__ void __launch_bounds__(THREADS, QFZ_SM_THREADS / THREADS)
    k_write(qfz_gpu_forest_tree tree)
{
    typedef typename qfz_top_of<KEY>::type TOP;
    const qfz_gpu_forest &forest = tree.forest;
    const qfz_block_box box = qfz_block_of(forest, blockIdx.x);
    const uint2 inside = tree.d_inside[blockIdx.x];
    const numbering of = {(uint32_t)((int64_t)forest.h * forest.w) + inside.x, inside.y,
                          tree.d_first_pair[blockIdx.x], forest.block[blockIdx.x].x};
    uint32_t number[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (in_box(box, place_of(k))) number[k] = *comp_of<TOP>(forest, box, place_of(k));
    const uint16_t *const parents = parents_of(forest, blockIdx.x);
    for (uint32_t k = threadIdx.x; k < of.n_local; k += THREADS) {
        const uint32_t at = inside.x + k;
        tree.d_inside_parent[at] = parent_by(tree, of, parents[k], of.base + k);
        static_cast<TOP *>(tree.d_inside_level)[at] = *kth_level<TOP>(forest, box, k);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint32_t p = place_of(k);
        if (!in_box(box, p)) continue;
        const int64_t at =
            (int64_t)(box.y + (int32_t)(p / QFZ_SIDE)) * forest.w + box.x + (int32_t)(p % QFZ_SIDE);
        tree.d_parent[at] = parent_by(tree, of, number[k], (uint32_t)at);
    }
}

/* ---- Launchers ------------------------------------------------------------------------------- */

size_t qfz_gpu_forest_tree_shared(const qfz_gpu_edges *edges)
{
    return edges->form >= QFZ_EDGES_WIDE ? sizeof(tree_memory<unsigned long long>)
                                         : sizeof(tree_memory<uint32_t>);
}

qfz_status qfz_forest_tree_blocks(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree)
{
    typedef unsigned long long wide;
    const dim3 grid((unsigned)tree->forest.n_blocks), block(THREADS);
    if (tree->forest.wide)
        return qfz_launch(gpu, k_nodes<wide>, grid, block, sizeof(tree_memory<wide>), *tree);
    return qfz_launch(gpu, k_nodes<uint32_t>, grid, block, sizeof(tree_memory<uint32_t>), *tree);
}

qfz_status qfz_forest_tree_write(qfz_gpu *gpu, const qfz_gpu_forest_tree *tree)
{
    typedef unsigned long long wide;
    const dim3 grid((unsigned)tree->forest.n_blocks), block(THREADS);
    if (tree->forest.wide) return qfz_launch(gpu, k_write<wide>, grid, block, 0, *tree);
    return qfz_launch(gpu, k_write<uint32_t>, grid, block, 0, *tree);
}
