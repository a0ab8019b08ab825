/* SPDX-License-Identifier: MIT */
/* filter_first.cuh - the first round of the area filter in a block (filter_block.cu): each pixel is
 * a cluster, and its first edge is the one with the least key around it.
 *
 * On a way around the cells of a quad, or around three of them, one edge comes last: that one is in
 * no minimum spanning forest.  Without these edges and those inside clusters about half as many
 * edges as pixels are left; they are listed for the rounds that follow (filter_grow.cuh). */
#pragma once

#include "gpu/filter/filter_block.cuh"

/* What a thread knows of its quads and their pixels. */
template <int N> struct own_quads {
    uint32_t first[block_shape<N>::OWN]; /* key of the pixel's first edge, in the first round */
    uint32_t sides;                      /* SIDE_BITS bits a pixel: which edge that is */
    uint32_t waits;   /* a bit a pixel in the first round, then of own_late: it may arrive */
    uint32_t leaves;  /* a bit of own_late: it will not arrive, in a cluster that is OUTSIDE */
    uint32_t counted; /* a bit a cluster of this thread: it has arrived at its root */
    uint32_t n_late;  /* of this warp */
    uint32_t n_edges; /* of this warp, in the list */
};

/* Pixels that have not arrived at the root of their cluster after the first round.  Those of a warp
 * are shared out to its lanes: a lane hardly ever has more than three, so that they are indexed in
 * loops, in local memory. */
template <int N> struct own_late {
    uint32_t key[block_shape<N>::OWN]; /* of the pixel's first edge */
    uint32_t px[block_shape<N>::OWN];  /* number of its cluster << 16 | which edge that is * QUADS |
                                          pixel */
};

/* Keys of the edges of a thread's quads; NO_KEY: the edge is not listed. */
template <int N> using own_keys = uint32_t[block_shape<N>::OWN][block_shape<N>::DIRS];

/* ---- Edges of a pixel ------------------------------------------------------------------------ */

/* Side 2 d of a pixel is its edge that starts there in direction d, side 2 d + 1 the one that ends
 * there. */
enum { SIDE_BITS = 3, SIDE_MASK = (1 << SIDE_BITS) - 1 };

/* The other end of an edge of a pixel. */
static QFZ_DEVICE uint32_t beyond(uint32_t quad, uint32_t side)
{
    const uint32_t steps = 1u | SIDE << 8 | (SIDE + 1) << 16 | (uint32_t)(SIDE - 1) << 24;
    const uint32_t step = steps >> side / 2 * 8 & 0xff;
    return side % 2 ? quad - step : quad + step;
}

/* The quad that the edge belongs to. */
static QFZ_DEVICE uint32_t quad_of(uint32_t quad, uint32_t side)
{
    const uint32_t starts = 1u << 8 * QFZ_BELOW_LEFT;
    const uint32_t ends = 1u | SIDE << 8 | (SIDE + 1) << 16 | (uint32_t)SIDE << 24;
    return quad - ((side % 2 ? ends : starts) >> side / 2 * 8 & 0xff);
}

/* The word of the edge, without a cluster. */
template <typename WORK> static QFZ_DEVICE uint32_t edge_of(uint32_t quad, uint32_t side)
{
    return (quad_of(quad, side) * WORK::shape::DIRS + side / 2) << TO_BITS;
}

template <int N> static QFZ_DEVICE uint32_t side_at(const own_quads<N> &own, int i)
{
    return own.sides >> SIDE_BITS * i & SIDE_MASK;
}

/* ---- Begin ----------------------------------------------------------------------------------- */

