/* SPDX-License-Identifier: MIT */
/* output.c - names of outputs: may they be written, and how they appear only when complete.
 *
 * The file is made beside its place under a temporary name, whose stem no other file has; files
 * that drivers put beside it (.aux.xml, .msk, .ovr, .dbf ...) begin with the same stem. */
#define _LARGEFILE64_SOURCE /* GDAL's VSIStatBufL is made of it */
#include "raster/private.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK ".qfz-" /* then process and kind, then the extension */

/* -------------------------------------------------------------------------------------- checks */
static bool is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    if (strcmp(a, b) == 0) return true;
    if (strncmp(a, "/vsi", 4) == 0 || strncmp(b, "/vsi", 4) == 0) return false;
    if (stat(a, &sa) != 0 || stat(b, &sb) != 0) return false;
    return sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static qfz_status check_not_of(GDALDatasetH dataset, char ***files, const char *path,
                               qfz_error *err)
{
    bool same = false;
    if (!dataset) return QFZ_OK;
    for (char *const *file = qfz_files_of(dataset, files); file && *file && !same; file++)
        same = is_same_file(path, *file);
    if (same || strcmp(path, GDALGetDescription(dataset)) == 0)
        return qfz_fail(err, QFZ_EARG, "%s: the output would replace an input", path);
    return QFZ_OK;
}

/* Do two names, of which nothing may be there, mean the same file? */
static bool is_same_name(const char *a, const char *b)
{
    bool same = strcmp(a, b) == 0;
    if (same || strcmp(CPLGetFilename(a), CPLGetFilename(b)) != 0) return same;
    char *const folder = CPLStrdup(strchr(a, '/') ? CPLGetPath(a) : ".");
    char *const other = CPLStrdup(strchr(b, '/') ? CPLGetPath(b) : ".");
    same = is_same_file(folder, other);
    CPLFree(folder);
    CPLFree(other);
    return same;
}

static qfz_status check_named_once(const qfz_output_options *options, const char *path,
                                   qfz_error *err)
{
    int n = 0;
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++)
        if (options->names[i] && is_same_name(options->names[i], path)) n++;
    if (n > 1) return qfz_fail(err, QFZ_EARG, "%s: two outputs have this name", path);
    return QFZ_OK;
}

/* A rename would put a file in the place of a device, a pipe or a socket. */
static qfz_status check_replaceable(const char *path, qfz_error *err)
{
    VSIStatBufL found;
    if (VSIStatExL(path, &found, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) != 0) return QFZ_OK;
    const mode_t mode = found.st_mode;
    if (S_ISDIR(mode)) return qfz_fail(err, QFZ_EARG, "%s: there is a folder of this name", path);
    if (S_ISCHR(mode) || S_ISBLK(mode) || S_ISFIFO(mode) || S_ISSOCK(mode))
        return qfz_fail(err, QFZ_EARG, "%s: this is no regular file; it is not replaced", path);
    return QFZ_OK;
}

static qfz_status check_free(const qfz_output_options *options, const char *path, qfz_error *err)
{
    QFZ_TRY(check_replaceable(path, err));
    if (!options->overwrite && qfz_raster_exists(path))
        return qfz_fail(err, QFZ_EARG, "%s: it exists already; --overwrite replaces it", path);
    return QFZ_OK;
}

static qfz_status check_writable(const char *path, qfz_error *err)
{
    char *temp = NULL;
    qfz_trap trap;
    QFZ_TRY(qfz_temp_name(&temp, path, "tmp", NULL, err));
    qfz_trap_begin(&trap);
    errno = 0;
    VSILFILE *const file = VSIFOpenL(temp, "wb");
    const int why = errno;
    const bool ok = file && VSIFCloseL(file) == 0;
    if (file) (void)VSIUnlink(temp);
    qfz_trap_end(&trap);
    free(temp);
    if (ok) return QFZ_OK;
    return qfz_trap_fail(&trap, err, QFZ_EIO, path,
                         why ? strerror(why) : "no file can be made in its folder");
}

qfz_status qfz_output_check(qfz_source *source, const qfz_output_options *options, const char *path,
                            qfz_error *err)
{
    if (!path || !path[0]) return qfz_fail(err, QFZ_EARG, "an output has no name");
    QFZ_TRY(check_named_once(options, path, err));
    QFZ_TRY(check_not_of(source->dataset, &source->files, path, err));
    QFZ_TRY(check_not_of(source->mask_dataset, &source->mask_files, path, err));
    QFZ_TRY(check_free(options, path, err));
    return check_writable(path, err);
}

/* ------------------------------------------------------------------------------ temporary names */

