/* SPDX-License-Identifier: MIT */
#include "bench_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_images.h"
#include "bench_runs.h"
#include "log.h"
#include "qfz_bench.h"

typedef struct measured { /* a part done by a method */
    qfz_part part;
    const char *name, *method; /* NULL: auto */
    int connectivity;
    int out_bytes; /* a pixel, of what must be written at least */
    uint64_t min_area;
} measured;

typedef struct result {
    double ms, worst_ms;
    int64_t memory; /* of the device, bytes */
} result;

static const measured of_binary[] = {
    {QFZ_PART_LABEL, "label", NULL, 4, 4, 0},        {QFZ_PART_LABEL, "label", "ha4", 4, 4, 0},
    {QFZ_PART_LABEL, "label", "ha4-32", 4, 4, 0},    {QFZ_PART_LABEL, "label", "c2fl", 4, 4, 0},
    {QFZ_PART_LABEL, "label", NULL, 8, 4, 0},        {QFZ_PART_LABEL, "label", "ha4", 8, 4, 0},
    {QFZ_PART_LABEL, "label", "stava", 8, 4, 0},     {QFZ_PART_FEATURES, "features", NULL, 4, 4, 0},
    {QFZ_PART_FEATURES, "features", "ha4", 4, 4, 0},
};
/* All that connect-v1 and connect-v2 do for a tile; a phase includes those before it. */
#define OF_CONNECT(method, connectivity, link_bytes)                                               \
    {QFZ_PART_LOCAL, "local", method, connectivity, link_bytes, 0},                                \
        {QFZ_PART_MERGED, "merged", method, connectivity, link_bytes, 0},                          \
        {QFZ_PART_FLATTENED, "flattened", method, connectivity, link_bytes, 0},                    \
        {QFZ_PART_SALIENCY, "saliency", method, connectivity, 2 * connectivity, 0},                \
        {QFZ_PART_SUMMARISE, "summarise", method, connectivity, 0, 0},                             \
        {QFZ_PART_ALPHA_OMEGA, "alpha-omega", method, connectivity, 4, 0},                         \
    {                                                                                              \
        QFZ_PART_TREE, "tree", method, connectivity, 16, 0                                         \
    }

static const measured of_scene[] = {
    {QFZ_PART_LABEL, "label", NULL, 4, 4, 0},
    {QFZ_PART_LABEL, "label", "stava", 4, 4, 0},
    {QFZ_PART_LABEL, "label", "c2fl", 4, 4, 0},
    {QFZ_PART_LABEL, "label", "ha4", 4, 4, 0},
    {QFZ_PART_LABEL, "label", "ha4-32", 4, 4, 0},
    {QFZ_PART_LABEL, "label", NULL, 8, 4, 0},
    {QFZ_PART_LABEL, "label", "stava", 8, 4, 0},
    {QFZ_PART_LABEL, "label", "c2fl", 8, 4, 0},
    {QFZ_PART_LABEL, "label", "ha4", 8, 4, 0},
    {QFZ_PART_LABEL, "label", "ha4-32", 8, 4, 0},
    {QFZ_PART_SALIENCY, "saliency", NULL, 4, 8, 0},
    {QFZ_PART_SALIENCY, "saliency", NULL, 8, 16, 0},
    {QFZ_PART_SUMMARISE, "summarise", NULL, 4, 0, 0},
    {QFZ_PART_ALPHA_OMEGA, "alpha-omega", NULL, 4, 4, 0},
    {QFZ_PART_ALPHA_OMEGA, "alpha-omega", NULL, 8, 4, 0},
    {QFZ_PART_TREE, "tree", NULL, 4, 16, 0},
    {QFZ_PART_TREE, "tree", NULL, 8, 16, 0},
    OF_CONNECT("connect-v1", 4, 24),
    OF_CONNECT("connect-v2", 4, 24),
    OF_CONNECT("connect-v1", 8, 40),
    OF_CONNECT("connect-v2", 8, 40),
    {QFZ_PART_FILTER, "filter-25", NULL, 4, 1, 25},
    {QFZ_PART_FILTER, "filter-25", NULL, 8, 1, 25},
    {QFZ_PART_FILTER, "filter-1000", NULL, 4, 1, 1000},
    {QFZ_PART_SALIENCY, "saliency-25", NULL, 4, 8, 25},
    {QFZ_PART_SALIENCY, "saliency-25", NULL, 8, 16, 25},
    {QFZ_PART_ALPHA_OMEGA, "a-omega-25", NULL, 4, 4, 25},
};
enum {
    N_OF_BINARY = sizeof of_binary / sizeof *of_binary,
    N_OF_SCENE = sizeof of_scene / sizeof *of_scene,
    N_DENSITIES = 9
};

