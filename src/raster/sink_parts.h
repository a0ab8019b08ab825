/* SPDX-License-Identifier: MIT */
/* sink_parts.h - makes one output of its committed parts.
 *
 * Part k has rows rows[k]..rows[k + 1] of the output; a part without rows has no file. */
#ifndef QFZ_RASTER_SINK_PARTS_H
#define QFZ_RASTER_SINK_PARTS_H

#include "raster/sink.h"

/* Before the parts are read: undoes what a join of them did before it was killed.  *merged: that
 * cannot be undone, and spec->path is the file merged from them. */
qfz_status qfz_parts_find(const qfz_sink_options *options, const qfz_sink_spec *spec,
                          const int64_t *rows, bool *merged, qfz_error *err);

/* Copies all spec->n_parts parts into one file in the format of options.  *whole is that file, to
 * be finished, then given to qfz_parts_commit().  *whole is left alone if an earlier join was
 * killed after its commit. */
qfz_status qfz_parts_merge(qfz_sink **whole, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, qfz_advance_fn progress, void *arg, qfz_error *err);

/* Makes spec->path, from which pixels, CRS, geotransform, nodata, mask, names of bands and metadata
 * are read as from an output that was written whole.  The output appears when complete; after a
 * kill the call can be repeated.
 *
 * join: a VRT.  Renames the hidden folder to out.parts and writes a VRT with relative names of the
 * parts.
 * commit: commits whole, the result of qfz_parts_merge(), and deletes the parts; without
 * allocations of its own.  whole NULL: an earlier commit was killed while it deleted parts. */
qfz_status qfz_parts_join(const qfz_source *source, const qfz_sink_options *options,
                          const qfz_sink_spec *spec, const int64_t *rows, qfz_error *err);
qfz_status qfz_parts_commit(const qfz_sink_spec *spec, qfz_sink *whole, qfz_error *err);

#endif
