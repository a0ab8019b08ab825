/* SPDX-License-Identifier: MIT */
/* components.cu - unites the runs of each block, then components across the seams between blocks;
 * component_labels.cu labels the pixels afterwards. */
#include <string.h>

#include "gpu/components/component_runs.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/union_find.cuh"

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Unites the runs of each block of SIDE x SIDE pixels. */
template <bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(WORDS) k_link_block(SOURCE source, layout at)
{
    __shared__ block_words<EIGHT> words;
    const int word = (int)threadIdx.x;
    const block_place block = place_of(at, blockIdx.x);
    read_words<EIGHT>(source, block, &words);
    __syncthreads();
    store_seams(at, &words);
    const links_up links = links_of<EIGHT>(words.joins, word);
    const uint32_t valid = words.valid[word], right = words.joins.right[word];
    const uint32_t starts = valid & ~moved_right(right, word % 2 ? words.joins.right[word - 1] : 0);
    uint32_t n_runs;
    words.runs.before[word] = qfz_sum_before<WORDS>((uint32_t)__popc(starts), words.sums, &n_runs);
    words.runs.starts[word] = starts;
    __syncthreads();
    solve_runs<EIGHT>(words.runs, links, n_runs, words.sums, words.parent);
    store_ring<EIGHT>(at, block, &words);
    at.starts[(int64_t)blockIdx.x * WORDS + word] = starts;
    at.valid[(int64_t)blockIdx.x * WORDS + word] = valid;
    if (word == 0) at.n_runs[blockIdx.x] = n_runs;
    __syncthreads();
    if (at.inner)
        at.inner[(int64_t)blockIdx.x * WORDS + word] = inner_firsts(words.runs, words.parent);
    uint32_t *const runs = reinterpret_cast<uint32_t *>(at.runs + block.runs);
    const uint32_t n_pairs = (n_runs + 7) / 8 * 4, lane = threadIdx.x % QFZ_WARP;
    for (uint32_t i = threadIdx.x; i - lane < n_pairs; i += WORDS) {
        const uint32_t low = 2 * i < n_runs ? settled_code(words.parent, 2 * i) : 0;
        const uint32_t high = 2 * i + 1 < n_runs ? settled_code(words.parent, 2 * i + 1) : 0;
        if (i < n_pairs) runs[i] = low | high << 16;
        __syncwarp();
    }
}

/* ---- Seams between blocks -------------------------------------------------------------------- */

namespace
{
/* First pixels of two components, one on each side of a seam; QFZ_NONE if there is no pair. */
struct ring_pair {
    uint32_t a, b;
};

QFZ_DEVICE uint32_t ring_px(const layout &at, uint32_t block, int i)
{
    return px_of(at, place_of(at, block), at.ring[(int64_t)block * RING + i]);
}

/* Bits k .. k + 31 of a block's seam, k a multiple of 32; 0 beyond it. */
QFZ_DEVICE uint32_t seam_word(const layout &at, uint32_t block, int seam, int k)
{
    return k < SIDE ? at.seams[((int64_t)block * SEAMS + seam) * 2 + k / QFZ_WARP] : 0;
}

/* Unites the components of a pair, unless the lane before has the same pair: along a border many
 * pairs are equal. */
QFZ_DEVICE void unite_pairs(ring_pair pair, uint32_t *parent)
{
    const uint32_t a = __shfl_up_sync(QFZ_ALL_LANES, pair.a, 1);
    const uint32_t b = __shfl_up_sync(QFZ_ALL_LANES, pair.b, 1);
    const bool same = threadIdx.x % QFZ_WARP && pair.a == a && pair.b == b;
    if (pair.a != QFZ_NONE && !same) qfz_unite<qfz_in_global>(parent, pair.a, pair.b);
}

/* The joins across a seam that are needed, at the places k .. k + 31; `block` is on the upper or
 * left side, `next` on the other. across: of a place's pixel with the one across; ahead: with the
 * one after that; back: of the pixel after a place with the one across from the place. */
struct seam_joins {
    uint32_t across, ahead, back;
};
} // namespace

template <bool EIGHT>
static QFZ_DEVICE seam_joins seam_joins_at(const layout &at, uint32_t block, uint32_t next,
                                           bool bottom, int k)
{
    const int across_seam = bottom ? SEAM_BELOW : SEAM_RIGHT;
    const uint32_t across = seam_word(at, block, across_seam, k);
    if (!EIGHT) return seam_joins{across, 0, 0};

    const uint32_t along = seam_word(at, block, bottom ? SEAM_ALONG_BOTTOM : SEAM_ALONG_RIGHT, k);
    const uint32_t next_along = seam_word(at, next, bottom ? SEAM_ALONG_TOP : SEAM_ALONG_LEFT, k);
    const uint32_t after = moved_left(across, seam_word(at, block, across_seam, k + QFZ_WARP));
    /* where four blocks meet, the diagonals belong to the seam below */
    const uint32_t own = bottom || k + QFZ_WARP < SIDE ? ~0u : ~0u >> 1;
    const uint32_t ahead =
        own & seam_word(at, block, bottom ? SEAM_BELOW_AHEAD : SEAM_RIGHT_AHEAD, k);
    const uint32_t back = own & seam_word(at, block, bottom ? SEAM_BELOW_BACK : SEAM_RIGHT_BACK, k);
    /* both sides continue: this join implies the one across the next place */
    const uint32_t same = across & along & next_along;
    /* a diagonal is redundant where a straight join and one along a side lead to the same pixel */
    return seam_joins{across & ~(same << 1), ahead & ~(across & next_along) & ~(along & after),
                      back & ~(across & along) & ~(after & next_along)};
}

