/* SPDX-License-Identifier: MIT */
/* commands.h - the list of qfz's commands. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "command.h"

extern const command *const commands[];
extern const int n_commands;

/* The word that selects a command: "label" of "qfz label". */
const char *command_word(const command *c);

/* The command that a word selects, or NULL. */
const command *command_find(const char *word);

/* Reports an unknown command, with a suggestion; returns the exit status. */
int command_unknown(const command *reporter, const char *word);

#endif
