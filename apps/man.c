/* SPDX-License-Identifier: MIT */
/* man.c - man pages, as roff with the macros of man(7). */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

enum { MAN_WIDTH = 72 };

/* Prints text that is no roff: dashes that can be copied, no control character at the start. */
static void roff(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i == 0 && (text[i] == '.' || text[i] == '\'')) printf("\\&");
        if (text[i] == '-')
            printf("\\-");
        else if (text[i] == '\\')
            printf("\\e");
        else
            putchar(text[i]);
    }
}

/* Prints lines of at most MAN_WIDTH characters; roff expects a new line after every sentence. */
static void roff_text(const char *text, size_t n)
{
    for (size_t column = 0; n > 0;) {
        size_t word = 0;
        while (word < n && text[word] != ' ')
            word++;
        if (column > 0 && column + 1 + word > MAN_WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column > 0) putchar(' ');
        column += word + (column > 0);
        roff(text, word);
        if (text[word - 1] == '.') {
            putchar('\n');
            column = 0;
        } else if (word == n) {
            putchar('\n');
        }
        const size_t step = word < n ? word + 1 : word;
        text += step;
        n -= step;
    }
}

static void man_head(const char *page, const char *summary)
{
    char title[64];
    size_t n = 0;
    for (; page[n] && n + 1 < sizeof title; n++)
        title[n] = (char)(page[n] >= 'a' && page[n] <= 'z' ? page[n] - 'a' + 'A' : page[n]);
    title[n] = '\0';
    printf(".TH %s 1 \"\" \"qfz %s\" \"User Commands\"\n.SH NAME\n", title, qfz_version());
    roff(page, strlen(page));
    printf(" \\- ");
    roff_text(summary, strlen(summary));
}

static void man_option(const option *o, unsigned bit)
{
    const char *const help = option_help(o, bit);
    printf(".TP\n.B ");
    roff(o->name, strlen(o->name));
    if (o->alias) {
        printf(", ");
        roff(o->alias, strlen(o->alias));
    }
    if (o->argument) {
        printf(" \\fI");
        roff(o->argument, strlen(o->argument));
        printf("\\fR");
    }
    putchar('\n');
    roff_text(help, strlen(help));
}

static void man_json(const json_field *fields)
{
    if (!fields) return;
    printf(".SH JSON\nFields of the object on stdout:\n");
    for (; fields->name; fields++) {
        printf(".TP\n.B ");
        roff(fields->name, strlen(fields->name));
        putchar('\n');
        roff_text(fields->text, strlen(fields->text));
    }
}

static void man_example(const char *example)
{
    printf(".SH %s\n.EX\n", strchr(example, '\n') ? "EXAMPLES" : "EXAMPLE");
    roff(example, strlen(example));
    printf("\n.EE\n");
}

static void man_status(void)
{
    printf(".SH EXIT STATUS\n");
    for (const exit_status *status = exit_statuses; status->codes; status++) {
        printf(".TP\n.B %s\n", status->codes);
        roff_text(status->text, strlen(status->text));
    }
}

void man_print(const command *c)
{
    const char *section = "";
    man_head(c->page, c->summary);
    printf(".SH SYNOPSIS\n.B %s\n[options]\n.I ", c->name);
    roff(c->operands, strlen(c->operands));
    printf("\n.SH DESCRIPTION\n");
    for (const char *text = c->description, *next; *text; text = next) {
        roff_text(text, paragraph_length(text, &next));
        if (*next) printf(".PP\n");
    }
    printf(".SH OPTIONS\n");
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & c->bit)) continue;
        if (strcmp(o->section, section) != 0) printf(".SS %s\n", o->section);
        section = o->section;
        man_option(o, c->bit);
    }
    man_json(c->json);
    man_example(c->example);
    man_status();
    printf(".SH SEE ALSO\n.BR qfz (1)\n");
}

void man_print_all(const command *const *commands, int count)
{
    man_head("qfz", "exact quasi-flat zones of rasters of any size");
    printf(".SH SYNOPSIS\n.B qfz\n.I COMMAND\n[options]\n.I SRC DST\n.SH DESCRIPTION\n"
           "Computes connected components, alpha\\-components, (alpha, omega)\\-components and "
           "saliency of rasters that may be larger than the memory.\n"
           "The result does not depend on the size of tiles, the number of threads or processes, "
           "the memory or the engine.\n"
           "The source is any raster that GDAL opens, the output any raster that GDAL writes.\n"
           "Options stand before or after the operands.\nThe argument \\-\\- ends the options.\n"
           ".SH COMMANDS\n");
    for (int i = 0; i < count; i++) {
        printf(".TP\n.BR ");
        roff(commands[i]->page, strlen(commands[i]->page));
        printf(" (1)\n");
        roff_text(commands[i]->summary, strlen(commands[i]->summary));
    }
    man_example(commands[0]->example);
    man_status();
    printf(".SH SEE ALSO\n");
    for (int i = 0; i < count; i++) {
        printf(".BR ");
        roff(commands[i]->page, strlen(commands[i]->page));
        printf(" (1),\n");
    }
    printf(".BR qfz\\-bench (1),\n.BR gdal_translate (1)\n");
}
