/* SPDX-License-Identifier: MIT */
#include "regions/picture.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"

enum { RGB = 3 };

/* What a pixel of the picture shows. */
typedef struct sample {
    uint64_t label;
    uint64_t color;
} sample;

struct qfz_picture {
    int64_t step; /* pixels of the raster from one sample to the next */
    int64_t w, h; /* samples; sample (y, x) is the raster's pixel (y * step, x * step) */
    const char *folder;
    int file; /* of samples */
};

qfz_status qfz_picture_open(qfz_picture **picture, int64_t w, int64_t h, const char *folder,
                            qfz_error *err)
{
    const int64_t longest = w > h ? w : h;
    qfz_picture *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->step = (longest - 1) / QFZ_PICTURE_SIDE + 1;
    made->w = (w - 1) / made->step + 1;
    made->h = (h - 1) / made->step + 1;
    made->folder = folder;
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

static int64_t round_up(int64_t value, int64_t step)
{
    return (value + step - 1) / step * step;
}

/* Samples of row y of the raster. */
static qfz_status add_row(qfz_picture *picture, const qfz_label_tile *tile, const uint8_t *colors,
                          int64_t y, sample *row, qfz_error *err)
{
    const qfz_box box = tile->box;
    const int64_t first = round_up(box.x0, picture->step), bytes = sizeof *row;
    int64_t n = 0;
    for (int64_t x = first; x < box.x1; x += picture->step)
        row[n++] = (sample){.label = tile->labels[(y - box.y0) * tile->w + x - box.x0],
                            .color = colors[(y - box.y0) * qfz_box_w(box) + x - box.x0]};
    if (n == 0) return QFZ_OK;
    const int64_t at = y / picture->step * picture->w + first / picture->step;
    return qfz_temp_write(picture->file, picture->folder, row, n * bytes, at * bytes, err);
}

qfz_status qfz_picture_add(qfz_picture *picture, const qfz_label_tile *tile, const uint8_t *colors,
                           qfz_error *err)
{
    sample *row = NULL;
    QFZ_TRY(QFZ_NEW(&row, picture->w, err));
    qfz_status st = QFZ_OK;
    for (int64_t y = round_up(tile->box.y0, picture->step); y < tile->box.y1 && st == QFZ_OK;
         y += picture->step)
        st = add_row(picture, tile, colors, y, row, err);
    free(row);
    return st;
}

/* below: NULL under the last row. */
static void draw_row(const qfz_picture *picture, const sample *row, const sample *below,
                     const uint8_t (*palette)[4], uint8_t *rgb)
{
    for (int64_t x = 0; x < picture->w; x++) {
        const bool border = (x + 1 < picture->w && row[x + 1].label != row[x].label) ||
                            (below && below[x].label != row[x].label);
        for (int i = 0; i < RGB; i++) {
            const uint8_t color = palette[row[x].color][i];
            const uint8_t shown = border ? (uint8_t)(color * 2 / 5) : color;
            rgb[RGB * x + i] = row[x].color == 0 ? UINT8_MAX : shown;
        }
    }
}

static qfz_status draw(qfz_picture *picture, const uint8_t (*palette)[4], sample *rows,
                       uint8_t *rgb, qfz_error *err)
{
    const int64_t bytes = picture->w * (int64_t)sizeof *rows;
    sample *row = rows, *below = rows + picture->w;
    QFZ_TRY(qfz_temp_read(picture->file, picture->folder, row, bytes, 0, err));
    for (int64_t y = 0; y < picture->h; y++) {
        const bool is_last = y + 1 == picture->h;
        if (!is_last)
            QFZ_TRY(
                qfz_temp_read(picture->file, picture->folder, below, bytes, (y + 1) * bytes, err));
        draw_row(picture, row, is_last ? NULL : below, palette, rgb + y * picture->w * RGB);
        sample *const done = row;
        row = below;
        below = done;
    }
    return QFZ_OK;
}

qfz_status qfz_picture_draw(qfz_picture *picture, const uint8_t (*palette)[4], uint8_t **rgb,
                            int *w, int *h, qfz_error *err)
{
    sample *rows = NULL;
    uint8_t *made = NULL;
    qfz_status st = QFZ_NEW(&rows, 2 * picture->w, err);
    if (st == QFZ_OK) st = QFZ_NEW(&made, picture->w * picture->h * RGB, err);
    if (st == QFZ_OK) st = draw(picture, palette, rows, made, err);
    free(rows);
    if (st != QFZ_OK) {
        free(made);
        return st;
    }
    *rgb = made;
    *w = (int)picture->w;
    *h = (int)picture->h;
    return QFZ_OK;
}
