/* SPDX-License-Identifier: MIT */
/* component_runs.cuh - the runs of one block and their union in shared memory. Part of k_link_block
 * (components.cu); included there only. */
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/components/component_blocks.cuh"
#include "gpu/components/join_source.cuh"
#include "gpu/device/union_find.cuh"

enum { PIECES = SIDE / QFZ_PIECE };

/* Where runs start, and the number of runs that start in earlier words. */
struct run_words {
    uint32_t starts[WORDS], before[WORDS];
};

/* The joins of the block's pixels, as bits (join_source.cuh). */
template <bool EIGHT> struct join_words {
    enum { DIAGONAL = EIGHT ? WORDS : 1 };
    uint32_t right[WORDS], below[WORDS], below_right[DIAGONAL], antidiagonal[DIAGONAL];
};

/* The parents of runs overwrite the joins once seams and links have been made from these: so twelve
 * blocks fit a multiprocessor with 228 KiB. */
template <bool EIGHT> struct block_words {
    uint32_t valid[WORDS], sums[WORDS / QFZ_WARP];
    /* pixels joined to those below the block, and to those right of it */
    uint32_t beyond[2][SIDE / QFZ_WARP];
    run_words runs;
    union {
        join_words<EIGHT> joins;
        uint32_t parent[RUNS];
    };
};

template <bool EIGHT, typename SOURCE>
QFZ_DEVICE void read_words(const SOURCE &source, const block_place &block,
                           block_words<EIGHT> *words)
{
    const int row = 2 * ((int)threadIdx.x / PIECES), column = (int)threadIdx.x % PIECES;
    qfz_piece pieces[2];
    source.template read<EIGHT>(block.y + row, block.x + column * QFZ_PIECE, pieces);
    QFZ_EACH (k, 2) {
        const int i = (row + k) * PIECES + column;
        reinterpret_cast<uint16_t *>(words->valid)[i] = (uint16_t)pieces[k].valid;
        reinterpret_cast<uint16_t *>(words->joins.right)[i] = (uint16_t)pieces[k].right;
        reinterpret_cast<uint16_t *>(words->joins.below)[i] = (uint16_t)pieces[k].below;
        if (!EIGHT) continue;
        reinterpret_cast<uint16_t *>(words->joins.below_right)[i] = (uint16_t)pieces[k].below_right;
        reinterpret_cast<uint16_t *>(words->joins.antidiagonal)[i] =
            (uint16_t)pieces[k].antidiagonal;
    }
}

/* The pixels of this thread's word that are joined to the row above: straight up, up and left, up
 * and right. Of the joins between two runs at least one remains. */
struct links_up {
    uint32_t above, left, right;
};

template <bool EIGHT> QFZ_DEVICE links_up links_of(const join_words<EIGHT> &joins, int word)
{
    const int up = word - 2;
    const bool second = word % 2;
    if (up < 0) return links_up{0, 0, 0};
    const uint32_t below = joins.below[up], right = joins.right[word], up_right = joins.right[up];
    const uint32_t before = second ? joins.below[up - 1] : 0;
    const uint32_t before_right = second ? joins.right[word - 1] : 0;
    const uint32_t before_up_right = second ? joins.right[up - 1] : 0;
    links_up links = {0, 0, 0};
    links.above =
        below & ~moved_right(below & right & up_right, before & before_right & before_up_right);
    if (!EIGHT) return links;
    /* a diagonal join is redundant where a vertical one joins the same two runs */
    const uint32_t after = second ? 0 : joins.below[up + 1];
    links.left = moved_right(joins.below_right[up], second ? joins.below_right[up - 1] : 0) &
                 ~(below & moved_right(up_right, before_up_right)) &
                 ~moved_right(below & right, before & before_right);
    /* the last one of a row leaves the block */
    links.right = joins.antidiagonal[up] & (second ? ~0u >> 1 : ~0u) & ~(below & up_right) &
                  ~(moved_left(below, after) & right);
    return links;
}

/* A thread's word and the one above it: run starts, and the last run that starts in an earlier
 * word. */
