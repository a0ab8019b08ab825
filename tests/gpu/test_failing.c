/* SPDX-License-Identifier: MIT */
/* test_failing.c - the n-th call of CUDA's runtime fails in a job, once or for ever, in the
 * simulator: the job ends with its usual result, or with one message and no output; nothing stays
 * on the device.
 *
 * CASES: the number of values of n for each job, at random; 0: every n. */
#include "files.h"
#include "sim_control.h"

enum { SIDE = 24, TILE = 12, FEW = 10 };

typedef struct work {
    const char *name;
    qfz_task task;
    double alpha; /* -1: none */
    uint64_t min_area;
} work;

static const work works[] = {
    {"label", QFZ_LABEL, -1, 0},       {"label with alpha", QFZ_LABEL, 3, 0},
    {"least area", QFZ_LABEL, 3, 5},   {"simplify", QFZ_SIMPLIFY, 3, 0},
    {"saliency", QFZ_SALIENCY, -1, 0}, {"cut", QFZ_CUT, 3, 0},
};

static int64_t n_failed, n_refused;

static qfz_job job_of(const work *w, qfz_engine_choice engine, const char *dst)
{
    static const double omega[] = {9};
    qfz_job job = qfz_job_default(w->task);
    job.src = scratch(w->task == QFZ_CUT ? "saliency.tif" : "in.tif");
    job.dst = dst;
    job.engine = engine;
    job.n_threads = 2;
    job.tile_px = TILE;
    job.criterion.has_alpha = w->alpha >= 0;
    job.criterion.alpha = w->alpha >= 0 ? w->alpha : 0;
    job.criterion.min_area = w->min_area;
    if (w->task == QFZ_SIMPLIFY) {
        job.criterion.omega = omega;
        job.criterion.n_omega = 1;
    }
    return job;
}

static void must_run(const work *w, qfz_engine_choice engine, const char *dst)
{
    const qfz_job job = job_of(w, engine, dst);
    qfz_error err = {0};
    CHECK(qfz_job_run(&job, NULL, &err) == QFZ_OK, "%s: %s", w->name, err.message);
}

static bool is_there(const char *path)
{
    VSILFILE *const file = VSIFOpenL(path, "rb");
    if (file) (void)VSIFCloseL(file);
    return file != NULL;
}

static bool same_pixels(const char *a, const char *b)
{
    grid x, y;
    if (!grid_read(&x, a)) return false;
    if (!grid_read(&y, b)) {
        grid_free(&x);
        return false;
    }
    bool same = x.h == y.h && x.w == y.w;
    for (int64_t i = 0; same && i < x.h * x.w; i++)
        same = same_value(x.values[i], y.values[i]);
    grid_free(&x);
    grid_free(&y);
    return same;
}

/* The job with a failing call: as without it, or nothing. */
static void run_failing(const work *w, int64_t n, bool all)
{
    static const char *const may_stay[] = {"in.tif", "saliency.tif", "want.tif", "out.tif", NULL};
    const qfz_job job = job_of(w, QFZ_ENGINE_CUDA, scratch("out.tif"));
    const int64_t before = sim_live();
    qfz_error err = {0};
    check_describe("%s: call %d fails%s", w->name, (int)n, all ? ", and all later ones" : "");
    sim_fail_call(n, all);
    const qfz_status st = qfz_job_run(&job, NULL, &err);
    n_failed += sim_calls() >= n;
    sim_fail_call(0, 0);
    if (st == QFZ_OK) {
        CHECK(same_pixels(scratch("out.tif"), scratch("want.tif")), "other pixels");
        VSIUnlink(scratch("out.tif"));
    } else {
        n_refused++;
        CHECK(!is_there(scratch("out.tif")), "an output after: %s", err.message);
        CHECK((st == QFZ_EGPU || st == QFZ_ENOMEM) && strlen(err.message) > 8 &&
                  !strchr(err.message, '\n'),
              "status %d, \"%s\"", (int)st, err.message);
    }
    files_only(may_stay);
    CHECK(sim_live() == before, "%d things stay on the device: %s", (int)(sim_live() - before),
          err.message);
}

static void fail_calls_of(const work *w)
{
    must_run(w, QFZ_ENGINE_CPU, scratch("want.tif"));
    sim_fail_call(0, 0);
    must_run(w, QFZ_ENGINE_CUDA, scratch("out.tif"));
    const int64_t n_calls = sim_calls();
    VSIUnlink(scratch("out.tif"));
    CHECK(n_calls > 20, "%s: %d calls", w->name, (int)n_calls);
    const int64_t n = check_.cases > 0 && check_.cases < n_calls ? check_.cases : n_calls;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = n == n_calls ? i + 1 : 1 + check_pick(n_calls);
        run_failing(w, at, false);
        run_failing(w, at, true);
    }
    VSIUnlink(scratch("want.tif"));
}

int main(int argc, char **argv)
{
    static const work saliency = {"saliency", QFZ_SALIENCY, -1, 0};
    uint8_t pixels[SIDE * SIDE];
    check_begin(argc, argv, FEW);
    files_begin();
    check_case(0, "a small raster");
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (uint8_t)(8 * check_pick(3) + check_pick(3));
    files_write_bytes(scratch("in.tif"), pixels, SIDE, SIDE);
    must_run(&saliency, QFZ_ENGINE_CPU, scratch("saliency.tif"));
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        fail_calls_of(&works[i]);
    printf("%d jobs with a failing call, %d refused\n", (int)n_failed, (int)n_refused);
    CHECK(n_failed > 0 && n_refused > 0, "no call failed");
    files_end();
    return check_end();
}
