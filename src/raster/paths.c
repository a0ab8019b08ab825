/* SPDX-License-Identifier: MIT */
#define _LARGEFILE64_SOURCE /* for VSIStatBufL of GDAL */
#include "raster/paths.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <string.h>
#include <sys/stat.h>

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
