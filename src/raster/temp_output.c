/* SPDX-License-Identifier: MIT */
/* temp_output.c - temporary names of outputs.
 *
 * An output is written beside its place under a temporary name with a unique stem:
 * .NAME-EXTENSION.qfz-NUMBER-KIND.EXTENSION; NUMBER is random.  Files that drivers put beside it
 * (.aux.xml, .msk, .ovr, .dbf, ...) begin with the same stem, by which they are found, renamed and
 * deleted.  In the local folder where objects of buckets are made, NUMBER begins with a hash of the
 * object's name: objects of several folders may have one file name. */
#include "raster/temp_output.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/temp_file.h"
#include "raster/error_trap.h"
#include "raster/object_store.h"
#include "raster/paths.h"
#include "raster/text.h"

#define KIND "tmp"     /* of files that are placed */
#define OLD_KIND "old" /* of files that are replaced */

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

static const char *last_mark(const char *temp)
{
    const char *mark = temp;
    for (const char *next = temp; (next = strstr(next, QFZ_TEMP_MARK)) != NULL; next++)
        mark = next;
    return mark;
}

/* Length of a temporary name up to its extension, if it has one. */
static size_t temp_stem_length(const char *temp)
{
    const char *const mark = last_mark(temp);
    return (size_t)(mark + 1 - temp) + strcspn(mark + 1, ".");
}

/* Length of a temporary name up to the hyphen after its number, which no other name has. */
static size_t temp_number_length(const char *temp)
{
    const char *const number = last_mark(temp) + strlen(QFZ_TEMP_MARK);
    return (size_t)(number - temp) + strcspn(number, "-") + 1;
}

/* How temporary names of a path begin, after the folder: .a-tif.qfz-.  The dot of the extension
 * becomes a hyphen: GDAL would take the part before it for the name of an archive (XLSX).  Owned by
 * GDAL, which overwrites the text after a few calls. */
static const char *temp_head(const char *path)
{
    const char *const name = path + folder_length(path), *const own = path + stem_length(path);
    return CPLSPrintf(".%.*s%s%s" QFZ_TEMP_MARK, (int)(own - name), name, *own ? "-" : "",
                      *own ? own + 1 : "");
}

enum { HASH_BYTES = 9 };

