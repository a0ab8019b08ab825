/* SPDX-License-Identifier: MIT */
/* boruvka.cu - a forest's memory, and the order in which its parts are made. */
#include "gpu/saliency/saliency.cuh"

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t at_least_0(int64_t a)
{
    return a < 0 ? 0 : a;
}

int64_t qfz_gpu_forest_vertices(int32_t h, int32_t w)
{
    const int64_t n_blocks = (int64_t)qfz_blocks(h, QFZ_SIDE) * qfz_blocks(w, QFZ_SIDE);
    const int64_t px = at_most(h, QFZ_SIDE) * at_most(w, QFZ_SIDE);
    return n_blocks * (at_most(QFZ_RIM, px) + at_most(QFZ_SPARE, px / 2));
}

/* Room for whatever the tile holds; the graph has at most a vertex a rim pixel and some more, and
 * of each block the edges that leave it and a tree. */
static qfz_gpu_forest shape_of(const qfz_gpu_edges *edges, int64_t n_external)
{
    qfz_gpu_forest f = {};
    const int64_t side_w = at_most(edges->w, QFZ_SIDE), side_h = at_most(edges->h, QFZ_SIDE);
    const int64_t n_y = (edges->h + QFZ_SIDE - 1) / QFZ_SIDE, px = side_w * side_h;
    const int n_dirs = edges->connectivity / 2;
    const int64_t leaving = n_dirs == 2 ? 2 * QFZ_SIDE : 6 * QFZ_SIDE - 2;
    f.h = edges->h;
    f.w = edges->w;
    f.n_x = (edges->w + QFZ_SIDE - 1) / QFZ_SIDE;
    f.n_blocks = n_y * f.n_x;
    f.connectivity = edges->connectivity;
    f.wide = edges->form >= QFZ_EDGES_WIDE;
    f.rim_room = (int32_t)at_most(QFZ_RIM, px);
    f.comp_room = f.rim_room + (int32_t)(px / 2);
    f.vertex_room = qfz_gpu_forest_vertices(f.h, f.w);
    f.edge_room = n_external + f.vertex_room + f.n_blocks * at_most(leaving, n_dirs * px);
    return f;
}

/* What blocks say of their pixels. */
static void carve_pixels(qfz_gpu_forest *f, qfz_carve *room)
{
    const int64_t n_px = (int64_t)f->h * f->w;
    f->top = qfz_carve_bytes(room, (size_t)n_px * 4);
    qfz_carve_take(room, &f->hooks, f->n_blocks * f->comp_room);
    if (f->wide) qfz_carve_take(room, &f->comp, n_px);
}

/* What there are of vertices. */
static void carve_counts(qfz_gpu_forest *f, qfz_carve *room)
{
    qfz_carve_take(room, &f->block, f->n_blocks);
    qfz_carve_take(room, &f->count, QFZ_COUNTERS);
}

static void carve_kept(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_pixels(f, room);
    carve_counts(f, room);
}

/* What is of use when the graph is done; and so, for some, are rims. */
static void carve_made(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_kept(f, room);
    if (f->wide) qfz_carve_take(room, &f->steps, f->n_blocks * f->comp_room);
    qfz_carve_take(room, &f->up, f->vertex_room);
}

static void carve_rims(qfz_gpu_forest *f, qfz_carve *room)
{
    qfz_carve_take(room, &f->rim, f->n_blocks * f->rim_room);
}

/* The most vertices after a round: a half; after the first one more of those that sit it out where
 * blocks tell what vertices choose: few in a block, or all in one that has part of the ring. */
static int64_t half_of_vertices(const qfz_gpu_forest *f)
{
    const int64_t n_y = f->n_blocks / f->n_x;
    const int64_t inside = at_least_0(n_y - 2) * at_least_0(f->n_x - 2);
    const int64_t sit_out = f->n_blocks * QFZ_SPARE + (f->n_blocks - inside) * f->rim_room;
    return at_most(f->vertex_room, (f->vertex_room + sit_out) / 2) + 1;
}

