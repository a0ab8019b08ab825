/* SPDX-License-Identifier: MIT */
/* spanning.h - the edges of a sorted list that join two sets: the sets of Kruskal's algorithm. */
#ifndef QFZ_CPU_SPANNING_H
#define QFZ_CPU_SPANNING_H

#include "cpu/block.h"

/* Makes n sets of one node each; find has n elements. */
void qfz_spanning_start(uint16_t *find, uint32_t n);

/* Keeps the edges that join two sets, and all loops and leaves; returns their number.  The pixels
 * of a kept edge become the roots of its two sets; p remains a root.  Pixel p of a loop or a leaf
 * becomes its root.  has_leaves: false if there are none, which takes less time. */
int32_t qfz_spanning_keep(uint16_t *find, uint64_t *edges, int32_t n_edges, bool has_leaves);

#endif
