/* SPDX-License-Identifier: MIT */
#include "job/check_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

struct qfz_check_rows {
    qfz_check_rows_spec spec;
    int64_t w, h, y; /* y: the next row */
    int n_dirs, n_made;
    bool float_levels;

    /* A strip: rows y0..y1 of both rasters. */
    int64_t strip_h, y0, y1;
    void *pixels;
    uint8_t *valid;
    uint32_t *edges;
    double *made;
    uint64_t *areas;

    /* The row above and this row. */
    qfz_image two;
    void *two_pixels;
    uint8_t *two_valid;
    uint32_t *two_edges;
    uint64_t *labels, *labels_above;
    uint32_t *saliency; /* of each direction, two rows */
    uint32_t *levels;   /* of each direction, the edges that end in this row */
    uint8_t *has;
};

static size_t px_bytes(const qfz_check_rows *r)
{
    return r->spec.setup ? qfz_type_bytes(r->spec.setup->info.type) : 0;
}

static int n_bands(const qfz_check_rows *r)
{
    return r->spec.setup ? r->spec.setup->info.n_bands : 0;
}

static int n_edge_bands(const qfz_check_rows *r)
{
    return r->spec.setup && r->spec.setup->rule.edge_levels ? r->n_dirs : 0;
}

/* Bytes of a pixel in a strip. */
static int64_t strip_bytes(const qfz_check_rows *r)
{
    return n_bands(r) * (int64_t)px_bytes(r) + 1 + n_edge_bands(r) * (int64_t)sizeof *r->edges +
           r->n_made * (int64_t)sizeof *r->made;
}

/* Bytes of a column in the two rows. */
static int64_t column_bytes(const qfz_check_rows *r)
{
    const int64_t of_dirs = 3 * (int64_t)sizeof(uint32_t) + 1;
    return 2 * (n_bands(r) * (int64_t)px_bytes(r) + 1 +
                n_edge_bands(r) * (int64_t)sizeof *r->edges + (int64_t)sizeof *r->labels) +
           r->n_dirs * of_dirs;
}

/* Whole rows of blocks, or else as many rows as fit. */
static qfz_status choose_strips(qfz_check_rows *r, qfz_error *err)
{
    const int64_t fixed = r->w * column_bytes(r), half = r->spec.memory_bytes / 2;
    const int64_t fit = (half - fixed) / (r->w * strip_bytes(r));
    const int64_t of_made = qfz_made_get_facts(r->spec.made)->block_h;
    const int64_t of_source = r->spec.setup ? r->spec.setup->info.block_h : 1;
    const int64_t block_h = of_made > of_source ? of_made : of_source;
    if (fit < 1)
        return qfz_fail(err, QFZ_ENOMEM,
                        "rows of %lld pixels need %lld MB of memory for a check; --memory leaves "
                        "%lld MB",
                        (long long)r->w,
                        (long long)(2 * (fixed + r->w * strip_bytes(r)) / 1000000 + 1),
                        (long long)(r->spec.memory_bytes / 1000000));
    r->strip_h = fit < block_h ? fit : block_h;
    if (r->strip_h > r->h) r->strip_h = r->h;
    qfz_raster_set_cache(r->spec.config, r->spec.memory_bytes / 2);
    return QFZ_OK;
}

static qfz_status allocate(qfz_check_rows *r, qfz_error *err)
{
    const int64_t n = r->strip_h * r->w, w = r->w;
    QFZ_TRY(qfz_alloc_large(&r->pixels, n * n_bands(r), px_bytes(r), err));
    QFZ_TRY(QFZ_NEW_LARGE(&r->valid, n, err));
    QFZ_TRY(QFZ_NEW_LARGE(&r->edges, n * n_edge_bands(r), err));
    QFZ_TRY(QFZ_NEW_LARGE(&r->made, n * r->n_made, err));
    QFZ_TRY(QFZ_NEW(&r->areas, r->strip_h, err));
    QFZ_TRY(qfz_alloc_zero(&r->two_pixels, 2 * w * n_bands(r), px_bytes(r), err));
    QFZ_TRY(QFZ_NEW_ZERO(&r->two_valid, 2 * w, err));
    QFZ_TRY(QFZ_NEW_ZERO(&r->two_edges, 2 * w * n_edge_bands(r), err));
    QFZ_TRY(QFZ_NEW_ZERO(&r->labels, w, err));
    QFZ_TRY(QFZ_NEW_ZERO(&r->labels_above, w, err));
    QFZ_TRY(QFZ_NEW(&r->saliency, 2 * w * r->n_dirs, err));
    memset(r->saliency, 0xff, (size_t)(2 * w * r->n_dirs) * sizeof *r->saliency);
    QFZ_TRY(QFZ_NEW_ZERO(&r->levels, w * r->n_dirs, err));
    return QFZ_NEW_ZERO(&r->has, w * r->n_dirs, err);
}

