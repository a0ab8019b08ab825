/* SPDX-License-Identifier: MIT */
/* spanning.h - which edges of a sorted list join two sets. */
#ifndef QFZ_CPU_SPANNING_H
#define QFZ_CPU_SPANNING_H

#include "cpu/block.h"

/* Every one of n nodes, which edges have for pixels, is alone. */
void qfz_spanning_start(uint16_t *find, uint32_t n);

/* Keeps the edges that join two sets, with the sets' roots for pixels, p being the one that stays a
 * root, and all loops, with the root; returns how many. */
int32_t qfz_spanning_keep(uint16_t *find, uint64_t *edges, int32_t n_edges);

#endif