/* Two lists of edges and of what vertices pick, by turns.  Whoever hooks itself in the first round
 * takes an edge with it, so that the second list is shorter.  And what vertices picked is not asked
 * for after that round: there, behind the first quarter, which the round after the next needs, lie
 * the second list's levels and that round's origins. */
static void carve_lists(qfz_gpu_forest *f, qfz_carve *room)
{
    const int64_t half = half_of_vertices(f), quarter = half / 2 + 1;
    const size_t level_bytes = f->wide ? 4 : 2, best_bytes = sizeof *f->best[0];
    const size_t picked = (size_t)f->vertex_room * best_bytes;
    f->left_room = f->edge_room - at_least_0(f->vertex_room - half);
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

/* What edges are answered by. */
static void carve_answers(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_counts(f, room);
    qfz_carve_take(room, &f->up, f->vertex_room);
    carve_rims(f, room);
}

/* What is of use until the graph is done. */
static void carve_rounds(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_lists(f, room);
    qfz_carve_take(room, &f->root, f->vertex_room);
}

static void carve(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_made(f, room);
    carve_rims(f, room);
    carve_rounds(f, room);
}

static void carve_ring(qfz_gpu_forest *f, qfz_carve *room)
{
    carve_answers(f, room);
    carve_rounds(f, room);
}

/* The graph lies where the last plane will be if that is made late. */
static void carve_saliency(qfz_saliency_blocks *blocks, const qfz_gpu_edges *edges, qfz_carve *room,
                           void **d_saliency)
{
    qfz_gpu_forest *const f = &blocks->forest;
    const bool narrow = qfz_gpu_is_narrow(edges);
    const size_t n_dirs = (size_t)edges->connectivity / 2;
    const size_t plane = (size_t)edges->h * (size_t)edges->w * (narrow ? 2 : 4);
    blocks->made_late = n_dirs == QFZ_MAX_DIRS && !narrow;
    if (blocks->made_late)
        qfz_carve_take(room, &blocks->moved, f->n_blocks * QFZ_MOVED_WORDS);
    else
        qfz_carve_take(room, &blocks->open, f->n_blocks * QFZ_OPEN_ROOM);
    carve_answers(f, room);
    qfz_carve rounds = *room;
    if (blocks->made_late) (void)qfz_carve_bytes(&rounds, (n_dirs - 1) * plane);
    carve_rounds(f, &rounds);
    if (!blocks->made_late) *room = rounds;
    *d_saliency = qfz_carve_bytes(room, n_dirs * plane);
    if (room->used < rounds.used) room->used = rounds.used;
}

size_t qfz_gpu_forest_bytes(const qfz_gpu_edges *edges, int64_t n_external)
{
    qfz_gpu_forest f = shape_of(edges, n_external);
    qfz_carve room = {};
    carve(&f, &room);
    return room.used;
}

size_t qfz_gpu_forest_made_bytes(const qfz_gpu_edges *edges)
{
    qfz_gpu_forest f = shape_of(edges, 0);
    qfz_carve room = {};
    carve_made(&f, &room);
    return room.used;
}

size_t qfz_gpu_forest_cached_bytes(const qfz_gpu_edges *edges)
{
    qfz_gpu_forest f = shape_of(edges, 0);
    qfz_carve room = {};
    carve_kept(&f, &room);
    return room.used;
}

static qfz_status begin(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                        const qfz_gpu_links *external, qfz_gpu_forest *forest)
{
    *forest = shape_of(edges, external ? external->n : 0);
    forest->keeps_ring = keep_ring;
    if (forest->vertex_room >> (32 - QFZ_UP_BITS) == 0) return QFZ_OK;
    return qfz_fail(gpu->err, QFZ_ENOMEM, "tile of %d x %d pixels: too many for the GPU",
                    (int)edges->w, (int)edges->h);
}

qfz_status qfz_gpu_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, bool keep_ring,
                               const qfz_gpu_links *external, void *d_scratch,
                               qfz_gpu_forest *forest)
{
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    QFZ_TRY(begin(gpu, edges, keep_ring, external, forest));
    carve(forest, &room);
    QFZ_TRY(qfz_boruvka_begin(gpu, forest, external));
    QFZ_TRY(qfz_boruvka_blocks(gpu, edges, forest));
    return qfz_boruvka_rounds(gpu, forest);
}

