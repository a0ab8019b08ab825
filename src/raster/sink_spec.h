/* SPDX-License-Identifier: MIT */
/* sink_spec.h - what a raster to be written holds, and how it is written. */
#ifndef QFZ_RASTER_SINK_SPEC_H
#define QFZ_RASTER_SINK_SPEC_H

#include "raster/out_type.h"
#include "raster/output.h"

/* What the pixels mean; decides on metadata, names of bands and georeference. */
typedef enum qfz_content {
    QFZ_CONTENT_LABELS = 0, /* UInt32 or UInt64, nodata 0 */
    QFZ_CONTENT_PAINTED,    /* the source's type, bands and nodata */
    QFZ_CONTENT_SALIENCY,   /* in the layout of the spec */
    QFZ_CONTENT_COLORS      /* Byte, nodata 0, with a colour table */
} qfz_content;

/* An output is written whole, by one process, or in parts of whole rows, by one or several
 * processes.  A part is a GTiff in a hidden folder beside path.  A VRT is always written in parts;
 * another format only if the parts are merged in the end. */
typedef struct qfz_sink_spec {
    const char *path;
    qfz_content content;
    int64_t w, h;
    int n_bands;
    qfz_out_type type; /* of the pixels that the caller writes; the file's type may differ */
    double max_value;  /* largest value that will be written */
    bool has_nodata;
    double nodata; /* NaN is allowed */
    bool has_mask; /* the caller gives validity, which becomes a mask band */

    const uint8_t (*palette)[4]; /* QFZ_CONTENT_COLORS: 256 times red, green, blue and opacity;
                                    borrowed */

    /* Written as metadata. */
    int connectivity;
    bool of_edges; /* levels came from a raster of edges, not by distance and weights */
    qfz_distance distance;
    const double *weights; /* n_weights: the number of bands, or 0; borrowed */
    int n_weights;
    qfz_layout layout; /* of QFZ_CONTENT_SALIENCY */
    double alpha;      /* of other contents; infinity: no limit */
    const double
        *omega; /* of other contents; one, or one for each band, borrowed; n_omega = 0: no limit */
    int n_omega;
    uint64_t min_area;  /* least area of a region in pixels, 0: not in pixels; */
    double min_area_m2; /* in square metres, 0: not in square metres */

    /* The part to be written.  n_parts = 0: the whole raster. */
    int part, n_parts; /* 0 <= part < n_parts */
    int64_t y0, y1;    /* rows y0..y1 of h, y0 < y1 */
} qfz_sink_spec;

typedef struct qfz_sink_options {
    qfz_output_options output;
    const char *format;                  /* GDAL driver; NULL: by extension, else GTiff */
    const char *type;                    /* of the file, GDAL's name; NULL: that of the spec */
    const char *const *creation_options; /* KEY=VALUE, NULL-terminated; or NULL */
    bool merge;                          /* parts are merged into one file */
    qfz_overviews overviews;
    int n_threads;    /* of the driver; 0: one for each processor */
    int32_t tile_px;  /* side of the boxes that will be written; 0: not fixed */
    bool has_journal; /* a killed run of the same job may have left files beside the output */
} qfz_sink_options;

#endif
