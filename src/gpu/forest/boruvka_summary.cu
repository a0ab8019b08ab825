/* SPDX-License-Identifier: MIT */
/* boruvka_summary.cu - the links of a tile's boundary summary, from its forest.
 *
 * Every ring pixel climbs the forest round by round.  Its cost is the greatest level on its path so
 * far.  Of the pixels that are at the same vertex, the one with the least cost goes on; each other
 * pixel is linked to it by its own cost, which is the minimax level of the two, and stops.  So at
 * most n_ring - 1 links result, and they give every pair of ring pixels its minimax level.
 *
 * A pixel reads the cheapest pixel of its vertex in the launch after it arrived there.  It may read
 * a pixel that arrived in a later round; a link to that pixel is as good. */
#include "gpu/forest/boruvka_parts.cuh"
#include "gpu/device/collective.cuh"

namespace
{
typedef unsigned long long weight; /* cost << 32 | ring pixel */

enum { THREADS = 256 };

/* The climbing pixels, and their links. */
struct climbers {
    int64_t n; /* ring pixels */
    uint32_t *vertex, *cost;
    uint32_t *u, *v, *n_links;     /* links, in the order in which they are found */
    uint32_t *level[2], *order[2]; /* their levels, and the permutation that sorts them */
};

climbers carve(int64_t n, qfz_carve *room)
{
    climbers c = {};
    c.n = n;
    uint32_t **const parts[] = {&c.vertex,   &c.cost,     &c.u,        &c.v,
                                &c.level[0], &c.level[1], &c.order[0], &c.order[1]};
    for (uint32_t **part : parts)
        qfz_carve_take(room, part, n);
    return c;
}

/* The word of the cheapest pixel at a vertex, one for each piece of the ring between cuts; in the
 * memory of best[0], which is free once the forest is complete. */
QFZ_DEVICE weight *cheapest_at(const qfz_gpu_forest &f, uint32_t vertex, uint32_t i)
{
    uint32_t piece = 0;
    while (piece < (uint32_t)f.n_cuts && i >= f.cut[piece])
        piece++;
    return &f.best[0][(uint64_t)vertex * (uint32_t)(f.n_cuts + 1) + piece];
}

__global__ void __launch_bounds__(THREADS) k_begin(qfz_gpu_forest f, climbers c)
{
    const int64_t n = (int64_t)f.count[QFZ_COUNT_VERTICES] * (f.n_cuts + 1);
    const int64_t first = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    for (int64_t i = first; i < n; i += (int64_t)gridDim.x * THREADS)
        f.best[0][i] = ~(weight)0;
    if (first == 0) *c.n_links = 0;
}

__global__ void __launch_bounds__(THREADS) k_seat(qfz_gpu_forest f, climbers c)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= c.n) return;
    const int2 place = qfz_ring_pixel(f.h, f.w, (int32_t)i);
    const uint2 seat = f.rim[qfz_rim_place(f, place.y, place.x)];
    c.vertex[i] = seat.x;
    c.cost[i] = seat.y;
    c.level[0][i] = QFZ_NONE;
    c.order[0][i] = (uint32_t)i;
    if (seat.x != QFZ_NONE)
        qfz_lower(cheapest_at(f, seat.x, (uint32_t)i), (weight)seat.y << 32 | (weight)i);
}

/* Returns true if pixel i is to be linked to pixel *other; else moves it up if its vertex hooked
 * itself in this round. */
QFZ_DEVICE bool links_or_moves(const qfz_gpu_forest &f, const climbers &c, uint32_t i,
                               uint32_t round, uint32_t *other)
{
    const uint32_t vertex = c.vertex[i];
    if (vertex == QFZ_NONE) return false;
    *other = (uint32_t)qfz_peek(reinterpret_cast<const uint64_t *>(cheapest_at(f, vertex, i)));
    if (*other != i) return true;
    const uint2 up = f.up[vertex];
    if ((up.x & QFZ_UP_ROOT) != round) return false;
    const uint32_t next = up.x >> QFZ_UP_BITS, cost = max(c.cost[i], up.y);
    c.vertex[i] = next;
    c.cost[i] = cost;
    qfz_lower(cheapest_at(f, next, i), (weight)cost << 32 | i);
    return false;
}

__global__ void __launch_bounds__(THREADS) k_climb(qfz_gpu_forest f, climbers c, uint32_t round)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    uint32_t other = 0;
    const bool links = i < c.n && links_or_moves(f, c, (uint32_t)i, round, &other);
    const uint32_t at = qfz_take(c.n_links, links ? 1 : 0);
    if (!links) return;
    c.u[at] = (uint32_t)i;
    c.v[at] = other;
    c.level[0][at] = c.cost[i];
    c.vertex[i] = QFZ_NONE;
}

__global__ void __launch_bounds__(THREADS) k_gather(climbers c, int sorted, qfz_gpu_links links)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= *c.n_links) return;
    const uint32_t from = c.order[sorted][i];
    links.d_level[i] = c.level[sorted][i];
    links.d_u[i] = c.u[from];
    links.d_v[i] = c.v[from];
}
} // namespace

size_t qfz_gpu_border_links_bytes(int32_t h, int32_t w)
{
    const int64_t n = qfz_ring_size(h, w);
    qfz_carve room = {};
    (void)carve(n, &room);
    (void)qfz_carve_bytes(&room, qfz_gpu_sort_bytes(n));
    return room.used;
}

qfz_status qfz_gpu_border_links(qfz_gpu *gpu, const qfz_gpu_forest *forest, void *d_scratch,
                                const qfz_gpu_links *links, uint32_t *d_n)
{
    const int64_t n = qfz_ring_size(forest->h, forest->w);
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    climbers c = carve(n, &room);
    void *const d_sort = qfz_carve_bytes(&room, qfz_gpu_sort_bytes(n));
    const dim3 block(THREADS), grid(qfz_launch_blocks(n, THREADS));
    c.n_links = d_n;
    if (!forest->keeps_ring)
        return qfz_fail(gpu->err, QFZ_EARG, "border links of a forest that does not keep the ring");
    QFZ_TRY(qfz_launch(gpu, k_begin, dim3((unsigned)gpu->n_sms * 8), block, 0, *forest, c));
    QFZ_TRY(qfz_launch(gpu, k_seat, grid, block, 0, *forest, c));
    /* A round at least halves the vertices; one launch more is for pixels that moved in the last.
     */
    uint32_t round = 0;
    for (int64_t left = forest->vertex_room; left > 0; left /= 2)
        QFZ_TRY(qfz_launch(gpu, k_climb, grid, block, 0, *forest, c, round++));
    QFZ_TRY(qfz_launch(gpu, k_climb, grid, block, 0, *forest, c, (uint32_t)QFZ_MAX_ROUNDS - 1));
    int sorted = 0;
    QFZ_TRY(
        qfz_gpu_sort_pairs(gpu, d_sort, c.level, c.order, n, 0, forest->wide ? 32 : 16, &sorted));
    return qfz_launch(gpu, k_gather, grid, block, 0, c, sorted, *links);
}
