/* SPDX-License-Identifier: MIT */
/* ha4.cu - HA4: labels by strips, one warp a row, segments found from the bits of ballots.
 *
 * Hennequin, Lacassagne, Cabaret, Meunier, A new direct connected component labeling and analysis
 * algorithms for GPUs (DASIP 2018), algorithms 2 to 5 and 7.  Only starts of segments, and the
 * first pixels of chunks inside one, have a parent; it is a pixel of the same region with a lower
 * index.  Joining by minimum (union_find.cuh) makes each region's first pixel its root.
 *
 * Bytes a pixel: the input twice and a half, one parent a segment written, one read, 4 written. */
#include "gpu/published.cuh"

#include "gpu/launch.cuh"
#include "gpu/segments.cuh"
#include "gpu/union_find.cuh"

enum { STRIP = 4, BORDER_WARPS = 4, RELABEL_WARPS = 4, RELABEL_CHUNKS = 4 };

/* The start of pixel x's segment, as an index of the image.  base: index of the chunk's first
 * pixel; before: pixels from the start of the segment that was open there to that pixel. */
template <typename WORD>
static __device__ __forceinline__ uint32_t segment_of(WORD starts, int x, uint32_t base,
                                                      uint32_t before)
{
    const int distance = x < 0 ? 0 : qfz_start_distance(starts, x);
    return x < 0 || distance > x ? base - before : base + (uint32_t)(x - distance);
}

/* A chunk of a row, as its segments are named. */
template <typename WORD> struct chunk {
    qfz_row_bits<WORD> bits;
    WORD starts;
    uint32_t base;
    uint32_t before; /* 0: the pixel before the chunk is invalid */

    __device__ __forceinline__ uint32_t segment(int x) const
    {
        return segment_of(starts, x, base, before);
    }

    /* `before` of the chunk that follows. */
    __device__ __forceinline__ uint32_t open() const
    {
        enum { BITS = qfz_word<WORD>::BITS };
        if (!(bits.valid >> (BITS - 1))) return 0;
        const int distance = qfz_start_distance(starts, BITS - 1);
        return distance < BITS ? (uint32_t)distance + 1 : BITS + before;
    }
};

/* Joins what meets between a chunk and the one above it; every lane looks at one or two pixels. */
template <bool EIGHT, typename WORD, typename SOURCE>
static __device__ __forceinline__ void join_rows(const SOURCE &source, uint32_t *parent, int32_t y,
                                                 int32_t x0, const chunk<WORD> &row,
                                                 const chunk<WORD> &up)
{
    enum { LANES = qfz_word<WORD>::LANES };
    const qfz_meetings<WORD> first = qfz_first_meetings(
        source.template meetings<EIGHT>(y, x0, row.bits, up.bits, row.before > 0, up.before > 0),
        row.bits, up.bits);
    const int x = (int)threadIdx.x * LANES;
    const unsigned own = (1u << LANES) - 1;
    unsigned todo = (unsigned)(first.up >> x) & own;
    if (EIGHT) {
        todo |= ((unsigned)(first.left >> x) & own) << LANES;
        todo |= ((unsigned)(first.right >> x) & own) << 2 * LANES;
    }
    while (todo) {
        const int which = __ffs((int)todo) - 1, at = x + which % LANES;
        const bool left = which / LANES == 1, right = which / LANES == 2;
        todo &= todo - 1;
        qfz_unite<qfz_in_cache>(parent, row.segment(right ? at - 1 : at),
                                up.segment(left ? at - 1 : at));
    }
}

