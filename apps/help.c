/* SPDX-License-Identifier: MIT */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

enum { WIDTH = 90, HELP_COLUMN = 28, MAN_WIDTH = 72 };

/* Words of one paragraph, wrapped; the cursor is at column. */
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

/* The next paragraph of text: its length, and *next behind it. */
static size_t paragraph(const char *text, const char **next)
{
    const char *const gap = strstr(text, "\n\n");
    *next = gap ? gap + 2 : text + strlen(text);
    return gap ? (size_t)(gap - text) : strlen(text);
}

static void print_option(const option *o)
{
    int column =
        printf("  %s%s%s", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    if (column >= HELP_COLUMN) {
        printf("\n");
        column = 0;
    }
    printf("%*s", HELP_COLUMN - column, "");
    wrap(o->help, strlen(o->help), HELP_COLUMN, HELP_COLUMN);
}

void help_print(const command *c)
{
    const char *section = "";
    printf("Usage: %s [options] %s\n\n", c->name, c->operands);
    for (const char *text = c->description, *next; *text; text = next) {
        wrap(text, paragraph(text, &next), 0, 0);
        if (*next) printf("\n");
    }
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & c->bit)) continue;
        if (strcmp(o->section, section) != 0) printf("\n%s:\n", o->section);
        section = o->section;
        print_option(o);
    }
    printf("\nExample:\n  %s\n", c->example);
}

void help_print_all(const command *const *commands, int count)
{
    printf("Usage: qfz COMMAND [options] SRC DST\n\n"
           "Exact quasi-flat zones of rasters of any size.\n\nCommands:\n");
    for (int i = 0; i < count; i++)
        printf("  %-10s %s\n", strrchr(commands[i]->name, ' ') + 1, commands[i]->summary);
    printf("\nOptions:\n  --help     Print this help; qfz COMMAND --help that of a command.\n"
           "  --version  Print the version.\n\nExample:\n  %s\n",
           commands[0]->example);
}

/* ------------------------------------------------------------------------------------- man pages
 */

/* Text for roff: dashes that can be copied, no control character first. */
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

/* Lines of at most MAN_WIDTH characters, and a new one for every sentence, as roff wants it. */
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

static void man_option(const option *o)
{
    printf(".TP\n.B ");
    roff(o->name, strlen(o->name));
    if (o->argument) {
        printf(" \\fI");
        roff(o->argument, strlen(o->argument));
        printf("\\fR");
    }
    putchar('\n');
    roff_text(o->help, strlen(o->help));
}

static void man_example(const char *example)
{
    printf(".SH EXAMPLE\n.EX\n");
    roff(example, strlen(example));
    printf("\n.EE\n");
}

static void man_status(void)
{
    printf(".SH EXIT STATUS\n"
           ".TP\n.B 0\nThe result is complete.\n"
           ".TP\n.B 1\nThe job failed: one line on stderr says why, and nothing was written.\n"
           ".TP\n.B 2\nThe command line is wrong: one line on stderr says where.\n"
           ".TP\n.B 75\nStopped by SIGTERM or SIGUSR1, and \\-\\-resume goes on from the folder of "
           "\\-\\-work.\n"
           ".TP\n.BR 130 \", \" 138 \", \" 143\nStopped by SIGINT, SIGUSR1 or SIGTERM.\n"
           "A second signal ends it at once.\n");
}

void man_print(const command *c)
{
    const char *section = "";
    man_head(c->page, c->summary);
    printf(".SH SYNOPSIS\n.B %s\n[options]\n.I ", c->name);
    roff(c->operands, strlen(c->operands));
    printf("\n.SH DESCRIPTION\n");
    for (const char *text = c->description, *next; *text; text = next) {
        roff_text(text, paragraph(text, &next));
        if (*next) printf(".PP\n");
    }
    printf(".SH OPTIONS\n");
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & c->bit)) continue;
        if (strcmp(o->section, section) != 0) printf(".SS %s\n", o->section);
        section = o->section;
        man_option(o);
    }
    man_example(c->example);
    man_status();
    printf(".SH SEE ALSO\n.BR qfz (1)\n");
}

void man_print_all(const command *const *commands, int count)
{
    man_head("qfz", "exact quasi-flat zones of rasters of any size");
    printf(
        ".SH SYNOPSIS\n.B qfz\n.I COMMAND\n[options]\n.I SRC DST\n.SH DESCRIPTION\n"
        "The answer never depends on the size of tiles, the number of threads, the memory or the "
        "engine.\nAny raster that GDAL opens is read, any that it writes is written.\n"
        "Options stand before or after the names; \\-\\- ends them.\n.SH COMMANDS\n");
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
