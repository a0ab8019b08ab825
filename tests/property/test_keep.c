/* SPDX-License-Identifier: MIT */
/* test_keep.c - results of tiles are cached as far as the budget permits, and this changes nothing
 * but time: every output equals that of a job without a cache. */
#include "files.h"
#include "job/setup_init.h"
#include "job/task_run.h"

enum { MOST_BANDS = 2, TABLE_ROOM = 1 << 20 };

/* The CPU engine, with counted calls. */
static struct {
    qfz_engine engine;
    qfz_engine_cache cache;
    int summaries, keeps, resumes; /* successful calls */
    int64_t cached_bytes;          /* of all stored results */
    bool refuses;                  /* refuse to resume */
    int fails_in;                  /* the allocation of keep() that fails; 0: none */
} spy;
static _Thread_local bool in_keep;

typedef struct problem {
    raster r;
    qfz_job job;
    double omega;
    char src[PATH_ROOM], mask[PATH_ROOM];
} problem;

/* ---- The engine. */
qfz_status __real_qfz_alloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);
qfz_status __wrap_qfz_alloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);
qfz_status __real_qfz_alloc_large(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);
qfz_status __wrap_qfz_alloc_large(void **ptr, int64_t n, size_t item_bytes, qfz_error *err);

static bool fails_now(void)
{
    return in_keep && spy.fails_in > 0 && --spy.fails_in == 0;
}

qfz_status __wrap_qfz_alloc(void **ptr, int64_t n, size_t item_bytes, qfz_error *err)
{
    if (fails_now()) return qfz_fail(err, QFZ_ENOMEM, "refused by the test");
    return __real_qfz_alloc(ptr, n, item_bytes, err);
}

qfz_status __wrap_qfz_alloc_large(void **ptr, int64_t n, size_t item_bytes, qfz_error *err)
{
    if (fails_now()) return qfz_fail(err, QFZ_ENOMEM, "refused by the test");
    return __real_qfz_alloc_large(ptr, n, item_bytes, err);
}

static qfz_status summarise(qfz_worker *worker, qfz_summary *summary, qfz_error *err)
{
#pragma omp atomic
    spy.summaries++;
    return qfz_engine_cpu.summarise(worker, summary, err);
}

static qfz_status keep(qfz_worker *worker, qfz_cached **kept, qfz_error *err)
{
    const int64_t bytes = qfz_engine_cpu.cache->bytes(worker);
    qfz_status st;
#pragma omp critical(test_keep)
    {
        in_keep = true;
        st = qfz_engine_cpu.cache->store(worker, kept, err);
        in_keep = false;
        spy.keeps += st == QFZ_OK;
        spy.cached_bytes += st == QFZ_OK ? bytes : 0;
    }
    return st;
}

static bool resume(qfz_worker *worker, const qfz_image *tile, qfz_cached *kept)
{
    if (spy.refuses || !qfz_engine_cpu.cache->resume(worker, tile, kept)) return false;
#pragma omp atomic
    spy.resumes++;
    return true;
}

static void watch(void)
{
    memset(&spy, 0, sizeof spy);
    spy.engine = qfz_engine_cpu;
    spy.engine.summarise = summarise;
    spy.cache = *qfz_engine_cpu.cache;
    spy.cache.store = keep;
    spy.cache.resume = resume;
    spy.engine.cache = &spy.cache;
}

/* ---- The job. */
static void write_source(problem *p)
{
    const qfz_image *const image = &p->r.image;
    const int h = (int)image->h, w = (int)image->w;
    const GDALDataType type = files_type(image->type);
    char **options = files_options(image->type);
    snprintf(p->src, sizeof p->src, "%s", scratch("src.tif"));
    snprintf(p->mask, sizeof p->mask, "%s", scratch("mask.tif"));
    GDALDatasetH d =
        GDALCreate(GDALGetDriverByName("GTiff"), p->src, w, h, image->n_bands, type, options);
    CSLDestroy(options);
    files_must(d && GDALDatasetRasterIO(d, GF_Write, 0, 0, w, h, p->r.pixels, w, h, type,
                                        image->n_bands, NULL, 0, 0, 0) == CE_None);
    GDALClose(d);
    files_write_bytes(p->mask, p->r.valid, h, w);
}

