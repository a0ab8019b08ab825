/* SPDX-License-Identifier: MIT */
/* sink_blocks.h - whole blocks of a tiled GTiff on their way past GDAL.
 *
 * GDAL has one writer for a file: threads that compute wait until it has copied, compressed and
 * written their blocks, one after the other.  So while only whole blocks come, GDAL has the file
 * closed.  Each thread encodes its blocks (block_batch.h), reserves room at the end of the file and
 * writes them there; the file's index (tiff_index.h) gets their places at the end. */
#ifndef QFZ_RASTER_SINK_BLOCKS_H
#define QFZ_RASTER_SINK_BLOCKS_H

#include "raster/sink_state.h"

/* Writes a box of whole blocks, if it can be written in this way: *written says so.  Any thread. */
qfz_status qfz_sink_blocks_write(qfz_sink *sink, qfz_box box, const void *pixels, bool *written,
                                 qfz_error *err);

/* Completes the file, after which no more blocks take this way.  reopen: sink->dataset is opened
 * again.  The sink is locked. */
qfz_status qfz_sink_blocks_end(qfz_sink *sink, bool reopen, qfz_error *err);

/* Releases what end() has not; the file stays incomplete. */
void qfz_sink_blocks_close(qfz_sink *sink);

#endif
