/* SPDX-License-Identifier: MIT */
/* boruvka_pixels.cuh - a block's first round, in which every pixel is a component, and the list of
 * edges that it leaves open.
 */
#ifndef QFZ_GPU_BORUVKA_PIXELS_CUH
#define QFZ_GPU_BORUVKA_PIXELS_CUH

#include "gpu/boruvka_block.cuh"

/* ---- Choose ---------------------------------------------------------------------------------- */

/* From a pixel's number to that of its neighbour k, -65 to 65: byte k of two words. */
static __device__ __forceinline__ uint32_t step_to(uint32_t k)
{
    return (uint32_t)(int32_t)(int8_t)__byte_perm(0xffc1c0bfu, 0x3f414001u, k);
}

/* Must this pixel stay a component of its own, so that it becomes a vertex? */
template <typename WORK> static __device__ __forceinline__ bool is_kept(const WORK &w, int y, int x)
{
    if (!w.forest.keeps_ring || !in_image(w, y, x)) return false;
    const int32_t ty = w.box.y + y, tx = w.box.x + x;
    return ty == 0 || ty == w.forest.h - 1 || tx == 0 || tx == w.forest.w - 1;
}

/* The pixel's word, and its level in *top.  Of edges of one level those inside the block come
 * first, then the order is that of ids: so only pixels on the rim choose an edge that is marked. */
template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ uint32_t choose_one(const block_work<SOURCE, EIGHT> &w, int y,
                                                      int x, frame edge, uint32_t *top)
{
    typedef typename SOURCE::KEY KEY;
    enum { CODE_BITS = 4, OUT = 8 };
    uint32_t level[QFZ_AROUND];
    w.source.template around<EIGHT>(y, x, level);
    KEY least = ~(KEY)0;
#pragma unroll
    for (int k = 0; k < QFZ_AROUND; k++) {
        if (!qfz_around_has(EIGHT, k)) continue;
        const unsigned code = (unsigned)k | (edge.is_out(k) ? (unsigned)OUT : 0u);
        least = min(least, (KEY)level[k] << CODE_BITS | code);
    }
    const uint32_t p = (uint32_t)(y * QFZ_SIDE + x), code = (uint32_t)least % (2 * OUT);
    const bool none = (least >> CODE_BITS) > SOURCE::MOST;
    *top = 0;
    if (is_kept(w, y, x)) return p;
    if (none) return NO_EDGE;
    if (code & OUT) return p;
    *top = (uint32_t)(least >> CODE_BITS);
    return p + step_to(code);
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ unsigned drops_of(const SOURCE &source, int y, int x)
{
    uint32_t level[QFZ_SQUARE];
    source.template square<EIGHT>(y, x, level);
    return qfz_square_drops<EIGHT>(level);
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void choose(block_work<SOURCE, EIGHT> &w)
{
    typedef typename block_work<SOURCE, EIGHT>::TOP TOP;
    enum { STRIPS = pixel_layout<block_work<SOURCE, EIGHT>>::STRIPS };
    TOP *const tops = static_cast<TOP *>(w.forest.top);
    const int x = own_x(w);
#pragma unroll 1
    for (int strip = 0; strip < (int)STRIPS; strip++) {
        const int y = own_y(w, strip);
        uint32_t word[ROWS], top[ROWS];
        unsigned drops[ROWS];
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            word[j] = choose_one(w, y + j, x, frame_of(y, x, j), &top[j]);
            drops[j] = drops_of<SOURCE, EIGHT>(w.source, y + j, x);
        }
        TOP *const out = tops + pixel_of(w, y, x);
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            w.m.pixel[(y + j) * QFZ_SIDE + x] = (uint16_t)word[j];
            w.m.drops[(y + j + 1) * PITCH + x + 1] = (uint8_t)drops[j];
            if (in_image(w, y + j, x)) out[(int64_t)j * w.forest.w] = (TOP)top[j];
        }
    }
    for (int i = w.thread; i < 2 * SQUARES - 1; i += w.THREADS) {
        const int y = i < SQUARES ? -1 : i - SQUARES, left = i < SQUARES ? i - 1 : -1;
        w.m.drops[(y + 1) * PITCH + left + 1] = (uint8_t)drops_of<SOURCE, EIGHT>(w.source, y, left);
    }
}

