/* SPDX-License-Identifier: MIT */
/* work_files.h - small text files of a work folder, each written at once or not at all, and their
 * deletion. */
#ifndef QFZ_WORK_FILES_H
#define QFZ_WORK_FILES_H

#include "core/status.h"

enum { QFZ_WORK_PATH_BYTES = 4096 };

/* path = folder, a slash, and the formatted name.  QFZ_EARG if that is too long. */
qfz_status qfz_work_path(const char *folder, char path[QFZ_WORK_PATH_BYTES], qfz_error *err,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* QFZ_EIO with the path, what failed, and the text of errno. */
qfz_status qfz_work_failed(const char *path, const char *what, qfz_error *err);

/* *text = the content, to be released by free(); NULL, with QFZ_OK, if there is no such file. */
qfz_status qfz_work_file_read(const char *folder, const char *name, char **text, qfz_error *err);

/* Writes a file, synced to disk, that appears under its name when complete.
 *
 * is_new NULL: replaces an existing file.  Else several processes may try at the same time: one
 * succeeds, with *is_new = true, and an existing file stays as it is. */
qfz_status qfz_work_file_write(const char *folder, const char *name, const char *text, bool *is_new,
                               qfz_error *err);

/* Deletes the file if it exists. */
void qfz_work_file_delete(const char *folder, const char *name);

/* Deletes a folder of files if it exists. */
void qfz_work_delete_folder(const char *folder, const char *name);

#endif
