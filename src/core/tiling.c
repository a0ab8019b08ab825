/* SPDX-License-Identifier: MIT */
#include "core/tiling.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

qfz_box qfz_tiling_box(const qfz_tiling *tiling, int64_t tile_y, int64_t tile_x)
{
    return (qfz_box){
        .y0 = tile_y * tiling->tile_h,
        .x0 = tile_x * tiling->tile_w,
        .y1 = smaller(tiling->h, (tile_y + 1) * tiling->tile_h),
        .x1 = smaller(tiling->w, (tile_x + 1) * tiling->tile_w),
    };
}

int64_t qfz_part_first_row(int64_t n_rows, int part, int n_parts)
{
    return part * n_rows / n_parts;
}

/* The last part whose first row is not behind this one. */
int qfz_part_of_row(int64_t n_rows, int64_t row, int n_parts)
{
    return (int)(((row + 1) * n_parts - 1) / n_rows);
}
