/* SPDX-License-Identifier: MIT */
/* test_devices.c - which devices a job takes, and what it does when they, or their memory, are not
 * there; in the simulator, which can be told to have any number of them. */
#include "files.h"
#include "sim_control.h"

enum { SIDE = 96, N_PX = SIDE * SIDE };

static uint8_t pixels[N_PX];

static void make_source(void)
{
    for (int i = 0; i < N_PX; i++)
        pixels[i] = (uint8_t)(check_chance(55) ? 1 : 2);
    files_write_bytes(scratch("in.tif"), pixels, SIDE, SIDE);
}

static qfz_job label_job(qfz_engine_choice engine, const char *dst)
{
    qfz_job job = qfz_job_default(QFZ_LABEL);
    job.src = scratch("in.tif");
    job.dst = dst;
    job.overwrite = true;
    job.engine = engine;
    job.n_threads = 3;
    job.tile_px = 16;
    return job;
}

static bool same_pixels(const char *a, const char *b)
{
    grid x, y;
    if (!grid_read(&x, a) || !grid_read(&y, b)) return false;
    bool same = x.h == y.h && x.w == y.w;
    for (int64_t i = 0; same && i < x.h * x.w; i++)
        same = x.values[i] == y.values[i];
    grid_free(&x);
    grid_free(&y);
    return same;
}

static void run_reference(void)
{
    const qfz_job job = label_job(QFZ_ENGINE_CPU, scratch("cpu.tif"));
    qfz_report report;
    qfz_error err = {0};
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message);
    CHECK(report.n_gpus == 0 && !strcmp(report.engine, "cpu"), "%s, %d GPUs", report.engine,
          report.n_gpus);
}

static void equals_reference(const qfz_job *job, const char *engine, int n_gpus)
{
    qfz_report report;
    qfz_error err = {0};
    if (!CHECK(qfz_job_run(job, &report, &err) == QFZ_OK, "%s", err.message)) return;
    CHECK(!strcmp(report.engine, engine) && report.n_gpus == n_gpus, "%s, %d GPUs, not %s, %d",
          report.engine, report.n_gpus, engine, n_gpus);
    CHECK(same_pixels(job->dst, scratch("cpu.tif")), "pixels differ with %d GPUs", n_gpus);
}

static void refused(const qfz_job *job, qfz_status status, const char *words)
{
    qfz_report report;
    qfz_error err = {0};
    const qfz_status st = qfz_job_run(job, &report, &err);
    CHECK(st == status && strstr(err.message, words), "status %d: %s", (int)st, err.message);
}

static void takes_as_many_devices_as_there_are(void)
{
    for (int n = 1; n <= 4; n++) {
        const qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
        check_describe("%d devices", n);
        sim_set_devices(n);
        equals_reference(&job, "cuda", n);
    }
}

static void takes_the_devices_named(void)
{
    static const int two[] = {2, 0}, far[] = {0, 4}, twice[] = {1, 1};
    qfz_job job = label_job(QFZ_ENGINE_AUTO, scratch("cuda.tif"));
    check_describe("devices by number");
    sim_set_devices(3);
    job.gpus = two;
    job.n_gpus = 2;
    equals_reference(&job, "cuda", 2);
    job.gpus = far;
    refused(&job, QFZ_EARG, "no GPU 4");
    job.gpus = twice;
    refused(&job, QFZ_EARG, "twice");
    job.engine = QFZ_ENGINE_CPU;
    refused(&job, QFZ_EARG, "CPU");
}

static void says_when_there_is_no_device(void)
{
    const qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    check_describe("no device");
    sim_set_devices(0);
    refused(&job, QFZ_EGPU, "no CUDA-capable device");
    sim_set_devices(1);
}

/* However early memory runs out, smaller tiles or fewer threads get the same answer. */
static void shrinks_when_memory_runs_out(void)
{
    for (int n = 1; n <= 4; n++) {
        qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
        check_describe("allocation %d fails", n);
        sim_fail_allocation(n, 0);
        equals_reference(&job, "cuda", 1);
    }
    sim_fail_allocation(0, 0);
}

static void falls_back_when_memory_never_suffices(void)
{
    qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    check_describe("every allocation fails");
    sim_fail_allocation(1, 1);
    refused(&job, QFZ_ENOMEM, "out of memory");
    sim_fail_allocation(0, 0);
}

static void keeps_to_its_memory(void)
{
    qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    check_describe("device memory of 1 MB");
    job.tile_px = 0;
    job.gpu_memory_bytes = 1000000;
    equals_reference(&job, "cuda", 1);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 1);
    files_begin();
    check_case(0, "a small raster");
    make_source();
    run_reference();
    takes_as_many_devices_as_there_are();
    takes_the_devices_named();
    says_when_there_is_no_device();
    shrinks_when_memory_runs_out();
    falls_back_when_memory_never_suffices();
    keeps_to_its_memory();
    files_end();
    return check_end();
}
