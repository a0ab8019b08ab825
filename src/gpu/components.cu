/* SPDX-License-Identifier: MIT */
#include "gpu/components.cuh"

#include <string.h>

#include "gpu/join_source.cuh"
#include "gpu/launch.cuh"
#include "gpu/union_find.cuh"

/* A block is SIDE x SIDE pixels; a thread has one word, 32 pixels of a row.  Words of a block are
 * numbered row by row, and so are its runs; a run may pass from the first word of a row into the
 * second.  A place is y * SIDE + x within the block. */
enum {
    SIDE = 64,
    WORDS = 2 * SIDE,
    RUNS = SIDE * SIDE,
    PIECES = SIDE / QFZ_PIECE,
    RUN_ROOT = 0x8000,    /* of a run's code: it is its component's first; its place follows */
    RUN_ON_RING = 0x4000, /* the component touches the block's border */
    RUN_NUMBER = 0x0fff,
    NO_PLACE = 0xffff
};

/* A block's sides: pixels of its top and bottom row, left and right column, in this order. */
enum { TOP = 0, BOTTOM = SIDE, LEFT = 2 * SIDE, RIGHT = 3 * SIDE, RING = 4 * SIDE };

/* Joins that leave a block, 64 bits each: from its bottom row, from its right column, and into its
 * left column from the right (below_left). */
enum {
    SEAM_BELOW = 0,
    SEAM_BELOW_RIGHT,
    SEAM_BELOW_LEFT,
    SEAM_RIGHT,
    SEAM_RIGHT_BELOW,
    SEAM_LEFT_BELOW,
    SEAMS
};

struct layout {
    int32_t h, w, blocks_w, n_blocks;
    uint32_t *starts; /* WORDS a block: pixels that begin a run */
    uint32_t *valid;  /* WORDS a block */
    uint32_t *seams;  /* 2 * SEAMS a block */
    uint16_t *ring;   /* RING a block: the place of the component's first pixel, or NO_PLACE */
    uint16_t *runs;   /* as many as pixels: codes of runs */
};

/* Where a block is, and where the codes of its runs are. */
struct block_place {
    int32_t y, x;
    int64_t runs;
};

static __device__ __forceinline__ block_place place_of(const layout &at, uint32_t block)
{
    const int32_t y = (int32_t)(block / (uint32_t)at.blocks_w) * SIDE;
    const int32_t x = (int32_t)(block % (uint32_t)at.blocks_w) * SIDE;
    return block_place{y, x, (int64_t)y * at.w + (int64_t)min(SIDE, at.h - y) * x};
}

static __device__ __forceinline__ uint32_t px_of(const layout &at, const block_place &block,
                                                 uint32_t place)
{
    return (uint32_t)(block.y + (int32_t)(place / SIDE)) * (uint32_t)at.w +
           (uint32_t)(block.x + (int32_t)(place % SIDE));
}

/* ---- Bits ------------------------------------------------------------------------------------ */

/* Bits 0 .. x. */
static __device__ __forceinline__ uint32_t up_to(int x)
{
    return (2u << x) - 1;
}

/* Moves bits one pixel to the right, or left; the neighbouring word's end moves in. */
static __device__ __forceinline__ uint32_t moved_right(uint32_t word, uint32_t previous)
{
    return __funnelshift_l(previous, word, 1);
}
static __device__ __forceinline__ uint32_t moved_left(uint32_t word, uint32_t next)
{
    return __funnelshift_r(word, next, 1);
}

/* The sum of value over the threads before this one, and over all; a block of WORDS threads. */
static __device__ uint32_t sum_before(uint32_t value, uint32_t *sums, uint32_t *total)
{
    const int lane = (int)threadIdx.x % QFZ_WARP, warp = (int)threadIdx.x / QFZ_WARP;
    uint32_t sum = value;
#pragma unroll
    for (int step = 1; step < QFZ_WARP; step *= 2) {
        const uint32_t left = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += left;
    }
    if (lane == QFZ_WARP - 1) sums[warp] = sum;
    __syncthreads();
    uint32_t before = sum - value;
    *total = 0;
#pragma unroll
    for (int i = 0; i < WORDS / QFZ_WARP; i++) {
        if (i < warp) before += sums[i];
        *total += sums[i];
    }
    return before;
}

