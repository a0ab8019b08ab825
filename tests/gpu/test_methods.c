/* SPDX-License-Identifier: MIT */
/* test_methods.c - published methods by name, in jobs over several simulated devices: labels are
 * those of the CPU engine pixel by pixel, tables byte by byte; and labels are 1, 2, 3 and so on, in
 * the order of first pixels.  By default the tiles of such a job are as large as memory allows. */
#include "files.h"
#include "core/level.h"
#include "sim_control.h"

enum { H = 150, W = 107, TILE = 40, DEVICES = 4 }; /* 12 tiles, the last ones smaller */

static const char *const labeling[] = {"stava", "c2fl", "ha4", "ha4-32"};
static const char *const tree_making[] = {"connect-v1", "connect-v2"};
enum { N_LABELING = 4, N_TREE_MAKING = 2, MOST = 70 };

static uint8_t pixels[H * W];

/* Grains of several values among holes: regions of one pixel, and regions that extend over all
 * tiles. */
static void make_source(int grain, int n_values)
{
    static uint8_t grains[H * W];
    for (int p = 0; p < H * W; p++)
        grains[p] = (uint8_t)(check_chance(30) ? 0 : 1 + check_pick(n_values));
    for (int p = 0; p < H * W; p++)
        pixels[p] = grains[p / W / grain * W + p % W / grain];
    files_write_bytes(scratch("in.tif"), pixels, H, W);
}

static qfz_job job_of(qfz_engine_choice engine, int connectivity, const char *dst,
                      const char *regions)
{
    qfz_job job = qfz_job_default(QFZ_LABEL);
    job.src = scratch("in.tif");
    job.dst = dst;
    job.regions = regions;
    job.overwrite = true;
    job.has_background = true;
    job.criterion.connectivity = connectivity;
    job.engine = engine;
    job.n_threads = DEVICES;
    job.tile_px = TILE;
    return job;
}

static void labels_are(const grid *want)
{
    grid got;
    double greatest = 0;
    int64_t gaps = 0, differ = 0;
    if (!grid_read(&got, scratch("cuda.tif"))) return;
    files_must(got.h == want->h && got.w == want->w);
    for (int64_t p = 0; p < got.h * got.w; p++) {
        differ += got.values[p] != want->values[p];
        gaps += got.values[p] > greatest + 1 || (got.values[p] == 0) != (pixels[p] == 0);
        if (got.values[p] > greatest) greatest = got.values[p];
    }
    CHECK(differ == 0, "%" PRId64 " labels are not the CPU's", differ);
    CHECK(gaps == 0, "%" PRId64 " labels are not in order", gaps);
    grid_free(&got);
}

/* Labels with n_devices devices, all of which are used. */
static void labels_on(int n_devices, const char *method, int connectivity, const grid *want)
{
    qfz_job job = job_of(QFZ_ENGINE_CUDA, connectivity, scratch("cuda.tif"), scratch("cuda.csv"));
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    check_describe("%s, %d-connected, on %d devices", method, connectivity, n_devices);
    job.gpu_method = method;
    sim_set_devices(n_devices);
    if (!CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message)) return;
    CHECK(report.n_gpus == n_devices && !strcmp(report.engine, "cuda"), "%d GPUs, %s",
          report.n_gpus, report.engine);
    for (int i = 0; i < n_devices; i++)
        CHECK(sim_was_used(i), "GPU %d was not used", i);
    labels_are(want);
    CHECK(files_are_same(scratch("cuda.csv"), scratch("cpu.csv")), "the tables differ");
}

static void labels(int connectivity)
{
    const qfz_job job =
        job_of(QFZ_ENGINE_CPU, connectivity, scratch("cpu.tif"), scratch("cpu.csv"));
    grid want;
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s", err.message);
    if (!grid_read(&want, scratch("cpu.tif"))) return;
    for (int m = 0; m < N_LABELING; m++)
        for (int n = 1; n <= DEVICES; n++)
            labels_on(n, labeling[m], connectivity, &want);
    grid_free(&want);
}

/* ---- Any integer type, any size and tiles. */

static const double least_of[] = {0, -128, 0, -32768, 0, -2147483648.0};

/* A raster of few values that differ in one bit each, of low and of high bits, among them the least
 * of the type. */
