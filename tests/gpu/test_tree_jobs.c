/* SPDX-License-Identifier: MIT */
/* test_tree_jobs.c - saliency and simplify by connect-v1 and connect-v2, in jobs of several tiles
 * on several simulated devices: the files are those of the CPU engine, byte by byte. */
#include "files.h"
#include "sim_control.h"

enum { H = 150, W = 107, TILE = 70, DEVICES = 3 }; /* 6 tiles of several blocks, most not whole */

static const char *const methods[] = {"connect-v1", "connect-v2"};
enum { N_METHODS = 2, N_TASKS = 2 };
static const qfz_task tasks[N_TASKS] = {QFZ_SALIENCY, QFZ_SIMPLIFY};

/* Slopes with noise, in grains: regions of one pixel, and regions that extend over all tiles. */
static void make_source(int grain, int noise)
{
    static uint8_t grains[H * W], pixels[H * W];
    for (int p = 0; p < H * W; p++)
        grains[p] = (uint8_t)(p / W / 9 + p % W / 13 * 2 + check_pick(noise));
    for (int p = 0; p < H * W; p++)
        pixels[p] = grains[p / W / grain * W + p % W / grain];
    files_write_bytes(scratch("in.tif"), pixels, H, W);
}

/* Saliency, or painted regions and their table. */
static qfz_job job_of(qfz_engine_choice engine, qfz_task task, int connectivity, const char *dst,
                      const char *regions)
{
    static const double omega = 6;
    qfz_job job = qfz_job_default(task);
    job.src = scratch("in.tif");
    job.dst = dst;
    job.overwrite = true;
    job.criterion.connectivity = connectivity;
    job.engine = engine;
    job.n_threads = DEVICES;
    job.tile_px = TILE;
    if (task == QFZ_SALIENCY) return job;
    job.regions = regions;
    job.criterion.has_alpha = true;
    job.criterion.alpha = 3;
    job.criterion.omega = &omega;
    job.criterion.n_omega = 1;
    return job;
}

static bool runs(const qfz_job *job, const char *engine)
{
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    return CHECK(qfz_job_run(job, &report, &err) == QFZ_OK, "%s", err.message) &&
           CHECK(!strcmp(report.engine, engine), "by %s", report.engine);
}

static void by_method(const char *method, qfz_task task, int connectivity, uint64_t min_area)
{
    qfz_job want =
        job_of(QFZ_ENGINE_CPU, task, connectivity, scratch("cpu.tif"), scratch("cpu.csv"));
    want.criterion.min_area = min_area;
    if (!runs(&want, "cpu")) return;
    for (int n = 1; n <= DEVICES; n += DEVICES - 1) {
        qfz_job job =
            job_of(QFZ_ENGINE_CUDA, task, connectivity, scratch("cuda.tif"), scratch("cuda.csv"));
        job.criterion.min_area = min_area;
        job.gpu_method = method;
        check_describe("%s, task %d, %d-connected, at least %d pixels, on %d devices", method,
                       (int)task, connectivity, (int)min_area, n);
        sim_set_devices(n);
        if (!runs(&job, "cuda")) continue;
        for (int i = 0; i < n; i++)
            CHECK(sim_was_used(i), "GPU %d was not used", i);
        CHECK(files_are_same(scratch("cuda.tif"), scratch("cpu.tif")), "the pixels differ");
        if (task == QFZ_SIMPLIFY)
            CHECK(files_are_same(scratch("cuda.csv"), scratch("cpu.csv")), "the tables differ");
    }
}

/* A GPU with less memory than a tile of the tree needs gets smaller tiles. */
static void plans_what_fits(void)
{
    qfz_plan plans[2] = {qfz_plan_default(), qfz_plan_default()};
    qfz_error err = {0};
    qfz_job job = job_of(QFZ_ENGINE_CUDA, QFZ_SALIENCY, 4, scratch("cuda.tif"), NULL);
    check_describe("plans");
    sim_set_devices(1);
    job.tile_px = 0;
    job.gpu_memory_bytes = 1 << 20;
    for (int i = 0; i < 2; i++) {
        job.gpu_method = i ? methods[0] : NULL;
        CHECK(qfz_job_plan(&job, &plans[i], &err) == QFZ_OK, "%s", err.message);
    }
    CHECK(plans[1].tile_w * plans[1].tile_h * 36 <= job.gpu_memory_bytes, "%d x %d",
          (int)plans[1].tile_w, (int)plans[1].tile_h);
    CHECK(runs(&job, "cuda"), "a job of little memory");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 4);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++) {
        const int connectivity = c % 2 == 0 ? 4 : 8;
        check_case(c, "%d-connected", connectivity);
        make_source(c % 2 == 0 ? 1 : 3, c % 2 == 0 ? 5 : 30);
        by_method(methods[c / 2 % N_METHODS], tasks[0], connectivity, c == 1 ? 9 : 0);
        by_method(methods[(c / 2 + 1) % N_METHODS], tasks[1], connectivity, c == 2 ? 9 : 0);
    }
    plans_what_fits();
    files_end();
    return check_end();
}