/* ---- Runs of a block ------------------------------------------------------------------------- */

struct block_words {
    uint32_t valid[WORDS], right[WORDS], below[WORDS], below_right[WORDS], below_left[WORDS];
    uint32_t starts[WORDS];
    uint32_t before[WORDS]; /* runs that start in earlier words */
    uint32_t sums[WORDS / QFZ_WARP];
};

/* The number of the run that has valid pixel x of a word. */
static __device__ __forceinline__ uint32_t run_at(const block_words &words, int word, int x)
{
    return words.before[word] + (uint32_t)__popc(words.starts[word] & up_to(x)) - 1;
}

template <bool EIGHT, typename SOURCE>
static __device__ __forceinline__ void read_words(const SOURCE &source, const block_place &block,
                                                  block_words *words)
{
    const int row = 2 * ((int)threadIdx.x / PIECES), column = (int)threadIdx.x % PIECES;
    qfz_piece pieces[2];
    source.template read<EIGHT>(block.y + row, block.x + column * QFZ_PIECE, pieces);
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const int i = (row + k) * PIECES + column;
        reinterpret_cast<uint16_t *>(words->valid)[i] = (uint16_t)pieces[k].valid;
        reinterpret_cast<uint16_t *>(words->right)[i] = (uint16_t)pieces[k].right;
        reinterpret_cast<uint16_t *>(words->below)[i] = (uint16_t)pieces[k].below;
        if (!EIGHT) continue;
        reinterpret_cast<uint16_t *>(words->below_right)[i] = (uint16_t)pieces[k].below_right;
        reinterpret_cast<uint16_t *>(words->below_left)[i] = (uint16_t)pieces[k].below_left;
    }
}

/* Which of this thread's pixels are joined to pixels of the row above: to that above, to that to
 * its left, to that to its right; one join for each pair of runs at least. */
struct links_up {
    uint32_t above, left, right;
};

template <bool EIGHT>
static __device__ __forceinline__ links_up links_of(const block_words &words, int word)
{
    const int up = word - 2;
    const bool second = word % 2;
    if (up < 0) return links_up{0, 0, 0};
    const uint32_t below = words.below[up], right = words.right[word], up_right = words.right[up];
    const uint32_t before = second ? words.below[up - 1] : 0;
    const uint32_t before_right = second ? words.right[word - 1] : 0;
    const uint32_t before_up_right = second ? words.right[up - 1] : 0;
    links_up links = {0, 0, 0};
    links.above =
        below & ~moved_right(below & right & up_right, before & before_right & before_up_right);
    if (!EIGHT) return links;
    /* a diagonal join adds nothing where a vertical one joins the same two runs */
    const uint32_t after = second ? 0 : words.below[up + 1];
    links.left = moved_right(words.below_right[up], second ? words.below_right[up - 1] : 0) &
                 ~(below & moved_right(up_right, before_up_right)) &
                 ~moved_right(below & right, before & before_right);
    links.right = moved_left(words.below_left[up], second ? 0 : words.below_left[up + 1]) &
                  ~(below & up_right) & ~(moved_left(below, after) & right);
    return links;
}

/* The run above that pixel x of a word is linked to, DX to its side. */
template <int DX>
static __device__ __forceinline__ uint32_t run_above(const block_words &words, int word, int x)
{
    const int up = word - 2;
    if (DX == 0) return run_at(words, up, x);
    const uint32_t starts = words.starts[up];
    if (DX < 0) return words.before[up] + (uint32_t)__popc(starts & (up_to(x) >> 1)) - 1;
    const uint32_t beyond = x == QFZ_WARP - 1 ? words.starts[up + 1] & 1 : 0;
    return words.before[up] + (uint32_t)__popc(starts & (up_to(x) << 1 | 1)) + beyond - 1;
}

/* Hooks every run that starts in this word to the first run above that it is linked to: no other
 * thread has this run, and so far nothing else is known of it.  Returns the links that are left. */