/* ---- Number, settle -------------------------------------------------------------------------- */

/* The number of a thread's i-th pixel. */
template <typename WORK> static __device__ __forceinline__ uint32_t own_pixel(const WORK &w, int i)
{
    return (uint32_t)((own_y(w, i / ROWS) + i % ROWS) * QFZ_SIDE + own_x(w));
}

/* While roots' words change, the test for a root reads no word that changes: that of the pixel
 * that a root chose, which is no root itself; where it reads another, no value that this may have
 * makes the test true. */
template <typename WORK> static __device__ __forceinline__ void number(WORK &w)
{
    enum { OWN = pixel_layout<WORK>::OWN };
    volatile uint16_t *const pixel = w.m.pixel;
    uint32_t waits = 0, roots = 0; /* bit i: the thread's i-th pixel */
#pragma unroll
    for (int i = 0; i < (int)OWN; i++) {
        const uint32_t p = own_pixel(w, i), q = pixel[p];
        if (q == p) waits |= 1u << i;
        if (q < QFZ_BLOCK_PX && p < q && pixel[q] == p) roots |= 1u << i;
    }
    const uint32_t counts = (uint32_t)__popc(roots) << 16 | (uint32_t)__popc(waits);
    const uint32_t first = qfz_take(&w.m.n_numbers, counts);
    uint32_t waiting = first & 0xffff, active = (uint32_t)w.forest.rim_room + (first >> 16);
    for (; roots; roots &= roots - 1, active++) {
        pixel[own_pixel(w, __ffs((int)roots) - 1)] = (uint16_t)(SETTLED | active);
        w.m.find[active] = (uint16_t)active;
    }
    for (; waits; waits &= waits - 1, waiting++) {
        pixel[own_pixel(w, __ffs((int)waits) - 1)] = (uint16_t)(SETTLED | waiting);
        w.m.find[waiting] = (uint16_t)(waiting | WAITS);
    }
}

/* Every word only moves on along its way, so whatever is read is further on that way; as all
 * pixels move at the same time, ways get shorter by half. */
template <typename WORK> static __device__ __forceinline__ void settle(WORK &w)
{
    enum { OWN = pixel_layout<WORK>::OWN };
    volatile uint16_t *const pixel = w.m.pixel;
    uint32_t word[OWN];
#pragma unroll
    for (int i = 0; i < (int)OWN; i++)
        word[i] = pixel[own_pixel(w, i)];
    for (bool again = true; again;) {
        again = false;
#pragma unroll
        for (int i = 0; i < (int)OWN; i++) {
            if (word[i] & SETTLED) continue;
            word[i] = pixel[word[i]];
            pixel[own_pixel(w, i)] = (uint16_t)word[i];
            again = true;
        }
    }
    const int x = own_x(w);
#pragma unroll
    for (int i = 0; i < (int)OWN; i++) {
        const int y = own_y(w, i / ROWS) + i % ROWS;
        if (in_image(w, y, x))
            w.forest.comp[pixel_of(w, y, x)] = (uint16_t)(word[i] & ~(uint32_t)SETTLED);
    }
}

/* ---- Collect --------------------------------------------------------------------------------- */