/* Algorithm 3.  A block walks along its strip; what is open at the end of a chunk is carried. */
template <typename WORD, bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_WARP *STRIP)
    k_label_strips(SOURCE source, uint32_t *parent)
{
    enum { BITS = qfz_word<WORD>::BITS, LANES = qfz_word<WORD>::LANES };
    __shared__ qfz_row_bits<WORD> shared[2][STRIP];
    const int ty = (int)threadIdx.y;
    const int32_t y = (int32_t)blockIdx.x * STRIP + ty;
    uint32_t before = 0, up_before = 0;
    auto next = source.template fetch<WORD>(y, 0);
    for (int32_t x0 = 0, turn = 0; x0 < source.w; x0 += BITS, turn ^= 1) {
        chunk<WORD> row, up;
        row.bits = source.template bits<WORD>(next, before > 0);
        row.starts = row.bits.valid & ~row.bits.joined;
        row.base = (uint32_t)y * (uint32_t)source.w + (uint32_t)x0;
        row.before = before;
#pragma unroll
        for (int i = 0; i < LANES; i++) {
            const int x = (int)threadIdx.x * LANES + i;
            if (row.starts >> x & 1) parent[row.base + (uint32_t)x] = row.base + (uint32_t)x;
        }
        if (threadIdx.x == 0 && (row.bits.joined & 1)) parent[row.base] = row.base - before;
        /* Those of this turn are written again after the next turn's barrier only. */
        if (threadIdx.x == 0) shared[turn][ty] = row.bits;
        __syncthreads();
        up.bits = ty > 0 ? shared[turn][ty - 1] : qfz_row_bits<WORD>{0, 0};
        up.starts = up.bits.valid & ~up.bits.joined;
        up.base = row.base - (uint32_t)source.w;
        up.before = up_before;
        next = source.template fetch<WORD>(y, x0 + BITS);
        join_rows<EIGHT>(source, parent, y, x0, row, up);
        before = row.open();
        up_before = up.open();
    }
}

/* A chunk by itself: its first pixel counts as a start, since it has a parent. */
template <typename WORD, typename SOURCE>
static __device__ __forceinline__ chunk<WORD> lone_chunk(const SOURCE &source, int32_t y,
                                                         int32_t x0)
{
    chunk<WORD> row;
    row.bits =
        source.template bits<WORD>(source.template fetch<WORD>(y, x0), source.is_open(y, x0));
    row.starts = row.bits.valid & (WORD)(~row.bits.joined | 1);
    row.base = (uint32_t)y * (uint32_t)source.w + (uint32_t)x0;
    row.before = 0;
    return row;
}

/* Algorithm 4: one warp a chunk of the first row of a strip, but the first strip. */
template <typename WORD, bool EIGHT, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_WARP *BORDER_WARPS)
    k_join_strips(SOURCE source, int32_t n_chunks, int64_t n_warps, uint32_t *parent)
{
    enum { BITS = qfz_word<WORD>::BITS };
    const int64_t at = (int64_t)blockIdx.x * BORDER_WARPS + threadIdx.y;
    if (at >= n_warps) return;
    const int32_t y = (int32_t)(at / n_chunks + 1) * STRIP;
    const int32_t x0 = (int32_t)(at % n_chunks) * BITS;
    chunk<WORD> row = lone_chunk<WORD>(source, y, x0);
    chunk<WORD> up = lone_chunk<WORD>(source, y - 1, x0);
    if (EIGHT && x0 > 0) {
        row.before = lone_chunk<WORD>(source, y, x0 - BITS).open();
        up.before = lone_chunk<WORD>(source, y - 1, x0 - BITS).open();
    }
    join_rows<EIGHT>(source, parent, y, x0, row, up);
}

/* Algorithm 5.  Chunks are taken some at a time, so that several walks to a root overlap.  A walk
 * goes over starts only; another warp may meanwhile have put a root there, which ends it sooner. */
