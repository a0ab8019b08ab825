/* SPDX-License-Identifier: MIT */
/* criterion.h - checks the caller's criterion of which pixels join (qfz_criterion in qfz.h), and
 * converts it for a rule (level.h). */
#ifndef QFZ_CRITERION_H
#define QFZ_CRITERION_H

#include "core/status.h"

/* QFZ_EARG unless connectivity is 4 or 8, and alpha and all values of omega are at least 0. */
qfz_status qfz_criterion_check(const qfz_criterion *criterion, qfz_error *err);

/* *omega = an array of one value per band, which the caller frees with free(), or NULL if there is
 * no limit, or if no two values of the type exceed it in any band: without a limit, summaries have
 * no range events.  QFZ_EARG if the criterion has neither one value nor one per band. */
qfz_status qfz_criterion_spread_omega(const qfz_criterion *criterion, qfz_type type, int n_bands,
                                      double **omega, qfz_error *err);

/* *weights = an array of one weight per band as singles, which the caller frees with free(), or
 * NULL if the criterion has none.  QFZ_EARG unless there is one weight per band; each is 0, or a
 * positive number in the range of a single; and one is positive. */
qfz_status qfz_criterion_spread_weights(const qfz_criterion *criterion, int n_bands,
                                        float **weights, qfz_error *err);

#endif
