/* SPDX-License-Identifier: MIT */
/* forest_tree_block.cu - nodes of the alpha-tree whose piece lies inside a block of 64 x 64 pixels,
 * in shared memory; and the pairs of vertices that links inside a block yield.
 *
 *   load      the hooks of components and pixels
 *   name      finds the pair of the link of each component and pixel
 *   place     a hash table makes pairs unique
 *   order     stores the pairs of a component, its chain, adjacent in a list
 *   append    appends outer pairs to those of the tree
 *   link      finds the next pair of each pair in its chain
 *
 * A component that waits for an edge of level n that leaves the block is a vertex.  No other edge
 * out of it has a level below n, so its pairs below n are those of this block, a chain like others;
 * the parent of the last is the lowest node of the vertex.  Its other pairs are outer pairs: links
 * of other blocks may yield them too, and their top may be another vertex.
 *
 * Both hash tables are filled in rounds.  In each, a key that has no place yet lowers the word of
 * its next place to itself if the word is free, and after a barrier reads whose the word is.  Equal
 * keys try the same places, so they end in the same place.  Most end in the first round; the others
 * go on from a queue, so that no warp waits for a few lanes. */
#include "gpu/tree/forest_tree_block.cuh"

namespace
{
enum {
    EACH_COMPS = (QFZ_COMPS + THREADS - 1) / THREADS, /* components of a thread, at most */
    TABLE_BITS = 13, /* at most half of the table is used: a block has fewer pairs than pixels */
    TABLE = 1 << TABLE_BITS,
    QUEUE = 2048, /* links in the queue */
    OUTER_BITS = 12,
    OUTER = 1 << OUTER_BITS, /* places in the table of outer pairs */
    OUTER_ROUNDS = 16 /* an outer pair that has no place then may be appended several times */
};

/* The lower half of tree_memory::hook: the parent of a component, or IS_ROOT | vertex. */
enum { IS_ROOT = 0x8000, NO_VERTEX = IS_ROOT | QFZ_STEP_MASK };

/* The place of the pair (top, level) in a table of 1 << BITS words in a round.  A round goes on by
 * an odd number of places that depends on the pair. */
template <int BITS> QFZ_DEVICE uint32_t place_of(uint32_t top, uint32_t level, uint32_t round)
{
    const uint32_t mixed = level * 0x9e3779b1u + top * 0x85ebca6bu;
    return ((mixed >> (32 - BITS)) + round * (mixed >> 5 | 1)) % (1u << BITS);
}

/* Pairs in the table: component << LEVEL_BITS | level. */
template <typename KEY> struct pair_of {
    enum { LEVEL_BITS = sizeof(KEY) * 4 };

    static QFZ_DEVICE KEY make(uint32_t comp, uint32_t level)
    {
        return (KEY)comp << LEVEL_BITS | level;
    }
    static QFZ_DEVICE uint32_t comp(KEY pair)
    {
        return (uint32_t)(pair >> LEVEL_BITS);
    }
    static QFZ_DEVICE uint32_t level(KEY pair)
    {
        return (uint32_t)(pair & (((KEY)1 << LEVEL_BITS) - 1));
    }
    static QFZ_DEVICE uint32_t place(KEY pair, uint32_t round)
    {
        return place_of<TABLE_BITS>(comp(pair), level(pair), round);
    }
};

template <typename KEY> struct tree_memory {
    typedef typename qfz_top_of<KEY>::type TOP;
    union {
        KEY table[TABLE];                      /* pairs, then their numbers */
        struct {                               /* outer pairs, when all numbers are read */
            uint32_t outer[OUTER];             /* the table: the first of equal pairs */
            uint32_t top[QFZ_FOREST_BLOCK_PX]; /* per pair: its top; later, its final number */
        };
    };
    /* level << 16 | up; a vertex has the level of the edge for which it waits. */
    KEY hook[QFZ_COMPS];
    uint32_t chain[QFZ_COMPS]; /* number of pairs << 16; later, with their start in the list */
    uint16_t named[QFZ_COMPS]; /* of the pair of the hook, as tree_work::named, unless open */
    union {
        TOP list_level[QFZ_FOREST_BLOCK_PX]; /* chains, followed by outer pairs */
        KEY queue[QUEUE];                    /* pairs of links; later, their places in the table */
    };
    uint16_t list_comp[QFZ_FOREST_BLOCK_PX]; /* at first, the places of all pairs in the table */
    uint32_t n_queued, n_all, n_local, n_outer, n_pairs, first_pair;
};

/* The variables of a thread that all steps use. */
template <typename KEY> struct tree_work {
    typedef typename qfz_top_of<KEY>::type TOP;
    tree_memory<KEY> &m;
    const qfz_gpu_forest_tree &tree;
    qfz_block_box box;
    uint32_t n; /* number of components */
    uint32_t first_vertex;
    /* Links without a place in the table, a bit each: the thread's pixels, then its components. */
    uint32_t open;
    /* Per pixel: its hook, level << 16 | component; its pair, if open; else the pair's place or
     * index in the queue; later, a number of a node. */
    KEY named[EACH];
};
} // namespace

