/* SPDX-License-Identifier: MIT */
#include "job/part_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/temp_file.h"

qfz_status qfz_part_file_name(const char *output, const char *kind, int part, int n_parts,
                              char path[QFZ_PART_FILE_BYTES], qfz_error *err)
{
    const char *const slash = strrchr(output, '/');
    const int n = slash ? (int)(slash - output) + 1 : 0;
    const int length = snprintf(path, QFZ_PART_FILE_BYTES, "%.*s.%s.qfz-%s-%03d-of-%03d", n, output,
                                output + n, kind, part + 1, n_parts);
    if (length > 0 && length < QFZ_PART_FILE_BYTES) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: the name is too long", output);
}

/* The name under which a file is written. */
static qfz_status name_temp(const char *output, const char *kind, int part, int n_parts,
                            char path[QFZ_PART_FILE_BYTES], qfz_error *err)
{
    char temp_kind[64];
    (void)snprintf(temp_kind, sizeof temp_kind, "%s-temp", kind);
    return qfz_part_file_name(output, temp_kind, part, n_parts, path, err);
}

qfz_status qfz_part_file_write(const char *output, const char *kind, int part, int n_parts,
                               qfz_part_file_fn write, void *arg, qfz_error *err)
{
    char temp[QFZ_PART_FILE_BYTES], path[QFZ_PART_FILE_BYTES];
    QFZ_TRY(name_temp(output, kind, part, n_parts, temp, err));
    QFZ_TRY(qfz_part_file_name(output, kind, part, n_parts, path, err));
    (void)unlink(temp); /* of a killed run */
    const int file = qfz_create_new(temp);
    if (file < 0) return qfz_fail(err, QFZ_EIO, "%s: %s", temp, strerror(errno));
    qfz_status st = write(arg, file, temp, err);
    if (st == QFZ_OK && fsync(file) != 0)
        st = qfz_fail(err, QFZ_EIO, "%s: %s", temp, strerror(errno));
    if (close(file) != 0 && st == QFZ_OK)
        st = qfz_fail(err, QFZ_EIO, "%s: %s", temp, strerror(errno));
    if (st == QFZ_OK && rename(temp, path) != 0)
        st = qfz_fail(err, QFZ_EIO, "%s: %s", path, strerror(errno));
    if (st != QFZ_OK) (void)unlink(temp);
    return st;
}

bool qfz_part_file_exists(const char *output, const char *kind, int part, int n_parts)
{
    char path[QFZ_PART_FILE_BYTES];
    return qfz_part_file_name(output, kind, part, n_parts, path, NULL) == QFZ_OK &&
           access(path, F_OK) == 0;
}

void qfz_part_file_delete(const char *output, const char *kind, int part, int n_parts)
{
    char path[QFZ_PART_FILE_BYTES];
    if (name_temp(output, kind, part, n_parts, path, NULL) == QFZ_OK) (void)unlink(path);
    if (qfz_part_file_name(output, kind, part, n_parts, path, NULL) == QFZ_OK) (void)unlink(path);
}

void qfz_part_files_delete_all(const char *output)
{
    const char *const slash = strrchr(output, '/'), *const name = slash ? slash + 1 : output;
    char folder[QFZ_PART_FILE_BYTES], begin[QFZ_PART_FILE_BYTES];
    const int n = snprintf(begin, sizeof begin, ".%s.qfz-", name);
    const int m = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - output) : 1,
                           slash ? output : ".");
    if (n >= (int)sizeof begin || m >= (int)sizeof folder) return;
    DIR *const entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;)
        if (strncmp(entry->d_name, begin, (size_t)n) == 0)
            (void)unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries) (void)closedir(entries);
}

qfz_status qfz_part_file_read(const char *path, void *to, int64_t bytes, int64_t offset,
                              qfz_error *err)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return qfz_fail(err, QFZ_EIO, "%s: %s", path, strerror(errno));
    const qfz_status st = qfz_temp_read(file, path, to, bytes, offset, err);
    (void)close(file);
    return st;
}
