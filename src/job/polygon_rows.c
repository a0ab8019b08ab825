/* SPDX-License-Identifier: MIT */
/* polygon_rows.c - two steps: tiles of labels are traced, in any order; then the polygons of all
 * labels are made from the sorted chains.
 *
 * A quarter of the memory is for tiles, a quarter for chains, a quarter for the map of corners, if
 * lines are simplified; after the tiles, half is for the polygon of one label. */
#include "job/polygon_rows.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/label_strips.h"
#include "job/raster_options.h"

enum {
    ROWS = 4096,           /* of a batch */
    BATCH_BYTES = 4 << 20, /* about as many, of geometries */
    TILE_PX_MIN = 1 << 12,
    TILE_PX_MAX = 1 << 18, /* what the caches of a processor hold */
    TILE_SIDE = 1 << 9,
    PX_BYTES = 112, /* of a tile in which each pixel is a region: corners and chains */
    /* Of a corner: in chains, as a number in the CRS, in the table's batch, in GDAL. */
    CORNER_BYTES = 2 + 2 * 16 + 2 * 16 + 3 * 16
};
enum { LABEL = 0, PIXELS, AREA, COLUMNS };

typedef struct polygons {
    const qfz_label_pass *pass;
    const qfz_job *job;
    const qfz_source *source;
    const char *folder;
    int64_t memory_bytes;

    int64_t tile_px;      /* traced at once */
    qfz_arcs *arcs;       /* for each thread */
    pthread_mutex_t lock; /* of chains and map */
    qfz_arc_store *store;
    qfz_corner_map *map; /* NULL: lines are not simplified */

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

/* ---------------------------------------------------------------------------------------- checks
 */
static qfz_status check_map(const qfz_job *job, const qfz_source_info *info, int64_t memory_bytes,
                            qfz_error *err)
{
    const int64_t bytes = qfz_corner_map_bytes(info->w, info->h);
    if (!(job->simplify_tolerance > 0) || bytes <= memory_bytes / 4) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: simplified polygons of %lld x %lld pixels need %lld MB of memory; raise "
                    "--memory, or leave out --simplify-tolerance",
                    job->polygons, (long long)info->w, (long long)info->h,
                    (long long)(4 * bytes >> 20) + 1);
}

qfz_status qfz_polygon_rows_check(const qfz_job *job, qfz_source *source, int64_t memory_bytes,
                                  qfz_error *err)
{
    const qfz_output_options options = qfz_job_output_options(job);
    QFZ_TRY(qfz_table_check(source, &options, job->polygons, QFZ_MULTIPOLYGONS, err));
    return check_map(job, qfz_source_get_info(source), memory_bytes, err);
}

/* --------------------------------------------------------------------------------------- tracing
 */
static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static qfz_status open_tracing(polygons *p, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(p->source);
    const int n_threads = p->pass->n_threads;
    const int64_t most = p->memory_bytes / 8 / PX_BYTES / n_threads;
    const int64_t corner_bytes = qfz_polygon_bytes(1) + CORNER_BYTES;
    p->tile_px = clamp(most, TILE_PX_MIN, TILE_PX_MAX);
    QFZ_TRY(QFZ_NEW_ZERO(&p->arcs, n_threads, err));
    if (p->job->simplify_tolerance > 0)
        QFZ_TRY(qfz_corner_map_create(&p->map, info->w, info->h, err));
    return qfz_arc_store_create(&p->store, p->memory_bytes / 4, p->memory_bytes / 2 / corner_bytes,
                                p->folder, err);
}

static void close_tracing(polygons *p)
{
    for (int i = 0; p->arcs && i < p->pass->n_threads; i++)
        qfz_arcs_fini(&p->arcs[i]);
    free(p->arcs);
    p->arcs = NULL;
}

