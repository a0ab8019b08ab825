/* SPDX-License-Identifier: MIT */
/* join_source.cuh - which pixels are joined, as bits: read for 16 pixels of a row at a time from a
 * plane of joins, or found from the values of one band.
 *
 * A source has read<EIGHT>(y, x, pieces): pieces[k] receives the joins of pixels x .. x + 15 of row
 * y + k, k = 0 and 1; bits outside the image are 0. */
#pragma once

#include "gpu/device/image.cuh"
#include "gpu/device/level.cuh"

enum { QFZ_PIECE = 16 };

/* Bit i: pixel x + i is valid, or joined to the pixel right, below or below right of it;
 * antidiagonal: pixel x + i + 1 is joined to the one below x + i. */
struct qfz_piece {
    uint32_t valid, right, below, below_right, antidiagonal;
};

/* ---- Bytes as bits --------------------------------------------------------------------------- */

/* Gathers the highest bits of 16 bytes, whose other bits must be 0: a byte then contributes 128
 * times the weight of its bit to the dot product. */
QFZ_DEVICE uint32_t qfz_top_bits(const uint32_t bytes[4])
{
    const uint32_t low = 0x08040201u, high = 0x80402010u;
    const uint32_t last = __dp4a(bytes[3], high, __dp4a(bytes[2], low, 0u));
    return __dp4a(bytes[1], high, __dp4a(bytes[0], low, last << 8)) >> 7;
}

/* Bit b of each of 16 bytes. */
QFZ_DEVICE uint32_t qfz_bits_of(const uint32_t bytes[4], int b)
{
    uint32_t top[4];
    QFZ_EACH (k, 4)
        top[k] = bytes[k] << (7 - b) & 0x80808080u;
    return qfz_top_bits(top);
}

