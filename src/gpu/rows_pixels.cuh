/* SPDX-License-Identifier: MIT */
/* rows_pixels.cuh - levels in registers, and the first round, in which every pixel is a component
 * and hooks itself by its lightest edge. */
#ifndef QFZ_GPU_ROWS_PIXELS_CUH
#define QFZ_GPU_ROWS_PIXELS_CUH

#include "gpu/rows_block.cuh"

/* ---- Load ------------------------------------------------------------------------------------ */

static __device__ __forceinline__ uint32_t two_pixels(const uint16_t *p)
{
    return __ldg(reinterpret_cast<const uint32_t *>(p));
}

static __device__ __forceinline__ uint32_t two_pixels(const uint8_t *p)
{
    return __byte_perm(__ldg(reinterpret_cast<const uint16_t *>(p)), 0, 0x4140);
}

/* Rows -1 to 8 of a thread's columns, and which of them are valid: bit row + 1 + 16 * column.  The
 * same rows of the columns beside the block: lanes 0 to 9 have those of the left one, lanes 10 to
 * 19 of the right one; the first and the last lane know which of theirs are valid. */
enum { SEEN_ROWS = OWN_ROWS + 2 };
struct rows_values {
    uint32_t v[SEEN_ROWS], side, valid, side_valid;
};

static __device__ __forceinline__ int2 side_pixel(const rows_work &w) /* x, y, in the tile */
{
    const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1;
    return w.lane < SEEN_ROWS ? make_int2(w.box.x - 1, y0 + w.lane)
                              : make_int2(w.box.x + QFZ_SIDE, y0 + w.lane - SEEN_ROWS);
}

/* What is beside row i - 1 of the first and the last lane. */
static __device__ __forceinline__ uint32_t side_of(const rows_work &w, const rows_values &in, int i)
{
    return __shfl_sync(ALL_LANES, in.side, w.lane == 0 ? i : SEEN_ROWS + i);
}

/* Where all that is looked at is there, and begins at even places. */
template <typename T>
static __device__ __forceinline__ void load_full(const rows_work &w, const rows_image<T> &image,
                                                 rows_values &in)
{
    const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const T *row = image.pixels + (int64_t)y0 * w.forest.w + x0;
    const int2 side = side_pixel(w);
    in.valid = in.side_valid = in.side = 0;
#pragma unroll
    for (int i = 0; i < SEEN_ROWS; i++, row += w.forest.w)
        in.v[i] = two_pixels(row);
    if (w.lane < 2 * SEEN_ROWS)
        in.side = __ldg(image.pixels + (int64_t)side.y * w.forest.w + side.x);
}

/* A pixel; *valid gets that bit where there is one. */
template <typename T>
static __device__ __forceinline__ uint32_t load_pixel(const rows_work &w,
                                                      const rows_image<T> &image, int32_t y,
                                                      int32_t x, uint32_t *valid, int bit)
{
    const int64_t p = (int64_t)y * w.forest.w + x;
    if (y < 0 || y >= w.forest.h || x < 0 || x >= w.forest.w) return 0;
    if (image.valid && !image.valid[p]) return 0;
    *valid |= 1u << bit;
    return (uint32_t)__ldg(image.pixels + p) ^ image.bias;
}