typedef struct gpu_bench {
    const request *r;
    double copy_rate; /* bytes a second */
    double *ms;       /* room for the runs */
    qfz_error err;
} gpu_bench;

/* Does the request leave this line in?  --method selects one method, --only one part. */
static bool is_wanted(const request *r, const measured *m)
{
    const char *const only = r->job.gpu_method;
    if (request_has(r, "--connectivity") && m->connectivity != r->job.criterion.connectivity)
        return false;
    if (r->bench.gpu_part && strcmp(r->bench.gpu_part, m->name) != 0) return false;
    return !only || strcmp(only, m->method ? m->method : "auto") == 0;
}

/* Median and worst of the runs. */
static bool measure(gpu_bench *b, const qfz_image *image, const qfz_criterion *limits,
                    const measured *m, result *to)
{
    const int n = b->r->bench.runs;
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = QFZ_ENGINE_CUDA,
                                         .gpu_method = m->method};
    qfz_criterion criterion = *limits;
    qfz_session *session = NULL;
    criterion.connectivity = m->connectivity;
    criterion.min_area = m->min_area;
    if (m->part != QFZ_PART_ALPHA_OMEGA) criterion.omega = NULL;
    qfz_status st = qfz_session_open(&session, image, &criterion, &options, &b->err);
    if (st == QFZ_OK) st = qfz_bench_time(session, m->part, n, b->ms, &b->err);
    if (st == QFZ_OK) to->memory = qfz_bench_gpu_bytes(session);
    qfz_session_close(session);
    if (st != QFZ_OK) return false;
    to->ms = bench_median(b->ms, n);
    to->worst_ms = b->ms[n - 1];
    return true;
}

static void print_head(const gpu_bench *b)
{
    printf("device memory copies %.2f TB/s (read and written)\n", b->copy_rate / 1e12);
    printf("%-12s %-11s %4s %-16s %4s %7s %11s %11s %9s %6s %9s %11s\n", "part", "method", "conn",
           "image", "bits", "size", "median ms", "worst ms", "Gpixel/s", "B/px", "of copy",
           "memory B/px");
}

/* bytes: what a pixel takes at the least to be read and written once. */
static void print_line(const gpu_bench *b, const measured *m, const char *image, int bits,
                       const result *got, int bytes)
{
    const double n = (double)b->r->bench.size_px * (double)b->r->bench.size_px;
    printf("%-12s %-11s %4d %-16s %4d %7d %11.3f %11.3f %9.2f %6d %8.1f%% %11.1f\n", m->name,
           m->method ? m->method : "auto", m->connectivity, image, bits, b->r->bench.size_px,
           got->ms, got->worst_ms, n / got->ms / 1e6, bytes,
           100 * n * bytes / (got->ms * 1e-3) / b->copy_rate, (double)got->memory / n);
    (void)fflush(stdout);
}

/* ---------------------------------------------------------------------------------------- binary
 */
