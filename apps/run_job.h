/* SPDX-License-Identifier: MIT */
/* run_job.h - what the commands label, simplify, saliency, cut and curve share. */
#ifndef RUN_JOB_H
#define RUN_JOB_H

#include "json.h"
#include "options.h"

/* Runs the request's job from its first operand to its second, with progress and signals, and
 * prints the result.  Returns the exit status. */
int run_job(request *r);

/* The same with another way to print the result of a complete job, which returns the exit status;
 * called by rank 0 only. */
typedef int (*run_job_print)(const request *r, const qfz_report *report);
int run_job_then(request *r, run_job_print print);

/* False, with a line on stderr, if a file that the command itself writes is an input of the job.
 * NULL passes. */
bool run_job_spares_inputs(const request *r, const char *path);

/* Writes the fields of run_job_json into an object of JSON. */
void run_job_fields(json *j, const request *r, const qfz_report *report);

/* Fields of the JSON object that run_job() prints. */
extern const json_field run_job_json[];

#endif
