/* SPDX-License-Identifier: MIT */
/* test_parts.c - random jobs in phases, in any number of parts, with every kind of output: files
 * and pixels equal those of one process with other tiles, threads and memory. */
#include "engine_under_test.h"
#include "output_jobs.h"

/* ---- The runs. */

static bool run_alone(const qfz_job *job)
{
    qfz_error err = {0};
    return CHECK(qfz_job_run(job, NULL, &err) == QFZ_OK, "the job before: %s", err.message);
}

static bool run_whole(qfz_job job, qfz_report *report)
{
    qfz_error err = {0};
    job_vary(&job);
    return CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "one process: %s", err.message);
}

/* One phase, of one part if it has parts.  Each process has threads and memory of its own; the
 * tiles of a job are those of its first process. */
static bool run_phase(const job_case *p, qfz_job job, qfz_phase phase, int part, int n_parts,
                      qfz_report *report)
{
    const int32_t tile = job.tile_px;
    qfz_error err = {0};
    job_vary(&job);
    job.tile_px = tile;
    job.work = p->work;
    job.phase = phase;
    job.part = part;
    job.n_parts = n_parts;
    return CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "phase %d, part %d of %d: %s",
                 (int)phase, part, n_parts, err.message);
}

/* All parts, in any order. */
static bool run_parts(const job_case *p, qfz_job job, qfz_phase phase, int n_parts,
                      qfz_report *report)
{
    const int first = (int)check_pick(n_parts);
    for (int i = 0; i < n_parts; i++)
        if (!run_phase(p, job, phase, 1 + (first + i) % n_parts, n_parts, report)) return false;
    return true;
}

static bool run_phases(const job_case *p, qfz_job job, int n_parts, qfz_report *report)
{
    *report = qfz_report_default();
    report->next = QFZ_PHASE_SUMMARISE;
    for (int i = 0; report->next != QFZ_PHASE_ALL; i++) {
        if (!CHECK(i < 9, "phase %d for ever", (int)report->next)) return false;
        const qfz_phase phase = report->next;
        const bool good = phase == QFZ_PHASE_STITCH ? run_phase(p, job, phase, 0, 0, report)
                                                    : run_parts(p, job, phase, n_parts, report);
        if (!good) return false;
    }
    return true;
}

static void one_case(int64_t number)
{
    static job_case p;
    static job_outputs whole, parts;
    qfz_report one = qfz_report_default(), many = qfz_report_default();
    memset(&p, 0, sizeof p);
    check_case(number, "making it");
    const bool is_made = job_case_make(&p, run_alone);
    const int n_parts = (int)(1 + check_pick(4));
    qfz_job a = p.base, b = p.base;
    job_name_outputs(&p, &a, &whole, "whole", "tif");
    const bool has_parts = job_has_parts(&b, n_parts);
    b.merge = has_parts && check_chance(50);
    job_name_outputs(&p, &b, &parts, "parts", has_parts && !b.merge ? "vrt" : "tif");
    b.tile_px = (int32_t)(1 + check_pick(8));
    if (is_made && run_whole(a, &one) && run_phases(&p, b, n_parts, &many)) {
        CHECK(one.regions == many.regions && one.pixels == many.pixels,
              "%" PRIu64 " regions of %" PRIu64 " pixels in parts, not %" PRIu64 " of %" PRIu64,
              many.regions, many.pixels, one.regions, one.pixels);
        job_same_outputs(&a, &b);
        job_none_left(scratch("parts"), JOB_NAMES);
        job_none_left(p.work, 2);
    }
    VSIRmdirRecursive(scratch("whole"));
    VSIRmdirRecursive(scratch("parts"));
    VSIRmdirRecursive(p.work);
    files_clear();
    oracle_close(p.o);
    raster_free(&p.r);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 35);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
