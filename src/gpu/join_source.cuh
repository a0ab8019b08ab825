/* SPDX-License-Identifier: MIT */
/* join_source.cuh - which pixels join, as bits, read 16 pixels of a row at a time from a plane of
 * joins or from the values of one band.
 *
 * A source has read<EIGHT>(y, x, pieces): pieces[k] becomes what the pixels x .. x + 15 of row
 * y + k are joined to, k = 0 and 1; outside the image all bits are 0. */
#ifndef QFZ_GPU_JOIN_SOURCE_CUH
#define QFZ_GPU_JOIN_SOURCE_CUH

#include "gpu/image.cuh"
#include "gpu/level.cuh"

enum { QFZ_PIECE = 16 };

/* Bit i is of pixel x + i. */
struct qfz_piece {
    uint32_t valid, right, below, below_right, below_left;
};

/* ---- Bytes as bits --------------------------------------------------------------------------- */

/* Bits 0, 8, 16, 24 as bits 0 .. 3: the factor brings each to the top, and no two meet. */
static __device__ __forceinline__ uint32_t qfz_low_bits(uint32_t bytes)
{
    return ((bytes & 0x01010101u) * 0x10204080u) >> 28;
}

/* Bit b of each of 16 bytes. */
static __device__ __forceinline__ uint32_t qfz_bits_of(const uint32_t bytes[4], int b)
{
    return qfz_low_bits(bytes[0] >> b) | qfz_low_bits(bytes[1] >> b) << 4 |
           qfz_low_bits(bytes[2] >> b) << 8 | qfz_low_bits(bytes[3] >> b) << 12;
}

/* The highest bit of each byte that is not 0. */
static __device__ __forceinline__ uint32_t qfz_nonzero_bytes(uint32_t bytes)
{
    return (((bytes & 0x7f7f7f7fu) + 0x7f7f7f7fu) | bytes) & 0x80808080u;
}

/* N words from any address that is a multiple of PX_BYTES, of which the bytes around may be read as
 * far as words that have bytes of these go; aligned: a multiple of 16. */
template <int N, int PX_BYTES>
static __device__ __forceinline__ void qfz_load_words(const void *at, bool aligned,
                                                      uint32_t words[N])
{
    if (aligned) {
#pragma unroll
        for (int k = 0; k < N / 4; k++) {
            const uint4 four = __ldg(static_cast<const uint4 *>(at) + k);
            words[4 * k] = four.x;
            words[4 * k + 1] = four.y;
            words[4 * k + 2] = four.z;
            words[4 * k + 3] = four.w;
        }
        return;
    }
    const uint32_t beyond = PX_BYTES == 4 ? 0 : reinterpret_cast<uintptr_t>(at) % 4;
    const uint32_t *const from =
        reinterpret_cast<const uint32_t *>(static_cast<const char *>(at) - beyond);
    uint32_t word = __ldg(from);
#pragma unroll
    for (int k = 0; k < N; k++) {
        const uint32_t next = k + 1 < N || beyond ? __ldg(from + k + 1) : 0;
        words[k] = __funnelshift_r(word, next, 8 * beyond);
        word = next;
    }
}

/* May a piece be read as words, of a row that goes on for n pixels?  Of narrow pixels the word of
 * the last may have some that follow. */
template <typename T> static __device__ __forceinline__ bool qfz_is_whole(int32_t n, bool aligned)
{
    return n >= QFZ_PIECE + (aligned || sizeof(T) == 4 ? 0 : 3);
}

/* 16 bytes of which n are there; the others become 0. */
static __device__ __forceinline__ void qfz_load_bytes(const uint8_t *at, int32_t n, bool aligned,
                                                      uint32_t bytes[4])
{
    if (qfz_is_whole<uint8_t>(n, aligned)) {
        qfz_load_words<4, 1>(at, aligned, bytes);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        bytes[k] = 0;
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (4 * k + i < n) bytes[k] |= (uint32_t)__ldg(at + 4 * k + i) << 8 * i;
    }
}

