/* SPDX-License-Identifier: MIT */
/* setup_check.h - checks of a job that need no source. */
#ifndef QFZ_SETUP_CHECK_H
#define QFZ_SETUP_CHECK_H

#include "core/status.h"

/* QFZ_EARG, with the option named, for a job whose parameters are out of range or contradict one
 * another. */
qfz_status qfz_setup_check(const qfz_job *job, qfz_error *err);

#endif
