/* SPDX-License-Identifier: MIT */
#include "regions/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "regions/picture_means.h"
#include "regions/picture_stretch.h"

struct qfz_picture {
    qfz_picture_grid grid;
    qfz_quicklook_style style;
    const char *folder;
    int file; /* of samples */
};

qfz_status qfz_picture_open(qfz_picture **picture, qfz_quicklook_style style, int64_t w, int64_t h,
                            const char *folder, qfz_error *err)
{
    qfz_picture *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    *made = (qfz_picture){.grid = qfz_picture_grid_of(w, h), .style = style, .folder = folder};
    const qfz_status st = qfz_temp_open(folder, &made->file, err);
    if (st == QFZ_OK)
        *picture = made;
    else
        free(made);
    return st;
}

void qfz_picture_close(qfz_picture *picture)
{
    if (!picture) return;
    (void)close(picture->file);
    free(picture);
}

/* --------------------------------------------------------------------------------------- samples
 */
static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

static float value_of(const qfz_image *values, int band, int64_t i)
{
    const int64_t at = (int64_t)band * values->h * values->w + i;
    switch (values->type) {
    case QFZ_U8: return ((const uint8_t *)values->pixels)[at];
    case QFZ_I8: return ((const int8_t *)values->pixels)[at];
    case QFZ_U16: return ((const uint16_t *)values->pixels)[at];
    case QFZ_I16: return ((const int16_t *)values->pixels)[at];
    case QFZ_U32: return (float)((const uint32_t *)values->pixels)[at];
    case QFZ_I32: return (float)((const int32_t *)values->pixels)[at];
    case QFZ_F32: break;
    }
    return ((const float *)values->pixels)[at];
}

static void take_values(qfz_picture_sample *sample, const qfz_image *values, int64_t i,
                        const int rgb[QFZ_RGB])
{
    const bool is_valid = !values->valid || values->valid[i];
    for (int c = 0; c < QFZ_RGB; c++)
        sample->value[c] = is_valid ? value_of(values, rgb[c], i) : NAN;
}

/* Samples of row y of the raster. */
static qfz_status add_row(qfz_picture *picture, const qfz_label_tile *tile, const uint8_t *colors,
                          const qfz_image *values, const int rgb[QFZ_RGB], int64_t y,
                          qfz_picture_sample *row, qfz_error *err)
{
    const qfz_box box = tile->box;
    const int64_t step = picture->grid.step, bytes = sizeof *row;
    const int64_t first = round_up(box.x0, step);
    int64_t n = 0;
    for (int64_t x = first; x < box.x1; x += step, n++) {
        row[n] = (qfz_picture_sample){.label = tile->labels[(y - box.y0) * tile->w + x - box.x0]};
        if (values)
            take_values(&row[n], values, (y - box.y0) * values->w + x - box.x0, rgb);
        else
            row[n].color = colors[(y - box.y0) * qfz_box_w(box) + x - box.x0];
    }
    if (n == 0) return QFZ_OK;
    const int64_t at = y / step * picture->grid.n_x + first / step;
    return qfz_temp_write(picture->file, picture->folder, row, n * bytes, at * bytes, err);
}

qfz_status qfz_picture_add(qfz_picture *picture, const qfz_label_tile *tile, const uint8_t *colors,
                           const qfz_image *values, const int rgb[QFZ_RGB], qfz_error *err)
{
    qfz_picture_sample *row = NULL;
    QFZ_TRY(QFZ_NEW(&row, picture->grid.n_x, err));
    qfz_status st = QFZ_OK;
    for (int64_t y = round_up(tile->box.y0, picture->grid.step); y < tile->box.y1 && st == QFZ_OK;
         y += picture->grid.step)
        st = add_row(picture, tile, colors, values, rgb, y, row, err);
    free(row);
    return st;
}

/* --------------------------------------------------------------------------------------- drawing
 */
/* The samples of a picture that is drawn: two rows of them, and what each sample shows. */
typedef struct drawing {
    qfz_picture *picture;
    qfz_picture_sample *rows; /* a row, and the one below it */
    const uint8_t (*palette)[4];
    qfz_picture_stretch stretch;
    uint8_t *shown; /* red, green and blue of each sample */
    uint8_t *rgb;   /* of the picture */
    int64_t n_border;
} drawing;

static qfz_status read_row(const drawing *d, int64_t y, qfz_picture_sample *row, qfz_error *err)
{
    const qfz_picture *const p = d->picture;
    const int64_t bytes = p->grid.n_x * (int64_t)sizeof *row;
    return qfz_temp_read(p->file, p->folder, row, bytes, y * bytes, err);
}

/* Calls visit() for each row, with the row below it, NULL under the last one. */
static qfz_status for_rows(drawing *d,
                           void (*visit)(drawing *d, int64_t y, const qfz_picture_sample *row,
                                         const qfz_picture_sample *below),
                           qfz_error *err)
{
    const int64_t n_y = d->picture->grid.n_y;
    qfz_picture_sample *row = d->rows, *below = d->rows + d->picture->grid.n_x;
    QFZ_TRY(read_row(d, 0, row, err));
    for (int64_t y = 0; y < n_y; y++) {
        if (y + 1 < n_y) QFZ_TRY(read_row(d, y + 1, below, err));
        visit(d, y, row, y + 1 < n_y ? below : NULL);
        qfz_picture_sample *const done = row;
        row = below;
        below = done;
    }
    return QFZ_OK;
}

