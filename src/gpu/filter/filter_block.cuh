/* SPDX-License-Identifier: MIT */
/* filter_block.cuh - a block of 63 x 63 pixels in shared memory, in which clusters of the area
 * filter grow (filter_block.cu).
 *
 * Around the pixels of the block is a frame of one pixel on each side.  The cells of pixels and
 * frame are numbered in rows of SIDE, so that the last cell of the frame in a row has the number of
 * the first one in the next row.  A quad (filter_parts.cuh) has four sides, and with 8 neighbours
 * two diagonals. */
#pragma once

#include "gpu/device/warp.cuh"
#include "gpu/filter/filter_parts.cuh"

enum { SIDE = QFZ_FILTER_SIDE, QUADS = QFZ_FILTER_QUADS, CELLS = QUADS + SIDE + 1 };

/* What a cell belongs to is a word of 16 bits: GROWS and the number of a cluster that may grow;
 * DONE or OUTSIDE and the cell of the root of one that does not; or, within the first round, the
 * cell that it hangs on.  A cluster that is DONE has no first edge, or picks none; one that is
 * OUTSIDE has picked an edge that leaves the block.  The frame is one cluster. */
static const uint32_t NUMBER = QUADS - 1, GROWS = 0x2000, DONE = 0x4000, OUTSIDE = 0x8000,
                      STOPPED = OUTSIDE | DONE, FRAME = DONE;

/* Words of edges: (quad * DIRS + d) << TO_BITS | the word of the cluster that a first edge leads
 * to. */
enum { TO_BITS = 16 };
static const uint32_t TO = (1u << TO_BITS) - 1;

static const uint32_t NO_KEY = UINT32_MAX, NO_WORD = UINT32_MAX; /* in place of an edge's number */

/* Levels of more bits leave none for positions in a key of 32 bits.  Ties of level 0 are frequent,
 * so that level has the keys below KEYS_OF_0, and the others share what is left. */
enum { MOST_LEVEL_BITS = 24 };
static const uint32_t KEYS_OF_0 = 1u << MOST_LEVEL_BITS;

/* Sizes for N neighbours.  A thread has a strip of quads, one below the other: what it knows of
 * their edges is in registers.  Natural images need at most 0.29 clusters and 0.56 edges a pixel
 * with 4 neighbours, 0.96 with 8. */
template <int N> struct block_shape {
    enum {
        DIRS = N / 2,
        THREADS = 512,
        RESIDENT = N == 4 ? QFZ_SM_THREADS / THREADS : 2, /* thread blocks on a multiprocessor */
        OWN = QUADS / THREADS,
        CLUSTERS = 1408,
        EDGES = (N == 4 ? 5 : 10) * THREADS
    };
};

/* After the first round.  Of the root of a cluster, key and edge are its first edge; of any other
 * one, those with which it arrives.  Mass is what arrived before that edge, 0 where the cluster
 * was a part of such a mass (filter.cuh). */
template <int N> struct block_graph {
    enum { CLUSTERS = block_shape<N>::CLUSTERS, EDGES = block_shape<N>::EDGES };
    uint32_t key[CLUSTERS], mass[CLUSTERS];
    uint32_t edge[CLUSTERS]; /* words of edges, or NO_WORD */
    uint16_t root[CLUSTERS]; /* word of the cluster that it is a part of */
    uint16_t next[CLUSTERS]; /* of a root, in a round: the same afterwards */
    uint16_t cell[CLUSTERS]; /* of its root */
    union {
        struct { /* pixels that wait, until lanes have got theirs */
            uint32_t key[QUADS];
            uint16_t px[QUADS];
        } late;
        struct {                              /* edges between clusters, while these grow */
            uint32_t key[EDGES], ends[EDGES]; /* words of both, the first one in the higher half */
            uint16_t number[EDGES];
        } listed;
        uint16_t leaving[QUADS]; /* then: what goes on in the tile (filter_block.cu) */
    };
};

template <int N> struct block_memory {
    enum { BEFORE = SIDE + 1, KEYS = BEFORE + CELLS };
    union {
        uint32_t key[block_shape<N>::DIRS][KEYS]; /* of edges by quad, in the first round */
        block_graph<N> graph;
    };
    uint32_t marks[QUADS / 4]; /* a byte a quad; bit d: its edge d has filtered level 0 */
    uint16_t word[CELLS];      /* what the cell belonged to after the first round */
    uint32_t row_mass[SIDE];   /* of a pixel in the row */
    uint32_t light_rows[SIDE / QFZ_WARP]; /* a bit a row: its pixels may pick edges, but on the
                                             tile's left and right */
    uint32_t n_clusters, n_edges, n_roots, n_others, n_left;
    uint32_t n_late[block_shape<N>::THREADS / QFZ_WARP]; /* by warp */
};

