/* SPDX-License-Identifier: MIT */
#include "gpu/features/gather.cuh"

#include "gpu/features/gather_out.cuh"
#include "gpu/features/gather_runs.cuh"
#include "gpu/device/launch.cuh"
#include "core/record.h"

/* ---- The kernel ------------------------------------------------------------------------------ */

/* Selects the next class of regions to gather (struct selection); returns false after the last one.
 * A class that was too large for the table has been split into four, so s->rest and s->classes
 * describe a tree of splits that is walked depth first. */
static QFZ_DEVICE bool next_class(selection *s)
{
    while (s->classes > 1) {
        const uint32_t step = s->classes / 4;
        if (s->rest / step < 3) {
            s->rest += step;
            return true;
        }
        s->rest -= 3 * step;
        s->classes = step;
    }
    return false;
}

template <typename T, int WHAT, typename OUT>
static __global__ void __launch_bounds__(THREADS, 4)
    k_gather(tile_view tile, const T *__restrict__ plane, const uint32_t *__restrict__ first_px,
             uint32_t first_region, uint32_t n, uint32_t capacity, OUT out)
{
    __shared__ uint32_t n_runs, n_taken;
    QFZ_SHARED(uint32_t, shared);
    uint32_t *const words = shared + capacity;
    uint16_t *const runs = reinterpret_cast<uint16_t *>(words + capacity * part<T, WHAT>::WORDS);
    const block_view b = {{capacity, shared, words}, runs, runs + MAX_RUNS, &n_runs, &n_taken};
    const uint32_t blocks_w = (uint32_t)(tile.w + SIDE - 1) / SIDE;
    const int32_t block_y = (int32_t)(blockIdx.x / blocks_w) * SIDE;
    const int32_t block_x = (int32_t)(blockIdx.x % blocks_w) * SIDE;
    selection wanted = {first_region + 1, first_region + n, 0, 1};
    /* regions have no pixel before their first one: this block comes too early */
    const int64_t last_px = (int64_t)min(block_y + SIDE, tile.h) * tile.w;
    if (first_region && last_px <= (int64_t)first_px[first_region]) return;
    for (;;) {
        for (uint32_t i = threadIdx.x; i < capacity; i += THREADS)
            b.t.label[i] = 0;
        if (threadIdx.x == 0) n_runs = n_taken = 0;
        __syncthreads();
        for (uint32_t place = threadIdx.x / QFZ_WARP * QFZ_WARP; place < SIDE * SIDE;
             place += THREADS)
            find_runs(tile, block_y, block_x, place, wanted, b);
        __syncthreads();
        const bool fits = gather_runs<T, WHAT>(tile, plane, block_y, block_x, b);
        if (__syncthreads_or(!fits)) {
            wanted.classes *= 4; /* the loop ends: two different labels differ in some bit of their
                                  * hashes */
            continue;
        }
        for (uint32_t i = threadIdx.x; i < n_taken; i += THREADS)
            out.put(b.t, b.taken[i], block_y, block_x);
        if (!next_class(&wanted)) return;
        __syncthreads();
    }
}

/* ---- Clearing what blocks add to ------------------------------------------------------------- */

template <typename T> static QFZ_DEVICE void clear_band(uint64_t *band)
{
    enum { ENDS = digits_of<T>::SUM_WORDS + digits_of<T>::SQUARE_WORDS };
    const uint64_t infinity = 0x7ff0000000000000u, minus = 0x8000000000000000u;
    for (int i = 0; i < ENDS; i++)
        band[i] = 0;
    band[ENDS] = infinity;
    band[ENDS + 1] = infinity | minus;
}

template <typename T>
static __global__ void k_clear_records(uint32_t n, int n_bands, int record_words,
                                       uint64_t *__restrict__ records)
{
    enum { BAND_WORDS = digits_of<T>::SUM_WORDS + digits_of<T>::SQUARE_WORDS + 2 };
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        uint64_t *const record = records + (int64_t)i * record_words;
        for (int k = 0; k < QFZ_HEAD_WORDS; k++)
            record[k] = k == QFZ_WORD_Y0 || k == QFZ_WORD_X0 ? (uint64_t)INT64_MAX : 0;
        for (int b = 0; b < n_bands; b++)
            clear_band<T>(record + QFZ_HEAD_WORDS + b * BAND_WORDS);
    }
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* Entries of a block's table: few enough that several blocks fit a multiprocessor. Noise, the worst
 * case, has some 550 regions in 64 x 64 pixels. */
template <typename P> static uint32_t capacity_for(void)
{
    const uint32_t least = 160; /* at the largest entry size less than 64 KiB, which every GPU
                                 * has */
    const uint32_t by_size = (36u << 10) / ((uint32_t)(P::WORDS + 1) * sizeof(uint32_t));
    return by_size < least ? least : by_size > 2048 ? 2048 : by_size;
}

