/* SPDX-License-Identifier: MIT */
#include "job/forest_gather.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/position.h"
#include "job/gather_parts.h"

/* An open row: its edge in raster order (the position before it is mixed), level, a. */
enum { ROW_KEY_WORDS = 2, OPEN_WORDS = 3, OPEN_KEY_WORDS = 1 };

enum { LABELS = 1 << 16 }; /* read at once */

struct qfz_forest_gather {
    qfz_gather *rows, *open;
};

/* No two rows have the same position, so there is nothing to add up. */
qfz_status qfz_forest_gather_open(qfz_forest_gather **out, const qfz_run *run, qfz_error *err)
{
    const qfz_gather_format of_rows = {.words = QFZ_FOREST_WORDS, .key_words = ROW_KEY_WORDS};
    const qfz_gather_format of_open = {.words = OPEN_WORDS, .key_words = OPEN_KEY_WORDS};
    const int n = run->contexts.n > 0 ? run->contexts.n : 1;
    const int64_t bytes = run->setup->store_bytes / 8, bytes_open = bytes / 8;
    qfz_forest_gather *gather = NULL;
    *out = NULL;
    if (!run->setup->job->forest) return QFZ_OK;
    QFZ_TRY(QFZ_NEW_ZERO(&gather, 1, err));
    qfz_status st =
        qfz_gather_open(&gather->rows, &of_rows, n, bytes - bytes_open, run->folder, err);
    if (st == QFZ_OK)
        st = qfz_gather_open(&gather->open, &of_open, n, bytes_open, run->folder, err);
    if (st != QFZ_OK) {
        qfz_forest_gather_close(gather);
        return st;
    }
    *out = gather;
    return QFZ_OK;
}

void qfz_forest_gather_close(qfz_forest_gather *gather)
{
    if (!gather) return;
    qfz_gather_close(gather->rows);
    qfz_gather_close(gather->open);
    free(gather);
}

qfz_status qfz_forest_gather_add(qfz_forest_gather *gather, int thread, const qfz_forest_row *rows,
                                 int64_t n, qfz_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        const qfz_forest_row *const r = &rows[i];
        const uint64_t row[QFZ_FOREST_WORDS] = {r->level, r->position, r->a, r->b};
        const uint64_t open[OPEN_WORDS] = {qfz_unmix64(r->position), r->level, r->a};
        QFZ_TRY(r->b == QFZ_FOREST_OPEN ? qfz_gather_put(gather->open, thread, open, err)
                                        : qfz_gather_put(gather->rows, thread, row, err));
    }
    return QFZ_OK;
}

/* ---------------------------------------------------------------------------------------- parts */
static qfz_gather_list list_of(const qfz_forest_gather *gather)
{
    return (qfz_gather_list){.list = {gather->rows, gather->open}, .n = 2};
}

qfz_status qfz_forest_gather_save(qfz_forest_gather *gather, const qfz_run *run, qfz_error *err)
{
    const qfz_gather_list list = list_of(gather);
    return qfz_gather_parts_save(&list, run->setup->job->forest, run->part, run->n_parts, err);
}

qfz_status qfz_forest_gather_join(qfz_forest_gather *gather, const qfz_run *run, qfz_error *err)
{
    const qfz_gather_list list = list_of(gather);
    for (int part = 0; part < run->n_parts; part++)
        QFZ_TRY(qfz_gather_parts_add(&list, 0, run->setup->job->forest, part, run->n_parts, err));
    return QFZ_OK;
}

void qfz_forest_gather_delete(const qfz_job *job, int part, int n_parts)
{
    if (job->forest) qfz_gather_parts_delete(job->forest, part, n_parts);
}

/* -------------------------------------------------------------------------------- labels of pixels
 */
/* Some labels of one row of pixels. */
typedef struct labels {
    qfz_read_labels_fn read;
    void *arg;
    const qfz_run *run;
    qfz_box box; /* empty: none are read yet */
    uint64_t *labels;
} labels;

static qfz_status label_at(labels *l, int64_t y, int64_t x, uint64_t *label, qfz_error *err)
{
    const qfz_source_info *const info = &l->run->setup->info;
    if (y >= info->h || x < 0 || x >= info->w)
        return qfz_fail(err, QFZ_EIO,
                        "%s: a row lies outside the raster; delete the folder of --work and start "
                        "again",
                        l->run->setup->job->forest);
    if (!qfz_box_has(l->box, y, x)) {
        const int64_t x0 = x > 0 ? x - 1 : 0; /* the next edge may lead one pixel further left */
        const int64_t x1 = info->w - x0 < LABELS ? info->w : x0 + LABELS;
        const qfz_label_grid grid = {l->labels, x1 - x0, true};
        l->box = (qfz_box){y, x0, y + 1, x1};
        QFZ_TRY(l->read(l->arg, 0, l->box, grid, err));
    }
    *label = l->labels[x - l->box.x0];
    return QFZ_OK;
}

static qfz_status complete(qfz_forest_gather *gather, const uint64_t *open, labels *l,
                           qfz_error *err)
{
    const uint64_t position = qfz_mix64(open[0]), a = open[2];
    int64_t y, x;
    int dir;
    uint64_t b = 0;
    qfz_position_edge(position, &y, &x, &dir);
    QFZ_TRY(label_at(l, y + qfz_dir_dy[dir], x + qfz_dir_dx[dir], &b, err));
    const qfz_forest_row row = {
        .level = open[1], .position = position, .a = a < b ? a : b, .b = a < b ? b : a};
    return qfz_forest_gather_add(gather, 0, &row, 1, err);
}

qfz_status qfz_forest_gather_complete(qfz_forest_gather *gather, const qfz_run *run,
                                      qfz_read_labels_fn read, void *arg, qfz_gather **rows,
                                      qfz_error *err)
{
    labels l = {.read = read, .arg = arg, .run = run};
    const uint64_t *open;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&l.labels, LABELS, err));
    QFZ_TRY_OR(st, cleanup, qfz_gather_begin_reading(gather->open, err));
    for (;;) {
        QFZ_TRY_OR(st, cleanup, qfz_gather_next(gather->open, &open, err));
        if (!open) break;
        QFZ_TRY_OR(st, cleanup, complete(gather, open, &l, err));
    }
    *rows = gather->rows;

cleanup:
    free(l.labels);
    return st;
}
