/* SPDX-License-Identifier: MIT */
/* parts_join.h - joins the committed parts of an output by a VRT over them.
 *
 * From the VRT pixels, CRS, geotransform, nodata, mask, names of bands and metadata are read as
 * from an output that was written whole. */
#ifndef QFZ_RASTER_PARTS_JOIN_H
#define QFZ_RASTER_PARTS_JOIN_H

#include "raster/sink.h"

/* A VRT and its folder of parts that have their names, and that can be taken back. */
typedef struct qfz_joined qfz_joined;

/* Before the parts are read: undoes what a join of them did before it was killed.  *merged: that
 * cannot be undone, and spec->path is the file merged from them (sink_parts.h). */
qfz_status qfz_parts_find(const qfz_sink_options *options, const qfz_sink_spec *spec,
                          const int64_t *rows, bool *merged, qfz_error *err);

/* Renames the hidden folder to out.parts and gives spec->path to a VRT with relative names of the
 * parts; part k has rows rows[k]..rows[k + 1].  What they replace is kept until settle().  *joined
 * is to be closed after a failure too; then, and after a kill, the call can be repeated. */
qfz_status qfz_parts_join(qfz_joined **joined, const qfz_source *source,
                          const qfz_sink_options *options, const qfz_sink_spec *spec,
                          const int64_t *rows, qfz_error *err);

/* Deletes what was replaced; in a bucket, the VRT appears. */
qfz_status qfz_joined_settle(qfz_joined *joined, qfz_error *err);

/* Without settle(): takes the VRT back, hides the folder, and restores what they replaced.  NULL is
 * allowed. */
void qfz_joined_close(qfz_joined *joined);

#endif