static qfz_status open_rows(qfz_check_rows *r, qfz_error *err)
{
    const qfz_made_facts *const facts = qfz_made_get_facts(r->spec.made);
    const qfz_setup *const setup = r->spec.setup;
    r->w = facts->w;
    r->h = facts->h;
    r->n_dirs = r->spec.connectivity / 2;
    r->n_made = r->spec.is_saliency ? r->n_dirs : 1;
    r->float_levels = setup && qfz_levels_are_float(&setup->rule);
    QFZ_TRY(choose_strips(r, err));
    QFZ_TRY(allocate(r, err));
    r->two = qfz_image_default();
    r->two.h = 2;
    r->two.w = r->w;
    r->two.n_bands = n_bands(r);
    r->two.type = setup ? setup->info.type : QFZ_U8;
    r->two.pixels = r->two_pixels;
    r->two.edges = n_edge_bands(r) > 0 ? r->two_edges : NULL;
    r->two.edges_are_float = setup && setup->info.edges_are_float;
    return QFZ_OK;
}

qfz_status qfz_check_rows_open(qfz_check_rows **rows, const qfz_check_rows_spec *spec,
                               qfz_error *err)
{
    qfz_check_rows *r = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&r, 1, err));
    r->spec = *spec;
    const qfz_status st = open_rows(r, err);
    if (st != QFZ_OK) {
        qfz_check_rows_close(r);
        return st;
    }
    *rows = r;
    return QFZ_OK;
}

void qfz_check_rows_close(qfz_check_rows *r)
{
    if (!r) return;
    free(r->pixels);
    free(r->valid);
    free(r->edges);
    free(r->made);
    free(r->areas);
    free(r->two_pixels);
    free(r->two_valid);
    free(r->two_edges);
    free(r->labels);
    free(r->labels_above);
    free(r->saliency);
    free(r->levels);
    free(r->has);
    free(r);
}

/* ---------------------------------------------------------------------------------------- strips
 */
static qfz_status read_strip(qfz_check_rows *r, qfz_error *err)
{
    r->y0 = r->y;
    r->y1 = r->y0 + r->strip_h < r->h ? r->y0 + r->strip_h : r->h;
    const qfz_box box = {r->y0, 0, r->y1, r->w};
    const int64_t n = qfz_box_h(box) * r->w;
    for (int b = 0; b < r->n_made; b++)
        QFZ_TRY(qfz_made_read(r->spec.made, b, box, r->made + b * n, err));
    if (!r->spec.source) return QFZ_OK;
    memset(r->valid, 1, (size_t)n);
    QFZ_TRY(qfz_source_read(r->spec.source, box, r->pixels, r->valid, err));
    if (n_edge_bands(r) > 0) QFZ_TRY(qfz_source_read_edges(r->spec.source, box, r->edges, err));
    if (!r->spec.by_area) return QFZ_OK;
    return qfz_source_row_areas(r->spec.source, r->y0, r->y1 - r->y0, r->areas, err);
}

/* Moves n planes of two rows: the second becomes the first, a row of the strip the second. */
static void move_rows(const qfz_check_rows *r, void *two, const void *strip, int n, size_t bytes)
{
    const size_t row = (size_t)r->w * bytes, plane = (size_t)(r->y1 - r->y0) * row;
    for (int i = 0; i < n; i++) {
        char *const first = (char *)two + (size_t)i * 2 * row;
        memcpy(first, first + row, row);
        memcpy(first + row, (const char *)strip + (size_t)i * plane + (size_t)(r->y - r->y0) * row,
               row);
    }
}

/* ------------------------------------------------------------------------------ values as numbers
 */
/* No declared value: 0; what is no whole number >= 0: UINT64_MAX. */
static uint64_t label_of(double value)
{
    if (isnan(value)) return 0;
    return value >= 0 && value < 0x1p63 && value == floor(value) ? (uint64_t)value : UINT64_MAX;
}

/* A level as the source has it; QFZ_NONE: no edge.  A value that is no level of the source's is the
 * next greater one, which is too great. */
