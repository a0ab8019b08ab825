/* SPDX-License-Identifier: MIT */
/* test_edges.c - jobs with levels of edges from a raster (--edges), of tiles with several blocks of
 * 64 x 64 pixels: the CUDA engine's outputs are those of the CPU engine on one tile. */
#include "engine_under_test.h"
#include "files.h"

enum { SIDE = 200, MAX_BANDS = 2 };

/* A type of the raster of edges: its largest level, and a nodata value. */
static const struct edge_type {
    GDALDataType type;
    double max, no_edge;
} edge_types[] = {{GDT_Byte, 254, 255},        {GDT_Byte, 255, 3},
                  {GDT_UInt16, 65534, 65535},  {GDT_UInt16, 65535, 0},
                  {GDT_Int32, 70000, -1},      {GDT_UInt32, 4294967294.0, 4294967295.0},
                  {GDT_Float32, INFINITY, NAN}};

typedef struct problem {
    raster r;
    const struct edge_type *edges;
    int64_t n_levels;
    double omega[MAX_BANDS];
    qfz_job job;
} problem;

/* ---- Input. */
/* Fields whose size, and borders whose level, vary; few edges or many are missing. */
static double level_at(const problem *p, int64_t y, int64_t x, int64_t side)
{
    const bool inside = y % side && x % side;
    const int64_t whole = inside ? check_pick(2) : check_pick(p->n_levels);
    const double scale = p->edges->type == GDT_Float32 ? 1.0 / 7 : 1;
    return check_chance(1) ? p->edges->max : (double)whole * scale;
}

static void write_edges(const problem *p)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const int n_dirs = p->job.criterion.connectivity / 2;
    const int64_t n = (int64_t)h * w, side = 2 + check_pick(40);
    const int64_t missing = check_chance(30) ? 0 : check_pick(60);
    double *const values = calloc((size_t)n, sizeof *values);
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("edges.tif"), w, h, n_dirs,
                                p->edges->type, NULL);
    files_must(values && d);
    for (int b = 0; b < n_dirs; b++) {
        const GDALRasterBandH band = GDALGetRasterBand(d, b + 1);
        for (int64_t i = 0; i < n; i++)
            values[i] = check_chance(missing) ? p->edges->no_edge : level_at(p, i / w, i % w, side);
        GDALSetRasterNoDataValue(band, p->edges->no_edge);
        files_must(GDALRasterIO(band, GF_Write, 0, 0, w, h, values, w, h, GDT_Float64, 0, 0) ==
                   CE_None);
    }
    GDALClose(d);
    free(values);
}

static void write_source(const problem *p)
{
    const qfz_image *const image = &p->r.image;
    const int h = (int)image->h, w = (int)image->w;
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("src.tif"), w, h,
                                image->n_bands, files_type(image->type), NULL);
    files_must(d && GDALDatasetRasterIO(d, GF_Write, 0, 0, w, h, p->r.pixels, w, h,
                                        files_type(image->type), image->n_bands, NULL, 0, 0,
                                        0) == CE_None);
    GDALClose(d);
    files_write_bytes(scratch("mask.tif"), p->r.valid, h, w);
}

