/* SPDX-License-Identifier: MIT */
/* mosaic.h - VRTs as inputs: their blocks, and how they can be read. */
#ifndef QFZ_RASTER_MOSAIC_H
#define QFZ_RASTER_MOSAIC_H

#include <gdal.h>

#include "core/status.h"

typedef struct qfz_mosaic {
    bool is_vrt;
    bool is_plain;            /* places parts of TIFFs by pixels and does nothing else */
    int64_t block_w, block_h; /* of all parts of a plain VRT; 0: unknown, or not the same */
    bool has_grid;            /* all blocks of all parts begin at multiples of block_w, block_h */
    bool resamples;           /* this VRT, or one that it names; see qfz_vrt_resamples() */
} qfz_mosaic;

/* Facts of a dataset; all zero if it is not a VRT.  Fails as qfz_vrt_check_nesting(). */
qfz_status qfz_mosaic_init(qfz_mosaic *mosaic, GDALDatasetH dataset, qfz_error *err);

/* Between the two calls GDAL opens files in this thread without reading their georeference, which
 * a plain mosaic does not need. */
void qfz_mosaic_begin_read(void);
void qfz_mosaic_end_read(void);

#endif
