/* SPDX-License-Identifier: MIT */
/* markdown.c - the page docs/user/options.md: every command with its options. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

/* Prints text that is no Markdown: characters that start emphasis are escaped. */
static void print_text(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strchr("*_<>", text[i])) putchar('\\');
        putchar(text[i]);
    }
}

static void print_option(const option *o, unsigned bit)
{
    const char *const help = option_help(o, bit);
    printf("- `%s%s%s`", o->name, o->argument ? " " : "", o->argument ? o->argument : "");
    if (o->alias) printf(", `%s`", o->alias);
    printf(": ");
    print_text(help, strlen(help));
    printf("\n");
}

void markdown_print(const command *c)
{
    const char *section = "";
    printf("## %s\n\n", c->name);
    printf("```\n%s [options] %s\n```\n", c->name, c->operands);
    for (const char *text = c->description, *next; *text; text = next) {
        printf("\n");
        print_text(text, paragraph_length(text, &next));
        printf("\n");
    }
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (!(o->commands & c->bit)) continue;
        if (strcmp(o->section, section) != 0) printf("\n**%s**\n\n", o->section);
        section = o->section;
        print_option(o, c->bit);
    }
    if (c->json) printf("\n**Fields of the JSON object**\n\n");
    for (const json_field *field = c->json; field && field->name; field++) {
        printf("- `%s`: ", field->name);
        print_text(field->text, strlen(field->text));
        printf("\n");
    }
    printf("\n**Example%s**\n\n```sh\n%s\n```\n", strchr(c->example, '\n') ? "s" : "", c->example);
}

void markdown_print_all(const command *const *commands, int count)
{
    printf("# Commands and options\n\n"
           "This page is the output of `qfz help --markdown`.\n\n"
           "Options stand before or after the operands, and `--` ends the options. A value follows "
           "its option as the next word. The value of a long option may also follow `=`, as in "
           "`--tile=512`; a number may directly follow an option of one letter, as in `-j4`.\n\n");
    for (int i = 0; i < count; i++) {
        markdown_print(commands[i]);
        printf("\n");
    }
    printf("## Exit status\n\n");
    for (const exit_status *status = exit_statuses; status->codes; status++)
        printf("- %s: %s\n", status->codes, status->text);
}