template <typename T, int WHAT, typename OUT>
static qfz_status gather(qfz_gpu *gpu, const qfz_gpu_regions *regions, const T *d_plane,
                         qfz_gpu_areas areas, uint32_t first_region, uint32_t n, const OUT &out)
{
    const int64_t blocks =
        (int64_t)((regions->w + SIDE - 1) / SIDE) * ((regions->h + SIDE - 1) / SIDE);
    const uint32_t capacity = capacity_for<part<T, WHAT>>();
    const size_t bytes = (size_t)capacity * (part<T, WHAT>::WORDS + 1) * sizeof(uint32_t) +
                         (MAX_RUNS + (size_t)capacity) * sizeof(uint16_t);
    const tile_view tile = {regions->h, regions->w, regions->d_label, areas};
    return qfz_launch(gpu, k_gather<T, WHAT, OUT>, dim3((unsigned)blocks), dim3(THREADS), bytes,
                      tile, d_plane, regions->d_first, first_region, n, capacity, out);
}

qfz_status qfz_gpu_gather_counts(qfz_gpu *gpu, const qfz_gpu_regions *regions)
{
    const count_out out = {regions->d_count};
    return gather<uint8_t, HAS_COUNT>(gpu, regions, NULL, qfz_gpu_areas{}, 0, UINT32_MAX - 1, out);
}

template <typename T> static const T *plane_of(const qfz_gpu_image *image, int band)
{
    return static_cast<const T *>(image->d_pixels) + (int64_t)band * image->h * image->w;
}

qfz_status qfz_gpu_gather_sums(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t first_region,
                               uint32_t n, uint64_t *d_sums)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_sums, 0, (int64_t)n * qfz_sum_words(image->type)));
    return qfz_with_type(gpu, image->type, [&](auto px) {
        typedef decltype(px) T;
        const sums_out<T> out = {d_sums - (int64_t)first_region * digits_of<T>::SUM_WORDS};
        return gather<T, HAS_SUM>(gpu, regions, plane_of<T>(image, band), qfz_gpu_areas{},
                                  first_region, n, out);
    });
}

qfz_status qfz_gpu_gather_ends(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                               const qfz_gpu_image *image, int band, uint32_t n, uint32_t *d_least,
                               uint32_t *d_greatest)
{
    QFZ_TRY(qfz_gpu_fill(gpu, d_least, 0xff, n));
    QFZ_TRY(qfz_gpu_fill(gpu, d_greatest, 0, n));
    return qfz_with_type(gpu, image->type, [&](auto px) {
        typedef decltype(px) T;
        const ends_out<T> out = {d_least, d_greatest};
        return gather<T, HAS_ENDS>(gpu, regions, plane_of<T>(image, band), qfz_gpu_areas{}, 0, n,
                                   out);
    });
}

namespace
{
/* The records of n regions from first_region on; record_words: of each. */
struct wanted_records {
    const qfz_gpu_regions *regions;
    const qfz_gpu_image *image;
    qfz_box box;
    qfz_gpu_areas areas;
    uint32_t first_region, n;
    int record_words;
    uint64_t *d_records;
};
} // namespace

template <typename T, int WHAT>
static qfz_status add_band(qfz_gpu *gpu, const wanted_records &wanted, int band)
{
    typedef features_out<T, WHAT> OUT;
    const int band_at = WHAT & HAS_COUNT ? 0 : QFZ_HEAD_WORDS + band * OUT::BAND_WORDS;
    uint64_t *const d_first =
        wanted.d_records - (int64_t)wanted.first_region * wanted.record_words + band_at;
    const OUT out = {d_first, wanted.record_words, wanted.box.y0, wanted.box.x0, wanted.areas.same};
    return gather<T, WHAT>(gpu, wanted.regions, plane_of<T>(wanted.image, band), wanted.areas,
                           wanted.first_region, wanted.n, out);
}

template <typename T> static qfz_status features_of(qfz_gpu *gpu, const wanted_records &wanted)
{
    enum { BAND = HAS_SUM | HAS_SQUARES | HAS_ENDS, ALL = HAS_COUNT | HAS_PLACE | BAND };
    QFZ_TRY(qfz_launch(gpu, k_clear_records<T>, qfz_launch_grid(gpu, wanted.n, THREADS, 32),
                       dim3(THREADS), 0, wanted.n, wanted.image->n_bands, wanted.record_words,
                       wanted.d_records));
    QFZ_TRY(wanted.areas.d_row ? (add_band<T, ALL | HAS_AREA>(gpu, wanted, 0))
                               : (add_band<T, ALL>(gpu, wanted, 0)));
    for (int band = 1; band < wanted.image->n_bands; band++)
        QFZ_TRY((add_band<T, BAND>(gpu, wanted, band)));
    return QFZ_OK;
}

qfz_status qfz_gpu_gather_features(qfz_gpu *gpu, const qfz_gpu_regions *regions,
                                   const qfz_gpu_image *image, qfz_box box, qfz_gpu_areas areas,
                                   uint32_t first_region, uint32_t n, uint64_t *d_records)
{
    const wanted_records wanted = {
        regions,  image, box, areas, first_region, n, qfz_record_words(image->type, image->n_bands),
        d_records};
    return qfz_with_type(gpu, image->type,
                         [&](auto px) { return features_of<decltype(px)>(gpu, wanted); });
}
