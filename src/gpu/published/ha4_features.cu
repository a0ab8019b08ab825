/* SPDX-License-Identifier: MIT */
/* ha4_features.cu - sums over regions for HA4's analysis (ha4_features.cuh). One warp walks along a
 * piece of a row. At the end of every segment, or where 32 pixels cut it, one lane has the
 * segment's sums: positions from the bits, values from a prefix sum that restarts at each segment.
 *
 * Each lane adds sums of the warp's favourite region in registers until the walk ends or the
 * favourite changes. A large region thus costs a few atomic additions per warp, not one per
 * segment. */
#include "gpu/published/ha4_features.cuh"

#include "gpu/published/ha4_parts.cuh"
#include "gpu/device/launch.cuh"
#include "core/record.h"

typedef qfz_row_bits<uint64_t> row_bits;

enum { BITS = 64, BLOCK = 256, WARPS = 4, PIECE_CHUNKS = 64, PIECE = PIECE_CHUNKS * BITS };

/* Indices of a band's words. */
enum {
    SUM = 0, /* two words, as for every integer type */
    SQUARE = 2,
    LEAST = 4, /* an order_of() value until k_finish() */
    GREATEST = 5,
    BAND_WORDS = 6
};

/* ---- Records --------------------------------------------------------------------------------- */

namespace
{
struct record_room {
    uint64_t *words;
    int record_words, band; /* the band that is summed */
    uint32_t first, n;      /* first region and number of regions */
    int64_t y0, x0;         /* the tile's place in the raster */
    qfz_gpu_areas areas;
};

/* Adds to a number of two words, the lower first. */
QFZ_DEVICE void add_wide(uint64_t *words, uint64_t low, uint64_t high)
{
    const uint64_t was = add_word(words, low);
    high += was + low < was;
    if (high) add_word(words + 1, high);
}

/* Adds a part in row y, from column x on, to the record of a region. */
template <typename T, int WHAT>
QFZ_DEVICE void add_part(const record_room &room, uint32_t region, int32_t y, int32_t x,
                         const ha4_part<T, WHAT> &own)
{
    if (region - room.first >= room.n) return;
    uint64_t *const record = room.words + (int64_t)(region - room.first) * room.record_words;
    if (WHAT & PLACE) {
        const uint64_t row = (uint64_t)(room.y0 + y), column = (uint64_t)(room.x0 + x);
        add_word(record + QFZ_WORD_PIXELS, own.count);
        add_word(record + QFZ_WORD_SUM_Y, row * own.count);
        add_word(record + QFZ_WORD_SUM_X, column * own.count + own.sum_x);
        lower_word(record + QFZ_WORD_Y0, row);
        lower_word(record + QFZ_WORD_X0, column + own.x0);
        raise_word(record + QFZ_WORD_Y1, row + 1);
        raise_word(record + QFZ_WORD_X1, column + own.x1);
        if (room.areas.d_row) add_word(record + QFZ_WORD_AREA, room.areas.d_row[y] * own.count);
    }
    if (WHAT & VALUES) {
        uint64_t *const band = record + QFZ_HEAD_WORDS + room.band * BAND_WORDS;
        add_word(band + SUM, own.sum); /* below 2^63 in a tile */
        if (sizeof(T) == 4)
            add_wide(band + SQUARE, own.square[0] + (own.square[1] << 32),
                     (own.square[1] >> 32) +
                         (own.square[0] + (own.square[1] << 32) < own.square[0]));
        else
            add_word(band + SQUARE, own.square[0]);
        lower_word(band + LEAST, own.least);
        raise_word(band + GREATEST, own.greatest);
    }
}

__global__ void __launch_bounds__(BLOCK) k_clear(record_room room, int n_bands)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= room.n) return;
    uint64_t *const record = room.words + (int64_t)i * room.record_words;
    for (int k = 0; k < room.record_words; k++)
        record[k] = 0;
    record[QFZ_WORD_Y0] = record[QFZ_WORD_X0] = INT64_MAX;
    for (int b = 0; b < n_bands; b++)
        record[QFZ_HEAD_WORDS + b * BAND_WORDS + LEAST] = UINT32_MAX;
}

