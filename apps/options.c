/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"

/* A GPU takes as long to start as it would save a job of fewer pixels. */
static const int64_t px_per_gpu = (int64_t)1 << 32;

void request_init(request *r, const command *c)
{
    *r = (request){
        .command = c,
        .job = qfz_job_default(QFZ_LABEL),
        .bench = {.size_px = 4096,
                  .bits = 8,
                  .bands = 1,
                  .granularity_px = 4,
                  .density_percent = 50,
                  .seed = 1,
                  .runs = 7},
    };
    r->job.px_per_gpu = px_per_gpu;
    for (int task = QFZ_LABEL; task <= QFZ_CUT; task++)
        if (c->bit == 1u << task) r->job.task = (qfz_task)task;
}

static void free_list(string_list *list)
{
    for (int i = 0; i < list->n; i++)
        free(list->items[i]);
    free(list->items);
}

void request_fini(request *r)
{
    free_list(&r->open_options);
    free_list(&r->config);
    free_list(&r->creation_options);
    free(r->bands);
    free(r->omega);
    free(r->gpus);
}

bool request_has(const request *r, const char *name)
{
    for (int i = 0; i < n_options; i++)
        if (r->given[i] && strcmp(option_table[i].name, name) == 0) return true;
    return false;
}

/* ------------------------------------------------------------------------------- finding options
 */

/* The option that the first n characters of word name, or NULL. */
static const option *find(const char *word, size_t n)
{
    for (int i = 0; i < n_options; i++)
        if (strlen(option_table[i].name) == n && memcmp(option_table[i].name, word, n) == 0)
            return &option_table[i];
    return NULL;
}

/* Length of an option's name in a word: long options may carry "=value". */
static size_t name_length(const char *word)
{
    return strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : strlen(word);
}

/* A number may follow an option, whatever its sign; another option or "--" may not. */
static bool looks_like_option(const char *word)
{
    return strcmp(word, "--") == 0 || find(word, name_length(word)) != NULL;
}

static bool unknown(const request *r, const char *word)
{
    nearest n = {.word = word};
    for (int i = 0; i < n_options; i++)
        if (option_table[i].commands & r->command->bit) nearest_offer(&n, option_table[i].name);
    complain(r->command, "%s: no such option%s%s; see %s --help", word, n.name ? ", perhaps " : "",
             n.name ? n.name : "", r->command->name);
    return false;
}

/* The commands that have this option, for whoever tried it elsewhere: those that do the work, else
 * those that only ask. */
static bool misplaced(const request *r, const option *o, unsigned bit)
{
    static const struct {
        unsigned bit;
        const char *name;
    } all[] = {{FOR_LABEL, "label"}, {FOR_SIMPLIFY, "simplify"}, {FOR_SALIENCY, "saliency"},
               {FOR_CUT, "cut"},     {FOR_INFO, "info"},         {FOR_BENCH, "qfz-bench"}};
    const bool works = (o->commands & FOR_TASKS) != 0;
    char owners[128] = "";
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(o->commands & all[i].bit) || (works && !(all[i].bit & FOR_TASKS))) continue;
        n += (size_t)snprintf(owners + n, sizeof owners - n, "%s%s", n ? ", " : "", all[i].name);
    }
    complain(r->command, "%s: not an option of %s, but of %s", o->name,
             bit == r->command->bit ? r->command->name : "this task", owners);
    return false;
}

/* ----------------------------------------------------------------------------------------- parsing
 */

/* The option's values joined by spaces, as they were typed. */
static bool wrong_value(const request *r, const option *o, const char *const *values,
                        const char *why)
{
    if (o->n_values == 2)
        complain(r->command, "%s %s %s: %s", o->name, values[0], values[1], why);
    else
        complain(r->command, "%s %s: %s", o->name, values[0], why);
    return false;
}

