/* SPDX-License-Identifier: MIT */
/* test_parts.c - random jobs in phases, in any number of parts, with every kind of output: files
 * and pixels equal those of one process with other tiles, threads and memory. */
#include <sys/stat.h>

#include "engine_under_test.h"
#include "files.h"

enum { SIDE = 23, BANDS = 3, NAMES = 64 };

/* The outputs of one run, in a folder of its own: their names are the names of layers, too. */
typedef struct outputs {
    char dst[PATH_ROOM], labels[PATH_ROOM], regions[PATH_ROOM], pairs[PATH_ROOM];
    char colors[PATH_ROOM], quicklook[PATH_ROOM], polygons[PATH_ROOM], forest[PATH_ROOM];
} outputs;

typedef struct problem {
    raster r;
    oracle *o;
    char src[PATH_ROOM], work[PATH_ROOM];
    double omega[BANDS];
    qfz_job base; /* without names of outputs */
    bool has_table, has_pairs, has_colors, has_quicklook, has_polygons;
} problem;

static const char *const columns_of[] = {
    NULL, "default,perimeter,compactness,neighbours,px_first_x,px_first_y", "label,neighbours"};

/* ---- The job. */

static void write_source(problem *p)
{
    static double transform[6] = {100, 2, 0, 500, 0, -3};
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const size_t plane = (size_t)h * (size_t)w * oracle_type_bytes(p->r.image.type);
    char **options = files_options(p->r.image.type);
    snprintf(p->src, sizeof p->src, "%s", scratch("src.tif"));
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

static void choose_outputs(problem *p)
{
    p->has_table = check_chance(70);
    if (p->base.task == QFZ_FOREST) return;
    p->has_pairs = check_chance(60);
    p->has_colors = check_chance(60);
    p->has_quicklook = check_chance(40);
    p->has_polygons = check_chance(60);
    if (p->has_table) p->base.columns = columns_of[check_pick(3)];
    if (p->has_table && p->base.task == QFZ_LABEL && check_chance(30)) p->base.stats = p->src;
    if (p->has_polygons && check_chance(40)) p->base.simplify_tolerance = 1;
}

static void make(problem *p)
{
    static const qfz_task tasks[] = {QFZ_LABEL, QFZ_SIMPLIFY, QFZ_FOREST};
    static char mask[PATH_ROOM];
    raster_make(&p->r, check_chance(60) ? 9 : SIDE, -1, BANDS);
    const qfz_task task = tasks[check_pick(3)];
    p->base = qfz_job_default(task);
    qfz_criterion *const m = &p->base.criterion;
    m->connectivity = check_chance(50) ? 4 : 8;
    m->distance = raster_distance(&p->r.image);
    p->o = oracle_open(&p->r.image, m->connectivity, m->distance);
    if (check_chance(30)) m->min_area = (uint64_t)(2 + check_pick(12));
    m->has_alpha = task == QFZ_SIMPLIFY || (task == QFZ_LABEL && check_chance(80));
    if (m->has_alpha) m->alpha = raster_alpha(p->o, &p->r);
    for (int b = 0; b < p->r.image.n_bands; b++)
        p->omega[b] = raster_omega(&p->r, b);
    if (task == QFZ_SIMPLIFY) {
        m->omega = p->omega;
        m->n_omega = p->r.image.n_bands;
    }
    write_source(p);
    choose_outputs(p);
    snprintf(p->work, sizeof p->work, "%s", scratch("work"));
    snprintf(mask, sizeof mask, "%s", scratch("mask.tif"));
    p->base.src = p->src;
    p->base.mask = mask;
    p->base.engine = QFZ_ENGINE_CPU;
    check_describe("%s, %dx%d, %d bands %s, %d-connected, %s, at least %d pixels",
                   task == QFZ_LABEL      ? "label"
                   : task == QFZ_SIMPLIFY ? "simplify"
                                          : "tree",
                   (int)p->r.image.h, (int)p->r.image.w, p->r.image.n_bands,
                   raster_types[p->r.image.type], m->connectivity, raster_distances[m->distance],
                   (int)m->min_area);
}

static void vary(qfz_job *job)
{
    static const int32_t tiles[] = {1, 2, 3, 5, 7, 16};
    job->tile_px = tiles[check_pick(6)];
    job->n_threads = (int)(1 + check_pick(3));
    job->memory_bytes = check_chance(25) ? INT64_C(160) << 20 : 0;
}

static const char *name_in(char path[PATH_ROOM], const char *folder, const char *name)
{
    snprintf(path, PATH_ROOM, "%s/%s/%s", files_.folder, folder, name);
    return path;
}

/* The names of the outputs in a folder, which is made. */
static void name_outputs(const problem *p, qfz_job *job, outputs *out, const char *folder,
                         const char *extension)
{
    char name[32];
    files_must(mkdir(scratch(folder), 0777) == 0);
    snprintf(name, sizeof name, "dst.%s", extension);
    job->dst = name_in(out->dst, folder, name);
    snprintf(name, sizeof name, "labels.%s", extension);
    if (job->task == QFZ_SIMPLIFY) job->labels = name_in(out->labels, folder, name);
    if (job->task == QFZ_FOREST) job->forest = name_in(out->forest, folder, "tree.csv");
    if (p->has_table) job->regions = name_in(out->regions, folder, "table.csv");
    if (p->has_pairs) job->neighbours = name_in(out->pairs, folder, "pairs.csv");
    if (p->has_colors) job->colors = name_in(out->colors, folder, "colors.tif");
    if (p->has_quicklook) job->quicklook = name_in(out->quicklook, folder, "look.png");
    if (p->has_polygons) job->polygons = name_in(out->polygons, folder, "polygons.fgb");
}

/* ---- The runs. */

static bool run_whole(qfz_job job, qfz_report *report)
{
    qfz_error err = {0};
    vary(&job);
    return CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "one process: %s", err.message);
}

