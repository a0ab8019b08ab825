/* SPDX-License-Identifier: MIT */
/* command.h - what a command is called, what it takes, and who runs it. */
#ifndef COMMAND_H
#define COMMAND_H

#include "qfz.h"

#include <stddef.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_RESUMABLE = 75, EXIT_SIGNAL = 128 };

/* Bits of option.commands, too. */
enum {
    FOR_LABEL = 1 << QFZ_LABEL,
    FOR_SIMPLIFY = 1 << QFZ_SIMPLIFY,
    FOR_SALIENCY = 1 << QFZ_SALIENCY,
    FOR_CUT = 1 << QFZ_CUT,
    FOR_TASKS = FOR_LABEL | FOR_SIMPLIFY | FOR_SALIENCY | FOR_CUT,
    FOR_INFO = 1 << 4,
    FOR_BENCH = 1 << 5,
    FOR_RUN = 1 << 6
};

struct request;

typedef struct command {
    const char *name;     /* as it is typed: "qfz label" */
    const char *page;     /* its man page: "qfz-label" */
    unsigned bit;         /* FOR_... */
    const char *operands; /* for the usage line */
    int min_operands;     /* at most request.operands can hold */
    int max_operands;
    const char *summary;     /* one line, no full stop */
    const char *description; /* paragraphs, an empty line between them */
    const char *example;     /* one command line */

    /* What the options do not tell each for itself: NULL, or what is wrong.  May be NULL. */
    const char *(*check)(const struct request *r);
    int (*run)(struct request *r); /* to the exit status */
} command;

extern const command label_command;
extern const command simplify_command;
extern const command saliency_command;
extern const command cut_command;
extern const command info_command;
extern const command run_command;

/* Parses, then prints help or version, or runs; to the exit status.  argv starts behind the
 * command's own name. */
int command_main(const command *c, int argc, char **argv);

/* The other processes of the job; from here on only the first of them speaks.  False: no joining,
 * and why is on stderr. */
bool command_join(void);
const qfz_ranks *command_ranks(void);
void command_leave(void);

/* One line "NAME: ..." on stderr. */
void complain(const command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Status, or EXIT_FAILED with a line on stderr where stdout could not be written. */
int end_of_output(const command *c, int status);

#endif
