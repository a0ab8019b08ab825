/* SPDX-License-Identifier: MIT */
/* bench.c - qfz-bench: times the engine's parts in memory, without input or output of pixels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_main.h"
#include "bench_gpu.h"
#include "bench_images.h"
#include "bench_runs.h"
#include "json.h"
#include "log.h"
#include "qfz_bench.h"
#include "values.h"

static const char part_names[] = "label|tree|saliency|alpha-omega|summarise|resolve|all";
static const qfz_part parts[] = {QFZ_PART_LABEL,       QFZ_PART_TREE,      QFZ_PART_SALIENCY,
                                 QFZ_PART_ALPHA_OMEGA, QFZ_PART_SUMMARISE, QFZ_PART_RESOLVE};
enum { N_PARTS = sizeof parts / sizeof *parts };

typedef struct timing {
    char part[16], engine[16];
    double median_ms, min_ms;
} timing;

/* The name at a position of part_names. */
static void copy_name(int i, char name[16])
{
    const char *from = part_names;
    for (; i > 0; i--)
        from += strcspn(from, "|") + 1;
    (void)snprintf(name, 16, "%.*s", (int)strcspn(from, "|"), from);
}

/* Omega is for the part that knows it, and that part makes no sense without. */
static qfz_criterion criterion_of(const request *r, qfz_part part)
{
    static const double usual_omega = 10;
    qfz_criterion criterion = r->job.criterion;
    if (part != QFZ_PART_ALPHA_OMEGA) {
        criterion.omega = NULL;
        criterion.n_omega = 0;
    } else if (!criterion.omega) {
        criterion.omega = &usual_omega;
        criterion.n_omega = 1;
    }
    return criterion;
}

/* NULL: any. */
static const char *gpu_method(const request *r)
{
    return r->job.gpu_method && strcmp(r->job.gpu_method, "auto") != 0 ? r->job.gpu_method : NULL;
}

/* One run to warm up, then the others, into ms. */
static qfz_status time_runs(qfz_session *session, qfz_part part, int n_runs, double *ms,
                            qfz_error *err)
{
    double warm_ms;
    qfz_status st = qfz_bench_run(session, part, &warm_ms, err);
    for (int i = 0; st == QFZ_OK && i < n_runs; i++)
        st = qfz_bench_run(session, part, &ms[i], err);
    return st;
}

/* parts[i]. */
static qfz_status time_part(const request *r, const bench_image *image, int i, double *ms,
                            timing *t, qfz_error *err)
{
    const qfz_part part = parts[i];
    const int n_runs = r->bench.runs;
    const qfz_criterion criterion = criterion_of(r, part);
    const qfz_session_options options = {.struct_size = sizeof(qfz_session_options),
                                         .engine = r->job.engine,
                                         .n_threads = r->job.n_threads,
                                         .gpu_method = gpu_method(r)};
    qfz_session *session = NULL;
    qfz_status st = qfz_session_open(&session, &image->image, &criterion, &options, err);
    if (st != QFZ_OK) return st;
    st = time_runs(session, part, n_runs, ms, err);
    if (st == QFZ_OK) {
        copy_name(i, t->part);
        (void)snprintf(t->engine, sizeof t->engine, "%s", qfz_session_engine(session));
        t->median_ms = bench_median(ms, n_runs);
        t->min_ms = ms[0];
    }
    qfz_session_close(session);
    return st;
}

/* ----------------------------------------------------------------------------------------- output
 */
static double mpx_per_s(const bench_image *image, const timing *t)
{
    return (double)image->image.h * (double)image->image.w / 1e3 /
           (t->median_ms > 0 ? t->median_ms : 1e-9);
}

static void print_table(const request *r, const bench_image *image, const timing *timings, int n)
{
    printf("%-12s %-7s %7s %4s %4s %5s %13s %10s %10s %9s\n", "part", "engine", "threads", "conn",
           "bits", "bands", "size", "median ms", "min ms", "Mpixel/s");
    for (int i = 0; i < n; i++) {
        char size[32];
        const timing *const t = &timings[i];
        (void)snprintf(size, sizeof size, "%lldx%lld", (long long)image->image.w,
                       (long long)image->image.h);
        printf("%-12s %-7s %7d %4d %4d %5d %13s %10.2f %10.2f %9.1f\n", t->part, t->engine,
               r->job.n_threads, r->job.criterion.connectivity, bench_image_bits(image),
               image->image.n_bands, size, t->median_ms, t->min_ms, mpx_per_s(image, t));
    }
}

