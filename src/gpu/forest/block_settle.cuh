/* SPDX-License-Identifier: MIT */
/* block_settle.cuh - from the way that every pixel chose to the components of the first round. */
#pragma once

#include "gpu/forest/block.cuh"

/* ---- What pixels choose ---------------------------------------------------------------------- */

/* A way is the code of a neighbour: 128 + twice the difference of pixel numbers; OUT, a way out of
 * the block, has difference 0. Keys are level << 16 | way: among edges of one level those inside
 * the block come first, then the order is that of edge ids, and only pixels on the rim choose an
 * edge that is dropped. */
static const uint32_t TO_UP = 0, TO_LEFT = 126, TO_SELF = 128, TO_RIGHT = 130, TO_DOWN = 256;
static const uint32_t OUT = 0x4000u | TO_SELF, NO_WAY = 0x8000u | OUT;
static const uint32_t ROW_BELOW = 2 * QFZ_SIDE * ONES; /* twice a row's pixels, in both halves */

/* A thread's pixels after their choice: twice the number of the pixel to which each hooks itself;
 * masks of the ways, and of the pixels that wait and that have no edge. */
template <typename WORK> struct chosen_ways {
    uint32_t to[WORK::OWN_ROWS];
    uint32_t right, left, down, up, waits, none;
};

/* Twice the numbers of the thread's two pixels of row 0. */
template <typename WORK> QFZ_DEVICE uint32_t own_pixels(const WORK &w)
{
    const uint32_t first = (uint32_t)(w.warp * WORK::OWN_ROWS * QFZ_SIDE + 2 * w.lane) * 2;
    return first | (first + 2) << 16;
}

/* Moves bits of both halves from place `from` to place `to`. */
QFZ_DEVICE uint32_t moved(uint32_t bits, int from, int to, uint32_t mask)
{
    return (from > to ? bits >> (from - to) : bits << (to - from)) & mask << to;
}

/* Records the ways that the two pixels of row j chose. Until end_choice() the masks of right and
 * down share one word. ALL: every pixel has a way. */
template <bool ALL, typename WORK>
QFZ_DEVICE void record_ways(chosen_ways<WORK> &p, int j, uint32_t self, uint32_t ways)
{
    p.waits |= moved(ways, 14, 2 * j, ONES);
    if (!ALL) p.none |= moved(ways, 15, 2 * j, ONES);
    p.right |= moved(ways, 7, 2 * j, 3 * ONES);
    p.left |= moved(ways, 6, 2 * j, ONES);
    /* the 16-bit halves may borrow from each other; the final sum cancels the borrow */
    p.to[j] = self - TO_SELF * ONES + (uint32_t)j * ROW_BELOW + (ways & 0x01ff01ffu);
}

/* Makes the pixels of the tile's ring that are in the mask `valid` wait from the first round on, so
 * that each becomes a vertex; returns their mask. Their tops are to be cleared. */
template <typename WORK, typename CHOSEN>
QFZ_DEVICE uint32_t keep_ring(const WORK &w, uint32_t valid, uint32_t self, CHOSEN &p)
{
    uint32_t ring = 0;
    QFZ_EACH (k, 2 * WORK::OWN_ROWS) {
        const int32_t y = w.box.y + w.warp * WORK::OWN_ROWS + k / 2;
        const int32_t x = w.box.x + 2 * w.lane + k % 2;
        const bool inside = y < w.forest.h && x < w.forest.w;
        const bool on = y == 0 || y == w.forest.h - 1 || x == 0 || x == w.forest.w - 1;
        ring |= (on && inside ? 1u : 0u) << (k / 2 * 2 + k % 2 * 16);
    }
    ring &= valid;
    p.waits |= ring;
    p.none &= ~ring;
    QFZ_EACH (j, WORK::OWN_ROWS) {
        const uint32_t mask = (ring >> (2 * j) & ONES) * 0xffffu;
        p.to[j] = (p.to[j] & ~mask) | ((self + (uint32_t)j * ROW_BELOW) & mask);
    }
    return ring;
}

/* Clears the tops of the pixels in a mask. */
template <typename WORK>
QFZ_DEVICE void clear_tops(const WORK &, typename WORK::PAIR top[], uint32_t mask)
{
    QFZ_EACH (j, WORK::OWN_ROWS)
        clear_where(top[j], mask, 2 * j);
}

template <typename WORK> QFZ_DEVICE void end_choice(chosen_ways<WORK> &p)
{
    const uint32_t right_down = p.right;
    p.right = right_down & WORK::SHAPE::EVEN & ~p.waits;
    p.down = right_down >> 1 & WORK::SHAPE::EVEN & ~p.waits;
    p.left &= ~p.waits;
    p.up = WORK::SHAPE::EVEN & ~(p.right | p.down | p.left | p.waits);
}

