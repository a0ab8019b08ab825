/* SPDX-License-Identifier: MIT */
/* test_kills.c - random jobs in processes of their own, in one or in phases and parts, which are
 * killed at random moments and begun again: outputs equal those of a job that was not killed.
 *
 * This process itself runs no job: threads of OpenMP do not survive fork(). */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "output_jobs.h"

enum { KILLS = 3 };

typedef struct outcome {
    bool is_killed;
    qfz_status status;
    qfz_report report;
    double seconds;
    uint64_t alpha_regions[JOB_ALPHAS];
    char message[1024];
} outcome;

static uint64_t n_jobs, n_kills;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_for(double seconds)
{
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
}

static void run_and_tell(const qfz_job *job, int to)
{
    outcome found = {.report = qfz_report_default()};
    qfz_error err = {0};
    qfz_job own = *job;
    own.alpha_regions = found.alpha_regions;
    found.status = qfz_job_run(&own, &found.report, &err);
    snprintf(found.message, sizeof found.message, "%s", err.message);
    const bool told = write(to, &found, sizeof found) == (ssize_t)sizeof found;
    _exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Runs a job in a process, which is killed after some seconds if it still runs; < 0: never. */
static outcome run_in_process(const qfz_job *job, double kill_after)
{
    outcome found = {.status = QFZ_EIO, .message = "the process told nothing"};
    int ends[2], state = 0;
    const double begin = now();
    files_must(pipe(ends) == 0);
    const pid_t process = fork();
    files_must(process >= 0);
    if (process == 0) run_and_tell(job, ends[1]);
    (void)close(ends[1]);
    if (kill_after >= 0) {
        wait_for(kill_after);
        (void)kill(process, SIGKILL);
    }
    const bool told = read(ends[0], &found, sizeof found) == (ssize_t)sizeof found;
    files_must(waitpid(process, &state, 0) == process);
    (void)close(ends[0]);
    found.is_killed = !told && WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    found.seconds = now() - begin;
    n_jobs++;
    n_kills += found.is_killed;
    return found;
}

static bool run_alone(const qfz_job *job)
{
    const outcome end = run_in_process(job, -1);
    return CHECK(end.status == QFZ_OK, "the job before: %s", end.message);
}

/* Kills the job up to KILLS times, at moments of the time that it takes, then lets it end. */
static bool run_killed(const qfz_job *job, double seconds, outcome *end, const char *what)
{
    const int32_t tile = job->tile_px;
    for (int kills = (int)check_pick(KILLS + 1);; kills--) {
        qfz_job own = *job;
        job_vary(&own);
        own.tile_px = tile;
        const double after = 1.2 * seconds * (double)check_pick(1000) / 1000;
        *end = run_in_process(&own, kills > 0 ? after : -1);
        if (!end->is_killed) break;
    }
    return CHECK(end->status == QFZ_OK, "%s: %s", what, end->message);
}

/* All parts of a phase, or the phase alone, in any order. */
static bool run_phase(const qfz_job *job, double seconds, int n_parts, outcome *end)
{
    const bool has_parts = job->phase != QFZ_PHASE_STITCH;
    const int n = has_parts ? n_parts : 1, first = (int)check_pick(n);
    char what[64];
    for (int i = 0; i < n; i++) {
        qfz_job own = *job;
        own.part = has_parts ? 1 + (first + i) % n : 0;
        own.n_parts = has_parts ? n : 0;
        snprintf(what, sizeof what, "phase %d, part %d of %d", (int)job->phase, own.part, n);
        if (!run_killed(&own, seconds, end, what)) return false;
    }
    return true;
}

static bool run_phases(qfz_job job, double seconds, int n_parts, outcome *end)
{
    end->report.next = QFZ_PHASE_SUMMARISE;
    for (int i = 0; end->report.next != QFZ_PHASE_ALL; i++) {
        if (!CHECK(i < 9, "phase %d for ever", (int)end->report.next)) return false;
        job.phase = end->report.next;
        if (!run_phase(&job, seconds, n_parts, end)) return false;
    }
    return true;
}

/* Of which a tile of 16 pixels is one. */
static const char *const small_blocks[] = {"BLOCKXSIZE=16", "BLOCKYSIZE=16", NULL};

static void compare(const job_case *p, const qfz_job *whole, qfz_job job, int n_parts)
{
    outcome one = run_in_process(whole, -1), end;
    if (!CHECK(one.status == QFZ_OK, "one process: %s", one.message)) return;
    job.work = p->work;
    job.tile_px = check_chance(25) ? 16 : (int32_t)(1 + check_pick(8));
    job.creation_options = check_chance(50) ? small_blocks : NULL;
    job.resume = n_parts == 0;
    const bool good = n_parts == 0 ? run_killed(&job, one.seconds, &end, "resumed")
                                   : run_phases(job, one.seconds / 2, n_parts, &end);
    if (!good) return;
    CHECK(one.report.regions == end.report.regions && one.report.pixels == end.report.pixels,
          "%" PRIu64 " regions of %" PRIu64 " pixels, not %" PRIu64 " of %" PRIu64,
          end.report.regions, end.report.pixels, one.report.regions, one.report.pixels);
    CHECK(one.report.alpha == end.report.alpha, "alpha %g, not %g", end.report.alpha,
          one.report.alpha);
    for (int64_t i = 0; i < job.n_alphas; i++)
        CHECK(one.alpha_regions[i] == end.alpha_regions[i], "%d regions at alpha %g, not %d",
              (int)end.alpha_regions[i], job.alphas[i], (int)one.alpha_regions[i]);
    job_same_outputs(whole, &job);
    job_none_left(scratch("killed"), JOB_NAMES);
    job_none_left(p->work, 2);
}

static void one_case(int64_t number)
{
    static job_case p;
    static job_outputs whole, killed;
    memset(&p, 0, sizeof p);
    check_case(number, "making it");
    const bool is_made = job_case_make(&p, run_alone);
    const int n_parts = (int)check_pick(4); /* 0: one process, resumed */
    if (n_parts == 0) job_choose_target(&p);
    if (n_parts == 0) job_choose_alphas(&p);
    qfz_job a = p.base, b = p.base;
    job_vary(&a);
    job_name_outputs(&p, &a, &whole, "whole", "tif");
    const bool has_parts = job_has_parts(&b, n_parts);
    b.merge = has_parts && check_chance(50);
    job_name_outputs(&p, &b, &killed, "killed", has_parts && !b.merge ? "vrt" : "tif");
    if (is_made) compare(&p, &a, b, n_parts);
    VSIRmdirRecursive(scratch("whole"));
    VSIRmdirRecursive(scratch("killed"));
    VSIRmdirRecursive(p.work);
    files_clear();
    oracle_close(p.o);
    raster_free(&p.r);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 25);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    printf("%" PRIu64 " jobs, of which %" PRIu64 " were killed\n", n_jobs, n_kills);
    return check_end();
}