/* Length of the folder's part of a path, with the slash. */
static size_t folder_length(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Length of a path without its extension. */
static size_t stem_length(const char *path)
{
    const char *const name = path + folder_length(path);
    const char *const dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

/* Length of a temporary name up to its extension, if it has one. */
static size_t temp_stem_length(const char *temp)
{
    const char *mark = temp;
    for (const char *next = temp; (next = strstr(next, MARK)) != NULL; next++)
        mark = next;
    return (size_t)(mark + 1 - temp) + strcspn(mark + 1, ".");
}

/* What the temporary names of a path begin with, behind the folder: .a-tif.qfz-.  With its dot the
 * extension would end the name of an archive (XLSX) to GDAL.  GDAL's, and soon used again. */
static const char *temp_head(const char *path)
{
    const char *const name = path + folder_length(path), *const own = path + stem_length(path);
    return CPLSPrintf(".%.*s%s%s" MARK, (int)(own - name), name, *own ? "-" : "",
                      *own ? own + 1 : "");
}

qfz_status qfz_temp_name(char **temp, const char *path, const char *kind, const char *extension,
                         qfz_error *err)
{
    const char *const own = path + stem_length(path);
    return qfz_text_print(temp, err, "%.*s%s%ld-%s%s", (int)folder_length(path), path,
                          temp_head(path), (long)getpid(), kind, extension ? extension : own);
}

typedef int (*visit_fn)(const char *found, const char *suffix, const void *arg);

/* Calls visit for every file of temp's stem, temp itself last; stops when it fails. */
static int each_of_stem(const char *temp, visit_fn visit, const void *arg)
{
    const size_t folder_n = folder_length(temp), stem_n = temp_stem_length(temp);
    char *const folder = CPLStrdup(folder_n > 0 ? temp : "./");
    if (folder_n > 0) folder[folder_n > 1 ? folder_n - 1 : 1] = '\0';
    char **const names = VSIReadDir(folder);
    const char *const stem = temp + folder_n;
    int bad = 0;
    for (char **name = names; name && *name && bad == 0; name++) {
        if (strncmp(*name, stem, stem_n - folder_n) != 0 || strcmp(*name, stem) == 0) continue;
        char *const full = CPLStrdup(CPLSPrintf("%.*s%s", (int)folder_n, temp, *name));
        bad = visit(full, full + stem_n, arg);
        CPLFree(full);
    }
    CSLDestroy(names);
    CPLFree(folder);
    return bad != 0 ? bad : visit(temp, temp + stem_n, arg);
}

static int move_to(const char *found, const char *suffix, const void *arg)
{
    const char *const path = arg;
    char *const target = CPLStrdup(CPLSPrintf("%.*s%s", (int)stem_length(path), path, suffix));
    const int bad = VSIRename(found, target);
    CPLFree(target);
    return bad;
}

/* A file; or, as some formats make them, a folder. */
static void delete_one(const char *path)
{
    if (VSIUnlink(path) != 0) (void)VSIRmdirRecursive(path);
}

static int delete_it(const char *found, const char *suffix, const void *arg)
{
    (void)suffix;
    (void)arg;
    delete_one(found);
    return 0;
}

/* Would a file beside path, of another extension, take the place of one that is there? */
static int is_taken(const char *found, const char *suffix, const void *arg)
{
    const char *const path = arg, *const extension = path + stem_length(path);
    (void)found;
    if (!extension[0] || strncmp(suffix, extension, strlen(extension)) == 0) return 0;
    const char *const target = CPLSPrintf("%.*s%s", (int)stem_length(path), path, suffix);
    return qfz_raster_exists(target);
}

qfz_status qfz_temp_check(const char *temp, const char *path, qfz_error *err)
{
    qfz_trap trap;
    qfz_trap_begin(&trap);
    const bool taken = !qfz_raster_exists(path) && each_of_stem(temp, is_taken, path) != 0;
    qfz_trap_end(&trap);
    if (!taken) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: a file that its format puts beside it, of the same name up to the "
                    "extension, belongs to another raster; name the output otherwise",
                    path);
}

/* What an older file of this name left beside it would be taken for the new one's. */
static void delete_stale(const char *path)
{
    static const char *const beside[] = {".aux.xml", ".msk", ".ovr", ".msk.ovr"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        (void)VSIUnlink(CPLSPrintf("%s%s", path, beside[i]));
}

qfz_status qfz_temp_rename(const char *temp, const char *path, qfz_error *err)
{
    qfz_trap trap;
    QFZ_TRY(check_replaceable(path, err));
    qfz_trap_begin(&trap);
    delete_stale(path);
    errno = 0;
    const bool ok = each_of_stem(temp, move_to, path) == 0;
    const int why = errno;
    qfz_trap_end(&trap);
    if (ok) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: the finished file could not be given its name: %s", path,
                    why ? strerror(why) : "GDAL gives no reason");
}

void qfz_temp_delete(const char *temp)
{
    qfz_trap trap;
    if (!temp) return;
    qfz_trap_begin(&trap);
    (void)each_of_stem(temp, delete_it, NULL);
    qfz_trap_end(&trap);
}

void qfz_output_clean(const char *path)
{
    const size_t folder_n = folder_length(path);
    char *const folder = CPLStrdup(folder_n > 1 ? path : folder_n ? "/" : ".");
    char *const stem = CPLStrdup(temp_head(path));
    qfz_trap trap;
    qfz_trap_begin(&trap);
    if (folder_n > 1) folder[folder_n - 1] = '\0';
    char **const names = VSIReadDir(folder);
    for (char **name = names; name && *name; name++)
        if (strncmp(*name, stem, strlen(stem)) == 0 &&
            isdigit((unsigned char)(*name)[strlen(stem)]))
            delete_one(CPLSPrintf("%.*s%s", (int)folder_n, path, *name));
    qfz_trap_end(&trap);
    CSLDestroy(names);
    CPLFree(stem);
    CPLFree(folder);
}