template <typename WORD, typename SOURCE>
static __global__ void __launch_bounds__(QFZ_WARP *RELABEL_WARPS)
    k_relabel(SOURCE source, int32_t n_pieces, int64_t n_warps, uint32_t *root)
{
    enum { BITS = qfz_word<WORD>::BITS, LANES = qfz_word<WORD>::LANES };
    const int64_t at = (int64_t)blockIdx.x * RELABEL_WARPS + threadIdx.y;
    if (at >= n_warps) return;
    const int lane = (int)threadIdx.x;
    const int32_t y = (int32_t)(at / n_pieces);
    const int32_t piece_x0 = (int32_t)(at % n_pieces) * (RELABEL_CHUNKS * BITS);
    chunk<WORD> row[RELABEL_CHUNKS];
    uint32_t found[RELABEL_CHUNKS][LANES];
#pragma unroll
    for (int c = 0; c < RELABEL_CHUNKS; c++)
        row[c] = lone_chunk<WORD>(source, y, piece_x0 + c * BITS);
#pragma unroll
    for (int c = 0; c < RELABEL_CHUNKS; c++)
#pragma unroll
        for (int i = 0; i < LANES; i++) {
            const int x = lane + i * QFZ_WARP;
            found[c][i] = row[c].starts >> x & 1 ? row[c].base + (uint32_t)x : QFZ_NONE;
        }
    for (bool more = true; more;) {
        more = false;
#pragma unroll
        for (int c = 0; c < RELABEL_CHUNKS; c++)
#pragma unroll
            for (int i = 0; i < LANES; i++) {
                if (found[c][i] == QFZ_NONE) continue;
                const uint32_t up = root[found[c][i]];
                more |= up != found[c][i];
                found[c][i] = up;
            }
    }
#pragma unroll
    for (int c = 0; c < RELABEL_CHUNKS; c++)
#pragma unroll
        for (int i = 0; i < LANES; i++) {
            const int x = lane + i * QFZ_WARP;
            const int start = x - min(x, qfz_start_distance(row[c].starts, x));
            uint32_t label = __shfl_sync(QFZ_ALL_LANES, found[c][0], start % QFZ_WARP);
            if (i > 0) {
                const uint32_t high = __shfl_sync(QFZ_ALL_LANES, found[c][i], start % QFZ_WARP);
                if (start >= QFZ_WARP) label = high;
            }
            if (!(row[c].bits.valid >> x & 1)) label = QFZ_NONE;
            if (piece_x0 + c * BITS + x < source.w) root[row[c].base + (uint32_t)x] = label;
        }
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename WORD, bool EIGHT, typename SOURCE>
static qfz_status launch(qfz_gpu *gpu, const SOURCE &source, uint32_t *d_root)
{
    enum { BITS = qfz_word<WORD>::BITS, PIECE = RELABEL_CHUNKS * BITS };
    const int32_t n_chunks = (source.w + BITS - 1) / BITS,
                  n_pieces = (source.w + PIECE - 1) / PIECE;
    const int64_t n_strips = ((int64_t)source.h + STRIP - 1) / STRIP;
    const int64_t n_border = (n_strips - 1) * n_chunks, n_relabel = (int64_t)source.h * n_pieces;
    QFZ_TRY(qfz_launch(gpu, k_label_strips<WORD, EIGHT, SOURCE>, dim3((unsigned)n_strips),
                       dim3(QFZ_WARP, STRIP), 0, source, d_root));
    QFZ_TRY(qfz_launch(gpu, k_join_strips<WORD, EIGHT, SOURCE>,
                       dim3(qfz_blocks(n_border, BORDER_WARPS)), dim3(QFZ_WARP, BORDER_WARPS), 0,
                       source, n_chunks, n_border, d_root));
    return qfz_launch(gpu, k_relabel<WORD, SOURCE>, dim3(qfz_blocks(n_relabel, RELABEL_WARPS)),
                      dim3(QFZ_WARP, RELABEL_WARPS), 0, source, n_pieces, n_relabel, d_root);
}

template <typename WORD>
static qfz_status launch_any(qfz_gpu *gpu, const qfz_gpu_segments *in, uint32_t *d_root)
{
    return qfz_label_source(gpu, in, [&](const auto &source) {
        return in->connectivity == 8 ? launch<WORD, true>(gpu, source, d_root)
                                     : launch<WORD, false>(gpu, source, d_root);
    });
}

qfz_status qfz_gpu_ha4(qfz_gpu *gpu, const qfz_gpu_segments *segments, uint32_t *d_root)
{
    return launch_any<uint64_t>(gpu, segments, d_root);
}

qfz_status qfz_gpu_ha4_32(qfz_gpu *gpu, const qfz_gpu_segments *segments, uint32_t *d_root)
{
    return launch_any<uint32_t>(gpu, segments, d_root);
}
