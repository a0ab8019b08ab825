/* SPDX-License-Identifier: MIT */
#include "raster/part_folder.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raster/error_trap.h"
#include "raster/object_store.h"
#include "raster/output_format.h"
#include "raster/paths.h"
#include "raster/text.h"

/* Names are made without allocations: when memory is short, parts are deleted. */
enum { FOLDER_BYTES = 8192 };

static bool name_shown(char folder[FOLDER_BYTES], const char *path)
{
    const size_t n = strlen(path) - (EQUAL(CPLGetExtension(path), "vrt") ? 4 : 0);
    return snprintf(folder, FOLDER_BYTES, "%.*s.parts", (int)n, path) < FOLDER_BYTES;
}

static bool name_hidden(char folder[FOLDER_BYTES], const char *path)
{
    const char *const slash = strrchr(path, '/');
    const int n = slash ? (int)(slash - path) + 1 : 0;
    if (qfz_object_is(path)) return name_shown(folder, path);
    return snprintf(folder, FOLDER_BYTES, "%.*s.%s.qfz-parts", n, path, path + n) < FOLDER_BYTES;
}

static qfz_status copy_name(char **copy, bool fits, const char *folder, const char *path,
                            qfz_error *err)
{
    if (!fits) return qfz_fail(err, QFZ_EARG, "%s: the name is too long", path);
    return qfz_text_copy(copy, folder, err);
}

qfz_status qfz_part_folder_hidden(char **folder, const char *path, qfz_error *err)
{
    char name[FOLDER_BYTES];
    return copy_name(folder, name_hidden(name, path), name, path, err);
}

qfz_status qfz_part_folder_shown(char **folder, const char *path, qfz_error *err)
{
    char name[FOLDER_BYTES];
    return copy_name(folder, name_shown(name, path), name, path, err);
}

/* The name of a part in its folder; parts are counted from 1 here. */
static qfz_status name_in_folder(char **name, const char *path, int part, int n_parts,
                                 qfz_error *err)
{
    const int digits = n_parts < 1000 ? 3 : 6;
    return qfz_text_print(name, err, "%s-%0*d-of-%0*d.tif", CPLGetBasename(path), digits, part + 1,
                          digits, n_parts);
}

qfz_status qfz_part_path_in(char **path, const char *folder, const qfz_sink_spec *spec, int part,
                            qfz_error *err)
{
    char *name = NULL;
    QFZ_TRY(name_in_folder(&name, spec->path, part, spec->n_parts, err));
    const qfz_status st = qfz_text_print(path, err, "%s/%s", folder, name);
    free(name);
    return st;
}

qfz_status qfz_part_path(char **path, const qfz_sink_spec *spec, qfz_error *err)
{
    char *folder = NULL;
    QFZ_TRY(qfz_part_folder_hidden(&folder, spec->path, err));
    const qfz_status st = qfz_part_path_in(path, folder, spec, spec->part, err);
    free(folder);
    return st;
}

qfz_status qfz_part_path_first(char **path, const qfz_sink_spec *spec, const int64_t *rows,
                               qfz_error *err)
{
    qfz_sink_spec first = *spec;
    for (first.part = 0; rows[first.part] == rows[first.part + 1];)
        first.part++;
    return qfz_part_path(path, &first, err);
}

qfz_status qfz_part_folder_make(const qfz_sink_spec *spec, qfz_error *err)
{
    char *folder = NULL;
    qfz_error_trap trap;
    if (qfz_object_is(spec->path)) return QFZ_OK;
    QFZ_TRY(qfz_part_folder_hidden(&folder, spec->path, err));
    qfz_error_trap_begin(&trap);
    const bool ok = VSIMkdir(folder, 0777) == 0 ||
                    /* another process may have made it */
                    (qfz_path_is_folder(folder) && !qfz_path_is_link(folder));
    qfz_error_trap_end(&trap);
    free(folder);
    if (ok) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, spec->path,
                               "the folder for its parts could not be made");
}