static void make_typed_source(qfz_type type, int h, int w)
{
    static double values[MOST * MOST];
    const int bits = 8 * (int)qfz_type_bytes(type), grain = 1 + (int)check_pick(4);
    char **options = files_options(type);
    const GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("in.tif"), w, h, 1,
                                      files_type(type), options);
    CSLDestroy(options);
    files_must(d != NULL);
    for (int p = 0; p < h * w; p++) {
        const int y = p / w / grain * grain, x = p % w / grain * grain;
        const int bit = (int)check_pick(bits - 1) / 3 * 3;
        const double one = check_chance(60) ? 0 : (double)(1u << bit);
        values[p] = y * w + x < p ? values[y * w + x] : least_of[type] + one;
    }
    files_must(GDALRasterIO(GDALGetRasterBand(d, 1), GF_Write, 0, 0, w, h, values, w, h,
                            GDT_Float64, 0, 0) == CE_None);
    GDALClose(d);
}

static bool run(qfz_job *job, qfz_engine_choice engine, const char *method, qfz_report *report)
{
    qfz_error err = {0};
    *report = qfz_report_default();
    job->src = scratch("in.tif"); /* names in the scratch folder do not last */
    job->engine = engine;
    job->gpu_method = method;
    return CHECK(qfz_job_run(job, report, &err) == QFZ_OK, "%s: %s", method ? method : "cpu",
                 err.message);
}

static void same_pixels(void)
{
    grid want, got;
    if (!grid_read(&want, scratch("cpu.tif"))) return;
    if (!grid_read(&got, scratch("cuda.tif"))) return;
    files_must(got.h == want.h && got.w == want.w);
    int64_t differ = 0;
    for (int64_t p = 0; p < got.h * got.w; p++)
        differ += got.values[p] != want.values[p];
    CHECK(differ == 0, "%" PRId64 " labels differ", differ);
    grid_free(&want);
    grid_free(&got);
}

/* Every method on one raster, with other tiles, threads and devices than the CPU engine. */
static void labels_any_type(qfz_type type)
{
    const int h = 1 + (int)check_pick(MOST), w = 1 + (int)check_pick(MOST);
    qfz_job job =
        job_of(QFZ_ENGINE_CPU, check_chance(50) ? 4 : 8, scratch("cpu.tif"), scratch("cpu.csv"));
    qfz_report want, got;
    make_typed_source(type, h, w);
    job.has_background = check_chance(30);
    job.background = least_of[type];
    job.tile_px = 0;
    if (!run(&job, QFZ_ENGINE_CPU, NULL, &want)) return;
    for (int m = 0; m < N_LABELING; m++) {
        const int n_devices = 1 + (int)check_pick(3);
        job.tile_px = check_chance(20) ? 0 : 1 + (int32_t)check_pick(MOST);
        job.n_threads = check_chance(50) ? 0 : n_devices + (int)check_pick(2);
        check_describe("%s, %d-connected, %d x %d pixels of type %d, tiles of %d, %d devices",
                       labeling[m], job.criterion.connectivity, w, h, (int)type, job.tile_px,
                       n_devices);
        sim_set_devices(n_devices);
        job.dst = scratch("cuda.tif");
        job.regions = scratch("cuda.csv");
        if (!run(&job, QFZ_ENGINE_CUDA, labeling[m], &got)) return;
        CHECK(got.regions == want.regions && got.pixels == want.pixels,
              "%" PRIu64 " regions, not %" PRIu64, got.regions, want.regions);
        same_pixels();
        CHECK(files_are_same(scratch("cuda.csv"), scratch("cpu.csv")), "the tables differ");
        job.dst = job.regions = NULL;
        job.count_only = true;
        if (!run(&job, QFZ_ENGINE_CUDA, labeling[m], &got)) return;
        CHECK(got.regions == want.regions, "%" PRIu64 " counted, not %" PRIu64, got.regions,
              want.regions);
        job.count_only = false;
    }
}

/* ---- Plans. */

enum { LARGE = 1024, MEMORY = 20 << 20 };

static qfz_plan plan_of(const qfz_job *job)
{
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    CHECK(qfz_job_plan(job, &plan, &err) == QFZ_OK, "%s", err.message);
    return plan;
}

/* Labels of a raster of zeros; the job's memory of the device is within its limit. */
static void takes_what_is_planned(qfz_job *job)
{
    qfz_report report;
    job->count_only = true;
    job->dst = NULL;
    sim_watch_memory();
    if (!run(job, QFZ_ENGINE_CUDA, job->gpu_method, &report)) return;
    CHECK(report.regions == 1, "%" PRIu64 " regions", report.regions);
    CHECK(sim_most_bytes() > 0 && sim_most_bytes() <= job->gpu_memory_bytes,
          "%s: %" PRId64 " bytes", job->gpu_method, sim_most_bytes());
}

