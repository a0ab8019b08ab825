/* SPDX-License-Identifier: MIT */
/* explore.c - qfz explore: a page on which alpha, omega and the minimum area are chosen for windows
 * of a raster. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "explore_data.h"
#include "explore_page.h"
#include "log.h"
#include "out_file.h"
#include "run_job.h"

/* Sides of the default window; largest number of pixels and of bytes of pixels, of all windows,
 * that a browser processes with ease. */
enum { SIDE_PX = 1024, PX_MAX = 2048 * 2048, BYTES_MAX = 64 << 20 };

static bool write_page(FILE *out, const void *arg)
{
    (void)fwrite(explore_page_head, 1, explore_page_head_bytes, out);
    if (!explore_data_write(out, arg)) return false;
    (void)fwrite(explore_page_tail, 1, explore_page_tail_bytes, out);
    return true;
}

/* Without --window, the central window is the only one. */
static void choose_windows(request *r, const qfz_plan *plan)
{
    if (r->explore.n_windows > 0) return;
    explore_window *const central = &r->explore.windows[0];
    central->w = plan->width < SIDE_PX ? plan->width : SIDE_PX;
    central->h = plan->height < SIDE_PX ? plan->height : SIDE_PX;
    central->x = (plan->width - central->w) / 2;
    central->y = (plan->height - central->h) / 2;
    r->explore.n_windows = 1;
}

/* "the window has", or "3 windows have". */
static const char *windows_have(const request *r, char text[32])
{
    if (r->explore.n_windows == 1) return "the window has";
    (void)snprintf(text, 32, "%d windows have", r->explore.n_windows);
    return text;
}

static bool are_too_large(const request *r, const qfz_plan *plan)
{
    static const int64_t bytes[] = {1, 1, 2, 2, 4, 4, 4};
    char text[32];
    int64_t n_px = 0;
    for (int i = 0; i < r->explore.n_windows; i++) {
        const explore_window *const window = &r->explore.windows[i];
        if (window->w > PX_MAX || window->h > PX_MAX || window->w * window->h > PX_MAX) {
            complain(r->command,
                     "%s: the window has %" PRId64 " x %" PRId64 " pixels; at most %d in all (2048 "
                     "x 2048) are allowed; name a smaller --window",
                     r->job.src, window->w, window->h, PX_MAX);
            return true;
        }
        n_px += window->w * window->h;
    }
    if (n_px > PX_MAX) {
        complain(r->command,
                 "%s: %s %" PRId64 " pixels in all; at most %d are allowed; name fewer or smaller "
                 "windows by --window",
                 r->job.src, windows_have(r, text), n_px, PX_MAX);
        return true;
    }
    const int64_t all = n_px * plan->n_bands * bytes[plan->type];
    if (all <= BYTES_MAX) return false;
    complain(r->command,
             "%s: %s %" PRId64 " bytes of pixels in %d bands; at most %d are allowed; name fewer "
             "bands by -b, or a smaller --window",
             r->job.src, windows_have(r, text), all, plan->n_bands, BYTES_MAX);
    return true;
}

static void print_summary(const request *r, const explore_data *data)
{
    struct stat file;
    if (r->quiet || stat(r->explore.out, &file) != 0) return;
    for (int i = 0; i < data->n_windows; i++) {
        const qfz_window *const window = &data->windows[i];
        (void)fprintf(stderr,
                      "%s: %" PRId64 " x %" PRId64 " pixels from column %" PRId64 ", row %" PRId64
                      " on\n",
                      r->explore.out, window->w, window->h, window->x, window->y);
    }
    (void)fprintf(stderr, "%s: %.1f MB; open it in a browser\n", r->explore.out,
                  (double)file.st_size / 1e6);
}

static int write_result(const request *r)
{
    const explore_data *const data = r->explore.data;
    const int status = out_file_write(r->command, r->explore.out, write_page, data);
    if (status == EXIT_OK) print_summary(r, data);
    return status;
}

static int write_after_curve(const request *r, const qfz_report *report)
{
    (void)report;
    return write_result(r);
}

