/* SPDX-License-Identifier: MIT */
/* segments.cuh - the input of the published kernels: pixel by pixel or, for HA4, by chunks of a
 * row. A chunk is 32 or 64 pixels as the bits of a word; a segment is a run of joined pixels.
 *
 * Hennequin et al. (DASIP 2018) find segments from the bits of a binary image. Here a second word
 * marks the pixels that are joined to the one on their left, so that the same distances serve
 * segmented images, where neighbouring segments touch. */
#pragma once

#include <type_traits>

#include "gpu/published/published.cuh"

/* Bit i: pixel i is valid; is joined to the pixel on its left, perhaps of the chunk before. */
template <typename WORD> struct __align__(2 * sizeof(WORD)) qfz_row_bits
{
    WORD valid, joined;
};

template <typename WORD> struct qfz_word {
    enum { BITS = 8 * sizeof(WORD), LANES = sizeof(WORD) / sizeof(uint32_t) };
};

/* The number of chunks in a row. */
template <typename WORD> static inline __host__ __device__ int32_t qfz_n_chunks(int32_t w)
{
    return (w - 1) / (int32_t)qfz_word<WORD>::BITS + 1;
}

QFZ_DEVICE int qfz_leading_zeros(uint32_t word)
{
    return __clz((int)word);
}
QFZ_DEVICE int qfz_leading_zeros(uint64_t word)
{
    return __clzll((long long)word);
}

/* The distance of pixel x from the start of its segment; at least BITS if the segment starts before
 * the chunk. starts: pixels not joined to their left neighbour. */
template <typename WORD> QFZ_DEVICE int qfz_start_distance(WORD starts, int x)
{
    return qfz_leading_zeros((WORD)(starts << (qfz_word<WORD>::BITS - 1 - x)));
}

/* One flag a pixel as a word; lane l holds those of pixels l and l + 32. */
template <typename WORD> QFZ_DEVICE WORD qfz_ballot(const bool (&flags)[qfz_word<WORD>::LANES])
{
    WORD word = __ballot_sync(QFZ_ALL_LANES, flags[0]);
    if constexpr (sizeof(WORD) == sizeof(uint64_t))
        word |= (WORD)__ballot_sync(QFZ_ALL_LANES, flags[1]) << 32;
    return word;
}

/* Where a row and the one above it (up) are joined; every pair of joined segments is named at least
 * once. Bit x of up: pixels x and x; of left: x and up's x - 1; of right: x - 1 and up's x. */
template <typename WORD> struct qfz_meetings {
    WORD up, left, right;
};

/* The pixels: valid neighbours of equal value are joined.
 *
 *   fetch(y, x)              what this lane loads of the chunk at pixel x of row y; 0 outside
 *   bits(fetched, open)      the chunk's bits; open: the pixel before the chunk is valid
 *   meetings<EIGHT>(y, x, fetched, row, up, row_open, up_open)
 *                            the joins of the chunk and the one above, at least those that
 *                            qfz_first_meetings() selects; row_open, up_open: the pixels before
 *                            the chunks are valid
 *
 * All lanes of a warp call the three together. */
