/* SPDX-License-Identifier: MIT */
#include "regions/picture_stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { KEPT = 1 << 16 };

/* An odd distance does not fall on the same columns in every row. */
qfz_status qfz_picture_stretch_open(qfz_picture_stretch *stretch, int64_t n, qfz_error *err)
{
    *stretch = (qfz_picture_stretch){.every = (n - 1) / KEPT + 1};
    if (stretch->every > 1) stretch->every |= 1;
    for (int c = 0; c < QFZ_RGB; c++)
        QFZ_TRY(QFZ_NEW(&stretch->kept[c], KEPT, err));
    return QFZ_OK;
}

void qfz_picture_stretch_close(qfz_picture_stretch *stretch)
{
    for (int c = 0; c < QFZ_RGB; c++)
        free(stretch->kept[c]);
}

static bool has_value(const float value[QFZ_RGB])
{
    return isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]);
}

void qfz_picture_stretch_add(qfz_picture_stretch *stretch, int64_t i, const float value[QFZ_RGB])
{
    if (i % stretch->every != 0 || stretch->n == KEPT || !has_value(value)) return;
    for (int c = 0; c < QFZ_RGB; c++)
        stretch->kept[c][stretch->n] = value[c];
    stretch->n++;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Where both quantiles are the same, the band has two values at most that count: black and white.
 */
void qfz_picture_stretch_find(qfz_picture_stretch *stretch)
{
    const int64_t n = stretch->n;
    for (int c = 0; c < QFZ_RGB && n > 0; c++) {
        float *const kept = stretch->kept[c];
        qsort(kept, (size_t)n, sizeof *kept, by_value);
        int64_t low = (n - 1) / 50, high = n - 1 - (n - 1) / 50;
        if (kept[low] == kept[high]) {
            low = 0;
            high = n - 1;
        }
        const float width = kept[high] - kept[low];
        stretch->low[c] = kept[low];
        stretch->gain[c] = width > 0 ? UINT8_MAX / width : 0;
    }
}

void qfz_picture_stretch_apply(const qfz_picture_stretch *stretch, const float value[QFZ_RGB],
                               uint8_t rgb[QFZ_RGB])
{
    if (!has_value(value)) {
        memset(rgb, UINT8_MAX, QFZ_RGB);
        return;
    }
    for (int c = 0; c < QFZ_RGB; c++) {
        const float v = (value[c] - stretch->low[c]) * stretch->gain[c];
        rgb[c] = (uint8_t)(v > UINT8_MAX ? UINT8_MAX : v > 0 ? v : 0);
    }
}
