/* SPDX-License-Identifier: MIT */
/* component_labels.cu - from the united runs of blocks (components.cu) to the value of each pixel:
 * its root, or the label of its region. */
#include "gpu/device/warp.cuh"
#include "gpu/device/collective.cuh"
#include "gpu/components/component_outputs.cuh"
#include "gpu/components/components.cuh"
#include "gpu/device/launch.cuh"
#include "gpu/device/union_find.cuh"

/* ---- First pixels of regions ----------------------------------------------------------------- */

/* Hooks each component on a block's ring directly to its root, so that later look-ups take one
 * step. A warp has a block, a thread PLACES places of its ring, whose parents are loaded together.
 * FIRSTS: also adds the roots among them to the block's first pixels, of which a thread has ROWS
 * rows, and counts first pixels by row, in firsts.before. Roots do not change any more. */
enum { PLACES = RING / QFZ_WARP, ROWS = SIDE / QFZ_WARP, FLATTEN_WARPS = 4 };
static_assert((int)PLACES == 8 && (int)ROWS == 2, "16 bytes of places and of rows a thread");

/* Hooks each px[k] that is not QFZ_NONE to its root; returns the mask of those that are roots. */
static QFZ_DEVICE uint32_t flatten_places(uint32_t *parent, const uint32_t px[PLACES])
{
    uint32_t up[PLACES], top[PLACES], open = 0, roots = 0, moved = 0;
    QFZ_EACH (k, PLACES)
        up[k] = px[k] == QFZ_NONE ? QFZ_NONE : qfz_peek(parent + px[k]);
    QFZ_EACH (k, PLACES) {
        if (px[k] == QFZ_NONE) continue;
        (up[k] == px[k] ? roots : open) |= 1u << k;
    }
    while (open) { /* ends: parents decrease */
        QFZ_EACH (k, PLACES)
            top[k] = open >> k & 1 ? qfz_peek(parent + up[k]) : up[k];
        QFZ_EACH (k, PLACES) {
            if (!(open >> k & 1)) continue;
            if (top[k] == up[k])
                open ^= 1u << k;
            else
                moved |= 1u << k;
            up[k] = top[k];
        }
    }
    QFZ_EACH (k, PLACES)
        if (moved >> k & 1) qfz_in_global::write(parent + px[k], up[k]);
    return roots;
}

template <bool FIRSTS>
static __global__ void __launch_bounds__(FLATTEN_WARPS *QFZ_WARP)
    k_flatten_ring(layout at, firsts_view firsts)
{
    __shared__ uint32_t on_ring[FLATTEN_WARPS][WORDS]; /* first pixels */
    const uint32_t lane = threadIdx.x % QFZ_WARP, warp = threadIdx.x / QFZ_WARP;
    const uint32_t number = blockIdx.x * FLATTEN_WARPS + warp;
    if (number >= (uint32_t)at.n_blocks) return; /* the whole warp returns */
    const block_place block = place_of(at, number);
    const uint4 eight = reinterpret_cast<const uint4 *>(at.ring)[number * QFZ_WARP + lane];
    uint4 *const bits = reinterpret_cast<uint4 *>(firsts.bits) + number * QFZ_WARP + lane;
    const uint4 inner = FIRSTS ? *bits : make_uint4(0, 0, 0, 0); /* used at the end */
    const uint32_t two[PLACES / 2] = {eight.x, eight.y, eight.z, eight.w};
    uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, eight.w >> 16, 1), px[PLACES];
    if (lane == 0) before = NO_PLACE;
    QFZ_EACH (k, PLACES) {
        const uint32_t place = two[k / 2] >> k % 2 * 16 & 0xffff;
        px[k] = place == NO_PLACE || place == before ? QFZ_NONE : px_of(at, block, place);
        before = place;
    }
    const uint32_t roots = flatten_places(at.parent, px);
    if (!FIRSTS) return;
    uint4 *const mine = reinterpret_cast<uint4 *>(on_ring[warp]) + lane;
    *mine = inner;
    __syncwarp();
    QFZ_EACH (k, PLACES) {
        const uint32_t place = two[k / 2] >> k % 2 * 16 & 0xffff;
        if (roots >> k & 1) atomicOr(on_ring[warp] + place / QFZ_WARP, 1u << place % QFZ_WARP);
    }
    __syncwarp();
    const uint4 all = *mine;
    *bits = all;
    firsts.before[row_of(at, block, ROWS * lane)] = (uint32_t)(__popc(all.x) + __popc(all.y));
    firsts.before[row_of(at, block, ROWS * lane + 1)] = (uint32_t)(__popc(all.z) + __popc(all.w));
    if (number == 0 && lane == 0) firsts.before[firsts.n] = 0;
}

