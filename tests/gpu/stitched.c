/* SPDX-License-Identifier: MIT */
#include "stitched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/stitch.h"

struct stitched {
    const qfz_image *image;
    qfz_tiling tiling;
    qfz_stitch *stitch;
    qfz_worker *worker;
    qfz_image tile;
    uint8_t *pixels, *valid;
};

static const qfz_ranks alone = {.n = 1, .n_local = 1};

static void must(qfz_status st, const qfz_error *err)
{
    if (st == QFZ_OK) return;
    printf("the test itself failed: %s\n", err->message);
    exit(1);
}

static size_t pixel_bytes(const qfz_image *image)
{
    return qfz_type_bytes(image->type) * (size_t)image->n_bands;
}

stitched *stitched_open(const qfz_image *image, const qfz_rule *rule, qfz_kind kind, int64_t tile_h,
                        int64_t tile_w)
{
    qfz_error err = {0};
    stitched *const s = calloc(1, sizeof *s);
    const size_t n = (size_t)(tile_h * tile_w);
    if (!s || !(s->pixels = malloc(n * pixel_bytes(image))) || !(s->valid = malloc(n))) abort();
    s->image = image;
    s->tiling = (qfz_tiling){.w = image->w,
                             .h = image->h,
                             .tile_w = tile_w,
                             .tile_h = tile_h,
                             .n_x = (image->w + tile_w - 1) / tile_w,
                             .n_y = (image->h + tile_h - 1) / tile_h};
    must(qfz_stitch_open(&s->stitch, rule, kind, &s->tiling, &alone, 1, 1 << 30, ".", &err), &err);
    return s;
}

void stitched_close(stitched *s)
{
    qfz_stitch_close(s->stitch);
    free(s->pixels);
    free(s->valid);
    free(s);
}

int64_t stitched_tiles(const stitched *s)
{
    return s->tiling.n_x * s->tiling.n_y;
}

qfz_box stitched_box(const stitched *s, int64_t tile)
{
    const qfz_group_tree group_tree = qfz_group_tree_of(&s->tiling);
    return qfz_group_tree_box(&group_tree, 0, tile);
}

const qfz_image *stitched_tile(stitched *s, int64_t tile)
{
    const qfz_image *const image = s->image;
    const qfz_box box = stitched_box(s, tile);
    const size_t bytes = qfz_type_bytes(image->type);
    const int64_t h = qfz_box_h(box), w = qfz_box_w(box);
    for (int64_t y = 0; y < h; y++) {
        const int64_t from = (box.y0 + y) * image->w + box.x0;
        for (int64_t b = 0; b < image->n_bands; b++)
            memcpy(s->pixels + (size_t)(b * h + y) * (size_t)w * bytes,
                   (const uint8_t *)image->pixels +
                       (size_t)(b * image->h * image->w + from) * bytes,
                   (size_t)w * bytes);
        if (image->valid)
            memcpy(s->valid + y * w, image->valid + from, (size_t)w);
        else
            memset(s->valid + y * w, 1, (size_t)w);
    }
    s->tile = (qfz_image){.h = h,
                          .w = w,
                          .n_bands = image->n_bands,
                          .type = image->type,
                          .pixels = s->pixels,
                          .valid = s->valid};
    return &s->tile;
}

void stitched_put(stitched *s, int64_t tile, const qfz_summary *summary)
{
    qfz_error err = {0};
    must(qfz_stitch_put(s->stitch, tile, summary, &err), &err);
}

void stitched_use(stitched *s, const qfz_engine *engine, qfz_worker *worker)
{
    s->worker = worker;
    qfz_stitch_use(s->stitch, engine, &s->worker, 1, 0);
}

void stitched_solve(stitched *s)
{
    qfz_error err = {0};
    must(qfz_stitch_solve(s->stitch, NULL, NULL, &err), &err);
}

void stitched_exterior(stitched *s, int64_t tile, qfz_exterior *exterior)
{
    qfz_error err = {0};
    must(qfz_stitch_exterior(s->stitch, tile, exterior, &err), &err);
}