#define EACH_COMPONENT(w, c) for (uint32_t c = threadIdx.x; c < (w).n; c += THREADS)

/* ---- Load ------------------------------------------------------------------------------------ */

template <typename KEY> static QFZ_DEVICE void load(tree_work<KEY> &w)
{
    typedef typename tree_work<KEY>::TOP TOP;
    const qfz_gpu_forest &forest = w.tree.forest;
    QFZ_EACH (k, EACH) {
        const uint32_t p = px_of(k);
        w.named[k] = QFZ_NO_COMP;
        if (in_box(w.box, p))
            w.named[k] =
                (KEY)*level_of<TOP>(forest, w.box, p) << 16 | *comp_of<TOP>(forest, w.box, p);
    }
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
        w.m.hook[c] = (KEY)level << 16 | up;
        w.m.chain[c] = 0;
    }
    for (uint32_t i = threadIdx.x; i < TABLE; i += THREADS)
        w.m.table[i] = ~(KEY)0;
    if (threadIdx.x == 0) w.m.n_queued = w.m.n_all = w.m.n_local = w.m.n_outer = w.m.n_pairs = 0;
    __syncthreads();
}

/* ---- Name ------------------------------------------------------------------------------------ */

template <typename KEY> static QFZ_DEVICE uint32_t up_of(KEY hook)
{
    return (uint32_t)hook & 0xffff;
}

/* True for a hook to a component of the block whose level is at most `level`. */
template <typename KEY> static QFZ_DEVICE bool goes_up(KEY hook, uint32_t level)
{
    return !(up_of(hook) & IS_ROOT) && (uint32_t)(hook >> 16) <= level;
}

/* True for a pair that may have links outside the block, or whose top is another vertex. */
template <typename WORK> static QFZ_DEVICE bool is_outer(const WORK &w, uint32_t c, uint32_t level)
{
    const auto hook = w.m.hook[c];
    return up_of(hook) & IS_ROOT && up_of(hook) != NO_VERTEX && level >= (uint32_t)(hook >> 16);
}

/* Replaces each component's parent by the component of the pair of its hook.  That is on the way
 * up, and all levels before it are at most that of the hook, so other ways up may use it.  A vertex
 * has no link; the parent of the last pair of its chain is its lowest node. */
template <typename KEY> static QFZ_DEVICE void name_components(tree_work<KEY> &w)
{
    uint32_t up[EACH_COMPS];
    QFZ_EACH (j, EACH_COMPS) {
        const uint32_t c = threadIdx.x + j * THREADS;
        if (c >= w.n) break;
        const KEY own = w.m.hook[c];
        up[j] = up_of(own);
        if (up[j] & IS_ROOT) {
            w.m.named[c] = (uint16_t)(up[j] == NO_VERTEX ? (uint32_t)NOWHERE : up[j]);
            continue;
        }
        for (KEY hook; hook = w.m.hook[up[j]], goes_up(hook, (uint32_t)(own >> 16));)
            up[j] = up_of(hook);
        w.open |= 1u << (EACH + j);
    }
    __syncthreads();
    QFZ_EACH (j, EACH_COMPS) {
        const uint32_t c = threadIdx.x + j * THREADS;
        if (w.open >> (EACH + j) & 1) w.m.hook[c] = (w.m.hook[c] & ~(KEY)0xffff) | up[j];
    }
    __syncthreads();
}

/* Finds the pairs of the links of the thread's pixels.  A pixel that waited from the start, because
 * its lightest edge leaves the block, has no link; it is a vertex, and its parent is the lowest
 * node of that vertex.  Such a pixel is in a waiting component and has level 0.  No other pixel of
 * such a component has level 0: an edge of level 0 inside the block would have come before the edge
 * that leaves. */
