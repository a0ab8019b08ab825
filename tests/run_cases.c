/* SPDX-License-Identifier: MIT */
/* run_cases.c - small problems with their results, from text files, through sessions and jobs.
 *
 * A case is a line of comment, words and values (op, connectivity, distance, type, alpha, omega,
 * background), then blocks: `pixels W H` once for each band (`.` is masked), and the result as
 * `labels`, `painted` (once for each band), or the levels of edges as `right`, `below`,
 * `below_right`, `below_left` (`-` is no edge). */
#include "engine_under_test.h"
#include "files.h"

#include <ctype.h>

enum { MOST_PX = 4096, MOST_WORD = 64, N_PLANES = 4 };

typedef struct problem {
    const char *path;
    char op[MOST_WORD];
    qfz_criterion criterion;
    double omega[RASTER_BANDS];
    bool has_background;
    double background;
    raster r;
    double *bands[RASTER_BANDS];
    bool has_labels;
    uint32_t labels[MOST_PX];
    int n_painted;
    double *painted[RASTER_BANDS];
    double *planes[N_PLANES]; /* levels, ORACLE_NO_EDGE for none */
} problem;

/* ----------------------------------------------------------------------------------- parsing */

static bool next_word(FILE *f, char *word)
{
    int c, n = 0;
    for (;;) {
        do
            c = getc(f);
        while (isspace(c));
        if (c != '#') break;
        do
            c = getc(f);
        while (c != '\n' && c != EOF);
    }
    for (; c != EOF && !isspace(c) && n < MOST_WORD - 1; c = getc(f))
        word[n++] = (char)c;
    word[n] = 0;
    return n > 0;
}

static void bad(const problem *p, const char *word)
{
    printf("%s: what is \"%s\"?\n", p->path, word);
    exit(EXIT_FAILURE);
}

static double *read_grid(const problem *p, FILE *f)
{
    char word[MOST_WORD];
    const int64_t n = p->r.image.h * p->r.image.w;
    double *cells = calloc(MOST_PX, sizeof *cells);
    files_must(cells && n > 0 && n <= MOST_PX);
    for (int64_t i = 0; i < n; i++) {
        if (!next_word(f, word)) bad(p, "end of file");
        if (!strcmp(word, "."))
            cells[i] = NAN; /* of pixels: masked */
        else if (!strcmp(word, "-"))
            cells[i] = ORACLE_NO_EDGE;
        else
            cells[i] = CPLAtof(word);
    }
    return cells;
}

static void read_pixels(problem *p, FILE *f)
{
    char word[MOST_WORD];
    if (!next_word(f, word)) bad(p, word);
    p->r.image.struct_size = sizeof(qfz_image);
    p->r.image.w = atoi(word);
    if (!next_word(f, word)) bad(p, word);
    p->r.image.h = atoi(word);
    if (p->r.image.n_bands == RASTER_BANDS) bad(p, "too many bands");
    p->bands[p->r.image.n_bands++] = read_grid(p, f);
}

static int find(const problem *p, const char *const *names, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], word)) return i;
    bad(p, word);
    return -1;
}

static void read_option(problem *p, const char *key, const char *value)
{
    if (!strcmp(key, "op"))
        strcpy(p->op, value);
    else if (!strcmp(key, "connectivity"))
        p->criterion.connectivity = atoi(value);
    else if (!strcmp(key, "distance"))
        p->criterion.distance = (qfz_distance)find(p, raster_distances, 3, value);
    else if (!strcmp(key, "type"))
        p->r.image.type = (qfz_type)find(p, raster_types, 7, value);
    else if (!strcmp(key, "alpha")) {
        p->criterion.has_alpha = true;
        p->criterion.alpha = CPLAtof(value);
    } else if (!strcmp(key, "omega")) {
        if (p->criterion.n_omega == RASTER_BANDS) bad(p, value);
        p->criterion.omega = p->omega;
        p->omega[p->criterion.n_omega++] = CPLAtof(value);
    } else if (!strcmp(key, "background")) {
        p->has_background = true;
        p->background = CPLAtof(value);
    } else
        bad(p, key);
}