template <int DX>
static __device__ __forceinline__ uint32_t hook_runs(const block_words &words, int word,
                                                     uint32_t links, uint32_t *hooked,
                                                     uint32_t *parent)
{
    uint32_t left = 0;
    for (uint32_t rest = links; rest; rest &= rest - 1) {
        const int x = __ffs((int)rest) - 1;
        const int k = __popc(words.starts[word] & up_to(x)) - 1; /* -1: it came from the left */
        if (k < 0 || (*hooked >> k & 1)) {
            left |= rest & (0u - rest);
            continue;
        }
        *hooked |= 1u << k;
        parent[words.before[word] + (uint32_t)k] = run_above<DX>(words, word, x);
    }
    return left;
}

template <int DX>
static __device__ __forceinline__ void unite_runs(const block_words &words, int word,
                                                  uint32_t links, uint32_t *parent)
{
    for (; links; links &= links - 1) {
        const int x = __ffs((int)links) - 1;
        qfz_unite<qfz_in_shared>(parent, run_at(words, word, x), run_above<DX>(words, word, x));
    }
}

/* Hooks all runs to their roots.  What all do at once halves all paths with each step. */
static __device__ __forceinline__ void flatten_runs(uint32_t n_runs, uint32_t *parent)
{
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS) {
        uint32_t up = qfz_in_shared::read(parent + run), top;
        while ((top = qfz_in_shared::read(parent + up)) != up) {
            qfz_in_shared::write(parent + run, top);
            up = top;
        }
    }
}

/* parent[run] = the first run of its component, for all runs of the block. */
template <bool EIGHT>
static __device__ __forceinline__ void solve_runs(const block_words &words, uint32_t n_runs,
                                                  uint32_t *parent)
{
    const int word = (int)threadIdx.x;
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS)
        parent[run] = run;
    __syncthreads();
    links_up links = links_of<EIGHT>(words, word);
    uint32_t hooked = 0;
    links.above = hook_runs<0>(words, word, links.above, &hooked, parent);
    if (EIGHT) links.left = hook_runs<-1>(words, word, links.left, &hooked, parent);
    if (EIGHT) links.right = hook_runs<1>(words, word, links.right, &hooked, parent);
    __syncthreads();
    flatten_runs(n_runs, parent);
    __syncthreads();
    unite_runs<0>(words, word, links.above, parent);
    if (EIGHT) unite_runs<-1>(words, word, links.left, parent);
    if (EIGHT) unite_runs<1>(words, word, links.right, parent);
    __syncthreads();
    flatten_runs(n_runs, parent);
    __syncthreads();
}

/* Codes of the runs that are first of their component: their place instead of their number. */
static __device__ __forceinline__ void place_roots(const block_words &words, uint32_t *parent)
{
    const int word = (int)threadIdx.x;
    uint32_t run = words.before[word];
    for (uint32_t rest = words.starts[word]; rest; rest &= rest - 1, run++)
        if (parent[run] == run)
            parent[run] = RUN_ROOT | ((uint32_t)word * QFZ_WARP + (uint32_t)__ffs((int)rest) - 1);
}

/* Marks components that touch the ring, makes them roots in global memory, and tells the ring. */
static __device__ __forceinline__ void tell_ring(const layout &at, const block_place &block,
                                                 const block_words &words, uint32_t *parent,
                                                 uint32_t *root)
{
    for (uint32_t i = threadIdx.x; i < RING; i += WORDS) {
        const int side = (int)(i / SIDE) * SIDE, k = (int)(i % SIDE);
        const int y = side == TOP ? 0 : side == BOTTOM ? SIDE - 1 : k;
        const int x = side == LEFT ? 0 : side == RIGHT ? SIDE - 1 : k;
        const int word = 2 * y + x / QFZ_WARP;
        uint32_t place = NO_PLACE;
        if (words.valid[word] >> x % QFZ_WARP & 1) {
            /* marks may come meanwhile, nothing else changes */
            uint32_t run = run_at(words, word, x % QFZ_WARP);
            uint32_t code = qfz_in_shared::read(parent + run);
            if (!(code & RUN_ROOT)) {
                run = code;
                code = qfz_in_shared::read(parent + run);
            }
            place = code & RUN_NUMBER;
            if (!(code & RUN_ON_RING) &&
                !(atomicOr(parent + run, (uint32_t)RUN_ON_RING) & RUN_ON_RING)) {
                const uint32_t px = px_of(at, block, place);
                root[px] = px;
            }
        }
        at.ring[(int64_t)blockIdx.x * RING + i] = (uint16_t)place;
    }
}

