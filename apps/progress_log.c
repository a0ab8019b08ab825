/* SPDX-License-Identifier: MIT */
#include "progress_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

void progress_log_text(const pace *so_far, const qfz_progress *p, double now_s, time_t wall,
                       char *line, size_t size)
{
    line[0] = '\0';
    add_time(line, size, "%Y-%m-%d %H:%M:%S ", wall);
    add(line, size, "%s", p->step);
    if (p->tiles > 0) {
        const double rate = pace_tiles_per_s(so_far, p, now_s);
        add(line, size, ", %" PRId64 " of %" PRId64 " tiles", p->tiles_done, p->tiles);
        if (now_s > so_far->step_s)
            add(line, size, rate < 100 ? ", %.3g tiles/s" : ", %.0f tiles/s", rate);
    }
    add(line, size, ", %.1f %% of the job", 100 * p->done);
    const double left_s = pace_left_s(so_far, p, now_s);
    if (left_s >= 0) add_time(line, size, ", end about %Y-%m-%d %H:%M", wall + (time_t)left_s);
}

void progress_log_json(const pace *so_far, const qfz_progress *p, double now_s, time_t wall,
                       json *to)
{
    const double left_s = pace_left_s(so_far, p, now_s);
    json_text(to, "step", p->step);
    if (p->tiles > 0) {
        json_integer(to, "tiles_done", p->tiles_done);
        json_integer(to, "tiles", p->tiles);
        json_number(to, "tiles_per_second", pace_tiles_per_s(so_far, p, now_s));
    }
    json_number(to, "done", p->done);
    json_integer(to, "retries", p->retries);
    if (left_s >= 0) json_time(to, "expected_end", wall + (time_t)left_s);
}
