/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gpu/component_blocks.cuh"
#include "gpu/join_source.cuh"
#include "gpu/launch.cuh"
#include "gpu/union_find.cuh"

enum { PIECES = SIDE / QFZ_PIECE };

/* ---- Runs of a block ------------------------------------------------------------------------- */

/* Where runs start, and how many do in earlier words. */
struct run_words {
    uint32_t starts[WORDS], before[WORDS];
};

/* What pixels are joined to (join_source.cuh). */
template <bool EIGHT> struct join_words {
    enum { DIAGONAL = EIGHT ? WORDS : 1 };
    uint32_t right[WORDS], below[WORDS], below_right[DIAGONAL], below_left[DIAGONAL];
};

/* Runs come into the memory of the joins, once these have told the seams and the links. */
template <bool EIGHT> struct block_words {
    uint32_t valid[WORDS], sums[WORDS / QFZ_WARP];
    uint32_t beyond[2]
                   [SIDE / QFZ_WARP]; /* pixels joined to those below the block, and to its right */
    union {
        join_words<EIGHT> joins;
        run_words runs;
    };
};

/* The number of the run that has valid pixel x of a word. */
static __device__ __forceinline__ uint32_t run_at(const run_words &runs, int word, int x)
{
    return runs.before[word] + (uint32_t)__popc(runs.starts[word] & up_to(x)) - 1;
}

template <bool EIGHT, typename SOURCE>
static __device__ __forceinline__ void read_words(const SOURCE &source, const block_place &block,
                                                  block_words<EIGHT> *words)
{
    const int row = 2 * ((int)threadIdx.x / PIECES), column = (int)threadIdx.x % PIECES;
    qfz_piece pieces[2];
    source.template read<EIGHT>(block.y + row, block.x + column * QFZ_PIECE, pieces);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int i = (row + k) * PIECES + column;
        reinterpret_cast<uint16_t *>(words->valid)[i] = (uint16_t)pieces[k].valid;
        reinterpret_cast<uint16_t *>(words->joins.right)[i] = (uint16_t)pieces[k].right;
        reinterpret_cast<uint16_t *>(words->joins.below)[i] = (uint16_t)pieces[k].below;
        if (!EIGHT) continue;
        reinterpret_cast<uint16_t *>(words->joins.below_right)[i] = (uint16_t)pieces[k].below_right;
        reinterpret_cast<uint16_t *>(words->joins.below_left)[i] = (uint16_t)pieces[k].below_left;
    }
}

/* Which of this thread's pixels are joined to pixels of the row above: to that above, to that to
 * its left, to that to its right; one join for each pair of runs at least. */
struct links_up {
    uint32_t above, left, right;
};

template <bool EIGHT>
static __device__ __forceinline__ links_up links_of(const join_words<EIGHT> &joins, int word)
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
    /* a diagonal join adds nothing where a vertical one joins the same two runs */
    const uint32_t after = second ? 0 : joins.below[up + 1];
    links.left = moved_right(joins.below_right[up], second ? joins.below_right[up - 1] : 0) &
                 ~(below & moved_right(up_right, before_up_right)) &
                 ~moved_right(below & right, before & before_right);
    links.right = moved_left(joins.below_left[up], second ? 0 : joins.below_left[up + 1]) &
                  ~(below & up_right) & ~(moved_left(below, after) & right);
    return links;
}

/* The run above that a word's pixel, as a bit, is linked to, dx to its side. */
static __device__ __forceinline__ uint32_t run_above(const run_words &runs, int word, uint32_t bit,
                                                     int dx)
{
    const int up = word - 2;
    const uint32_t till = (bit << (1 + dx)) - 1; /* all bits where that shifts out */
    uint32_t run = runs.before[up] + (uint32_t)__popc(runs.starts[up] & till) - 1;
    if (dx > 0 && bit >> (QFZ_WARP - 1)) run += runs.starts[up + 1] & 1;
    return run;
}

/* Takes a link of a pixel that has one: its other end. */
template <bool EIGHT>
static __device__ __forceinline__ uint32_t take_link(const run_words &runs, int word, uint32_t bit,
                                                     links_up *links)
{
    int dx = 0;
    if (!EIGHT || (links->above & bit)) {
        links->above &= ~bit;
    } else if (links->left & bit) {
        links->left &= ~bit;
        dx = -1;
    } else {
        links->right &= ~bit;
        dx = 1;
    }
    return run_above(runs, word, bit, dx);
}

