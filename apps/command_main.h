/* SPDX-License-Identifier: MIT */
/* command_main.h - runs a command, from its arguments to its exit status. */
#ifndef COMMAND_MAIN_H
#define COMMAND_MAIN_H

#include "command.h"

/* Parses the arguments, then prints the help or the version, or runs the command.  Returns the exit
 * status.  argv starts after the command's own name. */
int command_main(const command *c, int argc, char **argv);

/* Flushes stdout.  Returns status, or EXIT_FAILED with a line on stderr if stdout could not be
 * written. */
int end_of_output(const command *c, int status);

#endif
