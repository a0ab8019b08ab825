/* SPDX-License-Identifier: MIT */
/* nearest.h - what a mistyped word may have meant. */
#ifndef NEAREST_H
#define NEAREST_H

/* Begun with the word alone; name and slips are of the nearest of all that was offered. */
typedef struct nearest {
    const char *word;
    const char *name; /* borrowed; NULL: none is near */
    int slips;
} nearest;

/* Near is what at most two slips of the context make of the word, and no more than half of it: a
 * character too many, too few or wrong, or two neighbours swapped. */
void nearest_offer(nearest *n, const char *name);

#endif
