/* SPDX-License-Identifier: MIT */
/* output_names.h - the names of a job's outputs: the alpha that they contain, and symbolic links.
 *
 * Outputs whose names are symbolic links are written to the files that the links lead to. */
#ifndef QFZ_OUTPUT_NAMES_H
#define QFZ_OUTPUT_NAMES_H

#include "raster/raster.h"

/* What an alpha replaces in the names of a job of several alphas. */
#define QFZ_ALPHA_PLACE "{alpha}"

/* names[i] = the member of the job that names output i; its value is NULL where there is no such
 * output. */
void qfz_output_names_of(qfz_job *job, const char **names[QFZ_OUTPUTS_MAX]);

/* Replaces the names of the job's outputs by names without symbolic links, which `owned` holds; the
 * caller frees them, also after a failure. */
qfz_status qfz_output_names_follow(qfz_job *job, char *owned[QFZ_OUTPUTS_MAX], qfz_error *err);

/* The same, after alpha has replaced QFZ_ALPHA_PLACE in every name. */
qfz_status qfz_output_names_fill(qfz_job *job, double alpha, char *owned[QFZ_OUTPUTS_MAX],
                                 qfz_error *err);

#endif