/* Keys into shared memory, NO_KEY around them. */
template <int N, typename WORK> static QFZ_DEVICE void read_keys(const WORK &w)
{
    enum { OWN = block_shape<N>::OWN, BEFORE = block_memory<N>::BEFORE, AFTER = BEFORE + QUADS };
    const int2 top = w.at(w.own(0));
    const int64_t p = (int64_t)top.y * w.f.w + top.x;
    const bool has_left = (uint32_t)top.x < (uint32_t)w.f.w;
    const bool has_right = (uint32_t)(top.x + 1) < (uint32_t)w.f.w;
    uint32_t left[OWN + 1], right[OWN + 1]; /* cells, all read before the first is waited for */
    QFZ_EACH (i, OWN + 1) {
        const bool has_row = (uint32_t)(top.y + i) < (uint32_t)w.f.h;
        left[i] = w.read(has_row && has_left, p + (int64_t)i * w.f.w);
        right[i] = w.read(has_row && has_right, p + (int64_t)i * w.f.w + 1);
    }
    if (w.reader.valid) {
        QFZ_EACH (i, OWN + 1) {
            const uint8_t *const valid = w.reader.valid + (p + (int64_t)i * w.f.w);
            if (!(left[i] & NO_CELL) && !__ldg(valid)) left[i] = NO_CELL;
            if (!(right[i] & NO_CELL) && !__ldg(valid + 1)) right[i] = NO_CELL;
        }
    }
    QFZ_EACH (i, OWN) {
        const uint32_t quad = w.own(i);
        const int2 at = make_int2(top.x, top.y + i), beyond = make_int2(top.x + 1, top.y + i);
        const uint64_t here = qfz_position_of_px(w.f.y0 + at.y, w.f.x0 + at.x);
        const auto put = [&](int d, uint32_t key) {
            w.m.key[d % block_shape<N>::DIRS][BEFORE + quad] = key;
        };
        put(QFZ_RIGHT, w.key(left[i], right[i], at, here, QFZ_RIGHT));
        put(QFZ_BELOW, w.key(left[i], left[i + 1], at, here, QFZ_BELOW));
        if (N == 8) {
            const uint64_t next = qfz_position_of_px(w.f.y0 + at.y, w.f.x0 + beyond.x);
            put(QFZ_BELOW_RIGHT, w.key(left[i], right[i + 1], at, here, QFZ_BELOW_RIGHT));
            put(QFZ_BELOW_LEFT, w.key(right[i], left[i + 1], beyond, next, QFZ_BELOW_LEFT));
        }
    }
    QFZ_EACH (d, block_shape<N>::DIRS)
        if (threadIdx.x < BEFORE)
            w.m.key[d][threadIdx.x] = w.m.key[d][AFTER + threadIdx.x] = NO_KEY;
}

template <int N, typename WORK> static QFZ_DEVICE void begin(const WORK &w)
{
    auto &m = w.m;
    for (uint32_t i = threadIdx.x; i < QUADS / 4; i += WORK::shape::THREADS)
        m.marks[i] = 0;
    if (threadIdx.x <= SIDE) m.word[QUADS + threadIdx.x] = (uint16_t)FRAME;
    if (threadIdx.x < SIDE) {
        const int32_t y = w.y + (int32_t)threadIdx.x, last = w.f.h - 1;
        const uint32_t mass = (uint32_t)qfz_filter_row_mass(w.f, min(max(y, 0), last));
        const bool is_open = w.f.is_open_ring && (y == 0 || y == last);
        m.row_mass[threadIdx.x] = mass;
        const bool is_light = threadIdx.x > 0 && mass < w.f.least && !is_open;
        const uint32_t rows = __ballot_sync(QFZ_ALL_LANES, is_light);
        if (threadIdx.x % QFZ_WARP == 0) m.light_rows[threadIdx.x / QFZ_WARP] = rows;
    }
    if (threadIdx.x == 0) m.n_clusters = m.n_edges = m.n_roots = m.n_others = m.n_left = 0;
    if (threadIdx.x < WORK::shape::THREADS / QFZ_WARP) m.n_late[threadIdx.x] = 0;
    __syncthreads();
    read_keys<N>(w);
    __syncthreads();
}

/* ---- First edges of pixels ------------------------------------------------------------------- */

