/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A process has one stderr, which has one form. */
static log_form chosen = LOG_TEXT;

void log_choose(log_form form)
{
    chosen = form;
}

log_form log_chosen(void)
{
    return chosen;
}

bool log_begin(log_line *line, const command *c, const char *event)
{
    *line = (log_line){0};
    FILE *const out = open_memstream(&line->text, &line->size);
    if (!out) return false;
    line->json = json_line_to(out);
    json_open(&line->json, NULL, '{');
    json_time(&line->json, "time", time(NULL));
    json_text(&line->json, "command", c->name);
    json_text(&line->json, "event", event);
    return true;
}

void log_end(log_line *line)
{
    json_close(&line->json, '}');
    if (fclose(line->json.out) == 0) (void)fwrite(line->text, 1, line->size, stderr);
    free(line->text);
}

void complain(const command *c, const char *format, ...)
{
    char text[2048];
    log_line line;
    va_list arguments;
    if (command_ranks()->rank > 0) return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (chosen == LOG_JSON && log_begin(&line, c, "message")) {
        json_text(&line.json, "message", text);
        log_end(&line);
        return;
    }
    (void)fprintf(stderr, "%s: %s\n", c->name, text);
}
