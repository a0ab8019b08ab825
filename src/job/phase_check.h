/* SPDX-License-Identifier: MIT */
/* phase_check.h - whether phase, part, work folder and ranks of a job belong together. */
#ifndef QFZ_PHASE_CHECK_H
#define QFZ_PHASE_CHECK_H

#include "core/status.h"

/* QFZ_EARG, with the option named. */
qfz_status qfz_phase_check(const qfz_job *job, qfz_error *err);

#endif
