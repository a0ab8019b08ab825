/* SPDX-License-Identifier: MIT */
/* regions_check.h - checks of the options of outputs that are made from labels. */
#ifndef QFZ_REGIONS_CHECK_H
#define QFZ_REGIONS_CHECK_H

#include "core/status.h"

/* A job of task QFZ_REGIONS. */
qfz_status qfz_regions_check(const qfz_job *job, qfz_error *err);

/* A job of any other task. */
qfz_status qfz_regions_check_of_task(const qfz_job *job, qfz_error *err);

#endif