template <typename KEY> static QFZ_DEVICE void name_pixels(tree_work<KEY> &w)
{
    uint32_t comp[EACH], level[EACH];
    QFZ_EACH (k, EACH) {
        comp[k] = up_of(w.named[k]);
        level[k] = (uint32_t)(w.named[k] >> 16);
        w.named[k] = NOWHERE;
        if (comp[k] == QFZ_NO_COMP) continue;
        if (comp[k] < QFZ_ACTIVE && level[k] == 0)
            w.named[k] = LOWEST_OF | (up_of(w.m.hook[comp[k]]) & QFZ_STEP_MASK);
        else if (level[k] <= w.tree.alpha_level)
            w.open |= 1u << k;
    }
    for (uint32_t moving = w.open & ((1u << EACH) - 1); moving;) {
        QFZ_EACH (k, EACH) {
            if (!(moving >> k & 1)) continue;
            const KEY hook = w.m.hook[comp[k]];
            if (goes_up(hook, level[k]))
                comp[k] = up_of(hook);
            else
                moving &= ~(1u << k);
        }
    }
    QFZ_EACH (k, EACH)
        if (w.open >> k & 1) w.named[k] = pair_of<KEY>::make(comp[k], level[k]);
}

/* ---- Place ----------------------------------------------------------------------------------- */

/* Calls use(word, bit) for the links of a set; word: as in tree_work::named. */
template <typename KEY, typename USE>
static QFZ_DEVICE void each_link(tree_work<KEY> &w, uint32_t links, USE use)
{
    uint32_t bit = 1;
#pragma unroll
    for (int k = 0; k < EACH; k++, bit <<= 1)
        if (links & bit) use(w.named[k], bit);
    for (uint32_t c = threadIdx.x; links >= bit; c += THREADS, bit <<= 1) {
        if (!(links & bit)) continue;
        KEY word = w.m.named[c];
        if (w.open & bit) {
            const KEY hook = w.m.hook[c];
            word = pair_of<KEY>::make(up_of(hook), (uint32_t)(hook >> 16));
        }
        use(word, bit);
        if (!(w.open & bit)) w.m.named[c] = (uint16_t)word;
    }
}

/* Lowers a word of a table to `key`, if it is free. */
template <typename KEY> static QFZ_DEVICE void claim(KEY *word, KEY key)
{
    if (*static_cast<volatile KEY *>(word) == ~(KEY)0) atomicMin(word, key);
}

/* Finds the places of links in the queue; all rounds but the first. */
template <typename KEY> static QFZ_DEVICE void place_queue(tree_work<KEY> &w)
{
    typedef pair_of<KEY> of;
    enum { QUEUE_EACH = QUEUE / THREADS };
    const uint32_t n = min(w.m.n_queued, (uint32_t)QUEUE);
    uint32_t open = 0;
    for (uint32_t j = 0; threadIdx.x + j * THREADS < n; j++)
        open |= 1u << j;
    for (uint32_t round = 1;; round++) {
        QFZ_EACH (j, QUEUE_EACH) {
            if (!(open >> j & 1)) continue;
            const KEY pair = w.m.queue[threadIdx.x + j * THREADS];
            claim(&w.m.table[of::place(pair, round)], pair);
        }
        if (!__syncthreads_or(open != 0)) return;
        QFZ_EACH (j, QUEUE_EACH) {
            if (!(open >> j & 1)) continue;
            const KEY pair = w.m.queue[threadIdx.x + j * THREADS];
            const uint32_t i = of::place(pair, round);
            if (w.m.table[i] != pair) continue;
            w.m.queue[threadIdx.x + j * THREADS] = i;
            open &= ~(1u << j);
        }
    }
}

/* Finds the places of all pairs in the table.  Links that find the queue full go on when it is
 * empty again; a pair that has a place by then is found at that place. */
