/* SPDX-License-Identifier: MIT */
/* format.h - how a raster will be written: driver, type and creation options. */
#ifndef QFZ_RASTER_FORMAT_H
#define QFZ_RASTER_FORMAT_H

#include <gdal.h>

#include "raster/sink_spec.h"

typedef struct qfz_format {
    GDALDriverH driver;
    bool copies;              /* the driver can only copy: a GTiff is written first */
    GDALDataType file_type;   /* of the bands */
    GDALDataType buffer_type; /* of the pixels that the caller writes */
    double most; /* largest whole number that NBITS leaves; INFINITY: no limit by NBITS */
    qfz_overviews overviews; /* that the GTiff gets, which is the file or is copied to it */
    char **options;          /* of driver; owned */
    char **work_options;     /* if copies: of the GTiff; owned */
} qfz_format;

/* QFZ_EARG: an unknown format, type or option; a type that cannot hold spec->max_value; an option
 * that changes values. */
qfz_status qfz_format_init(qfz_format *format, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err);
void qfz_format_fini(qfz_format *format); /* a zeroed format is allowed */

#endif