/* Is the edge from (y, x) to neighbour k marked by one of its squares? */
template <typename WORK>
static __device__ __forceinline__ bool is_dropped(const WORK &w, int y, int x, int k)
{
    const uint8_t *const here = w.m.drops + (y + 1) * PITCH + x + 1; /* square below right */
    const unsigned below = here[0], above = here[-PITCH], below_left = here[-1],
                   above_left = here[-PITCH - 1];
    switch (k) {
    case QFZ_UL: return above_left >> QFZ_DIAGONAL & 1;
    case QFZ_U: return (above >> QFZ_LEFT | above_left >> QFZ_SIDE_RIGHT) & 1;
    case QFZ_UR: return above >> QFZ_ANTIDIAGONAL & 1;
    case QFZ_L: return (below_left >> QFZ_TOP | above_left >> QFZ_BOTTOM) & 1;
    case QFZ_R: return (below >> QFZ_TOP | above >> QFZ_BOTTOM) & 1;
    case QFZ_D: return (below >> QFZ_LEFT | below_left >> QFZ_SIDE_RIGHT) & 1;
    case QFZ_DR: return below >> QFZ_DIAGONAL & 1;
    default: return below_left >> QFZ_ANTIDIAGONAL & 1;
    }
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void collect(block_work<SOURCE, EIGHT> &w)
{
    typedef typename SOURCE::KEY KEY;
    enum { N_DIRS = EIGHT ? 4 : 2, STRIPS = pixel_layout<block_work<SOURCE, EIGHT>>::STRIPS };
    const int x = own_x(w);
#pragma unroll 1
    for (int strip = 0; strip < (int)STRIPS; strip++) {
        const int y = own_y(w, strip);
        const uint16_t *const pixel = w.m.pixel + y * QFZ_SIDE + x;
        uint32_t level[ROWS][QFZ_AROUND], open = 0;
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            const frame edge = frame_of(y, x, j);
            w.source.template around<EIGHT>(y + j, x, level[j]);
#pragma unroll
            for (int k = QFZ_R; k < QFZ_R + N_DIRS; k++) {
                const int step = qfz_around_dy(k) * QFZ_SIDE + qfz_around_dx(k);
                if (!edge.is_out(k) && pixel[j * QFZ_SIDE] != pixel[j * QFZ_SIDE + step] &&
                    level[j][k] <= SOURCE::MOST && !is_dropped(w, y + j, x, k))
                    open |= 1u << (j * N_DIRS + k - QFZ_R);
            }
        }
        uint32_t at = qfz_take(&w.m.n_list, (uint32_t)__popc(open));
#pragma unroll
        for (int j = 0; j < ROWS; j++)
#pragma unroll
            for (int k = QFZ_R; k < QFZ_R + N_DIRS; k++) {
                const uint32_t p = (uint32_t)((y + j) * QFZ_SIDE + x);
                if (open >> (j * N_DIRS + k - QFZ_R) & 1)
                    w.m.list[at++] =
                        (KEY)level[j][k] << 16 | (p << 2 | (uint32_t)qfz_around_dir(k));
            }
    }
}

/* The edges of a rim pixel that leave the block. */
template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void collect_leaving(block_work<SOURCE, EIGHT> &w)
{
    typedef typename SOURCE::KEY KEY;
    for (int i = w.thread; i < w.rim; i += w.THREADS) {
        const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
        const int y = place.y, x = place.x;
        const frame edge = {y == 0, y == QFZ_SIDE - 1, x == 0, x == QFZ_SIDE - 1};
        const KEY p = (KEY)(y * QFZ_SIDE + x);
        uint32_t level[QFZ_AROUND];
        uint32_t least = QFZ_NONE;
        w.source.template around<EIGHT>(y, x, level);
#pragma unroll
        for (int k = 0; k < QFZ_AROUND; k++) {
            if (!qfz_around_has(EIGHT, k) || !edge.is_out(k)) continue;
            if (level[k] > SOURCE::MOST || is_dropped(w, y, x, k)) continue;
            least = min(least, level[k]);
            if (k >= QFZ_R)
                w.m.leaving[atomicAdd(&w.m.n_leaving, 1u)] =
                    (KEY)level[k] << 16 | p << 2 | (KEY)qfz_around_dir(k);
        }
        w.m.leave[i] = least;
    }
}

#endif