struct word_pair {
    uint32_t starts, last, up_starts, up_last;
    uint32_t up_next; /* 1: a run starts at the first pixel behind the word above */
};

template <bool EIGHT> QFZ_DEVICE word_pair pair_of(const run_words &runs, int word)
{
    const int up = word < 2 ? word : word - 2; /* the first row has no links */
    return word_pair{runs.starts[word], runs.before[word] - 1, runs.starts[up], runs.before[up] - 1,
                     EIGHT ? runs.starts[up + 1] & 1 : 0};
}

/* The run that contains a pixel, given as a bit. */
QFZ_DEVICE uint32_t own_run(const word_pair &at, uint32_t bit)
{
    return at.last + (uint32_t)__popc(at.starts & (2 * bit - 1));
}

/* The run above to which a link leads; a link is one bit in one of the three words. */
template <bool EIGHT> QFZ_DEVICE uint32_t run_above(const word_pair &at, const links_up &one)
{
    if (!EIGHT) return at.up_last + (uint32_t)__popc(at.up_starts & (2 * one.above - 1));
    const uint32_t till = 2 * one.above + one.left + 4 * one.right - 1; /* all bits, if shifted
                                                                         * out */
    return at.up_last + (uint32_t)__popc(at.up_starts & till) +
           (one.right >> (QFZ_WARP - 1) ? at.up_next : 0);
}

/* Removes and returns one link of each of some pixels that have any. */
template <bool EIGHT> QFZ_DEVICE links_up take_links(uint32_t pixels, links_up *links)
{
    if (!EIGHT) {
        links->above &= ~pixels;
        return links_up{pixels, 0, 0};
    }
    const uint32_t above = links->above & pixels, left = links->left & pixels & ~above;
    const links_up taken = {above, left, pixels ^ above ^ left};
    links->above &= ~above;
    links->left &= ~left;
    links->right &= ~taken.right;
    return taken;
}

template <bool EIGHT> QFZ_DEVICE uint32_t linked(const links_up &links)
{
    return EIGHT ? links.above | links.left | links.right : links.above;
}

/* Access to the parents of a block's runs. The word of a root is MARK | its code. */
struct in_block : qfz_in_shared {
    enum : uint32_t { MARK = 0x80000000u };
};

/* Makes every run that starts in this word the root of its own component. */
QFZ_DEVICE void begin_runs(const word_pair &at, int word, uint32_t *parent)
{
    const uint32_t first = in_block::MARK | RUN_ROOT | (uint32_t)(word * QFZ_WARP);
    uint32_t own = at.last + (uint32_t)__popc(at.starts);
    for (uint32_t rest = at.starts, x; rest; rest ^= 1u << x) { /* from the last one to the first */
        x = index_of(rest);
        parent[own--] = first | x;
    }
}

/* Hooks every run that starts in this word to the first run above that it is linked to, if any,
 * without atomic operations, since no other thread writes this run's word yet. Other links remain.
 * The first linked pixel of each run is found by a sum: a carry from the run's start passes pixels
 * without a link up to one with a link; without any, the carry ends harmlessly in the next run. */
template <bool EIGHT>
QFZ_DEVICE void hook_runs(const word_pair &at, links_up *links, uint32_t *parent)
{
    const uint32_t all = linked<EIGHT>(*links);
    const uint32_t firsts = all & (at.starts | (~all + (at.starts & ~all)));
    const links_up taken = take_links<EIGHT>(firsts, links);
    for (uint32_t rest = firsts; rest; rest &= rest - 1) {
        const uint32_t bit = lowest(rest);
        parent[own_run(at, bit)] =
            run_above<EIGHT>(at, links_up{taken.above & bit, taken.left & bit, taken.right & bit});
    }
}

template <bool EIGHT> QFZ_DEVICE uint32_t count_links(const links_up &links)
{
    const int straight = __popc(links.above);
    return (uint32_t)(EIGHT ? straight + __popc(links.left) + __popc(links.right) : straight);
}

/* Unites runs over the remaining links, n_links of this thread, dealt out evenly to all threads
 * through the memory behind the runs' parents; links that do not fit there remain. */
