/* SPDX-License-Identifier: MIT */
#include "job/region_columns.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"

/* Each thread has a transformation of PROJ of its own, which takes milliseconds to make. */
enum { NAME_BYTES = 32, THREADS_MAX = 8, ROWS_PER_PIECE = 512 };

/* What a column holds; those from MEAN on once for each band. */
typedef enum content {
    LABEL,
    PIXELS,
    AREA,
    X,
    Y,
    LON,
    LAT,
    XMIN,
    YMIN,
    XMAX,
    YMAX,
    PX_X0,
    PX_Y0,
    PX_X1,
    PX_Y1,
    MEAN,
    MIN,
    MAX,
    STDDEV,
    CONTENTS
} content;

static const qfz_column kinds[CONTENTS] = {
    [LABEL] = {"label", QFZ_COLUMN_UINT64},  [PIXELS] = {"pixels", QFZ_COLUMN_UINT64},
    [AREA] = {"area", QFZ_COLUMN_DOUBLE},    [X] = {"x", QFZ_COLUMN_DOUBLE},
    [Y] = {"y", QFZ_COLUMN_DOUBLE},          [LON] = {"lon", QFZ_COLUMN_DOUBLE},
    [LAT] = {"lat", QFZ_COLUMN_DOUBLE},      [XMIN] = {"xmin", QFZ_COLUMN_DOUBLE},
    [YMIN] = {"ymin", QFZ_COLUMN_DOUBLE},    [XMAX] = {"xmax", QFZ_COLUMN_DOUBLE},
    [YMAX] = {"ymax", QFZ_COLUMN_DOUBLE},    [PX_X0] = {"px_x0", QFZ_COLUMN_INT64},
    [PX_Y0] = {"px_y0", QFZ_COLUMN_INT64},   [PX_X1] = {"px_x1", QFZ_COLUMN_INT64},
    [PX_Y1] = {"px_y1", QFZ_COLUMN_INT64},   [MEAN] = {"mean", QFZ_COLUMN_DOUBLE},
    [MIN] = {"min", QFZ_COLUMN_DOUBLE},      [MAX] = {"max", QFZ_COLUMN_DOUBLE},
    [STDDEV] = {"stddev", QFZ_COLUMN_DOUBLE}};

typedef struct column {
    content content;
    int band;
    char name[NAME_BYTES];
} column;

struct qfz_region_columns {
    const qfz_source *source;
    int n_threads;
    qfz_lon_lat *lon_lat[THREADS_MAX]; /* of each thread; NULL: no longitude and latitude */
    int words;                         /* of a record */
    double area_unit;
    int64_t n_rows; /* room of every array */
    int n_columns;
    column *columns;
    qfz_column *specs;
    void **values;     /* for each column an array; of a type of 64 bits */
    double *x, *y;     /* the points, in the CRS ... */
    double *lon, *lat; /* ... and on WGS 84 */
    uint64_t *records; /* of the batch being filled */
    qfz_table_rows rows;
};

/* --------------------------------------------------------------------------------------- choice */
static void add(qfz_region_columns *c, content what, int band)
{
    column *const made = &c->columns[c->n_columns];
    *made = (column){.content = what, .band = band};
    if (what < MEAN)
        (void)snprintf(made->name, sizeof made->name, "%s", kinds[what].name);
    else
        (void)snprintf(made->name, sizeof made->name, "%s_%d", kinds[what].name,
                       qfz_source_band_number(c->source, band));
    c->specs[c->n_columns++] = (qfz_column){.name = made->name, .type = kinds[what].type};
}

static void close_lon_lat(qfz_region_columns *c)
{
    for (int i = 0; i < c->n_threads; i++) {
        qfz_lon_lat_close(c->lon_lat[i]);
        c->lon_lat[i] = NULL;
    }
}

