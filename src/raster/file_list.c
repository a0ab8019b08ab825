/* SPDX-License-Identifier: MIT */
#include "raster/file_list.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <string.h>

#include "raster/error_trap.h"

static bool is_listed(char **files, int n, const char *file)
{
    for (int i = 0; i < n; i++)
        if (strcmp(files[i], file) == 0) return true;
    return false;
}

/* Appends the files that the VRT files[i] names: GDAL lists the files of a VRT, but not the files
 * of VRTs among them. */
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
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    char **files = dataset ? GDALGetFileList(dataset) : NULL;
    for (int i = 0; files && files[i]; i++)
        if (EQUAL(CPLGetExtension(files[i]), "vrt") && !is_listed(files, i, files[i]) &&
            strcmp(files[i], GDALGetDescription(dataset)) != 0)
            files = add_named(files, i);
    qfz_error_trap_end(&trap);
    return files;
}

char *const *qfz_file_list(GDALDatasetH dataset, char ***list)
{
    if (!*list) *list = list_files(dataset);
    return *list;
}
