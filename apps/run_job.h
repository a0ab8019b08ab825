/* SPDX-License-Identifier: MIT */
/* run_job.h - what label, simplify, saliency and cut have in common. */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "options.h"

/* Runs the request's job from its first operand to its second, with progress, and prints the
 * result; to the exit status. */
int run_job(request *r);

#endif