static void choose(qfz_region_columns *c, int n_stats)
{
    for (content i = 0; i < MEAN; i++)
        if (c->lon_lat[0] || (i != LON && i != LAT)) add(c, i, 0);
    for (int b = 0; b < n_stats; b++)
        for (content i = MEAN; i < CONTENTS; i++)
            add(c, i, b);
}

void qfz_region_columns_use(qfz_region_columns *c, const bool *is_chosen)
{
    for (int i = 0; i < c->n_columns; i++)
        if (is_chosen[i] && (c->columns[i].content == LON || c->columns[i].content == LAT)) return;
    close_lon_lat(c);
}

int qfz_region_columns_most(int n_stats)
{
    return (int)MEAN + n_stats * (int)(CONTENTS - MEAN);
}

static qfz_status make(qfz_region_columns *c, int n_stats, qfz_error *err)
{
    const int room = qfz_region_columns_most(n_stats);
    for (int i = 0; i < c->n_threads; i++)
        QFZ_TRY(qfz_lon_lat_open(&c->lon_lat[i], c->source, err));
    QFZ_TRY(QFZ_NEW(&c->columns, room, err));
    QFZ_TRY(QFZ_NEW(&c->specs, room, err));
    QFZ_TRY(QFZ_NEW_ZERO(&c->values, room, err));
    choose(c, n_stats);
    for (int i = 0; i < c->n_columns; i++)
        QFZ_TRY(qfz_alloc(&c->values[i], c->n_rows, sizeof(uint64_t), err));
    QFZ_TRY(QFZ_NEW(&c->x, c->n_rows, err));
    QFZ_TRY(QFZ_NEW(&c->y, c->n_rows, err));
    QFZ_TRY(QFZ_NEW(&c->lon, c->n_rows, err));
    return QFZ_NEW(&c->lat, c->n_rows, err);
}

qfz_status qfz_region_columns_open(qfz_region_columns **columns, const qfz_source *source,
                                   int n_bands, int n_stats, int64_t n_rows, int n_threads,
                                   qfz_error *err)
{
    qfz_region_columns *c = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&c, 1, err));
    c->source = source;
    c->words = qfz_record_words(qfz_source_get_info(source)->type, n_bands);
    c->area_unit = qfz_source_area_unit(source);
    c->n_rows = n_rows;
    c->n_threads = n_threads < THREADS_MAX ? n_threads : THREADS_MAX;
    const qfz_status st = make(c, n_stats, err);
    if (st == QFZ_OK)
        *columns = c;
    else
        qfz_region_columns_close(c);
    return st;
}

void qfz_region_columns_close(qfz_region_columns *c)
{
    if (!c) return;
    for (int i = 0; i < c->n_columns; i++)
        free(c->values[i]);
    free(c->values);
    free(c->columns);
    free(c->specs);
    free(c->x);
    free(c->y);
    free(c->lon);
    free(c->lat);
    close_lon_lat(c);
    free(c);
}

qfz_table_spec qfz_region_columns_spec(const qfz_region_columns *c, const char *path,
                                       int64_t n_rows, int n_threads)
{
    return (qfz_table_spec){.path = path,
                            .geometry = QFZ_POINTS,
                            .columns = c->specs,
                            .n_columns = c->n_columns,
                            .n_rows = n_rows,
                            .n_threads = n_threads};
}

/* --------------------------------------------------------------------------------------- values */
/* Of rows first .. end - 1. */
static void set_places(qfz_region_columns *c, int64_t first, int64_t end,
                       const qfz_lon_lat *lon_lat)
{
    const int64_t n = end - first;
    double *const x = c->x + first, *const y = c->y + first;
    for (int64_t i = 0; i < n; i++) {
        const qfz_record *const record = qfz_record_at(c->records, c->words, first + i);
        x[i] = (double)record->sum_x / (double)record->pixels + 0.5;
        y[i] = (double)record->sum_y / (double)record->pixels + 0.5;
    }
    qfz_source_to_crs(c->source, n, x, y);
    if (!lon_lat) return;
    memcpy(c->lon + first, x, (size_t)n * sizeof *x);
    memcpy(c->lat + first, y, (size_t)n * sizeof *y);
    qfz_lon_lat_convert(lon_lat, n, c->lon + first, c->lat + first);
}

