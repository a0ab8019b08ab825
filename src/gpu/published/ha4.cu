/* SPDX-License-Identifier: MIT */
/* ha4.cu - methods ha4 and ha4-32 (published.cuh): algorithms 2 to 5 and 7 of the paper,
 * 4-connected; 8-connected is an extension.
 *
 * Labeling by strips, one warp a row; segments are found from the bits of ballots. Only starts of
 * segments, and first pixels of chunks inside one, have a parent, a pixel of the same region with a
 * lower index. Invariant: union by minimum makes each region's first pixel its root.
 *
 * Unlike the paper, the bits that the first kernel finds are stored for the others: the input is
 * read once. Memory traffic, bytes a pixel: the input; a quarter written and read for the bits; a
 * parent written and some read per segment; 4 written. */
#include "gpu/published/published.cuh"

#include "gpu/device/launch.cuh"
#include "gpu/published/segments.cuh"
#include "gpu/device/union_find.cuh"

enum { STRIP = 4, BORDER_WARPS = 4, RELABEL_WARPS = 4 };

namespace
{
/* A chunk of a row, and the starts of its segments. */
template <typename WORD> struct chunk {
    qfz_row_bits<WORD> bits;
    WORD starts;
    uint32_t base;   /* index of the first pixel */
    uint32_t before; /* length of the segment that reaches the chunk from the left, outside the
                      * chunk; 0: none */

    QFZ_DEVICE chunk(qfz_row_bits<WORD> of, WORD start_bits, uint32_t at, uint32_t open_px)
        : bits(of), starts(start_bits), base(at), before(open_px)
    {
    }

    /* The index in the image of the start of pixel x's segment; x = -1: the pixel before the
     * chunk. */
    QFZ_DEVICE uint32_t segment(int x) const
    {
        const int distance = x < 0 ? 0 : qfz_start_distance(starts, x);
        return x < 0 || distance > x ? base - before : base + (uint32_t)(x - distance);
    }

    /* `before` of the next chunk. */
    QFZ_DEVICE uint32_t open() const
    {
        enum { BITS = qfz_word<WORD>::BITS };
        if (!(bits.valid >> (BITS - 1))) return 0;
        const int distance = qfz_start_distance(starts, BITS - 1);
        return distance < BITS ? (uint32_t)distance + 1 : BITS + before;
    }
};

/* The bits of this lane's pixels: one or two. */
QFZ_DEVICE unsigned own_bits(uint32_t word)
{
    return word >> threadIdx.x & 1;
}
QFZ_DEVICE unsigned own_bits(uint64_t word)
{
    const uint32_t half = (uint32_t)(threadIdx.x & 16 ? word >> 32 : word);
    return half >> (2 * threadIdx.x & 31) & 3;
}

/* Unites a chunk's segments with those above, for the joins in `first`. */
template <bool EIGHT, typename WORD>
QFZ_DEVICE void unite(uint32_t *parent, const qfz_meetings<WORD> &first, const chunk<WORD> &row,
                      const chunk<WORD> &up)
{
    enum { LANES = qfz_word<WORD>::LANES };
    unsigned todo = own_bits(first.up);
    if (EIGHT) todo |= own_bits(first.left) << LANES | own_bits(first.right) << 2 * LANES;
    for (; todo; todo &= todo - 1) {
        const int which = __ffs((int)todo) - 1, x = (int)threadIdx.x * LANES + which % LANES;
        const bool left = which / LANES == 1, right = which / LANES == 2;
        qfz_unite<qfz_in_cache>(parent, row.segment(right ? x - 1 : x),
                                up.segment(left ? x - 1 : x));
    }
}

template <bool EIGHT, typename WORD, typename SOURCE, typename FETCHED>
QFZ_DEVICE qfz_meetings<WORD> first_meetings(const SOURCE &source, int32_t y, int32_t x0,
                                             const FETCHED &got, const chunk<WORD> &row,
                                             const chunk<WORD> &up)
{
    const qfz_meetings<WORD> all = source.template meetings<EIGHT>(y, x0, got, row.bits, up.bits,
                                                                   row.before > 0, up.before > 0);
    return qfz_first_meetings(all, row.bits, up.bits);
}

/* Makes the segments that begin in a chunk roots, and links one that continues in it. */
template <typename WORD> QFZ_DEVICE void begin_segments(uint32_t *parent, const chunk<WORD> &row)
{
    QFZ_EACH (i, qfz_word<WORD>::LANES) {
        const int x = (int)threadIdx.x + i * QFZ_WARP;
        if (row.starts >> x & 1) parent[row.base + (uint32_t)x] = row.base + (uint32_t)x;
    }
    if (threadIdx.x == 0 && (row.bits.joined & 1)) parent[row.base] = row.base - row.before;
}

/* What the warp of a row shares with the warp of the row below. */
template <typename WORD> struct row_above {
    qfz_row_bits<WORD> bits;
    uint32_t before;
};

/* Algorithm 3. A block walks along its strip; the segment that is open at the end of a chunk is
 * carried over. Every segment begins as a root and is then united with those above. */
template <typename WORD, bool EIGHT, typename SOURCE>
__global__ void __launch_bounds__(QFZ_WARP *STRIP)
    k_label_strips(SOURCE source, qfz_row_bits<WORD> *bits, uint32_t *parent)
{
    enum { BITS = qfz_word<WORD>::BITS };
    __shared__ row_above<WORD> shared[STRIP];
    const int ty = (int)threadIdx.y;
    const int32_t y = (int32_t)blockIdx.x * STRIP + ty;
    uint32_t before = 0;
    if (y < source.h) bits += (int64_t)y * qfz_n_chunks<WORD>(source.w);
    auto next = source.template fetch<WORD>(y, 0);
    for (int32_t x0 = 0; x0 < source.w; x0 += BITS) {
        const auto got = next;
        const qfz_row_bits<WORD> own = source.template bits<WORD>(got, before > 0);
        if (threadIdx.x == 0) {
            shared[ty] = {own, before};
            if (y < source.h) bits[x0 / BITS] = own;
        }
        __syncthreads();
        next = source.template fetch<WORD>(y, x0 + BITS);
        const row_above<WORD> above = ty > 0 ? shared[ty - 1] : row_above<WORD>{{0, 0}, 0};
        const chunk<WORD> row(own, (WORD)(own.valid & ~own.joined),
                              (uint32_t)y * (uint32_t)source.w + (uint32_t)x0, before);
        const chunk<WORD> up(above.bits, (WORD)(above.bits.valid & ~above.bits.joined),
                             row.base - (uint32_t)source.w, above.before);
        const qfz_meetings<WORD> first = first_meetings<EIGHT>(source, y, x0, got, row, up);
        begin_segments(parent, row);
        __syncthreads(); /* every segment has a parent, and shared[] has been read */
        unite<EIGHT>(parent, first, row, up);
        before = row.open();
    }
}

/* A chunk by itself; its first pixel counts as a start, since it has a parent. */
template <typename WORD>
QFZ_DEVICE chunk<WORD> lone_chunk(const qfz_row_bits<WORD> *bits, int32_t n_chunks, int32_t y,
                                  int32_t x0, int32_t w)
{
    const qfz_row_bits<WORD> own = bits[(int64_t)y * n_chunks + x0 / qfz_word<WORD>::BITS];
    return chunk<WORD>(own, (WORD)(own.valid & (~own.joined | 1)),
                       (uint32_t)y * (uint32_t)w + (uint32_t)x0, 0);
}

/* Algorithm 4: joins strips; one warp for each chunk in the first row of each strip but the
 * first. */
template <typename WORD, bool EIGHT, typename SOURCE>
__global__ void __launch_bounds__(QFZ_WARP *BORDER_WARPS)
    k_join_strips(SOURCE source, const qfz_row_bits<WORD> *__restrict__ bits, uint32_t n_warps,
                  uint32_t *parent)
{
    enum { BITS = qfz_word<WORD>::BITS };
    const uint32_t at = blockIdx.x * BORDER_WARPS + threadIdx.y;
    if (at >= n_warps) return;
    const int32_t n_chunks = qfz_n_chunks<WORD>(source.w);
    const int32_t y = (int32_t)(at / (uint32_t)n_chunks + 1) * STRIP;
    const int32_t x0 = (int32_t)(at % (uint32_t)n_chunks) * BITS;
    chunk<WORD> row = lone_chunk(bits, n_chunks, y, x0, source.w);
    chunk<WORD> up = lone_chunk(bits, n_chunks, y - 1, x0, source.w);
    if (EIGHT && x0 > 0) {
        row.before = lone_chunk(bits, n_chunks, y, x0 - BITS, source.w).open();
        up.before = lone_chunk(bits, n_chunks, y - 1, x0 - BITS, source.w).open();
    }
    const auto got = source.template fetch<WORD>(y, x0);
    unite<EIGHT>(parent, first_meetings<EIGHT>(source, y, x0, got, row, up), row, up);
}

/* Algorithm 5: relabeling, a warp for each chunk. A walk passes starts only; a root that another
 * warp has stored there ends the walk sooner. */
template <typename WORD>
__global__ void __launch_bounds__(QFZ_WARP *RELABEL_WARPS)
    k_relabel(const qfz_row_bits<WORD> *__restrict__ bits, int32_t w, uint32_t n_warps,
              uint32_t *root)
{
    enum { BITS = qfz_word<WORD>::BITS, LANES = qfz_word<WORD>::LANES };
    const uint32_t at = blockIdx.x * RELABEL_WARPS + threadIdx.y;
    if (at >= n_warps) return;
    const int32_t n_chunks = qfz_n_chunks<WORD>(w), lane = (int32_t)threadIdx.x;
    const int32_t y = (int32_t)(at / (uint32_t)n_chunks),
                  x0 = (int32_t)(at % (uint32_t)n_chunks) * BITS;
    const chunk<WORD> row = lone_chunk(bits, n_chunks, y, x0, w);
    uint32_t found[LANES];
    QFZ_EACH (i, LANES) {
        const int x = lane + i * QFZ_WARP;
        found[i] =
            row.starts >> x & 1 ? qfz_find<qfz_in_cache>(root, row.base + (uint32_t)x) : QFZ_NONE;
    }
    QFZ_EACH (i, LANES) {
        const int x = lane + i * QFZ_WARP, start = x - min(x, qfz_start_distance(row.starts, x));
        uint32_t label = __shfl_sync(QFZ_ALL_LANES, found[0], start % QFZ_WARP);
        const uint32_t second = __shfl_sync(QFZ_ALL_LANES, found[LANES - 1], start % QFZ_WARP);
        if (start >= QFZ_WARP) label = second;
        if (x0 + x < w) root[row.base + (uint32_t)x] = row.bits.valid >> x & 1 ? label : QFZ_NONE;
    }
}
} // namespace

