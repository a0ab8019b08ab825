/* SPDX-License-Identifier: MIT */
/* test_devices.c - the devices that a job uses, and the behaviour of a job when devices or their
 * memory are missing; in the simulator, for which a test sets the number of devices. */
#include "session/engine_choice.h"
#include "files.h"
#include "gpu/gpu.h"
#include "sim_control.h"

enum { SIDE = 96, N_PX = SIDE * SIDE };

/* A raster of noise, and the number of the allocation by which its tree grows: after the image's,
 * page-locked memory and the memory that suffices for most trees. */
enum { NOISE = 256, N_NOISE = NOISE * NOISE, GROWING = 4 };

static uint8_t pixels[N_PX];

static void make_source(void)
{
    for (int i = 0; i < N_PX; i++)
        pixels[i] = (uint8_t)(check_chance(55) ? 1 : 2);
    files_write_bytes(scratch("in.tif"), pixels, SIDE, SIDE);
}

static qfz_job job_of(qfz_task task, const char *src, int32_t tile, qfz_engine_choice engine,
                      const char *dst)
{
    qfz_job job = qfz_job_default(task);
    job.src = scratch(src);
    job.dst = dst;
    job.overwrite = true;
    job.engine = engine;
    job.n_threads = 3;
    job.tile_px = tile;
    return job;
}

static qfz_job label_job(qfz_engine_choice engine, const char *dst)
{
    return job_of(QFZ_LABEL, "in.tif", 16, engine, dst);
}

static qfz_job saliency_job(qfz_engine_choice engine, const char *dst)
{
    return job_of(QFZ_SALIENCY, "wide.tif", 40, engine, dst);
}

static bool same_pixels(const char *a, const char *b)
{
    grid x, y;
    if (!grid_read(&x, a) || !grid_read(&y, b)) return false;
    bool same = x.h == y.h && x.w == y.w;
    for (int64_t i = 0; same && i < x.h * x.w; i++)
        same = same_value(x.values[i], y.values[i]);
    grid_free(&x);
    grid_free(&y);
    return same;
}

static void run_reference(void)
{
    const qfz_job job = label_job(QFZ_ENGINE_CPU, scratch("cpu.tif"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message);
    CHECK(report.n_gpus == 0 && !strcmp(report.engine, "cpu"), "%s, %d GPUs", report.engine,
          report.n_gpus);
}

static void equals_reference(const qfz_job *job, const char *engine, int n_gpus)
{
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    if (!CHECK(qfz_job_run(job, &report, &err) == QFZ_OK, "%s", err.message)) return;
    CHECK(!strcmp(report.engine, engine) && report.n_gpus == n_gpus, "%s, %d GPUs, not %s, %d",
          report.engine, report.n_gpus, engine, n_gpus);
    CHECK(same_pixels(job->dst, scratch("cpu.tif")), "pixels differ with %d GPUs", n_gpus);
}

static void refused(const qfz_job *job, qfz_status status, const char *words)
{
    qfz_report report = qfz_report_default();
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
    CHECK(sim_was_used(0) && sim_was_used(2) && !sim_was_used(1), "GPU 1 was used");
    job.gpus = far;
    refused(&job, QFZ_EARG, "no GPU 4");
    job.gpus = twice;
    refused(&job, QFZ_EARG, "twice");
    job.engine = QFZ_ENGINE_CPU;
    refused(&job, QFZ_EARG, "CPU");
}

static void make_noise(void)
{
    static uint8_t noise[N_PX];
    for (int i = 0; i < N_PX; i++)
        noise[i] = (uint8_t)check_pick(200);
    files_write_bytes(scratch("noise.tif"), noise, SIDE, SIDE);
}

/* A curve of noise; the caller releases it. */
static qfz_curve curve_by(qfz_engine_choice engine, int n_gpus)
{
    qfz_job job = job_of(QFZ_CURVE, "noise.tif", 16, engine, NULL);
    qfz_report report = qfz_report_default();
    qfz_curve curve = qfz_curve_default();
    qfz_error err = {0};
    job.curve = &curve;
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message);
    CHECK(report.n_gpus == n_gpus, "%d GPUs, not %d", report.n_gpus, n_gpus);
    return curve;
}