static void read_case(problem *p, const char *path)
{
    static const char *const planes[] = {"right", "below", "below_right", "below_left"};
    char word[MOST_WORD], value[MOST_WORD];
    FILE *f = fopen(path, "r");
    memset(p, 0, sizeof *p);
    p->path = path;
    p->criterion.connectivity = 4;
    if (!f) bad(p, path);
    while (next_word(f, word)) {
        if (!strcmp(word, "pixels"))
            read_pixels(p, f);
        else if (!strcmp(word, "labels")) {
            double *labels = read_grid(p, f);
            for (int64_t i = 0; i < MOST_PX; i++)
                p->labels[i] = (uint32_t)labels[i];
            p->has_labels = true;
            free(labels);
        } else if (!strcmp(word, "painted"))
            p->painted[p->n_painted++] = read_grid(p, f);
        else if (!strcmp(word, "right") || !strncmp(word, "below", 5))
            p->planes[find(p, planes, N_PLANES, word)] = read_grid(p, f);
        else if (next_word(f, value))
            read_option(p, word, value);
        else
            bad(p, word);
    }
    fclose(f);
}

/* The bands as an image; a NaN is a pixel without validity. */
static void make_image(problem *p)
{
    const int64_t n = p->r.image.h * p->r.image.w;
    p->r.pixels = calloc((size_t)(n * p->r.image.n_bands), 4);
    p->r.valid = malloc((size_t)n);
    files_must(p->r.pixels && p->r.valid);
    memset(p->r.valid, 1, (size_t)n);
    for (int b = 0; b < p->r.image.n_bands; b++)
        for (int64_t i = 0; i < n; i++) {
            if (isnan(p->bands[b][i]))
                p->r.valid[i] = 0;
            else
                raster_set(&p->r, b, i, p->bands[b][i]);
            if (p->has_background && p->bands[b][i] == p->background && p->r.image.n_bands == 1)
                p->r.valid[i] = 0; /* sessions have no background */
        }
    p->r.image.pixels = p->r.pixels;
    p->r.image.valid = p->r.valid;
}

static void free_case(problem *p)
{
    for (int b = 0; b < RASTER_BANDS; b++)
        free(p->bands[b]), free(p->painted[b]);
    for (int d = 0; d < N_PLANES; d++)
        free(p->planes[d]);
    raster_free(&p->r);
}

/* ----------------------------------------------------------------------------------- sessions */

static void session_labels(const problem *p, qfz_session *s)
{
    uint32_t n = 0;
    const uint32_t *labels = qfz_session_labels(s, &n);
    for (int64_t i = 0; i < p->r.image.h * p->r.image.w; i++)
        if (!CHECK(labels[i] == p->labels[i], "session: pixel %d has label %u, not %u", (int)i,
                   labels[i], p->labels[i]))
            break;
}

static void session_levels(const problem *p, qfz_session *s)
{
    const int64_t n = p->r.image.h * p->r.image.w;
    const uint32_t *keys = qfz_session_saliency(s);
    for (int d = 0; d < p->criterion.connectivity / 2; d++)
        for (int64_t i = 0; i < n; i++) {
            const uint32_t key = keys[d * n + i];
            const double level = key == UINT32_MAX ? ORACLE_NO_EDGE : qfz_session_level(s, key);
            /* The greatest level has the value of "no edge", as qfz.h documents. */
            if (key == UINT32_MAX && p->planes[d][i] == 4294967295.0) continue;
            if (!CHECK(level == p->planes[d][i], "session: direction %d of pixel %d is %g, not %g",
                       d, (int)i, level, p->planes[d][i]))
                return;
        }
}

static void run_session(const problem *p, int n_threads)
{
    const bool levels = !strcmp(p->op, "saliency");
    const qfz_part part = levels                          ? QFZ_PART_SALIENCY
                          : !strcmp(p->op, "alpha_omega") ? QFZ_PART_ALPHA_OMEGA
                                                          : QFZ_PART_LABEL;
    qfz_session *s = NULL;
    qfz_error err = {0};
    const qfz_session_options options = {
        .struct_size = sizeof(qfz_session_options), .engine = TEST_ENGINE, .n_threads = n_threads};
    if (qfz_session_open(&s, &p->r.image, &p->criterion, &options, &err) == QFZ_OK &&
        qfz_session_run(s, part, NULL, &err) == QFZ_OK) {
        if (levels)
            session_levels(p, s);
        else
            session_labels(p, s);
    }
    CHECK(err.status == QFZ_OK, "session: %s", err.message);
    qfz_session_close(s);
}

/* --------------------------------------------------------------------------------------- jobs */

