/* SPDX-License-Identifier: MIT */
/* output_jobs.h - random jobs with every kind of output, for tests that run one of them in two ways
 * and compare the files. */
#ifndef QFZ_TESTS_OUTPUT_JOBS_H
#define QFZ_TESTS_OUTPUT_JOBS_H

#include <sys/stat.h>

#include "files.h"

enum { JOB_SIDE = 23, JOB_BANDS = 3, JOB_NAMES = 64, JOB_ALPHAS = 3 };

/* The outputs of one run, in a folder of its own: their names are the names of layers, too. */
typedef struct job_outputs {
    char dst[PATH_ROOM], labels[PATH_ROOM], regions[PATH_ROOM], pairs[PATH_ROOM];
    char colors[PATH_ROOM], quicklook[PATH_ROOM], polygons[PATH_ROOM], forest[PATH_ROOM];
} job_outputs;

typedef struct job_case {
    raster r;
    oracle *o;
    char src[PATH_ROOM], mask[PATH_ROOM], made[PATH_ROOM], work[PATH_ROOM];
    double omega[JOB_BANDS], alphas[JOB_ALPHAS];
    qfz_job base; /* without names of outputs */
    bool has_table, has_pairs, has_colors, has_quicklook, has_polygons;
} job_case;

static const char *const job_columns[] = {
    NULL, "default,perimeter,compactness,neighbours,px_first_x,px_first_y", "label,neighbours"};

/* False in a process that has the same cases as another, whose files it uses. */
__attribute__((unused)) static bool job_makes_files = true;

/* ---- The job. */

/* options: of creation, which are freed. */
static inline void job_write_source(const job_case *p, char **options)
{
    static double transform[6] = {100, 2, 0, 500, 0, -3};
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const size_t plane = (size_t)h * (size_t)w * oracle_type_bytes(p->r.image.type);
    if (!job_makes_files) {
        CSLDestroy(options);
        return;
    }
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), p->src, w, h, p->r.image.n_bands,
                                files_type(p->r.image.type), options);
    CSLDestroy(options);
    files_must(d != NULL);
    GDALSetGeoTransform(d, transform);
    for (int b = 0; b < p->r.image.n_bands; b++)
        files_must(GDALRasterIO(GDALGetRasterBand(d, b + 1), GF_Write, 0, 0, w, h,
                                (char *)p->r.pixels + (size_t)b * plane, w, h,
                                files_type(p->r.image.type), 0, 0) == CE_None);
    GDALClose(d);
    files_write_bytes(scratch("mask.tif"), p->r.valid, h, w);
}

static inline void job_choose_outputs(job_case *p)
{
    const qfz_task task = p->base.task;
    const bool is_saliency = task == QFZ_SALIENCY;
    if (is_saliency) p->has_quicklook = check_chance(40);
    if (is_saliency && check_chance(50))
        p->base.layout = check_chance(50) ? QFZ_PIXEL : QFZ_KHALIMSKY;
    if (is_saliency) return;
    p->has_table = check_chance(70) || task == QFZ_REGIONS;
    if (task == QFZ_FOREST) return;
    p->has_pairs = check_chance(60);
    p->has_colors = check_chance(60);
    p->has_quicklook = check_chance(40);
    p->has_polygons = check_chance(60);
    if (p->has_table) p->base.columns = job_columns[check_pick(3)];
    if (p->has_table && task != QFZ_SIMPLIFY && check_chance(30)) p->base.stats = p->src;
    if (p->has_polygons && check_chance(40)) p->base.simplify_tolerance = 1;
}

