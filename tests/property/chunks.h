/* SPDX-License-Identifier: MIT */
/* chunks.h - an image cut into chunks, each in memory of its own, for the tests of chunks. */
#ifndef QFZ_TESTS_CHUNKS_H
#define QFZ_TESTS_CHUNKS_H

#include "rasters.h"

typedef struct cut_image {
    qfz_chunks chunks;
    int64_t n_y, n_x, n;
    qfz_image *images;
    qfz_bytes *summaries, *exteriors;
    uint64_t n_regions;
} cut_image;

/* Copies planes of items of a box. */
static inline void *cut_planes(const void *planes, int64_t n_planes, size_t bytes,
                               const qfz_image *whole, int64_t y0, int64_t x0, int64_t h, int64_t w)
{
    char *const made = raster_room(n_planes * h * w, bytes);
    for (int64_t b = 0; b < n_planes; b++)
        for (int64_t y = 0; y < h; y++)
            memcpy(made + (size_t)((b * h + y) * w) * bytes,
                   (const char *)planes + (size_t)((b * whole->h + y0 + y) * whole->w + x0) * bytes,
                   (size_t)w * bytes);
    return made;
}

static inline qfz_image cut_chunk(const cut_image *c, const qfz_image *whole, int64_t row,
                                  int64_t column)
{
    static const size_t type_bytes[] = {1, 1, 2, 2, 4, 4, 4};
    const int64_t y0 = row * c->chunks.chunk_h, x0 = column * c->chunks.chunk_w;
    const int64_t h = row + 1 < c->n_y ? c->chunks.chunk_h : whole->h - y0;
    const int64_t w = column + 1 < c->n_x ? c->chunks.chunk_w : whole->w - x0;
    qfz_image part = *whole;
    part.h = h;
    part.w = w;
    part.pixels =
        cut_planes(whole->pixels, whole->n_bands, type_bytes[whole->type], whole, y0, x0, h, w);
    if (whole->valid) part.valid = cut_planes(whole->valid, 1, 1, whole, y0, x0, h, w);
    if (whole->edges)
        part.edges = cut_planes(whole->edges, c->chunks.criterion.connectivity / 2,
                                sizeof *whole->edges, whole, y0, x0, h, w);
    return part;
}

/* Cuts an image into chunks of at most chunk_h x chunk_w pixels. */
static inline cut_image cut_make(const qfz_image *whole, const qfz_criterion *criterion,
                                 qfz_part part, int64_t chunk_h, int64_t chunk_w, int n_threads)
{
    cut_image c = {.chunks = qfz_chunks_default()};
    c.chunks.part = part;
    c.chunks.type = whole->type;
    c.chunks.criterion = *criterion;
    c.chunks.h = whole->h;
    c.chunks.w = whole->w;
    c.chunks.chunk_h = chunk_h;
    c.chunks.chunk_w = chunk_w;
    c.chunks.n_bands = whole->n_bands;
    c.chunks.has_edges = whole->edges != NULL;
    c.chunks.edges_are_float = whole->edges_are_float;
    c.chunks.n_threads = n_threads;
    c.n_y = (whole->h - 1) / chunk_h + 1;
    c.n_x = (whole->w - 1) / chunk_w + 1;
    c.n = c.n_y * c.n_x;
    c.images = raster_room(c.n, sizeof *c.images);
    c.summaries = raster_room(c.n, sizeof *c.summaries);
    c.exteriors = raster_room(c.n, sizeof *c.exteriors);
    for (int64_t i = 0; i < c.n; i++)
        c.images[i] = cut_chunk(&c, whole, i / c.n_x, i % c.n_x);
    return c;
}

static inline void cut_free(cut_image *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        free((void *)(uintptr_t)c->images[i].pixels);
        free((void *)(uintptr_t)c->images[i].valid);
        free((void *)(uintptr_t)c->images[i].edges);
        qfz_bytes_release(&c->summaries[i]);
        qfz_bytes_release(&c->exteriors[i]);
    }
    free(c->images);
    free(c->summaries);
    free(c->exteriors);
}

/* Steps 1 and 2 of one round, the chunks from the last to the first: the order does not matter. */
static inline qfz_status cut_round(cut_image *c, int round, qfz_error *err)
{
    for (int64_t i = c->n - 1; i >= 0; i--) {
        const int64_t row = i / c->n_x, column = i % c->n_x;
        qfz_bytes_release(&c->summaries[i]);
        const qfz_status st =
            round == 0
                ? qfz_chunk_summarise(&c->chunks, row, column, &c->images[i], &c->summaries[i], err)
                : qfz_chunk_continue(&c->chunks, row, column, &c->images[i], &c->exteriors[i],
                                     &c->summaries[i], err);
        if (st != QFZ_OK) return st;
        qfz_bytes_release(&c->exteriors[i]);
    }
    return qfz_chunks_stitch(&c->chunks, c->summaries, c->exteriors, &c->n_regions, err);
}

static inline qfz_status cut_stitch(cut_image *c, qfz_error *err)
{
    int n_rounds;
    qfz_status st = qfz_chunks_rounds(&c->chunks, &n_rounds, err);
    for (int round = 0; round < n_rounds && st == QFZ_OK; round++)
        st = cut_round(c, round, err);
    return st;
}

/* Step 3 of one chunk: labels of 32 or 64 bits, or levels, in new memory. */
static inline qfz_status cut_resolve(const cut_image *c, int64_t i, const qfz_bytes *exterior,
                                     bool wide, void **result, qfz_error *err)
{
    const int64_t n_dirs = c->chunks.criterion.connectivity / 2;
    const int64_t n = n_dirs * c->images[i].h * c->images[i].w;
    qfz_chunk_buffers into = qfz_chunk_buffers_default();
    *result = raster_room(n, sizeof(uint64_t));
    if (c->chunks.part == QFZ_PART_SALIENCY)
        into.levels = *result;
    else if (wide)
        into.wide_labels = *result;
    else
        into.labels = *result;
    return qfz_chunk_resolve(&c->chunks, i / c->n_x, i % c->n_x, &c->images[i], exterior, &into,
                             err);
}

#endif