/* ---- Saliency -------------------------------------------------------------------------------- */

size_t qfz_gpu_saliency_shared(const qfz_gpu_edges *edges)
{
    const bool wide = edges->form >= QFZ_EDGES_WIDE;
    if (edges->connectivity == 8)
        return wide ? qfz_saliency_eight_wide_shared() : qfz_saliency_eight_shared();
    return wide ? qfz_saliency_wide_shared() : qfz_saliency_narrow_shared();
}

size_t qfz_gpu_saliency_bytes(const qfz_gpu_edges *edges, int64_t n_external)
{
    qfz_saliency_blocks blocks = {};
    qfz_carve room = {};
    void *d_saliency;
    blocks.forest = shape_of(edges, n_external);
    carve_saliency(&blocks, edges, &room, &d_saliency);
    return room.used;
}

size_t qfz_gpu_ring_forest_bytes(const qfz_gpu_edges *edges)
{
    qfz_gpu_forest f = shape_of(edges, 0);
    qfz_carve room = {};
    carve_ring(&f, &room);
    return room.used;
}

static qfz_status make_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency)
{
    const bool eight = edges->connectivity == 8;
    if (blocks->forest.wide)
        return eight ? qfz_saliency_eight_wide_blocks(gpu, edges, blocks, d_saliency)
                     : qfz_saliency_wide_blocks(gpu, edges, blocks, d_saliency);
    uint16_t *const narrow = static_cast<uint16_t *>(d_saliency);
    return eight ? qfz_saliency_eight_blocks(gpu, edges, blocks, narrow)
                 : qfz_saliency_narrow_blocks(gpu, edges, blocks, narrow);
}

/* The graph of all blocks, and, unless d_saliency is NULL, what blocks answer; its memory is
 * carved. */
static qfz_status make_rows(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_links *external,
                            void *d_saliency, qfz_saliency_blocks *blocks)
{
    /* Blocks number the edges that vertices choose: 4 a pixel. */
    blocks->forest.first_known = (int64_t)edges->h * edges->w <= UINT32_MAX / 4;
    QFZ_TRY(qfz_boruvka_begin(gpu, &blocks->forest, external));
    QFZ_TRY(make_blocks(gpu, edges, blocks, d_saliency));
    return qfz_boruvka_rounds(gpu, &blocks->forest);
}

qfz_status qfz_gpu_ring_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_scratch,
                                    qfz_gpu_forest *forest)
{
    qfz_saliency_blocks blocks = {};
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    QFZ_TRY(begin(gpu, edges, true, NULL, &blocks.forest));
    carve_ring(&blocks.forest, &room);
    QFZ_TRY(make_rows(gpu, edges, NULL, NULL, &blocks));
    *forest = blocks.forest;
    return QFZ_OK;
}

qfz_status qfz_gpu_saliency(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_links *external,
                            void *d_memory, void **d_saliency)
{
    const bool narrow = qfz_gpu_is_narrow(edges);
    qfz_saliency_blocks blocks = {};
    qfz_carve room = {static_cast<char *>(d_memory), 0};
    QFZ_TRY(begin(gpu, edges, external != NULL, external, &blocks.forest));
    carve_saliency(&blocks, edges, &room, d_saliency);
    QFZ_TRY(make_rows(gpu, edges, external, *d_saliency, &blocks));
    return edges->connectivity == 8 ? qfz_saliency_eight_query(gpu, &blocks, narrow, *d_saliency)
                                    : qfz_saliency_query(gpu, &blocks, narrow, *d_saliency);
}
