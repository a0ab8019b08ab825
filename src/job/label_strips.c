/* SPDX-License-Identifier: MIT */
#include "job/label_strips.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"

enum {
    STRIP_PX = 1 << 20, /* wanted; more if a row of blocks has more */
    CELL_PX = 1 << 18,  /* the same; what the caches of a processor hold */
    LEAST_CELL_W = 16,
    LEAST_PX = 1 << 12,
    STRIPS_OF_SEGMENT = 8, /* wanted without seams: the first of them reads two rows more */
    SEGMENTS_OF_THREAD = 4,
    SEAM_ROWS = 4,
    LEAST_SEAM_H = 16 * SEAM_ROWS /* of strips, so that seams take little memory */
};

/* What a thread has in memory.  A cell keeps two columns of the cell on its left, and two rows of
 * the strip above. */
typedef struct window {
    qfz_label_grid cell;
    qfz_box box;          /* of the cell, with pixels outside the raster */
    qfz_label_grid two;   /* rows, as wide as a strip and what is needed around it: the last of this
                             strip, up to the cell; then the last of the strip above */
    int64_t two_y, two_x; /* their first pixel */
    bool has_two;
} window;

/* Between two segments.  The thread that ends a segment keeps its last two rows, the thread that
 * begins the next one the first two; whoever is later visits the box of the two rows between.
 * So no block is read for both. */
typedef struct seam {
    qfz_label_grid rows; /* as wide as the two of a window */
    int n_sides;         /* that are in rows */
} seam;