/* Every line for one granularity: the mean over densities of 10 to 90 percent, and the worst. */
static bool bench_granularity(gpu_bench *b, int granularity)
{
    result all[N_OF_BINARY] = {0};
    char name[32];
    for (int d = 1; d <= N_DENSITIES; d++) {
        bench_request wanted = b->r->bench;
        wanted.kind = "binary";
        wanted.bits = 8;
        wanted.bands = 1;
        wanted.granularity_px = granularity;
        wanted.density_percent = 10 * d;
        uint8_t *const pixels = bench_generate(&wanted);
        if (!pixels) return false;
        const qfz_image image = {.struct_size = sizeof(qfz_image),
                                 .h = wanted.size_px,
                                 .w = wanted.size_px,
                                 .n_bands = 1,
                                 .type = QFZ_U8,
                                 .pixels = pixels,
                                 .valid = pixels};
        for (int i = 0; i < N_OF_BINARY; i++) {
            const qfz_criterion zones = {.distance = QFZ_L1};
            if (!is_wanted(b->r, &of_binary[i])) continue;
            result one;
            if (!measure(b, &image, &zones, &of_binary[i], &one)) {
                free(pixels);
                return false;
            }
            all[i].ms += one.ms / N_DENSITIES;
            all[i].memory = one.memory;
            if (one.ms > all[i].worst_ms) all[i].worst_ms = one.ms;
        }
        free(pixels);
    }
    (void)snprintf(name, sizeof name, "binary g%d", granularity);
    for (int i = 0; i < N_OF_BINARY; i++)
        if (is_wanted(b->r, &of_binary[i]))
            print_line(b, &of_binary[i], name, 8, &all[i], 1 + of_binary[i].out_bytes);
    return true;
}

static bool bench_binary(gpu_bench *b)
{
    static const int granularities[] = {1, 4, 16};
    for (size_t i = 0; i < sizeof granularities / sizeof *granularities; i++)
        if (!bench_granularity(b, granularities[i])) return false;
    return true;
}

/* ---------------------------------------------------------------------------------------- scenes
 */
/* Alpha and omega are 5 % of the type's range; labels of zones take no alpha. */
static bool bench_scene(gpu_bench *b, const bench_image *image, const char *name)
{
    const int bits = bench_image_bits(image);
    const double limit = bits == 8 ? 12 : 3276;
    for (int i = 0; i < N_OF_SCENE; i++) {
        const measured *const m = &of_scene[i];
        const qfz_criterion criterion = {.distance = QFZ_L1,
                                         .has_alpha = m->part == QFZ_PART_ALPHA_OMEGA,
                                         .alpha = limit,
                                         .omega = &limit,
                                         .n_omega = 1};
        /* The published methods that label accept integers only. */
        if (m->method && m->part == QFZ_PART_LABEL && image->image.type == QFZ_F32) continue;
        if (!is_wanted(b->r, m)) continue;
        result got;
        if (!measure(b, &image->image, &criterion, m, &got)) return false;
        print_line(b, m, name, bits, &got, image->image.n_bands * bits / 8 + m->out_bytes);
    }
    return true;
}

static bool bench_file(gpu_bench *b)
{
    request wanted = *b->r;
    bench_image image = {0};
    const char *const slash = strrchr(b->r->operands[1], '/');
    wanted.bench.kind = NULL;
    wanted.bench.mirror_px = b->r->bench.size_px;
    if (bench_image_open(&image, &wanted, b->r->operands[1], &b->err) != QFZ_OK) return false;
    const bool ok = bench_scene(b, &image, slash ? slash + 1 : b->r->operands[1]);
    bench_image_close(&image);
    return ok;
}

static bool bench_generated(gpu_bench *b)
{
    request wanted = *b->r;
    bench_image image = {0};
    if (bench_image_open(&image, &wanted, NULL, &b->err) != QFZ_OK) return false;
    const bool ok = bench_scene(b, &image, b->r->bench.kind);
    bench_image_close(&image);
    return ok;
}

int bench_gpu(const request *r)
{
    gpu_bench b = {.r = r, .ms = malloc((size_t)r->bench.runs * sizeof *b.ms)};
    const bool scene = r->n_operands > 1, generated = r->bench.kind != NULL;
    bool ok = b.ms && qfz_bench_copy_rate(0, &b.copy_rate, &b.err) == QFZ_OK;
    if (ok) {
        print_head(&b);
        ok = scene ? bench_file(&b) : generated ? bench_generated(&b) : bench_binary(&b);
    }
    free(b.ms);
    if (!ok) complain(r->command, "%s", b.err.message[0] ? b.err.message : "out of memory");
    return ok ? EXIT_OK : EXIT_FAILED;
}