/* Some tiles have several blocks of the engine. */
static void make(problem *p)
{
    static const qfz_type types[] = {QFZ_U8, QFZ_U16, QFZ_F32};
    const bool large = check_chance(15);
    raster_make(&p->r, large ? 300 : 24, (int)types[check_pick(3)], MOST_BANDS);
    write_source(p);
    p->job = qfz_job_default(check_chance(50) ? QFZ_SALIENCY : QFZ_SIMPLIFY);
    p->job.src = p->src;
    if (check_chance(60)) p->job.mask = p->mask;
    p->job.engine = QFZ_ENGINE_CPU;
    p->job.overwrite = true;
    p->job.criterion.connectivity = check_chance(50) ? 4 : 8;
    p->job.criterion.distance = QFZ_LINF;
    p->job.tile_px = (int32_t)(large ? 100 + check_pick(60) : 2 + check_pick(12));
    if (p->job.task != QFZ_SIMPLIFY) return;
    p->omega = raster_omega(&p->r, 0);
    p->job.criterion.omega = &p->omega;
    p->job.criterion.n_omega = 1;
    p->job.criterion.has_alpha = check_chance(60);
    p->job.criterion.alpha = (double)check_pick(8);
}

typedef struct outcome {
    qfz_status status;
    int64_t tiles;
    int passes;
    uint64_t regions;
    grid main, labels;
    char table[TABLE_ROOM];
} outcome;

/* A cached result of levels does not need pixels; tiles without one read their pixels again. */
static void pixels_are_there_for_sums(const qfz_run *run, qfz_task task)
{
    int n_there = 0;
    for (int64_t tile = 0; tile < run->n_tiles; tile++)
        n_there += run->cache.entries[tile].pixels != NULL;
    const int n_dropped = task == QFZ_SALIENCY ? spy.keeps : 0;
    CHECK(run->cache.pixel_bytes == 0 || n_there == run->n_tiles - n_dropped,
          "pixels of %d tiles, %d kept", n_there, spy.keeps);
}

static qfz_status run_job(const qfz_job *job, int64_t tile_cache_bytes, outcome *out,
                          qfz_error *err)
{
    static const qfz_ranks alone = {.n = 1, .n_local = 1};
    qfz_setup setup;
    qfz_source *source = NULL;
    qfz_step_times times = {.n = 0};
    qfz_run run = {0};
    qfz_phase next;
    files_must(qfz_setup_init(&setup, job, &source, err) == QFZ_OK);
    setup.engine = &spy.engine;
    setup.tile_cache_bytes = tile_cache_bytes;
    out->tiles = setup.tiling.n_x * setup.tiling.n_y;
    out->passes = setup.passes;
    files_must(qfz_run_open(&run, &setup, &alone, source, NULL, &times, err) == QFZ_OK);
    const qfz_status st = qfz_task_run(
        job->task == QFZ_SALIENCY ? &qfz_task_saliency : &qfz_task_simplify, &run, &next, err);
    out->regions = run.count.total;
    if (st == QFZ_OK) pixels_are_there_for_sums(&run, job->task);
    CHECK(spy.keeps == 0 || run.cache.result_bytes <= run.cache.result_room,
          "%" PRId64 " of %" PRId64 " bytes", run.cache.result_bytes, run.cache.result_room);
    qfz_run_close(&run);
    qfz_source_close(source);
    qfz_setup_fini(&setup);
    return st;
}

static void read_table(const char *path, char *table)
{
    GByte *text = NULL;
    vsi_l_offset size = 0;
    files_must(VSIIngestFile(NULL, path, &text, &size, TABLE_ROOM - 1));
    memcpy(table, text, (size_t)size);
    table[size] = 0;
    VSIFree(text);
}

static void run_watched(const problem *p, int64_t tile_cache_bytes, int n_threads, outcome *out)
{
    qfz_job job = p->job;
    qfz_error err = {.status = QFZ_OK};
    const bool has_regions = job.task == QFZ_SIMPLIFY;
    const bool refuses = spy.refuses;
    const int fails_in = spy.fails_in;
    watch();
    spy.refuses = refuses;
    spy.fails_in = fails_in;
    memset(out, 0, sizeof *out);
    job.n_threads = n_threads;
    job.dst = scratch("main.tif");
    if (has_regions) job.labels = scratch("labels.tif");
    if (has_regions) job.regions = scratch("regions.csv");
    out->status = run_job(&job, tile_cache_bytes, out, &err);
    spy.refuses = false;
    spy.fails_in = 0;
    if (out->status != QFZ_OK) return;
    files_must(grid_read(&out->main, job.dst));
    if (!has_regions) return;
    files_must(grid_read(&out->labels, job.labels));
    read_table(job.regions, out->table);
}

static void outcome_free(outcome *out)
{
    grid_free(&out->main);
    grid_free(&out->labels);
}

