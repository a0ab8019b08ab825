/* SPDX-License-Identifier: MIT */
#include "job/label_strips.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"

enum {
    STRIP_PX = 1 << 20, /* wanted; more if a row of blocks has more */
    LEAST_PX = 1 << 12,
    STRIPS_OF_SEGMENT = 8, /* wanted; the first of them reads two rows more */
    SEGMENTS_OF_THREAD = 4
};

typedef struct window { /* of one thread */
    qfz_box box;        /* what is in memory, with pixels outside the raster */
    void *labels;       /* from (box.y0, box.x0) */
} window;

typedef struct strips {
    const qfz_label_pass *pass;
    qfz_tiling tiling;
    int64_t y0, y1;     /* rows of the raster */
    int64_t first, n_y; /* rows of strips that they touch */
    int64_t n_segments; /* of a column of strips */
    qfz_strip_visit_fn visit;
    void *arg;
    window *windows; /* for each thread */
} strips;

/* ---------------------------------------------------------------------------------------- shape
 */
static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whole rows of blocks; columns of whole blocks where a row is too wide. */
static qfz_status choose_tiling(qfz_tiling *t, const qfz_source_info *info, int32_t tile_px,
                                int64_t most_px, qfz_error *err)
{
    if (tile_px > 0 || info->block_w * info->block_h > most_px)
        return qfz_tiling_choose(t, info, tile_px, most_px, err);
    const int64_t blocks = most_px / (info->block_w * info->block_h);
    *t = (qfz_tiling){.w = info->w, .h = info->h};
    t->tile_w = smaller(info->w, blocks * info->block_w);
    const int64_t wanted = smaller(most_px, STRIP_PX) / (t->tile_w * info->block_h);
    t->tile_h = smaller(info->h, larger(wanted, 1) * info->block_h);
    t->n_x = (t->w - 1) / t->tile_w + 1;
    t->n_y = (t->h - 1) / t->tile_h + 1;
    return QFZ_OK;
}

static qfz_status choose(strips *s, const qfz_source_info *info, int32_t tile_px, int64_t bytes,
                         qfz_error *err)
{
    const int64_t n = s->pass->n_threads;
    const int64_t px = larger(bytes / (s->pass->is_narrow ? 4 : 8), LEAST_PX);
    QFZ_TRY(
        choose_tiling(&s->tiling, info, (int64_t)tile_px * tile_px <= px ? tile_px : 0, px, err));
    qfz_label_pass_rows(s->pass, info->h, &s->y0, &s->y1);
    s->first = s->y0 / s->tiling.tile_h;
    s->n_y = s->y0 < s->y1 ? (s->y1 - 1) / s->tiling.tile_h + 1 - s->first : 0;
    const int64_t wanted = s->n_y / STRIPS_OF_SEGMENT;
    s->n_segments = smaller(larger(wanted, n), smaller(n * SEGMENTS_OF_THREAD, s->n_y));
    return QFZ_OK;
}

/* -------------------------------------------------------------------------------------- reading
 */
/* An edge of strips as an edge of the boxes that are visited. */
static int64_t moved(int64_t edge, int64_t end)
{
    return edge == 0 || edge == end ? edge : edge - 1;
}

static qfz_label_grid grid_of(const strips *s, const window *w)
{
    return (qfz_label_grid){w->labels, s->tiling.tile_w + 3, !s->pass->is_narrow};
}

static void clear(qfz_label_grid grid, int64_t y, int64_t x, int64_t n)
{
    memset(qfz_label_grid_at(grid, y, x), 0, (size_t)(n * qfz_label_grid_bytes(grid)));
}

/* Moves the rows that the window has to the place where it needs them; returns their number. */
static int64_t keep_rows(const strips *s, window *w, qfz_box needed)
{
    const qfz_label_grid grid = grid_of(s, w);
    const bool follows = w->box.x0 == needed.x0 && w->box.x1 == needed.x1 &&
                         w->box.y0 <= needed.y0 && w->box.y1 > needed.y0;
    if (!follows) return 0;
    const int64_t n = w->box.y1 - needed.y0;
    memmove(grid.labels, qfz_label_grid_at(grid, needed.y0 - w->box.y0, 0),
            (size_t)(n * grid.pitch * qfz_label_grid_bytes(grid)));
    return n;
}

