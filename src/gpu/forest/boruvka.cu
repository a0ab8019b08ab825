/* SPDX-License-Identifier: MIT */
/* boruvka.cu - the memory of a forest, and the order of its steps. */
#include "gpu/forest/block.cuh"

int64_t qfz_gpu_forest_vertices(int32_t h, int32_t w)
{
    const int64_t n_blocks =
        (int64_t)qfz_launch_blocks(h, QFZ_SIDE) * qfz_launch_blocks(w, QFZ_SIDE);
    const int px = min(h, (int)QFZ_SIDE) * min(w, (int)QFZ_SIDE);
    return n_blocks * (min((int)QFZ_RIM, px) + min((int)QFZ_SPARE, px / 2));
}

/* Upper bounds for any content of the tile.  Per block, the graph has at most a vertex per rim
 * pixel and QFZ_SPARE more; its edges are those that leave a block, and a tree in each block. */
qfz_gpu_forest qfz_boruvka_shape(const qfz_gpu_edges *edges, int64_t n_external)
{
    qfz_gpu_forest f = {};
    const int64_t n_y = (edges->h + QFZ_SIDE - 1) / QFZ_SIDE;
    const int px = min(edges->h, (int)QFZ_SIDE) * min(edges->w, (int)QFZ_SIDE);
    const int n_dirs = edges->connectivity / 2;
    const int leaving = n_dirs == 2 ? 2 * QFZ_SIDE : 6 * QFZ_SIDE - 2;
    f.h = edges->h;
    f.w = edges->w;
    f.n_x = (edges->w + QFZ_SIDE - 1) / QFZ_SIDE;
    f.n_blocks = n_y * f.n_x;
    f.connectivity = edges->connectivity;
    f.wide = edges->form >= QFZ_EDGES_WIDE;
    f.rim_room = min((int)QFZ_RIM, px);
    f.comp_room = QFZ_ACTIVE + px / 2;
    f.vertex_room = qfz_gpu_forest_vertices(f.h, f.w);
    f.edge_room = n_external + f.vertex_room + f.n_blocks * min(leaving, n_dirs * px);
    return f;
}

/* Numbers of vertices. */
static void carve_counts(qfz_gpu_forest *f, qfz_carve *room)
{
    qfz_carve_take(room, &f->block, f->n_blocks);
    qfz_carve_take(room, &f->count, QFZ_COUNTERS);
}

/* Upper bound of the vertices after a round: half of them.  With first_known, more remain after the
 * first round, because some vertices skip it: at most QFZ_SPARE in a block, or all vertices of a
 * block that has a part of the tile's ring. */
static int64_t half_of_vertices(const qfz_gpu_forest *f)
{
    const int64_t n_y = f->n_blocks / f->n_x;
    const int64_t inside = max(n_y - 2, (int64_t)0) * max(f->n_x - 2, 0);
    const int64_t sit_out = f->n_blocks * QFZ_SPARE + (f->n_blocks - inside) * f->rim_room;
    return min(f->vertex_room, (f->vertex_room + sit_out) / 2) + 1;
}

/* Two lists of edges and two of lightest edges of vertices, used by alternate rounds.  A vertex
 * that hooks itself in the first round consumes an edge, so the second list of edges is shorter.
 * best[0] of the first round is not read after that round; from its second quarter on, that memory
 * also holds the levels of the second list and origin[0].  The first quarter is best[0] of the
 * third round. */
static void carve_lists(qfz_gpu_forest *f, qfz_carve *room)
{
    const int64_t half = half_of_vertices(f), quarter = half / 2 + 1;
    const size_t level_bytes = f->wide ? 4 : 2, best_bytes = sizeof *f->best[0];
    const size_t picked = (size_t)f->vertex_room * best_bytes;
    f->left_room = f->edge_room - max(f->vertex_room - half, (int64_t)0);
    qfz_carve_take(room, &f->ends[0], f->edge_room);
    qfz_carve_take(room, &f->ends[1], f->left_room);
    f->level[0] = qfz_carve_bytes(room, (size_t)f->edge_room * level_bytes);
    qfz_carve later = *room;
    f->best[0] = (unsigned long long *)qfz_carve_bytes(room, picked);
    (void)qfz_carve_bytes(&later, (size_t)quarter * best_bytes);
    f->level[1] = qfz_carve_bytes(&later, (size_t)f->left_room * level_bytes);
    qfz_carve_take(&later, &f->origin[0], quarter);
    if (room->used < later.used) room->used = later.used;
    qfz_carve_take(room, &f->best[1], half);
    qfz_carve_take(room, &f->origin[1], half);
}

