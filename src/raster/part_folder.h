/* SPDX-License-Identifier: MIT */
/* part_folder.h - the folder of an output's parts, hidden while parts are missing, and the names in
 * it. */
#ifndef QFZ_RASTER_PART_FOLDER_H
#define QFZ_RASTER_PART_FOLDER_H

#include "raster/sink_spec.h"

/* *path = the name of a part while some parts are missing, for example
 * .out.vrt.qfz-parts/out-003-of-016.tif for part 2 of 16 of out.vrt; freed by free(). */
qfz_status qfz_part_path(char **path, const qfz_sink_spec *spec, qfz_error *err);

/* The same of the first part that has rows; part k has rows rows[k]..rows[k + 1]. */
qfz_status qfz_part_path_first(char **path, const qfz_sink_spec *spec, const int64_t *rows,
                               qfz_error *err);

/* *path = the name of part `part` in another folder; freed by free(). */
qfz_status qfz_part_path_in(char **path, const char *folder, const qfz_sink_spec *spec, int part,
                            qfz_error *err);

/* *folder = the folder of parts of path, while hidden or as it stays beside a VRT; freed by
 * free(). */
qfz_status qfz_part_folder_hidden(char **folder, const char *path, qfz_error *err);
qfz_status qfz_part_folder_shown(char **folder, const char *path, qfz_error *err);

/* QFZ_EARG unless the output can be written in parts and the folder beside a VRT is free. */
qfz_status qfz_part_folder_check(const qfz_sink_options *options, const qfz_sink_spec *spec,
                                 qfz_error *err);

/* Creates the hidden folder, unless another process has. */
qfz_status qfz_part_folder_make(const qfz_sink_spec *spec, qfz_error *err);

/* The name of a file in the folder that is no part of path; freed by CPLFree().  NULL: none. */
char *qfz_part_folder_stranger(const char *folder, const char *path);

/* Deletes the parts of path in a folder, and the folder if it is empty then. */
void qfz_part_folder_delete(const char *folder, const char *path);

/* Deletes the hidden folder and the parts in it, which will not be joined. */
void qfz_parts_delete(const char *path);

/* Deletes the parts in the hidden folder that are of other numbers of parts than n_parts. */
void qfz_parts_delete_others(const char *path, int n_parts);

/* Deletes a VRT that was joined, and its parts. */
void qfz_parts_remove(const char *path);

#endif
