/* SPDX-License-Identifier: MIT */
/* test_alphas.c - jobs of several alphas: the outputs of each alpha are the oracle's, whatever the
 * tiles, threads and memory; they appear together or not at all; bad lists and names. */
#include "engine_under_test.h"
#include "files.h"

enum { SIDE = 21, BANDS = 2, ALPHAS = 4 };

typedef struct problem {
    raster r;
    oracle *o;
    qfz_job base;
    double omega[BANDS];
    double alphas[ALPHAS];
    int n;
    uint64_t regions[ALPHAS];
} problem;

static int64_t n_pixels(const problem *p)
{
    return p->r.image.h * p->r.image.w;
}

/* ---- The source and the list. */

static void write_source(const problem *p)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w, n_bands = p->r.image.n_bands;
    const size_t plane = (size_t)n_pixels(p) * oracle_type_bytes(p->r.image.type);
    char **options = files_options(p->r.image.type);
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), scratch("src.tif"), w, h, n_bands,
                                files_type(p->r.image.type), options);
    CSLDestroy(options);
    files_must(d != NULL);
    for (int b = 0; b < n_bands; b++)
        files_must(GDALRasterIO(GDALGetRasterBand(d, b + 1), GF_Write, 0, 0, w, h,
                                (char *)p->r.pixels + (size_t)b * plane, w, h,
                                files_type(p->r.image.type), 0, 0) == CE_None);
    GDALClose(d);
    files_write_bytes(scratch("mask.tif"), p->r.valid, h, w);
}

static void choose_alphas(problem *p)
{
    p->n = (int)(1 + check_pick(ALPHAS));
    for (int i = 0; i < p->n; i++) {
        p->alphas[i] = check_chance(10) ? INFINITY : raster_alpha(p->o, &p->r);
        for (int j = 0; j < i; j++)
            if (p->alphas[i] == p->alphas[j]) p->n = i; /* each once */
    }
}

