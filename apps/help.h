/* SPDX-License-Identifier: MIT */
/* help.h - --help and man pages, out of a command and the option table. */
#ifndef HELP_H
#define HELP_H

#include "command.h"

void help_print(const command *c);
void man_print(const command *c);

/* Of qfz itself: its commands, count of them. */
void help_print_all(const command *const *commands, int count);
void man_print_all(const command *const *commands, int count);

#endif
