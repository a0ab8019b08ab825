/* SPDX-License-Identifier: MIT */
/* nearest.h - the known word nearest to a mistyped word, by the restricted edit distance. */
#ifndef NEAREST_H
#define NEAREST_H

/* Starts as {.word = WORD}. */
typedef struct nearest {
    const char *word;
    const char *name; /* the nearest of the names offered so far, borrowed; NULL: none is near */
    int slips;        /* its distance from word */
} nearest;

/* Keeps the name if it is nearer than all names before it.  A name is near if at most two slips
 * turn the word into it, and at most one for every two characters of the word.  A slip is one
 * character too many, too few or wrong, or two neighbouring characters swapped. */
void nearest_offer(nearest *n, const char *name);

#endif