static qfz_status trace_tile(polygons *p, int thread, qfz_box box, qfz_label_grid labels,
                             qfz_error *err)
{
    qfz_arcs *const arcs = &p->arcs[thread];
    QFZ_TRY(qfz_arcs_trace(arcs, box, labels, err));
    pthread_mutex_lock(&p->lock);
    const qfz_status st = qfz_arc_store_add(p->store, arcs, err);
    if (p->map) qfz_corner_map_add(p->map, box, arcs);
    pthread_mutex_unlock(&p->lock);
    return st;
}

/* Traces tiles of a strip, about as wide as they are high. */
static qfz_status trace_strip(void *arg, int thread, const qfz_label_strip *strip, qfz_error *err)
{
    polygons *const p = arg;
    const qfz_box box = strip->box;
    const int64_t h = clamp(p->tile_px / qfz_box_w(box), TILE_SIDE, p->tile_px);
    const int64_t w = clamp(p->tile_px / h, 1, p->tile_px);
    for (int64_t y0 = box.y0; y0 < box.y1; y0 += h)
        for (int64_t x0 = box.x0; x0 < box.x1; x0 += w) {
            const qfz_box tile = {y0, x0, y0 + h < box.y1 ? y0 + h : box.y1,
                                  x0 + w < box.x1 ? x0 + w : box.x1};
            const qfz_label_grid labels = {
                qfz_label_grid_at(strip->labels, y0 - box.y0, x0 - box.x0), strip->labels.pitch,
                strip->labels.is_wide};
            QFZ_TRY(trace_tile(p, thread, tile, labels, err));
        }
    return QFZ_OK;
}

static qfz_status trace_all(polygons *p, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(p->source);
    if (pthread_mutex_init(&p->lock, NULL) != 0)
        return qfz_fail(err, QFZ_ENOMEM, "out of memory for a lock");
    const qfz_status st = qfz_label_strips_run(p->pass, info, p->job->tile_px,
                                               p->memory_bytes / 8 / p->pass->n_threads, "tracing",
                                               QFZ_POLYGONS_SHARE / 2, trace_strip, p, err);
    (void)pthread_mutex_destroy(&p->lock);
    close_tracing(p);
    return st;
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
                                     p->map, err));
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
    return qfz_progress_advance_to(p->pass->progress, qfz_arc_store_part(p->store), err);
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
    QFZ_TRY(qfz_arc_store_sort(p->store, &n_labels, err));
    QFZ_TRY(open_rows(p, n_labels, err));
    for (;;) {
        QFZ_TRY(qfz_arc_store_next(p->store, &group, err));
        if (group.n == 0) return flush(p, err);
        QFZ_TRY(qfz_polygon_make(p->maker, &group, &polygon, err));
        QFZ_TRY(add_row(p, &polygon, err));
    }
}

static void close(polygons *p)
{
    close_tracing(p);
    qfz_arc_store_close(p->store);
    qfz_corner_map_close(p->map);
    qfz_polygon_maker_close(p->maker);
    qfz_polygon_wkb_fini(&p->wkb);
    free(p->weights_before);
    free(p->x);
    free(p->y);
    qfz_table_close(p->table);
    free(p);
}

qfz_status qfz_polygon_rows_write(const qfz_label_pass *pass, const qfz_job *job,
                                  const qfz_source *source, int64_t memory_bytes,
                                  const char *folder, qfz_table **table, qfz_polygon_counts *counts,
                                  qfz_error *err)
{
    polygons *p = NULL;
    qfz_status st;
    QFZ_TRY(QFZ_NEW_ZERO(&p, 1, err));
    p->pass = pass;
    p->job = job;
    p->source = source;
    p->folder = folder;
    p->memory_bytes = memory_bytes;
    QFZ_TRY_OR(st, cleanup, check_map(job, qfz_source_get_info(source), memory_bytes, err));
    QFZ_TRY_OR(st, cleanup, open_tracing(p, err));
    QFZ_TRY_OR(st, cleanup, trace_all(p, err));
    QFZ_TRY_OR(st, cleanup, make_all(p, err));
    QFZ_TRY_OR(st, cleanup, qfz_table_finish(p->table, err));
    *counts = p->counts;
    *table = p->table;
    p->table = NULL;

cleanup:
    close(p);
    return st;
}