template <typename T>
static __device__ __forceinline__ void load_some(const rows_work &w, const rows_image<T> &image,
                                                 rows_values &in)
{
    const int32_t y0 = w.box.y + w.warp * OWN_ROWS - 1, x0 = w.box.x + 2 * w.lane;
    const int2 side = side_pixel(w);
    uint32_t beside = 0;
    in.valid = in.side = 0;
#pragma unroll
    for (int i = 0; i < SEEN_ROWS; i++)
        in.v[i] = load_pixel(w, image, y0 + i, x0, &in.valid, i) |
                  load_pixel(w, image, y0 + i, x0 + 1, &in.valid, i + 16) << 16;
    if (w.lane < 2 * SEEN_ROWS) in.side = load_pixel(w, image, side.y, side.x, &beside, 0);
    const uint32_t both = __ballot_sync(ALL_LANES, beside);
    in.side_valid = (w.lane == 0 ? both : both >> SEEN_ROWS) & ((1u << SEEN_ROWS) - 1);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* right[i]: levels to the right in row i - 1; down[i]: between rows i - 1 and i; left[i]: to the
 * left in row i, of the lane before; next_down: of the lane after. */
struct rows_levels {
    uint32_t right[SEEN_ROWS], down[OWN_ROWS + 1], left[OWN_ROWS], next_down[OWN_ROWS + 1];
};

static __device__ __forceinline__ void find_levels(const rows_work &w, const rows_values &in,
                                                   rows_levels &l)
{
    const bool first = w.lane == 0, last = w.lane == QFZ_WARP - 1;
    uint32_t next_above = 0;
#pragma unroll
    for (int i = 0; i < SEEN_ROWS; i++) {
        const uint32_t side = side_of(w, in, i);
        uint32_t next = of_next_lane(in.v[i]);
        if (last) next = side;
        l.right[i] = difference2(in.v[i], shifted(in.v[i], next));
        if (i > 0 && i <= OWN_ROWS) {
            const uint32_t left = __shfl_up_sync(ALL_LANES, l.right[i], 1);
            l.left[i - 1] = first ? difference2(in.v[i] & 0xffff, side) << 16 : left;
        }
        if (i > 0) {
            l.down[i - 1] = difference2(in.v[i - 1], in.v[i]);
            l.next_down[i - 1] = difference2(next_above, next);
        }
        next_above = next;
    }
}

/* Bits row + 1 + 16 * column to bits 2 * row + 16 * column, of rows 0 to 7. */
static __device__ __forceinline__ uint32_t spread(uint32_t bits)
{
    uint32_t x = bits >> 1 & 0x00ff00ffu;
    x = (x | x << 4) & 0x0f0f0f0fu;
    x = (x | x << 2) & 0x33333333u;
    return (x | x << 1) & EVEN;
}

static __device__ __forceinline__ rows_there find_there(const rows_work &w, const rows_values &in)
{
    const uint32_t own = in.valid;
    uint32_t next = of_next_lane(own), before = __shfl_up_sync(ALL_LANES, own, 1);
    if (w.lane == QFZ_WARP - 1) next = in.side_valid;
    if (w.lane == 0) before = in.side_valid << 16;
    const uint32_t to_right = own & (own >> 16 | next << 16);
    const uint32_t to_left = own & (own << 16 | before >> 16);
    const uint32_t to_down = own & (own >> 1 & 0x01ff01ffu);
    const uint32_t square = to_right & (to_right >> 1 & 0x01ff01ffu);
    rows_there there;
    there.right = spread(to_right);
    there.left = spread(to_left);
    there.down = spread(to_down);
    there.up = spread(own & own << 1);
    there.square = spread(square);
    there.square_above = spread(square << 1);
    there.pixel = spread(own);
    return there;
}

/* ---- Choose ---------------------------------------------------------------------------------- */

/* A thread's pixels after they have chosen: twice the pixel that each points at, and levels; by
 * masks, which way they went, which wait and which have no edge. */
struct rows_chosen {
    uint32_t to[OWN_ROWS], top[OWN_ROWS + 1]; /* and the level of the row below */
    uint32_t right, left, down, up, waits, none;
};

/* Keys of a pixel's edges: level << 16 | twice the step to the other end + 128, or, of one that
 * leaves the block, OUT and no step.  So of edges of one level those inside the block come first,
 * then the order is that of ids, and only pixels on the rim choose an edge that is dropped. */
static const uint32_t TO_UP = 0, TO_LEFT = 126, TO_SELF = 128, TO_RIGHT = 130, TO_DOWN = 256;
static const uint32_t OUT = 0x4000u | TO_SELF;
static const uint32_t ROW_BELOW = 2 * QFZ_SIDE * ONES; /* twice the pixels of the next row */
static const uint32_t KEY_OF_NONE = 0xffff8000u | OUT;

/* Half C of a word of levels above a code of 16 bits. */
template <int C> static __device__ __forceinline__ uint32_t key_of(uint32_t word, uint32_t code)
{
    return __byte_perm(word, code, C ? 0x3254 : 0x1054);
}

/* The least key of pixel (j, C); code: of the ways up, left, right, down. */
template <bool FULL, int C>
static __device__ __forceinline__ uint32_t least_key(const rows_levels &l, const rows_there &there,
                                                     int j, const uint32_t code[4])
{
    const uint32_t bit = 1u << (2 * j + 16 * C);
    uint32_t up = key_of<C>(l.down[j], code[0]);
    uint32_t left = C ? key_of<0>(l.right[j + 1], code[1]) : key_of<1>(l.left[j], code[1]);
    uint32_t right = key_of<C>(l.right[j + 1], code[2]);
    uint32_t down = key_of<C>(l.down[j + 1], code[3]);
    if (!FULL) {
        up = there.up & bit ? up : KEY_OF_NONE;
        left = there.left & bit ? left : KEY_OF_NONE;
        right = there.right & bit ? right : KEY_OF_NONE;
        down = there.down & bit ? down : KEY_OF_NONE;
    }
    return min(min(up, left), min(right, down));
}

/* Pixels of the tile's ring wait from the first round on, so that each becomes a vertex. */
static __device__ __forceinline__ void keep_ring(const rows_work &w, const rows_there &there,
                                                 uint32_t self, rows_chosen &p)
{
    uint32_t ring = 0;
#pragma unroll
    for (int k = 0; k < 2 * OWN_ROWS; k++) {
        const int32_t y = w.box.y + w.warp * OWN_ROWS + k / 2, x = w.box.x + 2 * w.lane + k % 2;
        const bool on = y == 0 || y == w.forest.h - 1 || x == 0 || x == w.forest.w - 1;
        ring |= (on ? 1u : 0u) << (k / 2 * 2 + k % 2 * 16);
    }
    ring &= there.pixel;
    p.waits |= ring;
    p.none &= ~ring;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t mask = (ring >> (2 * j) & ONES) * 0xffffu;
        p.to[j] = (p.to[j] & ~mask) | ((self + (uint32_t)j * ROW_BELOW) & mask);
        p.top[j] &= ~mask;
    }
}

