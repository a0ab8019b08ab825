/* SPDX-License-Identifier: MIT */
/* options.h - the table of options, and the request that a command line is parsed into.
 *
 * The parser, --help, the man pages, docs/user/options.md and the shell completion are all derived
 * from option_table, so that they cannot contradict each other. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "command.h"

enum { OPERANDS_MAX = 3, OPTIONS_MAX = 96, OPTION_TEXTS = 8 };

/* n strings and a NULL; items is NULL if n is 0. */
typedef struct string_list {
    char **items;
    int n;
} string_list;

/* Options of qfz-bench only. */
typedef struct bench_request {
    const char *kind; /* of generated images; NULL: an image is read */
    int size_px;
    int bits;
    int bands;
    int granularity_px;
    int density_percent;
    int64_t seed;
    int mirror_px;        /* 0: the image is not resized */
    const char *gpu_part; /* of PART gpu: the only part; NULL: all */
    int runs;
} bench_request;

/* Options of qfz curve only. */
typedef struct curve_request {
    int format;       /* as in the choices of --format */
    const char *plot; /* names of files; NULL: none */
    const char *out;
} curve_request;

/* Options of qfz explore only. */
enum { EXPLORE_WINDOWS_MAX = 16 };

typedef struct explore_window {
    int64_t x, y, w, h;
} explore_window;

typedef struct explore_request {
    explore_window windows[EXPLORE_WINDOWS_MAX];
    int n_windows; /* 0: the central window */
    bool no_curve;
    const char *out;                 /* name of the page */
    const struct explore_data *data; /* what the page shows, during the run of the command */
} explore_request;

typedef enum action { ACTION_RUN = 0, ACTION_HELP, ACTION_VERSION, ACTION_MAN } action;

/* A parsed command line.  The job borrows from the request, and both borrow from argv. */
typedef struct request {
    const command *command;
    action action;
    const char *operands[OPERANDS_MAX];
    int n_operands;
    qfz_job job;
    qfz_ranks ranks; /* info: the processes to plan for */
    bool quiet, json;
    int log;                   /* a log_form, in the order of --log */
    const char *metrics;       /* name of a file; NULL: none */
    const char *checked_table; /* check: name of a table; NULL: none */
    const char *checked_polygons;
    bool markdown, table; /* help: the form of the output */
    bench_request bench;
    curve_request curve;
    explore_request explore;

    int *bands;
    char *stats; /* --stats without its bands */
    int *stats_bands;
    double *omega, *weights, *alphas;
    uint64_t *alpha_regions; /* of each of several alphas */
    int *gpus;
    string_list open_options, config, creation_options;
    bool given[OPTIONS_MAX]; /* by position in the table */
    char why[256];           /* buffer for the reason of a failure */
} request;

typedef struct option option;

/* Stores the option's value in the request.  Returns NULL, or what is wrong with the value.  values
 * has the words of the value: one, or two if the option is a pair. */
typedef const char *(*option_setter)(const option *o, request *r, const char *const *values);

/* What the option means for some commands. */
typedef struct option_text {
    unsigned commands; /* 0: for every command that no earlier text is for */
    const char *text;
} option_text;

struct option {
    const char *name;     /* with its dashes */
    const char *alias;    /* a second spelling, or NULL */
    const char *argument; /* name of the value; choices are separated by |.  NULL: no value */
    bool pair;            /* KEY=VALUE may also be two words: KEY VALUE */
    bool repeats;
    unsigned commands;
    const char *section; /* heading in the help */
    option_text help[OPTION_TEXTS];
    option_setter set;

    size_t at;        /* offset in a request of the member that the option sets */
    size_t at_has;    /* offset of the bool that becomes true with it; 0: none */
    double low, high; /* limits of the value: both for whole numbers, low for others */
};

extern const option option_table[];
extern const int n_options;

/* The help text of an option for the command with this bit. */
const char *option_help(const option *o, unsigned bit);

/* Number of words that the option at argv[0] and its value take, at most argc; 1 for a word that is
 * no option. */
int option_words(int argc, char **argv);

void request_init(request *r, const command *c);
void request_fini(request *r);

/* Parses argv[0..argc).  False if the command line is wrong; one line on stderr says why. */
bool request_parse(request *r, int argc, char **argv);

/* True if the option of this name was given. */
bool request_has(const request *r, const char *name);

#endif
