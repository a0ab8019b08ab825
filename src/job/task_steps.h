/* SPDX-License-Identifier: MIT */
/* task_steps.h - steps that several tasks share: summarise, stitch, count and number regions.
 *
 * In a job that only counts, border regions are counted instead of numbered, which needs less of
 * each tile.  The functions on one tile may be called by any thread, each with its own context. */
#ifndef QFZ_TASK_STEPS_H
#define QFZ_TASK_STEPS_H

#include "job/tile_pass.h"

/* Summarises the loaded tile, where there is more than one tile to stitch, and stores the number of
 * its valid pixels. */
qfz_status qfz_step_summarise(qfz_run *run, qfz_thread_context *context, int64_t tile, void *arg,
                              qfz_error *err);
qfz_status qfz_step_put_pixels(qfz_run *run, const qfz_thread_context *context, int64_t tile,
                               qfz_error *err); /* the second of the two alone */
bool qfz_step_is_summarised(qfz_run *run, int64_t tile, void *arg);

/* Stitches the boundary summaries of all tiles, on the devices where groups are large.
 * Collective. */
qfz_status qfz_step_stitch(qfz_run *run, double share, qfz_error *err);
bool qfz_step_is_stitched(qfz_run *run, int64_t tile, void *arg); /* the exterior is known */

/* Stitches on the host alone, for the step of this name.  Collective. */
qfz_status qfz_step_stitch_on_host(qfz_run *run, qfz_stitch *stitch, const char *step, double share,
                                   qfz_error *err);

/* Stores the border regions of a tile and its count of inner ones, for numbering. */
qfz_status qfz_step_put_regions(qfz_run *run, int64_t tile, const qfz_partition *partition,
                                qfz_error *err);
bool qfz_step_has_regions(qfz_run *run, int64_t tile);

/* Numbers, or only counts, the regions of all tiles.  Collective. */
qfz_status qfz_step_number_all(qfz_run *run, qfz_error *err);
bool qfz_step_is_numbered(qfz_run *run, int64_t tile);

/* Gives the regions of the loaded tile their labels in the raster. */
qfz_status qfz_step_number_tile(qfz_run *run, qfz_thread_context *context, int64_t tile,
                                const qfz_partition *partition, qfz_error *err);

#endif