/* The index of the words of a thread's two pixels of row j, counted in pairs. */
template <typename WORK> QFZ_DEVICE int two_at(const WORK &w, int j)
{
    return (w.warp * WORK::OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane;
}

/* Stores the ways that other threads read in shared memory. */
template <typename WORK> QFZ_DEVICE void publish(WORK &w, const chosen_ways<WORK> &p)
{
    uint32_t *const pixel = reinterpret_cast<uint32_t *>(w.m.pixel());
    QFZ_EACH (j, WORK::OWN_ROWS)
        pixel[two_at(w, j)] = p.to[j];
    const unsigned up0 = __ballot_sync(QFZ_ALL_LANES, p.up & 1);
    const unsigned up1 = __ballot_sync(QFZ_ALL_LANES, p.up & 0x10000);
    if (w.lane == 0) w.m.at_seam[w.warp] = make_uint2(up0, up1);
}

/* ---- Number, settle -------------------------------------------------------------------------- */

/* Of two pixels that chose each other the first is the root: the mask of a thread's roots. */
template <typename WORK> QFZ_DEVICE uint32_t roots_of(const WORK &w, const chosen_ways<WORK> &p)
{
    uint32_t next_left = of_next_lane(p.left);
    if (w.lane == QFZ_WARP - 1) next_left = 0;
    uint32_t below_up = p.up >> 2 & 0x3fff3fffu;
    if (w.warp < WORK::WARPS - 1) {
        const uint2 up = w.m.at_seam[w.warp + 1];
        const int last = 2 * WORK::OWN_ROWS - 2;
        below_up |= (up.x >> w.lane & 1) << last | (up.y >> w.lane & 1) << (last + 16);
    }
    return (p.right & (p.left >> 16 | next_left << 16)) | (p.down & below_up);
}

/* Numbers the roots and the pixels that wait, which become components. */
template <typename WORK, typename CHOSEN> QFZ_DEVICE void number(WORK &w, const CHOSEN &p)
{
    const uint32_t roots = roots_of(w, p), waits = p.waits & ~p.none;
    const uint32_t counts = (uint32_t)__popc(roots) << 16 | (uint32_t)__popc(waits);
    const uint32_t before = qfz_take(&w.m.n_numbers, counts);
    uint32_t active = SETTLED | (ACTIVE + (before >> 16)) * 4;
    uint16_t *const pixel = w.m.pixel() + w.warp * WORK::OWN_ROWS * QFZ_SIDE + 2 * w.lane;
    QFZ_EACH (k, 2 * WORK::OWN_ROWS) {
        const int j = k / 2, c = k % 2;
        if (!(roots >> (2 * j + 16 * c) & 1)) continue;
        pixel[j * QFZ_SIDE + c] = (uint16_t)active;
        active += 4;
    }
    uint32_t waiting = SETTLED | (before & 0xffff) * 4;
    for (uint32_t left = p.waits; left; left &= left - 1) {
        const uint32_t k = (uint32_t)__ffs((int)left) - 1;
        const bool number = waits >> k & 1;
        pixel[k % 16 / 2 * QFZ_SIDE + k / 16] = (uint16_t)(number ? waiting : (uint32_t)NO_EDGE);
        if (number) waiting += 4;
    }
}

/* Follows each way for some steps, in the words at `from`; true if all words are settled. */
template <int STEPS, int N> QFZ_DEVICE bool walk(const uint16_t *from, int32_t (&word)[N])
{
    const char *const bytes = reinterpret_cast<const char *>(from);
    int32_t all = -1; /* settled words are negative */
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        QFZ_EACH (k, N) /* loads stand together, so that they overlap */
            if (word[k] >= 0) word[k] = *reinterpret_cast<const int16_t *>(bytes + word[k]);
        all = -1;
        QFZ_EACH (k, N)
            all &= word[k];
        if (__all_sync(QFZ_ALL_LANES, all < 0)) break;
    }
    return all < 0;
}

template <typename WORK>
QFZ_DEVICE void show(const WORK &w, uint16_t *words, const int32_t word[2 * WORK::OWN_ROWS])
{
    uint32_t *const row = reinterpret_cast<uint32_t *>(words);
    QFZ_EACH (j, WORK::OWN_ROWS)
        row[two_at(w, j)] = low_halves((uint32_t)word[2 * j], (uint32_t)word[2 * j + 1]);
}

/* The index of the words of the row below a thread's rows; in the block's last row that of the
 * thread's own last row, whose words are not used then. */
template <typename WORK> QFZ_DEVICE int below(const WORK &w)
{
    const int y = min((w.warp + 1) * WORK::OWN_ROWS, QFZ_SIDE - 1);
    return y * (QFZ_SIDE / 2) + w.lane;
}

/* Finds every pixel's component: in pixel[], and for a thread's pixels and the row below, * 4, in
 * comp[]. After a few steps each pixel continues from where the pixels on its way have got to,
 * which shortens ways several times over; one pass mostly suffices. Reads and writes alternate
 * between two arrays, so that no word is written while others read it. */
template <typename WORK> QFZ_DEVICE void settle(WORK &w, uint32_t comp[WORK::OWN_ROWS + 1])
{
    enum { FIRST = 3, THEN = 4 };
    int32_t word[2 * WORK::OWN_ROWS];
    bool done;
    QFZ_EACH (j, WORK::OWN_ROWS) {
        const uint32_t two = reinterpret_cast<const uint32_t *>(w.m.pixel())[two_at(w, j)];
        word[2 * j] = (int16_t)two;
        word[2 * j + 1] = (int32_t)two >> 16;
    }
    do {
        (void)walk<FIRST>(w.m.pixel(), word);
        show(w, w.m.further, word);
        __syncthreads();
        done = walk<THEN>(w.m.further, word);
        show(w, w.m.pixel(), word);
    } while (!__syncthreads_and(done));
    QFZ_EACH (j, WORK::OWN_ROWS)
        comp[j] = low_halves((uint32_t)word[2 * j], (uint32_t)word[2 * j + 1]) & 0x7fff7fffu;
    comp[WORK::OWN_ROWS] = reinterpret_cast<const uint32_t *>(w.m.pixel())[below(w)] & 0x7fff7fffu;
}
