/* SPDX-License-Identifier: MIT */
#include "tiles.h"

#include <stdlib.h>

#include "memory.h"

/* Bytes of a tile's pixels and validity. */
static int64_t pixels_bytes(const qfz_run *run, int64_t tile)
{
    const qfz_tiling *const t = &run->setup->tiling;
    const qfz_box box = qfz_tiling_box(t, tile / t->n_x, tile % t->n_x);
    return qfz_box_h(box) * qfz_box_w(box) * qfz_setup_source_bytes(run->setup);
}

/* In a job of phases the next pass is another process's. */
qfz_status qfz_tiles_open(qfz_run *run, qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    int64_t room = setup->keep_bytes;
    QFZ_TRY(QFZ_NEW_ZERO(&run->kept, run->n_tiles, err));
    if (!setup->engine->keep || setup->job->phase != QFZ_PHASE_ALL) return QFZ_OK;
    for (int64_t tile = run->first_tile; tile < run->end_tile && room > 0; tile++)
        room -= pixels_bytes(run, tile);
    run->found_room = room > 0 ? room : 0;
    return QFZ_OK;
}

static void drop_found(qfz_run *run, int64_t tile)
{
    kept_tile *const kept = &run->kept[tile];
    if (kept->found) run->setup->engine->drop(kept->found);
    kept->found = NULL;
#pragma omp atomic
    run->found_bytes -= kept->found_bytes;
    kept->found_bytes = 0;
}

void qfz_tiles_close(qfz_run *run)
{
    for (int64_t tile = 0; run->kept && tile < run->n_tiles; tile++) {
        free(run->kept[tile].pixels);
        free(run->kept[tile].valid);
        drop_found(run, tile);
    }
    free(run->kept);
    run->kept = NULL;
}

void qfz_tile_drop(qfz_run *run, int64_t tile)
{
    kept_tile *const kept = &run->kept[tile];
    const int64_t bytes = pixels_bytes(run, tile);
#pragma omp atomic
    run->kept_bytes -= bytes;
    free(kept->pixels);
    free(kept->valid);
    *kept = (kept_tile){0};
}

qfz_status qfz_tile_keep(qfz_run *run, int64_t tile, qfz_error *err)
{
    const qfz_source_info *const info = &run->setup->info;
    const int64_t bytes = pixels_bytes(run, tile), px = bytes / qfz_setup_source_bytes(run->setup);
    kept_tile *const k = &run->kept[tile];
    int64_t all;
#pragma omp atomic capture
    all = run->kept_bytes += bytes;
    if (all > run->setup->keep_bytes) {
        qfz_tile_drop(run, tile);
        return QFZ_OK;
    }
    qfz_status st =
        qfz_alloc_large(&k->pixels, px * info->n_bands, qfz_type_bytes(info->type), err);
    if (st == QFZ_OK && info->may_be_invalid) st = QFZ_NEW_LARGE(&k->valid, px, err);
    if (st != QFZ_OK) qfz_tile_drop(run, tile);
    return st;
}

/* Their memory is there for the next tile's. */
static void drop_pixels(qfz_run *run, int64_t tile)
{
    const qfz_source_info *const info = &run->setup->info;
    kept_tile *const kept = &run->kept[tile];
    const int64_t px = pixels_bytes(run, tile) / qfz_setup_source_bytes(run->setup);
    const int64_t bytes = px * info->n_bands * (int64_t)qfz_type_bytes(info->type);
#pragma omp atomic
    run->kept_bytes -= bytes;
    free(kept->pixels);
    kept->pixels = NULL;
}

/* Whoever resumes may look at the tile's pixels again, so they must have been kept until now. */
qfz_status qfz_tile_keep_found(qfz_run *run, const qfz_hand *hand, int64_t tile, qfz_error *err)
{
    const qfz_engine *const engine = run->setup->engine;
    kept_tile *const kept = &run->kept[tile];
    const bool last = run->pass >= run->setup->passes;
    if (run->found_room == 0 || last || !kept->pixels) return QFZ_OK;
    const int64_t bytes = engine->kept_bytes(hand->worker);
    int64_t all;
    if (bytes == 0) return QFZ_OK;
    kept->found_bytes = bytes;
#pragma omp atomic capture
    all = run->found_bytes += bytes;
    const qfz_status st =
        all > run->found_room ? QFZ_OK : engine->keep(hand->worker, &kept->found, err);
    if (!kept->found) drop_found(run, tile);
    if (kept->found && !engine->needs_pixels(hand->worker)) drop_pixels(run, tile);
    return st;
}

bool qfz_tile_resume(qfz_run *run, const qfz_hand *hand, int64_t tile)
{
    kept_tile *const kept = &run->kept[tile];
    if (!kept->found) return false;
    const bool taken = run->setup->engine->resume(hand->worker, &hand->tile, kept->found);
    if (taken) kept->found = NULL;
    drop_found(run, tile);
    return taken;
}