/* The highest bit of each byte that is not 0. */
QFZ_DEVICE uint32_t qfz_nonzero_bytes(uint32_t bytes)
{
    return (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
}

/* ---- Sixteen pixels -------------------------------------------------------------------------- */

/* N words from an address that is a multiple of 16. */
template <int N> QFZ_DEVICE void qfz_load_fours(const void *at, uint32_t words[N])
{
    QFZ_EACH (k, N / 4) {
        const uint4 four = __ldg(static_cast<const uint4 *>(at) + k);
        words[4 * k] = four.x;
        words[4 * k + 1] = four.y;
        words[4 * k + 2] = four.z;
        words[4 * k + 3] = four.w;
    }
}

/* N words from any address that is a multiple of PX_BYTES. Reads only words that contain bytes of
 * these. */
template <int N, int PX_BYTES> QFZ_DEVICE void qfz_load_words(const void *at, uint32_t words[N])
{
    const uint32_t beyond = PX_BYTES == 4 ? 0 : reinterpret_cast<uintptr_t>(at) % 4;
    const uint32_t *const from =
        reinterpret_cast<const uint32_t *>(static_cast<const char *>(at) - beyond);
    uint32_t word = __ldg(from);
    QFZ_EACH (k, N) {
        const uint32_t next = k + 1 < N || beyond ? __ldg(from + k + 1) : 0;
        words[k] = __funnelshift_r(word, next, 8 * beyond);
        word = next;
    }
}

template <typename T> QFZ_DEVICE uint32_t qfz_px_bits(T px)
{
    return px;
}
QFZ_DEVICE uint32_t qfz_px_bits(float px)
{
    return __float_as_uint(px);
}

/* The pixels of a piece, packed into words; n: pixels from there to the end of the row, beyond
 * which they are 0. ALIGNED: the piece begins at a multiple of 16 bytes, and n >= QFZ_PIECE or n <=
 * 0. */
template <bool ALIGNED, typename T>
QFZ_DEVICE void qfz_load_piece(const T *at, int32_t n, uint32_t *words)
{
    enum { N = QFZ_PIECE * sizeof(T) / 4, EACH = 4 / sizeof(T) };
    /* the last word of narrow pixels may include some that follow */
    const int32_t whole = QFZ_PIECE + (EACH == 1 ? 0 : 3);
    QFZ_EACH (k, N)
        words[k] = 0;
    if (ALIGNED) {
        if (n > 0) qfz_load_fours<N>(at, words);
    } else if (n >= whole) {
        qfz_load_words<N, (int)sizeof(T)>(at, words);
    } else {
        QFZ_EACH (i, QFZ_PIECE)
            if (i < n) words[i / EACH] |= qfz_px_bits(__ldg(at + i)) << 8 * sizeof(T) * (i % EACH);
    }
}

/* ---- A plane of joins ------------------------------------------------------------------------ */

struct qfz_joins_source {
    int32_t h, w;
    bool aligned; /* rows begin at multiples of 16 bytes */
    const uint8_t *joins;

    template <bool ALIGNED>
    QFZ_DEVICE void load(int32_t y, int32_t x, uint32_t bytes[2][4], uint32_t after[2]) const
    {
        QFZ_EACH (k, 2) {
            const uint8_t *const at = joins + (int64_t)(y + k) * w + x;
            const int32_t n = y + k < h ? w - x : 0;
            qfz_load_piece<ALIGNED>(at, n, bytes[k]);
            after[k] = n > QFZ_PIECE ? __ldg(at + QFZ_PIECE) : 0;
        }
    }

    template <bool EIGHT> QFZ_DEVICE void read(int32_t y, int32_t x, qfz_piece pieces[2]) const
    {
        uint32_t bytes[2][4], after[2];
        if (aligned)
            load<true>(y, x, bytes, after);
        else
            load<false>(y, x, bytes, after);
        QFZ_EACH (k, 2) {
            pieces[k].valid = qfz_bits_of(bytes[k], 7);
            pieces[k].right = qfz_bits_of(bytes[k], QFZ_RIGHT);
            pieces[k].below = qfz_bits_of(bytes[k], QFZ_BELOW);
            pieces[k].below_right = EIGHT ? qfz_bits_of(bytes[k], QFZ_BELOW_RIGHT) : 0;
            pieces[k].antidiagonal = 0;
            if (EIGHT)
                pieces[k].antidiagonal = qfz_bits_of(bytes[k], QFZ_BELOW_LEFT) >> 1 |
                                         (after[k] >> QFZ_BELOW_LEFT & 1) << (QFZ_PIECE - 1);
        }
    }
};

/* ---- The values of one band ------------------------------------------------------------------ */

/* Pixels x .. x + 16 of a row, with n pixels left from x on, 0 beyond. Bit i of near<A, B>(a, b):
 * pixel x + i + A of row a and pixel x + i + B of row b are joined. */
template <typename T> struct qfz_join_window {
    T px[QFZ_PIECE + 1];

    template <bool ALIGNED> QFZ_DEVICE void load(const T *at, int32_t n)
    {
        union {
            uint32_t words[QFZ_PIECE * sizeof(T) / 4];
            T px[QFZ_PIECE];
        } all;
        px[QFZ_PIECE] = n > QFZ_PIECE ? __ldg(at + QFZ_PIECE) : T(0);
        qfz_load_piece<ALIGNED>(at, n, all.words);
        QFZ_EACH (i, QFZ_PIECE)
            px[i] = all.px[i];
    }

    template <int A, int B, typename NEAR>
    static QFZ_DEVICE uint32_t near(const qfz_join_window &a, const qfz_join_window &b,
                                    const NEAR &is_near)
    {
        uint32_t bits = 0;
        QFZ_EACH (i, QFZ_PIECE)
            bits |= (uint32_t)is_near(a.px[i + A], b.px[i + B]) << i;
        return bits;
    }
};

/* The same for bytes, four at a time. */
template <> struct qfz_join_window<uint8_t> {
    uint32_t word[4], after;

    template <bool ALIGNED> QFZ_DEVICE void load(const uint8_t *at, int32_t n)
    {
        after = n > QFZ_PIECE ? __ldg(at + QFZ_PIECE) : 0;
        qfz_load_piece<ALIGNED>(at, n, word);
    }

    template <int DX> QFZ_DEVICE uint32_t shifted(int k) const
    {
        return DX ? __funnelshift_r(word[k], k == 3 ? after : word[(k + 1) & 3], 8) : word[k];
    }

    template <int A, int B, typename NEAR>
    static QFZ_DEVICE uint32_t near(const qfz_join_window &a, const qfz_join_window &b,
                                    const NEAR &is_near)
    {
        uint32_t near[4];
        QFZ_EACH (k, 4)
            near[k] = is_near.four(a.template shifted<A>(k), b.template shifted<B>(k));
        return qfz_top_bits(near);
    }

    /* Bit i: pixel x + i is not 0. */
    QFZ_DEVICE uint32_t nonzero() const
    {
        uint32_t bytes[4];
        QFZ_EACH (k, 4)
            bytes[k] = qfz_nonzero_bytes(word[k]);
        return qfz_top_bits(bytes) | (after ? 1u << QFZ_PIECE : 0);
    }
};

/* |a - b| <= limit, a and b unsigned; xor with bias makes signed values unsigned, in order. */
template <typename T> struct qfz_near_integer {
    uint32_t limit, bias;

    QFZ_DEVICE bool operator()(T a, T b) const
    {
        return qfz_difference((uint32_t)a ^ bias, (uint32_t)b ^ bias) <= limit;
    }

    /* The same for four bytes at once: the highest bit of each byte of the result. A byte d exceeds
     * a limit l < 128 if d > 127 or (d & 127) + (127 - l) > 127. It exceeds l >= 128 if d > 127 and
     * (d & 127) + (255 - l) > 127. Both are the majority of the two conditions and of l < 128. */
    QFZ_DEVICE uint32_t four(uint32_t a, uint32_t b) const
    {
        const uint32_t d = __vabsdiffu4(a ^ bias, b ^ bias), narrow = limit < 128 ? ~0u : 0;
        const uint32_t low = (d & 0x7f7f7f7fu) + 0x01010101u * ((limit ^ 0x7fu) & 0x7fu);
        const uint32_t above = (low & d) | (narrow & (low | d));
        return ~above & 0x80808080u;
    }
};

/* a == b, compared as bits. */
template <typename T> struct qfz_near_same {
    QFZ_DEVICE bool operator()(T a, T b) const
    {
        return a == b;
    }

    QFZ_DEVICE uint32_t four(uint32_t a, uint32_t b) const
    {
        return ~qfz_nonzero_bytes(a ^ b) & 0x80808080u;
    }
};

/* One band of floats, of which l1, l2 and linf are the same. */
struct qfz_near_float {
    uint32_t limit; /* the level of alpha */

    QFZ_DEVICE bool operator()(float a, float b) const
    {
        typedef qfz_level<float, QFZ_L1, false> level;
        return level::end(level::fold(0, a, b, 1)) <= limit;
    }
};

template <typename T, typename NEAR> struct qfz_band_source {
    int32_t h, w;
    bool aligned; /* rows of pixels and of valid begin at multiples of 16 bytes */
    const T *pixels;
    const uint8_t *valid; /* NULL: all are */
    NEAR is_near;

    /* The loads of three rows, all issued before the first is used. */
    struct rows {
        qfz_join_window<T> px[3];
        qfz_join_window<uint8_t> mask[3];
    };

    template <bool ALIGNED> QFZ_DEVICE void load(int32_t y, int32_t x, rows *from) const
    {
        QFZ_EACH (k, 3) {
            const int64_t p = (int64_t)(y + k) * w + x;
            const int32_t n = y + k < h ? w - x : 0;
            from->px[k].template load<ALIGNED>(pixels + p, n);
            if (valid) from->mask[k].template load<ALIGNED>(valid + p, n);
        }
    }

    /* Bit i: pixel x + i of a row is inside the image; n: pixels from x to the end of the row; bit
     * 16: the one after the piece. */
    static QFZ_DEVICE uint32_t inside(int32_t n)
    {
        return n > QFZ_PIECE ? (2u << QFZ_PIECE) - 1 : n > 0 ? (1u << n) - 1 : 0;
    }

    template <bool EIGHT> QFZ_DEVICE void read(int32_t y, int32_t x, qfz_piece pieces[2]) const
    {
        const uint32_t all = (1u << QFZ_PIECE) - 1;
        rows from;
        uint32_t there[3];
        if (aligned)
            load<true>(y, x, &from);
        else
            load<false>(y, x, &from);
        QFZ_EACH (k, 3)
            there[k] = valid ? from.mask[k].nonzero() : inside(y + k < h ? w - x : 0);
        QFZ_EACH (k, 2) {
            const qfz_join_window<T> &a = from.px[k], &b = from.px[k + 1];
            const uint32_t own = there[k] & all, next = there[k] >> 1, to = there[k + 1];
            pieces[k].valid = own;
            pieces[k].right = own & next & a.template near<0, 1>(a, a, is_near);
            pieces[k].below = own & to & a.template near<0, 0>(a, b, is_near);
            if (!EIGHT) continue;
            pieces[k].below_right = own & to >> 1 & a.template near<0, 1>(a, b, is_near);
            pieces[k].antidiagonal = next & to & a.template near<1, 0>(a, b, is_near);
        }
    }
};
