/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

enum { WIDTH = 90, HELP_COLUMN = 28 };

const exit_status exit_statuses[] = {
    {"0", "The result is complete."},
    {"1", "The job failed. One line on stderr names the reason; no output was written."},
    {"2", "The command line is wrong. One line on stderr names the argument."},
    {"3", "qfz check: the raster is not right. One line on stderr names the first fault."},
    {"75", "SIGTERM, SIGHUP or SIGUSR1 stopped the job. --resume continues the job from the folder "
           "of --work."},
    {"129, 130, 138, 143", "SIGHUP, SIGINT, SIGUSR1 or SIGTERM stopped the job. No output and no "
                           "temporary file remains. Further signals of these have no effect; "
                           "SIGQUIT (Ctrl-\\) ends the process at once."},
    {NULL, NULL}};

size_t paragraph_length(const char *text, const char **next)
{
    const char *const gap = strstr(text, "\n\n");
    *next = gap ? gap + 2 : text + strlen(text);
    return gap ? (size_t)(gap - text) : strlen(text);
}

/* Prints the words of one paragraph in lines of at most WIDTH characters; the first line starts at
 * column, the others at indent. */
static void wrap(const char *text, size_t n, int column, int indent)
{
    bool first = true;
    for (const char *const end = text + n; text < end;) {
        const size_t word = strcspn(text, " \n") < (size_t)(end - text) ? strcspn(text, " \n")
                                                                        : (size_t)(end - text);
        if (!first && column + 1 + (int)word > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            first = true;
        }
        printf("%s%.*s", first ? "" : " ", (int)word, text);
        column += (int)word + !first;
        first = false;
        text += word;
        text += strspn(text, " \n");
    }
    printf("\n");
}

/* Prints the text beside a term that ends at column. */
static void print_beside(int column, const char *text)
{
    if (column >= HELP_COLUMN) {
        printf("\n");
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    wrap(text, strlen(text), HELP_COLUMN, HELP_COLUMN);
}

static void print_option(const option *o, unsigned bit)
{
    int column = printf("  %s", o->name);
    if (o->alias) column += printf(", %s", o->alias);
    if (o->argument) column += printf(" %s", o->argument);
    print_beside(column, option_help(o, bit));
}

static void print_example(const char *example)
{
    printf("\nExample%s:\n", strchr(example, '\n') ? "s" : "");
    for (size_t n; *example; example += n + (example[n] == '\n')) {
        n = strcspn(example, "\n");
        printf("  %.*s\n", (int)n, example);
    }
}

void help_print(const command *c)
{
    const char *section = "";
    printf("Usage: %s [options] %s\n\n", c->name, c->operands);
    for (const char *text = c->description, *next; *text; text = next) {
        wrap(text, paragraph_length(text, &next), 0, 0);
        if (*next) printf("\n");
    }
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & c->bit)) continue;
        if (strcmp(o->section, section) != 0) printf("\n%s:\n", o->section);
        section = o->section;
        print_option(o, c->bit);
    }
    if (c->json) printf("\nFields of the JSON object:\n");
    for (const json_field *field = c->json; field && field->name; field++)
        print_beside(printf("  %s", field->name), field->text);
    print_example(c->example);
}

void help_print_all(const command *const *commands, int count)
{
    printf(
        "Usage: qfz COMMAND [options] SRC DST\n\n"
        "Exact quasi-flat zones of rasters of any size: connected components, alpha-components,\n"
        "(alpha, omega)-components and saliency. Reads every raster that GDAL opens.\n\n"
        "Commands:\n");
    for (int i = 0; i < count; i++)
        printf("  %-10s %s\n", strrchr(commands[i]->name, ' ') + 1, commands[i]->summary);
    printf("\nOptions:\n"
           "  -h, --help  Print this help. qfz COMMAND --help prints the help of a command.\n"
           "  --version   Print the version of qfz and of the libraries that qfz was built with.\n"
           "\nOptions stand before or after SRC and DST. The argument -- ends the options.\n");
    print_example(commands[0]->example);
}
