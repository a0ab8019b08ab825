/* SPDX-License-Identifier: MIT */
/* test_without_gdal.c - in a build without GDAL jobs and raster files are refused with a message
 * that names the reason. */
#include <string.h>

#include "check.h"
#include "qfz_bench.h"

int main(int argc, char **argv)
{
    const qfz_job job = qfz_job_default(QFZ_LABEL);
    qfz_report report = qfz_report_default();
    qfz_plan plan = qfz_plan_default();
    qfz_image image = {0};
    qfz_error err = {.status = QFZ_OK};
    check_begin(argc, argv, 1);
    check_case(0, "a build without GDAL");
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_EARG, "run");
    CHECK(strstr(err.message, "has no GDAL") != NULL, "run: %s", err.message);
    CHECK(qfz_job_plan(&job, &plan, &err) == QFZ_EARG, "plan");
    CHECK(strstr(err.message, "has no GDAL") != NULL, "plan: %s", err.message);
    CHECK(qfz_bench_image_read("scene.tif", NULL, 0, &image, &err) == QFZ_EARG, "read");
    CHECK(strstr(err.message, "scene.tif: this build of qfz has no GDAL") != NULL, "read: %s",
          err.message);
    qfz_bench_image_free(&image);
    return check_end();
}
