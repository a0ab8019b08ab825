/* SPDX-License-Identifier: MIT */
/* gather_rows.cuh - adds up the pixels of regions row by row: for gather.cu, from labels, and for
 * HA4's analysis (published/ha4_features.cu), from segments.
 *
 * One warp walks along a piece of a row, 32 pixels at a time. The last pixel of every run of pixels
 * of one region has the run's sums: positions from bits, values from prefix sums that restart at
 * each run. Each lane adds sums of the warp's favourite region in registers until the walk ends or
 * the favourite changes, and all others to the results in global memory. A large region thus costs
 * a few atomic additions a warp, not one a run. */
#pragma once

#include <type_traits>

#include "core/exact_value.h"
#include "core/record.h"
#include "gpu/device/launch.cuh"
#include "gpu/device/pixel_type.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/features/gather.cuh"

enum { GATHER_WARPS = 4, PIECE = 4096, CLEAR_BLOCK = 256 };

/* What one pass gathers besides the number of pixels; the flags are combined. */
enum { PLACE = 1, SUM = 2, SQUARES = 4, ENDS = 8, BAND = SUM | SQUARES | ENDS };

/* A record's words before those of its bands. */
enum { HEAD_WORDS = sizeof(qfz_record) / sizeof(uint64_t) };

/* ---- Words that other threads may change at the same time ------------------------------------ */

QFZ_DEVICE unsigned long long *wide_word(void *word)
{
    return static_cast<unsigned long long *>(word);
}

QFZ_DEVICE uint64_t add_word(uint64_t *word, uint64_t value)
{
    return atomicAdd(wide_word(word), (unsigned long long)value);
}

/* A stale value that is read first only costs a needless atomic operation. */
QFZ_DEVICE void lower_word(void *word, uint64_t value)
{
    if (value < __ldcg(wide_word(word))) atomicMin(wide_word(word), (unsigned long long)value);
}

QFZ_DEVICE void raise_word(void *word, uint64_t value)
{
    if (value > __ldcg(wide_word(word))) atomicMax(wide_word(word), (unsigned long long)value);
}

/* ---- Exact sums ------------------------------------------------------------------------------ */

/* Words of the exact sums (core/exact.h) that one pass adds to: the sum, then the squares. */
template <typename T, int WHAT> struct exact_words {
    static const bool IS_FLOAT = std::is_same<T, float>::value;
    enum {
        SUMS = !(WHAT & SUM) ? 0
               : IS_FLOAT    ? (int)QFZ_SUM_WORDS_MAX
                             : 2,
        ALL = SUMS + (!(WHAT & SQUARES) ? 0
                      : IS_FLOAT        ? (int)QFZ_SQUARE_WORDS_MAX
                                        : 2)
    };
};

/* Adds low + 2^64 * high to a number of n words, or subtracts it, while other threads add to the
 * same number: the thread whose addition overflows a word adds the carry to the next word. */
QFZ_DEVICE void add_words(uint64_t *words, int n, uint64_t low, uint64_t high, bool negative)
{
    bool carry = false;
    for (int i = 0; i < n && (i < 2 || carry); i++) {
        const uint64_t more = (i == 0 ? low : i == 1 ? high : 0) + carry;
        carry = carry && !more;
        if (!more) continue;
        const uint64_t was = add_word(words + i, negative ? 0 - more : more);
        carry |= negative ? was < more : was + more < was;
    }
}

QFZ_DEVICE void add_shifted(uint64_t *words, int n, uint64_t m, int shift, bool negative)
{
    const int i = shift / 64, bit = shift % 64;
    add_words(words + i, n - i, m << bit, bit ? m >> (64 - bit) : 0, negative);
}