/* The keys of a quad's sides and diagonals. */
template <int N> struct quad_keys {
    uint32_t top, left, bottom, right, falling, rising;

    /* Each function is true if the edge comes last on a way around that has it: then it is in no
     * minimum spanning forest. */
    QFZ_DEVICE static bool side_is_last(uint32_t side, uint32_t meets_falling,
                                        uint32_t meets_rising, uint32_t opposite, uint32_t falling,
                                        uint32_t rising)
    {
        if (side > max(max(meets_falling, meets_rising), opposite)) return true;
        return N == 8 && (side > max(meets_falling, falling) || side > max(meets_rising, rising));
    }
    QFZ_DEVICE bool top_is_last() const
    {
        return side_is_last(top, right, left, bottom, falling, rising);
    }
    QFZ_DEVICE bool bottom_is_last() const
    {
        return side_is_last(bottom, left, right, top, falling, rising);
    }
    QFZ_DEVICE bool left_is_last() const
    {
        return side_is_last(left, bottom, top, right, falling, rising);
    }
    QFZ_DEVICE bool right_is_last() const
    {
        return side_is_last(right, top, bottom, left, falling, rising);
    }
    QFZ_DEVICE bool falling_is_last() const
    {
        return falling > max(top, right) || falling > max(left, bottom);
    }
    QFZ_DEVICE bool rising_is_last() const
    {
        return rising > max(top, left) || rising > max(right, bottom);
    }
};

/* An edge of a pixel: its key and which side it is. */
struct side_key {
    uint32_t key, side;
};

/* The first of two edges; a tie is noted. */
static QFZ_DEVICE side_key first_side(const side_key &a, const side_key &b, bool *is_tied)
{
    *is_tied |= a.key == b.key;
    return b.key < a.key ? b : a;
}

/* The first of a pixel's edges with such a key. */
template <typename WORK>
static QFZ_DEVICE uint32_t first_of_tied(const WORK &w, uint32_t quad, uint32_t key)
{
    uint32_t first = SIDE_MASK + 1;
#pragma unroll 1
    for (uint32_t side = 0; side < 2 * WORK::shape::DIRS; side++) {
        const uint32_t at = w.m.BEFORE + quad_of(quad, side);
        if (w.m.key[side / 2][at] == key &&
            (first > SIDE_MASK ||
             w.is_before(edge_of<WORK>(quad, side), edge_of<WORK>(quad, first))))
            first = side;
    }
    return first;
}

/* One of the pixels has tied edges, or more of them: all of them are looked at again.  A bit a
 * pixel that is tied would say which, but ptxas of CUDA 13.0 mixes up such masks of bits in long
 * code. */
template <int N, typename WORK>
static QFZ_DEVICE void choose_among_tied(const WORK &w, own_quads<N> *own)
{
#pragma unroll 1
    for (int i = 0; i < block_shape<N>::OWN; i++) {
        const uint32_t quad = w.own(i), side = side_at(*own, i);
        const uint32_t key = w.m.key[side / 2][w.m.BEFORE + quad_of(quad, side)];
        if (key != NO_KEY) own->sides ^= (side ^ first_of_tied(w, quad, key)) << SIDE_BITS * i;
    }
}

