/* SPDX-License-Identifier: MIT */
/* main.c - qfz: selects the command by the first word. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "command_main.h"
#include "commands.h"
#include "help.h"
#include "log.h"
#include "options.h"
#include "signals.h"

static const command qfz_itself = {.name = "qfz"};

/* `qfz run [options] TASK [options] SRC DST`: moves TASK to the front and runs TASK with all
 * options. */
static int run_other(int argc, char **argv)
{
    int at = 0;
    while (at < argc && argv[at][0] == '-')
        at += option_words(argc - at, argv + at);
    const command *const c = at < argc ? command_find(argv[at]) : NULL;
    /* Without a task only the words up to the place of the task are parsed, so that the message is
     * about the task. */
    if (!c || !(c->bit & FOR_TASKS))
        return command_main(&run_command, at < argc ? at + 1 : argc, argv);
    for (int i = at; i > 0; i--)
        argv[i] = argv[i - 1];
    return command_main(c, argc - 1, argv + 1);
}

static int run_qfz(int argc, char **argv)
{
    if (argc < 2) {
        complain(&qfz_itself, "no command given; see qfz --help");
        return EXIT_USAGE;
    }
    const command *const c = command_find(argv[1]);
    if (c == &run_command) return run_other(argc - 2, argv + 2);
    if (c) return command_main(c, argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        help_print_all(commands, n_commands);
    else if (strcmp(argv[1], "--man") == 0)
        man_print_all(commands, n_commands);
    else if (strcmp(argv[1], "--version") == 0)
        (void)puts(qfz_build_info());
    else if (argv[1][0] == '-') {
        complain(&qfz_itself, "%s: the first argument must be a command; see qfz --help", argv[1]);
        return EXIT_USAGE;
    } else
        return command_unknown(&qfz_itself, argv[1]);
    return end_of_output(&qfz_itself, EXIT_OK);
}

/* Every change of the memory map stops all threads of a process.  Blocks smaller than a huge page
 * therefore come from the heaps of the threads, which grow and shrink by megabytes. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 2 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 16 << 20);
    (void)mallopt(M_TOP_PAD, 8 << 20);
#endif
}

/* A job of a hundred alphas with --work keeps two journals open for each, and a mosaic its parts,
 * of 1024 files that most shells permit at first.  Not more than is quick to close one by one, as
 * libraries do that start a process. */
static void allow_files(void)
{
    const rlim_t enough = 65536;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough) return;
    limit.rlim_cur = limit.rlim_max < enough ? limit.rlim_max : enough;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Functions in this section run before the libraries initialise themselves. */
#ifdef __ELF__
__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(void) = signals_install;
#endif

/* `qfz run` processes one phase in one process and never joins MPI. */
int main(int argc, char **argv)
{
    signals_install();
    keep_memory();
    allow_files();
    const bool alone = argc > 1 && command_find(argv[1]) == &run_command;
    if (!alone && !command_join()) return EXIT_FAILED;
    const int status = run_qfz(argc, argv);
    command_leave();
    return status;
}