/* Reads rows y0..y1 of the window, which may lie outside the raster. */
static qfz_status read_rows(const strips *s, int thread, int64_t y0, int64_t y1, qfz_error *err)
{
    const qfz_tiling *const t = &s->tiling;
    const window *const w = &s->windows[thread];
    const qfz_label_grid grid = grid_of(s, w);
    const int64_t width = qfz_box_w(w->box);
    const qfz_box box = {larger(y0, 0), larger(w->box.x0, 0), smaller(y1, t->h),
                         smaller(w->box.x1, t->w)};
    const qfz_label_grid to = {qfz_label_grid_at(grid, box.y0 - w->box.y0, box.x0 - w->box.x0),
                               grid.pitch, grid.is_wide};
    if (box.y0 < box.y1) QFZ_TRY(s->pass->read(s->pass->arg, thread, box, to, err));
    for (int64_t y = y0; y < y1; y++) {
        const int64_t row = y - w->box.y0;
        if (y < 0 || y >= t->h) {
            clear(grid, row, 0, width);
            continue;
        }
        if (w->box.x0 < 0) clear(grid, row, 0, 1);
        if (w->box.x1 > t->w) clear(grid, row, width - 1, 1);
    }
    return QFZ_OK;
}

static qfz_status visit_strip(strips *s, int thread, int64_t ty, int64_t tx, qfz_error *err)
{
    const qfz_tiling *const t = &s->tiling;
    const qfz_box whole = qfz_tiling_box(t, ty, tx);
    const qfz_box strip = {larger(whole.y0, s->y0), whole.x0, smaller(whole.y1, s->y1), whole.x1};
    const qfz_box box = {moved(strip.y0, t->h), moved(strip.x0, t->w), moved(strip.y1, t->h),
                         moved(strip.x1, t->w)};
    const qfz_box needed = {box.y0 - 1, box.x0 - 1, box.y1 + 1, box.x1 + 1};
    window *const w = &s->windows[thread];
    const int64_t item_bytes = s->pass->is_narrow ? 4 : 8;
    if (qfz_box_w(box) == 0 || qfz_box_h(box) == 0) return QFZ_OK;
    if (!w->labels)
        QFZ_TRY(qfz_alloc_large(&w->labels, (t->tile_w + 3) * (t->tile_h + 3), (size_t)item_bytes,
                                err));
    const int64_t n = keep_rows(s, w, needed);
    w->box = needed;
    const qfz_status st = read_rows(s, thread, needed.y0 + n, needed.y1, err);
    if (st != QFZ_OK) {
        w->box = (qfz_box){0}; /* the window may hold anything */
        return st;
    }
    const qfz_label_strip found = {box, grid_of(s, w)};
    return s->visit(s->arg, thread, &found, err);
}

static qfz_status visit_segment(void *arg, int64_t item, int thread, qfz_error *err)
{
    strips *const s = arg;
    const int64_t tx = item / s->n_segments, i = item % s->n_segments;
    const int64_t end = s->first + (i + 1) * s->n_y / s->n_segments;
    for (int64_t ty = s->first + i * s->n_y / s->n_segments; ty < end; ty++) {
        QFZ_TRY(visit_strip(s, thread, ty, tx, err));
        QFZ_TRY(qfz_progress_advance(s->pass->progress, err));
    }
    return QFZ_OK;
}

qfz_status qfz_label_strips_run(const qfz_label_pass *pass, const qfz_source_info *info,
                                int32_t tile_px, int64_t bytes, const char *step, double share,
                                qfz_strip_visit_fn visit, void *arg, qfz_error *err)
{
    strips s = {.pass = pass, .visit = visit, .arg = arg};
    QFZ_TRY(choose(&s, info, tile_px, bytes, err));
    QFZ_TRY(QFZ_NEW_ZERO(&s.windows, pass->n_threads, err));
    qfz_progress_begin(pass->progress, step, share, s.tiling.n_x * s.n_y);
    const qfz_status st =
        qfz_parallel_for_once(pass->n_threads, s.tiling.n_x * s.n_segments, visit_segment, &s, err);
    for (int i = 0; i < pass->n_threads; i++)
        free(s.windows[i].labels);
    free(s.windows);
    return st;
}