static void shares_a_curve_among_devices(void)
{
    make_noise();
    qfz_curve want = curve_by(QFZ_ENGINE_CPU, 0);
    for (int n = 1; n <= 3; n++) {
        check_describe("a curve by %d devices", n);
        sim_set_devices(n);
        qfz_curve got = curve_by(QFZ_ENGINE_CUDA, n);
        const size_t bytes = (size_t)want.n * sizeof *want.regions;
        CHECK(got.n == want.n && want.n > 3 && !memcmp(got.alpha, want.alpha, bytes) &&
                  !memcmp(got.regions, want.regions, bytes),
              "another curve");
        qfz_curve_release(&got);
    }
    qfz_curve_release(&want);
}

/* Curve and labels have the device that the job names. */
static void finds_alpha_on_the_device_named(void)
{
    static const int last[] = {2};
    qfz_job job = job_of(QFZ_LABEL, "noise.tif", 16, QFZ_ENGINE_AUTO, scratch("cuda.tif"));
    qfz_job reference = job_of(QFZ_LABEL, "noise.tif", 16, QFZ_ENGINE_CPU, scratch("cpu.tif"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    check_describe("a largest number of regions");
    sim_set_devices(3);
    job.gpus = last;
    job.n_gpus = 1;
    job.regions_target = reference.regions_target = 20;
    CHECK(qfz_job_run(&reference, &report, &err) == QFZ_OK, "%s", err.message);
    equals_reference(&job, "cuda", 1);
    CHECK(sim_was_used(2) && !sim_was_used(0) && !sim_was_used(1), "another GPU was used");
    run_reference();
}

/* While a device starts slowly, other threads read its tiles. */
static void waits_for_slow_devices(void)
{
    qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    check_describe("devices that start slowly");
    sim_set_devices(2);
    sim_slow_start(30);
    equals_reference(&job, "cuda", 2);
    job.memory_bytes = 128 << 20;
    equals_reference(&job, "cuda", 2);
    sim_slow_start(0);
}

static void shares_the_devices_among_ranks(void)
{
    const qfz_device_request request = {.engine = QFZ_ENGINE_CUDA, .local_rank = 1, .n_local = 2};
    qfz_choice choice;
    qfz_error err = {0};
    check_describe("the second of two ranks");
    sim_set_devices(4);
    CHECK(qfz_choose(&choice, &request, &err) == QFZ_OK && choice.n_devices == 2, "%s",
          err.message);
    for (int i = 0; i < 2; i++)
        CHECK(choice.devices[i].index == 2 * i + 1, "GPU %d", choice.devices[i].index);
}

/* A program's view of the machine: the GPUs that are there, and the GPUs that are selected. */
typedef struct viewed {
    int n_there, gpus[QFZ_GPUS_MAX], n;
    bool can; /* true if a selection is possible */
} viewed;

static int count_viewed(void *arg)
{
    const viewed *const v = arg;
    return v->n_there;
}

static bool show_viewed(const int *gpus, int n, void *arg)
{
    viewed *const v = arg;
    memcpy(v->gpus, gpus, (size_t)n * sizeof *gpus);
    v->n = n;
    return v->can;
}

/* CUDA numbers two selected GPUs 0 and 1; if CUDA was initialised before the selection, it offers
 * all GPUs with their own numbers. */
static void finds_the_devices_that_are_shown(void)
{
    static const int gpus[] = {3, 1}, far[] = {1, 7};
    viewed v = {.n_there = 8, .can = true};
    const qfz_gpu_view view = {count_viewed, show_viewed, &v};
    qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    job.gpu_view = &view;
    job.n_gpus = 2;
    for (int there = 2; there <= 4; there += 2) {
        check_describe("GPUs 3 and 1 are shown, CUDA shows %d", there);
        sim_set_devices(there);
        job.gpus = gpus;
        equals_reference(&job, "cuda", 2);
        CHECK(v.n == 2 && v.gpus[0] == 3 && v.gpus[1] == 1, "%d shown", v.n);
        for (int i = 0; i < there; i++)
            CHECK(sim_was_used(i) == (there == 2 || i == 3 || i == 1), "GPU %d", i);
        job.gpus = far;
        if (there == 4) refused(&job, QFZ_EGPU, "no GPU 7");
    }
    v.can = false;
    refused(&job, QFZ_EARG, "no GPU 7; there are 4");
    v.can = true;
    sim_set_devices(1);
    sim_set_compute_capability(70);
    job.gpus = gpus;
    job.n_gpus = 1;
    refused(&job, QFZ_EGPU, "GPU 3 has");
    sim_set_compute_capability(90);
}

/* The selection that a job of this process makes of n_there GPUs; 0: none. */
static int shown_of(int n_there, qfz_job *job, int *gpus)
{
    viewed v = {.n_there = n_there, .can = true};
    const qfz_gpu_view view = {count_viewed, show_viewed, &v};
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    job->gpu_view = &view;
    sim_set_devices(n_there > 0 ? n_there : 4);
    CHECK(qfz_job_plan(job, &plan, &err) == QFZ_OK, "%s", err.message);
    memcpy(gpus, v.gpus, sizeof v.gpus);
    return v.n;
}

static void shows_no_more_than_it_takes(void)
{
    static const int two[] = {2, 0};
    const qfz_ranks ranks = {.rank = 5, .n = 6, .local_rank = 1, .n_local = 2};
    qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    int gpus[QFZ_GPUS_MAX], n;
    check_describe("GPUs of a job");
    CHECK(shown_of(4, &job, gpus) == 0, "all were shown");
    job.px_per_gpu = N_PX / 2;
    n = shown_of(4, &job, gpus);
    CHECK(n == 3, "%d GPUs of two times a GPU's pixels", n);
    job.px_per_gpu = N_PX + 1;
    n = shown_of(4, &job, gpus);
    CHECK(n == 1 && gpus[0] == 0, "%d GPUs of a small raster", n);
    CHECK(shown_of(0, &job, gpus) == 0, "shown where nobody knows");
    job.engine = QFZ_ENGINE_CPU;
    CHECK(shown_of(4, &job, gpus) == 0, "shown for the CPU");
    job.engine = QFZ_ENGINE_CUDA;
    job.px_per_gpu = N_PX / 6;
    job.ranks = &ranks;
    n = shown_of(6, &job, gpus);
    CHECK(n == 2 && gpus[0] == 1 && gpus[1] == 3, "%d GPUs of a rank, %d, %d", n, gpus[0], gpus[1]);
    job.ranks = NULL;
    job.gpus = two;
    job.n_gpus = 2;
    n = shown_of(3, &job, gpus);
    CHECK(n == 2 && gpus[0] == 2 && gpus[1] == 0, "%d GPUs named, %d, %d", n, gpus[0], gpus[1]);
}

static void says_when_there_is_no_device(void)
{
    const qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    check_describe("no device");
    sim_set_devices(0);
    refused(&job, QFZ_EGPU, "no CUDA-capable device");
    sim_set_devices(1);
    sim_set_compute_capability(70);
    refused(&job, QFZ_EGPU, "7.0; 7.5 is the least");
    sim_set_compute_capability(75);
    equals_reference(&job, "cuda", 1);
    sim_set_compute_capability(90);
}

/* At whichever allocation memory runs out, smaller tiles or fewer threads give the same result. */
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

/* The level of each pixel's parent in the tree, its lightest level. */
static void takes_lowest_levels(qfz_session *s, uint32_t *level)
{
    const qfz_tree t = qfz_session_tree(s);
    for (int p = 0; p < N_NOISE; p++)
        level[p] = t.level[t.parent[p]];
}

/* The tree of noise has more nodes than fit the first allocation.  If any allocation fails, the
 * session reports the failure, and the next run starts again. */
static void gives_trees_the_memory_they_take(void)
{
    static uint16_t noise[N_NOISE];
    static uint32_t want[N_NOISE], got[N_NOISE];
    const qfz_criterion criterion = qfz_job_default(QFZ_SALIENCY).criterion;
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = NOISE,
                             .w = NOISE,
                             .n_bands = 1,
                             .type = QFZ_U16,
                             .pixels = noise};
    const qfz_session_options on_cpu = {.struct_size = sizeof(qfz_session_options),
                                        .engine = QFZ_ENGINE_CPU};
    const qfz_session_options on_gpu = {.struct_size = sizeof(qfz_session_options),
                                        .engine = QFZ_ENGINE_CUDA};
    qfz_session *s = NULL;
    qfz_error err = {0};
    for (int i = 0; i < N_NOISE; i++)
        noise[i] = (uint16_t)check_pick(65536);
    CHECK(qfz_session_open(&s, &image, &criterion, &on_cpu, &err) == QFZ_OK &&
              qfz_session_run(s, QFZ_PART_TREE, NULL, &err) == QFZ_OK,
          "%s", err.message);
    takes_lowest_levels(s, want);
    qfz_session_close(s);
    for (int n = 1; n <= GROWING + 1; n++) {
        check_describe("a tree of noise; allocation %d fails", n);
        CHECK(qfz_session_open(&s, &image, &criterion, &on_gpu, &err) == QFZ_OK, "%s", err.message);
        sim_fail_allocation(n, 0);
        const qfz_status st = qfz_session_run(s, QFZ_PART_TREE, NULL, &err);
        sim_fail_allocation(0, 0);
        CHECK(st == (n > GROWING ? QFZ_OK : QFZ_ENOMEM), "status %d: %s", (int)st, err.message);
        if (st != QFZ_OK)
            CHECK(qfz_session_run(s, QFZ_PART_TREE, NULL, &err) == QFZ_OK, "%s", err.message);
        takes_lowest_levels(s, got);
        CHECK(memcmp(want, got, sizeof want) == 0, "levels differ");
        qfz_session_close(s);
    }
}

static void falls_back_when_memory_never_suffices(void)
{
    qfz_job job = label_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    check_describe("every allocation fails");
    sim_fail_allocation(1, 1);
    refused(&job, QFZ_ENOMEM, "out of memory");
    sim_fail_allocation(0, 0);
}

/* Where no device has memory, the CPU engine does the work of all alphas, in other tiles: the
 * second alpha kept the engine and the tiles of the device. */
static void falls_back_for_all_alphas(void)
{
    static const double alphas[] = {1, 0};
    qfz_job job = job_of(QFZ_LABEL, "in.tif", 0, QFZ_ENGINE_AUTO, scratch("several_{alpha}.tif"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    job.alphas = alphas;
    job.n_alphas = 2;
    job.gpu_memory_bytes = 150000;
    check_describe("every allocation of several alphas fails");
    sim_fail_allocation(1, 1);
    const qfz_status st = qfz_job_run(&job, &report, &err);
    sim_fail_allocation(0, 0);
    if (!CHECK(st == QFZ_OK, "status %d: %s", (int)st, err.message)) return;
    CHECK(!strcmp(report.engine, "cpu"), "by %s", report.engine);
    CHECK(same_pixels(scratch("several_0.tif"), scratch("cpu.tif")), "pixels differ at alpha 0");
}

/* A job uses less memory than the whole raster in one tile would, and allocates all of its memory
 * before the first tile. */
static void keeps_to_its_memory(void)
{
    enum { BYTES = 150000 };
    static const qfz_task tasks[] = {QFZ_LABEL, QFZ_SALIENCY, QFZ_SIMPLIFY};
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    for (int i = 0; i < 3; i++) {
        qfz_job job = job_of(tasks[i], "in.tif", 0, QFZ_ENGINE_CUDA, scratch("cuda.tif"));
        qfz_job reference = job_of(tasks[i], "in.tif", 0, QFZ_ENGINE_CPU, scratch("cpu.tif"));
        job.criterion.has_alpha = reference.criterion.has_alpha = tasks[i] == QFZ_SIMPLIFY;
        job.gpu_memory_bytes = BYTES;
        check_describe("device memory of %d bytes, task %d", BYTES, (int)tasks[i]);
        CHECK(qfz_job_run(&reference, &report, &err) == QFZ_OK, "%s", err.message);
        sim_watch_memory();
        equals_reference(&job, "cuda", 1);
        CHECK(sim_most_bytes() <= BYTES && sim_most_bytes() > BYTES / 4, "%lld bytes",
              (long long)sim_most_bytes());
        CHECK(sim_late_allocations() == 0, "%lld allocations after the first launch",
              (long long)sim_late_allocations());
        job.tile_px = SIDE;
        refused(&job, QFZ_ENOMEM, "may be used");
    }
    run_reference();
}

/* Bytes of device memory per pixel of a tile are those that docs/user/gpu.md states. */
static void takes_what_is_written(void)
{
    enum { LARGE_TILE = 1024 };
    static const struct {
        qfz_kind kind;
        int bytes[6]; /* for 8 bits, 16 bits and floats, each with 4 and 8 neighbours */
    } table[] = {{QFZ_COMPONENTS, {27, 27, 28, 28, 30, 30}},
                 {QFZ_LEVELS, {13, 18, 14, 19, 19, 22}},
                 {QFZ_OMEGA, {27, 27, 29, 29, 40, 40}},
                 {QFZ_TREE, {15, 15, 16, 16, 20, 20}}};
    static const qfz_type types[] = {QFZ_U8, QFZ_U16, QFZ_F32};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int k = 0; k < 6; k++) {
            const qfz_rule rule = {.connectivity = k % 2 == 0 ? 4 : 8,
                                   .distance = QFZ_LINF,
                                   .type = types[k / 2],
                                   .n_bands = 1};
            const int64_t all = qfz_engine_cuda.device->tile_bytes(&rule, table[i].kind, NULL,
                                                                   LARGE_TILE, LARGE_TILE);
            const int64_t bytes = all / (LARGE_TILE * LARGE_TILE) + 1;
            check_describe("memory of kind %d, %d-connected, type %d", (int)table[i].kind,
                           rule.connectivity, (int)rule.type);
            CHECK(bytes == table[i].bytes[k], "%d bytes a pixel, not %d", (int)bytes,
                  table[i].bytes[k]);
        }
}

static void make_wide_source(int side)
{
    const GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("wide.tif"), side, side,
                                      1, GDT_Float32, NULL);
    files_must(d != NULL);
    GDALRasterBandH band = GDALGetRasterBand(d, 1);
    for (int y = 0; y < side; y++) {
        float row[SIDE];
        for (int x = 0; x < side; x++)
            row[x] = (float)check_pick(50) / 4;
        files_must(GDALRasterIO(band, GF_Write, 0, y, side, 1, row, side, 1, GDT_Float32, 0, 0) ==
                   CE_None);
    }
    GDALClose(d);
}

/* Levels of 32 bits need more shared memory than some GPUs have; levels of 8 bits do not. */
static void knows_what_a_device_can_do(void)
{
    enum { TURING = 64 << 10 };
    qfz_job job = saliency_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    qfz_job reference = saliency_job(QFZ_ENGINE_CPU, scratch("cpu.tif"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    check_describe("blocks of little shared memory");
    make_wide_source(SIDE);
    CHECK(qfz_job_run(&reference, &report, &err) == QFZ_OK, "%s", err.message);
    equals_reference(&job, "cuda", 1);
    sim_set_shared(TURING);
    refused(&job, QFZ_EGPU, "shared memory");
    reference.src = job.src = scratch("in.tif");
    CHECK(qfz_job_run(&reference, &report, &err) == QFZ_OK, "%s", err.message);
    equals_reference(&job, "cuda", 1);
    sim_set_shared(227 << 10);
}

/* Almost every pixel is a region of its own, and the sums of all do not fit the memory. */
static void adds_up_in_parts(void)
{
    qfz_job job = job_of(QFZ_SIMPLIFY, "wide.tif", 40, QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    qfz_job reference = job_of(QFZ_SIMPLIFY, "wide.tif", 40, QFZ_ENGINE_CPU, scratch("cpu.tif"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    check_describe("more regions than sums");
    job.criterion.has_alpha = reference.criterion.has_alpha = true;
    CHECK(qfz_job_run(&reference, &report, &err) == QFZ_OK, "%s", err.message);
    equals_reference(&job, "cuda", 1);
}

/* For a raster large enough for a GPU, the job runs on the CPU, with a warning that contains these
 * words (NULL: without a warning). */
static void falls_back(const char *words)
{
    qfz_job job = saliency_job(QFZ_ENGINE_AUTO, scratch("cuda.tif"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    job.src = scratch("large.tif");
    job.tile_px = 0;
    job.n_threads = 1; /* with more, the CPU would finish before the device starts */
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message);
    if (!words) {
        CHECK(!strcmp(report.engine, "cpu") && !report.warning[0], "%s, %s", report.engine,
              report.warning);
        return;
    }
    CHECK(!strcmp(report.engine, "cpu") && strstr(report.warning, words) &&
              strstr(report.warning, "the CPU does it instead") && !strchr(report.warning, '\n'),
          "%s, %s", report.engine, report.warning);
}

/* The plan for a large raster by one thread has this engine, and a reason with these words. */
static void plans_of(const char *src, qfz_task task, qfz_engine_choice choice, const char *engine,
                     const char *words)
{
    qfz_job job = job_of(task, src, 0, choice, scratch("cuda.tif"));
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    job.n_threads = 1;
    if (task == QFZ_CURVE) {
        job.dst = NULL;
        job.count_only = true;
    }
    CHECK(qfz_job_plan(&job, &plan, &err) == QFZ_OK, "%s", err.message);
    CHECK(!strcmp(plan.engine, engine) && strstr(plan.engine_reason, words), "%s, %s", plan.engine,
          plan.engine_reason);
}

static void plans(qfz_task task, qfz_engine_choice choice, const char *engine, const char *words)
{
    plans_of("large.tif", task, choice, engine, words);
}

/* What no GPU can do is left to the CPU without a start of CUDA, which fails here. */
static void does_not_ask_cuda_for_nothing(void)
{
    enum { LARGE = 3500 }; /* a plan reads no pixels */
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("large_i32.tif"), LARGE,
                                LARGE, 1, GDT_Int32, NULL);
    files_must(d != NULL);
    GDALClose(d);
    sim_set_compute_capability(70);
    plans_of("large_i32.tif", QFZ_CURVE, QFZ_ENGINE_AUTO, "cpu", "no curve of levels up to 2^32");
    plans(QFZ_CURVE, QFZ_ENGINE_AUTO, "cpu", "7.5 is the least");
    sim_set_compute_capability(90);
    VSIUnlink(scratch("large_i32.tif"));
}

static void takes_what_finishes_first(void)
{
    check_describe("engine auto");
    plans(QFZ_SALIENCY, QFZ_ENGINE_AUTO, "cuda", "first by measured rates");
    plans(QFZ_LABEL, QFZ_ENGINE_AUTO, "cpu", "first by measured rates");
    plans(QFZ_LABEL, QFZ_ENGINE_CUDA, "cuda", "");
    plans(QFZ_CURVE, QFZ_ENGINE_AUTO, "cuda", "first by measured rates");
    sim_set_devices(0);
    plans(QFZ_SALIENCY, QFZ_ENGINE_AUTO, "cpu", "no GPU is visible");
    plans(QFZ_LABEL, QFZ_ENGINE_AUTO, "cpu", "first by measured rates"); /* CUDA is not asked */
    sim_set_devices(1);
    sim_set_compute_capability(70);
    plans(QFZ_SALIENCY, QFZ_ENGINE_AUTO, "cpu", "7.5 is the least");
    sim_set_compute_capability(90);
    does_not_ask_cuda_for_nothing();
}

/* Of a raster that is large enough for many more. */
static void counts_the_gpus_that_are_there(void)
{
    viewed v = {.n_there = 2};
    const qfz_gpu_view view = {count_viewed, show_viewed, &v};
    qfz_job job = job_of(QFZ_LABEL, "large.tif", 0, QFZ_ENGINE_AUTO, scratch("cuda.tif"));
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    check_describe("engine auto, two GPUs");
    job.gpu_view = &view;
    job.px_per_gpu = 1;
    CHECK(qfz_job_plan(&job, &plan, &err) == QFZ_OK, "%s", err.message);
    CHECK(strstr(plan.engine_reason, "on 2 GPUs"), "%s", plan.engine_reason);
}

/* With --engine auto, the job runs on the CPU, with a warning. */
static void leaves_to_the_cpu_what_a_device_cannot_do(void)
{
    enum { LARGE = 3500 }; /* pixels enough to make the start of a GPU pay */
    check_describe("a large raster, blocks of little shared memory");
    uint8_t *const large = calloc((size_t)LARGE * LARGE, 1);
    files_must(large != NULL);
    files_write_bytes(scratch("large.tif"), large, LARGE, LARGE);
    free(large);
    sim_set_shared(16 << 10);
    falls_back("shared memory");
    sim_set_shared(227 << 10);
}

static void leaves_to_the_cpu_what_no_device_can_take(void)
{
    check_describe("no device, engine auto");
    sim_set_devices(0);
    falls_back(NULL);
    sim_set_devices(1);
    check_describe("an old device, engine auto");
    sim_set_compute_capability(70);
    falls_back("7.5 is the least");
    sim_set_compute_capability(90);
    check_describe("no memory, engine auto");
    sim_fail_allocation(1, 1);
    falls_back("out of memory");
    sim_fail_allocation(0, 0);
}

/* Failures that occur only when workers open. */
static void leaves_to_the_cpu_what_does_not_start(void)
{
    qfz_job job = saliency_job(QFZ_ENGINE_CUDA, scratch("cuda.tif"));
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = SIDE,
                             .w = SIDE,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    qfz_session *session = NULL;
    qfz_error err = {0};
    check_describe("a device that does not start");
    sim_fail_start(1);
    falls_back("GPU");
    CHECK(qfz_session_open(&session, &image, &job.criterion, NULL, &err) == QFZ_OK &&
              qfz_session_run(session, QFZ_PART_SALIENCY, NULL, &err) == QFZ_OK,
          "%s", err.message);
    CHECK(!strcmp(qfz_session_engine(session), "cpu"), "%s", qfz_session_engine(session));
    qfz_session_close(session);
    refused(&job, QFZ_EGPU, "cudaStreamCreate");
    sim_fail_start(0);
}

/* Trees and labels have a method for every device. */
static void has_a_way_for_every_tree(void)
{
    static const qfz_part parts[] = {QFZ_PART_TREE, QFZ_PART_LABEL, QFZ_PART_FEATURES};
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = SIDE,
                             .w = SIDE,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    const qfz_criterion criterion = qfz_job_default(QFZ_LABEL).criterion;
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = QFZ_ENGINE_CUDA};
    check_describe("parts of a session with little shared memory");
    sim_set_shared(64 << 10);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        qfz_session *session = NULL;
        qfz_error err = {0};
        CHECK(qfz_session_open(&session, &image, &criterion, &options, &err) == QFZ_OK &&
                  qfz_session_run(session, parts[i], NULL, &err) == QFZ_OK,
              "part %d: %s", (int)parts[i], err.message);
        qfz_session_close(session);
    }
    sim_set_shared(227 << 10);
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
    shares_a_curve_among_devices();
    finds_alpha_on_the_device_named();
    waits_for_slow_devices();
    shares_the_devices_among_ranks();
    finds_the_devices_that_are_shown();
    shows_no_more_than_it_takes();
    says_when_there_is_no_device();
    shrinks_when_memory_runs_out();
    gives_trees_the_memory_they_take();
    falls_back_when_memory_never_suffices();
    falls_back_for_all_alphas();
    keeps_to_its_memory();
    takes_what_is_written();
    knows_what_a_device_can_do();
    adds_up_in_parts();
    leaves_to_the_cpu_what_a_device_cannot_do();
    takes_what_finishes_first();
    counts_the_gpus_that_are_there();
    leaves_to_the_cpu_what_no_device_can_take();
    leaves_to_the_cpu_what_does_not_start();
    has_a_way_for_every_tree();
    files_end();
    return check_end();
}
