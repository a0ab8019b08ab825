/* SPDX-License-Identifier: MIT */
/* saliency_tile.cu - lays out the memory of a tile's saliency, and launches its steps in order. */
#include "gpu/saliency/saliency.cuh"

static void carve_ring(qfz_gpu_forest *f, qfz_carve *room)
{
    qfz_boruvka_carve_graph(f, room);
    qfz_boruvka_carve_rounds(f, room);
}

/* If the last planes are made late, the graph of all blocks lies in their place until then. */
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
    qfz_boruvka_carve_graph(f, room);
    qfz_carve rounds = *room;
    if (blocks->made_late) (void)qfz_carve_bytes(&rounds, (n_dirs - 1) * plane);
    qfz_boruvka_carve_rounds(f, &rounds);
    if (!blocks->made_late) *room = rounds;
    *d_saliency = qfz_carve_bytes(room, n_dirs * plane);
    if (room->used < rounds.used) room->used = rounds.used;
}

size_t qfz_gpu_saliency_bytes(const qfz_gpu_edges *edges, int64_t n_external)
{
    qfz_saliency_blocks blocks = {};
    qfz_carve room = {};
    void *d_saliency;
    blocks.forest = qfz_boruvka_shape(edges, n_external);
    carve_saliency(&blocks, edges, &room, &d_saliency);
    return room.used;
}

size_t qfz_gpu_ring_forest_bytes(const qfz_gpu_edges *edges)
{
    qfz_gpu_forest f = qfz_boruvka_shape(edges, 0);
    qfz_carve room = {};
    carve_ring(&f, &room);
    return room.used;
}

static qfz_status make_blocks(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                              const qfz_saliency_blocks *blocks, void *d_saliency)
{
    const bool eight = edges->connectivity == 8;
    if (blocks->forest.wide)
        return eight ? qfz_saliency_solve<eight_wide_way>(gpu, edges, blocks, d_saliency)
                     : qfz_saliency_solve<wide_way>(gpu, edges, blocks, d_saliency);
    return eight ? qfz_saliency_solve<eight_way>(gpu, edges, blocks, d_saliency)
                 : qfz_saliency_solve<narrow_way>(gpu, edges, blocks, d_saliency);
}

/* Solves the blocks and the graph of all blocks, whose memory is carved; unless d_saliency is NULL,
 * stores the saliency of the edges that are closed inside blocks. */
static qfz_status make_graph(qfz_gpu *gpu, const qfz_gpu_edges *edges,
                             const qfz_gpu_links *external, void *d_saliency,
                             qfz_saliency_blocks *blocks)
{
    blocks->forest.first_known = qfz_boruvka_can_know_first(edges);
    QFZ_TRY(qfz_boruvka_begin(gpu, &blocks->forest, external));
    QFZ_TRY(make_blocks(gpu, edges, blocks, d_saliency));
    return qfz_boruvka_rounds(gpu, &blocks->forest);
}

qfz_status qfz_gpu_ring_forest_make(qfz_gpu *gpu, const qfz_gpu_edges *edges, void *d_scratch,
                                    qfz_gpu_forest *forest)
{
    qfz_saliency_blocks blocks = {};
    qfz_carve room = {static_cast<char *>(d_scratch), 0};
    QFZ_TRY(qfz_boruvka_init(gpu, edges, true, NULL, &blocks.forest));
    carve_ring(&blocks.forest, &room);
    QFZ_TRY(make_graph(gpu, edges, NULL, NULL, &blocks));
    *forest = blocks.forest;
    return QFZ_OK;
}

qfz_status qfz_gpu_saliency(qfz_gpu *gpu, const qfz_gpu_edges *edges, const qfz_gpu_links *external,
                            void *d_memory, void **d_saliency)
{
    const bool narrow = qfz_gpu_is_narrow(edges);
    qfz_saliency_blocks blocks = {};
    qfz_carve room = {static_cast<char *>(d_memory), 0};
    QFZ_TRY(qfz_boruvka_init(gpu, edges, external != NULL, external, &blocks.forest));
    carve_saliency(&blocks, edges, &room, d_saliency);
    QFZ_TRY(make_graph(gpu, edges, external, *d_saliency, &blocks));
    return edges->connectivity == 8 ? qfz_saliency_eight_query(gpu, &blocks, narrow, *d_saliency)
                                    : qfz_saliency_query(gpu, &blocks, narrow, *d_saliency);
}
