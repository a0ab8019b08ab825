/* SPDX-License-Identifier: MIT */
/* rows_planes.cuh - levels of 16 bits of a block's edges, in shared memory while those that were
 * left open are answered.  Almost every 32 bytes of the planes have some of these, mostly several:
 * so whole rows come and go once, and what is scattered stays in the block. */
#ifndef QFZ_GPU_ROWS_PLANES_CUH
#define QFZ_GPU_ROWS_PLANES_CUH

#include "gpu/boruvka_parts.cuh"
#include "rule.h"

template <int N_PLANES> struct rows_planes {
    __align__(16) uint16_t level[N_PLANES][QFZ_BLOCK_PX];
};

/* Where they belong: of the block's first pixel, in rows of `pitch`; n_px: to the next plane. */
struct planes_place {
    uint16_t *first;
    int64_t n_px;
    int32_t pitch, h, w;
};

static __device__ __forceinline__ planes_place planes_at(const qfz_gpu_forest &f,
                                                         const qfz_block_box &box,
                                                         uint16_t *saliency)
{
    return {saliency + (int64_t)box.y * f.w + box.x, (int64_t)f.h * f.w, f.w, box.h, box.w};
}

/* All pieces of all planes, a thread EACH of a plane at a time: use(k, plane, i, at, x), for the
 * i-th piece of a plane, which is `at` pixels from its first and starts in column x. */
template <typename PIECE, int THREADS> struct planes_pieces {
    enum {
        PX = sizeof(PIECE) / sizeof(uint16_t),
        IN_ROW = QFZ_SIDE / PX,
        ALL = QFZ_BLOCK_PX / PX,
        EACH = 2
    };
    const planes_place &place;

    __device__ __forceinline__ bool has(int i) const
    {
        return i / IN_ROW < place.h && i % IN_ROW * PX < place.w;
    }
    __device__ __forceinline__ PIECE *at(int plane, int i) const
    {
        const int64_t y = i / IN_ROW, x = i % IN_ROW * PX;
        return reinterpret_cast<PIECE *>(place.first + plane * place.n_px + y * place.pitch + x);
    }

    template <int N> __device__ __forceinline__ void load(rows_planes<N> &planes) const
    {
#pragma unroll 1
        for (int first = (int)threadIdx.x; first < ALL; first += EACH * THREADS) {
            PIECE piece[N][EACH];
#pragma unroll
            for (int n = 0; n < N * EACH; n++) { /* loads stand together, so that they overlap */
                const int i = first + n % EACH * THREADS;
                if (has(i)) piece[n / EACH][n % EACH] = __ldcg(at(n / EACH, i));
            }
#pragma unroll
            for (int n = 0; n < N * EACH; n++) {
                const int i = first + n % EACH * THREADS;
                if (has(i))
                    reinterpret_cast<PIECE *>(planes.level[n / EACH])[i] =
                        piece[n / EACH][n % EACH];
            }
        }
    }

    template <int N> __device__ __forceinline__ void store(const rows_planes<N> &planes) const
    {
#pragma unroll 1
        for (int i = (int)threadIdx.x; i < ALL; i += THREADS) {
            if (!has(i)) continue;
#pragma unroll
            for (int plane = 0; plane < N; plane++) {
                if (plane == QFZ_BELOW_LEFT && i % IN_ROW == 0) {
#pragma unroll
                    for (int x = 1; x < PX; x++)
                        reinterpret_cast<uint16_t *>(at(plane, i))[x] =
                            planes.level[plane][i * PX + x];
                    continue;
                }
                *at(plane, i) = reinterpret_cast<const PIECE *>(planes.level[plane])[i];
            }
        }
    }
};

/* Can they be moved by pieces of 16 bytes? */
static __device__ __forceinline__ bool planes_are_even(const planes_place &place)
{
    return reinterpret_cast<uintptr_t>(place.first) % sizeof(uint4) == 0 && place.pitch % 8 == 0;
}

template <int THREADS, int N>
static __device__ __forceinline__ void load_planes(const planes_place &place,
                                                   rows_planes<N> &planes)
{
    if (planes_are_even(place))
        planes_pieces<uint4, THREADS>{place}.load(planes);
    else
        planes_pieces<uint16_t, THREADS>{place}.load(planes);
}

/* But for the first column of edges down to the left, for which the block beside answers. */
template <int THREADS, int N>
static __device__ __forceinline__ void store_planes(const planes_place &place,
                                                    const rows_planes<N> &planes)
{
    if (planes_are_even(place))
        planes_pieces<uint4, THREADS>{place}.store(planes);
    else
        planes_pieces<uint16_t, THREADS>{place}.store(planes);
}

#endif
