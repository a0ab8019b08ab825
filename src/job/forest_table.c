/* SPDX-License-Identifier: MIT */
/* forest_table.c - the gathered rows of a hierarchy as a table.  Threads make some rows ready each,
 * and write them in turn. */
#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/position.h"
#include "core/turns.h"
#include "job/counted_rows.h"
#include "job/forest_gather.h"
#include "job/raster_options.h"

enum { COLUMNS = 5 };

static const qfz_column columns[COLUMNS] = {{"a", QFZ_COLUMN_UINT64},
                                            {"b", QFZ_COLUMN_UINT64},
                                            {"level", QFZ_COLUMN_DOUBLE},
                                            {"x", QFZ_COLUMN_DOUBLE},
                                            {"y", QFZ_COLUMN_DOUBLE}};

/* Some rows in order, and their columns: what a thread makes ready for writing. */
typedef struct batch {
    qfz_gather_some rows;
    int64_t room;
    uint64_t *a, *b;
    double *level, *x, *y;
    qfz_table_text text;
} batch;

typedef struct writing {
    qfz_gather *gather;
    qfz_run *run;
    qfz_table *table;
    qfz_turns turns; /* of the table and the progress */
    batch *batches;  /* one for each thread */
    int n_batches;
} writing;

static void free_columns(batch *b)
{
    free(b->a);
    free(b->b);
    free(b->level);
    free(b->x);
    free(b->y);
}

static void batch_fini(batch *b)
{
    free_columns(b);
    qfz_gather_some_fini(&b->rows);
    qfz_table_text_fini(&b->text);
}

static qfz_status make_room(batch *b, int64_t n, qfz_error *err)
{
    if (n <= b->room) return QFZ_OK;
    free_columns(b);
    b->a = b->b = NULL;
    b->level = b->x = b->y = NULL;
    b->room = 0;
    QFZ_TRY(QFZ_NEW(&b->a, n, err));
    QFZ_TRY(QFZ_NEW(&b->b, n, err));
    QFZ_TRY(QFZ_NEW(&b->level, n, err));
    QFZ_TRY(QFZ_NEW(&b->x, n, err));
    QFZ_TRY(QFZ_NEW(&b->y, n, err));
    b->room = n;
    return QFZ_OK;
}

/* The middle of the edge. */
static void set_place(batch *b, int64_t i, uint64_t position)
{
    int64_t y, x;
    int dir;
    qfz_position_edge(position, &y, &x, &dir);
    b->x[i] = (double)x + 0.5 + 0.5 * qfz_dir_dx[dir];
    b->y[i] = (double)y + 0.5 + 0.5 * qfz_dir_dy[dir];
}

static void set_columns(batch *b, const qfz_run *run)
{
    const uint64_t *record = b->rows.records;
    for (int64_t i = 0; i < b->rows.n; i++, record += QFZ_FOREST_WORDS) {
        b->level[i] = qfz_level_value(&run->setup->rule, (uint32_t)record[0]);
        set_place(b, i, record[1]);
        b->a[i] = record[2];
        b->b[i] = record[3];
    }
    qfz_source_to_crs(run->source, b->rows.n, b->x, b->y);
}

static qfz_status write_in_turn(writing *w, const batch *b, const qfz_table_rows *rows,
                                qfz_error *err)
{
    if (rows->n > 0) QFZ_TRY(qfz_table_write_prepared(w->table, rows, &b->text, err));
    return qfz_progress_advance_to(w->run->progress, b->rows.part, err);
}

/* *more = false: all rows are written, or will be. */
static qfz_status write_some(writing *w, batch *b, bool *more, qfz_error *err)
{
    QFZ_TRY(qfz_gather_take(w->gather, &b->rows, more, err));
    if (!*more) return QFZ_OK;
    QFZ_TRY(make_room(b, b->rows.n, err));
    set_columns(b, w->run);
    const void *const values[COLUMNS] = {b->a, b->b, b->level, b->x, b->y};
    const qfz_table_rows rows = {.n = b->rows.n, .columns = values, .x = b->x, .y = b->y};
    QFZ_TRY(qfz_table_prepare(w->table, &rows, &b->text, err));
    *more = qfz_turns_wait(&w->turns, b->rows.number);
    if (!*more) return QFZ_OK;
    QFZ_TRY(write_in_turn(w, b, &rows, err));
    qfz_turns_end(&w->turns, true);
    return QFZ_OK;
}

static qfz_status write_batches(void *arg, int64_t item, int worker, qfz_error *err)
{
    writing *const w = arg;
    bool more = true;
    (void)item;
    while (more) {
        const qfz_status st = write_some(w, &w->batches[worker], &more, err);
        if (st == QFZ_OK) continue;
        qfz_turns_end(&w->turns, false);
        return st;
    }
    return QFZ_OK;
}

static qfz_status write_all(writing *w, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&w->batches, w->n_batches, err));
    return qfz_parallel_for_once(w->n_batches, w->n_batches, write_batches, w, err);
}

/* The gathering is read from its first row on. */
static qfz_status create_table(qfz_gather *gather, const qfz_run *run, qfz_table **table,
                               qfz_error *err)
{
    const qfz_setup *const setup = run->setup;
    const qfz_output_options options = qfz_job_output_options(setup->job);
    qfz_table_spec spec = {.path = setup->job->forest,
                           .geometry = QFZ_POINTS,
                           .columns = columns,
                           .n_columns = COLUMNS,
                           .n_threads = setup->n_threads,
                           .memory_bytes = (setup->memory_bytes - setup->program_bytes) / 4};
    QFZ_TRY(qfz_counted_rows_set(gather, &spec, err));
    return qfz_table_create(table, run->source, &options, &spec, err);
}

qfz_status qfz_forest_table_write(qfz_gather *gather, qfz_run *run, qfz_table **table,
                                  qfz_error *err)
{
    qfz_table *made = NULL;
    QFZ_TRY(qfz_gather_begin_reading(gather, err));
    QFZ_TRY(create_table(gather, run, &made, err));
    writing w = {.gather = gather, .run = run, .table = made, .n_batches = run->setup->n_threads};
    qfz_turns_init(&w.turns);
    const qfz_status st = write_all(&w, err);
    qfz_turns_fini(&w.turns);
    for (int i = 0; w.batches && i < w.n_batches; i++)
        batch_fini(&w.batches[i]);
    free(w.batches);
    if (st == QFZ_OK)
        *table = made;
    else
        qfz_table_close(made);
    return st;
}
