/* SPDX-License-Identifier: MIT */
/* out_type.h - pixel types of outputs. */
#ifndef QFZ_RASTER_OUT_TYPE_H
#define QFZ_RASTER_OUT_TYPE_H

#include <stddef.h>

#include "qfz.h"

/* Wider than qfz_type: labels may need 64 bits. */
typedef enum qfz_out_type {
    QFZ_OUT_U8 = 0,
    QFZ_OUT_I8,
    QFZ_OUT_U16,
    QFZ_OUT_I16,
    QFZ_OUT_U32,
    QFZ_OUT_I32,
    QFZ_OUT_U64,
    QFZ_OUT_F32,
    QFZ_OUT_F64
} qfz_out_type;

size_t qfz_out_type_bytes(qfz_out_type type);
qfz_out_type qfz_out_type_of(qfz_type type);

#endif