/* Eight hexadecimal digits (FNV-1a). */
static void hash_name(char text[HASH_BYTES], const char *path)
{
    uint32_t hash = 2166136261u;
    for (const char *c = path; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    (void)snprintf(text, HASH_BYTES, "%08x", (unsigned)hash);
}

/* *head = folder and beginning of the temporary names of path; freed by free(). */
static qfz_status make_head(char **head, const char *path, const char *stage, qfz_error *err)
{
    char hash[HASH_BYTES];
    if (!stage || !qfz_object_is(path))
        return qfz_text_print(head, err, "%.*s%s", (int)folder_length(path), path, temp_head(path));
    hash_name(hash, path);
    return qfz_text_print(head, err, "%s/%s%s", stage, temp_head(path), hash);
}

qfz_status qfz_temp_name(char **temp, const char *path, const char *kind, const char *extension,
                         const char *stage, qfz_error *err)
{
    const char *const own = path + stem_length(path);
    char number[QFZ_RANDOM_BYTES], *head = NULL;
    QFZ_TRY(qfz_random_name(number, err));
    QFZ_TRY(make_head(&head, path, stage, err));
    const qfz_status st =
        qfz_text_print(temp, err, "%s%s-%s%s", head, number, kind, extension ? extension : own);
    free(head);
    return st;
}

typedef int (*visit_fn)(const char *found, const char *suffix, const void *arg);

/* Calls visit for every file whose path begins with the first stem_n characters of temp, temp
 * itself last; stops when it fails. */
static int each_of(const char *temp, size_t stem_n, visit_fn visit, const void *arg)
{
    const size_t folder_n = folder_length(temp);
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

static int each_of_stem(const char *temp, visit_fn visit, const void *arg)
{
    return each_of(temp, temp_stem_length(temp), visit, arg);
}

qfz_status qfz_temp_reserve(const char *temp, const char *path, qfz_error *err)
{
    if (strncmp(temp, "/vsi", 4) == 0) return QFZ_OK;
    const int file = qfz_create_new(temp);
    if (file >= 0 && close(file) == 0) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: it could not be created: %s", path, strerror(errno));
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

/* Deletes side files of an older output, which GDAL would take for those of the new one; in a
 * bucket, when the placement is settled. */
static void delete_stale(const char *path, qfz_placement *placement)
{
    static const char *const beside[] = {".aux.xml", ".msk", ".ovr", ".msk.ovr"};
    const bool is_object = qfz_object_is(path);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        const char *const name = CPLSPrintf("%s%s", path, beside[i]);
        if (!is_object)
            (void)VSIUnlink(name);
        else if (qfz_path_exists(name))
            placement->stale = CSLAddString(placement->stale, name);
    }
}

/* What each file of a stem is moved by. */
typedef struct moving {
    const char *temp, *path;
    bool overwrite;
    qfz_placement *placement;
    qfz_error *err; /* receives the message of an upload that failed */
} moving;

/* Names the replaced file like the temporary one, with another kind. */
static char *backup_name(const moving *m, const char *suffix)
{
    const size_t stem_n = temp_stem_length(m->temp) - strlen(KIND);
    return CPLStrdup(CPLSPrintf("%.*s" OLD_KIND "%s", (int)stem_n, m->temp, suffix));
}

static int move_to(const char *found, const char *suffix, const void *arg)
{
    const moving *const m = arg;
    const bool is_side_file = strcmp(found, m->temp) != 0;
    char *const target =
        CPLStrdup(CPLSPrintf("%.*s%s", (int)stem_length(m->path), m->path, suffix));
    char *const backup = backup_name(m, suffix);
    const int bad =
        qfz_object_is(target)
            ? (int)qfz_placement_upload(m->placement, found, target, m->err)
            : qfz_placement_move(m->placement, found, target, backup, m->overwrite || is_side_file);
    CPLFree(target);
    CPLFree(backup);
    return bad;
}

static qfz_status fail_to_place(const char *path, int why, qfz_error *err)
{
    if (why == EEXIST)
        return qfz_fail(err, QFZ_EARG,
                        "%s: another process has made this file since the job began; use "
                        "--overwrite, or name the output otherwise",
                        path);
    return qfz_fail(err, QFZ_EIO, "%s: the finished file could not be given its name: %s", path,
                    strerror(why));
}

qfz_status qfz_temp_place(const char *temp, const char *path, bool overwrite,
                          qfz_placement *placement, qfz_error *err)
{
    moving m = {
        .temp = temp, .path = path, .overwrite = overwrite, .placement = placement, .err = err};
    qfz_error_trap trap;
    QFZ_TRY(qfz_path_check_replaceable(path, err));
    if (!overwrite && qfz_path_exists(path)) return fail_to_place(path, EEXIST, err);
    qfz_error_trap_begin(&trap);
    delete_stale(path, placement);
    const int why = each_of_stem(temp, move_to, &m);
    if (why) qfz_placement_take_back(placement);
    qfz_error_trap_end(&trap);
    if (why && qfz_object_is(path)) return (qfz_status)why;
    return why ? fail_to_place(path, why, err) : QFZ_OK;
}

void qfz_temp_delete(const char *temp)
{
    qfz_error_trap trap;
    if (!temp) return;
    qfz_error_trap_begin(&trap);
    (void)each_of(temp, temp_number_length(temp), delete_it, NULL); /* also names that were cut */
    qfz_error_trap_end(&trap);
}

void qfz_output_clean(const char *path, const char *stage)
{
    char *head = NULL;
    qfz_error_trap trap;
    if (make_head(&head, path, stage, NULL) != QFZ_OK) return;
    if (qfz_object_is(path)) qfz_object_clean(path);
    const size_t folder_n = folder_length(head);
    char *const folder = CPLStrdup(folder_n > 1 ? head : folder_n ? "/" : ".");
    const char *const stem = head + folder_n;
    qfz_error_trap_begin(&trap);
    if (folder_n > 1) folder[folder_n - 1] = '\0';
    char **const names = VSIReadDir(folder);
    for (char **name = names; name && *name; name++)
        if (strncmp(*name, stem, strlen(stem)) == 0 &&
            isxdigit((unsigned char)(*name)[strlen(stem)]))
            delete_one(CPLSPrintf("%.*s%s", (int)folder_n, head, *name));
    qfz_error_trap_end(&trap);
    CSLDestroy(names);
    CPLFree(folder);
    free(head);
}
