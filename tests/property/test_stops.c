/* SPDX-License-Identifier: MIT */
/* test_stops.c - a job that is stopped while it writes its table, merges its parts, copies its
 * raster or converts its layout leaves no file under the names of its outputs; a job with a journal
 * continues. */
#include <unistd.h>

#include "files.h"

enum { SIDE = 160, PARTS = 2 };

typedef struct watcher {
    const char *stop_in; /* the step at which the job stops */
    int stop_at;         /* the report of that step at which it stops, from 1 */
    char step[32];
    double done;
    int reports;
} watcher;

static int watch(const qfz_progress *progress, void *arg)
{
    watcher *const w = arg;
    const bool is_it = w->stop_in && !strcmp(progress->step, w->stop_in);
    if (is_it) w->reports++;
    CHECK(progress->done >= w->done && progress->done <= 1, "%s: %g after %g", progress->step,
          progress->done, w->done);
    w->done = progress->done;
    snprintf(w->step, sizeof w->step, "%s", progress->step);
    return is_it && w->reports >= w->stop_at;
}

static void write_source(void)
{
    static uint8_t pixels[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)check_pick(200);
    files_write_bytes(scratch("src.tif"), pixels, SIDE, SIDE);
}

static qfz_job job_of(watcher *w)
{
    static char src[PATH_ROOM], dst[PATH_ROOM], labels[PATH_ROOM], table[PATH_ROOM];
    snprintf(src, sizeof src, "%s", scratch("src.tif"));
    snprintf(dst, sizeof dst, "%s", scratch("dst.tif"));
    snprintf(labels, sizeof labels, "%s", scratch("labels.tif"));
    snprintf(table, sizeof table, "%s", scratch("table.csv"));
    qfz_job job = qfz_job_default(QFZ_SIMPLIFY);
    job.src = src;
    job.dst = dst;
    job.labels = labels;
    job.regions = table;
    job.criterion.has_alpha = true;
    job.criterion.alpha = 1;
    job.engine = QFZ_ENGINE_CPU;
    job.tile_px = 40;
    job.progress = watch;
    job.progress_arg = w;
    return job;
}

/* The job stops near its end, and leaves no output. */
static void run_stopped(const qfz_job *job, int64_t number)
{
    static const char *const only_source[] = {"src.tif", NULL};
    const watcher *const w = job->progress_arg;
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    check_case(number, "stopped in report %d of the step %s", w->stop_at, w->stop_in);
    CHECK(qfz_job_run(job, &report, &err) == QFZ_ECANCEL, "at \"%s\": %s", w->step, err.message);
    CHECK(strstr(err.message, "stopped on request"), "%s", err.message);
    CHECK(w->reports == w->stop_at && w->done > 0.4 && w->done <= 1, "%d reports, %g", w->reports,
          w->done);
    files_only(only_source);
}

static void in_the_table(int64_t number)
{
    watcher w = {.stop_in = "table", .stop_at = 1 + (int)check_pick(3)};
    const qfz_job job = job_of(&w);
    run_stopped(&job, number);
}

/* A PNG is compared with its source after the copy, a COG is not; so a PNG has more reports. */
static void in_the_copying(int64_t number)
{
    const bool is_png = number % 2;
    watcher w = {.stop_in = "copying", .stop_at = is_png ? 1 + (int)check_pick(4) : 1};
    char dst[PATH_ROOM];
    qfz_job job = job_of(&w);
    snprintf(dst, sizeof dst, "%s", scratch(is_png ? "dst.png" : "dst.cog"));
    job.dst = dst;
    job.format = is_png ? NULL : "COG";
    job.labels = job.regions = NULL;
    run_stopped(&job, number);
}

static void in_the_layout(int64_t number)
{
    watcher w = {.stop_in = "layout", .stop_at = 1};
    qfz_job job = job_of(&w);
    job.task = QFZ_SALIENCY;
    job.layout = number % 2 ? QFZ_KHALIMSKY : QFZ_PIXEL;
    job.criterion.has_alpha = false;
    job.labels = job.regions = NULL;
    run_stopped(&job, number);
}

static qfz_status run_phase(qfz_job job, qfz_phase phase, int part, qfz_error *err)
{
    qfz_report report = qfz_report_default();
    ((watcher *)job.progress_arg)->done = 0; /* parts written by this process */
    job.phase = phase;
    job.part = part;
    job.n_parts = part > 0 ? PARTS : 0;
    return qfz_job_run(&job, &report, err);
}

static void phases_up_to_the_last(const qfz_job *job)
{
    qfz_error err = {0};
    for (int part = 1; part <= PARTS; part++)
        CHECK(run_phase(*job, QFZ_PHASE_SUMMARISE, part, &err) == QFZ_OK, "%s", err.message);
    CHECK(run_phase(*job, QFZ_PHASE_STITCH, 0, &err) == QFZ_OK, "%s", err.message);
    for (int part = 1; part <= PARTS; part++)
        CHECK(run_phase(*job, QFZ_PHASE_SUMMARISE, part, &err) == QFZ_OK, "%s", err.message);
    CHECK(run_phase(*job, QFZ_PHASE_STITCH, 0, &err) == QFZ_OK, "%s", err.message);
    CHECK(run_phase(*job, QFZ_PHASE_RESOLVE, 1, &err) == QFZ_OK, "%s", err.message);
}

static bool is_there(const char *name)
{
    return access(scratch(name), F_OK) == 0;
}

/* Each of the two rasters is copied in one strip per part. */
static void in_the_merging(int64_t number)
{
    static const char *const all[] = {"src.tif", "dst.tif", "labels.tif", "table.csv", NULL};
    watcher w = {.stop_in = "merging", .stop_at = 1 + (int)check_pick(2 * PARTS)};
    qfz_error err = {0};
    check_case(number, "stopped in report %d of the merging", w.stop_at);
    qfz_job job = job_of(&w);
    char work[PATH_ROOM];
    snprintf(work, sizeof work, "%s", scratch("work"));
    job.work = work;
    job.merge = job.resume = true;
    phases_up_to_the_last(&job);
    CHECK(run_phase(job, QFZ_PHASE_RESOLVE, 2, &err) == QFZ_ECANCEL, "%s", err.message);
    CHECK(w.reports == w.stop_at, "%d reports", w.reports);
    for (int i = 1; all[i]; i++)
        CHECK(!is_there(all[i]), "%s is there", all[i]);
    w = (watcher){.stop_in = NULL};
    CHECK(run_phase(job, QFZ_PHASE_RESOLVE, 2, &err) == QFZ_OK, "%s", err.message);
    CPLUnlinkTree(work);
    files_only(all);
    for (int i = 1; all[i]; i++)
        CHECK(is_there(all[i]), "%s is not there", all[i]);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 8);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++) {
        files_clear();
        write_source();
        in_the_table(c);
        in_the_copying(c);
        in_the_layout(c);
        in_the_merging(c);
    }
    files_end();
    return check_end();
}
