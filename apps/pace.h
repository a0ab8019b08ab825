/* SPDX-License-Identifier: MIT */
/* pace.h - how fast a job goes, and when its next line or file of progress is due.  Times are
 * seconds of a monotonic clock. */
#ifndef PACE_H
#define PACE_H

#include "qfz.h"

typedef struct pace {
    double every_s; /* the interval of what is due */
    bool has_begun;
    double due_s;               /* time of what was last due; before it, of the first report */
    double begin_s, begin_done; /* time and share done of the first report */
    char step[32];              /* step of the last report ... */
    double step_s;              /* ... time of its first report */
    int64_t step_tiles;         /* ... tiles done in its first report */
} pace;

/* Takes one report; returns true if the interval has passed.  Starts as {.every_s = S}. */
bool pace_is_due(pace *so_far, const qfz_progress *progress, double now_s);

/* Tiles per second since the step began; 0 if unknown. */
double pace_tiles_per_s(const pace *so_far, const qfz_progress *progress, double now_s);

/* Seconds until the job ends, extrapolated from the progress since the first report, so that work
 * of an earlier run does not count; negative if unknown. */
double pace_left_s(const pace *so_far, const qfz_progress *progress, double now_s);

#endif
