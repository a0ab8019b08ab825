/* SPDX-License-Identifier: MIT */
/* temp_file.h - temporary files: one without a name, for data that exceeds the memory, and files
 * under names that nobody can predict, so that no other user can have made them before. */
#ifndef QFZ_TEMP_FILE_H
#define QFZ_TEMP_FILE_H

#include "core/status.h"

/* *file = a descriptor of an empty file in folder; the caller closes it. */
qfz_status qfz_temp_open(const char *folder, int *file, qfz_error *err);

/* Writes or reads all bytes, or returns QFZ_EIO with the folder's name in the message; interrupted
 * calls continue. */
qfz_status qfz_temp_write(int file, const char *folder, const void *data, int64_t bytes,
                          int64_t offset, qfz_error *err);
qfz_status qfz_temp_read(int file, const char *folder, void *data, int64_t bytes, int64_t offset,
                         qfz_error *err);

/* A random number in hexadecimal digits, for a name. */
enum { QFZ_RANDOM_BYTES = 17 };
qfz_status qfz_random_name(char number[QFZ_RANDOM_BYTES], qfz_error *err);

/* Creates a file for writing; fails if the name exists, also as a symbolic link.  Returns a
 * descriptor, or -1 and errno. */
int qfz_create_new(const char *path);

#endif
