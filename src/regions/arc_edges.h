/* SPDX-License-Identifier: MIT */
/* arc_edges.h - which corners of a tile have border edges. */
#ifndef QFZ_REGIONS_ARC_EDGES_H
#define QFZ_REGIONS_ARC_EDGES_H

#include "regions/arc.h"

/* Sets QFZ_ARC_EDGES of all corners of a tile of w x h pixels, and clears their other bits.
 * labels: as qfz_arcs_trace(). */
qfz_status qfz_arcs_find_edges(qfz_arcs *arcs, int64_t w, int64_t h, qfz_label_grid labels,
                               qfz_error *err);

#endif
