/* SPDX-License-Identifier: MIT */
/* defaults.h - the caller's job, completed. */
#ifndef QFZ_JOB_DEFAULTS_H
#define QFZ_JOB_DEFAULTS_H

#include "core/api.h"

/* *job = the caller's job; members that its struct_size leaves out have their default.  QFZ_EARG:
 * as qfz_api_read(). */
qfz_status qfz_job_read(qfz_job *job, const qfz_job *of_caller, qfz_error *err);

#endif