/* Completes the records when all parts have been added. */
template <typename T>
__global__ void __launch_bounds__(BLOCK) k_finish(record_room room, int n_bands)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= room.n) return;
    uint64_t *const record = room.words + (int64_t)i * room.record_words;
    if (!room.areas.d_row) record[QFZ_WORD_AREA] = room.areas.same * record[QFZ_WORD_PIXELS];
    for (int b = 0; b < n_bands; b++) {
        uint64_t *const band = record + QFZ_HEAD_WORDS + b * BAND_WORDS;
        band[SUM + 1] = (T)-1 < (T)0 && band[SUM] >> 63 ? UINT64_MAX : 0;
        for (int k = LEAST; k <= GREATEST; k++)
            band[k] = (uint64_t)__double_as_longlong(value_of<T>((uint32_t)band[k]));
    }
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* A warp's favourite region, and each lane's sums of it. */
template <typename T, int WHAT> struct favourite {
    uint32_t region; /* QFZ_NONE: none yet */
    ha4_part<T, WHAT> own;

    /* Adds the lanes' sums to the favourite's record, if there is a favourite; all lanes call. */
    QFZ_DEVICE void flush(const record_room &room, int32_t y, int32_t x)
    {
        if (region == QFZ_NONE) return;
        const ha4_part<T, WHAT> all = warp_part(own);
        if (threadIdx.x == 0) add_part(room, region, y, x, all);
        own.clear();
    }

    /* Adds the parts of lanes that have one; all lanes call. If none of them is of the favourite,
     * the region of the first one becomes the favourite. */
    QFZ_DEVICE void take(const record_room &room, int32_t y, int32_t x, bool has, uint32_t of,
                         const ha4_part<T, WHAT> &some)
    {
        const unsigned all = __ballot_sync(QFZ_ALL_LANES, has);
        if (!all) return;
        if (!__any_sync(QFZ_ALL_LANES, has && of == region)) {
            flush(room, y, x);
            region = __shfl_sync(QFZ_ALL_LANES, of, __ffs((int)all) - 1);
        }
        if (!has) return;
        if (of == region)
            own.join(some);
        else
            add_part(room, of, y, x, some);
    }
};

} // namespace