static void make(problem *p)
{
    static char src[PATH_ROOM], mask[PATH_ROOM];
    raster_make(&p->r, check_chance(70) ? 9 : SIDE, -1, BANDS);
    p->base = qfz_job_default(QFZ_LABEL);
    p->base.engine = TEST_ENGINE;
    qfz_criterion *const m = &p->base.criterion;
    m->connectivity = check_chance(50) ? 4 : 8;
    m->distance = raster_distance(&p->r.image);
    p->o = oracle_open(&p->r.image, m->connectivity, m->distance);
    if (check_chance(40)) {
        m->min_area = (uint64_t)(2 + check_pick(12));
        oracle_filter(p->o, NULL, (double)m->min_area);
    }
    for (int b = 0; b < p->r.image.n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    choose_alphas(p);
    write_source(p);
    snprintf(src, sizeof src, "%s", scratch("src.tif"));
    snprintf(mask, sizeof mask, "%s", scratch("mask.tif"));
    p->base.src = src;
    p->base.mask = mask;
    p->base.overwrite = true;
    p->base.alphas = p->alphas;
    p->base.n_alphas = p->n;
    p->base.alpha_regions = p->regions;
    check_describe("%dx%d, %d bands %s, %d-connected, %s, at least %d pixels, %d alphas",
                   (int)p->r.image.h, (int)p->r.image.w, p->r.image.n_bands,
                   raster_types[p->r.image.type], m->connectivity, raster_distances[m->distance],
                   (int)m->min_area, p->n);
}

static const char *variant(qfz_job *job)
{
    static const int32_t tiles[] = {1, 2, 3, 5, 7, 16, 0};
    static char text[64];
    job->tile_px = tiles[check_pick(7)];
    job->n_threads = (int)(1 + check_pick(3));
    job->memory_bytes = check_chance(25) ? INT64_C(128) << 20 : 0;
    snprintf(text, sizeof text, "tile %d, %d threads", job->tile_px, job->n_threads);
    return text;
}

/* ---- The outputs. */

/* The name of an output of this alpha: 15 digits if they give the number again, else 17. */
static const char *named(const char *before, double alpha, const char *after)
{
    char digits[32], name[60];
    snprintf(digits, sizeof digits, "%.15g", alpha);
    if (strtod(digits, NULL) != alpha) snprintf(digits, sizeof digits, "%.17g", alpha);
    snprintf(name, sizeof name, "%.10s%s%.4s", before, digits, after);
    return scratch(name);
}

static void labels_are(const problem *p, const char *path, const char *what, const uint32_t *want)
{
    grid g;
    if (!grid_read(&g, path)) return;
    for (int64_t i = 0; i < n_pixels(p) && i < g.h * g.w; i++)
        if (!CHECK(g.values[i] == want[i], "%s: %s: pixel %d has label %.0f, not %u", what, path,
                   (int)i, g.values[i], want[i]))
            break;
    grid_free(&g);
}

static void metadata_is(const char *path, double alpha)
{
    GDALDatasetH d = GDALOpen(path, GA_ReadOnly);
    const char *const text = d ? GDALGetMetadataItem(d, "QFZ_ALPHA", NULL) : NULL;
    CHECK(text && strtod(text, NULL) == alpha, "%s: metadata of alpha %s", path,
          text ? text : "none");
    if (d) GDALClose(d);
}

/* One line for each region, after the header. */
static void table_has(const char *path, uint32_t n)
{
    char **lines = CSLLoad(path);
    CHECK(CSLCount(lines) == (int)n + 1, "%s: %d lines for %u regions", path, CSLCount(lines), n);
    CSLDestroy(lines);
}

static void clear_outputs(void)
{
    char **names = VSIReadDir(files_.folder);
    for (int i = 0; names && names[i]; i++)
        if (names[i][0] != '.' && strcmp(names[i], "src.tif") && strcmp(names[i], "mask.tif"))
            VSIUnlink(scratch(names[i]));
    CSLDestroy(names);
}

/* labels: the name of the label rasters before the alpha. */
static void job_equals(const problem *p, qfz_job job, const char *labels, uint32_t *want)
{
    char what[128];
    qfz_report report = qfz_report_default();
    qfz_error err = {0};
    snprintf(what, sizeof what, "task %d, %s", (int)job.task, variant(&job));
    if (!CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s: %s", what, err.message)) return;
    CHECK(!strcmp(report.engine, TEST_ENGINE_NAME), "%s: by %s", what, report.engine);
    CHECK(report.regions == p->regions[0], "%s: reports %d regions", what, (int)report.regions);
    for (int i = 0; i < p->n; i++) {
        const double alpha = p->alphas[i];
        const uint32_t n = job.task == QFZ_SIMPLIFY
                               ? oracle_alpha_omega(p->o, alpha, p->omega, want)
                               : oracle_alpha(p->o, alpha, want);
        CHECK(p->regions[i] == n, "%s: %d regions at %.17g, not %u", what, (int)p->regions[i],
              alpha, n);
        labels_are(p, named(labels, alpha, ".tif"), what, want);
        metadata_is(named(labels, alpha, ".tif"), alpha);
        if (job.regions) table_has(named("t_", alpha, ".csv"), n);
        if (job.task == QFZ_SIMPLIFY) metadata_is(named("painted_", alpha, ".tif"), alpha);
    }
    clear_outputs();
}

static void labels_equal(const problem *p, uint32_t *want)
{
    qfz_job job = p->base;
    job.dst = scratch("l_{alpha}.tif");
    job.regions = check_chance(40) ? scratch("t_{alpha}.csv") : NULL;
    job.colors = check_chance(20) ? scratch("c_{alpha}.tif") : NULL;
    job_equals(p, job, "l_", want);
}

static void simplify_equals(const problem *p, uint32_t *want)
{
    qfz_job job = p->base;
    job.task = QFZ_SIMPLIFY;
    job.criterion.omega = p->omega;
    job.criterion.n_omega = p->r.image.n_bands;
    job.dst = scratch("painted_{alpha}.tif");
    job.labels = scratch("l_{alpha}.tif");
    job.regions = check_chance(40) ? scratch("t_{alpha}.csv") : NULL;
    job_equals(p, job, "l_", want);
}

/* edges: the levels are named as edges from anywhere. */
static void cut_equals(const problem *p, bool edges, uint32_t *want)
{
    qfz_job saliency = p->base, job = qfz_job_default(QFZ_CUT);
    qfz_error err = {0};
    saliency.task = QFZ_SALIENCY;
    saliency.n_alphas = 0;
    saliency.dst = scratch("src_saliency.tif");
    if (!CHECK(qfz_job_run(&saliency, NULL, &err) == QFZ_OK, "saliency: %s", err.message)) return;
    job.engine = TEST_ENGINE;
    job.src = edges ? NULL : saliency.dst;
    job.edges = edges ? saliency.dst : NULL;
    job.alphas = p->base.alphas;
    job.n_alphas = p->n;
    job.alpha_regions = p->base.alpha_regions;
    job.dst = scratch("l_{alpha}.tif");
    job.regions = check_chance(40) ? scratch("t_{alpha}.csv") : NULL;
    job_equals(p, job, "l_", want);
}

static void one_case(int64_t number)
{
    static problem p;
    memset(&p, 0, sizeof p);
    check_case(number, "making it");
    make(&p);
    uint32_t *want = calloc((size_t)n_pixels(&p), sizeof *want);
    files_must(want != NULL);
    if (p.n > 0) {
        labels_equal(&p, want);
        simplify_equals(&p, want);
        cut_equals(&p, false, want);
        if (p.r.image.type <= QFZ_I16) cut_equals(&p, true, want); /* levels of 32 bits fit */
    }
    files_clear();
    oracle_close(p.o);
    raster_free(&p.r);
    free(want);
}

/* ---- What is refused. */

static void refuses(qfz_job job, const char *why)
{
    static const char *const sources[] = {"src.tif", "mask.tif", "l_5.tif", NULL};
    qfz_error err = {0};
    CHECK(qfz_job_run(&job, NULL, &err) == QFZ_EARG && strstr(err.message, why),
          "not refused with '%s': %s", why, err.message);
    files_only(sources);
}

static void bad_lists(const qfz_job *good)
{
    static const double twice[] = {1, 5, 1}, negative[] = {5, -1}, nan[] = {5, NAN};
    qfz_job job = *good;
    job.dst = scratch("l.tif");
    refuses(job, "must contain {alpha}");
    job = *good;
    job.regions = scratch("t.csv");
    refuses(job, "t.csv: with several alphas");
    job = *good;
    job.n_alphas = 0;
    refuses(job, "is the place of each of several alphas");
    job = *good;
    job.alphas = twice;
    job.n_alphas = 3;
    refuses(job, "alpha 1 is given twice");
    job.n_alphas = 2;
    job.alphas = negative;
    refuses(job, "alpha is -1");
    job.alphas = nan;
    refuses(job, "alpha is nan");
    job = *good;
    job.criterion.has_alpha = true;
    refuses(job, "one alpha is given, and a list");
}

static void bad_jobs(const qfz_job *good)
{
    qfz_job job = *good;
    job.task = QFZ_SALIENCY;
    refuses(job, "for label, simplify and cut only");
    job = *good;
    job.dst = NULL;
    job.count_only = true;
    refuses(job, "qfz curve");
    job = *good;
    job.work = scratch("work");
    job.phase = QFZ_PHASE_STITCH;
    refuses(job, "no phases");
    job = *good;
    job.regions_target = 3;
    refuses(job, "a largest number of regions");
    job = *good;
    job.gpu_method = "connect-v2";
    refuses(job, "one alpha at a time");
}

/* Two outputs of different alphas would be one file: 1 and 15 of one name, 11 and 5 of the other.
 */
static void one_name_twice(const qfz_job *good)
{
    static const double alphas[] = {1, 11};
    qfz_job job = *good;
    job.task = QFZ_SIMPLIFY;
    job.alphas = alphas;
    job.dst = scratch("x1{alpha}.tif");
    job.labels = scratch("x{alpha}.tif");
    refuses(job, "outputs of the alphas 1 and 11 have this name");
}

/* An output of the last alpha cannot be made: there is none of the others. */
static void all_or_none(const qfz_job *good)
{
    static const char *const sources[] = {"src.tif", "mask.tif", "l_5.tif", NULL};
    const uint8_t byte = 7;
    qfz_job job = *good;
    qfz_error err = {0};
    files_write_bytes(scratch("l_5.tif"), &byte, 1, 1);
    refuses(job, "l_5.tif");
    VSIUnlink(scratch("l_5.tif"));
    job.creation_options = (const char *const[]){"COMPRESS=NO_SUCH", NULL};
    CHECK(qfz_job_run(&job, NULL, &err) != QFZ_OK, "an unknown compression is taken");
    files_only(sources);
}

static void bad_input(int64_t number)
{
    static problem p;
    static const double alphas[] = {1, 5};
    static char dst[PATH_ROOM];
    memset(&p, 0, sizeof p);
    check_case(number, "bad input");
    make(&p);
    qfz_job job = p.base;
    job.overwrite = false;
    job.alphas = alphas;
    job.n_alphas = 2;
    job.alpha_regions = NULL;
    snprintf(dst, sizeof dst, "%s", scratch("l_{alpha}.tif"));
    job.dst = dst;
    bad_lists(&job);
    bad_jobs(&job);
    one_name_twice(&job);
    all_or_none(&job);
    files_clear();
    oracle_close(p.o);
    raster_free(&p.r);
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(argc, argv, 35);
    files_begin();
    bad_input(-1);
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
