/* SPDX-License-Identifier: MIT */
/* filter_block.cuh - a block of 63 x 63 pixels in shared memory, in which clusters of the area
 * filter grow (filter_block.cu).
 *
 * Around the pixels of the block is a frame of one pixel on each side.  The cells of pixels and
 * frame are numbered in rows of COLUMNS.  A quad is a cell that has cells on its right and below
 * it; its edges are those between it and these, and with 8 neighbours the two diagonals of the four
 * cells.  So the edges of 64 x 64 quads are all edges of the block's pixels.  A pixel, and a
 * cluster, has the number of its quad. */
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/filter/filter_parts.cuh"

enum {
    SIDE = QFZ_FILTER_BLOCK + 1,
    QUADS = SIDE * SIDE,
    COLUMNS = SIDE + 1,
    CELLS = COLUMNS * COLUMNS
};

/* Words of clusters, less than 2^16: the number of a quad, and flags.  A cluster that is DONE has
 * no first edge, or picks none, or (LEAVES) has picked one that leaves the block.  The frame is one
 * cluster, that of the first quad, which is no pixel. */
static const uint32_t NUMBER = QUADS - 1, LEAVES = 0x4000, DONE = 0x8000, FRAME = DONE;

/* Words of edges: (quad * DIRS + d) << TO_BITS | the cluster that a first edge leads to. */
enum { TO_BITS = 16 };
static const uint32_t TO = (1u << TO_BITS) - 1;

static const uint32_t NO_KEY = UINT32_MAX, NO_EDGE = UINT32_MAX; /* in place of an edge's number */

/* Sizes for N neighbours.  A thread has a strip of quads, one below the other: what it knows of
 * their edges is in registers. */
template <int N> struct block_shape {
    enum {
        DIRS = N / 2,
        THREADS = 512,
        RESIDENT = N == 4 ? QFZ_SM_THREADS / THREADS : 2, /* thread blocks on a multiprocessor */
        OWN = QUADS / THREADS
    };
};

/* By pixel.  Of the root of a cluster, key and edge are the cluster's first edge; of any other
 * pixel, its arrival.  Mass is what arrived before that edge, 0 where the pixel was a part of such
 * a mass (filter.cuh). */
struct block_memory {
    uint32_t key[QUADS], mass[QUADS];
    uint32_t edge[QUADS];      /* words of edges, or NO_EDGE */
    uint32_t marks[QUADS / 4]; /* a byte a quad; bit d: its edge d has filtered level 0 */
    uint16_t next[QUADS];      /* of a root: the cluster that it is now, or hangs on */
    uint16_t cluster[CELLS];   /* of a cell */
    uint16_t roots[QUADS / 2]; /* of live clusters, after the first round */
    uint32_t n_roots[2], n_leaving;
};

/* A pixel, if there is a valid one, and its value in a band of 8 or 16 bits. */
struct block_cell {
    bool has;
    uint32_t value;
};

