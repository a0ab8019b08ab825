/* SPDX-License-Identifier: MIT */
/* sink_parts.h - makes one file of the committed parts of an output.
 *
 * Part k has rows rows[k]..rows[k + 1] of the output; a part without rows has no file. */
#ifndef QFZ_RASTER_SINK_PARTS_H
#define QFZ_RASTER_SINK_PARTS_H

#include "raster/sink.h"

/* QFZ_EIO if a part is missing or is not of the spec. */
qfz_status qfz_parts_check(const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, qfz_error *err);

/* *merged: an earlier process was killed after it had merged the parts into spec->path. */
qfz_status qfz_parts_are_merged(const qfz_sink_spec *spec, const int64_t *rows, bool *merged,
                                qfz_error *err);

/* Copies all spec->n_parts parts into one file in the format of options, in about so many bytes of
 * memory, for a block at least.  *whole is that file, to be finished, then given to
 * qfz_parts_commit().  *whole is left alone if the parts are merged. */
qfz_status qfz_parts_merge(qfz_sink **whole, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           const int64_t *rows, int64_t memory_bytes, qfz_advance_fn progress,
                           void *arg, qfz_error *err);

/* Commits whole, the result of qfz_parts_merge(), and deletes the parts; without allocations of its
 * own; after a kill the call can be repeated.  whole NULL: an earlier commit was killed while it
 * deleted parts. */
qfz_status qfz_parts_commit(const qfz_sink_spec *spec, qfz_sink *whole, qfz_error *err);

#endif
