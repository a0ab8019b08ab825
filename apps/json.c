/* SPDX-License-Identifier: MIT */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Number of bytes of the UTF-8 character at text, or 0 if the bytes are not UTF-8: file names may
 * hold any bytes. */
static int utf8_bytes(const unsigned char *text)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int n = text[0] < 0x80    ? 1
                  : text[0] >= 0xf0 ? 4
                  : text[0] >= 0xe0 ? 3
                  : text[0] >= 0xc0 ? 2
                                    : 0;
    if (n < 2) return n;
    unsigned code = text[0] & (0x7fu >> n);
    if (text[0] >= 0xf8) return 0;
    for (int i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    const int bad = code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    return bad ? 0 : n;
}

static void put_string(const json *j, const char *text)
{
    FILE *const out = j->out;
    const unsigned char *c = (const unsigned char *)text;
    (void)fputc('"', out);
    while (*c) {
        const int n = utf8_bytes(c);
        if (*c == '"' || *c == '\\')
            (void)fprintf(out, "\\%c", *c);
        else if (*c < 0x20 || (*c == '<' && j->for_html))
            (void)fprintf(out, "\\u%04x", *c);
        else if (n == 0)
            (void)fputs("\\ufffd", out);
        else
            (void)fwrite(c, 1, (size_t)n, out);
        c += n ? n : 1;
    }
    (void)fputc('"', out);
}

/* Begins a line, indented by the depth, or the first member of a line without breaks. */
static void break_line(const json *j)
{
    if (j->one_line && j->follows)
        (void)fputc(' ', j->out);
    else if (!j->one_line && j->depth > 0)
        (void)fprintf(j->out, "\n%*s", 2 * j->depth, "");
}

/* Writes the comma, the indentation and the name before a value. */
static void lead(json *j, const char *name)
{
    if (j->follows) (void)fputc(',', j->out);
    break_line(j);
    if (name) {
        put_string(j, name);
        (void)fputs(": ", j->out);
    }
    j->follows = 1;
}

json json_to(FILE *out)
{
    return (json){.out = out};
}

json json_line_to(FILE *out)
{
    return (json){.out = out, .one_line = true};
}

void json_open(json *j, const char *name, char bracket)
{
    lead(j, name);
    (void)fputc(bracket, j->out);
    j->depth++;
    j->follows = 0;
}

void json_close(json *j, char bracket)
{
    j->depth--;
    if (j->follows && !j->one_line) (void)fprintf(j->out, "\n%*s", 2 * j->depth, "");
    (void)fputc(bracket, j->out);
    if (j->depth == 0) (void)fputc('\n', j->out);
    j->follows = 1;
}

void json_text(json *j, const char *name, const char *text)
{
    lead(j, name);
    put_string(j, text);
}

void json_time(json *j, const char *name, time_t when)
{
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&when, &parts)) (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    json_text(j, name, text);
}

void json_integer(json *j, const char *name, int64_t value)
{
    lead(j, name);
    (void)fprintf(j->out, "%" PRId64, value);
}

void json_count(json *j, const char *name, uint64_t value)
{
    lead(j, name);
    (void)fprintf(j->out, "%" PRIu64, value);
}

void json_digits(char digits[JSON_DIGITS], double value)
{
    for (int precision = 6; precision <= 17; precision++) {
        (void)snprintf(digits, JSON_DIGITS, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
}

void json_number(json *j, const char *name, double value)
{
    char digits[JSON_DIGITS];
    lead(j, name);
    json_digits(digits, value);
    (void)fputs(isfinite(value) ? digits : "null", j->out);
}

void json_flag(json *j, const char *name, int is_true)
{
    lead(j, name);
    (void)fputs(is_true ? "true" : "false", j->out);
}
