/* SPDX-License-Identifier: MIT */
/* sink_memory.h - the memory that a raster takes while it is written, beside the caller's pixels.
 */
#ifndef QFZ_RASTER_SINK_MEMORY_H
#define QFZ_RASTER_SINK_MEMORY_H

#include "raster/sink_spec.h"
#include "raster/source.h"

/* All 0: the format is no TIFF, whose blocks are not known. */
typedef struct qfz_sink_memory {
    int64_t fixed_bytes; /* of the tables of blocks, and what is copied at a time */
    int64_t block_bytes; /* of a block, with all bands that it holds */
    int64_t n_blocks;
    bool is_mixed;       /* a block holds several bands */
    bool is_cut;         /* blocks reach over the edge of the raster */
    bool is_compressed;  /* by threads of GDAL, if there are several */
    int64_t codec_bytes; /* of a thread that compresses */
} qfz_sink_memory;

/* What the raster of the spec costs with these options, of which sink_check() reports the faults.
 */
qfz_sink_memory qfz_sink_memory_of(const qfz_source *source, const qfz_sink_options *options,
                                   const qfz_sink_spec *spec);

/* Bytes at most, if so many threads write, and as many of GDAL compress. */
int64_t qfz_sink_memory_bytes(const qfz_sink_memory *memory, int n_threads);

#endif
