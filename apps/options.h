/* SPDX-License-Identifier: MIT */
/* options.h - one table of options, and the request that comes out of a command line.
 *
 * Parsing, --help and the man pages are made from the table, so that they cannot drift apart. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "command.h"

enum { OPERANDS_MAX = 2, OPTIONS_MAX = 64 };

/* Strings that end with NULL; items is NULL when there are none. */
typedef struct string_list {
    char **items;
    int n;
} string_list;

/* What only qfz-bench reads. */
typedef struct bench_request {
    const char *kind; /* to generate; NULL: an image is read */
    int size_px;
    int bits;
    int bands;
    int granularity_px;
    int density_percent;
    int64_t seed;
    int mirror_px; /* 0: as it is */
    int runs;
} bench_request;

typedef enum wish { WISH_RUN = 0, WISH_HELP, WISH_VERSION, WISH_MAN } wish;

/* The job borrows from the request, and both borrow from argv. */
typedef struct request {
    const command *command;
    wish wish;
    const char *operands[OPERANDS_MAX];
    int n_operands;
    qfz_job job;
    qfz_ranks ranks; /* that info asks about */
    bool quiet, json;
    bench_request bench;

    int *bands;
    double *omega;
    int *gpus;
    string_list open_options, config, creation_options;
    bool given[OPTIONS_MAX]; /* by position in the table */
    char why[256];           /* room for the reason of a failure */
} request;

typedef struct option option;

/* Takes the option's values into the request: NULL, or what is wrong with them. */
typedef const char *(*option_setter)(const option *o, request *r, const char *const *values);

struct option {
    const char *name;     /* with its dashes */
    const char *argument; /* NULL: none.  Alternatives stand with | between them */
    int n_values;         /* words it takes */
    bool repeats;
    unsigned commands;
    const char *section; /* heading in the help */
    const char *help;
    option_setter set;

    size_t at;        /* offset of what it sets in a request */
    size_t at_has;    /* offset of a bool that says so; 0: none */
    double low, high; /* whole numbers: both; others: low */
};

extern const option option_table[];
extern const int n_options;

void request_init(request *r, const command *c);
void request_fini(request *r);

/* Takes argv[0..argc) apart; false: one line is on stderr. */
bool request_parse(request *r, int argc, char **argv);

/* Was the option of this name given? */
bool request_has(const request *r, const char *name);

#endif