typedef struct strips {
    const qfz_label_pass *pass;
    qfz_tiling tiling;
    int64_t cell_w;     /* of a strip */
    int64_t y0, y1;     /* rows of the raster */
    int64_t first, n_y; /* rows of strips that they touch */
    int64_t n_segments; /* of a column of strips */
    qfz_strip_visit_fn visit;
    void *arg;
    window *windows;      /* for each thread */
    bool has_seams;       /* false: a segment begins with the two rows above */
    seam *seams;          /* above each segment, if has_seams */
    pthread_mutex_t lock; /* of seams */
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

/* Whole columns of blocks.  Blocks of masks may be as wide as the raster. */
static int64_t choose_cell_w(const qfz_tiling *t, const qfz_source_info *info, int32_t tile_px)
{
    if (tile_px > 0 || info->may_be_invalid) return t->tile_w;
    const int64_t w = larger(CELL_PX / t->tile_h / info->block_w, 1) * info->block_w;
    return w < LEAST_CELL_W ? t->tile_w : smaller(w, t->tile_w);
}

static qfz_status choose(strips *s, const qfz_source_info *info, int32_t tile_px, int64_t bytes,
                         qfz_error *err)
{
    const int64_t n = s->pass->n_threads;
    const int64_t px = larger(bytes / (s->pass->is_narrow ? 4 : 8), LEAST_PX);
    QFZ_TRY(
        choose_tiling(&s->tiling, info, (int64_t)tile_px * tile_px <= px ? tile_px : 0, px, err));
    s->cell_w = choose_cell_w(&s->tiling, info, tile_px);
    qfz_label_pass_rows(s->pass, info->h, &s->y0, &s->y1);
    s->first = s->y0 / s->tiling.tile_h;
    s->n_y = s->y0 < s->y1 ? (s->y1 - 1) / s->tiling.tile_h + 1 - s->first : 0;
    s->has_seams = !s->pass->is_part && s->tiling.tile_h >= LEAST_SEAM_H;
    const int64_t wanted = s->has_seams ? s->n_y : s->n_y / STRIPS_OF_SEGMENT;
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

static qfz_status allocate(qfz_label_grid *grid, const strips *s, int64_t h, int64_t pitch,
                           qfz_error *err)
{
    qfz_label_grid made = {NULL, pitch, !s->pass->is_narrow};
    QFZ_TRY(qfz_alloc_large(&made.labels, h * pitch, (size_t)qfz_label_grid_bytes(made), err));
    *grid = made;
    return QFZ_OK;
}

/* A part of a grid. */
static qfz_label_grid part_of(qfz_label_grid grid, int64_t y, int64_t x)
{
    grid.labels = qfz_label_grid_at(grid, y, x);
    return grid;
}

static void copy(qfz_label_grid to, qfz_label_grid from, int64_t h, int64_t w)
{
    for (int64_t y = 0; y < h; y++)
        memcpy(qfz_label_grid_at(to, y, 0), qfz_label_grid_at(from, y, 0),
               (size_t)(w * qfz_label_grid_bytes(from)));
}

static void clear(qfz_label_grid grid, int64_t y, int64_t x, int64_t n)
{
    memset(qfz_label_grid_at(grid, y, x), 0, (size_t)(n * qfz_label_grid_bytes(grid)));
}

/* Reads a box that may lie outside the raster; to: from its first pixel on. */
static qfz_status read_box(const strips *s, int thread, qfz_box box, qfz_label_grid to,
                           qfz_error *err)
{
    const qfz_tiling *const t = &s->tiling;
    const qfz_box inside = {larger(box.y0, 0), larger(box.x0, 0), smaller(box.y1, t->h),
                            smaller(box.x1, t->w)};
    if (inside.y0 < inside.y1)
        QFZ_TRY(s->pass->read(s->pass->arg, thread, inside,
                              part_of(to, inside.y0 - box.y0, inside.x0 - box.x0), err));
    for (int64_t y = box.y0; y < box.y1; y++) {
        const int64_t row = y - box.y0;
        if (y < 0 || y >= t->h) {
            clear(to, row, 0, qfz_box_w(box));
            continue;
        }
        if (box.x0 < 0) clear(to, row, 0, 1);
        if (box.x1 > t->w) clear(to, row, qfz_box_w(box) - 1, 1);
    }
    return QFZ_OK;
}

/* --------------------------------------------------------------------------------------- strips */
typedef struct strip {
    qfz_box blocks; /* of the source */
    qfz_box box;    /* to visit */
    qfz_box needed; /* one pixel more on each side */
    bool has_above; /* the window has the first two rows */
    seam *follows;  /* the two rows around the upper edge are those of a seam; NULL: not so */
} strip;

/* Fills the window with a cell, columns x0..x1 of the strip's blocks. */
static qfz_status read_cell(const strips *s, int thread, const strip *of, int64_t x0, int64_t x1,
                            qfz_error *err)
{
    window *const w = &s->windows[thread];
    const bool keeps = x0 > of->blocks.x0;
    const qfz_box box = {of->needed.y0, moved(x0, s->tiling.w) - 1, of->needed.y1,
                         moved(x1, s->tiling.w) + 1};
    const int64_t kept = keeps ? 2 : 0, h = qfz_box_h(box), above = of->has_above ? 2 : 0;
    const int64_t from = box.x0 + kept - of->needed.x0, n = qfz_box_w(box) - kept;
    if (keeps) copy(w->cell, part_of(w->cell, 0, qfz_box_w(w->box) - 2), h, 2);
    w->box = box;
    copy(part_of(w->cell, 0, kept), part_of(w->two, 0, from), above, n);
    const qfz_box fresh = {box.y0 + above, box.x0 + kept, box.y1, box.x1};
    QFZ_TRY(read_box(s, thread, fresh, part_of(w->cell, above, kept), err));
    copy(part_of(w->two, 0, from), part_of(w->cell, h - 2, kept), 2, n);
    if (of->follows) copy(part_of(of->follows->rows, 2, from), part_of(w->cell, 0, kept), 2, n);
    return QFZ_OK;
}

static qfz_status visit_cells(strips *s, int thread, const strip *of, qfz_error *err)
{
    const window *const w = &s->windows[thread];
    for (int64_t x0 = of->blocks.x0, x1; x0 < of->blocks.x1; x0 = x1) {
        x1 = smaller(x0 + s->cell_w, of->blocks.x1);
        QFZ_TRY(read_cell(s, thread, of, x0, x1, err));
        const qfz_label_strip found = {{of->box.y0, w->box.x0 + 1, of->box.y1, w->box.x1 - 1},
                                       w->cell};
        if (qfz_box_h(found.box) > 0) QFZ_TRY(s->visit(s->arg, thread, &found, err));
    }
    return QFZ_OK;
}

static qfz_status open_window(const strips *s, window *w, qfz_error *err)
{
    if (!w->cell.labels) QFZ_TRY(allocate(&w->cell, s, s->tiling.tile_h + 3, s->cell_w + 3, err));
    return w->two.labels ? QFZ_OK : allocate(&w->two, s, 2, s->tiling.tile_w + 3, err);
}

static strip strip_at(const strips *s, int64_t ty, int64_t tx, seam *follows)
{
    const qfz_tiling *const t = &s->tiling;
    const qfz_box whole = qfz_tiling_box(t, ty, tx);
    const qfz_box blocks = {larger(whole.y0, s->y0), whole.x0, smaller(whole.y1, s->y1), whole.x1};
    const qfz_box box = {follows ? blocks.y0 + 1 : moved(blocks.y0, t->h), moved(blocks.x0, t->w),
                         moved(blocks.y1, t->h), moved(blocks.x1, t->w)};
    const qfz_box needed = {box.y0 - 1, box.x0 - 1, box.y1 + 1, box.x1 + 1};
    return (strip){.blocks = blocks, .box = box, .needed = needed, .follows = follows};
}

/* follows: the seam above the strip, if it is the first of a segment. */
static qfz_status visit_strip(strips *s, int thread, int64_t ty, int64_t tx, seam *follows,
                              qfz_error *err)
{
    window *const w = &s->windows[thread];
    strip at = strip_at(s, ty, tx, follows);
    if (!follows && (qfz_box_w(at.box) == 0 || qfz_box_h(at.box) == 0)) return QFZ_OK;
    QFZ_TRY(open_window(s, w, err));
    at.has_above = w->has_two && w->two_y == at.needed.y0 && w->two_x == at.needed.x0;
    w->has_two = false; /* until all cells are read */
    QFZ_TRY(visit_cells(s, thread, &at, err));
    w->two_y = at.needed.y1 - 2;
    w->two_x = at.needed.x0;
    w->has_two = true;
    return QFZ_OK;
}

/* ---------------------------------------------------------------------------------------- seams */
/* The seam above segment `item`, with its memory; NULL: none. */
static qfz_status open_seam(strips *s, int64_t item, seam **opened, qfz_error *err)
{
    qfz_status st = QFZ_OK;
    *opened = NULL;
    if (!s->has_seams || item % s->n_segments == 0) return QFZ_OK;
    seam *const m = &s->seams[item];
    pthread_mutex_lock(&s->lock);
    if (!m->rows.labels) st = allocate(&m->rows, s, SEAM_ROWS, s->tiling.tile_w + 3, err);
    pthread_mutex_unlock(&s->lock);
    if (st == QFZ_OK) *opened = m;
    return st;
}

static void free_seam(seam *m)
{
    free(m->rows.labels);
    m->rows.labels = NULL;
}

/* Two rows of the seam are complete; visits it if all are.  y: the first row below it. */
static qfz_status end_side(strips *s, int thread, seam *m, int64_t tx, int64_t y, qfz_error *err)
{
    const qfz_tiling *const t = &s->tiling;
    const qfz_box below = qfz_tiling_box(t, y / t->tile_h, tx);
    pthread_mutex_lock(&s->lock);
    const bool is_complete = ++m->n_sides == 2;
    pthread_mutex_unlock(&s->lock);
    if (!is_complete) return QFZ_OK;
    const qfz_label_strip found = {{y - 1, moved(below.x0, t->w), y + 1, moved(below.x1, t->w)},
                                   m->rows};
    const qfz_status st = s->visit(s->arg, thread, &found, err);
    free_seam(m);
    return st;
}

/* ------------------------------------------------------------------------------------- segments */
static qfz_status visit_segment(void *arg, int64_t item, int thread, qfz_error *err)
{
    strips *const s = arg;
    const int64_t tx = item / s->n_segments, i = item % s->n_segments;
    const int64_t begin = s->first + i * s->n_y / s->n_segments;
    const int64_t end = s->first + (i + 1) * s->n_y / s->n_segments;
    seam *above, *below = NULL;
    QFZ_TRY(open_seam(s, item, &above, err));
    for (int64_t ty = begin; ty < end; ty++) {
        seam *const follows = ty == begin ? above : NULL;
        QFZ_TRY(visit_strip(s, thread, ty, tx, follows, err));
        if (follows) QFZ_TRY(end_side(s, thread, above, tx, ty * s->tiling.tile_h, err));
        QFZ_TRY(qfz_progress_advance(s->pass->progress, err));
    }
    if (i + 1 < s->n_segments) QFZ_TRY(open_seam(s, item + 1, &below, err));
    if (!below) return QFZ_OK;
    copy(below->rows, s->windows[thread].two, 2, s->tiling.tile_w + 3);
    return end_side(s, thread, below, tx, end * s->tiling.tile_h, err);
}

/* As qfz_label_strips_run(), after choose(). */
static qfz_status visit_all(strips *s, qfz_error *err)
{
    const int n_threads = s->pass->n_threads;
    QFZ_TRY(QFZ_NEW_ZERO(&s->windows, n_threads, err));
    if (s->has_seams) QFZ_TRY(QFZ_NEW_ZERO(&s->seams, s->tiling.n_x * s->n_segments, err));
    if (pthread_mutex_init(&s->lock, NULL) != 0)
        return qfz_fail(err, QFZ_ENOMEM, "out of memory for a lock");
    const qfz_status st =
        qfz_parallel_for_once(n_threads, s->tiling.n_x * s->n_segments, visit_segment, s, err);
    (void)pthread_mutex_destroy(&s->lock);
    return st;
}

qfz_status qfz_label_strips_run(const qfz_label_pass *pass, const qfz_source_info *info,
                                int32_t tile_px, int64_t bytes, const char *step, double share,
                                qfz_strip_visit_fn visit, void *arg, qfz_error *err)
{
    strips s = {.pass = pass, .visit = visit, .arg = arg};
    QFZ_TRY(choose(&s, info, tile_px, bytes, err));
    qfz_progress_begin(pass->progress, step, share, s.tiling.n_x * s.n_y);
    const qfz_status st = visit_all(&s, err);
    for (int i = 0; s.windows && i < pass->n_threads; i++) {
        free(s.windows[i].cell.labels);
        free(s.windows[i].two.labels);
    }
    for (int64_t i = 0; s.seams && i < s.tiling.n_x * s.n_segments; i++)
        free_seam(&s.seams[i]);
    free(s.windows);
    free(s.seams);
    return st;
}
