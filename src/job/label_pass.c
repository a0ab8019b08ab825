/* SPDX-License-Identifier: MIT */
#include "job/label_pass.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"

qfz_box qfz_label_pass_box(const qfz_tiling *tiling, qfz_box box, bool margin)
{
    if (margin && box.x1 < tiling->w) box.x1++;
    if (margin && box.y1 < tiling->h) box.y1++;
    return box;
}

void qfz_label_pass_rows(const qfz_label_pass *pass, int64_t h, int64_t *y0, int64_t *y1)
{
    *y0 = pass->is_part ? pass->y0 : 0;
    *y1 = pass->is_part ? pass->y1 : h;
}

typedef struct passing {
    const qfz_label_pass *pass;
    bool margin;
    int64_t y0, y1; /* rows of the raster */
    int64_t first;  /* row of tiles */
    qfz_label_visit_fn visit;
    void *arg;
    uint64_t **labels; /* for each thread */
} passing;

static qfz_box box_of(const passing *p, int64_t tile)
{
    const qfz_tiling *const t = &p->pass->tiling;
    qfz_box box = qfz_tiling_box(t, p->first + tile / t->n_x, tile % t->n_x);
    if (box.y0 < p->y0) box.y0 = p->y0;
    if (box.y1 > p->y1) box.y1 = p->y1;
    return box;
}

static qfz_status visit_tile(void *arg, int64_t tile, int thread, qfz_error *err)
{
    const passing *const p = arg;
    const qfz_label_pass *const pass = p->pass;
    const qfz_tiling *const t = &pass->tiling;
    const qfz_box own = box_of(p, tile);
    const qfz_box box = qfz_label_pass_box(t, own, p->margin);
    const int64_t room = (t->tile_w + 1) * (t->tile_h + 1);
    if (!p->labels[thread]) QFZ_TRY(QFZ_NEW(&p->labels[thread], room, err));
    const qfz_label_grid grid = {p->labels[thread], qfz_box_w(box), true};
    QFZ_TRY(pass->read(pass->arg, thread, box, grid, err));
    const qfz_label_tile labels = {
        .box = own, .h = qfz_box_h(box), .w = qfz_box_w(box), .labels = p->labels[thread]};
    QFZ_TRY(p->visit(p->arg, thread, &labels, err));
    return qfz_progress_advance(pass->progress, err);
}

qfz_status qfz_label_pass_run(const qfz_label_pass *pass, const char *step, double share,
                              bool margin, qfz_label_visit_fn visit, void *arg, qfz_error *err)
{
    const qfz_tiling *const t = &pass->tiling;
    passing p = {.pass = pass, .margin = margin, .visit = visit, .arg = arg};
    qfz_label_pass_rows(pass, t->h, &p.y0, &p.y1);
    p.first = p.y0 / t->tile_h;
    const int64_t n = p.y0 < p.y1 ? t->n_x * ((p.y1 - 1) / t->tile_h + 1 - p.first) : 0;
    QFZ_TRY(QFZ_NEW_ZERO(&p.labels, pass->n_threads, err));
    qfz_progress_begin(pass->progress, step, share, n);
    const qfz_status st = qfz_parallel_for(pass->n_threads, n, visit_tile, &p, err);
    for (int i = 0; i < pass->n_threads; i++)
        free(p.labels[i]);
    free(p.labels);
    return st;
}
