/* SPDX-License-Identifier: MIT */
/* cancel.c - computes the saliency of a raster file, prints each step, and cancels after PERCENT of
 * the work (default: never).  A cancelled job leaves no output.
 *
 *     cancel SRC DST [PERCENT] */
#include <qfz.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct watch {
    char step[64];
    double percent;
} watch;

/* The library calls this from one thread at a time. */
static int on_progress(const qfz_progress *progress, void *arg)
{
    watch *w = arg;
    if (strcmp(w->step, progress->step) != 0) {
        snprintf(w->step, sizeof w->step, "%s", progress->step);
        printf("step: %s\n", w->step);
    }
    return 100 * progress->done > w->percent;
}

int main(int argc, char **argv)
{
    if (argc < 3) return fprintf(stderr, "usage: cancel SRC DST [PERCENT]\n"), 2;
    watch w = {.percent = argc > 3 ? atof(argv[3]) : 100};

    qfz_job job = qfz_job_default(QFZ_SALIENCY);
    job.src = argv[1];
    job.dst = argv[2];
    job.overwrite = true;
    job.progress = on_progress;
    job.progress_arg = &w;

    qfz_error err;
    switch (qfz_job_run(&job, NULL, &err)) {
    case QFZ_OK: printf("done\n"); return 0;
    case QFZ_ECANCEL: printf("cancelled\n"); return 0;
    default: fprintf(stderr, "%s\n", err.message); return 1;
    }
}