template <typename T, int WHAT>
static __global__ void __launch_bounds__(QFZ_WARP *WARPS)
    k_gather(int32_t w, uint32_t n_pieces, uint32_t n_warps, const row_bits *__restrict__ bits,
             const uint32_t *__restrict__ parent, const T *__restrict__ plane, record_room room)
{
    const uint32_t at = blockIdx.x * WARPS + threadIdx.y;
    if (at >= n_warps) return;
    const int lane = (int)threadIdx.x;
    const int32_t y = (int32_t)(at / n_pieces), piece_x = (int32_t)(at % n_pieces) * PIECE;
    const int32_t n_chunks = qfz_n_chunks<uint64_t>(w), from = piece_x / BITS;
    const int32_t end = min(n_chunks, from + PIECE_CHUNKS);
    const row_bits *const line = bits + (int64_t)y * n_chunks;
    favourite<T, WHAT> best;
    best.region = QFZ_NONE;
    best.own.clear();
#pragma unroll 1
    for (int32_t c = from; c < end; c++) {
        const row_bits row = line[c];
        const uint64_t starts = row.valid & (~row.joined | 1);
        const uint32_t px = (uint32_t)y * (uint32_t)w + (uint32_t)(c * BITS + lane);
        /* of starts of segments and of chunks */
        uint32_t region[2] = {starts >> lane & 1 ? px : QFZ_NONE,
                              starts >> lane >> QFZ_WARP & 1 ? px + QFZ_WARP : QFZ_NONE};
        QFZ_EACH (i, 2)
            while (!(region[i] & QFZ_HA4_NUMBERED))
                region[i] = __ldg(parent + region[i]);
        QFZ_EACH (i, 2) {
            const uint32_t valid = (uint32_t)(row.valid >> i * QFZ_WARP);
            if (!valid) continue;
            const uint32_t joined = (uint32_t)(row.joined >> i * QFZ_WARP);
            const int x = lane + i * QFZ_WARP, start = x - min(x, qfz_start_distance(starts, x));
            const int distance = min(lane, qfz_start_distance(valid & ~joined, lane));
            const uint32_t first = __shfl_sync(QFZ_ALL_LANES, region[0], start % QFZ_WARP);
            const uint32_t second = __shfl_sync(QFZ_ALL_LANES, region[1], start % QFZ_WARP);
            const bool ends = valid >> lane & 1 & ~(joined >> lane >> 1);
            ha4_part<T, WHAT> some;
            some.set_place((uint32_t)(c * BITS + x - piece_x - distance), (uint32_t)distance + 1);
            if (WHAT & VALUES)
                some.set_values(valid >> lane & 1 ? plane[px + i * QFZ_WARP] : (T)0, distance);
            best.take(room, y, piece_x, ends,
                      (start < QFZ_WARP ? first : second) & ~QFZ_HA4_NUMBERED, some);
        }
    }
    best.flush(room, y, piece_x);
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename T, int WHAT>
static qfz_status gather(qfz_gpu *gpu, const qfz_gpu_image *image, const row_bits *d_bits,
                         const uint32_t *d_parent, const record_room &room)
{
    const uint32_t n_pieces = qfz_launch_blocks(image->w, PIECE), n = n_pieces * (uint32_t)image->h;
    const T *const plane =
        static_cast<const T *>(image->d_pixels) + (int64_t)room.band * image->h * image->w;
    return qfz_launch(gpu, k_gather<T, WHAT>, dim3(qfz_launch_blocks(n, WARPS)),
                      dim3(QFZ_WARP, WARPS), 0, image->w, n_pieces, n, d_bits, d_parent, plane,
                      room);
}

template <typename T>
static qfz_status features(qfz_gpu *gpu, const qfz_gpu_image *image, const row_bits *d_bits,
                           const uint32_t *d_parent, record_room room)
{
    const int n_bands = image->n_bands;
    const dim3 grid(qfz_launch_blocks(room.n, BLOCK)), block(BLOCK);
    QFZ_TRY(qfz_launch(gpu, k_clear, grid, block, 0, room, n_bands));
    if (n_bands == 0) QFZ_TRY((gather<T, PLACE>(gpu, image, d_bits, d_parent, room)));
    for (; room.band < n_bands; room.band++) {
        if (room.band == 0)
            QFZ_TRY((gather<T, PLACE | VALUES>(gpu, image, d_bits, d_parent, room)));
        else
            QFZ_TRY((gather<T, VALUES>(gpu, image, d_bits, d_parent, room)));
    }
    return qfz_launch(gpu, k_finish<T>, grid, block, 0, room, n_bands);
}

qfz_status qfz_gpu_ha4_features(qfz_gpu *gpu, const qfz_gpu_image *image, qfz_box box,
                                qfz_gpu_areas areas, uint32_t first_region, uint32_t n,
                                const void *d_scratch, const uint32_t *d_parent,
                                uint64_t *d_records)
{
    if (n == 0) return QFZ_OK;
    const row_bits *const d_bits = static_cast<const row_bits *>(d_scratch); /* the first array of
                                                                              * region_room */
    const record_room room = {d_records, qfz_record_words(image->type, image->n_bands),
                              0,         first_region,
                              n,         box.y0,
                              box.x0,    areas};
    if (qfz_type_is_float(image->type))
        return qfz_fail(gpu->err, QFZ_EARG, "HA4's features are not for floating-point rasters");
    return qfz_with_integer(gpu, image->type, [&](auto px) {
        return features<decltype(px)>(gpu, image, d_bits, d_parent, room);
    });
}