template <typename T> struct qfz_values {
    int32_t h, w;
    const uint8_t *valid; /* NULL: all are */
    const T *values;

    QFZ_DEVICE bool is_valid(int64_t p) const
    {
        return !valid || __ldg(valid + p);
    }

    QFZ_DEVICE uint32_t value(int64_t p) const
    {
        return __ldg(values + p);
    }

    QFZ_DEVICE bool joins(int64_t p, int64_t q) const
    {
        return is_valid(p) && is_valid(q) && value(p) == value(q);
    }

    template <typename WORD> struct fetched {
        bool valid[qfz_word<WORD>::LANES];
        T value[qfz_word<WORD>::LANES];
        T left; /* the value before the chunk, in lane 0 */
    };

    template <typename WORD> QFZ_DEVICE fetched<WORD> fetch(int32_t y, int32_t x0) const
    {
        fetched<WORD> got;
        const int64_t p = (int64_t)y * w + x0;
        QFZ_EACH (i, qfz_word<WORD>::LANES) {
            const int32_t x = (int32_t)threadIdx.x + i * QFZ_WARP;
            const bool inside = y < h && x0 + x < w;
            got.valid[i] = inside && is_valid(p + x);
            got.value[i] = inside ? __ldg(values + p + x) : (T)0;
        }
        const bool reads = threadIdx.x == 0 && x0 > 0 && x0 < w && y < h;
        got.left = reads ? __ldg(values + p - 1) : (T)0;
        return got;
    }

    template <typename WORD>
    QFZ_DEVICE qfz_row_bits<WORD> bits(const fetched<WORD> &got, bool open) const
    {
        enum { LANES = qfz_word<WORD>::LANES };
        const WORD all = qfz_ballot<WORD>(got.valid);
        bool same[LANES];
        QFZ_EACH (i, LANES) {
            const uint32_t own = got.value[i];
            uint32_t left = __shfl_up_sync(QFZ_ALL_LANES, own, 1);
            const uint32_t before =
                i == 0 ? got.left
                       : __shfl_sync(QFZ_ALL_LANES, (uint32_t)got.value[0], QFZ_WARP - 1);
            if (threadIdx.x == 0) left = before;
            same[i] = own == left;
        }
        return {all, (WORD)(all & (all << 1 | (WORD)open) & qfz_ballot<WORD>(same))};
    }

    /* The pixels of `pairs` whose value, dx columns further in their row, equals the one up_dx
     * columns further in the row above. */
    template <typename WORD>
    QFZ_DEVICE WORD same(WORD pairs, int64_t p, const fetched<WORD> &got, int dx, int up_dx) const
    {
        bool equal[qfz_word<WORD>::LANES];
        QFZ_EACH (i, qfz_word<WORD>::LANES) {
            const int x = (int)threadIdx.x + i * QFZ_WARP;
            equal[i] = pairs >> x & 1;
            if (!equal[i]) continue;
            const uint32_t own = dx == 0 ? got.value[i] : value(p + x + dx);
            equal[i] = own == value(p + x - w + up_dx);
        }
        return qfz_ballot<WORD>(equal);
    }

    template <bool EIGHT, typename WORD>
    QFZ_DEVICE qfz_meetings<WORD> meetings(int32_t y, int32_t x0, const fetched<WORD> &got,
                                           qfz_row_bits<WORD> row, qfz_row_bits<WORD> up,
                                           bool row_open, bool up_open) const
    {
        const int64_t p = (int64_t)y * w + x0;
        qfz_meetings<WORD> all = {same<WORD>(row.valid & up.valid, p, got, 0, 0), 0, 0};
        if (EIGHT) {
            const WORD either = row.joined | up.joined; /* qfz_first_meetings() uses no others */
            const WORD left = row.valid & (WORD)(up.valid << 1 | (WORD)up_open) & ~either;
            const WORD right = up.valid & (WORD)(row.valid << 1 | (WORD)row_open) & ~either;
            all.left = same<WORD>(left, p, got, 0, -1);
            all.right = same<WORD>(right, p, got, -1, 0);
        }
        return all;
    }
};

/* Selects one join for each pair of segments. Where pixel x and the pixel above are both joined to
 * their left, a join at x repeats the one at x - 1, since joined pixels are equal. A diagonal is
 * needed only where neither pixel is joined to its left: otherwise the joined pixel meets what the
 * diagonal leads to. */
template <typename WORD>
QFZ_DEVICE qfz_meetings<WORD> qfz_first_meetings(qfz_meetings<WORD> all, qfz_row_bits<WORD> row,
                                                 qfz_row_bits<WORD> up)
{
    const WORD either = row.joined | up.joined;
    return {(WORD)(all.up & ~(row.joined & up.joined)), (WORD)(all.left & ~either),
            (WORD)(all.right & ~either)};
}

/* Checks the image and calls label(source, EIGHT) with a source for its type; EIGHT is
 * std::true_type for eight neighbours. */
template <typename LABEL>
static qfz_status qfz_label_source(qfz_gpu *gpu, const qfz_gpu_image *in, int connectivity,
                                   const LABEL &label)
{
    QFZ_TRY(qfz_gpu_published_check(gpu, in, connectivity));
    const auto label_values = [&](const auto *values) {
        typedef std::decay_t<decltype(*values)> T;
        const qfz_values<T> source = {in->h, in->w, in->d_valid, values};
        return connectivity == 8 ? label(source, std::true_type())
                                 : label(source, std::false_type());
    };
    switch (qfz_type_bytes(in->type)) {
    case 1: return label_values(static_cast<const uint8_t *>(in->d_pixels));
    case 2: return label_values(static_cast<const uint16_t *>(in->d_pixels));
    default: return label_values(static_cast<const uint32_t *>(in->d_pixels));
    }
}
