/* SPDX-License-Identifier: MIT */
/* vrt_nesting.h - VRTs that name other VRTs. */
#ifndef QFZ_RASTER_VRT_NESTING_H
#define QFZ_RASTER_VRT_NESTING_H

#include "core/status.h"

/* QFZ_EIO if the VRT of that name and text leads back to itself through VRTs that it names, or if
 * the nesting is deeper than 64.  Sets *resamples if one of these VRTs resamples (vrt_text.h);
 * leaves it alone otherwise. */
qfz_status qfz_vrt_check_nesting(const char *vrt, const char *text, bool *resamples,
                                 qfz_error *err);

#endif
