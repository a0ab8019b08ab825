/* SPDX-License-Identifier: MIT */
/* source_read.h - reads pixels and validity of a source. */
#ifndef QFZ_RASTER_SOURCE_READ_H
#define QFZ_RASTER_SOURCE_READ_H

#include "core/box.h"
#include "core/label_grid.h"
#include "core/rows.h"
#include "raster/source.h"

/* Reads a box: info.n_planes planes of h * w pixels of info.type, and h * w bytes of validity, 0
 * or 1. valid may be NULL if info.may_be_invalid is false.
 *
 * Of saliency: one band of U8; bit d is set if the edge in direction d (core/level.h) exists and
 * its level, as stored, is at most options.alpha; with options.alphas, a plane for each of them.
 * Negative zeros are read as zero.  QFZ_EIO: the message names the file and the box. */
qfz_status qfz_source_read(qfz_source *source, qfz_box box, void *pixels, uint8_t *valid,
                           qfz_error *err);

/* Reads the levels of options.edges in a box: the planes of qfz_image.edges. */
qfz_status qfz_source_read_edges(qfz_source *source, qfz_box box, uint32_t *levels, qfz_error *err);

/* Reads a box of a raster of labels (options.is_labels): labels, 0 where there is none.  QFZ_EARG:
 * a label is negative.  Only a raster of narrow labels has labels of 32 bits. */
qfz_status qfz_source_read_labels(qfz_source *source, qfz_box box, qfz_label_grid labels,
                                  qfz_error *err);
bool qfz_source_has_narrow_labels(const qfz_source *source);

/* Where the pixels of a box go, and the function that processes them part by part. */
typedef struct qfz_reading {
    void *pixels; /* is_whole: room for the box; else room for qfz_source_part_px() pixels of each
                     band, which every part overwrites */
    bool is_whole;
    uint8_t *valid; /* for the whole box in either case; NULL as in qfz_source_read() */
    void *arg;      /* of the two functions */
    /* Called before each part unless is_whole; may set *pixels to another buffer.  May be NULL. */
    qfz_status (*room)(void *arg, void **pixels, qfz_error *err);
    /* Called after each part, from the first rows of the box to the last. */
    qfz_status (*came)(void *arg, const qfz_rows *rows, qfz_error *err);
} qfz_reading;

/* Reads a box as qfz_source_read(), in parts of whole rows. */
qfz_status qfz_source_read_rows(qfz_source *source, qfz_box box, const qfz_reading *reading,
                                qfz_error *err);

/* Pixels of a band in the largest part, for boxes of up to h x w pixels. */
int64_t qfz_source_part_px(const qfz_source *source, int64_t h, int64_t w);

/* Bytes of GDAL's block cache that a thread needs to decode no block twice while it reads boxes
 * tile_w pixels wide.  0: as much as there is, because such boxes cut blocks, or may. */
int64_t qfz_source_cache_bytes(const qfz_source *source, int64_t tile_w);

#endif
