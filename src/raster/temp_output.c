/* SPDX-License-Identifier: MIT */
/* temp_output.c - temporary names of outputs.
 *
 * An output is written beside its place under a temporary name with a unique stem:
 * .NAME-EXTENSION.qfz-PROCESS-KIND.EXTENSION.  Files that drivers put beside it (.aux.xml, .msk,
 * .ovr, .dbf, ...) begin with the same stem, by which they are found, renamed and deleted. */
#include "raster/temp_output.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "raster/error_trap.h"
#include "raster/paths.h"
#include "raster/text.h"

#define MARK ".qfz-" /* before process and kind */

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

/* How temporary names of a path begin, after the folder: .a-tif.qfz-.  The dot of the extension
 * becomes a hyphen: GDAL would take the part before it for the name of an archive (XLSX).  Owned by
 * GDAL, which overwrites the text after a few calls. */
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

/* A file, or the folder of a format that writes folders. */
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

/* Not 0 if a side file, of another extension than path, would replace an existing file. */
static int is_taken(const char *found, const char *suffix, const void *arg)
{
    const char *const path = arg, *const extension = path + stem_length(path);
    (void)found;
    if (!extension[0] || strncmp(suffix, extension, strlen(extension)) == 0) return 0;
    const char *const target = CPLSPrintf("%.*s%s", (int)stem_length(path), path, suffix);
    return qfz_path_exists(target);
}

qfz_status qfz_temp_check(const char *temp, const char *path, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool taken = !qfz_path_exists(path) && each_of_stem(temp, is_taken, path) != 0;
    qfz_error_trap_end(&trap);
    if (!taken) return QFZ_OK;
    return qfz_fail(
        err, QFZ_EARG,
        "%s: its format also writes a file of the same name with another extension, which "
        "belongs to another raster; name the output otherwise",
        path);
}

/* Side files of an older output, which GDAL would take for those of the new one. */
static void delete_stale(const char *path)
{
    static const char *const beside[] = {".aux.xml", ".msk", ".ovr", ".msk.ovr"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++)
        (void)VSIUnlink(CPLSPrintf("%s%s", path, beside[i]));
}

qfz_status qfz_temp_rename(const char *temp, const char *path, qfz_error *err)
{
    qfz_error_trap trap;
    QFZ_TRY(qfz_path_check_replaceable(path, err));
    qfz_error_trap_begin(&trap);
    delete_stale(path);
    errno = 0;
    const bool ok = each_of_stem(temp, move_to, path) == 0;
    const int why = errno;
    qfz_error_trap_end(&trap);
    if (ok) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: the finished file could not be given its name: %s", path,
                    why ? strerror(why) : "GDAL gives no reason");
}

void qfz_temp_delete(const char *temp)
{
    qfz_error_trap trap;
    if (!temp) return;
    qfz_error_trap_begin(&trap);
    (void)each_of_stem(temp, delete_it, NULL);
    qfz_error_trap_end(&trap);
}

void qfz_output_clean(const char *path)
{
    const size_t folder_n = folder_length(path);
    char *const folder = CPLStrdup(folder_n > 1 ? path : folder_n ? "/" : ".");
    char *const stem = CPLStrdup(temp_head(path));
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    if (folder_n > 1) folder[folder_n - 1] = '\0';
    char **const names = VSIReadDir(folder);
    for (char **name = names; name && *name; name++)
        if (strncmp(*name, stem, strlen(stem)) == 0 &&
            isdigit((unsigned char)(*name)[strlen(stem)]))
            delete_one(CPLSPrintf("%.*s%s", (int)folder_n, path, *name));
    qfz_error_trap_end(&trap);
    CSLDestroy(names);
    CPLFree(stem);
    CPLFree(folder);
}
