/* SPDX-License-Identifier: MIT */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "raster/paths.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "raster/text.h"

bool qfz_path_exists(const char *path)
{
    VSIStatBufL found;
    return VSIStatExL(path, &found, VSI_STAT_EXISTS_FLAG) == 0;
}

bool qfz_path_is_folder(const char *path)
{
    VSIStatBufL found;
    return VSIStatExL(path, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
           VSI_ISDIR(found.st_mode);
}

bool qfz_path_is_link(const char *path)
{
    struct stat found;
    return strncmp(path, "/vsi", 4) != 0 && lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

bool qfz_path_is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    if (strcmp(a, b) == 0) return true;
    if (strncmp(a, "/vsi", 4) == 0 || strncmp(b, "/vsi", 4) == 0) return false;
    if (stat(a, &sa) != 0 || stat(b, &sb) != 0) return false;
    return sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

bool qfz_path_is_same_name(const char *a, const char *b)
{
    bool same = strcmp(a, b) == 0;
    if (same || strcmp(CPLGetFilename(a), CPLGetFilename(b)) != 0) return same;
    char *const folder = CPLStrdup(strchr(a, '/') ? CPLGetPath(a) : ".");
    char *const other = CPLStrdup(strchr(b, '/') ? CPLGetPath(b) : ".");
    same = qfz_path_is_same_file(folder, other);
    CPLFree(folder);
    CPLFree(other);
    return same;
}

/* Links of the system, which lead to descriptors and devices; /dev/shm holds files. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 ||
           (strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/shm/", 9) != 0);
}

/* *next = where a symbolic link leads to; NULL: path is no link. */
static qfz_status follow_once(char **next, const char *path, qfz_error *err)
{
    char link[4096];
    const ssize_t n = readlink(path, link, sizeof link - 1);
    *next = NULL;
    if (n < 0) return QFZ_OK;
    link[n] = '\0';
    if (is_of_system(path))
        return qfz_fail(err, QFZ_EARG, "%s: not a regular file; name a file as the output", path);
    const char *const slash = strrchr(path, '/');
    const int folder = link[0] == '/' || !slash ? 0 : (int)(slash - path) + 1;
    return qfz_text_print(next, err, "%.*s%s", folder, path, link);
}

qfz_status qfz_path_follow(char **target, const char *path, qfz_error *err)
{
    enum { MOST_LINKS = 40 };
    char *at = NULL, *next = NULL;
    QFZ_TRY(qfz_text_copy(&at, path, err));
    for (int i = 0; i <= MOST_LINKS && strncmp(at, "/vsi", 4) != 0; i++) {
        const qfz_status st = follow_once(&next, at, err);
        if (st == QFZ_OK && !next) break;
        free(at);
        if (st != QFZ_OK) return st;
        at = next;
        if (i < MOST_LINKS) continue;
        free(at);
        return qfz_fail(err, QFZ_EARG, "%s: too many symbolic links", path);
    }
    *target = at;
    return QFZ_OK;
}

qfz_status qfz_path_check_replaceable(const char *path, qfz_error *err)
{
    VSIStatBufL found;
    if (VSIStatExL(path, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) != 0) return QFZ_OK;
    const mode_t mode = found.st_mode;
    if (S_ISDIR(mode))
        return qfz_fail(err, QFZ_EARG, "%s: a folder has this name; name the output otherwise",
                        path);
    if (S_ISCHR(mode) || S_ISBLK(mode) || S_ISFIFO(mode) || S_ISSOCK(mode))
        return qfz_fail(err, QFZ_EARG, "%s: not a regular file; it cannot be replaced by an output",
                        path);
    return QFZ_OK;
}