/* ---- Values of pixels ------------------------------------------------------------------------ */

/* Turns the codes of a block's runs into labels: first those of roots, then the others'. */
template <typename OUT>
static QFZ_DEVICE void label_runs(const layout &at, const block_place &block, uint32_t n_runs,
                                  const OUT &out, const typename OUT::in_thread &own,
                                  block_runs *runs)
{
    /* bit k: the thread's k-th run is a root */
    uint32_t roots = out.label_roots(at, block, n_runs, own, runs);
    __syncthreads();
    for (uint32_t run = threadIdx.x; run < n_runs; run += WORDS, roots >>= 1)
        if (!(roots & 1)) runs->label[run] = runs->label[runs->label[run]];
    __syncthreads();
}

/* Writes the pixels of a block, four at a time; for rows that begin at multiples of 16 bytes. */
template <typename OUT>
static QFZ_DEVICE void write_fours(const layout &at, const block_place &block,
                                   const block_runs &runs, uint32_t *d_px)
{
    enum { FOUR = 4, LANES = SIDE / FOUR };
    const int x = FOUR * ((int)threadIdx.x % LANES), shift = x % QFZ_WARP;
    if (block.x + x >= at.w) return;
    for (int y = (int)threadIdx.x / LANES; y < SIDE && block.y + y < at.h; y += WORDS / LANES) {
        const int i = 2 * y + x / QFZ_WARP;
        const uint32_t starts = runs.starts[i] >> shift, valid = runs.valid[i] >> shift;
        uint32_t run = runs.before[i] + (uint32_t)__popc(runs.starts[i] & (up_to(shift) >> 1)) - 1;
        uint32_t px[FOUR];
        QFZ_EACH (k, FOUR) {
            run += starts >> k & 1;
            px[k] = valid >> k & 1 ? runs.label[run] : (uint32_t)OUT::INVALID;
        }
        *reinterpret_cast<uint4 *>(d_px + (int64_t)(block.y + y) * at.w + block.x + x) =
            make_uint4(px[0], px[1], px[2], px[3]);
    }
}

/* Writes the pixels of a block, one a lane. */
template <typename OUT>
static QFZ_DEVICE void write_ones(const layout &at, const block_place &block,
                                  const block_runs &runs, uint32_t *d_px)
{
    const int lane = (int)threadIdx.x % QFZ_WARP;
    for (int i = (int)threadIdx.x / QFZ_WARP; i < WORDS; i += WORDS / QFZ_WARP) {
        const int y = block.y + i / 2, x = block.x + i % 2 * QFZ_WARP + lane;
        if (y >= at.h || x >= at.w) continue;
        const uint32_t run = runs.before[i] + (uint32_t)__popc(runs.starts[i] & up_to(lane)) - 1;
        d_px[(int64_t)y * at.w + x] =
            runs.valid[i] >> lane & 1 ? runs.label[run] : (uint32_t)OUT::INVALID;
    }
}