/* Keys of edges that come last on a way around become NO_KEY. */
template <int N, typename WORK>
static QFZ_DEVICE void choose_sides(const WORK &w, own_quads<N> *own, own_keys<N> &keys)
{
    const bool is_last = w.own(0) % SIDE == SIDE - 1; /* no cells on the right of its quads */
    const auto key_at = [&](int d, int i, int dx) {
        return w.m.key[d][(int)w.m.BEFORE + (int)w.own(i) + dx];
    };
    /* Without the bottom. */
    const auto row = [&](int i, int dx) {
        quad_keys<N> at = {};
        at.top = key_at(QFZ_RIGHT, i, dx);
        at.left = key_at(QFZ_BELOW, i, dx);
        at.right = key_at(QFZ_BELOW, i, dx + 1);
        if (N == 8) {
            at.falling = key_at(QFZ_BELOW_RIGHT % block_shape<N>::DIRS, i, dx);
            at.rising = key_at(QFZ_BELOW_LEFT % block_shape<N>::DIRS, i, dx);
        }
        if (dx == 0 && is_last) at.right = NO_KEY;
        return at;
    };
    own->sides = 0;
    bool is_tied = false;
    quad_keys<N> above = row(-1, 0), above_left = row(-1, -1);
    quad_keys<N> here = row(0, 0), left = row(0, -1);
    QFZ_EACH (i, block_shape<N>::OWN) {
        const quad_keys<N> below = row(i + 1, 0), below_left = row(i + 1, -1);
        above.bottom = here.top;
        here.bottom = below.top;
        left.bottom = below_left.top;
        bool has_tie = false;
        const auto first_of = [&](uint32_t starts, uint32_t ends, uint32_t d) {
            return first_side({starts, 2 * d}, {ends, 2 * d + 1}, &has_tie);
        };
        side_key first = first_side(first_of(here.top, left.top, QFZ_RIGHT),
                                    first_of(here.left, above.left, QFZ_BELOW), &has_tie);
        if (N == 8)
            first = first_side(
                first,
                first_side(first_of(here.falling, above_left.falling, QFZ_BELOW_RIGHT),
                           first_of(left.rising, above.rising, QFZ_BELOW_LEFT), &has_tie),
                &has_tie);
        own->first[i] = first.key;
        own->sides |= first.side << SIDE_BITS * i;
        is_tied |= has_tie && first.key != NO_KEY;
        uint32_t *const key = keys[i];
        key[QFZ_RIGHT] = here.top_is_last() || above.bottom_is_last() ? NO_KEY : here.top;
        key[QFZ_BELOW] = here.left_is_last() || left.right_is_last() ? NO_KEY : here.left;
        if constexpr (N == 8) {
            key[QFZ_BELOW_RIGHT] = here.falling_is_last() ? NO_KEY : here.falling;
            key[QFZ_BELOW_LEFT] = here.rising_is_last() ? NO_KEY : here.rising;
        }
        above = here;
        above_left = left;
        here = below;
        left = below_left;
    }
    if (is_tied) choose_among_tied(w, own);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

template <typename WORK> static QFZ_DEVICE void mark(const WORK &w, uint32_t edge)
{
    const uint32_t quad = (edge >> TO_BITS) / WORK::shape::DIRS;
    const uint32_t d = (edge >> TO_BITS) % WORK::shape::DIRS;
    atomicOr(&w.m.marks[quad / 4], 1u << d << 8 * (quad % 4));
}

/* A bit for each pixel of this thread's that the block has. */
template <typename WORK> static QFZ_DEVICE uint32_t own_pixels(const WORK &w)
{
    const int2 top = w.at(w.own(0));
    const int n = min(max(w.f.h - top.y, 0), (int)WORK::shape::OWN);
    if (w.own(0) % SIDE == 0 || top.x >= w.f.w) return 0;
    return ((1u << n) - 1) & ~(uint32_t)(w.own(0) < SIDE);
}

/* The word of each pixel after it picked its first edge, as if it hung on the pixel beyond. */
template <int N, typename WORK> static QFZ_DEVICE void pick_sides(const WORK &w, own_quads<N> *own)
{
    enum { OWN = block_shape<N>::OWN };
    const int32_t x = w.at(w.own(0)).x;
    const uint32_t has = own_pixels(w), row = w.own(0) / SIDE;
    uint32_t light = 0; /* a bit a pixel */
    if (has != 0 && !(w.f.is_open_ring && (x == 0 || x == w.f.w - 1)))
        light = w.m.light_rows[row / QFZ_WARP] >> row % QFZ_WARP;
    QFZ_EACH (i, OWN) {
        const uint32_t quad = w.own(i), side = side_at(*own, i), to = beyond(quad, side);
        const bool picks = (light >> i & 1) && own->first[i] != NO_KEY;
        uint32_t word = has >> i & 1 ? quad | DONE : FRAME;
        if (picks) word = w.is_frame(to) ? quad | OUTSIDE : to;
        w.m.word[quad] = (uint16_t)word;
        if (picks && w.is_above_0(own->first[i])) mark(w, edge_of<WORK>(quad, side));
    }
}

/* Two pixels that picked the same edge: the first one is the root. */
template <int N, typename WORK> static QFZ_DEVICE void pair_pixels(const WORK &w, own_quads<N> *own)
{
    auto &m = w.m;
    uint32_t pairs = 0, live = 0;
    QFZ_EACH (i, block_shape<N>::OWN) {
        const uint32_t quad = w.own(i), to = m.word[quad];
        const bool is_pair = to < QUADS && m.word[to] == quad;
        pairs |= (uint32_t)is_pair << i;
        if (is_pair && quad < to && w.mass(quad) < (uint32_t)w.f.least - w.mass(to))
            live |= 1u << i;
    }
    uint32_t c = qfz_take(&m.n_clusters, (uint32_t)__popc(live));
    __syncthreads();
    QFZ_EACH (i, block_shape<N>::OWN) {
        const uint32_t quad = w.own(i), to = m.word[quad];
        if (!(pairs >> i & 1) || quad > to) continue;
        m.word[quad] = (uint16_t)(quad | DONE);
        if (!(live >> i & 1)) continue;
        m.word[quad] = (uint16_t)(c | GROWS);
        if (c < WORK::shape::CLUSTERS) {
            m.graph.cell[c] = (uint16_t)quad;
            m.graph.root[c] = (uint16_t)(c | GROWS);
            m.graph.mass[c] = w.mass(quad) + w.mass(to);
            m.graph.key[c] = NO_KEY;
            m.graph.edge[c] = NO_WORD;
        }
        c++;
    }
    own->waits = ~pairs & ((1u << block_shape<N>::OWN) - 1);
}

/* To the ends of chains, which are GROWS or STOPPED; first without changes.  A thread goes along
 * all its chains at once. */
template <int N, typename WORK> static QFZ_DEVICE void flatten(const WORK &w, own_quads<N> *own)
{
    auto &m = w.m;
    uint32_t end[block_shape<N>::OWN];
    QFZ_EACH (i, block_shape<N>::OWN)
        end[i] = m.word[w.own(i)];
    for (uint32_t least = 0; least < QUADS;) {
        least = QUADS;
        QFZ_EACH (i, block_shape<N>::OWN) {
            if (end[i] < QUADS) end[i] = m.word[end[i]];
            least = min(least, end[i]);
        }
    }
    __syncthreads();
    QFZ_EACH (i, block_shape<N>::OWN) {
        m.word[w.own(i)] = (uint16_t)end[i];
        if ((end[i] & DONE) || end[i] == (w.own(i) | OUTSIDE)) own->waits &= ~(1u << i);
    }
}

/* Shares the pixels that wait out to the lanes. */
template <int N, typename WORK>
static QFZ_DEVICE void share_late(const WORK &w, own_quads<N> *own, own_late<N> *late)
{
    enum { OWN = block_shape<N>::OWN };
    auto &m = w.m;
    auto &shared = m.graph.late;
    const uint32_t warp = threadIdx.x / QFZ_WARP, first = warp * OWN * QFZ_WARP;
    uint32_t at = first + qfz_take(&m.n_late[warp], (uint32_t)__popc(own->waits));
    QFZ_EACH (i, OWN) {
        if (!(own->waits >> i & 1)) continue;
        shared.key[at] = own->first[i];
        shared.px[at] = (uint16_t)(side_at(*own, i) * QUADS + w.own(i));
        at++;
    }
    __syncwarp();
    const uint32_t n = m.n_late[warp];
    own->n_late = n;
    own->waits = own->leaves = 0;
#pragma unroll 1
    for (uint32_t i = 0, of_lane = threadIdx.x % QFZ_WARP; of_lane < n; i++, of_lane += QFZ_WARP) {
        const uint32_t px = shared.px[first + of_lane], word = m.word[px % QUADS];
        late->key[i] = shared.key[first + of_lane];
        late->px[i] = (word & NUMBER) << 16 | px;
        own->waits |= word / GROWS % 2 << i;
        own->leaves |= word / OUTSIDE << i;
    }
}

/* ---- Edges between clusters ------------------------------------------------------------------ */

/* Calls use(i, d, word of the first end, word of the second) for each edge of this thread. */
template <int N, typename WORK, typename USE>
static QFZ_DEVICE void each_edge(const WORK &w, const USE &use)
{
    const uint16_t *const word = w.m.word + w.own(0);
    uint32_t left = word[0], right = word[1];
    QFZ_EACH (i, block_shape<N>::OWN) {
        const uint32_t below = word[(i + 1) * SIDE], beyond = word[(i + 1) * SIDE + 1];
        use(i, QFZ_RIGHT, left, right);
        use(i, QFZ_BELOW, left, below);
        if constexpr (N == 8) {
            use(i, QFZ_BELOW_RIGHT, left, beyond);
            use(i, QFZ_BELOW_LEFT, right, below);
        }
        left = below;
        right = beyond;
    }
}

/* Lists an edge for the rounds of the tile, as far as there is room. */
template <typename WORK>
static QFZ_DEVICE void leave_edge(const WORK &w, uint32_t at, uint32_t number)
{
    if (at < QFZ_FILTER_BLOCK_PX)
        w.f.d_edges[(int64_t)blockIdx.x * QFZ_FILTER_BLOCK_PX + at] = (uint16_t)number;
}

/* Edges of clusters that grow in the block.  Those of clusters that only grow outside, which are
 * few, are listed for the tile at once.  False if clusters or edges do not fit. */
template <int N, typename WORK>
static QFZ_DEVICE bool list_edges(const WORK &w, const own_keys<N> &keys)
{
    enum { DIRS = block_shape<N>::DIRS };
    auto &listed = w.m.graph.listed;
    const auto bit_of = [](int i, int d) { return i * DIRS + d; };
    uint32_t of_live = 0, of_leaving = 0; /* a bit an edge between two clusters */
    each_edge<N>(w, [&](int i, int d, uint32_t a, uint32_t b) {
        const uint32_t both = keys[i][d] != NO_KEY && a != b ? a | b : 0;
        of_live |= both / GROWS % 2 << bit_of(i, d);
        of_leaving |= both / OUTSIDE << bit_of(i, d);
    });
    of_leaving &= ~of_live;
    const uint32_t number = w.own(0) * DIRS, n = (uint32_t)__popc(of_live);
    uint32_t at = qfz_take(&w.m.n_edges, n);
    if (at + n <= WORK::shape::EDGES)
        each_edge<N>(w, [&](int i, int d, uint32_t a, uint32_t b) {
            if (!(of_live >> bit_of(i, d) & 1)) return;
            listed.key[at] = keys[i][d];
            listed.ends[at] = a << 16 | b;
            listed.number[at] = (uint16_t)(number + (uint32_t)(i * SIDE * DIRS + d));
            at++;
        });
    for (; of_leaving != 0; of_leaving &= of_leaving - 1) {
        const uint32_t bit = (uint32_t)__ffs((int)of_leaving) - 1;
        leave_edge(w, atomicAdd(&w.m.n_left, 1), number + bit / DIRS * SIDE * DIRS + bit % DIRS);
    }
    __syncthreads();
    return w.m.n_clusters <= WORK::shape::CLUSTERS && w.m.n_edges <= WORK::shape::EDGES;
}

/* Shares the list out to the warps. */
template <int N, typename WORK> static QFZ_DEVICE void share_edges(const WORK &w, own_quads<N> *own)
{
    enum { THREADS = WORK::shape::THREADS };
    const uint32_t before = threadIdx.x / QFZ_WARP * QFZ_WARP, rest = w.m.n_edges % THREADS;
    own->n_edges = w.m.n_edges / THREADS * QFZ_WARP;
    if (rest > before) own->n_edges += min(rest - before, (uint32_t)QFZ_WARP);
}

/* True if the block has got its clusters and edges. */
template <int N, typename WORK>
static QFZ_DEVICE bool first_round(const WORK &w, own_quads<N> *own, own_late<N> *late)
{
    own_keys<N> keys;
    choose_sides(w, own, keys);
    pick_sides(w, own);
    __syncthreads(); /* keys are not read any more */
    pair_pixels(w, own);
    __syncthreads();
    flatten(w, own);
    share_late(w, own, late);
    __syncthreads();
    const bool fits = list_edges<N>(w, keys);
    share_edges(w, own);
    return fits;
}
