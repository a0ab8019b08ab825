/* SPDX-License-Identifier: MIT */
/* curve.h - the curve of a raster, from the joins of its minimum spanning forest. */
#ifndef QFZ_JOB_CURVE_H
#define QFZ_JOB_CURVE_H

#include "job/run.h"

/* Sets run->curve and run->count.total, its first number.  The joins have been added, and every
 * tile's number of valid pixels is known.  Collective. */
qfz_status qfz_curve_find(qfz_run *run, qfz_error *err);

#endif