/* ---- Comparisons. */
static void same_grid(const grid *a, const grid *b, const char *what, const char *which)
{
    const int64_t n = a->h * a->w * a->n_bands;
    const bool alike = a->h == b->h && a->w == b->w && a->n_bands == b->n_bands;
    if (!CHECK(alike, "%s: size of %s", what, which) || n == 0) return;
    CHECK(!memcmp(a->values, b->values, (size_t)n * sizeof *a->values), "%s: %s", what, which);
    CHECK(!memcmp(a->mask, b->mask, (size_t)(a->h * a->w)), "%s: mask of %s", what, which);
}

static void same(const outcome *got, const outcome *want, const char *what)
{
    if (!CHECK(got->status == QFZ_OK, "%s: status %d", what, (int)got->status)) return;
    CHECK(got->regions == want->regions, "%s: %" PRIu64 " regions, not %" PRIu64, what,
          got->regions, want->regions);
    same_grid(&got->main, &want->main, what, "main output");
    same_grid(&got->labels, &want->labels, what, "labels");
    CHECK(!strcmp(got->table, want->table), "%s: table", what);
}

static void nothing_is_kept(const problem *p, outcome *want)
{
    run_watched(p, 0, 1, want);
    files_must(want->status == QFZ_OK);
    CHECK(spy.keeps == 0 && spy.resumes == 0, "%d kept without room", spy.keeps);
    CHECK(spy.summaries == (want->tiles > 1 ? want->tiles : 0), "%d summaries of %" PRId64 " tiles",
          spy.summaries, want->tiles);
}

/* A single tile has no summary, and is processed once. */
static int all_of(const outcome *o)
{
    return (int)o->tiles * (o->passes - (o->tiles > 1 ? 1 : 2));
}

static void all_is_kept(const problem *p, const outcome *want, outcome *got)
{
    run_watched(p, INT64_C(1) << 40, (int)(1 + check_pick(3)), got);
    same(got, want, "all kept");
    CHECK(spy.keeps == all_of(want) && spy.resumes == spy.keeps, "%d kept, %d resumed, of %d",
          spy.keeps, spy.resumes, all_of(want));
    CHECK(spy.summaries == (want->tiles > 1 ? want->tiles : 0), "%d summaries", spy.summaries);
}

/* bytes: the size of all cached results in all passes together; half of it is too little. */
static void some_is_kept(const problem *p, const outcome *want, int64_t bytes, outcome *got)
{
    const qfz_image *const image = &p->r.image;
    const int64_t px_bytes =
        (int64_t)qfz_type_bytes(image->type) * image->n_bands + (p->job.mask ? 1 : 0);
    const int64_t per_pass = bytes / (want->passes > 2 ? 2 : 1);
    const int64_t pixels = image->h * image->w * px_bytes;
    run_watched(p, pixels + check_pick(per_pass), (int)(1 + check_pick(3)), got);
    same(got, want, "some kept");
    CHECK(spy.keeps < all_of(want) && spy.resumes == spy.keeps, "%d kept, %d resumed, of %d",
          spy.keeps, spy.resumes, all_of(want));
}

static void refused_is_found_anew(const problem *p, const outcome *want, outcome *got)
{
    spy.refuses = true;
    run_watched(p, INT64_C(1) << 40, 2, got);
    same(got, want, "none taken up");
}

/* If the n-th allocation of a keep() fails, so does the job; the sanitizer finds what is not
 * freed. */
static void failure_is_reported(const problem *p, outcome *got)
{
    spy.fails_in = (int)(1 + check_pick(24));
    run_watched(p, INT64_C(1) << 40, 2, got);
    CHECK(got->status == QFZ_ENOMEM || spy.keeps >= 1, "status %d", (int)got->status);
}

static void one_case(int64_t number)
{
    static problem p;
    static outcome want, got;
    check_case(number, "making it");
    make(&p);
    check_describe("%s of %dx%d, tile %d, %d bands of type %d, %s, %d-connected",
                   p.job.task == QFZ_SALIENCY ? "saliency" : "simplify", (int)p.r.image.h,
                   (int)p.r.image.w, p.job.tile_px, p.r.image.n_bands, (int)p.r.image.type,
                   p.r.shape, p.job.criterion.connectivity);
    nothing_is_kept(&p, &want);
    all_is_kept(&p, &want, &got);
    const int64_t bytes = spy.cached_bytes;
    outcome_free(&got);
    if (want.tiles > 1) some_is_kept(&p, &want, bytes, &got);
    outcome_free(&got);
    refused_is_found_anew(&p, &want, &got);
    outcome_free(&got);
    if (all_of(&want) > 0) failure_is_reported(&p, &got);
    outcome_free(&got);
    outcome_free(&want);
    raster_free(&p.r);
    files_clear();
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 60);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