/* A cell without a valid pixel.  Other cells are values in a band of 8 or 16 bits, or 0. */
static const uint32_t NO_CELL = 1u << 31;

/* Where quad 0 is: pixel (y, x) of a tile that begins at (y0, x0). */
struct block_origin {
    int64_t y0, x0;
    int32_t y, x;
};

template <typename T, int N>
static QFZ_DEVICE qfz_filter_place place_of(const qfz_edge_reader<T> &reader,
                                            const block_origin &origin, uint32_t edge)
{
    const qfz_filter_edge at =
        qfz_filter_edge_of(origin.y, origin.x, edge >> TO_BITS, block_shape<N>::DIRS);
    return qfz_filter_place_of(reader.level_of((int64_t)at.y * reader.w + at.x, at.dir),
                               qfz_position(origin.y0 + at.y, origin.x0 + at.x, at.dir));
}

/* Edges with one key are rare, so that this is kept out of the way. */
template <typename T, int N>
static QFZ_APART bool edge_is_before(qfz_edge_reader<T> reader, block_origin origin, uint32_t a,
                                     uint32_t b)
{
    return qfz_filter_is_before(place_of<T, N>(reader, origin, a),
                                place_of<T, N>(reader, origin, b));
}

/* A block; quad 0 is pixel (y, x) of the tile, which may be outside. */
template <typename T, int N> struct block_work {
    using shape = block_shape<N>;
    block_memory<N> &m;
    const qfz_gpu_filter &f;
    const qfz_edge_reader<T> &reader;
    int32_t y, x, n_level_bits;
    uint32_t key_of_1; /* the least key of an edge whose level is above 0 */
    uint32_t least;    /* N */

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
    QFZ_DEVICE static bool is_frame(uint32_t cell)
    {
        return cell % SIDE == 0 || cell < SIDE || cell >= QUADS;
    }
    /* The block's part of d_growing. */
    QFZ_DEVICE uint32_t *growing() const
    {
        return f.d_growing + (int64_t)blockIdx.x * QFZ_FILTER_BLOCK_PX;
    }
    /* True for a pixel of the block. */
    QFZ_DEVICE bool has(uint32_t quad) const
    {
        return !is_frame(quad) && at(quad).y < f.h && at(quad).x < f.w;
    }
    QFZ_DEVICE uint32_t mass(uint32_t quad) const
    {
        return m.row_mass[quad / SIDE];
    }

    /* ---- Edges */
    QFZ_DEVICE qfz_filter_place place(uint32_t edge) const
    {
        return place_of<T, N>(reader, {f.y0, f.x0, y, x}, edge);
    }
    QFZ_DEVICE bool is_before(uint32_t a, uint32_t b) const
    {
        return edge_is_before<T, N>(reader, {f.y0, f.x0, y, x}, a, b);
    }

    /* ---- Keys: of two edges, the later one does not have the smaller one */
    QFZ_DEVICE uint32_t key_of(uint32_t level, uint64_t position) const
    {
        const bool is_wide = sizeof(T) == sizeof(uint32_t) && n_level_bits > MOST_LEVEL_BITS;
        if (is_wide && level == 0) return (uint32_t)(position >> (64 - MOST_LEVEL_BITS));
        if (is_wide) return min(level - (level >> 8), NO_KEY - 1 - KEYS_OF_0) + KEYS_OF_0;
        /* Shifts of 64-bit numbers, by 8 to 32 bits and by 32 to 56. */
        return min((uint32_t)((uint64_t)level << (32 - n_level_bits)) |
                       (uint32_t)(position >> 32 >> n_level_bits),
                   NO_KEY - 1);
    }
    /* Of two cells; NO_KEY where there is no edge.  of_px: qfz_position_of_px() of the first. */
    QFZ_DEVICE uint32_t key(uint32_t a, uint32_t b, int2 from, uint64_t of_px, int d) const
    {
        const bool is_band = sizeof(T) < sizeof(uint32_t), is_edge = !((a | b) & NO_CELL);
        uint32_t level = (uint32_t)abs((int)(a - b));
        if (!is_band) {
            if (!is_edge) return NO_KEY;
            level = reader.level_of((int64_t)from.y * f.w + from.x, d);
            if (level > reader.alpha_level) return NO_KEY;
        }
        const uint32_t key = key_of(level, qfz_position_from(of_px, d));
        return is_edge ? key : NO_KEY;
    }
    /* The cell of pixel p of the tile, if it is inside. */
    QFZ_DEVICE uint32_t read(bool is_inside, int64_t p) const
    {
        uint32_t cell = is_inside ? 0 : NO_CELL;
        if (sizeof(T) < sizeof(uint32_t) && is_inside) cell = __ldg(reader.from + p);
        return cell ^ reader.bias;
    }
    QFZ_DEVICE bool is_above_0(uint32_t key) const
    {
        return key >= key_of_1;
    }
};
