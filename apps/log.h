/* SPDX-License-Identifier: MIT */
/* log.h - the log of a command on stderr: lines of text, or one JSON object a line.  One process of
 * a job logs: rank 0.
 *
 * An object has the members time (UTC, ISO 8601), command and event; the other members depend on
 * the event.  A line is written at once, so that lines of several jobs in one file do not mix. */
#ifndef LOG_H
#define LOG_H

#include "command.h"
#include "json.h"

/* In the order of the values of --log. */
typedef enum log_form { LOG_TEXT = 0, LOG_JSON } log_form;

/* The form of all following lines; text at first. */
void log_choose(log_form form);
log_form log_chosen(void);

/* Logs a message: "NAME: ...". */
void complain(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One line of JSON: log_begin(), members through json_...(&line.json), log_end(). */
typedef struct log_line {
    json json;
    char *text;
    size_t size;
} log_line;

/* False if memory is exhausted: there is no line then. */
bool log_begin(log_line *line, const command *c, const char *event);
void log_end(log_line *line);

#endif
