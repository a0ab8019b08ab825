/* SPDX-License-Identifier: MIT */
/* saliency_block.cuh - what the steps of a block of saliency.cuh share: its memory, words, pairs of
 * halves.
 *
 * A thread has OWN_ROWS rows of two columns, which are the halves of its words; so a warp has as
 * many whole rows, and what is beside a pixel comes from the next lane.  Masks of a thread's
 * pixels, and of the edges to the right and down that start at them, have bit 2 * row + 16 *
 * column. */
#ifndef QFZ_GPU_SALIENCY_BLOCK_CUH
#define QFZ_GPU_SALIENCY_BLOCK_CUH

#include "gpu/saliency/saliency_leaving.cuh"
#include "gpu/device/warp.cuh"

enum {
    ACTIVE = 256, /* the first component that does not wait after the first round */
    COMPS = ACTIVE + QFZ_BLOCK_PX / 2
};
static const uint32_t ONES = 0x00010001u, ALL_LANES = 0xffffffffu;

/* How blocks are done: the type of keys, which are level << 16 | 16 bits, a thread's rows, and
 * whether a pixel has eight neighbours. */
template <typename KEY_, int OWN_ROWS_, bool EIGHT_ = false> struct saliency_shape {
    typedef KEY_ KEY;
    typedef typename qfz_top_of<KEY>::type LEVEL;
    enum {
        OWN_ROWS = OWN_ROWS_,
        WARPS = QFZ_SIDE / OWN_ROWS,
        THREADS = WARPS * QFZ_WARP,
        EIGHT = EIGHT_,
        /* At most 1.5 edges a pixel, and one a row, are not dropped.  At least half of the pixels
         * that do not wait hook themselves, by such edges, but for those on the rim that prefer an
         * edge inside; these edges are closed then.  Of eight neighbours three edges of a square
         * are not dropped (saliency_eight.cuh), and each that it shares counts half: at most 2.5 of
         * a square, and half an edge more for each that lies on the rim; a pixel may hook itself by
         * one that is. */
        LIST_4 = 3 * QFZ_BLOCK_PX / 2 + QFZ_SIDE - (QFZ_BLOCK_PX - QFZ_RIM) / 2 + QFZ_RIM,
        LIST_8 = (5 * (QFZ_SIDE - 1) * (QFZ_SIDE - 1) + QFZ_RIM) / 2,
        LIST = ((EIGHT ? (int)LIST_8 : (int)LIST_4) + 3) / 4 * 4, /* loaded by fours */
        STARTS = EIGHT ? 4 : 2,                                   /* edges that start at a pixel */
        /* Memory is short: what is not needed while there is the list lies in its place. */
        TIGHT = EIGHT && sizeof(KEY) > sizeof(uint32_t),
        /* Words in the list's place: a table of COMPS at least. */
        TABLES = LIST * (sizeof(uint32_t) + sizeof(LEVEL)) / sizeof(KEY)
    };
    static_assert((int)TABLES >= (int)COMPS, "room for a table");
    /* Rows of a thread whose levels the block's memory keeps; more would be too much for four
     * blocks on a multiprocessor. */
    enum { SHARED_TOPS = sizeof(KEY) == sizeof(uint32_t) && OWN_ROWS == 8 ? 6 : 0 };
    /* Masks of all of a thread's pixels, and of all but those in its last row. */
    static const uint32_t EVEN = (0x5555u >> (16 - 2 * OWN_ROWS)) * ONES;
    static const uint32_t NOT_LAST = (0x5555u >> (18 - 2 * OWN_ROWS)) * ONES;
};

typedef saliency_shape<uint32_t, 8> narrow_shape;

/* A pixel's word: SETTLED | its component * 4, or else twice the pixel that it hooked itself to;
 * components are counted in bytes of a table of words, so that they need not be shifted. */
enum { SETTLED = 0x8000, NO_EDGE = SETTLED | (ACTIVE - 1) * 4 };

/* Keys are level << 16 | place in the list, or level << 16 | LEAVES, perhaps | DROPPED, or, of
 * eight neighbours, | which of three (saliency_eight.cuh). */
enum { LEAVES = 0x8000, DROPPED = 1 };

/* Flags of a component that is a root: its lightest edge leaves the block; it has no edge. */
enum { WAITS = 1, ENDED = 2, ROOT = QFZ_STEP_ROOT << QFZ_STEP_BITS };

/* Sides of the block, in arrays of 4 * QFZ_SIDE by side and place on it. */
enum { TOP = 0, LEFT = QFZ_SIDE, RIGHT = 2 * QFZ_SIDE, BOTTOM = 3 * QFZ_SIDE };

/* What is known, of eight neighbours, of the edges that leave the block, by kind and place as
 * saliency_leaving.cuh has them; and of the squares that begin at the pixels of the last column and
 * the last row which edges are needed. */
template <bool EIGHT, typename LEVEL> struct leaving_levels {
};
template <typename LEVEL> struct leaving_levels<true, LEVEL> {
    __align__(8) LEVEL level[QFZ_LEAVING_KINDS][QFZ_SIDE];
    uint32_t right[QFZ_SIDE / 4], bottom[QFZ_WARP];
    uint32_t corner; /* level of the edge up from the last column, or QFZ_NONE */
};