static inline void job_choose_criterion(job_case *p)
{
    const qfz_task task = p->base.task;
    qfz_criterion *const m = &p->base.criterion;
    m->connectivity = check_chance(50) ? 4 : 8;
    m->distance = raster_distance(&p->r.image);
    p->o = oracle_open(&p->r.image, m->connectivity, m->distance);
    if (check_chance(30)) m->min_area = (uint64_t)(2 + check_pick(12));
    m->has_alpha =
        task == QFZ_SIMPLIFY || task == QFZ_CUT || (task == QFZ_LABEL && check_chance(80));
    if (m->has_alpha) m->alpha = raster_alpha(p->o, &p->r);
    for (int b = 0; b < p->r.image.n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    if (task != QFZ_SIMPLIFY) return;
    m->omega = p->omega;
    m->n_omega = p->r.image.n_bands;
}

/* A job whose output is the source of the job itself: a hierarchy to be cut, or labels. */
static inline qfz_job job_before(job_case *p)
{
    qfz_job first = qfz_job_default(p->base.task == QFZ_CUT ? QFZ_SALIENCY : QFZ_LABEL);
    first.src = p->src;
    first.mask = p->mask;
    first.engine = QFZ_ENGINE_CPU;
    first.criterion = p->base.criterion;
    first.criterion.has_alpha = false;
    first.dst = p->made;
    snprintf(p->made, sizeof p->made, "%s", scratch("made.tif"));
    return first;
}

/* Makes a case; run() runs a job that makes a source. */
static inline bool job_case_make(job_case *p, bool (*run)(const qfz_job *job))
{
    static const qfz_task tasks[] = {QFZ_LABEL,  QFZ_SIMPLIFY, QFZ_SALIENCY,
                                     QFZ_FOREST, QFZ_CUT,      QFZ_REGIONS};
    static const char *const names[] = {"label", "simplify", "saliency", "tree", "cut", "regions"};
    raster_make(&p->r, check_chance(60) ? 9 : JOB_SIDE, -1, JOB_BANDS);
    const int64_t which = check_pick(6);
    p->base = qfz_job_default(tasks[which]);
    job_choose_criterion(p);
    snprintf(p->src, sizeof p->src, "%s", scratch("src.tif"));
    job_write_source(p, files_options(p->r.image.type));
    job_choose_outputs(p);
    snprintf(p->work, sizeof p->work, "%s", scratch("work"));
    snprintf(p->mask, sizeof p->mask, "%s", scratch("mask.tif"));
    p->base.src = p->src;
    p->base.mask = p->mask;
    p->base.engine = QFZ_ENGINE_CPU;
    const qfz_criterion *const m = &p->base.criterion;
    check_describe("%s, %dx%d, %d bands %s, %d-connected, %s, at least %d pixels", names[which],
                   (int)p->r.image.h, (int)p->r.image.w, p->r.image.n_bands,
                   raster_types[p->r.image.type], m->connectivity, raster_distances[m->distance],
                   (int)m->min_area);
    if (tasks[which] != QFZ_CUT && tasks[which] != QFZ_REGIONS) return true;
    const qfz_job first = job_before(p);
    p->base.src = p->made;
    p->base.mask = NULL;
    p->base.criterion = qfz_job_default(tasks[which]).criterion;
    p->base.criterion.has_alpha = tasks[which] == QFZ_CUT;
    p->base.criterion.alpha = first.criterion.alpha;
    p->base.criterion.distance = QFZ_LINF; /* for statistics of any bands */
    return run(&first);
}

/* May replace alpha by a number of regions, for which a job without phases finds an alpha. */
__attribute__((unused)) static void job_choose_target(job_case *p)
{
    qfz_criterion *const m = &p->base.criterion;
    const bool has_target = p->base.task == QFZ_LABEL || p->base.task == QFZ_CUT;
    if (!has_target || !m->has_alpha || !check_chance(40)) return;
    uint32_t *labels = calloc((size_t)(p->r.image.h * p->r.image.w), sizeof *labels);
    files_must(labels != NULL);
    const uint32_t n = oracle_alpha(p->o, m->alpha, labels);
    free(labels);
    m->has_alpha = false;
    p->base.regions_target = n > 0 ? n : 1;
}

/* May replace alpha by a list, for a job without phases. */
__attribute__((unused)) static void job_choose_alphas(job_case *p)
{
    qfz_criterion *const m = &p->base.criterion;
    int64_t n = 0;
    if (p->base.task == QFZ_FOREST || !m->has_alpha || !check_chance(50)) return;
    for (int i = 0; i < JOB_ALPHAS; i++) {
        p->alphas[n++] = i == 0 ? m->alpha : raster_alpha(p->o, &p->r);
        for (int64_t j = 0; j < n - 1; j++)
            if (p->alphas[j] == p->alphas[n - 1]) n--; /* each once */
    }
    m->has_alpha = false;
    p->base.alphas = p->alphas;
    p->base.n_alphas = n;
}

static inline void job_vary(qfz_job *job)
{
    static const int32_t tiles[] = {1, 2, 3, 5, 7, 16};
    job->tile_px = tiles[check_pick(6)];
    job->n_threads = (int)(1 + check_pick(3));
    job->memory_bytes = check_chance(25) ? INT64_C(160) << 20 : 0;
}

static inline const char *job_name_in(char path[PATH_ROOM], const char *folder, const char *name)
{
    snprintf(path, PATH_ROOM, "%s/%s/%s", files_.folder, folder, name);
    return path;
}

/* Whether several processes write one file each: a layout other than edges is made by the last. */
static inline bool job_has_parts(const qfz_job *job, int n_parts)
{
    return n_parts > 1 && job->layout == QFZ_EDGES;
}

/* The names of the outputs in a folder, which is made. */
static inline void job_name_outputs(const job_case *p, qfz_job *job, job_outputs *out,
                                    const char *folder, const char *extension)
{
    const char *const alpha = job->n_alphas > 0 ? "{alpha}" : "";
    char name[32];
    if (job_makes_files) files_must(mkdir(scratch(folder), 0777) == 0);
    snprintf(name, sizeof name, "dst%s.%s", alpha, extension);
    if (job->task != QFZ_REGIONS) job->dst = job_name_in(out->dst, folder, name);
    snprintf(name, sizeof name, "labels%s.%s", alpha, extension);
    if (job->task == QFZ_SIMPLIFY) job->labels = job_name_in(out->labels, folder, name);
    if (job->task == QFZ_FOREST) job->forest = job_name_in(out->forest, folder, "tree.csv");
    const struct {
        bool is_wanted;
        const char **place;
        char *room;
        const char *stem, *extension;
    } others[] = {{p->has_table, &job->regions, out->regions, "table", "csv"},
                  {p->has_pairs, &job->neighbours, out->pairs, "pairs", "csv"},
                  {p->has_colors, &job->colors, out->colors, "colors", "tif"},
                  {p->has_quicklook, &job->quicklook, out->quicklook, "look", "png"},
                  {p->has_polygons, &job->polygons, out->polygons, "polygons", "fgb"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(name, sizeof name, "%s%s.%s", others[i].stem, alpha, others[i].extension);
        if (others[i].is_wanted) *others[i].place = job_name_in(others[i].room, folder, name);
    }
}

/* ---- Comparison. */

/* The name of an output of this alpha. */
static inline const char *job_named(char path[PATH_ROOM], const char *name, double alpha)
{
    const char *const place = strstr(name, "{alpha}");
    char digits[32];
    if (!place) return name;
    snprintf(digits, sizeof digits, "%.15g", alpha);
    if (strtod(digits, NULL) != alpha) snprintf(digits, sizeof digits, "%.17g", alpha);
    snprintf(path, PATH_ROOM, "%.*s%s%s", (int)(place - name), name, digits, place + 7);
    return path;
}

static inline void job_same_bytes(const char *name_a, const char *name_b, double alpha)
{
    static char path_a[PATH_ROOM], path_b[PATH_ROOM];
    if (!name_a || !name_b) return;
    const char *const b = job_named(path_b, name_b, alpha);
    CHECK(files_are_same(job_named(path_a, name_a, alpha), b), "%s differs", b);
}

static inline void job_same_pixels(const char *name_a, const char *name_b, double alpha)
{
    static char path_a[PATH_ROOM], path_b[PATH_ROOM];
    grid x, y;
    if (!name_a || !name_b || !grid_read(&x, job_named(path_a, name_a, alpha))) return;
    const char *const b = job_named(path_b, name_b, alpha);
    if (grid_read(&y, b)) {
        bool same = x.h == y.h && x.w == y.w && x.n_bands == y.n_bands && x.type == y.type;
        for (int64_t i = 0; same && i < x.h * x.w * x.n_bands; i++)
            same = same_value(x.values[i], y.values[i]);
        CHECK(same, "%s differs", b);
        grid_free(&y);
    }
    grid_free(&x);
}

static inline void job_same_outputs(const qfz_job *a, const qfz_job *b)
{
    const int64_t n = a->n_alphas > 0 ? a->n_alphas : 1;
    for (int64_t i = 0; i < n; i++) {
        const double alpha = a->n_alphas > 0 ? a->alphas[i] : 0;
        job_same_pixels(a->dst, b->dst, alpha);
        job_same_pixels(a->labels, b->labels, alpha);
        job_same_pixels(a->colors, b->colors, alpha);
        job_same_bytes(a->regions, b->regions, alpha);
        job_same_bytes(a->neighbours, b->neighbours, alpha);
        job_same_bytes(a->quicklook, b->quicklook, alpha);
        job_same_bytes(a->polygons, b->polygons, alpha);
        job_same_bytes(a->forest, b->forest, alpha);
    }
}

/* Nothing temporary is left: hidden names, or more than two files in the folder of the work. */
static inline void job_none_left(const char *folder, int most)
{
    char **names = VSIReadDir(folder);
    int n = 0;
    for (int i = 0; names && names[i]; i++) {
        if (!strcmp(names[i], ".") || !strcmp(names[i], "..")) continue;
        CHECK(names[i][0] != '.', "left behind: %s", names[i]);
        n++;
    }
    CHECK(n <= most, "%s: %d files", folder, n);
    CSLDestroy(names);
}

#endif
