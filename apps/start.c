/* SPDX-License-Identifier: MIT */
/* start.c - the file `qfz` that users start: keeps back the signals that end a job, and executes
 * the program itself (main.c), for whose many libraries the system needs tens of milliseconds.  A
 * signal that comes in between would end the process at once, with a status that no batch script
 * expects; so it waits for the program, which ends as after any other signal.
 *
 * QFZ_PROGRAM: the program's path, relative to the folder of this file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "command.h"
#include "signals.h"

static void keep_back(void)
{
    static const int ending[] = {ENDING_SIGNALS};
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        (void)sigaddset(&set, ending[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Writes the program's path to `path`; false, with errno, where there is none. */
static bool find_program(char path[PATH_MAX])
{
    const char *const started = (const char *)getauxval(AT_EXECFN);
    char here[PATH_MAX];
    if (!started || !realpath(started, here)) return false;
    *strrchr(here, '/') = '\0';
    const int n = snprintf(path, PATH_MAX, "%s/" QFZ_PROGRAM, here);
    if (n < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    return false;
}

/* Runs before the libraries initialise themselves. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = keep_back;

int main(int argc, char **argv)
{
    char path[PATH_MAX] = QFZ_PROGRAM;
    (void)argc;
    if (find_program(path)) (void)execv(path, argv);
    (void)fprintf(stderr, "qfz: %s: %s; cmake --install puts it there beside this file\n", path,
                  strerror(errno));
    return EXIT_FAILED;
}