/* Adds one pixel; integers are added run by run. */
template <int WHAT> QFZ_DEVICE void add_value(uint64_t *words, float value)
{
    typedef exact_words<float, WHAT> of;
    const bool infinite = isinf(value);
    uint64_t m;
    int shift;
    bool negative;
    qfz_split_single(value, &m, &shift, &negative);
    if (infinite) m = 1;
    if (WHAT & SUM)
        add_shifted(words, of::SUMS, m, infinite ? (int)QFZ_SUM_INFINITY : shift, negative);
    if (WHAT & SQUARES)
        add_shifted(words + of::SUMS, of::ALL - of::SUMS, m * m,
                    infinite ? (int)QFZ_SQUARE_INFINITY : 2 * shift, false);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The join of the values from the start of a pixel's run, `distance` before, to the pixel. */
template <typename V, typename JOIN>
QFZ_DEVICE V since_start(V value, int distance, const JOIN &join)
{
#pragma unroll
    for (int step = 1; step < QFZ_WARP; step *= 2) {
        const V other = __shfl_up_sync(QFZ_ALL_LANES, value, (unsigned)step);
        if (distance >= step) value = join(value, other);
    }
    return value;
}

/* The sum over all lanes. */
QFZ_DEVICE uint64_t warp_add(uint64_t value)
{
#pragma unroll
    for (int lanes = QFZ_WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(QFZ_ALL_LANES, value, lanes);
    return value;
}

/* Sums over some pixels of one row; columns are counted from the first of the warp's piece. */
template <typename T, int WHAT> struct row_part {
    enum { SUMS = !exact_words<T, WHAT>::IS_FLOAT };
    uint32_t count, sum_x, x0, x1;
    uint64_t sum, square[2]; /* of integers; square[1]: of 32 bits, times 2^32 */
    uint32_t least, greatest;

    QFZ_DEVICE void clear()
    {
        count = sum_x = x1 = greatest = 0;
        x0 = least = UINT32_MAX;
        sum = square[0] = square[1] = 0;
    }

    QFZ_DEVICE void join(const row_part &other)
    {
        count += other.count;
        if (WHAT & PLACE) {
            sum_x += other.sum_x;
            x0 = min(x0, other.x0);
            x1 = max(x1, other.x1);
        }
        sum += other.sum;
        square[0] += other.square[0];
        square[1] += other.square[1];
        least = min(least, other.least);
        greatest = max(greatest, other.greatest);
    }

    /* Makes it that of the n pixels from column `first` on. Values: from the start of the lane's
     * run, `distance` before, to the lane; all lanes call. */
    QFZ_DEVICE void set(uint32_t first, T value, int distance)
    {
        const auto add = [](auto a, auto b) { return a + b; };
        const uint32_t order = order_of(value);
        const uint64_t wide = (uint64_t)(int64_t)value, own = wide * wide;
        clear();
        count = (uint32_t)distance + 1;
        sum_x = count * first + count * (count - 1) / 2;
        x0 = first;
        x1 = first + count;
        if (SUMS && (WHAT & SUM)) sum = since_start(wide, distance, add);
        if (SUMS && (WHAT & SQUARES)) {
            square[0] = since_start(sizeof(T) == 4 ? own & UINT32_MAX : own, distance, add);
            if (sizeof(T) == 4) square[1] = since_start(own >> 32, distance, add);
        }
        if (!(WHAT & ENDS)) return;
        least = since_start(order, distance, [](uint32_t a, uint32_t b) { return min(a, b); });
        greatest = since_start(order, distance, [](uint32_t a, uint32_t b) { return max(a, b); });
    }
};

/* The join of all lanes' parts. */
template <typename T, int WHAT> QFZ_DEVICE row_part<T, WHAT> warp_part(const row_part<T, WHAT> &own)
{
    row_part<T, WHAT> all = own;
    all.count = qfz_warp_add(own.count);
    if (WHAT & PLACE) {
        all.sum_x = qfz_warp_add(own.sum_x);
        all.x0 = qfz_warp_min(own.x0);
        all.x1 = qfz_warp_max(own.x1);
    }
    if (all.SUMS && (WHAT & SUM)) all.sum = warp_add(own.sum);
    if (all.SUMS && (WHAT & SQUARES)) {
        all.square[0] = warp_add(own.square[0]);
        if (sizeof(T) == 4) all.square[1] = warp_add(own.square[1]);
    }
    if (!(WHAT & ENDS)) return all;
    all.least = qfz_warp_min(own.least);
    all.greatest = qfz_warp_max(own.greatest);
    return all;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* A result has add(region, y, x, part), which adds all but exact sums of a part in row y, from
 * column x on, and words(region), where exact sums are. This one: a record's head, with PLACE, and
 * the words of one band. */
template <typename T, int WHAT> struct records_out {
    uint64_t *records; /* of region 0 */
    int32_t record_words, band_at;
    int64_t y0, x0; /* the tile's place in the raster */
    const uint64_t *row_area;

    QFZ_DEVICE uint64_t *words(uint32_t region) const
    {
        return records + (int64_t)region * record_words + band_at;
    }

    QFZ_DEVICE void add(uint32_t region, int32_t y, int32_t x, const row_part<T, WHAT> &part) const
    {
        uint64_t *const first = records + (int64_t)region * record_words;
        uint64_t *const ends = first + band_at + exact_words<T, WHAT>::ALL;
        const uint64_t row = (uint64_t)(y0 + y), column = (uint64_t)(x0 + x);
        if (WHAT & PLACE) {
            qfz_record *const record = reinterpret_cast<qfz_record *>(first);
            add_word(&record->pixels, part.count);
            add_word(&record->sum_y, row * part.count);
            add_word(&record->sum_x, column * part.count + part.sum_x);
            lower_word(&record->y0, row);
            lower_word(&record->x0, column + part.x0);
            raise_word(&record->y1, row + 1);
            raise_word(&record->x1, column + part.x1);
            if (row_area) add_word(record->area, row_area[y] * part.count);
        }
        if (!(WHAT & ENDS)) return;
        lower_word(ends, part.least);
        raise_word(ends + 1, part.greatest);
    }
};

/* Least and greatest values are orders (device/pixel_type.cuh) until k_finish_records(). */
template <typename T>
static __global__ void __launch_bounds__(CLEAR_BLOCK)
    k_clear_records(uint32_t n, int n_bands, int record_words, uint64_t *__restrict__ records)
{
    const uint32_t i = blockIdx.x * CLEAR_BLOCK + threadIdx.x;
    if (i >= n) return;
    uint64_t *const words = records + (int64_t)i * record_words, *band = words + HEAD_WORDS;
    qfz_record *const record = reinterpret_cast<qfz_record *>(words);
    for (int k = 0; k < record_words; k++)
        words[k] = 0;
    record->y0 = record->x0 = INT64_MAX;
    for (int b = 0; b < n_bands; b++, band += exact_words<T, BAND>::ALL + 2)
        band[exact_words<T, BAND>::ALL] = UINT32_MAX;
}

/* Completes the records when all parts have been added. */
template <typename T>
static __global__ void __launch_bounds__(CLEAR_BLOCK)
    k_finish_records(uint32_t n, int n_bands, int record_words, qfz_gpu_areas areas,
                     uint64_t *__restrict__ records)
{
    const uint32_t i = blockIdx.x * CLEAR_BLOCK + threadIdx.x;
    if (i >= n) return;
    uint64_t *const words = records + (int64_t)i * record_words, *ends = words + HEAD_WORDS;
    qfz_record *const record = reinterpret_cast<qfz_record *>(words);
    if (!areas.d_row) record->area[0] = areas.same * record->pixels;
    for (int b = 0; b < n_bands; b++, ends += 2) {
        ends += exact_words<T, BAND>::ALL;
        QFZ_EACH (k, 2)
            ends[k] = (uint64_t)__double_as_longlong(value_of<T>((uint32_t)ends[k]));
    }
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* A warp's favourite region, and each lane's sums of it. */
template <typename T, int WHAT, typename OUT> struct favourite {
    typedef exact_words<T, WHAT> exact;
    const OUT &out;
    int32_t y, x;   /* the first pixel of the warp's piece */
    uint64_t *sums; /* of floats, in shared memory */
    uint32_t region;
    row_part<T, WHAT> own;

    QFZ_DEVICE void put(uint32_t of, const row_part<T, WHAT> &part) const
    {
        out.add(of, y, x, part);
        if constexpr (!exact::IS_FLOAT && exact::ALL > 0) {
            uint64_t *const words = out.words(of);
            const uint64_t low = part.square[0] + (part.square[1] << 32);
            const uint64_t high = (part.square[1] >> 32) + (low < part.square[0]);
            if (WHAT & SUM)
                add_words(words, 2, part.sum, (uint64_t)((int64_t)part.sum >> 63), false);
            if (WHAT & SQUARES) add_words(words + exact::SUMS, 2, low, high, false);
        }
    }

    /* Makes `next` the favourite, QFZ_NONE where there is none; all lanes call. */
    QFZ_DEVICE void change(uint32_t next)
    {
        if (region != QFZ_NONE) {
            const row_part<T, WHAT> all = warp_part(own);
            if (threadIdx.x == 0) put(region, all);
        }
        if constexpr (exact::IS_FLOAT && exact::ALL > 0) {
            const int i = (int)threadIdx.x, n = (i < exact::SUMS ? exact::SUMS : exact::ALL) - i;
            __syncwarp();
            if (region != QFZ_NONE && n > 0) add_words(out.words(region) + i, n, sums[i], 0, false);
            if (n > 0) sums[i] = 0;
            __syncwarp();
        }
        region = next;
        own.clear();
    }

    /* Adds the runs that end at lanes, and the values of floats; of: the lane's region, or
     * QFZ_NONE. All lanes call. If no run is of the favourite, the region of the first one becomes
     * the favourite. */
    QFZ_DEVICE void take(bool ends, uint32_t of, T value, const row_part<T, WHAT> &part)
    {
        const bool has = ends && of != QFZ_NONE;
        const uint32_t all = __ballot_sync(QFZ_ALL_LANES, has);
        if (!__any_sync(QFZ_ALL_LANES, has && of == region))
            change(__shfl_sync(QFZ_ALL_LANES, of, __ffs((int)all) - 1));
        if (has && of == region)
            own.join(part);
        else if (has)
            put(of, part);
        if constexpr (exact::IS_FLOAT && exact::ALL > 0)
            if (of != QFZ_NONE) add_value<WHAT>(of == region ? sums : out.words(of), value);
    }
};

/* Of 32 pixels of a row, a bit each: pixels of regions, and those of the same region as the pixel
 * on their left. region: of the lane's pixel; of the last pixel of a run at least. */
struct row_segments {
    uint32_t valid, joined, region;
};

/* SOURCE: has the image's width w, and at(y, x), the segments of 32 pixels; all lanes call. */
template <typename T, int WHAT, typename SOURCE, typename OUT>
static __global__ void __launch_bounds__(QFZ_WARP *GATHER_WARPS)
    k_gather(SOURCE source, const T *__restrict__ plane, uint32_t n_pieces, uint32_t n_warps,
             uint32_t first_region, uint32_t n, OUT out)
{
    enum { WORDS = exact_words<T, WHAT>::ALL + 1 };
    __shared__ uint64_t sums[GATHER_WARPS][WORDS];
    const uint32_t at = blockIdx.x * GATHER_WARPS + threadIdx.y;
    if (at >= n_warps) return;
    const int32_t lane = (int32_t)threadIdx.x, y = (int32_t)(at / n_pieces),
                  x0 = (int32_t)(at % n_pieces) * PIECE, end = min(source.w, x0 + PIECE);
    favourite<T, WHAT, OUT> best = {out, y, x0, sums[threadIdx.y], QFZ_NONE, {}};
    best.change(QFZ_NONE);
#pragma unroll 1
    for (int32_t x = x0; x < end; x += QFZ_WARP) {
        const row_segments here = source.at(y, x);
        const uint32_t region = here.region - first_region < n ? here.region : QFZ_NONE;
        const bool ends = here.valid >> lane & 1 & ~(here.joined >> lane >> 1);
        if (!__any_sync(QFZ_ALL_LANES, ends && region != QFZ_NONE)) continue;
        const uint32_t starts = (here.valid & ~here.joined) << (QFZ_WARP - 1 - lane);
        const int distance = min(lane, __clz((int)starts));
        const bool reads = (WHAT & BAND) && here.valid >> lane & 1;
        const T value = reads ? __ldg(plane + (int64_t)y * source.w + x + lane) : (T)0;
        row_part<T, WHAT> part;
        part.set((uint32_t)(x - x0 + lane - distance), value, distance);
        best.take(ends, region, value, part);
    }
    best.change(QFZ_NONE);
}

template <typename T, int WHAT, typename SOURCE, typename OUT>
static qfz_status gather(qfz_gpu *gpu, const SOURCE &source, int32_t h, const T *d_plane,
                         uint32_t first_region, uint32_t n, const OUT &out)
{
    const uint32_t n_pieces = qfz_launch_blocks(source.w, PIECE), n_warps = n_pieces * (uint32_t)h;
    return qfz_launch(gpu, k_gather<T, WHAT, SOURCE, OUT>,
                      dim3(qfz_launch_blocks(n_warps, GATHER_WARPS)), dim3(QFZ_WARP, GATHER_WARPS),
                      0, source, d_plane, n_pieces, n_warps, first_region, n, out);
}

template <typename T> static const T *plane_of(const qfz_gpu_image *image, int band)
{
    return static_cast<const T *>(image->d_pixels) + (int64_t)band * image->h * image->w;
}

template <typename T, int WHAT, typename SOURCE>
static qfz_status gather_band(qfz_gpu *gpu, const SOURCE &source, const qfz_gpu_image *image,
                              int band, const qfz_gpu_records &wanted)
{
    const int words = qfz_record_words(image->type, image->n_bands);
    const records_out<T, WHAT> out = {wanted.d_records - (int64_t)wanted.first_region * words,
                                      words,
                                      HEAD_WORDS + band * (exact_words<T, BAND>::ALL + 2),
                                      wanted.box.y0,
                                      wanted.box.x0,
                                      wanted.areas.d_row};
    return gather<T, WHAT>(gpu, source, image->h, plane_of<T>(image, band), wanted.first_region,
                           wanted.n, out);
}

/* Fills the records. */
template <typename T, typename SOURCE>
static qfz_status gather_records(qfz_gpu *gpu, const SOURCE &source, const qfz_gpu_image *image,
                                 const qfz_gpu_records &wanted)
{
    const int n_bands = image->n_bands, words = qfz_record_words(image->type, n_bands);
    QFZ_TRY(qfz_launch_each(gpu, k_clear_records<T>, wanted.n, CLEAR_BLOCK, wanted.n, n_bands,
                            words, wanted.d_records));
    if (n_bands == 0) QFZ_TRY((gather_band<T, PLACE>(gpu, source, image, 0, wanted)));
    for (int band = 0; band < n_bands; band++)
        QFZ_TRY(band == 0 ? (gather_band<T, PLACE | BAND>(gpu, source, image, band, wanted))
                          : (gather_band<T, BAND>(gpu, source, image, band, wanted)));
    return qfz_launch_each(gpu, k_finish_records<T>, wanted.n, CLEAR_BLOCK, wanted.n, n_bands,
                           words, wanted.areas, wanted.d_records);
}
