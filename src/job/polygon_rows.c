/* SPDX-License-Identifier: MIT */
/* polygon_rows.c - two steps: tiles of labels are traced, in any order; then the polygons of all
 * labels are made from the sorted chains.
 *
 * A quarter of the memory is for tiles, a quarter for chains, a quarter for the map of corners, if
 * lines are simplified; after the tiles, half is for the polygon of one label, and an eighth for
 * batches of small ones. */
#include "job/polygon_rows.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "core/turns.h"
#include "job/polygon_batch.h"
#include "job/polygon_chains.h"
#include "job/raster_options.h"

enum { LABEL = 0, PIXELS, AREA, COLUMNS };

typedef struct polygons {
    const qfz_label_pass *pass;
    const qfz_job *job;
    qfz_source *source;
    qfz_polygon_chains chains;
    uint64_t *weights_before;
    qfz_polygon_rule rule;
    qfz_table *table;

    /* Batches have the numbers 0, 1, ... in the order of the labels. */
    qfz_polygon_batch *batches; /* one for each thread */
    int n_batches;
    pthread_mutex_t reading; /* of chains.store and n_taken */
    int64_t n_taken;
    qfz_turns writing; /* of the table and the counts */
    qfz_polygon_counts counts;
} polygons;

qfz_status qfz_polygon_rows_check(const qfz_job *job, qfz_source *source, int64_t memory_bytes,
                                  qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(job);
    QFZ_TRY(qfz_table_check(source, &options, job->polygons, QFZ_MULTIPOLYGONS, err));
    return qfz_polygon_chains_check(job, qfz_source_get_info(source), memory_bytes, err);
}

int64_t qfz_polygon_rows_bytes(const qfz_job *job, int64_t h)
{
    const polygons p = {.job = job};
    return job->polygons ? (h + 1) * (int64_t)sizeof *p.weights_before : 0;
}

/* ------------------------------------------------------------------------------------------ rows
 */
static qfz_status open_rows(polygons *p, int64_t n_rows, qfz_error *err)
{
    static const qfz_column columns[COLUMNS] = {[LABEL] = {"label", QFZ_COLUMN_UINT64},
                                                [PIXELS] = {"pixels", QFZ_COLUMN_UINT64},
                                                [AREA] = {"area", QFZ_COLUMN_DOUBLE}};
    const qfz_table_spec spec = {.path = p->job->polygons,
                                 .geometry = QFZ_MULTIPOLYGONS,
                                 .columns = columns,
                                 .n_columns = COLUMNS,
                                 .n_rows = n_rows,
                                 .n_threads = p->pass->n_threads};
    const qfz_output_options options = qfz_job_output_options(p->job);
    const int64_t h = qfz_source_get_info(p->source)->h;
    double x[3] = {0, 1, 0}, y[3] = {0, 0, 1};
    QFZ_TRY(QFZ_NEW(&p->weights_before, h + 1, err));
    p->weights_before[0] = 0;
    QFZ_TRY(qfz_source_row_areas(p->source, 0, h, p->weights_before + 1, err));
    for (int64_t i = 0; i < h; i++)
        p->weights_before[i + 1] += p->weights_before[i];
    qfz_source_to_crs(p->source, 3, x, y);
    p->rule = (qfz_polygon_rule){
        .source = p->source,
        .weights_before = p->weights_before,
        .tolerance = p->job->simplify_tolerance,
        .map = p->chains.map,
        .is_mirrored = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]) < 0};
    return qfz_table_create(&p->table, p->source, &options, &spec, err);
}

static qfz_status write_rows(polygons *p, const qfz_polygon_batch *b, double part, qfz_error *err)
{
    const void *const columns[COLUMNS] = {
        [LABEL] = b->labels, [PIXELS] = b->pixels, [AREA] = b->areas};
    const qfz_table_rows rows = {
        .n = b->n, .columns = columns, .wkb = b->wkb.bytes, .wkb_starts = b->wkb_starts};
    QFZ_TRY(qfz_table_write(p->table, &rows, err));
    p->counts.labels += (uint64_t)b->n;
    for (int64_t i = 0; i < b->n; i++)
        p->counts.pixels += b->pixels[i];
    return qfz_progress_advance_to(p->pass->progress, part, err);
}

/* -------------------------------------------------------------------------------------- batches */
/* Takes a batch and its number, and makes its rows.  While a thread makes a large polygon, all
 * others wait. */
static qfz_status take_and_make(polygons *p, qfz_polygon_batch *b, int64_t *number, double *part,
                                qfz_error *err)
{
    pthread_mutex_lock(&p->reading);
    qfz_status st = qfz_polygon_batch_take(b, p->chains.store, err);
    const bool is_large = st == QFZ_OK && qfz_polygon_batch_is_large(b);
    *part = qfz_arc_store_part(p->chains.store);
    *number = p->n_taken++;
    if (is_large && qfz_turns_wait(&p->writing, *number))
        st = qfz_polygon_batch_make(b, &p->rule, err);
    pthread_mutex_unlock(&p->reading);
    return is_large || st != QFZ_OK ? st : qfz_polygon_batch_make(b, &p->rule, err);
}

