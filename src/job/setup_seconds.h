/* SPDX-License-Identifier: MIT */
/* setup_seconds.h - an estimate of a job's run time, from rates measured on another machine. */
#ifndef QFZ_SETUP_SECONDS_H
#define QFZ_SETUP_SECONDS_H

#include "job/setup.h"

/* Seconds that one process needs for n_px pixels of the source, all passes; an order of
 * magnitude. */
double qfz_setup_seconds(const qfz_setup *setup, int64_t n_px);

/* Seconds in addition for the quicklook of a job, of n_px pixels in all; and for an attribute table
 * of n_cells cells. */
double qfz_picture_seconds(const qfz_job *job, int64_t n_px, int n_threads);
double qfz_attributes_seconds(int64_t n_cells);

/* qfz_setup_seconds() for a job of task QFZ_REGIONS. */
double qfz_regions_seconds(int64_t n_px, int n_threads);

#endif