template <bool FULL>
static __device__ __forceinline__ void choose(const rows_work &w, const rows_levels &l,
                                              const rows_there &there, rows_chosen &p)
{
    const uint32_t zero = threadIdx.y; /* the compiler does not know: codes stay in registers */
    const uint32_t to_left = TO_LEFT + zero, to_right = TO_RIGHT + zero, to_down = TO_DOWN + zero;
    const uint32_t left = w.lane == 0 ? OUT : to_left;
    const uint32_t right = w.lane == QFZ_WARP - 1 ? OUT : to_right;
    const uint32_t first = (uint32_t)(w.warp * OWN_ROWS * QFZ_SIDE + 2 * w.lane) * 2;
    const uint32_t self = first | (first + 2) << 16; /* of row 0 */
    uint32_t right_down = 0, went_left = 0;
    p.waits = p.none = 0;
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const uint32_t up = j == 0 && w.warp == 0 ? OUT : TO_UP;
        const uint32_t down = j == OWN_ROWS - 1 && w.warp == WARPS - 1 ? OUT : to_down;
        const uint32_t code0[4] = {up, left, to_right, down}, code1[4] = {up, to_left, right, down};
        const uint32_t least0 = least_key<FULL, 0>(l, there, j, code0);
        const uint32_t least1 = least_key<FULL, 1>(l, there, j, code1);
        const uint32_t code = low_halves(least0, least1), waits = code >> 14 & ONES;
        p.waits += waits << (2 * j);
        right_down += (code >> 7 & 0x00030003u) << (2 * j);
        went_left += (code >> 6 & ONES) << (2 * j);
        if (!FULL) p.none += (code >> 15 & ONES) << (2 * j);
        /* What halves borrow from each other on the way, they give back. */
        p.to[j] = self - TO_SELF * ONES + (uint32_t)j * ROW_BELOW + (code & 0x01ff01ffu);
        p.top[j] = high_halves(least0, least1) & ~(waits * 0xffffu);
    }
    if (!FULL && w.forest.keeps_ring) keep_ring(w, there, self, p);
    p.right = right_down & EVEN & ~p.waits;
    p.down = right_down >> 1 & EVEN & ~p.waits;
    p.left = went_left & ~p.waits;
    p.up = EVEN & ~(p.right | p.down | p.left | p.waits);
}

/* Shows what other threads need to see. */
static __device__ __forceinline__ void publish(rows_work &w, const rows_chosen &p)
{
    uint32_t *const pixel = reinterpret_cast<uint32_t *>(w.m.pixel);
    uint32_t *const top = reinterpret_cast<uint32_t *>(w.m.top);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++) {
        const int at = (w.warp * OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane;
        pixel[at] = p.to[j];
        top[at] = p.top[j];
    }
    const unsigned up0 = __ballot_sync(ALL_LANES, p.up & 1);
    const unsigned up1 = __ballot_sync(ALL_LANES, p.up & 0x10000);
    if (w.lane == 0) w.m.chose_up[w.warp] = make_uint2(up0, up1);
}

