/* SPDX-License-Identifier: MIT */
/* label_file.c - labels the flat zones, or with ALPHA the alpha-components, of a raster file.
 *
 *     label_file SRC DST [ALPHA] */
#include <qfz.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: label_file SRC DST [ALPHA]\n"), 2;

    qfz_job job = qfz_job_default(QFZ_LABEL);
    job.src = argv[1];
    job.dst = argv[2];
    job.overwrite = true;
    if (argc > 3) {
        job.criterion.has_alpha = true;
        job.criterion.alpha = atof(argv[3]);
    }

    qfz_report report = qfz_report_default();
    qfz_error err;
    if (qfz_job_run(&job, &report, &err) != QFZ_OK)
        return fprintf(stderr, "%s: %s\n", qfz_status_name(err.status), err.message), 1;
    printf("%llu regions in %llu valid pixels of %lld x %lld\n", (unsigned long long)report.regions,
           (unsigned long long)report.pixels, (long long)report.width, (long long)report.height);
    return 0;
}
