/* SPDX-License-Identifier: MIT */
/* output.h - what outputs have in common, rasters and tables: options and checks of their names. */
#ifndef QFZ_RASTER_OUTPUT_H
#define QFZ_RASTER_OUTPUT_H

#include "core/retry.h"
#include "raster/source.h"

enum { QFZ_OUTPUTS_MAX = 8 };

typedef struct qfz_output_options {
    const char *names[QFZ_OUTPUTS_MAX]; /* of all outputs of the run, in any order; NULL: none */
    bool overwrite;                     /* replace an output that exists */
    bool allow_network;                 /* outputs may be objects in buckets (object_store.h) */
    const char *stage;                  /* local folder in which such outputs are made */
    qfz_retry retry;                    /* of reads and writes that fail */
} qfz_output_options;

/* Fails if path is an input or a file of one, exists without `overwrite`, occurs twice among the
 * names, or cannot be created in its folder. */
qfz_status qfz_output_check(qfz_source *source, const qfz_output_options *options, const char *path,
                            qfz_error *err);

#endif
