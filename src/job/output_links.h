/* SPDX-License-Identifier: MIT */
/* output_links.h - outputs whose names are symbolic links: they are written to the files that the
 * links lead to. */
#ifndef QFZ_OUTPUT_LINKS_H
#define QFZ_OUTPUT_LINKS_H

#include "raster/raster.h"

/* Replaces the names of the job's outputs by names without symbolic links, which `owned` holds; the
 * caller frees them, also after a failure. */
qfz_status qfz_output_links_follow(qfz_job *job, char *owned[QFZ_OUTPUTS_MAX], qfz_error *err);

#endif
