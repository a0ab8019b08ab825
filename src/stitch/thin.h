/* SPDX-License-Identifier: MIT */
/* thin.h - the range events of a tile without redundant ones.
 *
 * A component that joins the component of a ring pixel at a later level has all values that the
 * pixel took in before.  So only events that widen the range of their pixel count, and events of
 * one pixel and level are merged. */
#ifndef QFZ_STITCH_THIN_H
#define QFZ_STITCH_THIN_H

#include "core/summary.h"

/* *ranges replaces summary->ranges; the caller releases it with qfz_ranges_fini(). */
qfz_status qfz_thin_ranges(const qfz_summary *summary, const qfz_rule *rule, qfz_ranges *ranges,
                           qfz_error *err);

#endif