template <bool EIGHT>
static __device__ __forceinline__ void tell_seams(const layout &at, const block_words &words)
{
    uint32_t *const seams = at.seams + (int64_t)blockIdx.x * 2 * SEAMS;
    const int row = (int)threadIdx.x, warp = row / QFZ_WARP;
    if (row >= SIDE) return; /* two whole warps go on */
    const int last = 2 * row + 1, first = 2 * row;
    const uint32_t right = __ballot_sync(0xffffffffu, words.right[last] >> 31);
    const uint32_t right_below =
        EIGHT ? __ballot_sync(0xffffffffu, words.below_right[last] >> 31) : 0;
    const uint32_t left_below = EIGHT ? __ballot_sync(0xffffffffu, words.below_left[first] & 1) : 0;
    if (row % QFZ_WARP) return;
    seams[2 * SEAM_RIGHT + warp] = right;
    seams[2 * SEAM_BELOW + warp] = words.below[WORDS - 2 + warp];
    if (!EIGHT) return;
    seams[2 * SEAM_RIGHT_BELOW + warp] = right_below;
    seams[2 * SEAM_LEFT_BELOW + warp] = left_below;
    seams[2 * SEAM_BELOW_RIGHT + warp] = words.below_right[WORDS - 2 + warp];
    seams[2 * SEAM_BELOW_LEFT + warp] = words.below_left[WORDS - 2 + warp];
}

/* Components within each block of SIDE x SIDE pixels. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(WORDS)
    k_link_block(SOURCE source, layout at, uint32_t *__restrict__ root)
{
    __shared__ block_words words;
    __shared__ uint32_t parent[RUNS];
    const int word = (int)threadIdx.x;
    const block_place block = place_of(at, blockIdx.x);
    read_words<EIGHT>(source, block, &words);
    __syncthreads();
    const uint32_t starts =
        words.valid[word] & ~moved_right(words.right[word], word % 2 ? words.right[word - 1] : 0);
    words.starts[word] = starts;
    uint32_t n_runs;
    words.before[word] = sum_before((uint32_t)__popc(starts), words.sums, &n_runs);
    solve_runs<EIGHT>(words, n_runs, parent);
    place_roots(words, parent);
    __syncthreads();
    tell_ring(at, block, words, parent, root);
    tell_seams<EIGHT>(at, words);
    at.starts[(int64_t)blockIdx.x * WORDS + word] = starts;
    at.valid[(int64_t)blockIdx.x * WORDS + word] = words.valid[word];
    __syncthreads();
    uint32_t *const runs = reinterpret_cast<uint32_t *>(at.runs + block.runs); /* an even number */
    for (uint32_t i = threadIdx.x; 2 * i < n_runs; i += WORDS)
        runs[i] = parent[2 * i] | parent[(2 * i + 1) % RUNS] << 16;
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

static __device__ __forceinline__ bool seam_has(const layout &at, uint32_t block, int seam, int k)
{
    return at.seams[(int64_t)block * 2 * SEAMS + 2 * seam + k / QFZ_WARP] >> k % QFZ_WARP & 1;
}

/* Joins pairs, each that several lanes of a warp have once: along a border most are alike. */
static __device__ __forceinline__ void unite_pairs(ring_pair pair, uint32_t *root)
{
    const uint32_t have = __ballot_sync(0xffffffffu, pair.a != QFZ_NONE);
    if (have == 0) return;
    const unsigned long long both = (unsigned long long)pair.a << 32 | pair.b;
    const uint32_t alike = __match_any_sync(0xffffffffu, both);
    const bool first = (int)threadIdx.x % QFZ_WARP == __ffs((int)alike) - 1;
    if (pair.a != QFZ_NONE && first) qfz_unite<qfz_in_global>(root, pair.a, pair.b);
}

