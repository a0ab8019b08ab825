/* SPDX-License-Identifier: MIT */
/* json.h - a writer of JSON to one stream: names, values, commas and escapes.
 *
 * In an object every value has a name; in an array the name is NULL.  Every json_open() has its
 * json_close(). */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

typedef struct json {
    FILE *out;
    int depth;
    int follows;   /* not 0: a value precedes, so the next value needs a comma */
    bool for_html; /* writes < as \\u003c, so that the text may stand in an HTML page */
    bool one_line; /* no line breaks but the last one */
} json;

/* A writer to out, which stays open and belongs to the caller. */
json json_to(FILE *out);

/* The same, without line breaks inside the outermost object. */
json json_line_to(FILE *out);

void json_open(json *j, const char *name, char bracket); /* '{' or '[' */
void json_close(json *j, char bracket);                  /* '}' or ']'; a newline after the last */
void json_text(json *j, const char *name, const char *text);
void json_integer(json *j, const char *name, int64_t value);
void json_count(json *j, const char *name, uint64_t value);
/* The fewest digits that read back as value. */
enum { JSON_DIGITS = 32 };
void json_digits(char digits[JSON_DIGITS], double value);

/* A time in UTC: "2026-11-21T09:18:00Z". */
void json_time(json *j, const char *name, time_t when);

/* true or false. */
void json_flag(json *j, const char *name, int is_true);

void json_number(json *j, const char *name, double value); /* null if not finite */

#endif
