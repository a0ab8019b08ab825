/* SPDX-License-Identifier: MIT */
/* level_bytes.h - how wide the levels of a group's joins are, where an engine has stitched the
 * group and reports links alone. */
#ifndef QFZ_STITCH_LEVEL_BYTES_H
#define QFZ_STITCH_LEVEL_BYTES_H

#include "stitch/group.h"

/* *bytes = qfz_level_bytes() of the largest level of a join of the group's minimum spanning forest
 * that no link stands for.  ring_vertex: of the group's ring; links: of the group's summary, or
 * NULL for the whole raster, which has none. */
qfz_status qfz_group_level_bytes(const qfz_group *group, const uint32_t *ring_vertex,
                                 const qfz_links *links, int32_t *bytes, qfz_error *err);

#endif