/* Writes the rows; it is their turn. */
static qfz_status write_in_turn(polygons *p, qfz_polygon_batch *b, double part, qfz_error *err)
{
    const qfz_status st = write_rows(p, b, part, err);
    if (qfz_polygon_batch_is_large(b)) qfz_polygon_batch_fini(b);
    qfz_turns_end(&p->writing, st == QFZ_OK);
    return st;
}

static qfz_status write_batches(void *arg, int64_t item, int worker, qfz_error *err)
{
    polygons *const p = arg;
    qfz_polygon_batch *const b = &p->batches[worker];
    (void)item;
    for (;;) {
        int64_t number;
        double part;
        const qfz_status st = take_and_make(p, b, &number, &part, err);
        if (st != QFZ_OK) {
            qfz_turns_end(&p->writing, false);
            return st;
        }
        if (b->n == 0 || !qfz_turns_wait(&p->writing, number)) return QFZ_OK;
        QFZ_TRY(write_in_turn(p, b, part, err));
    }
}

static qfz_status open_batches(polygons *p, qfz_error *err)
{
    const int64_t bytes = QFZ_POLYGON_BATCH_MOST * qfz_polygon_batch_cost();
    const int64_t most = p->chains.memory_bytes / 8 / bytes;
    p->n_batches = most < p->pass->n_threads ? (int)most : p->pass->n_threads;
    if (p->n_batches < 1) p->n_batches = 1;
    return QFZ_NEW_ZERO(&p->batches, p->n_batches, err);
}

static qfz_status make_all(polygons *p, qfz_error *err)
{
    int64_t n_labels;
    qfz_progress_begin(p->pass->progress, "polygons", QFZ_POLYGONS_SHARE / 2, 0);
    QFZ_TRY(qfz_arc_store_sort(p->chains.store, &n_labels, err));
    QFZ_TRY(open_rows(p, n_labels, err));
    QFZ_TRY(open_batches(p, err));
    return qfz_parallel_for_once(p->n_batches, p->n_batches, write_batches, p, err);
}

/* ------------------------------------------------------------------------------------------- all
 */
enum { LOCATE = 0, TRACE, STEPS };

static qfz_status run_step(void *arg, int64_t step, int worker, qfz_error *err)
{
    polygons *const p = arg;
    (void)worker;
    return step == LOCATE ? qfz_source_locate(p->source, err)
                          : qfz_polygon_chains_trace(&p->chains, err);
}

/* Reads the CRS, which takes PROJ as long as some megapixels take here, while labels are traced. */
static qfz_status locate_and_trace(polygons *p, qfz_error *err)
{
    return qfz_parallel_for_once(p->pass->n_threads < STEPS ? 1 : STEPS, STEPS, run_step, p, err);
}

static qfz_status locate_and_join(polygons *p, const qfz_part_files *files, qfz_error *err)
{
    QFZ_TRY(qfz_source_locate(p->source, err));
    return qfz_polygon_chains_join(&p->chains, files, err);
}

static qfz_status open(polygons **opened, const qfz_polygon_chains *from, qfz_error *err)
{
    polygons *p = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&p, 1, err));
    *p = (polygons){.pass = from->pass,
                    .job = from->job,
                    .source = from->source,
                    .chains = *from,
                    .reading = PTHREAD_MUTEX_INITIALIZER};
    qfz_turns_init(&p->writing);
    *opened = p;
    return QFZ_OK;
}

static void close(polygons *p)
{
    qfz_polygon_chains_close(&p->chains);
    for (int i = 0; i < p->n_batches; i++)
        qfz_polygon_batch_fini(&p->batches[i]);
    free(p->batches);
    free(p->weights_before);
    qfz_table_close(p->table);
    qfz_turns_fini(&p->writing);
    free(p);
}

qfz_status qfz_polygon_rows_write(const qfz_polygon_chains *from, const qfz_part_files *files,
                                  qfz_table **table, qfz_polygon_counts *counts, qfz_error *err)
{
    polygons *p = NULL;
    qfz_status st;
    QFZ_TRY(open(&p, from, err));
    QFZ_TRY_OR(st, cleanup,
               files->n_parts > 0 ? locate_and_join(p, files, err) : locate_and_trace(p, err));
    QFZ_TRY_OR(st, cleanup, make_all(p, err));
    QFZ_TRY_OR(st, cleanup, qfz_table_finish(p->table, err));
    *counts = p->counts;
    *table = p->table;
    p->table = NULL;

cleanup:
    close(p);
    return st;
}
