/* SPDX-License-Identifier: MIT */
/* output_specs.h - type, size, nodata, mask and metadata of each raster that a job writes. */
#ifndef QFZ_OUTPUT_SPECS_H
#define QFZ_OUTPUT_SPECS_H

#include "job/setup.h"

/* The spec of an output at `path`, written whole; borrows the path and the job's omega.
 *
 * n_regions decides between UInt32 and UInt64; 0 while it is unknown. */
qfz_sink_spec qfz_output_spec_labels(const qfz_setup *setup, const char *path, uint64_t n_regions);
qfz_sink_spec qfz_output_spec_painted(const qfz_setup *setup, const char *path);

/* level_bytes: qfz_level_bytes() of the largest saliency, which decides on the type; 0 while it is
 * unknown: the widest type that may be needed. */
qfz_sink_spec qfz_output_spec_saliency(const qfz_setup *setup, const char *path, qfz_layout layout,
                                       int level_bytes);

/* True if the type of the saliency raster follows from the largest saliency.  Otherwise it is
 * fixed: Float32; the type that the user names, which is not narrowed; UInt64 for levels that may
 * be the largest value of UInt32, which stands for a missing edge inside the engines. */
bool qfz_output_type_is_found(const qfz_setup *setup);

/* The spec of job->dst, as far as it is known before the first pass. */
qfz_sink_spec qfz_output_spec_main(const qfz_setup *setup);

#endif
