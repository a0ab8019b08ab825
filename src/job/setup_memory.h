/* SPDX-License-Identifier: MIT */
/* setup_memory.h - the memory plan of a job: shares of the budget, the tiles that fit into them,
 * and the number of threads that can have a tile each.
 *
 * A job that does not fit gets fewer threads; it is refused only if one thread does not fit. */
#ifndef QFZ_SETUP_MEMORY_H
#define QFZ_SETUP_MEMORY_H

#include "job/setup.h"

/* *bytes = the memory that the job may use.  QFZ_EARG: too little. */
qfz_status qfz_job_budget(const qfz_job *job, int64_t *bytes, qfz_error *err);

/* Sets memory, tiles and threads from the job, source, engine and rule of the setup.  QFZ_EARG:
 * budget too small or tiles too large; QFZ_ENOMEM: blocks of the source too large. */
qfz_status qfz_setup_plan_memory(qfz_setup *setup, qfz_error *err);

/* Sets another tile size, in pixels, for instance that of the process that began the job, and
 * adapts the number of threads.  QFZ_EARG: larger than the raster. */
qfz_status qfz_setup_retile(qfz_setup *setup, int64_t tile_w, int64_t tile_h, qfz_error *err);

/* QFZ_ENOMEM if the tiles do not fit the share of device memory that each thread has.  Tiles that
 * the user or an earlier process chose cannot be made smaller. */
qfz_status qfz_setup_check_device(const qfz_setup *setup, qfz_error *err);

/* Bytes of GDAL's block cache while tiles are read.  Not more than reading needs, because the first
 * use of a page of memory costs as much as a copy of it. */
int64_t qfz_setup_cache_bytes(const qfz_setup *setup, const qfz_source *source);

/* Bytes of GDAL's block cache until the source is open and its block size is known. */
int64_t qfz_setup_first_cache(const qfz_job *job);

/* Bytes per pixel of the source, with its validity. */
int64_t qfz_setup_source_bytes(const qfz_setup *setup);

/* Bytes of the levels of a pixel's edges, where these are read; else 0. */
int64_t qfz_setup_edge_bytes(const qfz_setup *setup);

/* Bytes per pixel of the task's widest output, for saliency with the levels that it is converted
 * from; 0 for a job that only counts. */
size_t qfz_setup_out_bytes(const qfz_setup *setup);

/* Memory that the job's picture of a raster of w x h pixels takes while it is drawn. */
int64_t qfz_picture_bytes(const qfz_job *job, int64_t w, int64_t h);

#endif