/* ---- Number, settle -------------------------------------------------------------------------- */

/* Of two pixels that chose each other the first is the root. */
static __device__ __forceinline__ uint32_t roots_of(const rows_work &w, const rows_chosen &p)
{
    uint32_t next_left = of_next_lane(p.left);
    if (w.lane == QFZ_WARP - 1) next_left = 0;
    uint32_t below_up = p.up >> 2 & 0x3fff3fffu;
    if (w.warp < WARPS - 1) {
        const uint2 up = w.m.chose_up[w.warp + 1];
        below_up |= (up.x >> w.lane & 1) << 14 | (up.y >> w.lane & 1) << 30;
    }
    return (p.right & (p.left >> 16 | next_left << 16)) | (p.down & below_up);
}

/* Roots and pixels that wait get numbers. */
static __device__ __forceinline__ void number(rows_work &w, const rows_chosen &p)
{
    const uint32_t roots = roots_of(w, p), waits = p.waits & ~p.none;
    const uint32_t counts = (uint32_t)__popc(roots) << 16 | (uint32_t)__popc(waits);
    const uint32_t before = qfz_take(&w.m.n_numbers, counts);
    uint32_t active = SETTLED | (ACTIVE + (before >> 16)) * 4;
    uint16_t *const pixel = w.m.pixel + w.warp * OWN_ROWS * QFZ_SIDE + 2 * w.lane;
#pragma unroll
    for (int k = 0; k < 2 * OWN_ROWS; k++) {
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

/* A few steps on each way, of words in `from`; are all at their ends? */
template <int STEPS>
static __device__ __forceinline__ bool walk(const uint16_t *from, int32_t word[2 * OWN_ROWS])
{
    const char *const bytes = reinterpret_cast<const char *>(from);
    int32_t all = -1; /* words that are settled are negative */
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
#pragma unroll
        for (int k = 0; k < 2 * OWN_ROWS; k++) /* loads stand together, so that they overlap */
            if (word[k] >= 0) word[k] = *reinterpret_cast<const int16_t *>(bytes + word[k]);
        all = -1;
#pragma unroll
        for (int k = 0; k < 2 * OWN_ROWS; k++)
            all &= word[k];
        if (all < 0) break;
    }
    return all < 0;
}

static __device__ __forceinline__ void show(const rows_work &w, uint16_t *words,
                                            const int32_t word[2 * OWN_ROWS])
{
    uint32_t *const row = reinterpret_cast<uint32_t *>(words);
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
        row[(w.warp * OWN_ROWS + j) * (QFZ_SIDE / 2) + w.lane] =
            low_halves((uint32_t)word[2 * j], (uint32_t)word[2 * j + 1]);
}

/* Where the words of the row below a thread's are; in the last row of the block, those of its own
 * last row, which are not used. */
static __device__ __forceinline__ int below(const rows_work &w)
{
    const int y = min((w.warp + 1) * OWN_ROWS, QFZ_SIDE - 1);
    return y * (QFZ_SIDE / 2) + w.lane;
}

/* Every pixel's component, to pixel[]; a thread's and those below also to comp[], * 4.  After a few
 * steps each pixel goes on from where those it meets have got to, so that ways get shorter several
 * times over; once is enough mostly.  No words are written that others still read. */
static __device__ __forceinline__ void settle(rows_work &w, const rows_chosen &p,
                                              uint32_t comp[OWN_ROWS + 1])
{
    enum { FIRST = 3, THEN = 4 };
    int32_t word[2 * OWN_ROWS];
    bool done;
#pragma unroll
    for (int k = 0; k < 2 * OWN_ROWS; k++)
        word[k] = (int32_t)(k % 2 ? p.to[k / 2] >> 16 : p.to[k / 2] & 0xffff);
    do {
        (void)walk<FIRST>(w.m.pixel, word);
        show(w, w.m.further, word);
        __syncthreads();
        done = walk<THEN>(w.m.further, word);
        show(w, w.m.pixel, word);
    } while (!__syncthreads_and(done));
#pragma unroll
    for (int j = 0; j < OWN_ROWS; j++)
        comp[j] = low_halves((uint32_t)word[2 * j], (uint32_t)word[2 * j + 1]) & 0x7fff7fffu;
    comp[OWN_ROWS] = reinterpret_cast<const uint32_t *>(w.m.pixel)[below(w)] & 0x7fff7fffu;
}

#endif
