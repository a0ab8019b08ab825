/* SPDX-License-Identifier: MIT */
/* source.h - a raster that is read: its options, its facts, opening and closing. */
#ifndef QFZ_RASTER_SOURCE_H
#define QFZ_RASTER_SOURCE_H

#include "core/level.h"
#include "core/retry.h"

typedef struct qfz_source qfz_source; /* used by one thread at a time */

/* Which pixels of which raster are read.  Zeroed: all bands except alpha, nodata as declared by the
 * raster, no background, reads are not repeated. */
typedef struct qfz_source_options {
    const char *name;                /* any GDAL dataset name */
    const char *const *open_options; /* KEY=VALUE, NULL-terminated; or NULL */
    const int *bands;                /* 1-based, in order; NULL: every band except alpha */
    int n_bands;
    const char *mask; /* name of a raster of the same size, 0 = invalid; or NULL */
    bool has_nodata;  /* nodata replaces the declared values; a value that the type of a band cannot
                         hold belongs to no pixel of the band */
    double nodata;
    qfz_nodata_rule nodata_rule;
    bool has_background; /* a pixel with this value in every band is invalid */
    double background;
    bool is_saliency; /* the raster holds saliency in layout edges, which is cut at level alpha */
    bool any_edges;   /* is_saliency: any levels of edges, without the metadata of qfz */
    double alpha;
    const double *alphas; /* is_saliency: cut at each of n_alphas levels, instead of alpha */
    int64_t n_alphas;
    bool is_labels;    /* the raster holds labels: integers of any type in one band; read by
                          qfz_source_read_labels() only */
    const char *edges; /* name of a raster of the same size, whose bands are levels of edges; or
                          NULL */
    qfz_retry retry;   /* of reads that fail */
    bool allow_network;
} qfz_source_options;

typedef struct qfz_source_info {
    int64_t w, h;
    int n_bands;              /* in use; 1 for saliency */
    int n_planes;             /* that are read: n_bands, or options.n_alphas */
    qfz_type type;            /* the smallest type that holds the type of every band in use */
    int64_t block_w, block_h; /* of the file; of its parts, for a VRT whose parts have one size */
    int64_t px_bytes;         /* of a pixel in all bands that are decoded together, as stored */
    bool may_be_invalid;      /* false: every pixel is valid */
    bool has_nodata; /* all bands in use have one nodata value, which painted outputs get */
    double nodata;
    int edges_connectivity; /* options.edges: 4 or 8; 0: there is none */
    bool edges_are_float;
    uint32_t max_edge; /* largest level that the type of options.edges holds */
    int64_t
        beside_block_bytes; /* of a block of each other raster that is read with it: masks, edges */
    int64_t table_bytes;    /* of a reader's tables of blocks, at most */
} qfz_source_info;

/* Opens a raster, after qfz_network_check().  The source borrows the strings and lists of options
 * until it is closed.
 *
 * QFZ_EIO: GDAL cannot open it, or it has no bands.  QFZ_EARG: a band that does not exist; Float64,
 * complex and 64-bit integer bands (the message says how to convert them); a mask of another size;
 * with is_saliency, a raster that is not saliency in layout edges; with is_labels, another type
 * than integers, or several bands; edges of another size, or with
 * another number of bands than 2 or 4. */
qfz_status qfz_source_open(qfz_source **source, const qfz_source_options *options, qfz_error *err);

/* Reads the georeference, which takes some 10 ms.  Called once before the first area is computed or
 * a table is created; later calls do nothing. */
qfz_status qfz_source_locate(qfz_source *source, qfz_error *err);

/* Opens the raster of `source` once more, for a thread that only reads pixels.  A reader has no
 * georeference and takes the analysis of a mosaic from source: both would make threads wait for
 * each other. */
qfz_status qfz_source_open_reader(qfz_source **reader, const qfz_source *source, qfz_error *err);

void qfz_source_close(qfz_source *source); /* NULL is allowed */

const qfz_source_info *qfz_source_get_info(const qfz_source *source);

/* What GDAL holds for a thread that reads such a raster: blocks, and as much again for their
 * compressed bytes or for the next blocks. */
int64_t qfz_source_reader_bytes(const qfz_source_info *info);

/* The number of a band in use, from 0, in the file, from 1. */
int qfz_source_band_number(const qfz_source *source, int band);

/* rgb = the bands in use, from 0, that a picture shows as red, green and blue: those of these
 * colours, else the third, second and first of at least four, the three, or the first thrice. */
void qfz_source_picture_bands(const qfz_source *source, int rgb[3]);

/* With is_saliency: 4 or 8.  Of any other raster: 0. */
int qfz_source_connectivity(const qfz_source *source);

#endif