/* A block; quad 0 is pixel (y, x) of the tile, which may be outside. */
template <typename T, int N> struct block_work {
    using shape = block_shape<N>;
    block_memory &m;
    const qfz_gpu_filter &f;
    const qfz_edge_reader<T> &reader;
    int32_t y, x, n_level_bits;

    /* The i-th quad of this thread: those of a warp are neighbours in a row. */
    QFZ_DEVICE static uint32_t own(int i)
    {
        return (threadIdx.x / SIDE * shape::OWN + (uint32_t)i) * SIDE + threadIdx.x % SIDE;
    }
    QFZ_DEVICE int2 at(uint32_t quad) const
    {
        return make_int2(x + (int32_t)(quad % SIDE), y + (int32_t)(quad / SIDE));
    }
    QFZ_DEVICE uint32_t px_of(uint32_t quad) const
    {
        return (uint32_t)at(quad).y * (uint32_t)f.w + (uint32_t)at(quad).x;
    }
    /* True for a pixel of the block. */
    QFZ_DEVICE bool has(uint32_t quad) const
    {
        return quad >= SIDE && quad % SIDE > 0 && at(quad).y < f.h && at(quad).x < f.w;
    }

    /* ---- Cells */
    QFZ_DEVICE static uint32_t cell(uint32_t quad)
    {
        return quad + quad / SIDE;
    }
    /* The two ends of edge d of a quad. */
    QFZ_DEVICE static uint32_t first_cell(uint32_t quad, int d)
    {
        return cell(quad) + (d == QFZ_BELOW_LEFT ? 1 : 0);
    }
    QFZ_DEVICE static uint32_t second_cell(uint32_t quad, int d)
    {
        return cell(quad) + (d == QFZ_RIGHT ? 1 : d == QFZ_BELOW_RIGHT ? COLUMNS + 1 : COLUMNS);
    }

    /* ---- Edges */
    QFZ_DEVICE int2 start(uint32_t quad, int d) const
    {
        const int2 from = at(quad);
        return make_int2(from.x + (d == QFZ_BELOW_LEFT ? 1 : 0), from.y);
    }
    QFZ_DEVICE qfz_filter_place place(uint32_t edge) const
    {
        const int d = (int)((edge >> TO_BITS) % shape::DIRS);
        const int2 from = start((edge >> TO_BITS) / shape::DIRS, d);
        return qfz_filter_place_of(reader.level_of((int64_t)from.y * f.w + from.x, d),
                                   qfz_position(f.y0 + from.y, f.x0 + from.x, d));
    }
    QFZ_DEVICE bool is_before(uint32_t a, uint32_t b) const
    {
        return qfz_filter_is_before(place(a), place(b));
    }

    /* ---- Keys: of two edges, the later one does not have the smaller one */
    QFZ_DEVICE uint32_t key_of(uint32_t level, int2 from, int d) const
    {
        const uint64_t position = qfz_position(f.y0 + from.y, f.x0 + from.x, d);
        /* Shifts of 64-bit numbers, by 1 to 32 bits and by 32 to 63. */
        return min((uint32_t)((uint64_t)level << (32 - n_level_bits)) |
                       (uint32_t)(position >> 32 >> n_level_bits),
                   NO_KEY - 1);
    }
    QFZ_DEVICE uint32_t key(uint32_t quad, int d) const
    {
        const int2 from = start(quad, d);
        uint32_t level;
        if (from.y < 0 || from.x < 0 || from.x >= f.w || !reader.read(from.y, from.x, d, &level))
            return NO_KEY;
        return key_of(level, from, d);
    }
    /* The same, of two valid cells. */
    QFZ_DEVICE uint32_t key(const block_cell &a, const block_cell &b, int2 from, int d) const
    {
        if (!a.has || !b.has) return NO_KEY;
        const bool is_band = sizeof(T) < sizeof(uint32_t);
        const uint32_t level = !is_band ? reader.level_of((int64_t)from.y * f.w + from.x, d)
                               : a.value > b.value ? a.value - b.value
                                                   : b.value - a.value;
        return is_band || level <= reader.alpha_level ? key_of(level, from, d) : NO_KEY;
    }
    QFZ_DEVICE block_cell read(int32_t row, int32_t column) const
    {
        const int64_t p = (int64_t)row * f.w + column;
        const bool inside = row >= 0 && row < f.h && column >= 0 && column < f.w;
        block_cell cell = {inside && (!reader.valid || __ldg(reader.valid + p)), 0};
        if (sizeof(T) < sizeof(uint32_t) && inside)
            cell.value = (uint32_t)__ldg(reader.from + p) ^ reader.bias;
        return cell;
    }
    QFZ_DEVICE bool is_above_0(uint32_t quad_key) const
    {
        return (uint64_t)quad_key >> (32 - n_level_bits) > 0;
    }
};
