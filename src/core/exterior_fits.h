/* SPDX-License-Identifier: MIT */
/* exterior_fits.h - whether an exterior is of the pixels of a tile: the source may have changed
 * since the exterior was made. */
#ifndef QFZ_EXTERIOR_FITS_H
#define QFZ_EXTERIOR_FITS_H

#include "core/summary.h"

#ifdef __cplusplus
extern "C" {
#endif

/* QFZ_EIO if the exterior says something of a ring pixel that is invalid in the tile, or is of
 * another ring. */
qfz_status qfz_exterior_fits(const qfz_exterior *exterior, const qfz_image *tile, qfz_error *err);

#ifdef __cplusplus
}
#endif

#endif
