/* SPDX-License-Identifier: MIT */
/* filter_block.cuh - a block of 64 x 64 pixels in shared memory, in which light components join
 * (filter_block.cu).
 *
 * A pixel of the block has the number row * SIDE + column.  Its cell is a place in rows of COLUMNS,
 * with a frame of cells around the block.  The frame's right column is the left one, a row further
 * down, and below it is room for what warps read beyond it.  An edge is a cell * DIRS + a
 * direction, so that the vertices at its two ends are at fixed places, inside the block or not. */
#pragma once

#include "gpu/filter/filter_edges.cuh"
#include "gpu/forest/boruvka_parts.cuh"

enum { SIDE = QFZ_SIDE, PX = SIDE * SIDE, COLUMNS = SIDE + 1, CELLS = (SIDE + 3) * COLUMNS };

/* In place of a pixel, an edge or a vertex of the block. */
static const uint32_t NOTHING = 0xffff, OUTSIDE = PX, HEAVY = PX + 1;

/* Words of block_memory.next that are no half of an edge. */
static const uint32_t TO_HEAVY = 0xfffd, TO_OUTSIDE = 0xfffe, LAST = 0x8000;

static const uint32_t NO_KEY = UINT32_MAX;

/* Thread blocks on a multiprocessor, if shared memory suffices: devices of compute capability 8.0,
 * 9.0 and 10.0 run 2048 threads, others 1024 or 1536. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
static const int most_resident = 1;
#else
static const int most_resident = 2;
#endif

/* Sizes for N neighbours.  A warp lists the edges of some cells. */
template <int N> struct block_shape {
    enum {
        DIRS = N / 2,
        THREADS = 1024,
        RESIDENT = N == 4 ? most_resident : 1,
        OWN = PX / THREADS,
        WARPS = THREADS / QFZ_WARP,
        CELLS_OF_WARP = ((SIDE + 1) * COLUMNS + 1 + WARPS - 1) / WARPS,
        ROOM_OF_WARP = CELLS_OF_WARP * DIRS
    };
};

template <int N> struct block_memory {
    using shape = block_shape<N>;
    uint32_t best[PX]; /* by vertex: key of its first edge; of its edge in the forest; at last the
                          result of the part */
    uint32_t mass[PX]; /* by vertex; then by part */
    uint16_t edge[PX]; /* by vertex: its edge in the forest */
    union {
        uint16_t root[CELLS]; /* by cell: its vertex, while rounds join vertices */
        uint16_t open[PX];    /* list of vertices: their edges join more than a part */
        uint16_t behind[PX];  /* by pixel of a component that is a list: the next one */
    };
    union {
        struct {
            uint32_t key[shape::WARPS * shape::ROOM_OF_WARP]; /* by edge */
            uint16_t list[shape::WARPS * shape::ROOM_OF_WARP];
        };
        struct {
            uint32_t part[PX]; /* by pixel: its part */
            uint32_t head[PX]; /* by part: a half; key of the first edge; a pixel of the list */
            union {
                uint16_t next[2 * PX]; /* by half of an edge: the next one, or LAST | the part */
                struct {
                    uint16_t first[PX];      /* by part: index in open */
                    uint32_t zeroed[PX / 4]; /* as in qfz_gpu_filter */
                };
            };
        };
    };
    uint32_t marked[PX / 32]; /* by vertex or part, one bit (filter_block.cu, filter_walk.cuh) */
    uint32_t n_open, n_leaving, first_leaving;
};

