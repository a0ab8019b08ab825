/* SPDX-License-Identifier: MIT */
/* placement.h - finished files that are moved or uploaded to their final names, and that can be
 * taken back.
 *
 * Outputs of one job appear together: all of them are moved, and only then are the files that they
 * replaced deleted.  If a later move fails, the earlier ones are taken back. */
#ifndef QFZ_RASTER_PLACEMENT_H
#define QFZ_RASTER_PLACEMENT_H

#include "raster/upload.h"

enum { QFZ_UPLOADS_MAX = 16 }; /* files of one output, side files included */

/* Begin with all members 0, except those that an upload needs. */
typedef struct qfz_placement {
    char **targets, **backups; /* string lists of GDAL; a backup "" means: nothing was replaced */
    char **stale; /* side files of the object that is replaced; a string list of GDAL */
    qfz_upload *uploads[QFZ_UPLOADS_MAX];
    int n_uploads;
    qfz_retry retry;        /* of uploads */
    qfz_advance_fn advance; /* share of an upload; NULL: none */
    void *arg;
} qfz_placement;

/* Moves a file, or the folder of a format that writes folders.  overwrite false: fails with EEXIST
 * if target exists, also if another process makes it at the same moment.  overwrite true: an
 * existing target is kept under the name backup until the placement is settled.  Returns 0 or
 * errno. */
int qfz_placement_move(qfz_placement *placement, const char *found, const char *target,
                       const char *backup, bool overwrite);

/* Uploads a file to an object in a bucket, which appears when the placement is settled. */
qfz_status qfz_placement_upload(qfz_placement *placement, const char *found, const char *target,
                                qfz_error *err);

/* Completes uploads, after deleting stale side files, and deletes what was replaced.  QFZ_EIO if an
 * upload cannot be completed; then take_back() follows. */
qfz_status qfz_placement_settle(qfz_placement *placement, qfz_error *err);

/* Deletes the moved files and restores what they replaced; objects that are not complete do not
 * appear. */
void qfz_placement_take_back(qfz_placement *placement);

#endif
