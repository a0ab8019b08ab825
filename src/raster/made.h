/* SPDX-License-Identifier: MIT */
/* made.h - a raster that qfz made, read back: its metadata and its values. */
#ifndef QFZ_RASTER_MADE_H
#define QFZ_RASTER_MADE_H

#include "core/box.h"
#include "core/retry.h"
#include "raster/sink_spec.h"

typedef struct qfz_made qfz_made; /* used by one thread at a time */

/* Size, and the metadata of sink_spec.h as far as the raster has any. */
typedef struct qfz_made_facts {
    int64_t w, h;
    int64_t block_h; /* rows of a block */
    int n_bands;
    bool has_content;
    qfz_content content;
    qfz_layout layout;
    int connectivity; /* 0: not stated */
    bool has_distance, has_alpha;
    qfz_distance distance;
    double alpha;
    double *weights, *omega; /* owned by the raster */
    int n_weights, n_omega;
    uint64_t min_area;
    double min_area_m2;
} qfz_made_facts;

/* QFZ_EIO: GDAL cannot open it, or it has no bands.  QFZ_EARG: metadata of qfz that cannot be
 * understood. */
qfz_status qfz_made_open(qfz_made **made, const char *name, bool allow_network, qfz_retry retry,
                         qfz_error *err);
void qfz_made_close(qfz_made *made); /* NULL is allowed */

const qfz_made_facts *qfz_made_get_facts(const qfz_made *made);

/* From pixels to coordinates; the identity without a geotransform. */
void qfz_made_get_transform(const qfz_made *made, double transform[6]);

/* Reads a box of a band (from 0) as doubles, NaN where the band has its declared nodata value.
 * Whole numbers up to 2^53 are exact. */
qfz_status qfz_made_read(qfz_made *made, int band, qfz_box box, double *values, qfz_error *err);

#endif
