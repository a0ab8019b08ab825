/* SPDX-License-Identifier: MIT */
/* help.h - the help of a command as text, as a man page and as Markdown, derived from the command
 * and the table of options; all of them print to stdout. */
#ifndef HELP_H
#define HELP_H

#include "command.h"

void help_print(const command *c);
void man_print(const command *c);
void markdown_print(const command *c);

/* Of qfz itself, with its commands. */
void help_print_all(const command *const *commands, int count);
void man_print_all(const command *const *commands, int count);
void markdown_print_all(const command *const *commands, int count);

typedef struct exit_status {
    const char *codes; /* "130, 138, 143" */
    const char *text;
} exit_status;

extern const exit_status exit_statuses[]; /* the last one has no codes */

/* The length of the first paragraph of a text; *next: the start of the next paragraph, or the end
 * of the text. */
size_t paragraph_length(const char *text, const char **next);

#endif