/* The corners of a box in pixels span the box in the CRS, where the raster may be rotated. */
static void get_box(const qfz_region_columns *c, const qfz_record *record, double box[4])
{
    double x[4], y[4];
    for (int corner = 0; corner < 4; corner++) {
        x[corner] = (double)(corner & 1 ? record->x1 : record->x0);
        y[corner] = (double)(corner & 2 ? record->y1 : record->y0);
    }
    qfz_source_to_crs(c->source, 4, x, y);
    box[0] = fmin(fmin(x[0], x[1]), fmin(x[2], x[3]));
    box[1] = fmin(fmin(y[0], y[1]), fmin(y[2], y[3]));
    box[2] = fmax(fmax(x[0], x[1]), fmax(x[2], x[3]));
    box[3] = fmax(fmax(y[0], y[1]), fmax(y[2], y[3]));
}

static void set_row(qfz_region_columns *c, const qfz_record *record, int64_t row)
{
    const qfz_type type = qfz_source_get_info(c->source)->type;
    qfz_record_band stats = {0};
    int stats_band = -1;
    double box[4];
    get_box(c, record, box);
    for (int k = 0; k < c->n_columns; k++) {
        const column *const from = &c->columns[k];
        int64_t *const whole = (int64_t *)c->values[k] + row;
        double *const real = (double *)c->values[k] + row;
        if (from->content >= MEAN && from->band != stats_band) {
            stats_band = from->band;
            stats = qfz_record_get_band(record, type, stats_band);
        }
        switch (from->content) {
        case LABEL: *whole = (int64_t)record->label; break;
        case PIXELS: *whole = (int64_t)record->pixels; break;
        case AREA: *real = qfz_sum_value(record->area, QFZ_U32) * c->area_unit; break;
        case X: *real = c->x[row]; break;
        case Y: *real = c->y[row]; break;
        case LON: *real = c->lon[row]; break;
        case LAT: *real = c->lat[row]; break;
        case XMIN: *real = box[0]; break;
        case YMIN: *real = box[1]; break;
        case XMAX: *real = box[2]; break;
        case YMAX: *real = box[3]; break;
        case PX_X0: *whole = record->x0; break;
        case PX_Y0: *whole = record->y0; break;
        case PX_X1: *whole = record->x1; break;
        case PX_Y1: *whole = record->y1; break;
        case MEAN: *real = stats.mean; break;
        case MIN: *real = stats.min; break;
        case MAX: *real = stats.max; break;
        case STDDEV: *real = stats.stddev; break;
        case CONTENTS: break;
        }
    }
}

static qfz_status set_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    qfz_region_columns *const c = arg;
    const int64_t first = item * ROWS_PER_PIECE, left = c->rows.n - first;
    const int64_t end = first + (left < ROWS_PER_PIECE ? left : ROWS_PER_PIECE);
    (void)err;
    set_places(c, first, end, c->lon_lat[worker]);
    for (int64_t i = first; i < end; i++)
        set_row(c, qfz_record_at(c->records, c->words, i), i);
    return QFZ_OK;
}

qfz_status qfz_region_columns_fill(qfz_region_columns *c, uint64_t *records, int64_t n,
                                   const qfz_table_rows **rows, qfz_error *err)
{
    assert(n <= c->n_rows);
    c->records = records;
    c->rows =
        (qfz_table_rows){.n = n, .columns = (const void *const *)c->values, .x = c->x, .y = c->y};
    QFZ_TRY(qfz_parallel_for(c->n_threads, (n + ROWS_PER_PIECE - 1) / ROWS_PER_PIECE, set_piece, c,
                             err));
    *rows = &c->rows;
    return QFZ_OK;
}