qfz_status qfz_part_folder_check(const qfz_sink_options *options, const qfz_sink_spec *spec,
                                 qfz_error *err)
{
    char *folder = NULL;
    if (!qfz_output_is_vrt(options->format, spec->path)) {
        if (options->merge && qfz_object_is(spec->path))
            return qfz_fail(err, QFZ_EARG,
                            "%s: parts in a bucket are not merged; name the output .vrt, or a "
                            "local file",
                            spec->path);
        if (options->merge) return QFZ_OK;
        return qfz_fail(
            err, QFZ_EARG,
            "%s: several processes write a VRT over their parts; name the output .vrt, or "
            "add --merge for one file",
            spec->path);
    }
    if (options->merge)
        return qfz_fail(err, QFZ_EARG,
                        "%s: a VRT is not merged; leave --merge out, or name a file, as .tif",
                        spec->path);
    QFZ_TRY(qfz_part_folder_shown(&folder, spec->path, err));
    const bool taken = qfz_path_is_folder(folder) && !options->output.overwrite;
    const qfz_status st =
        taken ? qfz_fail(err, QFZ_EARG,
                         "%s: the folder %s for its parts already exists; use --overwrite",
                         spec->path, folder)
              : QFZ_OK;
    free(folder);
    return st;
}

/* True for a part of path, a side file of a part, and a temporary file of a part. */
static bool is_part(const char *name, const char *path, int *n_parts)
{
    const char *const stem = CPLGetBasename(path);
    const size_t n = strlen(stem);
    int part = 0;
    if (name[0] == '.') name++;
    return strncmp(name, stem, n) == 0 && sscanf(name + n, "-%d-of-%d.", &part, n_parts) == 2;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Deletes the parts of path, but not those of n_to_keep parts; the first one first. */
static void delete_parts(const char *folder, const char *path, int n_to_keep)
{
    char **const names = VSIReadDir(folder);
    int n_parts;
    if (names) qsort(names, (size_t)CSLCount(names), sizeof *names, compare_names);
    for (char **name = names; name && *name; name++)
        if (is_part(*name, path, &n_parts) && n_parts != n_to_keep)
            (void)VSIUnlink(CPLSPrintf("%s/%s", folder, *name));
    CSLDestroy(names);
}

char *qfz_part_folder_stranger(const char *folder, const char *path)
{
    char **const names = VSIReadDir(folder), *stranger = NULL;
    int n_parts;
    for (char **name = names; name && *name && !stranger; name++)
        if (!EQUAL(*name, ".") && !EQUAL(*name, "..") && !is_part(*name, path, &n_parts))
            stranger = CPLStrdup(*name);
    CSLDestroy(names);
    return stranger;
}

void qfz_part_folder_delete(const char *folder, const char *path)
{
    delete_parts(folder, path, 0);
    (void)VSIRmdir(folder);
}

/* Deletes the parts in the hidden folder of path, and without parts to be kept the folder. */
static void delete_hidden(const char *path, int n_to_keep)
{
    char folder[FOLDER_BYTES];
    qfz_error_trap trap;
    if (!name_hidden(folder, path)) return;
    qfz_error_trap_begin(&trap);
    /* in a bucket, parts below a VRT are an output */
    if (qfz_path_is_folder(folder) && !(qfz_object_is(path) && qfz_path_exists(path))) {
        delete_parts(folder, path, n_to_keep);
        if (n_to_keep == 0) (void)VSIRmdir(folder);
    }
    qfz_error_trap_end(&trap);
}

void qfz_parts_delete(const char *path)
{
    delete_hidden(path, 0);
}

void qfz_parts_delete_others(const char *path, int n_parts)
{
    delete_hidden(path, n_parts);
}

void qfz_parts_remove(const char *path)
{
    char folder[FOLDER_BYTES];
    qfz_error_trap trap;
    if (!name_shown(folder, path)) return;
    qfz_error_trap_begin(&trap);
    (void)VSIUnlink(path);
    if (qfz_path_is_folder(folder)) qfz_part_folder_delete(folder, path);
    qfz_error_trap_end(&trap);
}
