/* SPDX-License-Identifier: MIT */
#include "job/neighbour_rows.h"

#include <stdlib.h>

#include "core/memory.h"
#include "job/counted_rows.h"
#include "job/raster_options.h"

enum { ROWS = 4096 }; /* of a batch */
enum { A = 0, B, EDGES, LENGTH, MEAN, LEAST, COLUMNS };

static const qfz_column columns[COLUMNS] = {
    [A] = {"a", QFZ_COLUMN_UINT64},
    [B] = {"b", QFZ_COLUMN_UINT64},
    [EDGES] = {"edges", QFZ_COLUMN_UINT64},
    [LENGTH] = {"length", QFZ_COLUMN_DOUBLE},
    [MEAN] = {"mean_level", QFZ_COLUMN_DOUBLE},
    [LEAST] = {"least_level", QFZ_COLUMN_DOUBLE},
};

typedef struct batch {
    uint64_t a[ROWS], b[ROWS], edges[ROWS];
    double length[ROWS], mean[ROWS], least[ROWS];
    int64_t n;
} batch;

static qfz_status flush(qfz_table *table, batch *rows, qfz_error *err)
{
    const void *const values[COLUMNS] = {rows->a,      rows->b,    rows->edges,
                                         rows->length, rows->mean, rows->least};
    const qfz_table_rows of_table = {.n = rows->n, .columns = values};
    if (rows->n == 0) return QFZ_OK;
    rows->n = 0;
    return qfz_table_write(table, &of_table, err);
}

static void put(batch *rows, const qfz_neighbours_pair *pair, const double units[QFZ_SIDES])
{
    const int64_t i = rows->n++;
    rows->a[i] = pair->a;
    rows->b[i] = pair->b;
    rows->edges[i] = pair->edges;
    rows->length[i] = (double)pair->length_below * units[QFZ_SIDE_BELOW] +
                      (double)pair->length_right * units[QFZ_SIDE_RIGHT];
    rows->mean[i] = pair->mean_level;
    rows->least[i] = pair->least_level;
}

static qfz_status write_all(qfz_label_outputs *outputs, qfz_table *table, batch *rows,
                            qfz_error *err)
{
    qfz_neighbours *const neighbours = outputs->neighbours;
    double units[QFZ_SIDES];
    qfz_neighbours_pair pair;
    bool more;
    qfz_source_side_units(outputs->source, units);
    for (;;) {
        QFZ_TRY(qfz_neighbours_next(neighbours, &pair, &more, err));
        if (!more) return flush(table, rows, err);
        put(rows, &pair, units);
        if (rows->n < ROWS) continue;
        QFZ_TRY(flush(table, rows, err));
        QFZ_TRY(
            qfz_progress_advance_to(outputs->pass.progress, qfz_neighbours_part(neighbours), err));
    }
}

qfz_status qfz_neighbour_rows_write(qfz_label_outputs *outputs, qfz_table **table, qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(outputs->job);
    qfz_table_spec spec = {.path = outputs->job->neighbours,
                           .geometry = QFZ_NO_GEOMETRY,
                           .columns = columns,
                           .n_columns = outputs->rule ? COLUMNS : MEAN,
                           .n_threads = outputs->pass.n_threads,
                           .memory_bytes = outputs->memory_bytes / 4};
    batch *rows = NULL;
    QFZ_TRY(qfz_neighbours_begin_reading(outputs->neighbours, err));
    QFZ_TRY(qfz_counted_rows_set(qfz_neighbours_gather(outputs->neighbours), &spec, err));
    QFZ_TRY(qfz_table_create(table, outputs->source, &options, &spec, err));
    QFZ_TRY(QFZ_NEW_ZERO(&rows, 1, err));
    const qfz_status st = write_all(outputs, *table, rows, err);
    free(rows);
    return st;
}
