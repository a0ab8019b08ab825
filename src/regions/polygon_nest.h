/* SPDX-License-Identifier: MIT */
/* polygon_nest.h - which exterior each hole of a label belongs to. */
#ifndef QFZ_REGIONS_POLYGON_NEST_H
#define QFZ_REGIONS_POLYGON_NEST_H

#include "regions/polygon.h"

/* Sets rings[].exterior, given first, n and pixels of all rings of one label. */
qfz_status qfz_polygon_nest(qfz_polygon_ring *rings, int64_t n_rings,
                            const qfz_polygon_corner *corners, qfz_error *err);

#endif