static void make(problem *p)
{
    static const qfz_type types[] = {QFZ_U8, QFZ_I16, QFZ_U16, QFZ_I32, QFZ_F32};
    static const qfz_task tasks[] = {QFZ_LABEL, QFZ_SIMPLIFY, QFZ_SALIENCY};
    static const int64_t n_levels[] = {2, 6, 200, 60000};
    raster_make(&p->r, SIDE, (int)types[check_pick(5)], MAX_BANDS);
    p->edges = &edge_types[check_pick(sizeof edge_types / sizeof *edge_types)];
    p->n_levels = n_levels[check_pick(p->edges->type == GDT_Byte ? 3 : 4)];
    p->job = qfz_job_default(tasks[check_pick(3)]);
    p->job.criterion.connectivity = check_chance(50) ? 4 : 8;
    if (check_chance(40)) p->job.criterion.min_area = 2 + (uint64_t)check_pick(80);
    if (p->job.task != QFZ_SALIENCY) {
        p->job.criterion.has_alpha = true;
        p->job.criterion.alpha =
            check_chance(20) ? INFINITY : (double)check_pick(p->n_levels) * 0.7;
    }
    for (int b = 0; p->job.task == QFZ_SIMPLIFY && b < p->r.image.n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    if (p->job.task == QFZ_SIMPLIFY) {
        p->job.criterion.omega = p->omega;
        p->job.criterion.n_omega = p->r.image.n_bands;
    }
    p->job.overwrite = true;
    write_source(p);
    write_edges(p);
}

/* ---- Comparison. */
static bool runs(const problem *p, qfz_engine_choice engine, const char *name, int32_t tile_px,
                 qfz_report *report)
{
    char dst[PATH_ROOM], labels[PATH_ROOM];
    qfz_job job = p->job;
    qfz_error err = {0};
    snprintf(dst, sizeof dst, "%s/%s.tif", files_.folder, name);
    snprintf(labels, sizeof labels, "%s/%s_labels.tif", files_.folder, name);
    job.src = scratch("src.tif");
    job.edges = scratch("edges.tif");
    job.mask = scratch("mask.tif");
    job.dst = dst;
    job.labels = job.task == QFZ_SIMPLIFY ? labels : NULL;
    job.engine = engine;
    job.tile_px = tile_px;
    job.n_threads = 1 + (int)check_pick(3);
    *report = qfz_report_default();
    return CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "%s: %s", name, err.message);
}

static void same_rasters(const char *a, const char *b)
{
    grid x, y;
    if (!grid_read(&x, scratch(a)) || !grid_read(&y, scratch(b))) return;
    CHECK(x.type == y.type && x.n_bands == y.n_bands, "%s has %d bands of type %d, %s %d of %d", a,
          x.n_bands, (int)x.type, b, y.n_bands, (int)y.type);
    for (int64_t i = 0; x.n_bands == y.n_bands && i < x.n_bands * x.h * x.w; i++)
        if (!CHECK(same_value(x.values[i], y.values[i]),
                   "%s: band %d, pixel %d %d is %.9g, not %.9g", b, (int)(i / (x.h * x.w)) + 1,
                   (int)(i % (x.h * x.w) / x.w), (int)(i % x.w), y.values[i], x.values[i]))
            break;
    grid_free(&x);
    grid_free(&y);
}

static void test_case(void)
{
    problem p = {.n_levels = 0};
    qfz_report want, got;
    make(&p);
    const bool has_cpu = runs(&p, QFZ_ENGINE_CPU, "cpu", 0, &want);
    for (int i = 0; has_cpu && i < 2; i++) {
        const int32_t tile_px = i == 0 ? 0 : (int32_t)(16 + check_pick(SIDE - 16));
        const qfz_job *const job = &p.job;
        check_describe("task %d of %dx%d %s, tile %d, %d-connected, edges of type %d, %d levels, "
                       "alpha %.9g, omega %.9g, at least %d pixels",
                       (int)job->task, (int)p.r.image.h, (int)p.r.image.w,
                       raster_types[p.r.image.type], tile_px, job->criterion.connectivity,
                       (int)p.edges->type, (int)p.n_levels, job->criterion.alpha, p.omega[0],
                       (int)job->criterion.min_area);
        if (!runs(&p, TEST_ENGINE, "cuda", tile_px, &got)) break;
        CHECK(got.regions == want.regions, "%d regions, not %d", (int)got.regions,
              (int)want.regions);
        same_rasters("cpu.tif", "cuda.tif");
        if (job->task == QFZ_SIMPLIFY) same_rasters("cpu_labels.tif", "cuda_labels.tif");
    }
    raster_free(&p.r);
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 60);
    files_begin();
    for (int64_t i = check_.first; i < check_.cases; i++) {
        check_case(i, "making the case");
        test_case();
    }
    files_end();
    return check_end();
}