static bool set(request *r, const option *o, const char *const *values)
{
    const ptrdiff_t i = o - option_table;
    if (r->given[i] && o->n_values && !o->repeats) return wrong_value(r, o, values, "given twice");
    r->given[i] = true;
    if (strcmp(o->name, "--help") == 0)
        r->wish = WISH_HELP;
    else if (strcmp(o->name, "--version") == 0)
        r->wish = WISH_VERSION;
    else {
        const char *const why = o->set(o, r, values);
        if (why) return wrong_value(r, o, values, why);
    }
    return true;
}

/* Takes the option at argv[*at] with its values and moves *at behind them. */
static bool take_option(request *r, int argc, char **argv, int *at)
{
    const char *const word = argv[(*at)++];
    const size_t n = name_length(word);
    const option *const o = find(word, n);
    const char *values[2] = {0};
    if (!o) return unknown(r, word);
    if (!(o->commands & r->command->bit)) return misplaced(r, o, r->command->bit);
    if (word[n] == '=') {
        if (o->n_values != 1) {
            complain(r->command, "%s: takes %s", word,
                     o->n_values ? "two words: KEY VALUE" : "no value");
            return false;
        }
        values[0] = word + n + 1;
        return set(r, o, values);
    }
    for (int i = 0; i < o->n_values; i++) {
        if (*at >= argc || (i == 0 && looks_like_option(argv[*at]))) {
            complain(r->command, "%s: needs %s", o->name, o->argument);
            return false;
        }
        values[i] = argv[(*at)++];
    }
    return set(r, o, values);
}

static bool take_operand(request *r, const char *word)
{
    if (r->n_operands == r->command->max_operands) {
        complain(r->command, "%s: one name too many; it takes %s", word, r->command->operands);
        return false;
    }
    r->operands[r->n_operands++] = word;
    return true;
}

/* `info` has the options of every task, but only those of one at a time. */
static bool check_task(const request *r)
{
    const unsigned bit = 1u << r->job.task;
    if (r->command->bit != FOR_INFO) return true;
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (r->given[i] && o->commands != FOR_INFO && !(o->commands & bit))
            return misplaced(r, o, bit);
    }
    return true;
}

/* Where regions are only counted, there is no output to name, nor to say anything of. */
static bool check_count_only(const request *r)
{
    static const char *const of_outputs[] = {"--labels", "--regions",   "-of",    "-ot",
                                             "-co",      "--overwrite", "--merge"};
    if (!r->job.count_only) return true;
    if (r->n_operands > 1)
        complain(r->command, "%s: one name too many; --count-only has no output", r->operands[1]);
    for (size_t i = 0; i < sizeof of_outputs / sizeof *of_outputs; i++)
        if (request_has(r, of_outputs[i])) {
            complain(r->command, "%s: --count-only has no output", of_outputs[i]);
            return false;
        }
    return r->n_operands <= 1;
}

static bool check(request *r)
{
    if (r->n_operands < (r->job.count_only ? 1 : r->command->min_operands)) {
        complain(r->command, "needs %s; see %s --help", r->command->operands, r->command->name);
        return false;
    }
    if (!check_count_only(r)) return false;
    if (!check_task(r)) return false;
    const char *const why = r->command->check ? r->command->check(r) : NULL;
    if (why) complain(r->command, "%s", why);
    return why == NULL;
}

/* The job sees the lists as they are when all options are in. */
static void lend_lists(request *r)
{
    r->job.open_options = (const char *const *)r->open_options.items;
    r->job.config = (const char *const *)r->config.items;
    r->job.creation_options = (const char *const *)r->creation_options.items;
}

bool request_parse(request *r, int argc, char **argv)
{
    bool options_end = false;
    for (int i = 0; i < argc && r->wish == WISH_RUN;) {
        const char *const word = argv[i];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
            i++;
        } else if (!options_end && strcmp(word, "--man") == 0) { /* for the build, not for --help */
            r->wish = WISH_MAN;
        } else if (!options_end && word[0] == '-' && word[1] != '\0') {
            if (!take_option(r, argc, argv, &i)) return false;
        } else {
            if (!take_operand(r, word)) return false;
            i++;
        }
    }
    lend_lists(r);
    return r->wish != WISH_RUN || check(r);
}