/* Levels of N of a thread's rows. */
template <int N, int THREADS> struct shared_tops {
    uint32_t two[N][THREADS];
};
template <int THREADS> struct shared_tops<0, THREADS> {
};

template <typename SHAPE> struct saliency_memory {
    typedef typename SHAPE::KEY KEY;
    typedef typename SHAPE::LEVEL LEVEL;
    KEY best[COMPS]; /* the key that a component chose, at last its hook (saliency_rounds.cuh) */
    uint16_t name[COMPS];              /* of a component that went on: its root * 4 | flags */
    KEY leave[4 * QFZ_SIDE];           /* keys of edges out of the block */
    uint16_t leave_comp[4 * QFZ_SIDE]; /* the component * 4 that such an edge starts at */
    leaving_levels<SHAPE::EIGHT, LEVEL> leaving;
    /* By column, bits of lanes: what pixels of a warp's first row chose to go up; of eight
     * neighbours, what its last row drops of the next one. */
    uint2 at_seam[SHAPE::WARPS];
    union {
        uint16_t pixel_here[SHAPE::TIGHT ? 1 : QFZ_BLOCK_PX];
        struct {
            uint16_t step[COMPS]; /* round << QFZ_STEP_BITS | component, or ROOT | flags */
            uint16_t even[QFZ_BLOCK_PX / 8], odd[QFZ_BLOCK_PX / 4]; /* roots that go on */
        };
        struct { /* of the spanning tree */
            KEY lightest[QFZ_VERTICES];
            uint32_t tree_ends[QFZ_VERTICES];
            LEVEL tree_level[QFZ_VERTICES];
            uint16_t set[QFZ_VERTICES], taken[QFZ_VERTICES];
        };
        uint32_t open[SHAPE::EIGHT ? 1 : (int)QFZ_OPEN_ROOM]; /* as in saliency.cuh */
    };
    union {
        struct {
            uint16_t further[(SHAPE::TIGHT ? 2 : 1) * QFZ_BLOCK_PX]; /* words */
            LEVEL top[QFZ_BLOCK_PX];
        };
        struct {
            __align__(16) uint32_t ends[SHAPE::LIST]; /* two components * 4, or vertices */
            __align__(8) LEVEL level[SHAPE::LIST];
        };
        /* Of components: greatest level, component * 4 or vertex. */
        KEY table[SHAPE::TABLES];
    };
    shared_tops<SHAPE::SHARED_TOPS, SHAPE::THREADS> tops;

    /* Words of pixels, settled in the end. */
    __device__ __forceinline__ uint16_t *pixel()
    {
        return SHAPE::TIGHT ? further + QFZ_BLOCK_PX : pixel_here;
    }

    uint32_t n_numbers; /* components of the first round: active << 16 | waiting */
    uint32_t n_list, n_next, n_tree, n_vertices, n_leaving, n_open, first_vertex, first_edge;
};

/* What the functions of a block share. */
template <typename SHAPE_> struct saliency_work {
    typedef SHAPE_ SHAPE;
    typedef typename SHAPE::KEY KEY;
    typedef typename SHAPE::LEVEL LEVEL;
    enum { OWN_ROWS = SHAPE::OWN_ROWS, WARPS = SHAPE::WARPS, THREADS = SHAPE::THREADS };
    enum { SEEN_ROWS = OWN_ROWS + 2 }; /* its own, the one above and the one below */
    static const KEY NO_KEY = ~(KEY)0;
    saliency_memory<SHAPE> &m;
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

/* ---- Two halves ------------------------------------------------------------------------------ */

/* The halves one place to the right, next being the word of the lane to the right. */
static __device__ __forceinline__ uint32_t shifted(uint32_t word, uint32_t next)
{
    return __byte_perm(word, next, 0x5432);
}

static __device__ __forceinline__ uint32_t of_next_lane(uint32_t word)
{
    return __shfl_down_sync(ALL_LANES, word, 1);
}

static __device__ __forceinline__ uint32_t low_halves(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x5410);
}

static __device__ __forceinline__ uint32_t high_halves(uint32_t a, uint32_t b)
{
    return __byte_perm(a, b, 0x7632);
}

/* 1 in each half that is not 0. */
static __device__ __forceinline__ uint32_t ones_of(uint32_t word)
{
    return __vminu2(word, ONES);
}

/* ---- Components ------------------------------------------------------------------------------ */

/* array[offset], that being counted in bytes. */
template <typename T> static __device__ __forceinline__ T &at_byte(T *array, uint32_t offset)
{
    return *reinterpret_cast<T *>(reinterpret_cast<char *>(array) + offset);
}

/* Of a table of keys: a component * 4. */
template <typename KEY> static __device__ __forceinline__ KEY &of_comp(KEY *table, uint32_t comp4)
{
    return at_byte(table, comp4 * (uint32_t)(sizeof(KEY) / sizeof(uint32_t)));
}

/* A thread's edges to the right and down that do not leave the block. */
template <typename WORK>
static __device__ __forceinline__ void edges_inside(const WORK &w, uint32_t *right, uint32_t *down)
{
    typedef typename WORK::SHAPE shape;
    *right = w.lane == QFZ_WARP - 1 ? shape::EVEN & 0xffffu : shape::EVEN;
    *down = w.warp == WORK::WARPS - 1 ? shape::NOT_LAST : shape::EVEN;
}

#endif
