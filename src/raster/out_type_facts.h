/* SPDX-License-Identifier: MIT */
/* out_type_facts.h - pixel types of outputs, as GDAL has them. */
#ifndef QFZ_RASTER_OUT_TYPE_FACTS_H
#define QFZ_RASTER_OUT_TYPE_FACTS_H

#include <gdal.h>

#include "raster/out_type.h"

typedef struct qfz_out_type_facts {
    const char *name; /* GDAL's */
    qfz_out_type type;
    size_t bytes;
    bool is_float;
    double lo, hi; /* every whole number from lo to hi has an exact value */
} qfz_out_type_facts;

const qfz_out_type_facts *qfz_out_type_get_facts(qfz_out_type type);

/* By GDAL's name, in upper or lower case; NULL: unknown. */
const qfz_out_type_facts *qfz_out_type_find(const char *name);

/* GDAL's type of a buffer; GDT_Byte for signed bytes if this GDAL has no Int8, GDT_Unknown if this
 * GDAL lacks the type. */
GDALDataType qfz_gdal_type(qfz_out_type type);

#endif
