/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "out_file.h"

enum { EVERY_S = 15 };

/* The value of a label: backslashes, quotes and line breaks are escaped. */
static void put_label(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, "%s=\"", name);
    for (const char *c = value; *c; c++) {
        if (*c == '\n')
            (void)fputs("\\n", out);
        else if (*c == '\\' || *c == '"')
            (void)fprintf(out, "\\%c", *c);
        else
            (void)fputc(*c, out);
    }
    (void)fputc('"', out);
}

/* One metric: its help, its type, its labels and its value. */
static void put(FILE *out, const metrics *m, const char *name, const char *type, const char *help,
                double value)
{
    char digits[JSON_DIGITS];
    json_digits(digits, value);
    (void)fprintf(out, "# HELP qfz_job_%s %s\n# TYPE qfz_job_%s %s\nqfz_job_%s{", name, help, name,
                  type, name);
    put_label(out, "command", strrchr(m->command->name, ' ') + 1);
    (void)fputc(',', out);
    put_label(out, "output", m->output);
    if (strncmp(name, "step_", 5) == 0) {
        (void)fputc(',', out);
        put_label(out, "step", m->step);
    }
    (void)fprintf(out, "} %s\n", digits);
}

static void put_state(FILE *out, const metrics *m)
{
    put(out, m, "start_time_seconds", "gauge", "Time when the job began, since 1970.",
        (double)m->begin);
    put(out, m, "update_time_seconds", "gauge", "Time when these figures were written, since 1970.",
        (double)m->now);
    put(out, m, "running", "gauge", "1 while the job runs, 0 when it has ended.", !m->has_ended);
    put(out, m, "done_ratio", "gauge", "Part of the job that is done, 0 to 1.", m->done);
    put(out, m, "retries_total", "counter", "Reads and writes repeated after a failure.",
        (double)m->retries);
    put(out, m, "peak_memory_bytes", "gauge", "Peak resident memory of the process.",
        (double)qfz_peak_memory_bytes());
}

static void put_step(FILE *out, const metrics *m)
{
    if (m->tiles > 0) {
        put(out, m, "step_tiles", "gauge", "Tiles of the step, in this process.", (double)m->tiles);
        put(out, m, "step_tiles_done", "gauge", "Tiles of the step that are done.",
            (double)m->tiles_done);
        put(out, m, "step_tiles_per_second", "gauge",
            "Tiles done in a second, since the step began.", m->tiles_per_s);
    }
    if (m->left_s >= 0)
        put(out, m, "expected_end_time_seconds", "gauge",
            "Time when the job is expected to end, since 1970.", (double)m->now + m->left_s);
}

static void put_end(FILE *out, const metrics *m)
{
    put(out, m, "end_time_seconds", "gauge", "Time when the job ended, since 1970.",
        (double)m->now);
    put(out, m, "exit_status", "gauge", "Exit status of the job.", m->status);
    put(out, m, "regions", "gauge", "Regions of the result.", (double)m->regions);
}

static bool put_all(FILE *out, const void *arg)
{
    const metrics *const m = arg;
    put_state(out, m);
    if (m->has_ended)
        put_end(out, m);
    else
        put_step(out, m);
    return true;
}

/* Replaces the file; after a failure there are no further attempts. */
static bool replace(metrics *m)
{
    if (out_file_write(m->command, m->path, put_all, m) == EXIT_OK) return true;
    m->path = NULL;
    return false;
}

bool metrics_begin(metrics *m, const command *c, const char *path, const char *output)
{
    *m = (metrics){.command = c,
                   .path = path,
                   .output = output,
                   .begin = time(NULL),
                   .left_s = -1,
                   .pace = {.every_s = EVERY_S}};
    m->now = m->begin;
    return !path || (out_file_is_free(c, path, true) && replace(m));
}

void metrics_progress(metrics *m, const qfz_progress *p, double now_s, time_t wall)
{
    if (!m->path) return;
    const bool due = pace_is_due(&m->pace, p, now_s);
    m->now = wall;
    (void)snprintf(m->step, sizeof m->step, "%s", p->step);
    m->done = p->done;
    m->tiles_done = p->tiles_done;
    m->tiles = p->tiles;
    m->retries = p->retries;
    m->tiles_per_s = pace_tiles_per_s(&m->pace, p, now_s);
    m->left_s = pace_left_s(&m->pace, p, now_s);
    if (due) (void)replace(m);
}

void metrics_end(metrics *m, int status, const qfz_report *report)
{
    if (!m->path) return;
    m->now = time(NULL);
    m->has_ended = true;
    m->status = status;
    m->regions = report->regions;
    m->retries = report->retries;
    (void)replace(m);
}
