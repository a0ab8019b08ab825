/* SPDX-License-Identifier: MIT */
/* source_state.h - the insides of a source, for the files that open and read it. */
#ifndef QFZ_RASTER_SOURCE_STATE_H
#define QFZ_RASTER_SOURCE_STATE_H

#include <gdal.h>

#include "raster/georef.h"
#include "raster/mosaic.h"
#include "raster/scratch.h"
#include "raster/source.h"

typedef struct qfz_band {
    GDALRasterBandH handle;
    int number;        /* 1-based */
    qfz_type type;     /* its own */
    bool signed_bytes; /* GDAL says Byte, but the values are signed */
    bool has_nodata, has_background;
    double nodata, background; /* a value of the type; nodata may be NaN */
} qfz_band;

struct qfz_source {
    qfz_source_options options; /* strings and lists are borrowed, to open the raster once more */
    qfz_source_info info;
    char *name;
    GDALDatasetH dataset;
    GDALDatasetH mask_dataset;  /* of options.mask, or NULL */
    qfz_source *edges;          /* options.edges, or NULL */
    char **files, **mask_files; /* of the two datasets; see qfz_file_list() */
    qfz_georef georef;          /* if is_located */
    bool is_located;

    qfz_band *bands; /* in use; for saliency, one for each direction */
    int n_bands;
    int *numbers; /* of the bands in use, as GDAL takes them */

    GDALRasterBandH *masks; /* alpha bands among them; 0 = invalid */
    int n_masks;

    qfz_mosaic mosaic, mask_mosaic;
    bool knows_blocks;   /* GDAL decodes blocks of the size in info ... */
    bool has_grid;       /* ... which begin at multiples of that size */
    bool is_interleaved; /* bands in use share blocks, or may */

    int connectivity; /* of saliency */

    /* Of a raster of labels: nodata, the bits of the 64-bit number as which labels are read. */
    bool has_no_label;
    uint64_t no_label;

    bool is_reader;  /* see qfz_source_open_reader() */
    bool has_failed; /* the last read did */
    qfz_scratch scratch;
};

/* Closes the raster and opens it again in the same source (source.c), as after a failed read.
 * QFZ_EARG if size or type are no longer the same. */
qfz_status qfz_source_reopen(qfz_source *source, qfz_error *err);

#endif
