/* SPDX-License-Identifier: MIT */
/* outputs_files.h - the files of outputs, for the files that implement outputs.h. */
#ifndef QFZ_OUTPUTS_FILES_H
#define QFZ_OUTPUTS_FILES_H

#include "job/outputs.h"

/* Kinds of records in the journal: one for each raster, then region records, then rows of the
 * hierarchy. */
enum { QFZ_REGION_RECORDS = QFZ_RASTERS, QFZ_FOREST_ROWS, QFZ_OUTPUT_KINDS };

/* Shares of steps that only some jobs have; the shares of the passes add up to 1. */
#define QFZ_TABLE_SHARE 0.3
#define QFZ_MERGING_SHARE 0.2
#define QFZ_LAYOUT_SHARE 1.0
#define QFZ_COPYING_SHARE 1.0
#define QFZ_OVERVIEWS_SHARE 0.3
#define QFZ_UPLOADING_SHARE 0.3

/* The first row of a part in the raster; parts consist of whole rows of tiles. */
int64_t qfz_outputs_first_row(const qfz_tiling *t, int part, int n_parts);

/* *rows = the first row of each part of a raster, and its end; freed by free(). */
qfz_status qfz_outputs_rows(const qfz_outputs *outputs, const qfz_sink_spec *spec, int64_t **rows,
                            qfz_error *err);

/* Deletes the files beside tables that a part has left for the process that joins. */
void qfz_outputs_delete_part(const qfz_job *job, int part, int n_parts);

/* path = the raster of edges of a saliency in another layout, beside the result.  Written by a
 * single process, it never gets its final name. */
qfz_status qfz_outputs_name_edges(char path[QFZ_PATH_BYTES], const char *dst, int n_parts,
                                  qfz_error *err);

/* True if raster i never gets its name. */
bool qfz_outputs_hides(const qfz_outputs *outputs, int i);

/* Options of raster i as it is written before the join. */
qfz_sink_options qfz_outputs_options(const qfz_outputs *outputs, int i);

/* Bytes of a pixel, all bands together. */
int64_t qfz_outputs_px_bytes(const qfz_sink_spec *spec);

/* Creates the rasters of which this process has rows, and the region records. */
qfz_status qfz_outputs_create(qfz_outputs *outputs, qfz_error *err);

/* Gathers the rows of the hierarchy that the journal holds of a tile; does nothing without such a
 * table. */
qfz_status qfz_outputs_replay_forest(qfz_outputs *outputs, int64_t tile, qfz_error *err);

/* Gives GDAL's cache the memory that the job has set apart for it: it holds blocks that wait for
 * the pixels of other tiles, or that are read again. */
void qfz_outputs_widen_cache(const qfz_run *run);

#endif
