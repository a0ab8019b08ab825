/* SPDX-License-Identifier: MIT */
/* main.c - qfz: picks the command. */
#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "command.h"
#include "help.h"
#include "nearest.h"

static const command qfz_itself = {.name = "qfz"};
static const command *const commands[] = {&label_command, &simplify_command, &saliency_command,
                                          &cut_command,   &info_command,     &run_command};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const command *find(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(strrchr(commands[i]->name, ' ') + 1, name) == 0) return commands[i];
    return NULL;
}

/* `run` stands before the name of another command; its own options, which take a word each, go to
 * that one. */
static int run_other(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        const command *const c = find(argv[i]);
        if (strncmp(argv[i], "--", 2) == 0 && !strchr(argv[i], '=')) i++;
        if (!c || !(c->bit & FOR_TASKS)) continue;
        for (int at = i; at > 0; at--)
            argv[at] = argv[at - 1];
        return command_main(c, argc - 1, argv + 1);
    }
    /* It is the word in the task's place that is wrong, not what stands behind it. */
    int n = 0;
    while (n < argc && strncmp(argv[n], "--", 2) == 0)
        n += strchr(argv[n], '=') ? 1 : 2;
    return command_main(&run_command, n < argc ? n + 1 : argc, argv);
}

static int unknown(const char *word)
{
    nearest n = {.word = word};
    for (int i = 0; i < N_COMMANDS; i++)
        nearest_offer(&n, strrchr(commands[i]->name, ' ') + 1);
    complain(&qfz_itself, "%s: no such command%s%s; see qfz --help", word,
             n.name ? ", perhaps " : "", n.name ? n.name : "");
    return EXIT_USAGE;
}

static int run_qfz(int argc, char **argv)
{
    if (argc < 2) {
        complain(&qfz_itself, "needs a command; see qfz --help");
        return EXIT_USAGE;
    }
    const command *const c = find(argv[1]);
    if (c == &run_command) return run_other(argc - 2, argv + 2);
    if (c) return command_main(c, argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0)
        help_print_all(commands, N_COMMANDS);
    else if (strcmp(argv[1], "--man") == 0)
        man_print_all(commands, N_COMMANDS);
    else if (strcmp(argv[1], "--version") == 0)
        printf("qfz %s\n", qfz_version());
    else
        return unknown(argv[1]);
    return end_of_output(&qfz_itself, EXIT_OK);
}

/* Calls that change what is mapped stop all threads of a process, each time.  So what is smaller
 * than a large page comes out of the threads' heaps, which grow and shrink by megabytes. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 2 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
    (void)mallopt(M_TOP_PAD, 8 << 20);
#endif
}

/* A phase is for one process, whoever started it. */
int main(int argc, char **argv)
{
    keep_memory();
    const bool alone = argc > 1 && find(argv[1]) == &run_command;
    if (!alone && !command_join()) return EXIT_FAILED;
    const int status = run_qfz(argc, argv);
    command_leave();
    return status;
}