template <typename KEY> static QFZ_DEVICE void place(tree_work<KEY> &w)
{
    typedef pair_of<KEY> of;
    each_link(w, w.open,
              [&](KEY pair, uint32_t) { atomicMin(&w.m.table[of::place(pair, 0)], pair); });
    __syncthreads();
    each_link(w, w.open, [&](KEY &word, uint32_t bit) {
        const uint32_t i = of::place(word, 0);
        if (w.m.table[i] != word) return;
        word = i;
        w.open &= ~bit;
    });
    while (__syncthreads_or(w.open != 0)) {
        uint32_t queued = 0, at = qfz_take(&w.m.n_queued, (uint32_t)__popc(w.open));
        each_link(w, w.open, [&](KEY &word, uint32_t bit) {
            if (at >= QUEUE) return;
            w.m.queue[at] = word;
            word = at++;
            w.open &= ~bit;
            queued |= bit;
        });
        __syncthreads();
        place_queue(w);
        each_link(w, queued, [&](KEY &word, uint32_t) { word = w.m.queue[word]; });
        if (threadIdx.x == 0) w.m.n_queued = 0;
    }
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Lists the places of all pairs in the table. */
template <typename KEY> static QFZ_DEVICE void list_pairs(tree_work<KEY> &w)
{
    enum { TABLE_EACH = TABLE / THREADS };
    uint32_t used = 0;
    QFZ_EACH (j, TABLE_EACH)
        used |= (w.m.table[threadIdx.x + j * THREADS] != ~(KEY)0 ? 1u : 0u) << j;
    uint32_t at = qfz_take(&w.m.n_all, (uint32_t)__popc(used));
    QFZ_EACH (j, TABLE_EACH)
        if (used >> j & 1) w.m.list_comp[at++] = (uint16_t)(threadIdx.x + j * THREADS);
    __syncthreads();
}

/* Reserves places in the list for chains. */
template <typename KEY> static QFZ_DEVICE void take_chains(tree_work<KEY> &w)
{
    uint32_t n = 0;
    EACH_COMPONENT(w, c) n += w.m.chain[c] >> 16;
    uint32_t at = qfz_take(&w.m.n_local, n);
    EACH_COMPONENT(w, c)
    {
        const uint32_t length = w.m.chain[c];
        w.m.chain[c] = length | at;
        at += length >> 16;
    }
    __syncthreads();
}

/* Replaces places in the table by numbers of pairs. */
template <typename KEY> static QFZ_DEVICE void number_links(tree_work<KEY> &w)
{
    QFZ_EACH (k, EACH)
        if (!(w.named[k] & LOWEST_OF)) w.named[k] = w.m.table[w.named[k]];
    EACH_COMPONENT(w, c)
    if (!(w.m.named[c] & LOWEST_OF)) w.m.named[c] = (uint16_t)w.m.table[w.m.named[c]];
    __syncthreads();
}

template <typename KEY> static QFZ_DEVICE void order(tree_work<KEY> &w)
{
    typedef typename tree_work<KEY>::TOP TOP;
    typedef pair_of<KEY> of;
    uint32_t own[EACH], n_outer = 0; /* per pair: place << 16 | number in its chain, or NOWHERE */
    list_pairs(w);
    const uint32_t n = w.m.n_all;
    QFZ_EACH (k, EACH) {
        if (px_of(k) >= n) break;
        const uint32_t place = w.m.list_comp[px_of(k)];
        const KEY pair = w.m.table[place];
        uint32_t before = NOWHERE;
        if (is_outer(w, of::comp(pair), of::level(pair)))
            n_outer++;
        else
            before = atomicAdd(&w.m.chain[of::comp(pair)], 1u << 16) >> 16;
        own[k] = place << 16 | before;
    }
    uint32_t outer = qfz_take(&w.m.n_outer, n_outer);
    __syncthreads();
    take_chains(w);
    outer += w.m.n_local;
    QFZ_EACH (k, EACH) {
        if (px_of(k) >= n) break;
        const uint32_t place = own[k] >> 16, before = own[k] & 0xffff;
        const KEY pair = w.m.table[place];
        const uint32_t at =
            before == NOWHERE ? outer++ : (w.m.chain[of::comp(pair)] & 0xffff) + before;
        w.m.list_level[at] = (TOP)of::level(pair);
        w.m.list_comp[at] = (uint16_t)of::comp(pair);
        w.m.table[place] = at;
    }
    __syncthreads();
    number_links(w);
}

/* ---- Append ---------------------------------------------------------------------------------- */

/* Outer pairs of the thread, by number. */
#define EACH_OUTER(w, i) for (uint32_t i = threadIdx.x; i < (w).m.n_outer; i += THREADS)

/* Finds the tops of outer pairs in the graph of all blocks. */
template <typename KEY> static QFZ_DEVICE void find_tops(tree_work<KEY> &w)
{
    for (uint32_t i = threadIdx.x; i < OUTER; i += THREADS)
        w.m.outer[i] = QFZ_NONE;
    EACH_OUTER(w, i)
    {
        uint16_t *const comp = &w.m.list_comp[w.m.n_local + i];
        const uint32_t vertex = w.first_vertex + (up_of(w.m.hook[*comp]) & QFZ_STEP_MASK);
        w.m.top[i] = qfz_top_of_vertex(w.tree.forest, vertex, w.m.list_level[w.m.n_local + i]);
        *comp = NOWHERE;
    }
    __syncthreads();
}

/* Finds the first of the outer pairs that are equal to a pair; in list_comp. */
template <typename KEY> static QFZ_DEVICE void find_equal(tree_work<KEY> &w)
{
    const uint32_t n_local = w.m.n_local;
    const auto is_open = [&](uint32_t i) { return w.m.list_comp[n_local + i] == NOWHERE; };
    for (uint32_t round = 0; round < OUTER_ROUNDS; round++) {
        const auto word = [&](uint32_t i) {
            return &w.m.outer[place_of<OUTER_BITS>(w.m.top[i], w.m.list_level[n_local + i], round)];
        };
        bool any = false;
        EACH_OUTER(w, i)
        {
            if (!is_open(i)) continue;
            any = true;
            if (*static_cast<volatile uint32_t *>(word(i)) == QFZ_NONE) atomicMin(word(i), i);
        }
        if (!__syncthreads_or(any)) return;
        EACH_OUTER(w, i)
        {
            if (!is_open(i)) continue;
            const uint32_t other = *word(i);
            if (w.m.top[other] == w.m.top[i] &&
                w.m.list_level[n_local + other] == w.m.list_level[n_local + i])
                w.m.list_comp[n_local + i] = (uint16_t)other;
        }
    }
    EACH_OUTER(w, i)
    if (is_open(i)) w.m.list_comp[n_local + i] = (uint16_t)i;
}

/* Appends each outer pair once to the tree's pairs, and stores its place among the block's. */
template <typename KEY> static QFZ_DEVICE void append(tree_work<KEY> &w)
{
    const uint32_t n_local = w.m.n_local;
    uint32_t n = 0;
    find_tops(w);
    find_equal(w);
    EACH_OUTER(w, i) n += w.m.list_comp[n_local + i] == i;
    uint32_t at = qfz_take(&w.m.n_pairs, n);
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t before = atomicAdd(&w.tree.d_counts->inside, n_local);
        w.m.first_pair = atomicAdd(&w.tree.d_counts->pairs, w.m.n_pairs);
        w.tree.d_first_pair[blockIdx.x] = w.m.first_pair;
        w.tree.d_inside[blockIdx.x] = make_uint2(before, n_local);
    }
    __syncthreads();
    EACH_OUTER(w, i)
    {
        if (w.m.list_comp[n_local + i] != i) continue;
        qfz_put_pair(w.tree, w.m.first_pair + at, w.m.top[i], w.m.list_level[n_local + i]);
        w.m.top[i] = at++;
    }
    __syncthreads();
}