static void print_json(const request *r, const bench_image *image, const timing *timings, int n)
{
    static const char *const distances[] = {"l1", "l2", "linf", "sam"};
    json j = json_to(stdout);
    json_open(&j, NULL, '[');
    for (int i = 0; i < n; i++) {
        const timing *const t = &timings[i];
        json_open(&j, NULL, '{');
        json_text(&j, "part", t->part);
        json_text(&j, "engine", t->engine);
        json_integer(&j, "threads", r->job.n_threads);
        json_text(&j, "image", r->bench.kind ? r->bench.kind : r->operands[1]);
        json_integer(&j, "width", image->image.w);
        json_integer(&j, "height", image->image.h);
        json_integer(&j, "bands", image->image.n_bands);
        json_integer(&j, "bits", bench_image_bits(image));
        json_integer(&j, "connectivity", r->job.criterion.connectivity);
        json_text(&j, "distance", distances[r->job.criterion.distance]);
        json_integer(&j, "runs", r->bench.runs);
        json_number(&j, "median_ms", t->median_ms);
        json_number(&j, "min_ms", t->min_ms);
        json_number(&j, "mpx_per_s", mpx_per_s(image, t));
        json_close(&j, '}');
    }
    json_close(&j, ']');
}

/* ------------------------------------------------------------------------------------------- run
 */
static int run(request *r)
{
    if (strcmp(r->operands[0], "gpu") == 0) return bench_gpu(r);
    const int choice = value_choice(r->operands[0], part_names);
    const int first = choice < N_PARTS ? choice : 0, last = choice < N_PARTS ? choice : N_PARTS - 1;
    timing timings[N_PARTS] = {0};
    bench_image image = {0};
    qfz_error err = {0};
    if (!r->job.n_threads) r->job.n_threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    double *const ms = malloc((size_t)r->bench.runs * sizeof *ms);
    qfz_status st = bench_image_open(&image, r, r->operands[1], &err);
    for (int i = first; ms && st == QFZ_OK && i <= last; i++)
        st = time_part(r, &image, i, ms, &timings[i - first], &err);
    const bool ok = ms && st == QFZ_OK;
    if (!ok)
        complain(r->command, "%s", ms ? err.message : "out of memory");
    else if (r->json)
        print_json(r, &image, timings, last - first + 1);
    else
        print_table(r, &image, timings, last - first + 1);
    bench_image_close(&image);
    free(ms);
    return ok ? EXIT_OK : EXIT_FAILED;
}

static const char *check(const request *r)
{
    static const char *const generated_only[] = {"--size",        "--bits",    "--bands",
                                                 "--granularity", "--density", "--seed"};
    const bool gpu = strcmp(r->operands[0], "gpu") == 0;
    if (!gpu && value_choice(r->operands[0], part_names) < 0)
        return "PART must be label, tree, saliency, alpha-omega, summarise, resolve, all or gpu";
    if (r->bench.kind && r->n_operands > 1) return "takes FILE or --generate, not both";
    if (gpu) return NULL;
    if (r->bench.kind && request_has(r, "-b")) return "-b is for FILE, not for --generate";
    if (!r->bench.kind && r->n_operands < 2) return "needs FILE or --generate KIND";
    for (size_t i = 0; !r->bench.kind && i < sizeof generated_only / sizeof *generated_only; i++)
        if (request_has(r, generated_only[i]))
            return "takes the image's options with --generate only";
    return NULL;
}

static const command bench_command = {
    .name = "qfz-bench",
    .page = "qfz-bench",
    .bit = FOR_BENCH,
    .operands = "PART [FILE]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "time the engine's parts in memory",
    .description =
        "Reads FILE, any raster that GDAL opens, or generates an image, and measures what the "
        "engine "
        "takes for a PART of the work, without input or output of pixels: label, tree, saliency, "
        "alpha-omega, summarise, resolve, or all of them.\n\n"
        "gpu measures every method of the CUDA engine on data in the device's memory, side by side "
        "with the rate at which that memory copies: on FILE mirrored to --size, on an image that "
        "--generate names, or, without either, on random binary images of granularity 1, 4 and 16, "
        "mean over densities of 10 to 90 %.\n\n"
        "Prints the median and the least of the runs, and how many pixels a second the median is. "
        "Without --omega, alpha-omega is measured with 10.",
    .example = "qfz-bench tree --generate fractal --size 4096 --bits 16 -j 1",
    .check = check,
    .run = run,
};

int main(int argc, char **argv)
{
    return command_main(&bench_command, argc - 1, argv + 1);
}