template <bool EIGHT>
QFZ_DEVICE void deal_links(const word_pair &at, uint32_t n_runs, uint32_t n_links, links_up *links,
                           uint32_t *sums, uint32_t *parent)
{
    uint32_t total, i = n_runs + qfz_sum_before<WORDS>(n_links, sums, &total);
    for (uint32_t pixels; (pixels = linked<EIGHT>(*links)) != 0 && i < RUNS; i++) {
        const uint32_t bit = lowest(pixels);
        parent[i] = own_run(at, bit) << 16 | run_above<EIGHT>(at, take_links<EIGHT>(bit, links));
    }
    __syncthreads();
    const uint32_t end = min(n_runs + total, (uint32_t)RUNS);
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    for (i = n_runs + threadIdx.x; i - lane < end; i += WORDS) {
        if (i < end) qfz_unite<in_block>(parent, parent[i] >> 16, parent[i] & 0xffff);
        __syncwarp();
    }
}

template <bool EIGHT>
QFZ_DEVICE void unite_runs(const word_pair &at, links_up links, uint32_t *parent)
{
    for (uint32_t pixels; __any_sync(QFZ_ALL_LANES, (pixels = linked<EIGHT>(links)) != 0);) {
        const uint32_t bit = lowest(pixels);
        if (!pixels) continue;
        qfz_unite<in_block>(parent, own_run(at, bit),
                            run_above<EIGHT>(at, take_links<EIGHT>(bit, &links)));
    }
}

/* Hooks all runs to their roots. All threads work at once, so each step halves all paths. Without
 * the __syncwarp() in loops like this, lanes would continue one by one. */
QFZ_DEVICE void flatten_runs(uint32_t n_runs, uint32_t *parent)
{
    const uint32_t lane = threadIdx.x % QFZ_WARP;
    for (uint32_t run = threadIdx.x; run - lane < n_runs; run += WORDS) {
        uint32_t up = run < n_runs ? in_block::read(parent + run) : (uint32_t)in_block::MARK, top;
        while (!(up & in_block::MARK) && !((top = in_block::read(parent + up)) & in_block::MARK)) {
            in_block::write(parent + run, top);
            up = top;
        }
        __syncwarp();
    }
}

/* The code of a run when all is united: for a run that is no root, the number of its root. */
QFZ_DEVICE uint32_t settled_code(const uint32_t *parent, uint32_t run)
{
    uint32_t code = parent[run];
    if (code & in_block::MARK) return code & ~in_block::MARK;
    for (uint32_t up; !((up = parent[code]) & in_block::MARK);)
        code = up;
    return code;
}

/* Unites all linked runs of the block in parent[]. If a thread has more than FEW links left, its
 * warp would wait for it, and links are dealt out. */
enum { FEW = 3 };

template <bool EIGHT>
QFZ_DEVICE void solve_runs(const run_words &runs, links_up links, uint32_t n_runs, uint32_t *sums,
                           uint32_t *parent)
{
    const int word = (int)threadIdx.x;
    const word_pair at = pair_of<EIGHT>(runs, word);
    begin_runs(at, word, parent);
    hook_runs<EIGHT>(at, &links, parent);
    __syncthreads();
    flatten_runs(n_runs, parent);
    const uint32_t n_links = count_links<EIGHT>(links);
    if (__syncthreads_or(n_links > FEW))
        deal_links<EIGHT>(at, n_runs, n_links, &links, sums, parent);
    unite_runs<EIGHT>(at, links, parent);
    __syncthreads();
}