static void add_to_stretch(drawing *d, int64_t y, const qfz_picture_sample *row,
                           const qfz_picture_sample *below)
{
    (void)below;
    for (int64_t x = 0; x < d->picture->grid.n_x; x++)
        qfz_picture_stretch_add(&d->stretch, y * d->picture->grid.n_x + x, row[x].value);
}

static void show_row(drawing *d, int64_t y, const qfz_picture_sample *row,
                     const qfz_picture_sample *below)
{
    (void)below;
    for (int64_t x = 0; x < d->picture->grid.n_x; x++) {
        uint8_t *const shown = d->shown + (y * d->picture->grid.n_x + x) * QFZ_RGB;
        if (d->picture->style != QFZ_QUICKLOOK_COLORS)
            qfz_picture_stretch_apply(&d->stretch, row[x].value, shown);
        else if (row[x].color == 0)
            memset(shown, UINT8_MAX, QFZ_RGB);
        else
            memcpy(shown, d->palette[row[x].color], QFZ_RGB);
    }
}

/* True where a sample differs from the next one to the right, and below. */
typedef struct sides {
    bool right, below;
} sides;

static sides sides_of(const drawing *d, int64_t x, const qfz_picture_sample *row,
                      const qfz_picture_sample *below)
{
    return (sides){.right = x + 1 < d->picture->grid.n_x && row[x + 1].label != row[x].label,
                   .below = below && below[x].label != row[x].label};
}

static void count_borders(drawing *d, int64_t y, const qfz_picture_sample *row,
                          const qfz_picture_sample *below)
{
    const int64_t zoom = d->picture->grid.zoom;
    (void)y;
    for (int64_t x = 0; x < d->picture->grid.n_x; x++) {
        const sides s = sides_of(d, x, row, below);
        d->n_border += (s.right + s.below) * zoom - (s.right && s.below);
    }
}

/* Over an image, borders are yellow, which images of land seldom are; else they are darker than
 * the region to the upper left. */
static void ink(const drawing *d, uint8_t *px)
{
    static const uint8_t line[QFZ_RGB] = {255, 225, 0};
    for (int i = 0; i < QFZ_RGB; i++)
        px[i] = (uint8_t)(d->picture->style == QFZ_QUICKLOOK_IMAGE ? line[i] : px[i] * 2 / 5);
}

static void draw_borders(drawing *d, int64_t y, const qfz_picture_sample *row,
                         const qfz_picture_sample *below)
{
    const qfz_picture_grid g = d->picture->grid;
    const int64_t pitch = g.n_x * g.zoom, last = g.zoom - 1;
    for (int64_t x = 0; x < g.n_x; x++) {
        uint8_t *const square = d->rgb + (y * g.zoom * pitch + x * g.zoom) * QFZ_RGB;
        const sides s = sides_of(d, x, row, below);
        for (int64_t i = 0; s.right && i < g.zoom; i++)
            ink(d, square + (i * pitch + last) * QFZ_RGB);
        for (int64_t i = 0; s.below && i < g.zoom - (s.right ? 1 : 0); i++)
            ink(d, square + (last * pitch + i) * QFZ_RGB);
    }
}

/* The picture of what the samples show. */
static void enlarge(drawing *d)
{
    const qfz_picture_grid g = d->picture->grid;
    const int64_t pitch = g.n_x * g.zoom;
    for (int64_t y = 0; y < g.n_y * g.zoom; y++)
        for (int64_t x = 0; x < pitch; x++)
            memcpy(d->rgb + (y * pitch + x) * QFZ_RGB,
                   d->shown + (y / g.zoom * g.n_x + x / g.zoom) * QFZ_RGB, QFZ_RGB);
}

static qfz_status draw(drawing *d, qfz_error *err)
{
    qfz_picture *const p = d->picture;
    const qfz_picture_grid g = p->grid;
    if (p->style != QFZ_QUICKLOOK_COLORS) {
        QFZ_TRY(qfz_picture_stretch_open(&d->stretch, g.n_x * g.n_y, err));
        QFZ_TRY(for_rows(d, add_to_stretch, err));
        qfz_picture_stretch_find(&d->stretch);
    }
    QFZ_TRY(for_rows(d, show_row, err));
    if (p->style == QFZ_QUICKLOOK_MEANS)
        QFZ_TRY(qfz_picture_means_take(p->file, p->folder, g.n_x, g.n_y, d->rows, d->shown, err));
    enlarge(d);
    QFZ_TRY(for_rows(d, count_borders, err));
    if (2 * d->n_border <= g.n_x * g.n_y * g.zoom * g.zoom) QFZ_TRY(for_rows(d, draw_borders, err));
    return QFZ_OK;
}

qfz_status qfz_picture_draw(qfz_picture *picture, const uint8_t (*palette)[4], uint8_t **rgb,
                            int *w, int *h, qfz_error *err)
{
    const qfz_picture_grid g = picture->grid;
    drawing d = {.picture = picture, .palette = palette};
    qfz_status st = QFZ_NEW(&d.rows, 2 * g.n_x, err);
    if (st == QFZ_OK) st = QFZ_NEW(&d.shown, g.n_x * g.n_y * QFZ_RGB, err);
    if (st == QFZ_OK) st = QFZ_NEW(&d.rgb, g.n_x * g.n_y * g.zoom * g.zoom * QFZ_RGB, err);
    if (st == QFZ_OK) st = draw(&d, err);
    qfz_picture_stretch_close(&d.stretch);
    free(d.rows);
    free(d.shown);
    if (st != QFZ_OK) {
        free(d.rgb);
        return st;
    }
    *rgb = d.rgb;
    *w = (int)(g.n_x * g.zoom);
    *h = (int)(g.n_y * g.zoom);
    return QFZ_OK;
}
