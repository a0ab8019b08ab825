/* SPDX-License-Identifier: MIT */
/* block.cuh - the block solver: Boruvka rounds inside blocks of 64 x 64 pixels, with pixels in
 * registers. There is a variant for each width of levels (16 or 32 bits) and for four and eight
 * neighbours. The steps, in all variants:
 *
 *   choose    every pixel hooks itself by its lightest edge
 *   number,   of two pixels that chose the same edge the first one is the root of a component;
 *   settle    components are numbered, and every pixel finds its component
 *   collect   edges between two components, except the heaviest edge of each square, form a list
 *   rounds    Boruvka rounds on that list, until almost every component waits for an edge that
 *             leaves the block
 *   span      the remaining components and edges become vertices and edges of the graph of blocks
 *   output    what else is wanted of the block (block_launch.cuh): the forest, or saliencies
 *
 * A component waits once its lightest edge leaves the block. A component that hooks itself to a
 * waiting one does not bring a lighter edge; so a waiting component waits until the end, and has a
 * pixel on the rim, the ring of the block's outermost pixels. Among edges of one level, those
 * inside the block come first; otherwise flat areas would wait at once. The top of a pixel is the
 * level of the edge by which it hooked itself in the first round.
 *
 * This file has what the steps share: the shared memory of a block, its constants and words, and
 * arithmetic on pairs of 16-bit halves.
 *
 * A thread has OWN_ROWS rows of two columns, whose two pixels are the halves of its words. A warp
 * thus has OWN_ROWS whole rows, and the pixel beside one comes from the next lane. Masks of a
 * thread's pixels, and of the edges to the right and down that start at them, have bit 2 * row + 16
 * * column. */
#pragma once

#include "gpu/forest/block_leaving.cuh"
#include "gpu/device/warp.cuh"

enum {
    ACTIVE = QFZ_ACTIVE,
    COMPS = QFZ_COMPS,
    OWN_ROWS = 8, /* rows of a thread, and those with the row above and the row below */
    SEEN_ROWS = OWN_ROWS + 2,
    EIGHT_ROWS = 4, /* the same with eight neighbours */
    EIGHT_SEEN = EIGHT_ROWS + 2
};
static const uint32_t ONES = 0x00010001u;

/* How a block is solved: the type of keys, which are level << 16 | 16 bits, the rows of a thread,
 * and whether a pixel has eight neighbours. */
template <typename KEY_, int OWN_ROWS_, bool EIGHT_ = false> struct block_shape {
    typedef KEY_ KEY;
    typedef typename qfz_top_of<KEY>::type LEVEL;
    enum {
        OWN_ROWS = OWN_ROWS_,
        WARPS = QFZ_SIDE / OWN_ROWS,
        THREADS = WARPS * QFZ_WARP,
        EIGHT = EIGHT_,
        /* Bounds of the list. Four neighbours: at most 1.5 edges a pixel, and one a row, are not
         * dropped. At least half of the pixels that do not wait hook themselves by such edges,
         * except those on the rim that prefer an edge inside; these edges are closed then. Eight
         * neighbours: three edges of a square are not dropped (eight_pixels.cuh), and an edge
         * that two squares share counts half in each: at most 2.5 edges a square, and half an edge
         * more for each on the rim; a pixel may hook itself by an edge that is dropped. */
        LIST_4 =
            3 * QFZ_FOREST_BLOCK_PX / 2 + QFZ_SIDE - (QFZ_FOREST_BLOCK_PX - QFZ_RIM) / 2 + QFZ_RIM,
        LIST_8 = (5 * (QFZ_SIDE - 1) * (QFZ_SIDE - 1) + QFZ_RIM) / 2,
        LIST = ((EIGHT ? (int)LIST_8 : (int)LIST_4) + 3) / 4 * 4, /* entries are loaded by fours */
        STARTS = EIGHT ? 4 : 2,                                   /* edges that start at a pixel */
        /* Shared memory is short: dead data lies in the list's place while the list is in use. */
        TIGHT = EIGHT && sizeof(KEY) > sizeof(uint32_t),
        /* Keys that fit in the list's place; a table of COMPS at least. */
        TABLES = LIST * (sizeof(uint32_t) + sizeof(LEVEL)) / sizeof(KEY)
    };
    static_assert((int)TABLES >= (int)COMPS, "room for a table");
    /* Rows with tops in shared memory; with more, four blocks would not fit a multiprocessor. */
    enum { SHARED_TOPS = sizeof(KEY) == sizeof(uint32_t) && OWN_ROWS == 8 ? 6 : 0 };
    /* Masks of all of a thread's pixels, and of all but those in its last row. */
    static const uint32_t EVEN = (0x5555u >> (16 - 2 * OWN_ROWS)) * ONES;
    static const uint32_t NOT_LAST = (0x5555u >> (18 - 2 * OWN_ROWS)) * ONES;
};