template <bool EIGHT> static __device__ __forceinline__ uint32_t linked(const links_up &links)
{
    return EIGHT ? links.above | links.left | links.right : links.above;
}

/* The parents of a block's runs.  What roots have, the mark apart, are their codes already. */
struct in_block {
    enum : uint32_t { MARK = 0x80000000u };
    static __device__ __forceinline__ uint32_t read(const uint32_t *word)
    {
        return qfz_in_shared::read(word);
    }
    static __device__ __forceinline__ void write(uint32_t *word, uint32_t value)
    {
        qfz_in_shared::write(word, value);
    }
};

/* Every run that starts in this word is its own component's first. */
static __device__ __forceinline__ void begin_runs(const run_words &runs, int word, uint32_t *parent)
{
    const uint32_t first = in_block::MARK | RUN_ROOT | (uint32_t)(word * QFZ_WARP);
    uint32_t *own = parent + runs.before[word];
    for (uint32_t rest = runs.starts[word]; rest; rest &= rest - 1)
        *own++ = first | index_of(lowest(rest));
}

/* Hooks every run that starts in this word to the first run above that it is linked to, if any: no
 * other thread has this run, and so far nothing else is known of it.  The other links are left. */
template <bool EIGHT>
static __device__ __forceinline__ void hook_runs(const run_words &runs, int word, links_up *links,
                                                 uint32_t *parent)
{
    const uint32_t starts = runs.starts[word];
    uint32_t *const last = parent + runs.before[word] - 1;
    uint32_t pixels = linked<EIGHT>(*links) & (0u - lowest(starts)); /* of such runs */
    while (pixels) {
        const uint32_t bit = lowest(pixels);
        last[__popc(starts & (2 * bit - 1))] = take_link<EIGHT>(runs, word, bit, links);
        const uint32_t next = lowest(starts & (0u - 2 * bit)); /* 0: there is none */
        pixels &= 0u - next;
    }
}

template <bool EIGHT> static __device__ __forceinline__ uint32_t count_links(const links_up &links)
{
    const int straight = __popc(links.above);
    return (uint32_t)(EIGHT ? straight + __popc(links.left) + __popc(links.right) : straight);
}

/* Joins what links lead to, evenly dealt out: n_links of this thread.  They pass through the memory
 * behind the runs' parents; those for which there is no room are left. */
template <bool EIGHT>
static __device__ __forceinline__ void deal_links(const run_words &runs, int word, uint32_t n_runs,
                                                  uint32_t n_links, links_up *links, uint32_t *sums,
                                                  uint32_t *parent)
{
    const uint32_t starts = runs.starts[word], last = runs.before[word] - 1;
    uint32_t total, i = n_runs + sum_before(n_links, sums, &total);
    for (uint32_t pixels; (pixels = linked<EIGHT>(*links)) != 0 && i < RUNS; i++) {
        const uint32_t bit = lowest(pixels);
        const uint32_t above = take_link<EIGHT>(runs, word, bit, links);
        parent[i] = (last + (uint32_t)__popc(starts & (2 * bit - 1))) << 16 | above;
    }
    __syncthreads();
    const uint32_t end = min(n_runs + total, (uint32_t)RUNS);
    for (i = n_runs + threadIdx.x; i < end; i += WORDS)
        qfz_unite<in_block>(parent, parent[i] >> 16, parent[i] & 0xffff);
}

template <bool EIGHT>
static __device__ __forceinline__ void unite_runs(const run_words &runs, int word, links_up links,
                                                  uint32_t *parent)
{
    const uint32_t starts = runs.starts[word], last = runs.before[word] - 1;
    for (uint32_t pixels; (pixels = linked<EIGHT>(links)) != 0;) {
        const uint32_t bit = lowest(pixels);
        const uint32_t above = take_link<EIGHT>(runs, word, bit, &links);
        qfz_unite<in_block>(parent, last + (uint32_t)__popc(starts & (2 * bit - 1)), above);
    }
}

/* Hooks all runs to their roots.  What all do at once halves all paths with each step. */
static __device__ __forceinline__ void flatten_runs(uint32_t n_runs, uint32_t *parent)
{
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS) {
        uint32_t up = in_block::read(parent + run), top;
        if (up & in_block::MARK) continue;
        while (!((top = in_block::read(parent + up)) & in_block::MARK)) {
            in_block::write(parent + run, top);
            up = top;
        }
    }
}