/* Joins each block to those to its right and below; a thread has a pixel of the right column or
 * the bottom row. */
template <bool EIGHT>
static __global__ void __launch_bounds__(2 * SIDE) k_link_seams(layout at, uint32_t *root)
{
    const ring_pair none = {QFZ_NONE, QFZ_NONE};
    const uint32_t block = blockIdx.x, below = block + (uint32_t)at.blocks_w;
    const int k = (int)threadIdx.x % SIDE;
    const bool bottom = (int)threadIdx.x < SIDE;
    const uint32_t next = bottom ? below : block + 1;
    const int mine = bottom ? BOTTOM : RIGHT, other = bottom ? TOP : LEFT;
    ring_pair pair = none;
    if (seam_has(at, block, bottom ? SEAM_BELOW : SEAM_RIGHT, k))
        pair = ring_pair{ring_px(at, block, mine + k), ring_px(at, next, other + k)};
    unite_pairs(pair, root);
    if (!EIGHT) return;

    ring_pair down = none, up = none;
    if (seam_has(at, block, bottom ? SEAM_BELOW_RIGHT : SEAM_RIGHT_BELOW, k) &&
        (bottom || k < SIDE - 1))
        down =
            ring_pair{ring_px(at, block, mine + k), k < SIDE - 1 ? ring_px(at, next, other + k + 1)
                                                                 : ring_px(at, below + 1, TOP)};
    unite_pairs(down, root);
    if (bottom && seam_has(at, block, SEAM_BELOW_LEFT, k))
        up = ring_pair{ring_px(at, block, BOTTOM + k),
                       k > 0 ? ring_px(at, below, TOP + k - 1)
                             : ring_px(at, below - 1, TOP + SIDE - 1)};
    const bool has_next = block % (uint32_t)at.blocks_w + 1 < (uint32_t)at.blocks_w;
    if (!bottom && has_next && k < SIDE - 1 && seam_has(at, next, SEAM_LEFT_BELOW, k))
        up = ring_pair{ring_px(at, block, RIGHT + k + 1), ring_px(at, next, LEFT + k)};
    unite_pairs(up, root);
}

/* Hooks what is on a block's ring to its root, so that nobody has far to go from there. */
static __global__ void __launch_bounds__(RING) k_flatten_ring(layout at, uint32_t *root)
{
    const uint32_t place = at.ring[(int64_t)blockIdx.x * RING + threadIdx.x];
    const uint32_t before = __shfl_up_sync(0xffffffffu, place, 1);
    if (place == NO_PLACE || (threadIdx.x % QFZ_WARP && place == before)) return;
    const uint32_t px = px_of(at, place_of(at, blockIdx.x), place);
    const uint32_t up = qfz_peek(root + px), top = qfz_find<qfz_in_global>(root, up);
    if (top != up) qfz_in_global::write(root + px, top);
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* label[run] = the first pixel of its component, all over the image. */
static __device__ __forceinline__ void label_runs(const layout &at, const block_place &block,
                                                  uint32_t n_runs, uint32_t *label,
                                                  const uint32_t *root)
{
    const uint16_t *const codes = at.runs + block.runs;
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS) {
        const uint32_t code = codes[run];
        if (!(code & RUN_ROOT)) continue;
        const uint32_t px = px_of(at, block, code & RUN_NUMBER);
        label[run] = code & RUN_ON_RING ? qfz_find<qfz_in_global>(root, px) : px;
    }
    __syncthreads();
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS) {
        const uint32_t code = codes[run];
        if (!(code & RUN_ROOT)) label[run] = label[code];
    }
    __syncthreads();
}

/* Writes every pixel.  What other blocks read meanwhile are first pixels of components of a block;
 * what is written there is their root, and all that they need to find. */
