/* SPDX-License-Identifier: MIT */
/* label_pass.h - a pass over labels that are complete, tile by tile. */
#ifndef QFZ_LABEL_PASS_H
#define QFZ_LABEL_PASS_H

#include "core/label_grid.h"
#include "core/tiling.h"
#include "job/progress.h"
#include "regions/regions.h"

typedef struct qfz_label_pass {
    /* Reads the labels of a box, in the thread of this number.  Rows of `labels` are at least as
     * long as those of the box; what is between them may be overwritten. */
    qfz_status (*read)(void *arg, int thread, qfz_box box, qfz_label_grid labels, qfz_error *err);
    void *arg;
    bool is_narrow; /* read() also reads labels of 32 bits */
    qfz_tiling tiling;
    int n_threads;
    qfz_job_progress *progress;
    bool is_part; /* rows y0..y1 alone are visited; else all */
    int64_t y0, y1;
} qfz_label_pass;

/* The rows of the raster that a pass visits: all of them, or the range of this process. */
void qfz_label_pass_rows(const qfz_label_pass *pass, int64_t h, int64_t *y0, int64_t *y1);

/* Processes a tile in the thread of this number. */
typedef qfz_status (*qfz_label_visit_fn)(void *arg, int thread, const qfz_label_tile *tile,
                                         qfz_error *err);

/* The tiles with their margin (regions/label_tile.h), or without. */
qfz_box qfz_label_pass_box(const qfz_tiling *tiling, qfz_box box, bool margin);

/* Calls visit(arg) for every tile of the pass's rows, cut off where they end, as a step of the
 * job's progress. */
qfz_status qfz_label_pass_run(const qfz_label_pass *pass, const char *step, double share,
                              bool margin, qfz_label_visit_fn visit, void *arg, qfz_error *err);

#endif
