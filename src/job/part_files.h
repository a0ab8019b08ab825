/* SPDX-License-Identifier: MIT */
/* part_files.h - files in which the processes of a job leave what one of them joins: beside the
 * output, one of each part. */
#ifndef QFZ_PART_FILES_H
#define QFZ_PART_FILES_H

#include "core/status.h"

enum { QFZ_PART_FILE_BYTES = 4096 };

/* The files of all parts of an output; n_parts = 0: there are none. */
typedef struct qfz_part_files {
    const char *output;
    int n_parts;
} qfz_part_files;

/* path = the name of the file of part `part`, from 0, of n_parts; kind: what it holds. */
qfz_status qfz_part_file_name(const char *output, const char *kind, int part, int n_parts,
                              char path[QFZ_PART_FILE_BYTES], qfz_error *err);

/* Writes the content of an open file; path is for messages. */
typedef qfz_status (*qfz_part_file_fn)(void *arg, int file, const char *path, qfz_error *err);

/* Writes a file that appears under its name when it is complete on disk. */
qfz_status qfz_part_file_write(const char *output, const char *kind, int part, int n_parts,
                               qfz_part_file_fn write, void *arg, qfz_error *err);

/* True if the file exists: it is complete. */
bool qfz_part_file_exists(const char *output, const char *kind, int part, int n_parts);

/* Deletes the file, and what a killed process has left of it. */
void qfz_part_file_delete(const char *output, const char *kind, int part, int n_parts);

/* Deletes the files of all kinds and parts of an output, of any number of parts. */
void qfz_part_files_delete_all(const char *output);

/* Reads bytes of a file; it is open only meanwhile, since there may be many parts. */
qfz_status qfz_part_file_read(const char *path, void *to, int64_t bytes, int64_t offset,
                              qfz_error *err);

#endif
