/* SPDX-License-Identifier: MIT */
#include "job/saliency_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/stored_level.h"

static const uint64_t none = UINT64_MAX; /* qfz_no_level */

enum { STRIP_BYTES = 16 << 20 };

/* Rows y0..y1 of the raster, converted at once; read with one more row above and below. */
typedef struct strip {
    qfz_out_type type;
    int n_dirs, n_threads;
    int64_t w, h;        /* of the raster */
    int64_t y0, y1;      /* rows to be converted */
    int64_t top, bottom; /* rows in memory */
    uint64_t *level;     /* n_dirs planes of (bottom - top) rows */
    uint8_t *valid;
    void *raw;   /* levels as they are stored in the file */
    void *cells; /* of the output */
} strip;

static void level_to(qfz_out_type type, uint64_t level, void *raw, int64_t i)
{
    const uint32_t bits = (uint32_t)level;
    switch (type) {
    case QFZ_OUT_U8: ((uint8_t *)raw)[i] = (uint8_t)level; break;
    case QFZ_OUT_U16: ((uint16_t *)raw)[i] = (uint16_t)level; break;
    case QFZ_OUT_U32: ((uint32_t *)raw)[i] = bits; break;
    case QFZ_OUT_F32: ((float *)raw)[i] = level == none ? NAN : qfz_level_of_bits(bits); break;
    default: ((uint64_t *)raw)[i] = level; break;
    }
}

/* The level of the edge from (y, x) in direction dir; none if it is not in memory. */
static uint64_t edge(const strip *s, int dir, int64_t y, int64_t x)
{
    if (dir >= s->n_dirs || y < s->top || y >= s->bottom || x < 0 || x >= s->w) return none;
    return s->level[((int64_t)dir * (s->bottom - s->top) + y - s->top) * s->w + x];
}

static bool is_valid(const strip *s, int64_t y, int64_t x)
{
    return s->valid[(y - s->top) * s->w + x] != 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    if (a == none) return b;
    return b == none || a > b ? a : b;
}

static uint64_t around_pixel(const strip *s, int64_t y, int64_t x)
{
    if (!is_valid(s, y, x)) return none;
    uint64_t most = 0;
    for (int d = 0; d < s->n_dirs; d++) {
        most = larger(most, edge(s, d, y, x));
        most = larger(most, edge(s, d, y - qfz_dir_dy[d], x - qfz_dir_dx[d]));
    }
    return most;
}

/* The largest level of the edges between the four pixels (y, x) .. (y + 1, x + 1). */
static uint64_t around_corner(const strip *s, int64_t y, int64_t x)
{
    uint64_t most = larger(edge(s, QFZ_RIGHT, y, x), edge(s, QFZ_RIGHT, y + 1, x));
    most = larger(most, edge(s, QFZ_BELOW, y, x));
    most = larger(most, edge(s, QFZ_BELOW, y, x + 1));
    most = larger(most, edge(s, QFZ_BELOW_RIGHT, y, x));
    return larger(most, edge(s, QFZ_BELOW_LEFT, y, x + 1));
}

static void pixel_row(const strip *s, int64_t y, void *cells)
{
    for (int64_t x = 0; x < s->w; x++)
        level_to(s->type, around_pixel(s, y, x), cells, x);
}

static void khalimsky_row(const strip *s, int64_t row, void *cells)
{
    const int64_t y = row / 2;
    const bool between = row % 2;
    for (int64_t x = 0; x < s->w; x++) {
        const uint64_t at_px = is_valid(s, y, x) ? 0 : none;
        level_to(s->type, between ? edge(s, QFZ_BELOW, y, x) : at_px, cells, 2 * x);
        if (x + 1 == s->w) break;
        const uint64_t beside = between ? around_corner(s, y, x) : edge(s, QFZ_RIGHT, y, x);
        level_to(s->type, beside, cells, 2 * x + 1);
    }
}

static qfz_status read_strip(strip *s, qfz_sink *edges, qfz_error *err)
{
    s->top = s->y0 > 0 ? s->y0 - 1 : 0;
    s->bottom = s->y1 < s->h ? s->y1 + 1 : s->h;
    const qfz_box box = {.y0 = s->top, .x0 = 0, .y1 = s->bottom, .x1 = s->w};
    QFZ_TRY(qfz_sink_read(edges, box, s->raw, s->valid, err));
    const int64_t n = s->n_dirs * (s->bottom - s->top) * s->w;
#pragma omp parallel for num_threads(s->n_threads)
    for (int64_t i = 0; i < n; i++)
        s->level[i] = qfz_stored_level(s->type, s->raw, i);
    return QFZ_OK;
}

static qfz_status write_strip(const strip *s, qfz_sink *to, const qfz_sink_spec *spec,
                              qfz_error *err)
{
    const bool wide = spec->layout == QFZ_KHALIMSKY;
    const int64_t begin = s->y0 * (wide ? 2 : 1);
    const int64_t end = wide && s->y1 == s->h ? 2 * s->h - 1 : s->y1 * (wide ? 2 : 1);
    const int64_t row_bytes = spec->w * (int64_t)qfz_out_type_bytes(s->type);
#pragma omp parallel for num_threads(s->n_threads)
    for (int64_t row = begin; row < end; row++) {
        void *const cells = (char *)s->cells + (row - begin) * row_bytes;
        if (wide)
            khalimsky_row(s, row, cells);
        else
            pixel_row(s, row, cells);
    }
    const qfz_box box = {.y0 = begin, .x0 = 0, .y1 = end, .x1 = spec->w};
    return qfz_sink_write(to, box, s->cells, NULL, err);
}

/* One pixel becomes four cells at most. */
static qfz_status strip_alloc(strip *s, int64_t rows, qfz_error *err)
{
    const int64_t n = (rows + 2) * s->w;
    QFZ_TRY(QFZ_NEW(&s->level, n * s->n_dirs, err));
    QFZ_TRY(qfz_alloc(&s->raw, n * s->n_dirs, qfz_out_type_bytes(s->type), err));
    QFZ_TRY(QFZ_NEW(&s->valid, n, err));
    return qfz_alloc(&s->cells, 4 * rows * s->w, qfz_out_type_bytes(s->type), err);
}

qfz_status qfz_layout_convert(qfz_sink *edges, const qfz_sink_spec *edges_spec, qfz_sink *to,
                              const qfz_sink_spec *to_spec, int n_threads, qfz_advance_fn advance,
                              void *arg, qfz_error *err)
{
    strip s = {.type = edges_spec->type,
               .n_dirs = edges_spec->n_bands,
               .n_threads = n_threads,
               .w = edges_spec->w,
               .h = edges_spec->h};
    int64_t rows = STRIP_BYTES / (s.w * s.n_dirs * (int64_t)sizeof(uint64_t));
    rows = rows < 1 ? 1 : rows < s.h ? rows : s.h;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, strip_alloc(&s, rows, err));
    for (s.y0 = 0; s.y0 < s.h; s.y0 = s.y1) {
        s.y1 = s.y0 + rows < s.h ? s.y0 + rows : s.h;
        QFZ_TRY_OR(st, cleanup, read_strip(&s, edges, err));
        QFZ_TRY_OR(st, cleanup, write_strip(&s, to, to_spec, err));
        QFZ_TRY_OR(st, cleanup, advance(arg, (double)s.y1 / (double)s.h, err));
    }

cleanup:
    free(s.level);
    free(s.raw);
    free(s.valid);
    free(s.cells);
    return st;
}
