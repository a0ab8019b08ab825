/* SPDX-License-Identifier: MIT */
/* command.h - the description of a command of qfz, and the processes that run it. */
#ifndef COMMAND_H
#define COMMAND_H

#include "qfz.h"

#include <stddef.h>

enum {
    EXIT_OK = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_REFUTED = 3,
    EXIT_RESUMABLE = 75,
    EXIT_SIGNAL = 128
};

/* One bit per command; option.commands is a set of these bits. */
enum {
    FOR_LABEL = 1 << QFZ_LABEL,
    FOR_SIMPLIFY = 1 << QFZ_SIMPLIFY,
    FOR_SALIENCY = 1 << QFZ_SALIENCY,
    FOR_CUT = 1 << QFZ_CUT,
    FOR_CURVE = 1 << QFZ_CURVE,
    FOR_REGIONS = 1 << QFZ_REGIONS,
    FOR_TREE = 1 << QFZ_FOREST,
    FOR_TASKS =
        FOR_LABEL | FOR_SIMPLIFY | FOR_SALIENCY | FOR_CUT | FOR_CURVE | FOR_REGIONS | FOR_TREE,
    FOR_INFO = 1 << 7,
    FOR_BENCH = 1 << 8,
    FOR_RUN = 1 << 9,
    FOR_HELP = 1 << 10,
    FOR_COMPLETION = 1 << 11,
    FOR_CHECK = 1 << 12,
    FOR_EXPLORE = 1 << 13
};

struct request;

typedef struct json_field {
    const char *name;
    const char *text; /* meaning and unit */
} json_field;

typedef struct command {
    const char *name;     /* as typed: "qfz label" */
    const char *page;     /* name of the man page: "qfz-label" */
    unsigned bit;         /* FOR_... */
    const char *operands; /* for the usage line */
    int min_operands;
    int max_operands;        /* at most OPERANDS_MAX */
    const char *summary;     /* one line without a full stop */
    const char *description; /* paragraphs, separated by an empty line */
    const char *example;     /* command lines, one per line */
    const json_field *json;  /* fields of the JSON object on stdout, the last one has no name; NULL:
                                the command prints no JSON object */

    /* Checks combinations of options: NULL, or what is wrong.  May be NULL. */
    const char *(*check)(const struct request *r);
    int (*run)(struct request *r); /* returns the exit status */
} command;

extern const command label_command;
extern const command simplify_command;
extern const command saliency_command;
extern const command cut_command;
extern const command curve_command;
extern const command tree_command;
extern const command regions_command;
extern const command check_command;
extern const command explore_command;
extern const command info_command;
extern const command run_command;
extern const command help_command;
extern const command completion_command;

/* Joins the other processes of an MPI job; afterwards only rank 0 prints.  False if joining failed;
 * the reason is then on stderr. */
bool command_join(void);
const qfz_ranks *command_ranks(void);
void command_leave(void);

#endif