/* ---- Launches -------------------------------------------------------------------------------- */

template <typename WORD, bool EIGHT, typename SOURCE>
static qfz_status join_segments(qfz_gpu *gpu, const SOURCE &source, qfz_row_bits<WORD> *d_bits,
                                uint32_t *d_parent)
{
    const uint32_t n_strips = qfz_launch_blocks(source.h, STRIP);
    const uint32_t n_border = (n_strips - 1) * (uint32_t)qfz_n_chunks<WORD>(source.w);
    QFZ_TRY(qfz_launch(gpu, k_label_strips<WORD, EIGHT, SOURCE>, dim3(n_strips),
                       dim3(QFZ_WARP, STRIP), 0, source, d_bits, d_parent));
    return qfz_launch(gpu, k_join_strips<WORD, EIGHT, SOURCE>,
                      dim3(qfz_launch_blocks(n_border, BORDER_WARPS)), dim3(QFZ_WARP, BORDER_WARPS),
                      0, source, d_bits, n_border, d_parent);
}

template <typename WORD>
static qfz_status make_forest(qfz_gpu *gpu, const qfz_gpu_image *in, int connectivity,
                              qfz_row_bits<WORD> *d_bits, uint32_t *d_parent)
{
    return qfz_label_source(gpu, in, connectivity, [&](const auto &source, auto eight) {
        return join_segments<WORD, decltype(eight)::value>(gpu, source, d_bits, d_parent);
    });
}

