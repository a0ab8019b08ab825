/* SPDX-License-Identifier: MIT */
/* defaults.c - the parts of the API that are the same with and without GDAL: the version, and the
 * job from which callers start. */
#include "qfz.h"

const char *qfz_version(void)
{
    return QFZ_VERSION;
}

qfz_job qfz_job_default(qfz_task task)
{
    return (qfz_job){.task = task,
                     .criterion = {.connectivity = 4, .distance = QFZ_L1},
                     .retries = 3,
                     .retry_wait_s = 0.01};
}
