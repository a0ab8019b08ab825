/* SPDX-License-Identifier: MIT */
/* method.h - what joins pixels, as the caller says it: checked, and as a rule needs it. */
#ifndef QFZ_CRITERION_H
#define QFZ_CRITERION_H

#include "core/status.h"

/* Connectivity, alpha and omega are in range. */
qfz_status qfz_criterion_check(const qfz_criterion *criterion, qfz_error *err);

/* *omega = one value per band, to be freed with free(); NULL where there is no limit.  Refused: as
 * many values as neither 1 nor the bands are. */
qfz_status qfz_criterion_spread_omega(const qfz_criterion *criterion, int n_bands, double **omega,
                                      qfz_error *err);

#endif
