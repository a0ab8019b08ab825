/* SPDX-License-Identifier: MIT */
/* main.c - qfz: picks the command. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "help.h"

static const command qfz_itself = {.name = "qfz"};
static const command *const commands[] = {&label_command, &simplify_command, &saliency_command,
                                          &cut_command, &info_command};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const command *find(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(strrchr(commands[i]->name, ' ') + 1, name) == 0) return commands[i];
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        complain(&qfz_itself, "needs a command; see qfz --help");
        return EXIT_USAGE;
    }
    const command *const c = find(argv[1]);
    if (c) return command_main(c, argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0)
        help_print_all(commands, N_COMMANDS);
    else if (strcmp(argv[1], "--man") == 0)
        man_print_all(commands, N_COMMANDS);
    else if (strcmp(argv[1], "--version") == 0)
        printf("qfz %s\n", qfz_version());
    else {
        complain(&qfz_itself, "%s: no such command; see qfz --help", argv[1]);
        return EXIT_USAGE;
    }
    return end_of_output(&qfz_itself, EXIT_OK);
}
