/* SPDX-License-Identifier: MIT */
/* test_ranks.c - random jobs on the ranks that this program is started on: outputs equal those of
 * one process with other tiles, threads and memory.
 *
 * Every rank has the same cases, from the same random numbers; rank 0 makes and compares files. */
#include <unistd.h>

#include "output_jobs.h"
#include "stitch/ranks.h"

static qfz_ranks ranks;

static bool is_first(void)
{
    return ranks.rank == 0;
}

/* Ranks wait for each other; false if one has failed. */
static bool all_good(bool good)
{
    qfz_error err = {0};
    return qfz_ranks_agree(&ranks, good ? QFZ_OK : QFZ_EIO, &err) == QFZ_OK;
}

static bool run_first(const qfz_job *job)
{
    qfz_error err = {0};
    return !is_first() ||
           CHECK(qfz_job_run(job, NULL, &err) == QFZ_OK, "the job before: %s", err.message);
}

static bool run_whole(qfz_job job, qfz_report *report)
{
    qfz_error err = {0};
    job_vary(&job);
    return !is_first() ||
           CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "one process: %s", err.message);
}

static bool run_together(const job_case *p, qfz_job job, qfz_report *report)
{
    qfz_error err = {0};
    job_vary(&job);
    job.n_threads = 1 + (job.n_threads + ranks.rank) % 3;
    job.work = check_chance(30) ? p->work : NULL;
    job.ranks = &ranks;
    return CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "%d ranks: %s", ranks.n, err.message);
}

static void compare(const job_case *p, const qfz_job *whole, const qfz_report *one,
                    const qfz_job *parts, const qfz_report *many)
{
    CHECK(one->regions == many->regions && one->pixels == many->pixels,
          "%" PRIu64 " regions of %" PRIu64 " pixels on %d ranks, not %" PRIu64 " of %" PRIu64,
          many->regions, many->pixels, ranks.n, one->regions, one->pixels);
    CHECK(one->alpha == many->alpha, "alpha %g, not %g", many->alpha, one->alpha);
    for (int64_t i = 0; i < whole->n_alphas; i++)
        CHECK(whole->alpha_regions[i] == parts->alpha_regions[i], "%d regions at alpha %g, not %d",
              (int)parts->alpha_regions[i], whole->alphas[i], (int)whole->alpha_regions[i]);
    job_same_outputs(whole, parts);
    job_none_left(scratch("parts"), JOB_NAMES);
    if (access(p->work, F_OK) == 0) job_none_left(p->work, 2);
}

static void clear(job_case *p)
{
    oracle_close(p->o);
    raster_free(&p->r);
    if (!is_first()) return;
    VSIRmdirRecursive(scratch("whole"));
    VSIRmdirRecursive(scratch("parts"));
    VSIRmdirRecursive(p->work);
    files_clear();
}

static void one_case(int64_t number)
{
    static job_case p;
    static job_outputs whole, parts;
    qfz_report one = qfz_report_default(), many = qfz_report_default();
    memset(&p, 0, sizeof p);
    check_case(number, "making it");
    const bool is_made = job_case_make(&p, run_first);
    job_choose_target(&p);
    job_choose_alphas(&p);
    qfz_job a = p.base, b = p.base;
    uint64_t of_one[JOB_ALPHAS], of_many[JOB_ALPHAS];
    a.alpha_regions = of_one;
    b.alpha_regions = of_many;
    const bool has_parts = job_has_parts(&b, ranks.n);
    job_name_outputs(&p, &a, &whole, "whole", "tif");
    b.merge = has_parts && check_chance(50);
    job_name_outputs(&p, &b, &parts, "parts", has_parts && !b.merge ? "vrt" : "tif");
    if (all_good(is_made && run_whole(a, &one)) && all_good(run_together(&p, b, &many)) &&
        is_first())
        compare(&p, &a, &one, &b, &many);
    clear(&p);
    (void)all_good(true);
}

/* All ranks use the folder of rank 0. */
static void begin(void)
{
    qfz_error err = {0};
    char own[sizeof files_.folder];
    files_begin();
    memcpy(own, files_.folder, sizeof own);
    files_must(qfz_ranks_share(&ranks, files_.folder, sizeof files_.folder, &err) == QFZ_OK);
    job_makes_files = is_first();
    if (!is_first()) files_must(rmdir(own) == 0);
}

int main(int argc, char **argv)
{
    qfz_error err = {0};
    check_begin(argc, argv, 40);
    files_must(qfz_ranks_join(&ranks, &err) == QFZ_OK);
    begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    if (is_first()) files_end();
    qfz_ranks_leave();
    return check_end();
}