/* One thread for each device; one tile, or as many as the memory of the device asks for. */
static void tiles_are_as_large_as_memory_allows(void)
{
    const GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("in.tif"), LARGE, LARGE,
                                      1, GDT_UInt16, NULL);
    const int one = (int)check_pick(N_LABELING);
    files_must(d != NULL);
    GDALClose(d);
    check_describe("plans");
    for (int m = 0; m < N_LABELING; m++) {
        qfz_job job = job_of(QFZ_ENGINE_CUDA, 4, scratch("cuda.tif"), NULL);
        job.n_threads = job.tile_px = 0;
        job.has_background = false;
        job.gpu_method = labeling[m];
        sim_set_devices(1);
        qfz_plan plan = plan_of(&job);
        CHECK(plan.n_threads == 1 && plan.tiles_x * plan.tiles_y == 1,
              "%s: %d threads, %d x %d tiles", labeling[m], (int)plan.n_threads, (int)plan.tiles_x,
              (int)plan.tiles_y);
        job.n_gpus = 2;
        sim_set_devices(2);
        plan = plan_of(&job);
        CHECK(plan.n_threads == 2 && plan.tiles_x * plan.tiles_y >= 2, "%s: %d threads, %d tiles",
              labeling[m], (int)plan.n_threads, (int)(plan.tiles_x * plan.tiles_y));
        job.n_gpus = 1;
        job.gpu_memory_bytes = MEMORY;
        plan = plan_of(&job);
        CHECK(plan.n_threads == 1 && plan.tiles_x * plan.tiles_y > 1 &&
                  plan.tile_w * plan.tile_h > 400000,
              "%s: tiles of %d x %d", labeling[m], (int)plan.tile_w, (int)plan.tile_h);
        if (m == one) takes_what_is_planned(&job);
    }
}

/* ---- Trees. */

/* The level of each pixel's parent, and the number of nodes. */
static int64_t tree_of(const qfz_image *image, int connectivity, const char *name, uint32_t *level)
{
    const qfz_criterion method = {.connectivity = connectivity, .distance = QFZ_L1};
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = name ? QFZ_ENGINE_CUDA : QFZ_ENGINE_CPU,
                                         .gpu_method = name};
    qfz_session *s = NULL;
    qfz_error err = {0};
    const bool good = qfz_session_open(&s, image, &method, &options, &err) == QFZ_OK &&
                      qfz_session_run(s, QFZ_PART_TREE, NULL, &err) == QFZ_OK;
    int64_t n = 0;
    if (CHECK(good, "%s", err.message)) {
        const qfz_tree tree = qfz_session_tree(s);
        n = tree.n_nodes;
        for (int p = 0; p < H * W; p++)
            level[p] = tree.level[tree.parent[p]];
    }
    qfz_session_close(s);
    return n;
}

/* A tree is computed of one image on one device, however many there are; jobs do not use it. */
static void trees(int connectivity)
{
    static uint32_t want[H * W], got[H * W];
    const qfz_image image = {.struct_size = sizeof(qfz_image),
                             .h = H,
                             .w = W,
                             .n_bands = 1,
                             .type = QFZ_U8,
                             .pixels = pixels};
    const int64_t n = tree_of(&image, connectivity, NULL, want);
    for (int m = 0; m < N_TREE_MAKING; m++)
        for (int n_devices = 1; n_devices <= DEVICES; n_devices += DEVICES - 1) {
            qfz_job job = job_of(QFZ_ENGINE_CUDA, connectivity, scratch("cuda.tif"), NULL);
            qfz_report report = qfz_report_default();
            qfz_error err = {0};
            check_describe("%s, %d-connected, on %d devices", tree_making[m], connectivity,
                           n_devices);
            sim_set_devices(n_devices);
            CHECK(tree_of(&image, connectivity, tree_making[m], got) == n, "nodes are missing");
            CHECK(memcmp(want, got, sizeof want) == 0, "levels differ");
            job.gpu_method = tree_making[m];
            CHECK(qfz_job_run(&job, &report, &err) == QFZ_EARG &&
                      strstr(err.message, "connect-v") && strstr(err.message, "ha4-32"),
                  "%s", err.message);
        }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 2);
    files_begin();
    if (check_.first == 0) tiles_are_as_large_as_memory_allows();
    for (int64_t c = check_.first; c < check_.cases; c++) {
        const int connectivity = c % 2 == 0 ? 4 : 8;
        check_case(c, "%d-connected", connectivity);
        make_source(c % 2 == 0 ? 1 : 3, c % 2 == 0 ? 2 : 4);
        labels(connectivity);
        trees(connectivity);
        for (int type = (int)(c % 2); type < QFZ_F32; type += 2)
            labels_any_type((qfz_type)type);
    }
    files_end();
    return check_end();
}
