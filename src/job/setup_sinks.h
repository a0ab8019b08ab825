/* SPDX-License-Identifier: MIT */
/* setup_sinks.h - the rasters that a job writes, for its plan of memory. */
#ifndef QFZ_SETUP_SINKS_H
#define QFZ_SETUP_SINKS_H

#include "job/setup.h"

/* Sets sinks and n_sinks from the job, source and rule of the setup. */
void qfz_setup_find_sinks(qfz_setup *setup, const qfz_source *source);

#endif