/* ---- Link ------------------------------------------------------------------------------------ */

/* A number of a pair, or the vertex whose lowest node is meant, as k_write reads it. */
template <typename WORK> static QFZ_DEVICE uint16_t final_number(const WORK &w, uint32_t number)
{
    const uint32_t n_local = w.m.n_local;
    if (number >= n_local && !(number & LOWEST_OF))
        number = n_local + w.m.top[w.m.list_comp[number]];
    return (uint16_t)number;
}

/* Finds the next pair in the chain of each pair by a search of the chain.  Most chains are short;
 * threads of a long chain read the same words. */
template <typename KEY> static QFZ_DEVICE void link(tree_work<KEY> &w)
{
    typedef typename tree_work<KEY>::TOP TOP;
    const qfz_gpu_forest &forest = w.tree.forest;
    uint16_t *const parents = parents_of(forest, blockIdx.x);
    for (uint32_t k = threadIdx.x; k < w.m.n_local; k += THREADS) {
        const uint32_t c = w.m.list_comp[k], level = w.m.list_level[k];
        const uint32_t begin = w.m.chain[c] & 0xffff, end = begin + (w.m.chain[c] >> 16);
        uint32_t next = NOWHERE, next_level = QFZ_NONE;
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t other = w.m.list_level[i];
            if (other <= level || other > next_level) continue;
            next = i;
            next_level = other;
        }
        *kth_level<TOP>(forest, w.box, k) = (TOP)level;
        parents[k] = final_number(w, next == NOWHERE ? w.m.named[c] : next);
    }
    QFZ_EACH (k, EACH) {
        if (!in_box(w.box, px_of(k))) continue;
        *comp_of<TOP>(forest, w.box, px_of(k)) = final_number(w, (uint32_t)w.named[k]);
    }
}

template <typename KEY>
static __global__ void __launch_bounds__(THREADS, sizeof(KEY) == 4 ? QFZ_SM_THREADS / THREADS : 1)
    k_nodes(qfz_gpu_forest_tree tree)
{
    typedef tree_memory<KEY> memory;
    QFZ_SHARED(memory, m);
    const uint2 block = tree.forest.block[blockIdx.x];
    tree_work<KEY> w = {*m, tree, qfz_block_of(tree.forest, blockIdx.x), block.y, block.x, 0, {}};
    load(w);
    name_components(w);
    name_pixels(w);
    place(w);
    order(w);
    append(w);
    link(w);
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
