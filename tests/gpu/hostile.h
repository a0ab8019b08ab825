/* SPDX-License-Identifier: MIT */
/* hostile.h - random and hostile rasters (property/rasters.h) for tests in CUDA C++, which cannot
 * include that C header. */
#ifndef QFZ_TEST_HOSTILE_H
#define QFZ_TEST_HOSTILE_H

#include "qfz.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hostile {
    qfz_image image; /* has a mask */
    char what[160];  /* describes the raster */
} hostile;

/* Raster `number` of a seed, at most side x side; type < 0: any. */
void hostile_make(hostile *made, uint64_t seed, int64_t number, int64_t side, int type,
                  int max_bands);
void hostile_free(hostile *made);

#ifdef __cplusplus
}
#endif

#endif