static void write_source(const problem *p, const char *path)
{
    const int h = (int)p->r.image.h, w = (int)p->r.image.w;
    const size_t plane = (size_t)(h * w) * oracle_type_bytes(p->r.image.type);
    char **options = CSLSetNameValue(NULL, "PHOTOMETRIC", "MINISBLACK");
    if (p->r.image.type == QFZ_I8 && !HAS_GDT_INT8)
        options = CSLSetNameValue(options, "PIXELTYPE", "SIGNEDBYTE");
    GDALDatasetH d = GDALCreate(GDALGetDriverByName("GTiff"), path, w, h, p->r.image.n_bands,
                                files_type(p->r.image.type), options);
    CSLDestroy(options);
    files_must(d != NULL);
    for (int b = 0; b < p->r.image.n_bands; b++)
        files_must(GDALRasterIO(GDALGetRasterBand(d, b + 1), GF_Write, 0, 0, w, h,
                                (char *)p->r.pixels + (size_t)b * plane, w, h,
                                files_type(p->r.image.type), 0, 0) == CE_None);
    GDALClose(d);
}

static void values_are(const problem *p, const char *path, int band, const double *want,
                       bool levels, const char *what)
{
    grid g;
    if (!grid_read(&g, path)) return;
    const int64_t n = p->r.image.h * p->r.image.w;
    if (CHECK(g.h == p->r.image.h && g.w == p->r.image.w && g.n_bands > band, "%s: size", what))
        for (int64_t i = 0; i < n; i++) {
            const double whole = levels && want[i] < 0 ? g.nodata : want[i];
            const double value = g.type == GDT_Float32 ? (double)(float)whole : whole;
            if (!levels && !p->r.valid[i]) continue;
            if (!CHECK(same_value(g.values[band * n + i], value), "%s: pixel %d is %g, not %g",
                       what, (int)i, g.values[band * n + i], value))
                break;
        }
    grid_free(&g);
}

static void labels_are(const problem *p, const char *path, const char *what)
{
    grid g;
    if (!grid_read(&g, path)) return;
    for (int64_t i = 0; i < p->r.image.h * p->r.image.w && i < g.h * g.w; i++)
        if (!CHECK(g.values[i] == p->labels[i], "%s: pixel %d has label %g, not %u", what, (int)i,
                   g.values[i], p->labels[i]))
            break;
    grid_free(&g);
}

static void outputs_are(const problem *p, const qfz_job *job, const char *what)
{
    if (job->task == QFZ_SALIENCY)
        for (int d = 0; d < p->criterion.connectivity / 2; d++)
            values_are(p, job->dst, d, p->planes[d], true, what);
    if (job->task == QFZ_LABEL) labels_are(p, job->dst, what);
    if (job->labels && p->has_labels) labels_are(p, job->labels, what);
    for (int b = 0; b < p->n_painted; b++)
        values_are(p, job->dst, b, p->painted[b], false, what);
}

static void run_job(const problem *p, int32_t tile, int n_threads)
{
    qfz_job job = qfz_job_default(!strcmp(p->op, "saliency")      ? QFZ_SALIENCY
                                  : !strcmp(p->op, "alpha_omega") ? QFZ_SIMPLIFY
                                                                  : QFZ_LABEL);
    qfz_error err = {0};
    qfz_report report = qfz_report_default();
    char what[64];
    snprintf(what, sizeof what, "tile %d, %d threads", tile, n_threads);
    job.src = scratch("src.tif");
    job.mask = scratch("mask.tif");
    job.dst = scratch("dst.tif");
    job.labels = job.task == QFZ_SIMPLIFY ? scratch("labels.tif") : NULL;
    job.criterion = p->criterion;
    job.has_background = p->has_background;
    job.background = p->background;
    job.tile_px = tile;
    job.n_threads = n_threads;
    job.engine = TEST_ENGINE;
    job.overwrite = true;
    if (CHECK(qfz_job_run(&job, &report, &err) == QFZ_OK, "%s: %s", what, err.message))
        outputs_are(p, &job, what);
}

static void one_case(int64_t number, const char *path)
{
    static problem p;
    static const int32_t tiles[] = {0, 1, 2, 3, 5};
    check_case(number, "%s", path);
    read_case(&p, path);
    make_image(&p);
    for (int n_threads = 1; n_threads <= 2; n_threads++)
        run_session(&p, n_threads);
    write_source(&p, scratch("src.tif"));
    files_write_bytes(scratch("mask.tif"), p.r.valid, p.r.image.h, p.r.image.w);
    for (int i = 0; i < 5; i++)
        for (int n_threads = 1; n_threads <= 2; n_threads++)
            run_job(&p, tiles[i], n_threads);
    files_clear();
    free_case(&p);
}

int main(int argc, char **argv)
{
    need_engine();
    check_begin(0, argv, 0);
    files_begin();
    for (int i = 1; i < argc; i++)
        one_case(i, argv[i]);
    files_end();
    printf("%d cases; ", argc - 1);
    return check_end();
}
