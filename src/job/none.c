/* SPDX-License-Identifier: MIT */
/* none.c - jobs in a build without GDAL: every call fails with QFZ_EARG.  Sessions (images in
 * memory) do not need GDAL. */
#include "core/api.h"

static qfz_status no_gdal(qfz_error *err)
{
    qfz_error own;
    return qfz_fail(qfz_api_error(err, &own), QFZ_EARG,
                    "this build of qfz has no GDAL: it processes images in memory (sessions), but "
                    "no raster files (jobs)");
}

qfz_status qfz_job_run(const qfz_job *job, qfz_report *report, qfz_error *err)
{
    (void)job;
    (void)report;
    return no_gdal(err);
}

qfz_status qfz_job_plan(const qfz_job *job, qfz_plan *plan, qfz_error *err)
{
    (void)job;
    (void)plan;
    return no_gdal(err);
}

qfz_status qfz_curve_plot(const qfz_curve *curve, const char *path, bool overwrite, qfz_error *err)
{
    (void)curve;
    (void)path;
    (void)overwrite;
    return no_gdal(err);
}

qfz_status qfz_job_read_window(const qfz_job *job, qfz_window *window, qfz_error *err)
{
    (void)job;
    (void)window;
    return no_gdal(err);
}

void qfz_window_release(qfz_window *window)
{
    (void)window; /* none has been read */
}

void qfz_curve_release(qfz_curve *curve)
{
    (void)curve; /* no job has filled it */
}

qfz_status qfz_check_run(const qfz_check *check, qfz_check_report *report, qfz_error *err)
{
    (void)check;
    (void)report;
    return no_gdal(err);
}
