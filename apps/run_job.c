/* SPDX-License-Identifier: MIT */
#include "run_job.h"

#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gpus.h"
#include "json.h"
#include "log.h"
#include "metrics.h"
#include "out_file.h"
#include "progress.h"
#include "signals.h"

const json_field run_job_json[] = {
    {"command", "Name of the command."},
    {"src", "Source raster, as given."},
    {"dst", "Output raster, as given; absent with --count-only."},
    {"labels", "Label raster of --labels; absent without the option."},
    {"table", "Table of --regions; absent without the option."},
    {"neighbours", "Table of --neighbours; absent without the option."},
    {"colors", "Raster of --colors; absent without the option."},
    {"quicklook", "Image of --quicklook; absent without the option."},
    {"forest", "Table of the hierarchy, as given; of tree only."},
    {"polygons", "Table of --polygons; absent without the option."},
    {"alpha", "Alpha that --regions-target found; absent without the option."},
    {"regions", "Number of regions; 0 for saliency; of several alphas, the first's."},
    {"alphas", "Array of the alphas of --alpha, each with alpha and its number of regions; absent "
               "without several of them; inf is null."},
    {"pixels", "Number of valid pixels."},
    {"wide_pixels", "Number of valid pixels in regions that exceed omega, because a part of them "
                    "would have less than the minimum area; with --omega and --min-area of "
                    "simplify only."},
    {"width", "Width of the source raster in pixels."},
    {"height", "Height of the source raster in pixels."},
    {"tiles", "Number of tiles."},
    {"engine", "Engine that computed: cpu or cuda."},
    {"gpus", "Number of GPUs used; 0 for the CPU engine."},
    {"seconds", "Wall-clock time of the job in seconds."},
    {"retries", "Number of reads and writes that were repeated after a failure."},
    {"steps", "Array of the steps of the job, each with name and seconds; the steps add up to "
              "seconds."},
    {"peak_rss_bytes", "Peak resident memory of the process in bytes."},
    {NULL, NULL}};

/* Of each of several alphas, in their order. */
static void print_regions(const request *r, const qfz_report *report)
{
    (void)fprintf(stderr, "%" PRIu64, report->regions);
    for (int64_t i = 1; i < r->job.n_alphas; i++)
        (void)fprintf(stderr, ", %" PRIu64, r->alpha_regions[i]);
    (void)fprintf(stderr, " region%s, ", report->regions == 1 ? "" : "s");
}

static void print_summary(const request *r, const qfz_report *report)
{
    const double mpx = (double)report->width * (double)report->height / 1e6;
    (void)fprintf(stderr, "%s: ", r->job.dst ? r->job.dst : r->job.src);
    if (r->job.task != QFZ_SALIENCY && r->job.task != QFZ_CURVE) print_regions(r, report);
    if (r->job.regions_target > 0) (void)fprintf(stderr, "alpha %.9g, ", report->alpha);
    (void)fprintf(stderr,
                  "%" PRId64 " x %" PRId64 " pixels, %" PRId64
                  " tile%s, %s engine, %.2f s, %.1f Mpx/s, "
                  "peak memory %.0f MB\n",
                  report->width, report->height, report->tiles, report->tiles == 1 ? "" : "s",
                  report->engine, report->seconds, report->seconds > 0 ? mpx / report->seconds : 0,
                  (double)report->peak_rss_bytes / 1e6);
}