/* Unites components of each block with those of the blocks to its right and below. A thread has a
 * place of the right column or the bottom row. Where joined pixels have equal values, a place has
 * at most one needed join. */
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
    /* behind the seam's end follow the first pixels of the blocks to the right */
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
    } while (EIGHT && __any_sync(QFZ_ALL_LANES, ahead || back));
}

/* ---- Launches -------------------------------------------------------------------------------- */

static bool reads_values(const qfz_rule *rule)
{
    return rule->n_bands == 1 && !rule->edge_bits && !rule->edge_levels && !rule->weights &&
           rule->min_mass == 0;
}

layout qfz_blocks_take(qfz_carve *carve, const qfz_rule *rule, int32_t h, int32_t w)
{
    layout at = {};
    at.h = h;
    at.w = w;
    at.blocks_w = (w + SIDE - 1) / SIDE;
    at.n_blocks = at.blocks_w * ((h + SIDE - 1) / SIDE);
    qfz_carve_take(carve, &at.starts, (int64_t)at.n_blocks * WORDS);
    qfz_carve_take(carve, &at.valid, (int64_t)at.n_blocks * WORDS);
    qfz_carve_take(carve, &at.runs, (int64_t)h * w + 7); /* codes are accessed eight at a time */
    qfz_carve_take(carve, &at.n_runs, at.n_blocks);
    qfz_carve_take(carve, &at.seams, (int64_t)at.n_blocks * 2 * SEAMS);
    qfz_carve_take(carve, &at.ring, (int64_t)at.n_blocks * RING);
    if (!reads_values(rule)) qfz_carve_take(carve, &at.joins, (int64_t)h * w);
    return at;
}

template <typename SOURCE>
static qfz_status link_source(qfz_gpu *gpu, const SOURCE &source, int connectivity,
                              const layout *at)
{
    const bool eight = connectivity == 8;
    const dim3 grid((unsigned)at->n_blocks);
    QFZ_TRY(qfz_gpu_check_size(gpu, at->h, at->w));
    QFZ_TRY(qfz_launch(gpu, eight ? k_link_block<true, SOURCE> : k_link_block<false, SOURCE>, grid,
                       dim3(WORDS), 0, source, *at));
    return qfz_launch(gpu, eight ? k_link_seams<true> : k_link_seams<false>, grid, dim3(2 * SIDE),
                      0, *at);
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

/* The largest difference of integers, at most `most`, whose level is at most alpha. */
static uint32_t difference_limit(const qfz_rule *rule, uint32_t most)
{
    if (rule->distance != QFZ_L2) return rule->alpha_level < most ? rule->alpha_level : most;
    uint32_t least = 0;
    while (least < most) { /* levels of L2 are singles, whose bits have the same order */
        const uint32_t middle = most - (most - least) / 2;
        const float level = (float)middle;
        uint32_t key;
        memcpy(&key, &level, sizeof key);
        if (key <= rule->alpha_level)
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
    const uint32_t limit = difference_limit(rule, (T)-1);
    if (limit == 0) return link_band<T>(gpu, image, rule, at, qfz_near_same<T>{});
    return link_band<T>(gpu, image, rule, at, qfz_near_integer<T>{limit, bias});
}

qfz_status qfz_blocks_link(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                           const layout *at)
{
    if (at->joins) {
        const qfz_joins_source source = {at->h, at->w, is_aligned(at->joins, at->w), at->joins};
        QFZ_TRY(qfz_gpu_joins(gpu, image, rule, at->joins));
        return link_source(gpu, source, rule->connectivity, at);
    }
    switch (image->type) {
    case QFZ_U8: return link_integers<uint8_t>(gpu, image, rule, at, 0);
    case QFZ_I8: return link_integers<uint8_t>(gpu, image, rule, at, 0x80808080u);
    case QFZ_U16: return link_integers<uint16_t>(gpu, image, rule, at, 0);
    case QFZ_I16: return link_integers<uint16_t>(gpu, image, rule, at, 0x8000u);
    case QFZ_U32: return link_integers<uint32_t>(gpu, image, rule, at, 0);
    case QFZ_I32: return link_integers<uint32_t>(gpu, image, rule, at, 0x80000000u);
    case QFZ_F32: break;
    }
    const qfz_near_float near = {rule->alpha_level};
    return link_band<float>(gpu, image, rule, at, near);
}
