/* SPDX-License-Identifier: MIT */
/* thin.h - a tile's events without those that say nothing new.
 *
 * Whatever joins a ring pixel's component later has all that the pixel has taken in before.  So of
 * one pixel those events count that widen its own range, and of one level they are one event. */
#ifndef QFZ_STITCH_THIN_H
#define QFZ_STITCH_THIN_H

#include "core/summary.h"

/* *ranges: new ones in the summary's place, to be released by qfz_ranges_fini(). */
qfz_status qfz_thin_ranges(const qfz_summary *summary, const qfz_rule *rule, qfz_ranges *ranges,
                           qfz_error *err);

#endif