static __global__ void __launch_bounds__(WORDS)
    k_write_roots(layout at, bool aligned, uint32_t *root)
{
    enum { AT_ONCE = 4, LANES = SIDE / AT_ONCE };
    __shared__ uint32_t label[RUNS];
    __shared__ uint32_t starts[WORDS], valid[WORDS], before[WORDS], sums[WORDS / QFZ_WARP];
    const block_place block = place_of(at, blockIdx.x);
    const int word = (int)threadIdx.x;
    starts[word] = at.starts[(int64_t)blockIdx.x * WORDS + word];
    valid[word] = at.valid[(int64_t)blockIdx.x * WORDS + word];
    uint32_t n_runs;
    before[word] = sum_before((uint32_t)__popc(starts[word]), sums, &n_runs);
    label_runs(at, block, n_runs, label, root);

    const int x = AT_ONCE * ((int)threadIdx.x % LANES), shift = x % QFZ_WARP;
    for (int y = (int)threadIdx.x / LANES; y < SIDE; y += WORDS / LANES) {
        if (block.y + y >= at.h || block.x + x >= at.w) continue;
        const int i = 2 * y + x / QFZ_WARP;
        uint32_t run = before[i] + (uint32_t)__popc(starts[i] & (up_to(shift) >> 1)) - 1;
        uint32_t px[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            run += starts[i] >> (shift + k) & 1;
            px[k] = valid[i] >> (shift + k) & 1 ? label[run] : QFZ_NONE;
        }
        uint32_t *const out = root + (int64_t)(block.y + y) * at.w + block.x + x;
        if (aligned) {
            *reinterpret_cast<uint4 *>(out) = make_uint4(px[0], px[1], px[2], px[3]);
        } else {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (block.x + x + k < at.w) out[k] = px[k];
        }
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

static layout lay_out(qfz_carve *carve, int32_t h, int32_t w)
{
    layout at = {};
    at.h = h;
    at.w = w;
    at.blocks_w = (w + SIDE - 1) / SIDE;
    at.n_blocks = at.blocks_w * ((h + SIDE - 1) / SIDE);
    qfz_carve_take(carve, &at.starts, (int64_t)at.n_blocks * WORDS);
    qfz_carve_take(carve, &at.valid, (int64_t)at.n_blocks * WORDS);
    qfz_carve_take(carve, &at.seams, (int64_t)at.n_blocks * 2 * SEAMS);
    qfz_carve_take(carve, &at.ring, (int64_t)at.n_blocks * RING);
    qfz_carve_take(carve, &at.runs, (int64_t)h * w + 1); /* two are written at a time */
    return at;
}

/* Can the values be compared where they are read? */
static bool reads_band(const qfz_rule *rule)
{
    return rule->n_bands == 1 && !rule->edge_bits;
}

size_t qfz_gpu_components_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_carve carve = {};
    (void)lay_out(&carve, h, w);
    if (!reads_band(rule)) (void)qfz_carve_bytes(&carve, (size_t)h * (size_t)w);
    return carve.used;
}

template <bool EIGHT, typename SOURCE>
static qfz_status find_components(qfz_gpu *gpu, const SOURCE &source, const layout &at,
                                  uint32_t *d_root)
{
    const dim3 grid((unsigned)at.n_blocks), block(WORDS);
    const bool aligned = at.w % 4 == 0 && reinterpret_cast<uintptr_t>(d_root) % 16 == 0;
    QFZ_TRY(qfz_launch(gpu, k_link_block<EIGHT, SOURCE>, grid, block, 0, source, at, d_root));
    QFZ_TRY(qfz_launch(gpu, k_link_seams<EIGHT>, grid, dim3(2 * SIDE), 0, at, d_root));
    QFZ_TRY(qfz_launch(gpu, k_flatten_ring, grid, dim3(RING), 0, at, d_root));
    return qfz_launch(gpu, k_write_roots, grid, block, 0, at, aligned, d_root);
}

template <typename SOURCE>
static qfz_status find_connected(qfz_gpu *gpu, const SOURCE &source, int connectivity,
                                 void *d_scratch, uint32_t *d_root)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    const layout at = lay_out(&carve, source.h, source.w);
    return connectivity == 8 ? find_components<true>(gpu, source, at, d_root)
                             : find_components<false>(gpu, source, at, d_root);
}