/* ---- A plane of joins ------------------------------------------------------------------------ */

struct qfz_joins_source {
    int32_t h, w;
    bool aligned; /* rows begin at multiples of 16 bytes */
    const uint8_t *joins;

    template <bool EIGHT>
    __device__ __forceinline__ void read(int32_t y, int32_t x, qfz_piece pieces[2]) const
    {
        uint32_t bytes[2][4];
#pragma unroll
        for (int k = 0; k < 2; k++)
            qfz_load_bytes(joins + (int64_t)(y + k) * w + x, y + k < h ? w - x : 0, aligned,
                           bytes[k]);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            pieces[k].valid = qfz_bits_of(bytes[k], 7);
            pieces[k].right = qfz_bits_of(bytes[k], QFZ_RIGHT);
            pieces[k].below = qfz_bits_of(bytes[k], QFZ_BELOW);
            pieces[k].below_right = EIGHT ? qfz_bits_of(bytes[k], QFZ_BELOW_RIGHT) : 0;
            pieces[k].below_left = EIGHT ? qfz_bits_of(bytes[k], QFZ_BELOW_LEFT) : 0;
        }
    }
};

/* ---- The values of one band ------------------------------------------------------------------ */

/* Pixels x - 1 .. x + 16 of a row, and whether pairs of two rows join: bit i of near<DX>(a, b):
 * pixel x + i of a and pixel x + i + DX of b. */
template <typename T> struct qfz_window {
    T px[QFZ_PIECE + 2];

    __device__ __forceinline__ void load(const T *at, int32_t x, int32_t n, bool aligned)
    {
        px[0] = n > 0 && x > 0 ? __ldg(at - 1) : T(0);
        px[QFZ_PIECE + 1] = n > QFZ_PIECE ? __ldg(at + QFZ_PIECE) : T(0);
        if (qfz_is_whole<T>(n, aligned)) {
            union {
                uint32_t words[QFZ_PIECE * sizeof(T) / 4];
                T px[QFZ_PIECE];
            } all;
            qfz_load_words<(int)(QFZ_PIECE * sizeof(T) / 4), (int)sizeof(T)>(at, aligned,
                                                                             all.words);
#pragma unroll
            for (int i = 0; i < QFZ_PIECE; i++)
                px[1 + i] = all.px[i];
            return;
        }
#pragma unroll
        for (int i = 0; i < QFZ_PIECE; i++)
            px[1 + i] = i < n ? __ldg(at + i) : T(0);
    }

    template <int DX, typename NEAR>
    static __device__ __forceinline__ uint32_t near(const qfz_window &a, const qfz_window &b,
                                                    const NEAR &is_near)
    {
        uint32_t bits = 0;
#pragma unroll
        for (int i = 0; i < QFZ_PIECE; i++)
            bits |= (uint32_t)is_near(a.px[1 + i], b.px[1 + i + DX]) << i;
        return bits;
    }
};

/* The same for bytes, four at a time. */
template <> struct qfz_window<uint8_t> {
    uint32_t before, word[4], after;

    __device__ __forceinline__ void load(const uint8_t *at, int32_t x, int32_t n, bool aligned)
    {
        before = n > 0 && x > 0 ? (uint32_t)__ldg(at - 1) << 24 : 0;
        after = n > QFZ_PIECE ? __ldg(at + QFZ_PIECE) : 0;
        qfz_load_bytes(at, n, aligned, word);
    }

    template <int DX> __device__ __forceinline__ uint32_t shifted(int k) const
    {
        if (DX > 0) return __funnelshift_r(word[k], k == 3 ? after : word[(k + 1) & 3], 8);
        if (DX < 0) return __funnelshift_l(k == 0 ? before : word[(k + 3) & 3], word[k], 8);
        return word[k];
    }

    template <int DX, typename NEAR>
    static __device__ __forceinline__ uint32_t near(const qfz_window &a, const qfz_window &b,
                                                    const NEAR &is_near)
    {
        uint32_t bits = 0;
#pragma unroll
        for (int k = 0; k < 4; k++)
            bits |= qfz_low_bits(is_near.four(a.word[k], b.template shifted<DX>(k))) << 4 * k;
        return bits;
    }
};