typedef block_shape<uint32_t, OWN_ROWS> narrow_shape;
typedef block_shape<unsigned long long, OWN_ROWS> wide_shape;
typedef block_shape<uint32_t, EIGHT_ROWS, true> eight_shape;
typedef block_shape<unsigned long long, EIGHT_ROWS, true> eight_wide_shape;

/* A pixel's word: SETTLED | its component * 4, or, while unsettled, twice the number of the pixel
 * to which it hooked itself. Component numbers are multiplied by 4, the byte offset in a table of
 * words, which saves shifts. */
enum { SETTLED = 0x8000, NO_EDGE = SETTLED | (ACTIVE - 1) * 4 };

/* Keys are level << 16 | place in the list, or level << 16 | LEAVES; the latter may have DROPPED
 * set or, with eight neighbours, which of three edges it is (eight_pixels.cuh). */
enum { LEAVES = 0x8000, DROPPED = 1 };

/* Flags of a root: WAITS: its lightest edge leaves the block. ENDED: it has no edge left. */
enum { WAITS = 1, ENDED = 2, ROOT = QFZ_STEP_ROOT << QFZ_STEP_BITS };

/* Sides of the block: offsets in arrays of 4 * QFZ_SIDE entries, one for each place on a side. */
enum { TOP = 0, LEFT = QFZ_SIDE, RIGHT = 2 * QFZ_SIDE, BOTTOM = 3 * QFZ_SIDE };

/* Eight neighbours only: the levels of the edges that leave the block, by kind and place
 * (block_leaving.cuh), and masks of the needed edges of the squares that begin in the last
 * column and the last row. */
template <bool EIGHT, typename LEVEL> struct leaving_levels {
};
template <typename LEVEL> struct leaving_levels<true, LEVEL> {
    __align__(8) LEVEL level[QFZ_LEAVING_KINDS][QFZ_SIDE];
    uint32_t right[QFZ_SIDE / 4], bottom[QFZ_WARP];
    uint32_t corner; /* level of the edge up and right from the last column's first pixel, or
                      * QFZ_NONE */
};

/* The tops of N rows of each thread. */
template <int N, int THREADS> struct shared_tops {
    uint32_t two[N][THREADS];
};
template <int THREADS> struct shared_tops<0, THREADS> {
};

