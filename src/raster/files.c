/* SPDX-License-Identifier: MIT */
/* files.c - the files that a raster is read from.  GDAL lists those that a VRT names, but not what
 * VRTs among them name in turn. */
#define _LARGEFILE64_SOURCE /* GDAL's VSIStatBufL is made of it */
#include "raster/private.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

static bool is_listed(char **files, int n, const char *file)
{
    for (int i = 0; i < n; i++)
        if (strcmp(files[i], file) == 0) return true;
    return false;
}

/* What the file at i, a VRT, names is added at the end of the list. */
static char **add_named(char **files, int i)
{
    const GDALDatasetH vrt =
        GDALOpenEx(files[i], GDAL_OF_RASTER | GDAL_OF_READONLY, NULL, NULL, NULL);
    if (!vrt) return files;
    char **const named = GDALGetFileList(vrt);
    files = CSLInsertStrings(files, -1, named);
    CSLDestroy(named);
    GDALClose(vrt);
    return files;
}

static char **list_files(GDALDatasetH dataset)
{
    qfz_trap trap;
    qfz_trap_begin(&trap);
    char **files = dataset ? GDALGetFileList(dataset) : NULL;
    for (int i = 0; files && files[i]; i++)
        if (EQUAL(CPLGetExtension(files[i]), "vrt") && !is_listed(files, i, files[i]) &&
            strcmp(files[i], GDALGetDescription(dataset)) != 0)
            files = add_named(files, i);
    qfz_trap_end(&trap);
    return files;
}

char *const *qfz_files_of(GDALDatasetH dataset, char ***known)
{
    if (!*known) *known = list_files(dataset);
    return *known;
}

bool qfz_raster_exists(const char *path)
{
    VSIStatBufL found;
    return VSIStatExL(path, &found, VSI_STAT_EXISTS_FLAG) == 0;
}