static bool is_aligned(const void *rows, int64_t row_bytes)
{
    return reinterpret_cast<uintptr_t>(rows) % 16 == 0 && row_bytes % 16 == 0;
}

static qfz_status check_size(qfz_gpu *gpu, int64_t h, int64_t w)
{
    if (h >= 1 && w >= 1 && h * w <= INT32_MAX) return QFZ_OK;
    return qfz_fail(gpu->err, QFZ_EARG, "a tile of %lld x %lld pixels does not fit a GPU's indices",
                    (long long)w, (long long)h);
}

qfz_status qfz_gpu_components_of_joins(qfz_gpu *gpu, const uint8_t *d_joins, int32_t h, int32_t w,
                                       int connectivity, void *d_scratch, uint32_t *d_root)
{
    QFZ_TRY(check_size(gpu, h, w));
    const qfz_joins_source source = {h, w, is_aligned(d_joins, w), d_joins};
    return find_connected(gpu, source, connectivity, d_scratch, d_root);
}

template <typename T, typename NEAR>
static qfz_status of_band(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                          const NEAR &near, void *d_scratch, uint32_t *d_root)
{
    const qfz_band_source<T, NEAR> source = {
        image->h,
        image->w,
        is_aligned(image->d_pixels, image->w * (int64_t)sizeof(T)),
        is_aligned(image->d_valid, image->w),
        static_cast<const T *>(image->d_pixels),
        image->d_valid,
        near};
    return find_connected(gpu, source, rule->connectivity, d_scratch, d_root);
}

/* The largest difference of integers whose key is at most the limit, up to most. */
static uint32_t difference_limit(const qfz_rule *rule, uint32_t most)
{
    if (rule->distance != QFZ_L2) return rule->alpha_key < most ? rule->alpha_key : most;
    uint32_t least = 0;
    while (least < most) { /* keys of difference: singles in the same order */
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
static qfz_status of_integers(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              uint32_t bias, void *d_scratch, uint32_t *d_root)
{
    const qfz_near_integer<T> near = {difference_limit(rule, (T)-1), bias};
    return of_band<T>(gpu, image, rule, near, d_scratch, d_root);
}

qfz_status qfz_gpu_components(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t *d_root)
{
    QFZ_TRY(check_size(gpu, image->h, image->w));
    if (!reads_band(rule)) {
        qfz_carve carve = {static_cast<char *>(d_scratch), 0};
        (void)lay_out(&carve, image->h, image->w);
        uint8_t *d_joins;
        qfz_carve_take(&carve, &d_joins, (int64_t)image->h * image->w);
        QFZ_TRY(qfz_gpu_joins(gpu, image, rule, d_joins));
        return qfz_gpu_components_of_joins(gpu, d_joins, image->h, image->w, rule->connectivity,
                                           d_scratch, d_root);
    }
    switch (image->type) {
    case QFZ_U8: return of_integers<uint8_t>(gpu, image, rule, 0, d_scratch, d_root);
    case QFZ_I8: return of_integers<uint8_t>(gpu, image, rule, 0x80808080u, d_scratch, d_root);
    case QFZ_U16: return of_integers<uint16_t>(gpu, image, rule, 0, d_scratch, d_root);
    case QFZ_I16: return of_integers<uint16_t>(gpu, image, rule, 0x8000u, d_scratch, d_root);
    case QFZ_U32: return of_integers<uint32_t>(gpu, image, rule, 0, d_scratch, d_root);
    case QFZ_I32: return of_integers<uint32_t>(gpu, image, rule, 0x80000000u, d_scratch, d_root);
    case QFZ_F32: break;
    }
    if (rule->distance == QFZ_L2) {
        const qfz_near_float<QFZ_L2> near = {rule->alpha_key};
        return of_band<float>(gpu, image, rule, near, d_scratch, d_root);
    }
    const qfz_near_float<QFZ_L1> near = {rule->alpha_key};
    return of_band<float>(gpu, image, rule, near, d_scratch, d_root);
}