/* |a - b| <= limit, a and b unsigned; for signed values bias turns them into unsigned ones of the
 * same order. */
template <typename T> struct qfz_near_integer {
    uint32_t limit, bias;

    __device__ __forceinline__ bool operator()(T a, T b) const
    {
        return qfz_difference((uint32_t)a ^ bias, (uint32_t)b ^ bias) <= limit;
    }

    /* The lowest bit of each byte says so of the four bytes of a and b.  A byte d is above a limit
     * l < 128 if it is above 127 or its low bits and 127 - l pass 127; above l >= 128, if both it
     * is above 127 and its low bits and 255 - l pass 127. */
    __device__ __forceinline__ uint32_t four(uint32_t a, uint32_t b) const
    {
        const uint32_t d = __vabsdiffu4(a ^ bias, b ^ bias);
        const uint32_t low = (d & 0x7f7f7f7fu) + 0x01010101u * ((limit ^ 0x7fu) & 0x7fu);
        const uint32_t above = limit < 128 ? low | d : low & d;
        return ~above >> 7;
    }
};

template <int DISTANCE> struct qfz_near_float {
    uint32_t limit; /* the key of alpha */

    __device__ __forceinline__ bool operator()(float a, float b) const
    {
        typedef qfz_level<float, DISTANCE> level;
        return level::end(level::fold(0, a, b)) <= limit;
    }
};

template <typename T, typename NEAR> struct qfz_band_source {
    int32_t h, w;
    bool aligned, valid_aligned; /* rows begin at multiples of 16 bytes */
    const T *pixels;
    const uint8_t *valid; /* NULL: all are */
    NEAR is_near;

    /* Bit 1 + i: pixel x + i of row y is there and valid; bits 0 and 17 of its neighbours. */
    __device__ __forceinline__ uint32_t read_valid(int32_t y, int32_t x) const
    {
        const int32_t n = y < h ? w - x : 0;
        if (n <= 0) return 0;
        const uint32_t there = (n > QFZ_PIECE ? (4u << QFZ_PIECE) - 1 : (2u << n) - 1) - (x == 0);
        if (!valid) return there;
        const uint8_t *const at = valid + (int64_t)y * w + x;
        uint32_t bytes[4];
        qfz_load_bytes(at, n, valid_aligned, bytes);
#pragma unroll
        for (int k = 0; k < 4; k++)
            bytes[k] = qfz_nonzero_bytes(bytes[k]);
        uint32_t bits = qfz_bits_of(bytes, 7) << 1;
        if (x > 0 && __ldg(at - 1)) bits |= 1;
        if (n > QFZ_PIECE && __ldg(at + QFZ_PIECE)) bits |= 2u << QFZ_PIECE;
        return bits & there;
    }

    template <bool EIGHT>
    __device__ __forceinline__ void read(int32_t y, int32_t x, qfz_piece pieces[2]) const
    {
        const uint32_t all = (1u << QFZ_PIECE) - 1;
        qfz_window<T> row[3];
        uint32_t there[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            row[k].load(pixels + (int64_t)(y + k) * w + x, x, y + k < h ? w - x : 0, aligned);
            there[k] = read_valid(y + k, x);
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const qfz_window<T> &a = row[k], &b = row[k + 1];
            const uint32_t from = there[k] >> 1 & all, to = there[k + 1];
            pieces[k].valid = from;
            pieces[k].right = from & there[k] >> 2 & a.template near<1>(a, a, is_near);
            pieces[k].below = from & to >> 1 & a.template near<0>(a, b, is_near);
            if (!EIGHT) continue;
            pieces[k].below_right = from & to >> 2 & a.template near<1>(a, b, is_near);
            pieces[k].below_left = from & to & a.template near<-1>(a, b, is_near);
        }
    }
};

#endif