/* parent[run] = the run's code, for all runs of the block: those that are not the first of their
 * component have its number.  Where a thread has more than FEW links left, a warp would wait for
 * it, and links are dealt out. */
enum { FEW = 3 };

template <bool EIGHT>
static __device__ __forceinline__ void solve_runs(const run_words &runs, links_up links,
                                                  uint32_t n_runs, uint32_t *sums, uint32_t *parent)
{
    const int word = (int)threadIdx.x;
    begin_runs(runs, word, parent);
    hook_runs<EIGHT>(runs, word, &links, parent);
    __syncthreads();
    flatten_runs(n_runs, parent);
    const uint32_t n_links = count_links<EIGHT>(links);
    if (__syncthreads_or(n_links > FEW))
        deal_links<EIGHT>(runs, word, n_runs, n_links, &links, sums, parent);
    unite_runs<EIGHT>(runs, word, links, parent);
    __syncthreads();
    flatten_runs(n_runs, parent);
    __syncthreads();
}

/* Marks components that may go on in other blocks, makes them roots in global memory, and tells
 * the ring. */
template <bool EIGHT>
static __device__ __forceinline__ void tell_ring(const layout &at, const block_place &block,
                                                 const block_words<EIGHT> &words, uint32_t *parent)
{
    for (uint32_t i = threadIdx.x; i < RING; i += WORDS) {
        const int side = (int)(i / SIDE) * SIDE, k = (int)(i % SIDE);
        const int y = side == TOP ? 0 : side == BOTTOM ? SIDE - 1 : k;
        const int x = side == LEFT ? 0 : side == RIGHT ? SIDE - 1 : k;
        const int word = 2 * y + x / QFZ_WARP;
        /* 4-connected, and by those two sides only what is joined leaves the block */
        const uint32_t leaves = EIGHT || side == TOP || side == LEFT
                                    ? words.valid[word] >> x % QFZ_WARP
                                    : words.beyond[side == RIGHT][k / QFZ_WARP] >> k % QFZ_WARP;
        uint32_t place = NO_PLACE;
        if (leaves & 1) {
            /* marks may come meanwhile, nothing else changes */
            uint32_t run = run_at(words.runs, word, x % QFZ_WARP);
            uint32_t code = qfz_in_shared::read(parent + run);
            if (!(code & RUN_ROOT)) {
                run = code;
                code = qfz_in_shared::read(parent + run);
            }
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

/* Bit k of 64: bit `bit` of word 2 * k + `second`; the 32 of this warp, one of two. */
static __device__ __forceinline__ uint32_t column_bits(const uint32_t *words, int second, int bit)
{
    return __ballot_sync(0xffffffffu, words[2 * threadIdx.x + second] >> bit & 1);
}

template <bool EIGHT>
static __device__ __forceinline__ void tell_seams(const layout &at, block_words<EIGHT> *words)
{
    const join_words<EIGHT> &joins = words->joins;
    enum { LEFTMOST = 0, RIGHTMOST = QFZ_WARP - 1 };
    const int warp = (int)threadIdx.x / QFZ_WARP, below = WORDS - 2 + warp;
    uint32_t *const seams = at.seams + (int64_t)blockIdx.x * 2 * SEAMS + warp;
    if ((int)threadIdx.x >= SIDE) return; /* two whole warps go on */
    const uint32_t right = column_bits(joins.right, 1, RIGHTMOST);
    const uint32_t along_left = EIGHT ? column_bits(joins.below, 0, LEFTMOST) : 0;
    const uint32_t along_right = EIGHT ? column_bits(joins.below, 1, RIGHTMOST) : 0;
    const uint32_t right_below = EIGHT ? column_bits(joins.below_right, 1, RIGHTMOST) : 0;
    const uint32_t left_below = EIGHT ? column_bits(joins.below_left, 0, LEFTMOST) : 0;
    if (threadIdx.x % QFZ_WARP) return;
    seams[2 * SEAM_RIGHT] = words->beyond[1][warp] = right;
    seams[2 * SEAM_BELOW] = words->beyond[0][warp] = joins.below[below];
    if (!EIGHT) return;
    seams[2 * SEAM_ALONG_TOP] = joins.right[warp];
    seams[2 * SEAM_ALONG_BOTTOM] = joins.right[below];
    seams[2 * SEAM_ALONG_LEFT] = along_left;
    seams[2 * SEAM_ALONG_RIGHT] = along_right;
    seams[2 * SEAM_RIGHT_BELOW] = right_below;
    seams[2 * SEAM_LEFT_BELOW] = left_below;
    seams[2 * SEAM_BELOW_RIGHT] = joins.below_right[below];
    seams[2 * SEAM_BELOW_LEFT] = joins.below_left[below];
}

/* First pixels, of a thread's word, of components that do not leave the block. */
static __device__ __forceinline__ uint32_t inner_firsts(const run_words &runs,
                                                        const uint32_t *parent)
{
    uint32_t run = runs.before[threadIdx.x], firsts = 0;
    for (uint32_t rest = runs.starts[threadIdx.x]; rest; rest &= rest - 1, run++)
        if ((parent[run] & (RUN_ROOT | RUN_ON_RING)) == RUN_ROOT) firsts |= rest & (0u - rest);
    return firsts;
}

/* Components within each block of SIDE x SIDE pixels. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(WORDS) k_link_block(SOURCE source, layout at)
{
    __shared__ block_words<EIGHT> words;
    __shared__ uint32_t parent[RUNS];
    const int word = (int)threadIdx.x;
    const block_place block = place_of(at, blockIdx.x);
    read_words<EIGHT>(source, block, &words);
    __syncthreads();
    tell_seams(at, &words);
    const links_up links = links_of<EIGHT>(words.joins, word);
    const uint32_t valid = words.valid[word], right = words.joins.right[word];
    const uint32_t starts = valid & ~moved_right(right, word % 2 ? words.joins.right[word - 1] : 0);
    uint32_t n_runs;
    words.runs.before[word] = sum_before((uint32_t)__popc(starts), words.sums, &n_runs);
    words.runs.starts[word] = starts;
    __syncthreads();
    solve_runs<EIGHT>(words.runs, links, n_runs, words.sums, parent);
    tell_ring<EIGHT>(at, block, words, parent);
    at.starts[(int64_t)blockIdx.x * WORDS + word] = starts;
    at.valid[(int64_t)blockIdx.x * WORDS + word] = valid;
    if (word == 0) at.n_runs[blockIdx.x] = n_runs;
    __syncthreads();
    if (at.inner) at.inner[(int64_t)blockIdx.x * WORDS + word] = inner_firsts(words.runs, parent);
    uint32_t *const runs = reinterpret_cast<uint32_t *>(at.runs + block.runs); /* an even number */
    for (uint32_t i = threadIdx.x; 2 * i < n_runs; i += WORDS)
        runs[i] = __byte_perm(parent[2 * i], parent[(2 * i + 1) % RUNS], 0x5410); /* low halves */
}

/* ---- Seams between blocks -------------------------------------------------------------------- */

/* Pixels of two blocks' rings; none: QFZ_NONE. */
struct ring_pair {
    uint32_t a, b;
};

static __device__ __forceinline__ uint32_t ring_px(const layout &at, uint32_t block, int i)
{
    return px_of(at, place_of(at, block), at.ring[(int64_t)block * RING + i]);
}

/* Bits k .. k + 31 of a block's seam, k a multiple of 32; 0 beyond it. */
static __device__ __forceinline__ uint32_t seam_word(const layout &at, uint32_t block, int seam,
                                                     int k)
{
    return k < SIDE ? at.seams[((int64_t)block * SEAMS + seam) * 2 + k / QFZ_WARP] : 0;
}

/* Joins pairs; not those that the lane before has too: along a border many are alike. */
static __device__ __forceinline__ void unite_pairs(ring_pair pair, uint32_t *parent)
{
    const uint32_t a = __shfl_up_sync(0xffffffffu, pair.a, 1);
    const uint32_t b = __shfl_up_sync(0xffffffffu, pair.b, 1);
    const bool same = threadIdx.x % QFZ_WARP && pair.a == a && pair.b == b;
    if (pair.a != QFZ_NONE && !same) qfz_unite<qfz_in_global>(parent, pair.a, pair.b);
}

/* Which joins across a seam are needed at the places k .. k + 31 of it, seen from the block at its
 * upper or left side, `next` at the other: of a place's pixel to that across it, to the one after
 * that, and of the pixel after it to that across. */
struct seam_joins {
    uint32_t across, ahead, back;
};

template <bool EIGHT>
static __device__ __forceinline__ seam_joins seam_joins_at(const layout &at, uint32_t block,
                                                           uint32_t next, bool bottom, int k)
{
    const int across_seam = bottom ? SEAM_BELOW : SEAM_RIGHT;
    const uint32_t across = seam_word(at, block, across_seam, k);
    if (!EIGHT) return seam_joins{across, 0, 0};

    const uint32_t along = seam_word(at, block, bottom ? SEAM_ALONG_BOTTOM : SEAM_ALONG_RIGHT, k);
    const uint32_t next_along = seam_word(at, next, bottom ? SEAM_ALONG_TOP : SEAM_ALONG_LEFT, k);
    const uint32_t after = moved_left(across, seam_word(at, block, across_seam, k + QFZ_WARP));
    uint32_t ahead = seam_word(at, block, bottom ? SEAM_BELOW_RIGHT : SEAM_RIGHT_BELOW, k), back;
    if (bottom) {
        const bool has_right = block % (uint32_t)at.blocks_w + 1 < (uint32_t)at.blocks_w;
        const uint32_t more = k + QFZ_WARP < SIDE ? seam_word(at, block, SEAM_BELOW_LEFT, QFZ_WARP)
                              : has_right         ? seam_word(at, block + 1, SEAM_BELOW_LEFT, 0)
                                                  : 0;
        back = moved_left(seam_word(at, block, SEAM_BELOW_LEFT, k), more);
    } else {
        /* where four blocks meet, the seam below has the diagonals */
        const uint32_t own = k + QFZ_WARP < SIDE ? ~0u : ~0u >> 1;
        back = seam_word(at, next, SEAM_LEFT_BELOW, k) & own;
        ahead &= own;
    }
    /* both sides go on: what is across the place joins what is across the next one */
    const uint32_t same = across & along & next_along;
    /* a diagonal adds nothing where a straight join and one along a side lead to the same pixel */
    return seam_joins{across & ~(same << 1), ahead & ~(across & next_along) & ~(along & after),
                      back & ~(across & along) & ~(after & next_along)};
}

/* Joins each block to those to its right and below; a thread has a place of the right column or
 * the bottom row.  Of equal values, a place has one join at most. */
template <bool EIGHT> static __global__ void __launch_bounds__(2 * SIDE) k_link_seams(layout at)
{
    const uint32_t block = blockIdx.x, below = block + (uint32_t)at.blocks_w;
    const int k = (int)threadIdx.x % SIDE, lane = k % QFZ_WARP;
    const bool bottom = (int)threadIdx.x < SIDE;
    const uint32_t next = bottom ? below : block + 1;
    const int mine = bottom ? BOTTOM : RIGHT, other = bottom ? TOP : LEFT;
    if (bottom ? below >= (uint32_t)at.n_blocks : next % (uint32_t)at.blocks_w == 0) return;
    const uint32_t a = ring_px(at, block, mine + k), b = ring_px(at, next, other + k);
    const seam_joins joins = seam_joins_at<EIGHT>(at, block, next, bottom, k - lane);
    bool across = joins.across >> lane & 1;
    bool ahead = joins.ahead >> lane & 1, back = joins.back >> lane & 1;
    /* beyond the seam's end come the first pixels of the blocks to the right */
    const uint32_t more = (uint32_t)((k + 1) / SIDE);
    const int after = (k + 1) % SIDE;
    do {
        ring_pair pair = {QFZ_NONE, QFZ_NONE};
        if (across) {
            pair = ring_pair{a, b};
            across = false;
        } else if (ahead) {
            pair = ring_pair{a, ring_px(at, next + more, other + after)};
            ahead = false;
        } else if (back) {
            pair = ring_pair{ring_px(at, block + more, mine + after), b};
            back = false;
        }
        unite_pairs(pair, at.parent);
    } while (EIGHT && __any_sync(0xffffffffu, ahead || back));
}

/* ---- Launches -------------------------------------------------------------------------------- */

bool qfz_blocks_read_values(const qfz_rule *rule)
{
    return rule->n_bands == 1 && !rule->edge_bits;
}

layout qfz_blocks_take(qfz_carve *kept, qfz_carve *carve, int32_t h, int32_t w)
{
    layout at = {};
    at.h = h;
    at.w = w;
    at.blocks_w = (w + SIDE - 1) / SIDE;
    at.n_blocks = at.blocks_w * ((h + SIDE - 1) / SIDE);
    qfz_carve_take(kept, &at.starts, (int64_t)at.n_blocks * WORDS);
    qfz_carve_take(kept, &at.valid, (int64_t)at.n_blocks * WORDS);
    qfz_carve_take(kept, &at.runs, (int64_t)h * w + 1); /* two are written at a time */
    qfz_carve_take(carve, &at.seams, (int64_t)at.n_blocks * 2 * SEAMS);
    qfz_carve_take(carve, &at.n_runs, at.n_blocks);
    qfz_carve_take(carve, &at.ring, (int64_t)at.n_blocks * RING);
    return at;
}

template <bool EIGHT, typename SOURCE>
static qfz_status link_blocks(qfz_gpu *gpu, const SOURCE &source, const layout *at)
{
    const dim3 grid((unsigned)at->n_blocks);
    QFZ_TRY(qfz_launch(gpu, k_link_block<EIGHT, SOURCE>, grid, dim3(WORDS), 0, source, *at));
    return qfz_launch(gpu, k_link_seams<EIGHT>, grid, dim3(2 * SIDE), 0, *at);
}

template <typename SOURCE>
static qfz_status link_source(qfz_gpu *gpu, const SOURCE &source, int connectivity,
                              const layout *at)
{
    if (at->h < 1 || at->w < 1 || (int64_t)at->h * at->w > INT32_MAX)
        return qfz_fail(gpu->err, QFZ_EARG, "a tile of %d x %d pixels does not fit a GPU's indices",
                        (int)at->w, (int)at->h);
    return connectivity == 8 ? link_blocks<true>(gpu, source, at)
                             : link_blocks<false>(gpu, source, at);
}

static bool is_aligned(const void *rows, int64_t row_bytes)
{
    return reinterpret_cast<uintptr_t>(rows) % 16 == 0 && row_bytes % 16 == 0;
}

template <typename T, typename NEAR>
static qfz_status link_band(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                            const layout *at, const NEAR &near)
{
    const qfz_band_source<T, NEAR> source = {
        image->h,
        image->w,
        is_aligned(image->d_pixels, image->w * (int64_t)sizeof(T)) &&
            is_aligned(image->d_valid, image->w),
        static_cast<const T *>(image->d_pixels),
        image->d_valid,
        near};
    return link_source(gpu, source, rule->connectivity, at);
}

/* The largest difference of integers whose key is at most the limit, up to most. */
static uint32_t difference_limit(const qfz_rule *rule, uint32_t most)
{
    if (rule->distance != QFZ_L2) return rule->alpha_key < most ? rule->alpha_key : most;
    uint32_t least = 0;
    while (least < most) { /* keys of differences: singles in the same order */
        const uint32_t middle = most - (most - least) / 2;
        const float level = (float)middle;
        uint32_t key;
        memcpy(&key, &level, sizeof key);
        if (key <= rule->alpha_key)
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

template <typename T>
static qfz_status link_integers(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                const layout *at, uint32_t bias)
{
    const qfz_near_integer<T> near = {difference_limit(rule, (T)-1), bias};
    return link_band<T>(gpu, image, rule, at, near);
}

qfz_status qfz_blocks_link(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                           const layout *at)
{
    switch (image->type) {
    case QFZ_U8: return link_integers<uint8_t>(gpu, image, rule, at, 0);
    case QFZ_I8: return link_integers<uint8_t>(gpu, image, rule, at, 0x80808080u);
    case QFZ_U16: return link_integers<uint16_t>(gpu, image, rule, at, 0);
    case QFZ_I16: return link_integers<uint16_t>(gpu, image, rule, at, 0x8000u);
    case QFZ_U32: return link_integers<uint32_t>(gpu, image, rule, at, 0);
    case QFZ_I32: return link_integers<uint32_t>(gpu, image, rule, at, 0x80000000u);
    case QFZ_F32: break;
    }
    if (rule->distance == QFZ_L2) {
        const qfz_near_float<QFZ_L2> near = {rule->alpha_key};
        return link_band<float>(gpu, image, rule, at, near);
    }
    const qfz_near_float<QFZ_L1> near = {rule->alpha_key};
    return link_band<float>(gpu, image, rule, at, near);
}

qfz_status qfz_blocks_link_joins(qfz_gpu *gpu, const uint8_t *d_joins, int connectivity,
                                 const layout *at)
{
    const qfz_joins_source source = {at->h, at->w, is_aligned(d_joins, at->w), d_joins};
    return link_source(gpu, source, connectivity, at);
}
