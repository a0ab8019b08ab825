/* SPDX-License-Identifier: MIT */
/* tiff.h - a TIFF whose blocks are packed by the threads that have them, and written past GDAL.
 *
 * GDAL takes blocks one after the other: each is copied and written while all other threads wait,
 * and what packs it are further threads.  Here GDAL makes the file with all that it says of its
 * pixels, and closes it; blocks are appended by any number of threads at a time; at the end the
 * directory learns where they lie (TIFF 6.0, 1992, sections 2 and 15; BigTIFF, 2007). */
#ifndef QFZ_RASTER_TIFF_H
#define QFZ_RASTER_TIFF_H

#include "raster/private.h"

/* The file, and where its directory says where blocks are, and how long. */
typedef struct qfz_tiff_file {
    int file;         /* -1: not open */
    const char *name; /* in messages; borrowed */
    qfz_patience patience;
    bool is_big;        /* BigTIFF */
    int64_t offsets_at; /* of the entries of both lists */
    int64_t counts_at;
} qfz_tiff_file;

/* Finds what follows patience. */
qfz_status qfz_tiff_find(qfz_tiff_file *file, qfz_error *err);

qfz_status qfz_tiff_put(const qfz_tiff_file *file, int64_t at, const void *data, int64_t bytes,
                        qfz_error *err);

/* Appends both lists at `end`, and lets the entries point to them. */
qfz_status qfz_tiff_list(const qfz_tiff_file *file, int64_t end, int64_t n_blocks,
                         const uint64_t *offsets, const uint64_t *counts, qfz_error *err);

/* How blocks are packed: what of a GTiff's creation options concerns them. */
typedef struct qfz_packing {
    const void *packer;  /* a CPLCompressor, or NULL: they are not */
    char level[16];      /* LEVEL=... */
    bool by_differences; /* to the pixel on the left: PREDICTOR=2 */
} qfz_packing;

/* Can this GTiff be written in this way?  All other options are GDAL's own affair. */
bool qfz_packing_of(char **options, qfz_packing *packing);

typedef struct qfz_tiff qfz_tiff;

typedef struct qfz_tiff_form {
    qfz_packing packing;
    qfz_patience patience;
    const char *name; /* in messages; borrowed */
    int64_t w, h;
    int block_w, block_h, n_bands; /* a block is of one band */
    size_t px_bytes;
    uint8_t empty[8]; /* a pixel whose block is not there */
} qfz_tiff_form;

/* path: a TIFF that is complete but for its blocks, of which there are none. */
qfz_status qfz_tiff_open(qfz_tiff **tiff, const char *path, const qfz_tiff_form *form,
                         qfz_error *err);

/* Room that a thread needs to pack a block. */
int64_t qfz_tiff_room(const qfz_tiff *tiff);

/* Block x, y of a band, from 0, once; block is destroyed.  Any thread. */
qfz_status qfz_tiff_write(qfz_tiff *tiff, int band, int64_t x, int64_t y, void *block, void *room,
                          qfz_error *err);

/* All blocks that will ever be there are there. */
qfz_status qfz_tiff_finish(qfz_tiff *tiff, qfz_error *err);
void qfz_tiff_close(qfz_tiff *tiff); /* NULL is allowed */

#endif
