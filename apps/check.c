/* SPDX-License-Identifier: MIT */
/* check.c - qfz check: proves or refutes labels and saliency. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "json.h"
#include "log.h"
#include "options.h"
#include "progress.h"
#include "signals.h"

static const json_field fields[] = {
    {"command", "Name of the command."},
    {"raster", "The raster that was checked, as given."},
    {"src", "Source raster, as given; absent without SRC."},
    {"table", "The table of regions that was checked, as given; absent without --table."},
    {"polygons", "The table of polygons that was checked, as given; absent without --polygons."},
    {"content", "What the raster holds: labels or saliency."},
    {"right", "true if no fault was found, else false."},
    {"faults", "Number of faults: pixels, edges and regions that are not as they must be."},
    {"x", "Column of the first fault in raster order, from 0; null if it has no pixel; absent "
          "without a fault."},
    {"y", "Row of the first fault, likewise."},
    {"what", "The first fault, in words; absent without a fault."},
    {"compared", "true if the raster was also computed anew and compared."},
    {"regions", "Number of regions; 0 for saliency."},
    {"pixels", "Number of pixels with a label; for saliency, of valid pixels."},
    {"width", "Width of the raster in pixels."},
    {"height", "Height of the raster in pixels."},
    {"seconds", "Wall-clock time in seconds."},
    {"peak_rss_bytes", "Peak resident memory of the process in bytes."},
    {NULL, NULL}};

static void put_place(json *j, const char *name, int64_t place)
{
    json_number(j, name, place < 0 ? NAN : (double)place);
}

static void print_json(const request *r, const qfz_check_report *report)
{
    json j = json_to(stdout);
    json_open(&j, NULL, '{');
    json_text(&j, "command", "check");
    json_text(&j, "raster", r->operands[0]);
    if (r->operands[1]) json_text(&j, "src", r->operands[1]);
    if (r->checked_table) json_text(&j, "table", r->checked_table);
    if (r->checked_polygons) json_text(&j, "polygons", r->checked_polygons);
    json_text(&j, "content", report->task == QFZ_SALIENCY ? "saliency" : "labels");
    json_flag(&j, "right", report->faults == 0);
    json_count(&j, "faults", report->faults);
    if (report->faults > 0) {
        put_place(&j, "x", report->x);
        put_place(&j, "y", report->y);
        json_text(&j, "what", report->what);
    }
    json_flag(&j, "compared", report->compared);
    json_count(&j, "regions", report->regions);
    json_count(&j, "pixels", report->pixels);
    json_integer(&j, "width", report->width);
    json_integer(&j, "height", report->height);
    json_number(&j, "seconds", report->seconds);
    json_integer(&j, "peak_rss_bytes", report->peak_rss_bytes);
    json_close(&j, '}');
}

static void print_fault(const request *r, const qfz_check_report *report)
{
    if (report->x < 0)
        complain(r->command, "%s: %s", r->operands[0], report->what);
    else
        complain(r->command, "%s: column %" PRId64 ", row %" PRId64 ": %s", r->operands[0],
                 report->x, report->y, report->what);
    if (report->faults > 1)
        complain(r->command, "%s: %" PRIu64 " faults in all", r->operands[0], report->faults);
}

static void print_right(const request *r, const qfz_check_report *report)
{
    (void)fprintf(stderr, "%s: right; ", r->operands[0]);
    if (report->task != QFZ_SALIENCY)
        (void)fprintf(stderr, "%" PRIu64 " region%s, ", report->regions,
                      report->regions == 1 ? "" : "s");
    (void)fprintf(stderr, "%" PRId64 " x %" PRId64 " pixels, %.2f s, peak memory %.0f MB\n",
                  report->width, report->height, report->seconds,
                  (double)report->peak_rss_bytes / 1e6);
}

static int failed(const request *r, const qfz_error *err)
{
    const int number = signals_first();
    if (err->status != QFZ_ECANCEL || number == 0) {
        complain(r->command, "%s", err->message);
        return EXIT_FAILED;
    }
    complain(r->command, "stopped by %s", signals_name(number));
    return EXIT_SIGNAL + number;
}

static int run(request *r)
{
    qfz_check check = qfz_check_default();
    qfz_check_report report = qfz_check_report_default();
    qfz_error err = {0};
    progress bar = progress_start(r->command, r->quiet, false);
    if (command_ranks()->n > 1) {
        complain(r->command, "a check runs in one process; start it without MPI");
        return EXIT_FAILED;
    }
    r->job.src = r->operands[1];
    r->job.progress = progress_report;
    r->job.progress_arg = &bar;
    check.raster = r->operands[0];
    check.job = &r->job;
    check.table = r->checked_table;
    check.polygons = r->checked_polygons;
    check.has_connectivity = request_has(r, "--connectivity");
    check.has_distance = request_has(r, "--distance");
    const qfz_status status = qfz_check_run(&check, &report, &err);
    progress_end(&bar);
    if (status != QFZ_OK) return failed(r, &err);
    if (r->json) print_json(r, &report);
    if (report.faults > 0)
        print_fault(r, &report);
    else if (!r->quiet)
        print_right(r, &report);
    return report.faults > 0 ? EXIT_REFUTED : EXIT_OK;
}

const command check_command = {
    .name = "qfz check",
    .page = "qfz-check",
    .bit = FOR_CHECK,
    .operands = "RASTER [SRC]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "proves or refutes a raster of labels or of saliency",
    .description =
        "Checks the labels or the saliency in RASTER against the raster SRC that they were made "
        "of, in one pass over the rows of both. How RASTER was made is read from its metadata; "
        "options take the place of the metadata. Bands, mask, nodata and background of SRC are "
        "not in the metadata: use the options of the command that made RASTER.\n\n"
        "Without SRC, labels are checked for themselves: 1..N without gaps in raster order, each "
        "label one connected region.\n\n"
        "The exit status is 0 if RASTER is right, and 3 if it is not: the first wrong pixel and "
        "what is wrong there are printed on stderr. Labels with omega or with a least area, and "
        "saliency with a least area, are also computed anew and compared.\n\n"
        "With --table the table of regions is compared with labels that are right; with "
        "--polygons, polygons that are not simplified.",
    .example = "qfz check labels.tif scene.tif\n"
               "qfz check --json saliency.tif scene.tif\n"
               "qfz check --connectivity 8 labels.tif\n"
               "qfz check --table regions.gpkg labels.tif scene.tif\n"
               "qfz check --polygons regions.fgb labels.tif",
    .json = fields,
    .run = run,
};