/* Fills the block's ring: marks its components, and makes them roots in global memory. */
template <bool EIGHT>
QFZ_DEVICE void store_ring(const layout &at, const block_place &block, block_words<EIGHT> *words)
{
    uint32_t *const parent = words->parent;
    for (uint32_t i = threadIdx.x; i < RING; i += WORDS) {
        const int side = (int)(i / SIDE) * SIDE, k = (int)(i % SIDE);
        const int y = side == TOP ? 0 : side == BOTTOM ? SIDE - 1 : k;
        const int x = side == LEFT ? 0 : side == RIGHT ? SIDE - 1 : k;
        const int word = 2 * y + x / QFZ_WARP;
        /* 4-connected: on the bottom and right side only joined pixels count */
        const uint32_t leaves = EIGHT || side == TOP || side == LEFT
                                    ? words->valid[word] >> x % QFZ_WARP
                                    : words->beyond[side == RIGHT][k / QFZ_WARP] >> k % QFZ_WARP;
        uint32_t place = NO_PLACE, run = 0, code = 0;
        if (leaves & 1) { /* other threads may set marks meanwhile, nothing else changes */
            run = run_at(words->runs, word, x % QFZ_WARP);
            while (!((code = in_block::read(parent + run)) & in_block::MARK))
                run = code;
        }
        __syncwarp();
        if (leaves & 1) {
            place = code & RUN_NUMBER;
            if (!(code & RUN_ON_RING) &&
                !(atomicOr(parent + run, (uint32_t)RUN_ON_RING) & RUN_ON_RING)) {
                const uint32_t px = px_of(at, block, place);
                at.parent[px] = px;
            }
        }
        at.ring[(int64_t)blockIdx.x * RING + i] = (uint16_t)place;
    }
}

/* Bit k: bit `bit` of word 2 * k + `second`; the 32 rows of this warp, one of two. */
QFZ_DEVICE uint32_t column_bits(const uint32_t *words, int second, int bit)
{
    return __ballot_sync(QFZ_ALL_LANES, words[2 * threadIdx.x + second] >> bit & 1);
}

template <bool EIGHT> QFZ_DEVICE void store_seams(const layout &at, block_words<EIGHT> *words)
{
    const join_words<EIGHT> &joins = words->joins;
    enum { LEFTMOST = 0, RIGHTMOST = QFZ_WARP - 1 };
    const int warp = (int)threadIdx.x / QFZ_WARP, below = WORDS - 2 + warp;
    uint32_t *const seams = at.seams + (int64_t)blockIdx.x * 2 * SEAMS + warp;
    if ((int)threadIdx.x >= SIDE) return; /* the first two warps continue */
    const uint32_t right = column_bits(joins.right, 1, RIGHTMOST);
    const uint32_t along_left = EIGHT ? column_bits(joins.below, 0, LEFTMOST) : 0;
    const uint32_t along_right = EIGHT ? column_bits(joins.below, 1, RIGHTMOST) : 0;
    const uint32_t right_ahead = EIGHT ? column_bits(joins.below_right, 1, RIGHTMOST) : 0;
    const uint32_t right_back = EIGHT ? column_bits(joins.antidiagonal, 1, RIGHTMOST) : 0;
    if (threadIdx.x % QFZ_WARP) return;
    seams[2 * SEAM_RIGHT] = words->beyond[1][warp] = right;
    seams[2 * SEAM_BELOW] = words->beyond[0][warp] = joins.below[below];
    if (!EIGHT) return;
    seams[2 * SEAM_ALONG_TOP] = joins.right[warp];
    seams[2 * SEAM_ALONG_BOTTOM] = joins.right[below];
    seams[2 * SEAM_ALONG_LEFT] = along_left;
    seams[2 * SEAM_ALONG_RIGHT] = along_right;
    seams[2 * SEAM_RIGHT_AHEAD] = right_ahead;
    seams[2 * SEAM_RIGHT_BACK] = right_back;
    seams[2 * SEAM_BELOW_AHEAD] = joins.below_right[below];
    seams[2 * SEAM_BELOW_BACK] = joins.antidiagonal[below];
}

/* The first pixels, in a thread's word, of components inside the block. */
QFZ_DEVICE uint32_t inner_firsts(const run_words &runs, const uint32_t *parent)
{
    uint32_t run = runs.before[threadIdx.x], firsts = 0;
    for (uint32_t rest = runs.starts[threadIdx.x]; rest; rest &= rest - 1, run++)
        if ((parent[run] & (RUN_ROOT | RUN_ON_RING)) == RUN_ROOT) firsts |= rest & (0u - rest);
    return firsts;
}