static bool read_window(const request *r, const explore_window *named, qfz_window *window)
{
    qfz_error err = {0};
    *window = qfz_window_default();
    window->x = named->x;
    window->y = named->y;
    window->w = named->w;
    window->h = named->h;
    if (qfz_job_read_window(&r->job, window, &err) != QFZ_OK) {
        complain(r->command, "%s", err.message);
        return false;
    }
    if (explore_count_valid(window) > 0) return true;
    complain(r->command,
             "%s: the window of %" PRId64 " x %" PRId64 " pixels from column %" PRId64
             ", row %" PRId64 " on has no valid pixel; name another --window",
             r->job.src, window->w, window->h, window->x, window->y);
    qfz_window_release(window);
    return false;
}

/* The windows have been read. */
static int write_with_curve(request *r, explore_data *data)
{
    qfz_curve curve = qfz_curve_default();
    int status;
    r->explore.data = data;
    if (r->explore.no_curve) {
        status = write_result(r);
    } else {
        data->curve = &curve;
        r->job.curve = &curve;
        status = run_job_then(r, write_after_curve);
        qfz_curve_release(&curve);
    }
    r->explore.data = NULL;
    return status;
}

/* The windows are read before the curve is computed, so that errors come first. */
static int explore(request *r, const qfz_plan *plan)
{
    qfz_window windows[EXPLORE_WINDOWS_MAX];
    int n = 0, status = EXIT_FAILED;
    choose_windows(r, plan);
    if (are_too_large(r, plan)) return EXIT_FAILED;
    while (n < r->explore.n_windows && read_window(r, &r->explore.windows[n], &windows[n]))
        n++;
    if (n == r->explore.n_windows) {
        explore_data data = {.r = r,
                             .raster_w = plan->width,
                             .raster_h = plan->height,
                             .windows = windows,
                             .n_windows = n};
        status = write_with_curve(r, &data);
    }
    for (int i = 0; i < n; i++)
        qfz_window_release(&windows[i]);
    return status;
}

static int run(request *r)
{
    qfz_plan plan = qfz_plan_default();
    qfz_error err = {0};
    if (explore_page_head_bytes == 0) {
        complain(r->command, "this build of qfz has no page: it was built without Emscripten "
                             "(CMake option QFZ_WEB)");
        return EXIT_FAILED;
    }
    if (command_ranks()->n > 1) {
        complain(r->command, "the page is made by one process; start qfz without a launcher");
        return EXIT_FAILED;
    }
    r->job.task = QFZ_CURVE;
    r->job.src = r->operands[0];
    r->explore.out = r->operands[1];
    r->operands[1] = NULL; /* the job of the curve has no output */
    if (!out_file_is_free(r->command, r->explore.out, r->job.overwrite) ||
        !run_job_spares_inputs(r, r->explore.out) ||
        !out_file_can_be_made(r->command, r->explore.out))
        return EXIT_FAILED;
    if (qfz_job_plan(&r->job, &plan, &err) != QFZ_OK) {
        complain(r->command, "%s", err.message);
        return EXIT_FAILED;
    }
    return explore(r, &plan);
}

const command explore_command = {
    .name = "qfz explore",
    .page = "qfz-explore",
    .bit = FOR_EXPLORE,
    .operands = "SRC OUT.html",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "a page for the browser to choose alpha, omega and the minimum area",
    .description =
        "Writes a page for the browser, OUT.html, with a window of SRC and with the engine itself. "
        "On the page, alpha, omega, the minimum area, connectivity and distance are chosen by "
        "sliders; the page shows the regions that qfz label and qfz simplify give for the window, "
        "pixel by pixel, the number of regions of the whole raster, and the command to copy.\n\n"
        "The page is one file and needs no network. It holds all pixels of the window in the bands "
        "used. Several --window become tabs of the page.\n\n"
        "Regions that touch the edge of the window may continue outside it: there, a job on the "
        "whole raster can join what the window separates.",
    .example = "qfz explore --distance linf scene.tif scene.html\n"
               "qfz explore --no-curve --window 2000,3000,512,512 -b 4,3,2 scene.tif scene.html\n"
               "qfz explore --window 0,0,512,512 --window 2000,3000,512,512 scene.tif scene.html",
    .run = run,
};
