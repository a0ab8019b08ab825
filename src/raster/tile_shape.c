/* SPDX-License-Identifier: MIT */
/* tile_shape.c - the shape of tiles.
 *
 * Tiles should not cut blocks of the input, which would be decoded twice, nor blocks of the output,
 * which have 512 pixels a side.  Rasters in strips are cut into whole rows. */
#include "raster/tile_shape.h"

enum { OUT_BLOCK = 512, HALF_BLOCK = 256, FEWEST_ROWS = 64 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest multiple of the block up to limit, if possible also a multiple of an output block. */
static int64_t round_to_blocks(int64_t limit, int64_t block)
{
    const int64_t both[] = {OUT_BLOCK / gcd(block, OUT_BLOCK) * block,
                            HALF_BLOCK / gcd(block, HALF_BLOCK) * block, block, OUT_BLOCK,
                            HALF_BLOCK};
    for (int i = 0; i < 5; i++)
        if (both[i] <= limit) return limit - limit % both[i];
    return limit;
}

static int64_t square_root(int64_t n)
{
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 31; bit > 0; bit >>= 1)
        if ((root + bit) <= n / (root + bit)) root += bit;
    return root;
}

static void choose_shape(qfz_tiling *t, const qfz_source_info *info, int64_t max_px)
{
    const int64_t rows = max_px / info->w; /* of whole ones */
    const bool strips = info->block_w >= info->w;
    if (rows >= info->h) {
        t->tile_w = info->w;
        t->tile_h = info->h;
    } else if (rows >= 1 && (info->w <= square_root(max_px) || (strips && rows >= FEWEST_ROWS))) {
        t->tile_w = info->w;
        t->tile_h = round_to_blocks(rows, info->block_h);
    } else if (info->h <= square_root(max_px)) {
        t->tile_h = info->h;
        t->tile_w = smaller(info->w, round_to_blocks(max_px / info->h, info->block_w));
    } else {
        t->tile_w = smaller(info->w, round_to_blocks(square_root(max_px), info->block_w));
        t->tile_h = smaller(info->h, round_to_blocks(max_px / t->tile_w, info->block_h));
    }
}

qfz_status qfz_tiling_choose(qfz_tiling *tiling, const qfz_source_info *info, int32_t tile_px,
                             int64_t max_px, qfz_error *err)
{
    qfz_tiling t = {.w = info->w, .h = info->h};
    if (tile_px < 0)
        return qfz_fail(err, QFZ_EARG,
                        "a tile side of %d pixels is not possible; give a positive number",
                        (int)tile_px);
    if (tile_px == 0 && max_px < 1)
        return qfz_fail(err, QFZ_EARG,
                        "tiles of at most %lld pixels are not possible; give more memory",
                        (long long)max_px);
    if (tile_px > 0) {
        t.tile_w = smaller(info->w, tile_px);
        t.tile_h = smaller(info->h, tile_px);
    } else {
        choose_shape(&t, info, max_px);
    }
    t.n_x = (t.w - 1) / t.tile_w + 1;
    t.n_y = (t.h - 1) / t.tile_h + 1;
    *tiling = t;
    return QFZ_OK;
}
