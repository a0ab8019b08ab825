/* SPDX-License-Identifier: MIT */
/* boruvka_source.cuh - sources: the levels of a block's edges, from pixel values or from planes of
 * levels.
 *
 * Coordinates are relative to the block.  An edge that does not exist has a level above MOST.
 *
 * The kernel first calls begin(room) in all threads of the block, with ROOM words of shared memory
 * aligned to 16 bytes, and synchronises the block.  Then around<EIGHT>() returns the levels of all
 * edges of a pixel of the block; square<EIGHT>() those of a square whose upper left pixel is in the
 * block, in the row above it or in the column before it. */
#ifndef QFZ_GPU_BORUVKA_SOURCE_CUH
#define QFZ_GPU_BORUVKA_SOURCE_CUH

#include "gpu/forest/boruvka_layout.cuh"
#include "gpu/device/level.cuh"

/* The edges of a square of 2 x 2 pixels, in the order of their ids. */
enum {
    QFZ_TOP = 0,
    QFZ_LEFT,
    QFZ_DIAGONAL,
    QFZ_SIDE_RIGHT,
    QFZ_ANTIDIAGONAL,
    QFZ_BOTTOM,
    QFZ_SQUARE
};

/* ---- One band of 8 or 16 bits, or of floats -------------------------------------------------- */

/* Values as words.  An invalid pixel has a word whose difference from the word of any neighbour,
 * valid or not, is above MOST; for floats, NaN. */
template <typename T> struct qfz_value {
    typedef uint32_t KEY;
    static const uint32_t MOST = 0xffff;

    static __device__ __forceinline__ uint32_t word(T px, uint32_t bias)
    {
        return (uint32_t)px ^ bias;
    }
    static __device__ __forceinline__ uint32_t nothing(int32_t y, int32_t x)
    {
        return 0x40000u * (1u + (uint32_t)(x & 1) + 2u * (uint32_t)(y & 1));
    }
    static __device__ __forceinline__ uint32_t between(uint32_t a, uint32_t b)
    {
        return (uint32_t)abs((int32_t)(a - b));
    }
};

template <> struct qfz_value<float> {
    typedef unsigned long long KEY;
    static const uint32_t MOST = 0x7f800000; /* infinity */

    static __device__ __forceinline__ uint32_t word(float px, uint32_t)
    {
        return __float_as_uint(px);
    }
    static __device__ __forceinline__ uint32_t nothing(int32_t, int32_t)
    {
        return 0x7fc00000;
    }
    static __device__ __forceinline__ uint32_t between(uint32_t a, uint32_t b)
    {
        return qfz_level_of_words<float>(a, b);
    }
};

