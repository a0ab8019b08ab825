/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* renameat2() */
#include "raster/placement.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "raster/paths.h"

/* File systems that have neither RENAME_NOREPLACE nor hard links: the name is free when it is
 * looked up. */
static int move_if_free(const char *found, const char *target)
{
    if (qfz_path_exists(target)) {
        errno = EEXIST;
        return -1;
    }
    return rename(found, target);
}

static int move_to_free_name(const char *found, const char *target)
{
#ifdef RENAME_NOREPLACE
    if (renameat2(AT_FDCWD, found, AT_FDCWD, target, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return -1;
#endif
    if (link(found, target) == 0) return unlink(found);
    return errno == EEXIST ? -1 : move_if_free(found, target);
}

/* A hard link keeps the old file without a moment in which the name is free. */
static bool back_up(const char *target, const char *backup)
{
    return link(target, backup) == 0 || rename(target, backup) == 0;
}

static int move(const char *found, const char *target, const char *backup, bool overwrite,
                bool *backed_up)
{
    *backed_up = false;
    if (strncmp(target, "/vsi", 4) == 0) {
        errno = EEXIST;
        return !overwrite && qfz_path_exists(target) ? -1 : VSIRename(found, target);
    }
    if (!overwrite) return move_to_free_name(found, target);
    *backed_up = qfz_path_exists(target) && back_up(target, backup);
    return rename(found, target);
}

int qfz_placement_move(qfz_placement *placement, const char *found, const char *target,
                       const char *backup, bool overwrite)
{
    bool backed_up;
    errno = 0;
    const int bad = move(found, target, backup, overwrite, &backed_up);
    const int why = errno ? errno : EIO;
    if (bad && backed_up) (void)rename(backup, target);
    if (bad) return why;
    placement->targets = CSLAddString(placement->targets, target);
    placement->backups = CSLAddString(placement->backups, backed_up ? backup : "");
    return 0;
}

qfz_status qfz_placement_upload(qfz_placement *placement, const char *found, const char *target,
                                qfz_error *err)
{
    if (placement->n_uploads == QFZ_UPLOADS_MAX)
        return qfz_fail(err, QFZ_EARG,
                        "%s: its format writes more than %d files; name a GTiff (.tif)", target,
                        (int)QFZ_UPLOADS_MAX);
    QFZ_TRY(qfz_upload_send(&placement->uploads[placement->n_uploads], found, target,
                            &placement->retry, placement->advance, placement->arg, err));
    placement->n_uploads++;
    return QFZ_OK;
}

static void forget(qfz_placement *placement)
{
    for (int i = 0; i < placement->n_uploads; i++)
        qfz_upload_close(placement->uploads[i]);
    CSLDestroy(placement->targets);
    CSLDestroy(placement->backups);
    CSLDestroy(placement->stale);
    *placement = (qfz_placement){0};
}

/* A file or a folder. */
static void delete_one(const char *path)
{
    if (VSIUnlink(path) != 0) (void)VSIRmdirRecursive(path);
}

qfz_status qfz_placement_settle(qfz_placement *placement, qfz_error *err)
{
    for (char **stale = placement->stale; stale && *stale; stale++)
        (void)VSIUnlink(*stale);
    for (int i = 0; i < placement->n_uploads; i++)
        QFZ_TRY(qfz_upload_complete(placement->uploads[i], err));
    for (char **backup = placement->backups; backup && *backup; backup++)
        if (**backup) delete_one(*backup);
    forget(placement);
    return QFZ_OK;
}

void qfz_placement_take_back(qfz_placement *placement)
{
    for (int i = CSLCount(placement->targets); i-- > 0;) {
        const char *const target = placement->targets[i], *const backup = placement->backups[i];
        if (!*backup || rename(backup, target) != 0) delete_one(target);
    }
    forget(placement);
}
