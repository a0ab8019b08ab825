/* SPDX-License-Identifier: MIT */
/* placement.h - finished files that are moved to their final names, and that can be taken back.
 *
 * Outputs of one job appear together: all of them are moved, and only then are the files that they
 * replaced deleted.  If a later move fails, the earlier ones are taken back. */
#ifndef QFZ_RASTER_PLACEMENT_H
#define QFZ_RASTER_PLACEMENT_H

#include "core/status.h"

/* Begin with all members 0. */
typedef struct qfz_placement {
    char **targets, **backups; /* string lists of GDAL; a backup "" means: nothing was replaced */
} qfz_placement;

/* Moves a file, or the folder of a format that writes folders.  overwrite false: fails with EEXIST
 * if target exists, also if another process makes it at the same moment.  overwrite true: an
 * existing target is kept under the name backup until the placement is settled.  Returns 0 or
 * errno. */
int qfz_placement_move(qfz_placement *placement, const char *found, const char *target,
                       const char *backup, bool overwrite);

/* Deletes what was replaced. */
void qfz_placement_settle(qfz_placement *placement);

/* Deletes the moved files and restores what they replaced. */
void qfz_placement_take_back(qfz_placement *placement);

#endif
