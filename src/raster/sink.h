/* SPDX-License-Identifier: MIT */
/* sink.h - a raster that is written.
 *
 * Boxes are counted in the whole raster, also by a sink of one part.  A sink may be used by any
 * number of threads; calls wait for each other where they must. */
#ifndef QFZ_RASTER_SINK_H
#define QFZ_RASTER_SINK_H

#include "core/box.h"
#include "raster/sink_spec.h"

typedef struct qfz_sink qfz_sink;

/* Share of a long step that is done, 0..1.  A status other than QFZ_OK ends the step, which then
 * fails with that status. */
typedef qfz_status (*qfz_advance_fn)(void *arg, double share, qfz_error *err);

/* All checks that need no pixels: qfz_output_check(), and whether format, type and options can hold
 * the spec.  Called before the first pass, so that a job does not fail after hours. */
qfz_status qfz_sink_check(qfz_source *source, const qfz_sink_options *options,
                          const qfz_sink_spec *spec, qfz_error *err);

/* Creates a raster beside spec->path under a temporary name, or a part of one.
 *
 * CRS, geotransform, GCPs and pixel convention are the source's (at half the pixel size for
 * khalimsky).  Default options of a GTiff: tiled, ZSTD if GDAL has it, BIGTIFF=IF_SAFER, SPARSE_OK.
 * A driver that can only copy (COG, PNG) gets a temporary GTiff, which finish() copies. */
qfz_status qfz_sink_create(qfz_sink **sink, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err);

/* Opens a complete output, or a complete part of one, for qfz_sink_read().  QFZ_EIO if its size or
 * number of bands is not that of the spec. */
qfz_status qfz_sink_open(qfz_sink **sink, const qfz_sink_options *options,
                         const qfz_sink_spec *spec, qfz_error *err);

/* Reads back a box that was written, before or after commit().  Same planes and type as in
 * qfz_sink_write(); valid may be NULL. */
qfz_status qfz_sink_read(qfz_sink *sink, qfz_box box, void *pixels, uint8_t *valid, qfz_error *err);

/* Flushes, closes and copies (where the format needs a copy): everything that can fail before the
 * file gets its name.  progress reports the copy; NULL: no reports.  Until commit(), nothing is
 * written or read. */
qfz_status qfz_sink_finish(qfz_sink *sink, qfz_advance_fn progress, void *arg, qfz_error *err);

/* Finishes, if finish() was not called, and gives the file and its side files their names.  Until
 * commit(), close() takes them back and restores the files that they replaced. */
qfz_status qfz_sink_place(qfz_sink *sink, qfz_error *err);

/* Places, if place() was not called, and deletes the files that were replaced. */
qfz_status qfz_sink_commit(qfz_sink *sink, qfz_error *err);

/* Closes; a sink without commit leaves no file.  NULL is allowed. */
void qfz_sink_close(qfz_sink *sink);

#endif