/* One phase, of one part if it has parts.  Each process has threads and memory of its own; the
 * tiles of a job are those of its first process. */
static bool run_phase(const problem *p, qfz_job job, qfz_phase phase, int part, int n_parts,
                      qfz_report *report)
{
    const int32_t tile = job.tile_px;
    qfz_error err = {0};
    vary(&job);
    job.tile_px = tile;
    job.work = p->work;
    job.phase = phase;
    job.part = part;
    job.n_parts = n_parts;
    return CHECK(qfz_job_run(&job, report, &err) == QFZ_OK, "phase %d, part %d of %d: %s",
                 (int)phase, part, n_parts, err.message);
}

/* All parts, in any order. */
static bool run_parts(const problem *p, qfz_job job, qfz_phase phase, int n_parts,
                      qfz_report *report)
{
    const int first = (int)check_pick(n_parts);
    for (int i = 0; i < n_parts; i++)
        if (!run_phase(p, job, phase, 1 + (first + i) % n_parts, n_parts, report)) return false;
    return true;
}

static bool run_phases(const problem *p, qfz_job job, int n_parts, qfz_report *report)
{
    *report = qfz_report_default();
    report->next = QFZ_PHASE_SUMMARISE;
    for (int i = 0; report->next != QFZ_PHASE_ALL; i++) {
        if (!CHECK(i < 9, "phase %d for ever", (int)report->next)) return false;
        const qfz_phase phase = report->next;
        const bool good = phase == QFZ_PHASE_STITCH ? run_phase(p, job, phase, 0, 0, report)
                                                    : run_parts(p, job, phase, n_parts, report);
        if (!good) return false;
    }
    return true;
}

/* ---- Comparison. */

static void same_bytes(const char *a, const char *b)
{
    if (a && b) CHECK(files_are_same(a, b), "%s differs", b);
}

static void same_pixels(const char *a, const char *b)
{
    grid x, y;
    if (!a || !b || !grid_read(&x, a)) return;
    if (grid_read(&y, b)) {
        bool same = x.h == y.h && x.w == y.w && x.n_bands == y.n_bands && x.type == y.type;
        for (int64_t i = 0; same && i < x.h * x.w * x.n_bands; i++)
            same = same_value(x.values[i], y.values[i]);
        CHECK(same, "%s differs", b);
        grid_free(&y);
    }
    grid_free(&x);
}

static void same_outputs(const qfz_job *a, const qfz_job *b)
{
    same_pixels(a->dst, b->dst);
    same_pixels(a->labels, b->labels);
    same_pixels(a->colors, b->colors);
    same_bytes(a->regions, b->regions);
    same_bytes(a->neighbours, b->neighbours);
    same_bytes(a->quicklook, b->quicklook);
    same_bytes(a->polygons, b->polygons);
    same_bytes(a->forest, b->forest);
}

/* Nothing temporary is left: hidden names, or more than two files in the folder of the work. */
static void none_left(const char *folder, int most)
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

static void one_case(int64_t number)
{
    static problem p;
    static outputs whole, parts;
    qfz_report one = qfz_report_default(), many = qfz_report_default();
    memset(&p, 0, sizeof p);
    check_case(number, "making it");
    make(&p);
    const int n_parts = (int)(1 + check_pick(4));
    qfz_job a = p.base, b = p.base;
    name_outputs(&p, &a, &whole, "whole", "tif");
    b.merge = n_parts > 1 && check_chance(50);
    name_outputs(&p, &b, &parts, "parts", b.merge || n_parts == 1 ? "tif" : "vrt");
    b.tile_px = (int32_t)(1 + check_pick(8));
    if (run_whole(a, &one) && run_phases(&p, b, n_parts, &many)) {
        CHECK(one.regions == many.regions && one.pixels == many.pixels,
              "%" PRIu64 " regions of %" PRIu64 " pixels in parts, not %" PRIu64 " of %" PRIu64,
              many.regions, many.pixels, one.regions, one.pixels);
        same_outputs(&a, &b);
        none_left(scratch("parts"), NAMES);
        none_left(p.work, 2);
    }
    VSIRmdirRecursive(scratch("whole"));
    VSIRmdirRecursive(scratch("parts"));
    VSIRmdirRecursive(p.work);
    files_clear();
    oracle_close(p.o);
    raster_free(&p.r);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv, 35);
    files_begin();
    for (int64_t c = check_.first; c < check_.cases; c++)
        one_case(c);
    files_end();
    return check_end();
}