template <typename WORD>
static qfz_status label(qfz_gpu *gpu, const qfz_gpu_image *in, int connectivity, void *d_scratch,
                        uint32_t *d_root)
{
    qfz_row_bits<WORD> *const d_bits = static_cast<qfz_row_bits<WORD> *>(d_scratch);
    const uint32_t n = (uint32_t)in->h * (uint32_t)qfz_n_chunks<WORD>(in->w);
    QFZ_TRY(make_forest<WORD>(gpu, in, connectivity, d_bits, d_root));
    return qfz_launch(gpu, k_relabel<WORD>, dim3(qfz_launch_blocks(n, RELABEL_WARPS)),
                      dim3(QFZ_WARP, RELABEL_WARPS), 0, d_bits, in->w, n, d_root);
}

/* Two masks a chunk. */
size_t qfz_gpu_ha4_bytes(int bits, int32_t h, int32_t w)
{
    const int32_t n = bits == 64 ? qfz_n_chunks<uint64_t>(w) : qfz_n_chunks<uint32_t>(w);
    return (size_t)h * (size_t)n * 2 * (size_t)(bits / 8);
}

qfz_status qfz_gpu_ha4(qfz_gpu *gpu, int bits, const qfz_gpu_image *image, int connectivity,
                       void *d_scratch, uint32_t *d_root)
{
    return bits == 64 ? label<uint64_t>(gpu, image, connectivity, d_scratch, d_root)
                      : label<uint32_t>(gpu, image, connectivity, d_scratch, d_root);
}

qfz_status qfz_gpu_ha4_forest(qfz_gpu *gpu, const qfz_gpu_image *image, int connectivity,
                              qfz_row_bits<uint64_t> *d_bits, uint32_t *d_parent)
{
    return make_forest<uint64_t>(gpu, image, connectivity, d_bits, d_parent);
}
