/* SPDX-License-Identifier: MIT */
#include "regions/contours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/level.h"
#include "core/memory.h"

enum { SAMPLES = 1 << 16 };

struct qfz_contours {
    qfz_picture_grid grid;
    int64_t w, h; /* of the picture */
    float *level; /* the greatest in each of its pixels; 0: no line */
};

qfz_status qfz_contours_open(qfz_contours **contours, int64_t w, int64_t h, qfz_error *err)
{
    qfz_contours *made = NULL;
    const qfz_picture_grid grid = qfz_picture_grid_of(w, h);
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    *made = (qfz_contours){.grid = grid, .w = grid.n_x * grid.zoom, .h = grid.n_y * grid.zoom};
    const qfz_status st = QFZ_NEW_ZERO(&made->level, made->w * made->h, err);
    if (st == QFZ_OK)
        *contours = made;
    else
        free(made);
    return st;
}

void qfz_contours_close(qfz_contours *contours)
{
    if (!contours) return;
    free(contours->level);
    free(contours);
}

static void raise_to(float *at, float level)
{
    if (level > *at) *at = level;
}

/* The square of a pixel has its lines to the right and below in its last column and row.  A
 * diagonal edge is a point at the corner. */
void qfz_contours_add(qfz_contours *contours, int dir, int64_t y, int64_t x, float level)
{
    const qfz_picture_grid g = contours->grid;
    const int64_t pitch = contours->w, last = g.zoom - 1;
    float *const square = contours->level + y / g.step * g.zoom * pitch + x / g.step * g.zoom;
    switch (dir) {
    case QFZ_RIGHT:
        for (int64_t i = 0; i < g.zoom; i++)
            raise_to(square + i * pitch + last, level);
        break;
    case QFZ_BELOW:
        for (int64_t i = 0; i < g.zoom; i++)
            raise_to(square + last * pitch + i, level);
        break;
    case QFZ_BELOW_RIGHT: raise_to(square + last * pitch + last, level); break;
    default: raise_to(square + last * pitch - (g.zoom > 1 ? 1 : 0), level);
    }
}

/* ---------------------------------------------------------------------------------------- shades
 */
static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Levels at no more than SAMPLES pixels spread over the picture, sorted; 0: no line. */
static int64_t sample(const qfz_contours *contours, float *levels)
{
    const int64_t n_px = contours->w * contours->h;
    int64_t every = (n_px - 1) / SAMPLES + 1, n = 0;
    if (every > 1) every |= 1;
    for (int64_t i = 0; i < n_px; i += every)
        levels[n++] = contours->level[i];
    qsort(levels, (size_t)n, sizeof *levels, by_value);
    return n;
}

typedef struct shades {
    float low, gain; /* lines of a level up to low have no ink */
} shades;

/* The tenth of the lines with the lowest levels has no ink, nor has what would cover more than a
 * third of the picture.  The highest half of a percent is black. */
static shades find_shades(const float *levels, int64_t n)
{
    int64_t first = 0;
    while (first < n && levels[first] == 0)
        first++;
    if (first == n) return (shades){0};
    int64_t lowest = first + (n - first) / 10;
    if (lowest < n - n / 3) lowest = n - n / 3;
    const float low = levels[lowest], high = levels[n - 1 - (n - first) / 200];
    return (shades){.low = low, .gain = high > low ? 1 / (high - low) : 0};
}

/* 0: none, to 1: black.  Where all lines have one level, they are black. */
static float ink_of(shades s, float level)
{
    if (level <= 0) return 0;
    if (s.gain == 0) return 1;
    const float v = (level - s.low) * s.gain;
    return v > 1 ? 1 : v > 0 ? sqrtf(v) : 0;
}

/* Pixels of the picture across a line. */
static int64_t width_of(float ink)
{
    return ink > 0.9f ? 3 : ink > 0.6f ? 2 : 1;
}

/* A line of this ink at a pixel: 1, 2 x 2 or 3 x 3 pixels, where they are not darker already. */
static void put(const qfz_contours *contours, uint8_t *gray, int64_t y, int64_t x, float ink)
{
    const int64_t wide = width_of(ink), before = wide / 2;
    const uint8_t shade = (uint8_t)(UINT8_MAX * (1 - ink));
    for (int64_t v = y - before; v < y - before + wide; v++)
        for (int64_t u = x - before; u < x - before + wide; u++)
            if (v >= 0 && u >= 0 && v < contours->h && u < contours->w &&
                shade < gray[v * contours->w + u])
                gray[v * contours->w + u] = shade;
}

qfz_status qfz_contours_draw(const qfz_contours *contours, uint8_t **rgb, int *w, int *h,
                             qfz_error *err)
{
    const int64_t n_px = contours->w * contours->h;
    float *levels = NULL;
    uint8_t *gray = NULL, *made = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&levels, SAMPLES, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&gray, n_px, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&made, n_px * QFZ_RGB, err));
    const shades s = find_shades(levels, sample(contours, levels));
    memset(gray, UINT8_MAX, (size_t)n_px);
    for (int64_t i = 0; i < n_px; i++) {
        const float ink = ink_of(s, contours->level[i]);
        if (ink > 0) put(contours, gray, i / contours->w, i % contours->w, ink);
    }
    for (int64_t i = 0; i < n_px; i++)
        memset(made + i * QFZ_RGB, gray[i], QFZ_RGB);
    *rgb = made;
    *w = (int)contours->w;
    *h = (int)contours->h;

cleanup:
    free(levels);
    free(gray);
    return st;
}
