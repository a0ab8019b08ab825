/* SPDX-License-Identifier: MIT */
/* temp_file.h - a file without a name, for what does not fit into memory. */
#ifndef QFZ_TEMP_FILE_H
#define QFZ_TEMP_FILE_H

#include "core/status.h"

/* *file = a descriptor, to be closed by the caller, of an empty file that lies in folder. */
qfz_status qfz_temp_open(const char *folder, int *file, qfz_error *err);

/* All of it, or QFZ_EIO with the folder's name; interrupted calls go on. */
qfz_status qfz_temp_write(int file, const char *folder, const void *data, int64_t bytes,
                          int64_t offset, qfz_error *err);
qfz_status qfz_temp_read(int file, const char *folder, void *data, int64_t bytes, int64_t offset,
                         qfz_error *err);

#endif