template <typename SHAPE> struct block_memory {
    typedef typename SHAPE::KEY KEY;
    typedef typename SHAPE::LEVEL LEVEL;
    KEY best[COMPS]; /* the key that a component chose; in the end its hook (block_rounds.cuh) */
    uint16_t name[COMPS];              /* of a component that hooked itself: its root * 4 | flags */
    KEY leave[4 * QFZ_SIDE];           /* keys of edges that leave the block */
    uint16_t leave_comp[4 * QFZ_SIDE]; /* component * 4 of such an edge's pixel in the block */
    leaving_levels<SHAPE::EIGHT, LEVEL> leaving;
    /* Bits of lanes, by column: which pixels of a warp's first row chose the way up; with eight
     * neighbours, which edges of the next warp's first row the warp's last squares drop. */
    uint2 at_seam[SHAPE::WARPS];
    union {
        uint16_t pixel_here[SHAPE::TIGHT ? 1 : QFZ_FOREST_BLOCK_PX];
        struct {
            uint16_t step[COMPS]; /* round << QFZ_STEP_BITS | component, or ROOT | flags */
            /* roots of even and odd rounds that are not done */
            uint16_t even[QFZ_FOREST_BLOCK_PX / 8], odd[QFZ_FOREST_BLOCK_PX / 4];
        };
        struct { /* while the spanning forest is made */
            KEY lightest[QFZ_VERTICES];
            uint32_t tree_ends[QFZ_VERTICES];
            LEVEL tree_level[QFZ_VERTICES];
            uint16_t set[QFZ_VERTICES], taken[QFZ_VERTICES];
        };
        uint32_t open[SHAPE::EIGHT ? 1 : QFZ_FOREST_BLOCK_PX / 2]; /* the output's, at the end */
    };
    union {
        struct {
            uint16_t further[(SHAPE::TIGHT ? 2 : 1) * QFZ_FOREST_BLOCK_PX]; /* pixel words */
            LEVEL top[QFZ_FOREST_BLOCK_PX];
        };
        struct {
            __align__(16) uint32_t ends[SHAPE::LIST]; /* two components * 4, or two vertices */
            __align__(8) LEVEL level[SHAPE::LIST];
        };
        /* Per component: greatest level, and component * 4 or vertex. */
        KEY table[SHAPE::TABLES];
    };
    shared_tops<SHAPE::SHARED_TOPS, SHAPE::THREADS> tops;

    /* The words of pixels; in the end all are settled. */
    QFZ_DEVICE uint16_t *pixel()
    {
        return SHAPE::TIGHT ? further + QFZ_FOREST_BLOCK_PX : pixel_here;
    }

    uint32_t n_numbers; /* components after the first round: active << 16 | waiting */
    uint32_t n_list, n_next, n_tree, n_vertices, n_leaving, n_open, first_vertex, first_edge;
};

/* Levels of two pixels or edges: as halves of a word, or as two words. Masks have bits 0 and 16. */
struct pair16 {
    uint32_t two;
};

struct pair32 {
    uint32_t level[2];
};

template <typename LEVEL> struct pair_of;
template <> struct pair_of<uint16_t> {
    typedef pair16 type;
};
template <> struct pair_of<uint32_t> {
    typedef pair32 type;
};

/* The context of a block's functions: shared memory, the forest, the block's box, and the thread's
 * number, lane and warp. */
template <typename SHAPE_> struct block_work {
    typedef SHAPE_ SHAPE;
    typedef typename SHAPE::KEY KEY;
    typedef typename SHAPE::LEVEL LEVEL;
    typedef typename pair_of<LEVEL>::type PAIR;
    enum { OWN_ROWS = SHAPE::OWN_ROWS, WARPS = SHAPE::WARPS, THREADS = SHAPE::THREADS };
    enum { SEEN_ROWS = OWN_ROWS + 2 }; /* the thread's rows, the row above and the row below */
    static const KEY NO_KEY = ~(KEY)0;
    block_memory<SHAPE> &m;
    const qfz_gpu_forest &forest;
    qfz_block_box box;
    int thread, lane, warp;
};

/* A warp's part of the list. */
struct list_part {
    uint32_t first, n;
};

/* Edges to the right and down, as masks. */
struct edge_masks {
    uint32_t right, down;
};

/* A thread's edges inside the block, for the list: levels, and masks of the needed ones. */
template <typename WORK> struct four_edges {
    typename WORK::PAIR right[WORK::OWN_ROWS], down[WORK::OWN_ROWS];
    uint32_t needed_r, needed_d;
};
template <typename WORK> struct eight_edges {
    typename WORK::PAIR right[WORK::OWN_ROWS], down[WORK::OWN_ROWS], diagonal[WORK::OWN_ROWS],
        anti[WORK::OWN_ROWS];
    uint32_t needed;
};

