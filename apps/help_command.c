/* SPDX-License-Identifier: MIT */
/* help_command.c - qfz help: the help of qfz or of one command, in several forms. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "help.h"
#include "options.h"

/* One line per command and spelling of an option; qfz-bench is a program of its own with the same
 * table of options. */
static void print_table(const char *word, unsigned bit)
{
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        const char *const argument = o->argument ? o->argument : "";
        if (!(o->commands & bit)) continue;
        printf("%s\t%s\t%s\n", word, o->name, argument);
        if (o->alias) printf("%s\t%s\t%s\n", word, o->alias, argument);
    }
}

static int run(request *r)
{
    const command *const one = r->n_operands ? command_find(r->operands[0]) : NULL;
    if (r->n_operands && !one) return command_unknown(r->command, r->operands[0]);
    if (r->table) {
        for (int i = 0; i < n_commands; i++)
            if (!one || one == commands[i])
                print_table(command_word(commands[i]), commands[i]->bit);
        if (!one) print_table("qfz-bench", FOR_BENCH);
    } else if (r->markdown) {
        if (one)
            markdown_print(one);
        else
            markdown_print_all(commands, n_commands);
    } else if (one) {
        help_print(one);
    } else {
        help_print_all(commands, n_commands);
    }
    return EXIT_OK;
}

static const char *check(const request *r)
{
    return r->markdown && r->table ? "--markdown and --table exclude each other" : NULL;
}

const command help_command = {
    .name = "qfz help",
    .page = "qfz-help",
    .bit = FOR_HELP,
    .operands = "[COMMAND]",
    .min_operands = 0,
    .max_operands = 1,
    .summary = "the help of a command, as text, Markdown or a table",
    .description = "Prints the help of COMMAND, or the list of commands.",
    .example = "qfz help label\nqfz help --markdown > options.md",
    .check = check,
    .run = run,
};
