/* SPDX-License-Identifier: MIT */
/* curve.c - qfz curve: the number of regions for every alpha. */
#include <stdio.h>

#include "curve_print.h"
#include "log.h"
#include "out_file.h"
#include "run_job.h"

enum { FORMAT_TEXT = 0, FORMAT_CSV, FORMAT_JSON };

static const json_field fields[] = {
    {"command", "Name of the command."},
    {"src", "Source raster, as given."},
    {"regions", "Number of regions at alpha 0: the flat zones."},
    {"pixels", "Number of valid pixels."},
    {"width", "Width of the source raster in pixels."},
    {"height", "Height of the source raster in pixels."},
    {"tiles", "Number of tiles."},
    {"engine", "Engine that computed: cpu or cuda."},
    {"gpus", "Number of GPUs used; 0 for the CPU engine."},
    {"seconds", "Wall-clock time of the job in seconds."},
    {"steps", "Array of the steps of the job, each with name and seconds."},
    {"peak_rss_bytes", "Peak resident memory of the process in bytes."},
    {"exact_below", "Below this alpha the number is known for every alpha, from here on only at "
                    "the alphas of the curve; null: it is known everywhere."},
    {"curve", "Object of two arrays, alpha and regions: the number of regions from this alpha on, "
              "up to the next one."},
    {NULL, NULL}};

static void print_to(FILE *out, const request *r, const qfz_report *report)
{
    const qfz_curve *const curve = r->job.curve;
    const int format = r->json ? FORMAT_JSON : r->curve.format;
    if (format == FORMAT_TEXT) curve_print_text(out, curve);
    if (format == FORMAT_CSV) curve_print_csv(out, curve);
    if (format != FORMAT_JSON) return;
    json j = json_to(out);
    json_open(&j, NULL, '{');
    run_job_fields(&j, r, report);
    curve_print_json(&j, curve);
    json_close(&j, '}');
}

typedef struct curve_result {
    const request *r;
    const qfz_report *report;
} curve_result;

static bool write_result(FILE *out, const void *arg)
{
    const curve_result *const result = arg;
    print_to(out, result->r, result->report);
    return true;
}

static int print(const request *r, const qfz_report *report)
{
    qfz_error err = {0};
    if (r->curve.plot &&
        qfz_curve_plot(r->job.curve, r->curve.plot, r->job.overwrite, &err) != QFZ_OK) {
        complain(r->command, "%s", err.message);
        return EXIT_FAILED;
    }
    if (r->curve.out) {
        const curve_result result = {.r = r, .report = report};
        const int status = out_file_write(r->command, r->curve.out, write_result, &result);
        if (status != EXIT_OK && r->curve.plot) (void)remove(r->curve.plot); /* both or none */
        return status;
    }
    print_to(stdout, r, report);
    return EXIT_OK;
}

/* Refuses, before the work begins, files that could not be written after it.  Other ranks than the
 * first, and parts of a phase, may run where there is no such folder; they write none. */
static bool can_print(const request *r)
{
    const char *const out = r->curve.out, *const plot = r->curve.plot;
    if (!out_file_is_free(r->command, out, r->job.overwrite) ||
        !out_file_is_free(r->command, plot, r->job.overwrite) || !run_job_spares_inputs(r, out) ||
        !run_job_spares_inputs(r, plot))
        return false;
    if (out_file_is_same(out, plot)) {
        complain(r->command, "%s: two outputs have this name", plot);
        return false;
    }
    if (command_ranks()->rank > 0 || r->job.phase == QFZ_PHASE_SUMMARISE) return true;
    return out_file_can_be_made(r->command, out) && out_file_can_be_made(r->command, plot);
}

static int run(request *r)
{
    qfz_curve curve = qfz_curve_default();
    if (!can_print(r)) return EXIT_FAILED;
    r->job.curve = &curve;
    const int status = run_job_then(r, print);
    qfz_curve_release(&curve);
    return status;
}

const command curve_command = {
    .name = "qfz curve",
    .page = "qfz-curve",
    .bit = FOR_CURVE,
    .operands = "SRC",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "the number of alpha-components for every alpha",
    .description =
        "Counts the alpha-components of SRC for every alpha, exactly, in one pass over the pixels: "
        "the number that qfz label --alpha A --count-only prints, for all A at once.\n\n"
        "The table on stdout has, for numbers of regions that fall by halves and by powers of "
        "ten, the least alpha with at most so many regions, and the number of regions at that "
        "alpha. --format csv prints every alpha at which the number changes. The last number is "
        "that of the connected areas of valid pixels, which no alpha joins.",
    .example = "qfz curve --distance linf scene.tif\n"
               "qfz curve --distance linf --format csv -o curve.csv --plot curve.png scene.tif",
    .json = fields,
    .run = run,
};
