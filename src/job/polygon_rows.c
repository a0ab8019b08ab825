/* SPDX-License-Identifier: MIT */
/* polygon_rows.c - two steps: tiles of labels are traced, in any order; then the polygons of all
 * labels are made from the sorted chains.
 *
 * A quarter of the memory is for tiles, a quarter for chains, a quarter for the map of corners, if
 * lines are simplified; after the tiles, half is for the polygon of one label. */
#include "job/polygon_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/polygon_chains.h"
#include "job/raster_options.h"

enum {
    ROWS = 4096,           /* of a batch */
    BATCH_BYTES = 4 << 20, /* about as many, of geometries */
};
enum { LABEL = 0, PIXELS, AREA, COLUMNS };

typedef struct polygons {
    const qfz_label_pass *pass;
    const qfz_job *job;
    const qfz_source *source;
    qfz_polygon_chains chains;

    uint64_t *weights_before;
    qfz_polygon_maker *maker;
    double *x, *y; /* of corners, in the CRS */
    int64_t corners_room;
    bool is_mirrored;

    qfz_table *table;
    qfz_polygon_counts counts;
    int64_t n; /* rows of the batch */
    uint64_t labels[ROWS], pixels[ROWS];
    double areas[ROWS];
    int64_t wkb_starts[ROWS + 1];
    qfz_polygon_wkb wkb;
} polygons;

qfz_status qfz_polygon_rows_check(const qfz_job *job, qfz_source *source, int64_t memory_bytes,
                                  qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(job);
    QFZ_TRY(qfz_table_check(source, &options, job->polygons, QFZ_MULTIPOLYGONS, err));
    return qfz_polygon_chains_check(job, qfz_source_get_info(source), memory_bytes, err);
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
    p->is_mirrored = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]) < 0;
    QFZ_TRY(qfz_polygon_maker_create(&p->maker, p->weights_before, p->job->simplify_tolerance,
                                     p->chains.map, err));
    return qfz_table_create(&p->table, p->source, &options, &spec, err);
}

static qfz_status flush(polygons *p, qfz_error *err)
{
    const void *const columns[COLUMNS] = {
        [LABEL] = p->labels, [PIXELS] = p->pixels, [AREA] = p->areas};
    const qfz_table_rows rows = {
        .n = p->n, .columns = columns, .wkb = p->wkb.bytes, .wkb_starts = p->wkb_starts};
    if (p->n == 0) return QFZ_OK;
    p->n = p->wkb.n_bytes = 0;
    QFZ_TRY(qfz_table_write(p->table, &rows, err));
    return qfz_progress_advance_to(p->pass->progress, qfz_arc_store_part(p->chains.store), err);
}

/* Computes the coordinates of all corners. */
static qfz_status place_corners(polygons *p, const qfz_polygon *polygon, qfz_error *err)
{
    int64_t n = 0;
    for (int64_t r = 0; r < polygon->n_rings; r++)
        if (polygon->rings[r].first + polygon->rings[r].n > n)
            n = polygon->rings[r].first + polygon->rings[r].n;
    if (n > p->corners_room) {
        const int64_t room = n + n / 2;
        QFZ_TRY(qfz_realloc((void **)&p->x, room, sizeof *p->x, err));
        QFZ_TRY(qfz_realloc((void **)&p->y, room, sizeof *p->y, err));
        p->corners_room = room;
    }
    for (int64_t i = 0; i < n; i++) {
        p->x[i] = polygon->corners[i].x;
        p->y[i] = polygon->corners[i].y;
    }
    qfz_source_to_crs(p->source, n, p->x, p->y);
    return QFZ_OK;
}

static qfz_status add_row(polygons *p, const qfz_polygon *polygon, qfz_error *err)
{
    QFZ_TRY(place_corners(p, polygon, err));
    p->labels[p->n] = polygon->label;
    p->pixels[p->n] = (uint64_t)polygon->pixels;
    p->counts.labels++;
    p->counts.pixels += (uint64_t)polygon->pixels;
    p->areas[p->n] = (double)polygon->area * qfz_source_area_unit(p->source);
    p->wkb_starts[p->n] = p->wkb.n_bytes;
    QFZ_TRY(qfz_polygon_wkb_add(&p->wkb, polygon, p->x, p->y, p->is_mirrored, err));
    p->wkb_starts[++p->n] = p->wkb.n_bytes;
    return p->n == ROWS || p->wkb.n_bytes >= BATCH_BYTES ? flush(p, err) : QFZ_OK;
}

static qfz_status make_all(polygons *p, qfz_error *err)
{
    qfz_arc_group group;
    qfz_polygon polygon;
    int64_t n_labels;
    qfz_progress_begin(p->pass->progress, "polygons", QFZ_POLYGONS_SHARE / 2, 0);
    QFZ_TRY(qfz_arc_store_sort(p->chains.store, &n_labels, err));
    QFZ_TRY(open_rows(p, n_labels, err));
    for (;;) {
        QFZ_TRY(qfz_arc_store_next(p->chains.store, &group, err));
        if (group.n == 0) return flush(p, err);
        QFZ_TRY(qfz_polygon_make(p->maker, &group, &polygon, err));
        QFZ_TRY(add_row(p, &polygon, err));
    }
}

static void close(polygons *p)
{
    qfz_polygon_chains_close(&p->chains);
    qfz_polygon_maker_close(p->maker);
    qfz_polygon_wkb_fini(&p->wkb);
    free(p->weights_before);
    free(p->x);
    free(p->y);
    qfz_table_close(p->table);
    free(p);
}

qfz_status qfz_polygon_rows_write(const qfz_polygon_chains *from, const qfz_part_files *files,
                                  qfz_table **table, qfz_polygon_counts *counts, qfz_error *err)
{
    polygons *p = NULL;
    qfz_status st;
    QFZ_TRY(QFZ_NEW_ZERO(&p, 1, err));
    p->pass = from->pass;
    p->job = from->job;
    p->source = from->source;
    p->chains = *from;
    QFZ_TRY_OR(st, cleanup,
               files->n_parts > 0 ? qfz_polygon_chains_join(&p->chains, files, err)
                                  : qfz_polygon_chains_trace(&p->chains, err));
    QFZ_TRY_OR(st, cleanup, make_all(p, err));
    QFZ_TRY_OR(st, cleanup, qfz_table_finish(p->table, err));
    *counts = p->counts;
    *table = p->table;
    p->table = NULL;

cleanup:
    close(p);
    return st;
}
