/* SPDX-License-Identifier: MIT */
#include "progress_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void begin(progress_log *log, const qfz_progress *p, double now_s)
{
    log->has_begun = true;
    log->line_s = log->begin_s = now_s;
    log->begin_done = p->done;
}

static void begin_step(progress_log *log, const qfz_progress *p, double now_s)
{
    (void)snprintf(log->step, sizeof log->step, "%s", p->step);
    log->step_s = now_s;
    log->step_tiles = p->tiles_done;
}

/* Appends to a line; text beyond its size is cut off. */
__attribute__((format(printf, 3, 4))) static void add(char *line, size_t size, const char *format,
                                                      ...)
{
    const size_t n = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + n, size - n, format, arguments);
    va_end(arguments);
}

static void add_time(char *line, size_t size, const char *format, time_t when)
{
    struct tm parts;
    char text[64] = "";
    if (localtime_r(&when, &parts)) (void)strftime(text, sizeof text, format, &parts);
    add(line, size, "%s", text);
}

/* Appends the expected end, extrapolated from the progress since the first report. */
static void add_end(const progress_log *log, const qfz_progress *p, double now_s, time_t wall,
                    char *line, size_t size)
{
    const double done = p->done - log->begin_done;
    if (done <= 0) return;
    const double left_s = (1 - p->done) * (now_s - log->begin_s) / done;
    add_time(line, size, ", end about %Y-%m-%d %H:%M", wall + (time_t)left_s);
}

bool progress_log_line(progress_log *log, const qfz_progress *p, double now_s, time_t wall,
                       char *line, size_t size)
{
    if (!log->has_begun) begin(log, p, now_s);
    if (strcmp(log->step, p->step) != 0) begin_step(log, p, now_s);
    if (now_s < log->line_s + log->every_s || p->done >= 1) return false;
    log->line_s = now_s;
    line[0] = '\0';
    add_time(line, size, "%Y-%m-%d %H:%M:%S ", wall);
    add(line, size, "%s", p->step);
    if (p->tiles > 0) {
        const double seconds = now_s - log->step_s;
        add(line, size, ", %" PRId64 " of %" PRId64 " tiles", p->tiles_done, p->tiles);
        const double rate = (double)(p->tiles_done - log->step_tiles) / (seconds > 0 ? seconds : 1);
        if (seconds > 0) add(line, size, rate < 100 ? ", %.3g tiles/s" : ", %.0f tiles/s", rate);
    }
    add(line, size, ", %.1f %% of the job", 100 * p->done);
    add_end(log, p, now_s, wall, line, size);
    return true;
}