void qfz_boruvka_carve_graph(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_counts(f, room);
    qfz_carve_take(room, &f->up, f->vertex_room);
    qfz_carve_take(room, &f->rim, f->n_blocks * f->rim_room);
}

void qfz_boruvka_carve_rounds(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_lists(f, room);
    qfz_carve_take(room, &f->root, f->vertex_room);
}

static void carve_part(qfz_gpu_forest *f, qfz_forest_part part, qfz_carve *room)
{
    const int64_t n_px = (int64_t)f->h * f->w, n_comps = f->n_blocks * f->comp_room;
    f->top = qfz_carve_bytes(room, (size_t)n_px * 4);
    qfz_carve_take(room, &f->hooks, n_comps);
    if (f->wide) qfz_carve_take(room, &f->comp, n_px);
    if (part >= QFZ_FOREST_CACHED) carve_counts(f, room);
    if (f->wide && part >= QFZ_FOREST_MADE) qfz_carve_take(room, &f->steps, n_comps);
    if (part >= QFZ_FOREST_MADE) qfz_carve_take(room, &f->up, f->vertex_room);
    if (part >= QFZ_FOREST_RING) qfz_carve_take(room, &f->rim, f->n_blocks * f->rim_room);
    if (part >= QFZ_FOREST_ALL) qfz_boruvka_carve_rounds(f, room);
}

size_t qfz_gpu_forest_bytes(const qfz_gpu_edges *edges, qfz_forest_part part)
{
    qfz_gpu_forest f = qfz_boruvka_shape(edges, 0);
    qfz_carve room = {};
    carve_part(&f, part, &room);
    return room.used;
}

size_t qfz_gpu_forest_shared(const qfz_gpu_edges *edges)
{
    const bool wide = edges->form >= QFZ_EDGES_WIDE;
    if (edges->connectivity == 8)
        return wide ? sizeof(block_memory<eight_wide_shape>) : sizeof(block_memory<eight_shape>);
    return wide ? sizeof(block_memory<wide_shape>) : sizeof(block_memory<narrow_shape>);
}

/* Edges are numbered, 4 a pixel, in 32 bits. */
bool qfz_boruvka_can_know_first(const qfz_gpu_edges *edges)
{
    return (int64_t)edges->h * edges->w <= UINT32_MAX / 4;
}

qfz_status qfz_boruvka_init(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                            const qfz_gpu_links *external, qfz_gpu_forest *forest)
{
    *forest = qfz_boruvka_shape(edges, external ? external->n : 0);
    forest->keeps_ring = keep_ring;
    if (forest->vertex_room >> (32 - QFZ_UP_BITS) == 0) return QFZ_OK;
    return qfz_fail(gpu->err, QFZ_ENOMEM, "tile of %d x %d pixels: too many for the GPU",
                    (int)edges->w, (int)edges->h);
}

/* Runs the rounds in all blocks. */
static qfz_status solve_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                               const qfz_gpu_forest *forest)
{
    const bool eight = edges->connectivity == 8;
    if (forest->wide)
        return eight ? qfz_boruvka_solve<eight_wide_way>(gpu, edges, forest)
                     : qfz_boruvka_solve<wide_way>(gpu, edges, forest);
    return eight ? qfz_boruvka_solve<eight_way>(gpu, edges, forest)
                 : qfz_boruvka_solve<narrow_way>(gpu, edges, forest);
}

qfz_status qfz_gpu_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                               void *d_scratch, qfz_gpu_forest *forest)
{
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    QFZ_TRY(qfz_boruvka_init(gpu, edges, keep_ring, NULL, forest));
    carve_part(forest, QFZ_FOREST_ALL, &room);
    forest->first_known = qfz_boruvka_can_know_first(edges);
    QFZ_TRY(qfz_boruvka_begin(gpu, forest, NULL));
    QFZ_TRY(solve_blocks(gpu, edges, forest));
    return qfz_boruvka_rounds(gpu, forest);
}
