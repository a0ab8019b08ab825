/* SPDX-License-Identifier: MIT */
/* boruvka_pixels.cuh - the first round of a block, in which every pixel is a component, and the
 * list of edges that are open after it: those that join two components. */
#ifndef QFZ_GPU_BORUVKA_PIXELS_CUH
#define QFZ_GPU_BORUVKA_PIXELS_CUH

#include "gpu/forest/boruvka_block.cuh"

/* ---- Choose ---------------------------------------------------------------------------------- */

/* The number of neighbour k less that of the pixel, -65 to 65; a table in the bytes of two words.
 */
static __device__ __forceinline__ uint32_t step_to(uint32_t k)
{
    return (uint32_t)(int32_t)(int8_t)__byte_perm(0xffc1c0bfu, 0x3f414001u, k);
}

/* Returns the pixel's word, and the level of its lightest edge in *top.  Among edges of one level,
 * those inside the block come first; then ids decide.  Therefore only rim pixels can choose an edge
 * that qfz_square_drops() marks. */
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
    const uint32_t p = (uint32_t)(y * QFZ_SIDE + x), code = (uint32_t)least % OUT;
    const bool none = (least >> CODE_BITS) > SOURCE::MOST;
    const bool waits = (uint32_t)least & OUT;
    *top = (none | waits) ? 0 : (uint32_t)(least >> CODE_BITS);
    const uint32_t word = waits ? p : p + step_to(code);
    return none ? (uint32_t)NO_EDGE : word;
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ unsigned drops_of(const SOURCE &source, int y, int x)
{
    uint32_t level[QFZ_SQUARE];
    source.template square<EIGHT>(y, x, level);
    return qfz_square_drops<EIGHT>(level);
}

/* Stores value[j] to row y + j, for the rows in the image.  row: row y of the forest's levels or
 * components. */
template <typename WORK, typename OUT>
static __device__ __forceinline__ void store_rows(const WORK &w, OUT *row, int y, int x,
                                                  const uint32_t value[ROWS])
{
    OUT *const out = row + x;
    const int64_t pitch = qfz_px_pitch<typename WORK::TOP>(w.forest);
    if (w.box.h == QFZ_SIDE && w.box.w == QFZ_SIDE) {
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            out[j * pitch] = (OUT)value[j];
        return;
    }
#pragma unroll
    for (int j = 0; j < ROWS; j++)
        if (in_image(w, y + j, x)) out[j * pitch] = (OUT)value[j];
}

template <typename SOURCE, bool EIGHT>
static __device__ __forceinline__ void choose(block_work<SOURCE, EIGHT> &w)
{
    typedef typename block_work<SOURCE, EIGHT>::TOP TOP;
    enum { STRIPS = pixel_layout<block_work<SOURCE, EIGHT>>::STRIPS };
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
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            w.m.pixel[(y + j) * QFZ_SIDE + x] = (uint16_t)word[j];
            w.m.drops[(y + j + 1) * PITCH + x + 1] = (uint8_t)drops[j];
        }
        store_rows(w, qfz_tops<TOP>(w.forest, w.box, y), y, x, top);
    }
    for (int i = w.thread; i < 2 * SQUARES - 1; i += w.THREADS) {
        const int y = i < SQUARES ? -1 : i - SQUARES, left = i < SQUARES ? i - 1 : -1;
        w.m.drops[(y + 1) * PITCH + left + 1] = (uint8_t)drops_of<SOURCE, EIGHT>(w.source, y, left);
    }
}

/* Makes the pixels of the tile's ring wait from the first round on, so that each becomes a vertex.
 */
template <typename WORK> static __device__ __forceinline__ void keep_ring(WORK &w)
{
    typedef typename WORK::TOP TOP;
    for (int i = w.thread; i < w.rim; i += w.THREADS) {
        const int2 place = qfz_ring_pixel(w.box.h, w.box.w, i);
        const int32_t y = w.box.y + place.y, x = w.box.x + place.x;
        if (y != 0 && y != w.forest.h - 1 && x != 0 && x != w.forest.w - 1) continue;
        const int p = place.y * QFZ_SIDE + place.x;
        w.m.pixel[p] = (uint16_t)p;
        qfz_tops<TOP>(w.forest, w.box, place.y)[place.x] = 0;
    }
}

/* ---- Number, settle -------------------------------------------------------------------------- */

/* The number of a thread's i-th pixel less that of its first pixel. */
template <typename WORK> static __device__ __forceinline__ uint32_t own_step(uint32_t i)
{
    return (i / ROWS * (uint32_t)pixel_layout<WORK>::STRIP + i % ROWS) * QFZ_SIDE;
}

/* Numbers the components after the first round.  All threads read before any thread writes. */
template <typename WORK> static __device__ __forceinline__ void number(WORK &w)
{
    enum { OWN = pixel_layout<WORK>::OWN };
    const uint32_t first = (uint32_t)(own_y(w, 0) * QFZ_SIDE + own_x(w));
    uint16_t *const pixel = w.m.pixel;
    uint32_t waits = 0, roots = 0; /* bit i: the thread's i-th pixel */
#pragma unroll
    for (uint32_t i = 0; i < (uint32_t)OWN; i++) {
        const uint32_t p = first + own_step<WORK>(i), q = pixel[p];
        const bool there = q < QFZ_FOREST_BLOCK_PX && p < q;
        waits |= (q == p ? 1u : 0u) << i;
        roots |= (there && pixel[q] == p ? 1u : 0u) << i;
    }
    const uint32_t counts = (uint32_t)__popc(roots) << 16 | (uint32_t)__popc(waits);
    const uint32_t before = qfz_take(&w.m.n_numbers, counts);
    uint32_t waiting = before & 0xffff, active = (uint32_t)w.forest.rim_room + (before >> 16);
    __syncthreads();
    for (; roots; roots &= roots - 1, active++) {
        pixel[first + own_step<WORK>((uint32_t)__ffs((int)roots) - 1)] =
            (uint16_t)(SETTLED | active);
        w.m.find[active] = (uint16_t)active;
    }
    for (; waits; waits &= waits - 1, waiting++) {
        pixel[first + own_step<WORK>((uint32_t)__ffs((int)waits) - 1)] =
            (uint16_t)(SETTLED | waiting);
        w.m.find[waiting] = (uint16_t)(waiting | WAITS);
    }
}

