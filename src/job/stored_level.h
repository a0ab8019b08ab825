/* SPDX-License-Identifier: MIT */
/* stored_level.h - a level of an edge as a saliency raster stores it. */
#ifndef QFZ_STORED_LEVEL_H
#define QFZ_STORED_LEVEL_H

#include <math.h>
#include <string.h>

#include "raster/raster.h"

/* Levels of any type are compared as unsigned integers; IEEE single levels are never negative, so
 * their bits keep the order. */
static const uint64_t qfz_no_level = UINT64_MAX; /* no edge, or no pixel */

/* Value i of raw, as a sink of this type stores levels. */
static inline uint64_t qfz_stored_level(qfz_out_type type, const void *raw, int64_t i)
{
    switch (type) {
    case QFZ_OUT_U8: {
        const uint8_t value = ((const uint8_t *)raw)[i];
        return value == UINT8_MAX ? qfz_no_level : value;
    }
    case QFZ_OUT_U16: {
        const uint16_t value = ((const uint16_t *)raw)[i];
        return value == UINT16_MAX ? qfz_no_level : value;
    }
    case QFZ_OUT_U32: {
        const uint32_t value = ((const uint32_t *)raw)[i];
        return value == UINT32_MAX ? qfz_no_level : value;
    }
    case QFZ_OUT_F32: {
        uint32_t bits;
        if (isnan(((const float *)raw)[i])) return qfz_no_level;
        memcpy(&bits, (const float *)raw + i, sizeof bits);
        return bits;
    }
    default: return ((const uint64_t *)raw)[i];
    }
}

static inline float qfz_level_of_bits(uint64_t bits)
{
    const uint32_t single = (uint32_t)bits;
    float value;
    memcpy(&value, &single, sizeof value);
    return value;
}

#endif
