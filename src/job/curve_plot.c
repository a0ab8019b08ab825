/* SPDX-License-Identifier: MIT */
/* curve_plot.c - a curve as an image: lines on logarithmic axes, with a mark at each decade.
 *
 * Alpha 0 has no logarithm; the number of regions there begins the line at the left border. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/api.h"
#include "core/memory.h"
#include "raster/raster.h"

enum { W = 900, H = 600, LEFT = 90, RIGHT = 870, TOP = 40, BOTTOM = 540 };
enum { GLYPH_W = 5, GLYPH_H = 7, SCALE = 2, STEP = (GLYPH_W + 1) * SCALE };

static const uint32_t white = 0xffffff, black = 0x202020, grey = 0xd8d8d8, blue = 0x1f5fa8;

/* Rows of five bits, from the top. */
static const struct {
    char of;
    uint8_t rows[GLYPH_H];
} font[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},     {'3', {31, 2, 4, 2, 1, 17, 14}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},     {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}}, {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'-', {0, 0, 0, 31, 0, 0, 0}},       {'+', {0, 4, 4, 31, 4, 4, 0}},
    {'a', {0, 0, 14, 1, 15, 17, 15}},    {'e', {0, 0, 14, 17, 31, 16, 14}},
    {'g', {0, 15, 17, 17, 15, 1, 14}},   {'h', {16, 16, 22, 25, 17, 17, 17}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'l', {12, 4, 4, 4, 4, 4, 14}},
    {'n', {0, 0, 22, 25, 17, 17, 17}},   {'o', {0, 0, 14, 17, 17, 17, 14}},
    {'p', {0, 0, 30, 17, 30, 16, 16}},   {'r', {0, 0, 22, 25, 16, 16, 16}},
    {'s', {0, 0, 15, 16, 14, 1, 30}},
};

/* A rectangle; what lies outside the image is left out. */
static void fill(uint8_t *rgb, int x0, int y0, int x1, int y1, uint32_t colour)
{
    for (int y = y0 < 0 ? 0 : y0; y < y1 && y < H; y++)
        for (int x = x0 < 0 ? 0 : x0; x < x1 && x < W; x++)
            for (int c = 0; c < 3; c++)
                rgb[3 * (y * W + x) + c] = (uint8_t)(colour >> (16 - 8 * c));
}

static void draw_glyph(uint8_t *rgb, int x, int y, const uint8_t *rows)
{
    for (int row = 0; row < GLYPH_H; row++)
        for (int column = 0; column < GLYPH_W; column++)
            if (rows[row] >> (GLYPH_W - 1 - column) & 1)
                fill(rgb, x + column * SCALE, y + row * SCALE, x + (column + 1) * SCALE,
                     y + (row + 1) * SCALE, black);
}

static void write_at(uint8_t *rgb, int x, int y, const char *text)
{
    for (; *text; text++, x += STEP)
        for (size_t i = 0; i < sizeof font / sizeof *font; i++)
            if (font[i].of == *text) draw_glyph(rgb, x, y, font[i].rows);
}

/* The decades low..high are spread from pixel `from` to pixel `to`. */
typedef struct axis {
    int low, high, from, to;
} axis;

static int place(const axis *a, double value)
{
    const double share = (log10(value) - a->low) / (a->high - a->low);
    return a->from + (int)lround(share * (a->to - a->from));
}

static axis axis_of(double least, double most, int from, int to)
{
    const int low = (int)floor(log10(least)), high = (int)ceil(log10(most));
    return (axis){.low = low, .high = high > low ? high : low + 1, .from = from, .to = to};
}

static void decade(char text[16], int power)
{
    if (power >= 0 && power < 5)
        (void)snprintf(text, 16, "%.0f", pow(10, power));
    else
        (void)snprintf(text, 16, "1e%d", power);
}

/* With many decades only every second, third ... one has a mark. */
static int stride(const axis *a)
{
    return 1 + (a->high - a->low) / 12;
}

static void draw_axes(uint8_t *rgb, const axis *x, const axis *y)
{
    char text[16];
    for (int power = x->low; power <= x->high; power += stride(x)) {
        const int at = place(x, pow(10, power));
        decade(text, power);
        fill(rgb, at, TOP, at + 1, BOTTOM, grey);
        write_at(rgb, at - (int)strlen(text) * STEP / 2, BOTTOM + 10, text);
    }
    for (int power = y->low; power <= y->high; power += stride(y)) {
        const int at = place(y, pow(10, power));
        decade(text, power);
        fill(rgb, LEFT, at, RIGHT, at + 1, grey);
        write_at(rgb, LEFT - 8 - (int)strlen(text) * STEP, at - GLYPH_H, text);
    }
    fill(rgb, LEFT, TOP, LEFT + 2, BOTTOM, black);
    fill(rgb, LEFT, BOTTOM, RIGHT, BOTTOM + 2, black);
    write_at(rgb, (LEFT + RIGHT) / 2, BOTTOM + 34, "alpha");
    write_at(rgb, LEFT, TOP - 26, "regions");
}

/* The number stays the same up to the next point, and falls there. */
static void draw_steps(uint8_t *rgb, const qfz_curve *curve, const axis *x, const axis *y)
{
    int at_x = LEFT, at_y = place(y, (double)curve->regions[0]);
    for (int64_t i = 1; i <= curve->n; i++) {
        const bool is_last = i == curve->n || !isfinite(curve->alpha[i]);
        const int to_x = is_last ? RIGHT : place(x, curve->alpha[i]);
        fill(rgb, at_x, at_y - 1, to_x + 1, at_y + 1, blue);
        if (is_last) return;
        const int to_y = place(y, (double)curve->regions[i]);
        fill(rgb, to_x - 1, at_y - 1, to_x + 1, to_y + 1, blue);
        at_x = to_x;
        at_y = to_y;
    }
}

static void draw(uint8_t *rgb, const qfz_curve *curve)
{
    int64_t n = curve->n;
    while (n > 1 && !isfinite(curve->alpha[n - 1]))
        n--;
    const double least = n > 1 ? curve->alpha[1] : 1, most = n > 1 ? curve->alpha[n - 1] : 10;
    const axis x = axis_of(least, most, LEFT, RIGHT);
    const axis y = axis_of(1, (double)curve->regions[0], BOTTOM, TOP);
    fill(rgb, 0, 0, W, H, white);
    draw_axes(rgb, &x, &y);
    draw_steps(rgb, curve, &x, &y);
}

qfz_status qfz_curve_plot(const qfz_curve *curve, const char *path, bool overwrite, qfz_error *err)
{
    qfz_error own;
    qfz_curve read = qfz_curve_default();
    uint8_t *rgb = NULL;
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_api_read(&read, sizeof read, curve, "qfz_curve", err));
    if (!path || !path[0]) return qfz_fail(err, QFZ_EARG, "a plot has no name");
    if (read.n < 1 || read.regions[0] == 0)
        return qfz_fail(err, QFZ_EARG, "%s: a curve without regions cannot be drawn", path);
    QFZ_TRY(QFZ_NEW(&rgb, 3 * W * H, err));
    draw(rgb, &read);
    const qfz_status st = qfz_png_write(path, rgb, W, H, overwrite, err);
    free(rgb);
    return st;
}
