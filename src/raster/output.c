/* SPDX-License-Identifier: MIT */
#include "raster/output.h"

#include <cpl_conv.h>
#include <cpl_vsi.h>
#include <errno.h>
#include <gdal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/temp_file.h"
#include "raster/error_trap.h"
#include "raster/file_list.h"
#include "raster/object_store.h"
#include "raster/paths.h"
#include "raster/source_state.h"
#include "raster/temp_output.h"

static qfz_status check_not_in(GDALDatasetH dataset, char ***files, const char *path,
                               qfz_error *err)
{
    bool same = false;
    if (!dataset) return QFZ_OK;
    for (char *const *file = qfz_file_list(dataset, files); file && *file && !same; file++)
        same = qfz_path_is_same_file(path, *file);
    if (same || strcmp(path, GDALGetDescription(dataset)) == 0)
        return qfz_fail(err, QFZ_EARG,
                        "%s: the output would replace an input; name the output otherwise", path);
    return QFZ_OK;
}

static qfz_status check_named_once(const qfz_output_options *options, const char *path,
                                   qfz_error *err)
{
    int n = 0;
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++)
        if (options->names[i] && qfz_path_is_same_name(options->names[i], path)) n++;
    if (n > 1) return qfz_fail(err, QFZ_EARG, "%s: two outputs have this name", path);
    return QFZ_OK;
}

static qfz_status check_free(const qfz_output_options *options, const char *path, qfz_error *err)
{
    QFZ_TRY(qfz_path_check_replaceable(path, err));
    if (!options->overwrite && qfz_path_exists(path))
        return qfz_fail(err, QFZ_EARG, "%s: already exists; use --overwrite", path);
    return QFZ_OK;
}

/* A file of GDAL's virtual file systems is created by GDAL. */
static bool create(const char *temp)
{
    if (strncmp(temp, "/vsi", 4) != 0) {
        const int file = qfz_create_new(temp);
        return file >= 0 && close(file) == 0;
    }
    VSILFILE *const file = VSIFOpenL(temp, "wb");
    return file && VSIFCloseL(file) == 0;
}

/* The folder in which an output for a bucket is made. */
static qfz_status check_stage(const char *path, const char *stage, qfz_error *err)
{
    char *temp = NULL;
    if (!stage || !qfz_object_is(path)) return QFZ_OK;
    QFZ_TRY(qfz_temp_name(&temp, path, "tmp", NULL, stage, err));
    const int file = qfz_create_new(temp);
    const int why = errno;
    if (file >= 0) {
        (void)close(file);
        (void)unlink(temp);
    }
    free(temp);
    if (file >= 0) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO,
                    "%s: it is made in the folder %s before it is uploaded: %s; name another "
                    "folder by TMPDIR or --work",
                    path, stage, strerror(why));
}

static qfz_status check_writable(const char *path, qfz_error *err)
{
    char *temp = NULL;
    qfz_error_trap trap;
    QFZ_TRY(qfz_temp_name(&temp, path, "tmp", NULL, NULL, err));
    qfz_error_trap_begin(&trap);
    errno = 0;
    const bool ok = create(temp);
    const int why = errno;
    (void)VSIUnlink(temp);
    qfz_error_trap_end(&trap);
    free(temp);
    if (ok) return QFZ_OK;
    if (qfz_object_is(path))
        return qfz_object_fail(path, "it cannot be written", trap.failure, err);
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, path,
                               why ? strerror(why) : "its folder is not writable");
}

qfz_status qfz_output_check(qfz_source *source, const qfz_output_options *options, const char *path,
                            qfz_error *err)
{
    if (!path || !path[0]) return qfz_fail(err, QFZ_EARG, "an output has no name");
    QFZ_TRY(qfz_object_check(options, path, err));
    QFZ_TRY(check_named_once(options, path, err));
    QFZ_TRY(check_not_in(source->dataset, &source->files, path, err));
    QFZ_TRY(check_not_in(source->mask_dataset, &source->mask_files, path, err));
    if (source->edges)
        QFZ_TRY(check_not_in(source->edges->dataset, &source->edges->files, path, err));
    QFZ_TRY(check_free(options, path, err));
    QFZ_TRY(check_stage(path, options->stage, err));
    return check_writable(path, err);
}
