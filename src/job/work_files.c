/* SPDX-License-Identifier: MIT */
#include "job/work_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temp_file.h"

qfz_status qfz_work_path(const char *folder, char path[QFZ_WORK_PATH_BYTES], qfz_error *err,
                         const char *format, ...)
{
    va_list args;
    const int n = snprintf(path, QFZ_WORK_PATH_BYTES, "%s/", folder);
    int m = QFZ_WORK_PATH_BYTES;
    va_start(args, format);
    if (n > 0 && n < QFZ_WORK_PATH_BYTES)
        m = vsnprintf(path + n, (size_t)(QFZ_WORK_PATH_BYTES - n), format, args);
    va_end(args);
    if (n + m < QFZ_WORK_PATH_BYTES) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG, "%s: the name is too long", folder);
}

qfz_status qfz_work_failed(const char *path, const char *what, qfz_error *err)
{
    return qfz_fail(err, QFZ_EIO, "%s: %s failed: %s", path, what, strerror(errno));
}

/* A job's text is as long as its lists of numbers and options. */
static qfz_status read_all(FILE *in, const char *path, char **text, qfz_error *err)
{
    struct stat status;
    if (fstat(fileno(in), &status) != 0) return qfz_work_failed(path, "reading", err);
    const size_t bytes = (size_t)status.st_size;
    QFZ_TRY(QFZ_NEW_ZERO(text, (int64_t)bytes + 1, err));
    if (fread(*text, 1, bytes, in) == bytes || !ferror(in)) return QFZ_OK;
    free(*text);
    *text = NULL;
    return qfz_work_failed(path, "reading", err);
}

qfz_status qfz_work_file_read(const char *folder, const char *name, char **text, qfz_error *err)
{
    char path[QFZ_WORK_PATH_BYTES];
    *text = NULL;
    QFZ_TRY(qfz_work_path(folder, path, err, "%s", name));
    FILE *const in = fopen(path, "re");
    if (!in && errno == ENOENT) return QFZ_OK;
    if (!in) return qfz_work_failed(path, "opening", err);
    const qfz_status st = read_all(in, path, text, err);
    (void)fclose(in);
    return st;
}

qfz_status qfz_work_file_write(const char *folder, const char *name, const char *text, bool *is_new,
                               qfz_error *err)
{
    char path[QFZ_WORK_PATH_BYTES], temp[QFZ_WORK_PATH_BYTES];
    const size_t n = strlen(text);
    char number[QFZ_RANDOM_BYTES];
    QFZ_TRY(qfz_work_path(folder, path, err, "%s", name));
    QFZ_TRY(qfz_random_name(number, err));
    QFZ_TRY(qfz_work_path(folder, temp, err, ".%s.%s.tmp", name, number));
    const int file = qfz_create_new(temp);
    if (file < 0) return qfz_work_failed(temp, "creating the file", err);
    bool ok = write(file, text, n) == (ssize_t)n && fsync(file) == 0;
    ok = close(file) == 0 && ok;
    if (ok && is_new) {
        *is_new = link(temp, path) == 0;
        ok = *is_new || errno == EEXIST;
    }
    if (ok && !is_new) ok = rename(temp, path) == 0;
    const int why = errno;
    (void)unlink(temp);
    errno = why;
    return ok ? QFZ_OK : qfz_work_failed(path, "writing", err);
}

void qfz_work_file_delete(const char *folder, const char *name)
{
    char path[QFZ_WORK_PATH_BYTES];
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_work_path(folder, path, &ignored, "%s", name) == QFZ_OK) (void)unlink(path);
}

void qfz_work_delete_folder(const char *folder, const char *name)
{
    char path[QFZ_WORK_PATH_BYTES];
    qfz_error ignored = {.status = QFZ_OK};
    if (qfz_work_path(folder, path, &ignored, "%s", name) != QFZ_OK) return;
    DIR *const entries = opendir(path);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;)
        qfz_work_file_delete(path, entry->d_name);
    if (!entries) return;
    (void)closedir(entries);
    (void)rmdir(path);
}