/* Finds the component of every pixel by pointer jumping: each pixel advances STEPS steps, which is
 * usually enough, and stores the word it reached.  Where it is not enough, the next iteration
 * starts from the stored words, so that path lengths shrink by a factor in each. */
template <typename WORK> static __device__ __forceinline__ void settle(WORK &w)
{
    typedef typename WORK::TOP TOP;
    enum { OWN = pixel_layout<WORK>::OWN, STEPS = 4 };
    const uint32_t first = (uint32_t)(own_y(w, 0) * QFZ_SIDE + own_x(w));
    uint16_t *const pixel = w.m.pixel;
    uint32_t word[OWN], all;
#pragma unroll
    for (uint32_t i = 0; i < (uint32_t)OWN; i++)
        word[i] = pixel[first + own_step<WORK>(i)];
    do {
        for (int step = 0; step < STEPS; step++) {
            all = SETTLED;
#pragma unroll
            for (uint32_t i = 0; i < (uint32_t)OWN; i++) {
                if (!(word[i] & SETTLED)) word[i] = pixel[word[i]];
                all &= word[i];
            }
            if (all) break;
        }
        all = (uint32_t)__syncthreads_and((int)all);
#pragma unroll
        for (uint32_t i = 0; i < (uint32_t)OWN; i++)
            pixel[first + own_step<WORK>(i)] = (uint16_t)word[i];
        __syncthreads();
    } while (!all);
#pragma unroll
    for (int i = 0; i < (int)OWN; i += ROWS) {
#pragma unroll
        for (int j = 0; j < ROWS; j++)
            word[i + j] &= ~(uint32_t)SETTLED;
        const int y = own_y(w, i / ROWS);
        store_rows(w, qfz_comps<TOP>(w.forest, w.box, y), y, own_x(w), &word[i]);
    }
}

/* ---- Collect --------------------------------------------------------------------------------- */

/* Bit k: the edge from (y, x) to neighbour k is marked by one of its squares. */
template <typename WORK>
static __device__ __forceinline__ unsigned dropped_around(const WORK &w, int y, int x)
{
    const uint8_t *const here = w.m.drops + (y + 1) * PITCH + x + 1; /* square below right */
    const unsigned below = here[0], above = here[-PITCH], below_left = here[-1],
                   above_left = here[-PITCH - 1];
    const unsigned up = above >> QFZ_LEFT | above_left >> QFZ_SIDE_RIGHT;
    const unsigned left = below_left >> QFZ_TOP | above_left >> QFZ_BOTTOM;
    const unsigned right = below >> QFZ_TOP | above >> QFZ_BOTTOM;
    const unsigned down = below >> QFZ_LEFT | below_left >> QFZ_SIDE_RIGHT;
    return (above_left >> QFZ_DIAGONAL & 1) << QFZ_UL | (up & 1) << QFZ_U |
           (above >> QFZ_ANTIDIAGONAL & 1) << QFZ_UR | (left & 1) << QFZ_L | (right & 1) << QFZ_R |
           (down & 1) << QFZ_D | (below >> QFZ_DIAGONAL & 1) << QFZ_DR |
           (below_left >> QFZ_ANTIDIAGONAL & 1) << QFZ_DL;
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
            const unsigned dropped = dropped_around(w, y + j, x);
            w.source.template around<EIGHT>(y + j, x, level[j]);
#pragma unroll
            for (int k = QFZ_R; k < QFZ_R + N_DIRS; k++) {
                const int step = qfz_around_dy(k) * QFZ_SIDE + qfz_around_dx(k);
                /* For a neighbour outside the block this reads an unrelated word, not used below.
                 */
                const bool differ = pixel[j * QFZ_SIDE] != pixel[j * QFZ_SIDE + step];
                const bool is_open =
                    differ & !edge.is_out(k) & (level[j][k] <= SOURCE::MOST) & !(dropped >> k & 1);
                open |= (is_open ? 1u : 0u) << (j * N_DIRS + k - QFZ_R);
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

/* Collects the edges of rim pixels that leave the block, and the lightest one of each rim pixel. */
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
        const unsigned dropped = dropped_around(w, y, x);
        KEY least = ~(KEY)0;
        w.source.template around<EIGHT>(y, x, level);
#pragma unroll
        for (int k = 0; k < QFZ_AROUND; k++) {
            if (!qfz_around_has(EIGHT, k) || !edge.is_out(k)) continue;
            if (level[k] > SOURCE::MOST || (dropped >> k & 1)) continue;
            least = min(least, (KEY)level[k] << 16 | p);
            if (k >= QFZ_R)
                w.m.leaving[atomicAdd(&w.m.n_leaving, 1u)] =
                    (KEY)level[k] << 16 | p << 2 | (KEY)qfz_around_dir(k);
        }
        w.m.leave[i] = least;
    }
}

#endif
