/* SPDX-License-Identifier: MIT */
#include "pace.h"

#include <stdio.h>
#include <string.h>

static void begin_step(pace *so_far, const qfz_progress *p, double now_s)
{
    (void)snprintf(so_far->step, sizeof so_far->step, "%s", p->step);
    so_far->step_s = now_s;
    so_far->step_tiles = p->tiles_done;
}

bool pace_is_due(pace *so_far, const qfz_progress *p, double now_s)
{
    if (!so_far->has_begun) {
        so_far->has_begun = true;
        so_far->due_s = so_far->begin_s = now_s;
        so_far->begin_done = p->done;
    }
    if (strcmp(so_far->step, p->step) != 0) begin_step(so_far, p, now_s);
    if (now_s < so_far->due_s + so_far->every_s) return false;
    so_far->due_s = now_s;
    return true;
}

double pace_tiles_per_s(const pace *so_far, const qfz_progress *p, double now_s)
{
    const double seconds = now_s - so_far->step_s;
    return seconds > 0 ? (double)(p->tiles_done - so_far->step_tiles) / seconds : 0;
}

double pace_left_s(const pace *so_far, const qfz_progress *p, double now_s)
{
    const double done = p->done - so_far->begin_done;
    return done > 0 ? (1 - p->done) * (now_s - so_far->begin_s) / done : -1;
}