static uint32_t level_of(const qfz_check_rows *r, double value)
{
    if (!(value >= 0)) return QFZ_NONE;
    if (!r->float_levels) return value < QFZ_NONE ? (uint32_t)ceil(value) : QFZ_NONE;
    float single = (float)value;
    if ((double)single < value) single = nextafterf(single, INFINITY);
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static void read_made(qfz_check_rows *r)
{
    const int64_t plane = (r->y1 - r->y0) * r->w, at = (r->y - r->y0) * r->w;
    for (int d = 0; d < r->n_made && r->spec.is_saliency; d++) {
        uint32_t *const two = r->saliency + 2 * d * r->w;
        memcpy(two, two + r->w, (size_t)r->w * sizeof *two);
        for (int64_t x = 0; x < r->w; x++)
            two[r->w + x] = level_of(r, r->made[d * plane + at + x]);
    }
    if (r->spec.is_saliency) return;
    uint64_t *const labels = r->labels_above;
    r->labels_above = r->labels;
    r->labels = labels;
    for (int64_t x = 0; x < r->w; x++)
        labels[x] = label_of(r->made[at + x]);
}

/* ----------------------------------------------------------------------------------------- edges
 */
/* Edges in direction d that end in this row and have both pixels inside the raster: n of them from
 * column *x on. */
static int64_t edges_in(const qfz_check_rows *r, int d, int64_t *x)
{
    *x = qfz_dir_dx[d] < 0 ? 1 : 0;
    return qfz_dir_dx[d] == 0 ? r->w : r->w - 1;
}

static void find_edges(qfz_check_rows *r, int d)
{
    uint8_t *const has = r->has + d * r->w;
    int64_t x;
    const int64_t n = edges_in(r, d, &x);
    const int64_t p = (qfz_dir_dy[d] ? 0 : r->w) + x, q = r->w + x + qfz_dir_dx[d];
    memset(has, 0, (size_t)r->w);
    for (int64_t i = 0; i < n && r->spec.setup; i++)
        has[x + i] = r->two_valid[p + i] & r->two_valid[q + i];
    for (int64_t i = 0; i < n && r->two.edges; i++)
        has[x + i] &= r->two_edges[2 * d * r->w + p + i] != QFZ_NONE;
    const uint64_t *const from = qfz_dir_dy[d] ? r->labels_above : r->labels;
    for (int64_t i = 0; i < n && !r->spec.setup; i++)
        has[x + i] = from[x + i] != 0 && r->labels[x + i + qfz_dir_dx[d]] != 0;
    if (r->spec.setup && n > 0)
        qfz_edge_levels(&r->two, &r->spec.setup->rule, d, p, q, n, r->levels + d * r->w + x);
}

static void fill_row(const qfz_check_rows *r, int64_t y, qfz_check_row *row)
{
    *row = (qfz_check_row){.y = y,
                           .w = r->w,
                           .n_dirs = r->n_dirs,
                           .labels = r->labels,
                           .labels_above = r->labels_above,
                           .valid = r->spec.setup ? r->two_valid + r->w : NULL,
                           .mass = r->spec.by_area && y < r->y1 ? r->areas[y - r->y0] : 1,
                           .image = &r->two,
                           .at = r->w};
    for (int d = 0; d < r->n_dirs; d++) {
        row->has[d] = r->has + d * r->w;
        row->levels[d] = r->spec.setup ? r->levels + d * r->w : NULL;
        row->saliency[d] = r->saliency + (2 * d + (qfz_dir_dy[d] ? 0 : 1)) * r->w;
    }
}

/* An empty row. */
static void end_rows(qfz_check_rows *r)
{
    memset(r->has, 0, (size_t)(r->n_dirs * r->w));
    memset(r->two_valid, 0, (size_t)(2 * r->w));
    memset(r->labels, 0, (size_t)r->w * sizeof *r->labels);
    for (int d = 0; d < r->n_dirs; d++) {
        uint32_t *const two = r->saliency + 2 * d * r->w;
        memcpy(two, two + r->w, (size_t)r->w * sizeof *two);
        memset(two + r->w, 0xff, (size_t)r->w * sizeof *two);
    }
}

qfz_status qfz_check_rows_next(qfz_check_rows *r, qfz_check_row *row, qfz_error *err)
{
    if (r->y == r->h) {
        end_rows(r);
        fill_row(r, r->y, row);
        return QFZ_OK;
    }
    if (r->y == r->y1) QFZ_TRY(read_strip(r, err));
    read_made(r);
    if (r->spec.setup) {
        move_rows(r, r->two_pixels, r->pixels, n_bands(r), px_bytes(r));
        move_rows(r, r->two_valid, r->valid, 1, 1);
        move_rows(r, r->two_edges, r->edges, n_edge_bands(r), sizeof *r->edges);
    }
    for (int d = 0; d < r->n_dirs; d++)
        find_edges(r, d);
    fill_row(r, r->y++, row);
    return QFZ_OK;
}