/* In place of masks of the edges that exist, where the levels of 32 bits have QFZ_NONE. */
struct not_needed {
};

/* ---- Two halves ------------------------------------------------------------------------------ */

/* The two pixels one place to the right; next: the word of the next lane. */
QFZ_DEVICE uint32_t shifted(uint32_t word, uint32_t next)
{
    return __byte_perm(word, next, 0x5432);
}

QFZ_DEVICE uint32_t of_next_lane(uint32_t word)
{
    return __shfl_down_sync(QFZ_ALL_LANES, word, 1);
}

QFZ_DEVICE uint32_t low_halves(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x5410);
}

QFZ_DEVICE uint32_t high_halves(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x7632);
}

/* 1 in each half that is not 0. */
QFZ_DEVICE uint32_t ones_of(uint32_t word)
{
    return __vminu2(word, ONES);
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

QFZ_DEVICE pair16 greater(pair16 a, pair16 b)
{
    return {__vmaxu2(a.two, b.two)};
}

QFZ_DEVICE pair32 greater(const pair32 &a, const pair32 &b)
{
    return {{max(a.level[0], b.level[0]), max(a.level[1], b.level[1])}};
}

/* The two pixels one place to the right. */
QFZ_DEVICE pair16 to_right(pair16 a)
{
    return {shifted(a.two, of_next_lane(a.two))};
}

QFZ_DEVICE pair32 to_right(const pair32 &a)
{
    return {{a.level[1], of_next_lane(a.level[0])}};
}

/* One place to the left; QFZ_NONE left of the block where levels have 32 bits, else any value. */
template <typename WORK> QFZ_DEVICE pair16 to_left(const WORK &, pair16 a)
{
    return {shifted(__shfl_up_sync(QFZ_ALL_LANES, a.two, 1), a.two)};
}

template <typename WORK> QFZ_DEVICE pair32 to_left(const WORK &w, const pair32 &a)
{
    const uint32_t before = __shfl_up_sync(QFZ_ALL_LANES, a.level[1], 1);
    return {{w.lane == 0 ? QFZ_NONE : before, a.level[0]}};
}

/* old = level where a and b are equal. */
QFZ_DEVICE void replace_where_equal(pair16 &old, pair16 a, pair16 b, pair16 level)
{
    const uint32_t mask = ones_of(a.two ^ b.two) * 0xffffu;
    old.two = (old.two & mask) | (level.two & ~mask);
}

QFZ_DEVICE void replace_where_equal(pair32 &old, const pair32 &a, const pair32 &b,
                                    const pair32 &level)
{
    QFZ_EACH (c, 2)
        if (a.level[c] == b.level[c]) old.level[c] = level.level[c];
}

/* 0 where the mask has no bit. */
QFZ_DEVICE pair16 only_where(pair16 a, uint32_t mask)
{
    return {a.two & mask * 0xffffu};
}

QFZ_DEVICE pair32 only_where(const pair32 &a, uint32_t mask)
{
    return {{mask & 1 ? a.level[0] : 0, mask >> 16 & 1 ? a.level[1] : 0}};
}

/* a = 0 where the bits `bit` and `bit` + 16 are set. */
QFZ_DEVICE void clear_where(pair16 &a, uint32_t bits, int bit)
{
    a.two &= ~((bits >> bit & ONES) * 0xffffu);
}

QFZ_DEVICE void clear_where(pair32 &a, uint32_t bits, int bit)
{
    QFZ_EACH (c, 2)
        if (bits >> (bit + 16 * c) & 1) a.level[c] = 0;
}

/* QFZ_NONE, as far as it has bits, where the mask has no bit. */
QFZ_DEVICE pair16 none_where_missing(pair16 a, uint32_t mask)
{
    return {a.two | (mask ^ ONES) * 0xffffu};
}

QFZ_DEVICE pair32 none_where_missing(const pair32 &a, uint32_t)
{
    return a; /* edges that do not exist have that level */
}

/* As halves of a word, of numbers of 16 bits. */
QFZ_DEVICE uint32_t halves_of(pair16 a)
{
    return a.two;
}

QFZ_DEVICE uint32_t halves_of(const pair32 &a)
{
    return low_halves(a.level[0], a.level[1]);
}

QFZ_DEVICE void store_pair(uint16_t *out, pair16 a)
{
    *reinterpret_cast<uint32_t *>(out) = a.two;
}

QFZ_DEVICE void store_pair(uint16_t *out, const pair32 &a)
{
    *reinterpret_cast<uint32_t *>(out) = halves_of(a);
}

QFZ_DEVICE void store_pair(uint32_t *out, const pair32 &a)
{
    *reinterpret_cast<uint2 *>(out) = make_uint2(a.level[0], a.level[1]);
}

QFZ_DEVICE pair16 load_pair(const uint16_t *in)
{
    return {*reinterpret_cast<const uint32_t *>(in)};
}

QFZ_DEVICE pair32 load_pair(const uint32_t *in)
{
    const uint2 two = *reinterpret_cast<const uint2 *>(in);
    return {{two.x, two.y}};
}

QFZ_DEVICE uint32_t item_of(pair16 a, int c)
{
    return c ? a.two >> 16 : a.two & 0xffff;
}

QFZ_DEVICE uint32_t item_of(const pair32 &a, int c)
{
    return a.level[c];
}

/* Stores items of the two pixels of row j, at `out`. FULL: both are in the tile and aligned. */
template <bool FULL, typename T, typename WORK, typename PAIR>
QFZ_DEVICE void store_two_px(const WORK &w, int j, T *out, const PAIR &two)
{
    const int y = w.warp * WORK::OWN_ROWS + j, x = 2 * w.lane;
    if (FULL) store_pair(out, two);
    QFZ_EACH (c, 2)
        if (!FULL && y < w.box.h && x + c < w.box.w) out[c] = (T)item_of(two, c);
}

/* Of masks of a thread's edges: those of row j in a direction (core/level.h), at bits 0 and 16.
 * With eight neighbours masks are one word, with bit row + EIGHT_ROWS * direction + 16 * column. */
QFZ_DEVICE uint32_t ones_at(const edge_masks &masks, int direction, int j)
{
    return (direction == QFZ_RIGHT ? masks.right : masks.down) >> (2 * j) & ONES;
}

QFZ_DEVICE uint32_t ones_at(uint32_t masks, int direction, int j)
{
    return masks >> (EIGHT_ROWS * direction + j) & ONES;
}

/* ---- Components ------------------------------------------------------------------------------ */

/* The element at a byte offset. */
template <typename T> QFZ_DEVICE T &at_byte(T *array, uint32_t offset)
{
    return *reinterpret_cast<T *>(reinterpret_cast<char *>(array) + offset);
}

/* The entry of component comp4 / 4 in a table of keys. */
template <typename KEY> QFZ_DEVICE KEY &of_comp(KEY *table, uint32_t comp4)
{
    return at_byte(table, comp4 * (uint32_t)(sizeof(KEY) / sizeof(uint32_t)));
}

/* The masks of a thread's edges to the right and down that do not leave the block. */
template <typename WORK>
QFZ_DEVICE void edges_inside(const WORK &w, uint32_t *right, uint32_t *down)
{
    typedef typename WORK::SHAPE shape;
    *right = w.lane == QFZ_WARP - 1 ? shape::EVEN & 0xffffu : shape::EVEN;
    *down = w.warp == WORK::WARPS - 1 ? shape::NOT_LAST : shape::EVEN;
}
