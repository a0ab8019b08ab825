/* SPDX-License-Identifier: MIT */
/* run_job.h - what the commands label, simplify, saliency and cut share. */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "options.h"

/* Runs the request's job from its first operand to its second, with progress and signals, and
 * prints the result.  Returns the exit status. */
int run_job(request *r);

/* Fields of the JSON object that run_job() prints. */
extern const json_field run_job_json[];

#endif