/* Values of a band; the block's values, and those one pixel around it, are in shared memory. */
template <typename T> struct qfz_values_source {
    typedef qfz_value<T> VALUE;
    typedef typename VALUE::KEY KEY;
    enum {
        BEFORE = 4, /* words before the first of a row, so that stores of 16 bytes are aligned */
        PITCH = BEFORE + QFZ_SIDE, /* the pixel after a row is one of the next row's words before */
        ROWS_READ = QFZ_SIDE + 2,
        ROOM = PITCH * ROWS_READ + 1,
        AT_ONCE = 16 / sizeof(T),
        PARTS = QFZ_SIDE / AT_ONCE
    };
    static const uint32_t MOST = VALUE::MOST;

    const T *pixels;
    const uint8_t *valid;
    uint32_t bias;
    int32_t h, w, y0, x0; /* size of the image; place of the block */
    bool aligned;         /* rows begin at multiples of 16 bytes */
    uint32_t *value;

    __device__ __forceinline__ uint32_t read(int32_t y, int32_t x) const
    {
        const bool there = y >= 0 && y < h && x >= 0 && x < w;
        const int64_t p = (int64_t)y * w + x;
        if (there && (!valid || valid[p])) return VALUE::word(__ldg(pixels + p), bias);
        return VALUE::nothing(y, x);
    }

    /* Reads AT_ONCE pixels of row y of the block, from x on. */
    __device__ __forceinline__ void read_many(int y, int x) const
    {
        union {
            uint4 words;
            T px[AT_ONCE];
        } some;
        const int32_t ty = y0 + y, tx = x0 + x;
        const bool there = ty >= 0 && ty < h;
        const int64_t p = (int64_t)ty * w + tx;
        some.words = make_uint4(0, 0, 0, 0);
        if (there) some.words = __ldg(reinterpret_cast<const uint4 *>(pixels + p));
        uint32_t v[AT_ONCE];
#pragma unroll
        for (int i = 0; i < (int)AT_ONCE; i++) {
            v[i] = there ? VALUE::word(some.px[i], bias) : VALUE::nothing(ty, tx + i);
            if (valid && there && !valid[p + i]) v[i] = VALUE::nothing(ty, tx + i);
        }
        uint4 *const out = reinterpret_cast<uint4 *>(&value[(y + 1) * PITCH + BEFORE + x]);
#pragma unroll
        for (int i = 0; i < (int)AT_ONCE; i += 4)
            out[i / 4] = make_uint4(v[i], v[i + 1], v[i + 2], v[i + 3]);
    }

    __device__ __forceinline__ void begin(void *room)
    {
        value = static_cast<uint32_t *>(room);
        const int thread = (int)threadIdx.x, threads = (int)blockDim.x;
        if (!aligned || x0 + QFZ_SIDE > w) {
            for (int y = thread / QFZ_WARP; y < ROWS_READ; y += threads / QFZ_WARP)
                for (int x = thread % QFZ_WARP - 1; x < QFZ_SIDE + 1; x += QFZ_WARP)
                    value[y * PITCH + BEFORE + x] = read(y0 + y - 1, x0 + x);
            return;
        }
        for (int i = thread; i < ROWS_READ * PARTS; i += threads)
            read_many(i / PARTS - 1, i % PARTS * (int)AT_ONCE);
        for (int i = thread; i < 2 * ROWS_READ; i += threads) {
            const int y = i / 2 - 1, x = i % 2 ? (int)QFZ_SIDE : -1;
            value[(y + 1) * PITCH + BEFORE + x] = read(y0 + y, x0 + x);
        }
    }

    __device__ __forceinline__ uint32_t at(int y, int x) const
    {
        return value[(y + 1) * PITCH + BEFORE + x];
    }

    /* The level of the edge that starts at pixel a.  Callers pass the start first, so that each
     * edge has one expression, which the compiler evaluates once. */
    static __device__ __forceinline__ uint32_t between(uint32_t a, uint32_t b)
    {
        return VALUE::between(a, b);
    }

    template <bool EIGHT>
    __device__ __forceinline__ void around(int y, int x, uint32_t level[QFZ_AROUND]) const
    {
        const uint32_t own = at(y, x);
#pragma unroll
        for (int k = 0; k < QFZ_AROUND; k++) {
            if (!qfz_around_has(EIGHT, k)) continue;
            const uint32_t other = at(y + qfz_around_dy(k), x + qfz_around_dx(k));
            level[k] = k < QFZ_R ? between(other, own) : between(own, other);
        }
    }

    template <bool EIGHT>
    __device__ __forceinline__ void square(int y, int x, uint32_t level[QFZ_SQUARE]) const
    {
        const uint32_t a = at(y, x), b = at(y, x + 1), c = at(y + 1, x), d = at(y + 1, x + 1);
        level[QFZ_TOP] = between(a, b);
        level[QFZ_LEFT] = between(a, c);
        level[QFZ_SIDE_RIGHT] = between(b, d);
        level[QFZ_BOTTOM] = between(c, d);
        level[QFZ_DIAGONAL] = EIGHT ? between(a, d) : 0;
        level[QFZ_ANTIDIAGONAL] = EIGHT ? between(b, c) : 0;
    }
};

/* ---- Planes of levels ------------------------------------------------------------------------ */

struct qfz_levels_source {
    typedef unsigned long long KEY;
    enum { ROOM = 1 };
    static const uint32_t MOST = QFZ_NONE - 1;

    const uint32_t *levels;
    int64_t n_px;
    int32_t h, w, y0, x0;

    __device__ __forceinline__ void begin(void *)
    {
    }

