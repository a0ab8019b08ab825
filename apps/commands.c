/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include <string.h>

#include "log.h"
#include "nearest.h"

const command *const commands[] = {
    &label_command, &simplify_command, &saliency_command,  &cut_command,     &curve_command,
    &tree_command,  &regions_command,  &check_command,     &explore_command, &info_command,
    &run_command,   &help_command,     &completion_command};
const int n_commands = sizeof commands / sizeof *commands;

const char *command_word(const command *c)
{
    const char *const space = strrchr(c->name, ' ');
    return space ? space + 1 : c->name;
}

const command *command_find(const char *word)
{
    for (int i = 0; i < n_commands; i++)
        if (strcmp(command_word(commands[i]), word) == 0) return commands[i];
    return NULL;
}

int command_unknown(const command *reporter, const char *word)
{
    nearest n = {.word = word};
    for (int i = 0; i < n_commands; i++)
        nearest_offer(&n, command_word(commands[i]));
    if (n.name)
        complain(reporter, "%s: no such command; did you mean %s? See qfz --help", word, n.name);
    else
        complain(reporter, "%s: no such command; see qfz --help", word);
    return EXIT_USAGE;
}