/* A block, which begins at pixel (y, x) of the tile. */
template <typename T, int N> struct block_work {
    using shape = block_shape<N>;
    block_memory<N> &m;
    qfz_filter_edges<T> edges;
    int32_t y, x, h, w;

    QFZ_DEVICE int2 at(uint32_t p) const
    {
        return make_int2(x + (int32_t)(p % SIDE), y + (int32_t)(p / SIDE));
    }
    /* The number of a pixel by row and column; NOTHING if it is not in the block. */
    QFZ_DEVICE uint32_t number(int32_t row, int32_t column) const
    {
        const bool inside = row >= 0 && row < h && column >= 0 && column < w;
        return inside ? (uint32_t)(row * SIDE + column) : NOTHING;
    }
    QFZ_DEVICE bool has(uint32_t p) const
    {
        return (int32_t)(p / SIDE) < h && (int32_t)(p % SIDE) < w;
    }
    /* The i-th pixel of this thread. */
    QFZ_DEVICE uint32_t own(uint32_t i) const
    {
        return threadIdx.x + i * shape::THREADS;
    }

    /* ---- Cells and edges */
    QFZ_DEVICE static uint32_t cell(uint32_t p)
    {
        return p + p / SIDE + COLUMNS + 1;
    }
    QFZ_DEVICE static uint32_t beyond(uint32_t dir)
    {
        return dir == QFZ_RIGHT         ? 1
               : dir == QFZ_BELOW       ? COLUMNS
               : dir == QFZ_BELOW_RIGHT ? COLUMNS + 1
                                        : COLUMNS - 1;
    }
    QFZ_DEVICE static uint32_t edge_of(uint32_t p, int side)
    {
        const uint32_t dir = (uint32_t)side / 2, from = cell(p) - (side % 2 ? beyond(dir) : 0);
        return from * shape::DIRS + dir;
    }
    QFZ_DEVICE static int side(uint32_t edge)
    {
        return (int)(2 * (edge % shape::DIRS));
    }
    QFZ_DEVICE uint32_t px_of_cell(uint32_t cell) const
    {
        return number((int32_t)(cell / COLUMNS) - 1, (int32_t)(cell % COLUMNS) - 1);
    }
    /* The two pixels of an edge. */
    QFZ_DEVICE uint32_t first(uint32_t edge) const
    {
        return px_of_cell(edge / shape::DIRS);
    }
    QFZ_DEVICE uint32_t second(uint32_t edge) const
    {
        return px_of_cell(edge / shape::DIRS + beyond(edge % shape::DIRS));
    }
    /* The vertices at its two ends. */
    QFZ_DEVICE uint32_t first_root(uint32_t edge) const
    {
        return m.root[edge / shape::DIRS];
    }
    QFZ_DEVICE uint32_t second_root(uint32_t edge) const
    {
        return m.root[edge / shape::DIRS + beyond(edge % shape::DIRS)];
    }
    QFZ_DEVICE bool is_between_vertices(uint32_t edge) const
    {
        const uint32_t a = first_root(edge), b = second_root(edge);
        return a != b && (a < PX || b < PX);
    }
    /* Where an edge starts; a pixel of the tile if there is such an edge. */
    QFZ_DEVICE int2 start(uint32_t edge) const
    {
        const int32_t cell = (int32_t)(edge / shape::DIRS);
        const int32_t row = cell / COLUMNS - 1, column = cell % COLUMNS - 1;
        if (column < 0 && edge % shape::DIRS == QFZ_BELOW_LEFT)
            return make_int2(x + SIDE, y + row - 1);
        return make_int2(x + column, y + row);
    }
    QFZ_DEVICE qfz_filter_edge with_level(uint32_t edge) const
    {
        return {start(edge), side(edge), edges.level(start(edge), side(edge))};
    }
    QFZ_DEVICE bool is_before(uint32_t a, uint32_t b) const
    {
        return qfz_filter_is_before(edges, with_level(a), with_level(b));
    }

    /* ---- Keys: of two edges, the later one does not have the smaller one */
    QFZ_DEVICE static uint32_t key_of(uint32_t level, uint64_t position)
    {
        const int bits = 8 * (int)sizeof(T);
        const uint32_t key =
            bits == 32 ? level : level << (32 - bits) | (uint32_t)(position >> (32 + bits));
        return min(key, NO_KEY - 1);
    }
    QFZ_DEVICE static bool is_above_0(uint32_t key)
    {
        return key >> (32 - 8 * (int)sizeof(T)) > 0;
    }

    /* ---- Parts */
    QFZ_DEVICE uint32_t part(uint32_t p) const
    {
        return p == NOTHING ? OUTSIDE : m.part[p];
    }

    /* ---- Pixels of the tile */
    QFZ_DEVICE uint32_t px_of(uint32_t p) const
    {
        const int2 pixel = at(p);
        return (uint32_t)pixel.y * (uint32_t)edges.f.w + (uint32_t)pixel.x;
    }
    QFZ_DEVICE uint32_t number_of_px(uint32_t px) const
    {
        const uint32_t row = (uint32_t)edges.f.w;
        return number((int32_t)(px / row) - y, (int32_t)(px % row) - x);
    }
    QFZ_DEVICE uint8_t &zeroed(uint32_t p) const
    {
        return reinterpret_cast<uint8_t *>(edges.f.d_zeroed)[px_of(p)];
    }
};

/* What a thread knows of its pixels; bit i: of own(i). */
template <int N> struct own_pixels {
    uint16_t vertex[block_shape<N>::OWN];
    uint32_t takes;  /* a vertex that takes its first edge */
    uint32_t joined; /* a vertex with an edge in the forest */
    uint32_t light;  /* this edge joins to less than N */
};

/* Puts `value` into words[at] if that is NOTHING, or if is_before(value, what it is). */
template <typename IS_BEFORE>
QFZ_DEVICE void offer(uint16_t *words, uint32_t at, uint32_t value, const IS_BEFORE &is_before)
{
    uint32_t *const word = reinterpret_cast<uint32_t *>(words) + at / 2;
    const uint32_t shift = at % 2 * 16;
    for (uint32_t old = qfz_in_shared::read(word);;) {
        const uint32_t has = old >> shift & 0xffff;
        if (has == value || (has != NOTHING && !is_before(value, has))) return;
        const uint32_t was = atomicCAS(word, old, (old & ~(0xffffu << shift)) | value << shift);
        if (was == old) return;
        old = was;
    }
}

/* Adds a weight; a sum that does not fit is at least N. */
QFZ_DEVICE void add_mass(uint32_t *sum, uint32_t mass, uint32_t least)
{
    if (atomicAdd(sum, mass) > UINT32_MAX - mass) atomicMax(sum, least);
}