template <typename OUT>
static __global__ void __launch_bounds__(WORDS)
    k_write_px(layout at, bool aligned, OUT out, uint32_t *d_px)
{
    __shared__ block_runs runs;
    typename OUT::in_thread own;
    const block_place block = place_of(at, blockIdx.x);
    const int word = (int)threadIdx.x;
    const uint32_t n_runs = at.n_runs[blockIdx.x];
    runs.starts[word] = at.starts[(int64_t)blockIdx.x * WORDS + word];
    runs.valid[word] = at.valid[(int64_t)blockIdx.x * WORDS + word];
    out.prefetch(at, block, &own);
    load_codes(at.runs + block.runs, n_runs, &runs);
    out.begin(at, block, &own);
    uint32_t total;
    runs.before[word] =
        qfz_sum_before<WORDS>((uint32_t)__popc(runs.starts[word]), runs.sums, &total);
    __syncthreads();
    label_runs(at, block, n_runs, out, own, &runs);
    if (aligned)
        write_fours<OUT>(at, block, runs, d_px);
    else
        write_ones<OUT>(at, block, runs, d_px);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename OUT>
static qfz_status write_px(qfz_gpu *gpu, const layout &at, const OUT &out, uint32_t *d_px)
{
    const bool aligned = at.w % 4 == 0 && reinterpret_cast<uintptr_t>(d_px) % 16 == 0;
    return qfz_launch(gpu, k_write_px<OUT>, dim3((unsigned)at.n_blocks), dim3(WORDS), 0, at,
                      aligned, out, d_px);
}

template <bool FIRSTS>
static qfz_status flatten_ring(qfz_gpu *gpu, const layout &at, const firsts_view &firsts)
{
    return qfz_launch_each(gpu, k_flatten_ring<FIRSTS>, (int64_t)at.n_blocks * QFZ_WARP,
                           FLATTEN_WARPS * QFZ_WARP, at, firsts);
}

size_t qfz_gpu_components_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_carve carve = {};
    (void)qfz_blocks_take(&carve, rule, h, w);
    return carve.used;
}

qfz_status qfz_gpu_components(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                              void *d_scratch, uint32_t *d_root)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    layout at = qfz_blocks_take(&carve, rule, image->h, image->w);
    at.parent = d_root;
    QFZ_TRY(qfz_blocks_link(gpu, image, rule, &at));
    QFZ_TRY(flatten_ring<false>(gpu, at, firsts_view{}));
    return write_px(gpu, at, roots_out{}, d_root);
}

namespace
{
/* The memory of numbering. */
struct number_room {
    layout at;
    firsts_view firsts;
    void *scan;
};
} // namespace

static number_room take_numbers(qfz_carve *carve, const qfz_rule *rule, int32_t h, int32_t w)
{
    number_room room;
    room.at = qfz_blocks_take(carve, rule, h, w);
    room.firsts.n = (int64_t)room.at.n_blocks * SIDE;
    qfz_carve_take(carve, &room.firsts.bits, (int64_t)room.at.n_blocks * WORDS);
    qfz_carve_take(carve, &room.firsts.before, room.firsts.n + 1);
    qfz_carve_take(carve, &room.at.parent, (int64_t)h * w);
    room.scan = qfz_carve_bytes(carve, qfz_gpu_scan_bytes(room.firsts.n + 1));
    room.at.inner = room.firsts.bits;
    return room;
}

size_t qfz_gpu_components_number_bytes(const qfz_rule *rule, int32_t h, int32_t w)
{
    qfz_carve carve = {};
    (void)take_numbers(&carve, rule, h, w);
    return carve.used;
}

qfz_status qfz_gpu_components_number(qfz_gpu *gpu, const qfz_gpu_image *image, const qfz_rule *rule,
                                     void *d_scratch, const qfz_gpu_regions *regions)
{
    qfz_carve carve = {static_cast<char *>(d_scratch), 0};
    const number_room room = take_numbers(&carve, rule, image->h, image->w);
    const firsts_view &firsts = room.firsts;
    const labels_out out = {firsts, regions->d_first, regions->d_n};
    QFZ_TRY(qfz_blocks_link(gpu, image, rule, &room.at));
    QFZ_TRY(flatten_ring<true>(gpu, room.at, firsts));
    QFZ_TRY(qfz_gpu_scan(gpu, room.scan, firsts.before, firsts.before, firsts.n + 1));
    return write_px(gpu, room.at, out, regions->d_label);
}
