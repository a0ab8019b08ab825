/* SPDX-License-Identifier: MIT */
/* forest_table.c - the gathered rows of a hierarchy as a table. */
#include <stdlib.h>

#include "core/memory.h"
#include "core/position.h"
#include "job/forest_gather.h"
#include "job/raster_options.h"

enum { ROWS = 1 << 14, COLUMNS = 5 };

static const qfz_column columns[COLUMNS] = {{"a", QFZ_COLUMN_UINT64},
                                            {"b", QFZ_COLUMN_UINT64},
                                            {"level", QFZ_COLUMN_DOUBLE},
                                            {"x", QFZ_COLUMN_DOUBLE},
                                            {"y", QFZ_COLUMN_DOUBLE}};

/* Some rows, in order. */
typedef struct batch {
    int64_t n;
    uint64_t a[ROWS], b[ROWS];
    double level[ROWS], x[ROWS], y[ROWS];
} batch;

/* The middle of the edge. */
static void set_place(batch *rows, int64_t i, uint64_t position)
{
    int64_t y, x;
    int dir;
    qfz_position_edge(position, &y, &x, &dir);
    rows->x[i] = (double)x + 0.5 + 0.5 * qfz_dir_dx[dir];
    rows->y[i] = (double)y + 0.5 + 0.5 * qfz_dir_dy[dir];
}

static qfz_status read_some(qfz_gather *gather, const qfz_rule *rule, batch *rows, qfz_error *err)
{
    for (rows->n = 0; rows->n < ROWS; rows->n++) {
        const uint64_t *record;
        QFZ_TRY(qfz_gather_next(gather, &record, err));
        if (!record) break;
        rows->level[rows->n] = qfz_level_value(rule, (uint32_t)record[0]);
        set_place(rows, rows->n, record[1]);
        rows->a[rows->n] = record[2];
        rows->b[rows->n] = record[3];
    }
    return QFZ_OK;
}

static qfz_status write_all(qfz_gather *gather, qfz_run *run, qfz_table *table, batch *rows,
                            qfz_error *err)
{
    const void *const values[COLUMNS] = {rows->a, rows->b, rows->level, rows->x, rows->y};
    QFZ_TRY(qfz_gather_begin_reading(gather, err));
    do {
        QFZ_TRY(read_some(gather, &run->setup->rule, rows, err));
        qfz_source_to_crs(run->source, rows->n, rows->x, rows->y);
        const qfz_table_rows some = {.n = rows->n, .columns = values, .x = rows->x, .y = rows->y};
        if (rows->n > 0) QFZ_TRY(qfz_table_write(table, &some, err));
        QFZ_TRY(qfz_progress_advance_to(run->progress, qfz_gather_part(gather), err));
    } while (rows->n == ROWS);
    return QFZ_OK;
}

qfz_status qfz_forest_table_write(qfz_gather *gather, qfz_run *run, qfz_table **table,
                                  qfz_error *err)
{
    const qfz_table_spec spec = {.path = run->setup->job->forest,
                                 .geometry = QFZ_POINTS,
                                 .columns = columns,
                                 .n_columns = COLUMNS};
    const qfz_output_options options = qfz_job_output_options(run->setup->job);
    qfz_table *made = NULL;
    batch *rows = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&rows, 1, err));
    QFZ_TRY_OR(st, cleanup, qfz_table_create(&made, run->source, &options, &spec, err));
    QFZ_TRY_OR(st, cleanup, write_all(gather, run, made, rows, err));
    *table = made;
    made = NULL;

cleanup:
    qfz_table_close(made);
    free(rows);
    return st;
}