    /* The level of the edge that starts at (y, x). */
    __device__ __forceinline__ uint32_t at(int dir, int y, int x) const
    {
        y += y0;
        x += x0;
        if (y < 0 || y >= h || x < 0 || x >= w) return QFZ_NONE;
        return __ldg(levels + dir * n_px + (int64_t)y * w + x);
    }

    template <bool EIGHT>
    __device__ __forceinline__ void around(int y, int x, uint32_t level[QFZ_AROUND]) const
    {
        level[QFZ_U] = at(QFZ_BELOW, y - 1, x);
        level[QFZ_L] = at(QFZ_RIGHT, y, x - 1);
        level[QFZ_R] = at(QFZ_RIGHT, y, x);
        level[QFZ_D] = at(QFZ_BELOW, y, x);
        if (!EIGHT) return;
        level[QFZ_UL] = at(QFZ_BELOW_RIGHT, y - 1, x - 1);
        level[QFZ_UR] = at(QFZ_BELOW_LEFT, y - 1, x + 1);
        level[QFZ_DR] = at(QFZ_BELOW_RIGHT, y, x);
        level[QFZ_DL] = at(QFZ_BELOW_LEFT, y, x);
    }

    template <bool EIGHT>
    __device__ __forceinline__ void square(int y, int x, uint32_t level[QFZ_SQUARE]) const
    {
        level[QFZ_TOP] = at(QFZ_RIGHT, y, x);
        level[QFZ_LEFT] = at(QFZ_BELOW, y, x);
        level[QFZ_SIDE_RIGHT] = at(QFZ_BELOW, y, x + 1);
        level[QFZ_BOTTOM] = at(QFZ_RIGHT, y + 1, x);
        level[QFZ_DIAGONAL] = EIGHT ? at(QFZ_BELOW_RIGHT, y, x) : 0;
        level[QFZ_ANTIDIAGONAL] = EIGHT ? at(QFZ_BELOW_LEFT, y, x + 1) : 0;
    }
};

/* ---- Thinning -------------------------------------------------------------------------------- */

/* The order of the edges of a square: by level, then by id.  An edge that is the heaviest of a
 * cycle in its square does not change any minimax level, so later rounds omit it.  At most 1.5
 * edges a pixel remain (2.5 with 8-connectivity), usually 1.1 (1.5). */
struct qfz_square_order {
    const uint32_t *level;

    template <int E, int A> __device__ __forceinline__ bool over() const
    {
        return E > A ? level[E] >= level[A] : level[E] > level[A];
    }

    /* Bit E: edge E is the heaviest of a cycle.  Edges A and B connect the ends of E by the third
     * corner of the square, edges C and D by the fourth corner; edge M connects these corners. */
    template <int E, int A, int B, int C, int D, int M>
    __device__ __forceinline__ unsigned heaviest() const
    {
        const bool a = over<E, A>(), b = over<E, B>(), c = over<E, C>(), d = over<E, D>(),
                   m = over<E, M>();
        return (unsigned)((a & b) | (c & d) | (m & ((a & d) | (c & b)))) << E;
    }
};

/* Bit e: edge e of the square is the heaviest of a cycle in the square. */
template <bool EIGHT>
static __device__ __forceinline__ unsigned qfz_square_drops(const uint32_t level[QFZ_SQUARE])
{
    enum {
        T = QFZ_TOP,
        L = QFZ_LEFT,
        X = QFZ_DIAGONAL,
        R = QFZ_SIDE_RIGHT,
        A = QFZ_ANTIDIAGONAL,
        B = QFZ_BOTTOM
    };
    if (!EIGHT) {
        const uint32_t two = max(level[T], level[L]), three = max(two, level[R]);
        const unsigned of_two = level[L] >= level[T] ? 1u << L : 1u << T;
        const unsigned of_three = level[R] >= two ? 1u << R : of_two;
        return level[B] >= three ? 1u << B : of_three;
    }
    const qfz_square_order order = {level};
    return order.heaviest<T, L, A, X, R, B>() | order.heaviest<L, T, A, X, B, R>() |
           order.heaviest<X, T, R, L, B, A>() | order.heaviest<R, T, X, A, B, L>() |
           order.heaviest<A, T, L, R, B, X>() | order.heaviest<B, L, X, A, R, T>();
}

#endif
