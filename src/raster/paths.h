/* SPDX-License-Identifier: MIT */
/* paths.h - questions about names of files, also of GDAL's virtual file systems. */
#ifndef QFZ_RASTER_PATHS_H
#define QFZ_RASTER_PATHS_H

#include "core/status.h"

bool qfz_path_exists(const char *path);
bool qfz_path_is_folder(const char *path);
bool qfz_path_is_link(const char *path);

/* True if both names lead to one existing file, also through links. */
bool qfz_path_is_same_file(const char *a, const char *b);

/* True if files created under both names would be one file. */
bool qfz_path_is_same_name(const char *a, const char *b);

/* *target = the file that an output of this name is written to: the end of a chain of symbolic
 * links, which need not exist; without links, path.  Freed by free().  QFZ_EARG for the name of a
 * descriptor, /dev/stdout for example. */
qfz_status qfz_path_follow(char **target, const char *path, qfz_error *err);

/* QFZ_EARG if path is a folder, a device, a pipe or a socket: a rename would replace such a file by
 * a regular one. */
qfz_status qfz_path_check_replaceable(const char *path, qfz_error *err);

#endif