static void alphas_fields(json *j, const request *r)
{
    json_open(j, "alphas", '[');
    for (int64_t i = 0; i < r->job.n_alphas; i++) {
        json_open(j, NULL, '{');
        json_number(j, "alpha", r->alphas[i]);
        json_count(j, "regions", r->alpha_regions[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* True if regions may exceed omega: the minimum area wins over omega. */
static bool has_wide(const request *r)
{
    return r->job.task == QFZ_SIMPLIFY && r->job.criterion.omega &&
           (r->job.criterion.min_area > 0 || r->job.min_area_m2 > 0);
}

static void warn_of_wide(const request *r, const qfz_report *report)
{
    if (report->wide_pixels == 0) return;
    complain(r->command,
             "%.3g %% of the area (%" PRIu64 " of %" PRIu64 " pixels) is in regions that exceed "
             "--omega: smaller ones would be below --min-area",
             100 * (double)report->wide_pixels / (double)report->pixels, report->wide_pixels,
             report->pixels);
}

void run_job_fields(json *j, const request *r, const qfz_report *report)
{
    json_text(j, "command", strrchr(r->command->name, ' ') + 1);
    json_text(j, "src", r->job.src);
    if (r->job.dst) json_text(j, "dst", r->job.dst);
    if (r->job.labels) json_text(j, "labels", r->job.labels);
    if (r->job.regions) json_text(j, "table", r->job.regions);
    if (r->job.neighbours) json_text(j, "neighbours", r->job.neighbours);
    if (r->job.colors) json_text(j, "colors", r->job.colors);
    if (r->job.quicklook) json_text(j, "quicklook", r->job.quicklook);
    if (r->job.forest) json_text(j, "forest", r->job.forest);
    if (r->job.polygons) json_text(j, "polygons", r->job.polygons);
    if (r->job.regions_target > 0) json_number(j, "alpha", report->alpha);
    json_count(j, "regions", report->regions);
    if (r->job.n_alphas > 0) alphas_fields(j, r);
    json_count(j, "pixels", report->pixels);
    if (has_wide(r)) json_count(j, "wide_pixels", report->wide_pixels);
    json_integer(j, "width", report->width);
    json_integer(j, "height", report->height);
    json_integer(j, "tiles", report->tiles);
    json_text(j, "engine", report->engine);
    json_integer(j, "gpus", report->n_gpus);
    json_number(j, "seconds", report->seconds);
    json_integer(j, "retries", report->retries);
    json_open(j, "steps", '[');
    for (int i = 0; i < report->n_steps; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", report->steps[i].name);
        json_number(j, "seconds", report->steps[i].seconds);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_integer(j, "peak_rss_bytes", report->peak_rss_bytes);
}

static void print_json(const request *r, const qfz_report *report)
{
    json j = json_to(stdout);
    json_open(&j, NULL, '{');
    run_job_fields(&j, r, report);
    json_close(&j, '}');
}

/* Reports why the job ended; returns the exit status.  The signal that stopped the job may have
 * reached another process of it: signals_first() is 0 then. */
static int failed(const request *r, const qfz_error *err)
{
    const int number = signals_first();
    if (err->status == QFZ_ECANCEL && r->job.work) {
        complain(r->command, "stopped by %s; --resume continues from %s",
                 number ? signals_name(number) : "another process of the job", r->job.work);
        return number == SIGINT ? EXIT_SIGNAL + number : EXIT_RESUMABLE;
    }
    if (err->status != QFZ_ECANCEL || number == 0) {
        complain(r->command, "%s", err->message);
        return EXIT_FAILED;
    }
    complain(r->command, "stopped by %s; no output was written", signals_name(number));
    return EXIT_SIGNAL + number;
}

static const char *const phases[] = {"all", "summarise", "stitch", "resolve"};

static void print_next(const request *r, qfz_phase next)
{
    (void)fprintf(stderr, "%s: phase %s", r->job.work, phases[r->job.phase]);
    if (r->job.part) (void)fprintf(stderr, " of part %d/%d", r->job.part, r->job.n_parts);
    if (r->job.phase == next)
        (void)fputs(" is complete; other parts of the phase are not\n", stderr);
    else
        (void)fprintf(stderr, " is complete; next phase%s: %s\n",
                      r->job.part ? ", once all parts are complete" : "", phases[next]);
}

/* The last line of a log of JSON: the exit status, and what a job that is complete reports. */
static void log_end_of_job(const request *r, int status, const qfz_report *report)
{
    log_line line;
    if (!log_begin(&line, r->command, "end")) return;
    json_integer(&line.json, "status", status);
    if (status == EXIT_OK && report->next != QFZ_PHASE_ALL)
        json_text(&line.json, "next_phase", phases[report->next]);
    if (status == EXIT_OK && report->next == QFZ_PHASE_ALL) {
        json_open(&line.json, "report", '{');
        run_job_fields(&line.json, r, report);
        json_close(&line.json, '}');
    }
    log_end(&line);
}

/* Under a small limit, one heap for all threads, and large blocks that return to the system when
 * they are freed.  Otherwise glibc keeps a heap for each thread, with what was freed in it. */
static void keep_heap_small(int64_t limit_bytes)
{
#ifdef M_ARENA_MAX
    enum { LARGE_BYTES = 256 << 10 };
    if (limit_bytes <= 0 || limit_bytes > (int64_t)1 << 30) return;
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE_BYTES);
#else
    (void)limit_bytes;
#endif
}

/* Runs the job and reports what came out; returns the exit status. */
static int work(request *r, progress *bar, qfz_report *report, run_job_print print)
{
    qfz_error err = {0};
    const bool prints = command_ranks()->rank == 0, text = log_chosen() == LOG_TEXT;
    keep_heap_small(r->job.memory_bytes);
    const qfz_status status = qfz_job_run(&r->job, report, &err);
    progress_end(bar);
    if (status != QFZ_OK) return failed(r, &err);
    if (!prints) return EXIT_OK;
    if (report->warning[0]) complain(r->command, "%s", report->warning);
    if (report->next != QFZ_PHASE_ALL) {
        if (!r->quiet && text) print_next(r, report->next);
        return EXIT_OK;
    }
    warn_of_wide(r, report);
    if (!r->quiet && text) print_summary(r, report);
    return print(r, report);
}

bool run_job_spares_inputs(const request *r, const char *path)
{
    const char *const inputs[] = {r->operands[0], r->job.mask, r->job.edges, r->job.stats};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        if (!out_file_is_same(path, inputs[i])) continue;
        complain(r->command, "%s: the output would replace an input; name the output otherwise",
                 path);
        return false;
    }
    return true;
}

int run_job_then(request *r, run_job_print print)
{
    gpu_list gpus = {0};
    metrics state;
    const qfz_gpu_view view = gpus_view(&gpus);
    qfz_report report = qfz_report_default();
    const bool prints = command_ranks()->rank == 0;
    r->job.src = r->operands[0];
    r->job.dst = r->operands[1];
    r->job.forest = r->operands[2];
    log_choose((log_form)r->log);
    if (!run_job_spares_inputs(r, r->metrics) ||
        !metrics_begin(&state, r->command, prints ? r->metrics : NULL,
                       r->job.dst ? r->job.dst : r->job.src))
        return EXIT_FAILED;
    progress bar = progress_start(r->command, r->quiet || !prints, r->job.work != NULL);
    bar.metrics = &state;
    if (command_ranks()->n > 1) r->job.ranks = command_ranks();
    r->job.gpu_view = &view;
    r->job.progress = progress_report;
    r->job.progress_arg = &bar;
    const int status = work(r, &bar, &report, print);
    gpus_close(&gpus);
    r->job.gpu_view = NULL;
    if (prints && !r->quiet && log_chosen() == LOG_JSON) log_end_of_job(r, status, &report);
    metrics_end(&state, status, &report);
    return status;
}

static int print_result(const request *r, const qfz_report *report)
{
    if (r->json || r->job.count_only) print_json(r, report);
    return EXIT_OK;
}

int run_job(request *r)
{
    return run_job_then(r, print_result);
}
