/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "nearest.h"

/* With fewer pixels per GPU, starting one more GPU takes longer than the GPU saves. */
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
    for (int task = QFZ_LABEL; task <= QFZ_FOREST; task++)
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
    free(r->stats);
    free(r->stats_bands);
    free(r->omega);
    free(r->weights);
    free(r->alphas);
    free(r->alpha_regions);
    free(r->gpus);
}

bool request_has(const request *r, const char *name)
{
    for (int i = 0; i < n_options; i++)
        if (r->given[i] && strcmp(option_table[i].name, name) == 0) return true;
    return false;
}

/* -------------------------------------------------------------------------------- finding options
 */

static bool is_name(const char *name, const char *word, size_t n)
{
    return name && strlen(name) == n && memcmp(name, word, n) == 0;
}

/* The option that the first n characters of a word name, or NULL.  Commands may have different
 * options of one name: the option of the command with this bit goes first. */
static const option *find(unsigned bit, const char *word, size_t n)
{
    const option *first = NULL;
    for (int i = n_options - 1; i >= 0; i--) {
        const option *const o = &option_table[i];
        if (!is_name(o->name, word, n) && !is_name(o->alias, word, n)) continue;
        if (!first || (o->commands & bit) || !(first->commands & bit)) first = o;
    }
    return first;
}

/* The option that a word names, or NULL.  *n is the length of the name: the value may follow in the
 * same word, as in --tile=512 and -j4. */
static const option *option_of(unsigned bit, const char *word, size_t *n)
{
    const bool attached = word[0] == '-' && word[1] != '-' && word[1] != '\0' &&
                          strchr("0123456789", word[2]) && word[2] != '\0';
    *n = strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : strlen(word);
    if (attached) {
        const option *const o = find(bit, word, 2);
        if (!o || !o->argument) return NULL;
        *n = 2;
        return o;
    }
    return find(bit, word, *n);
}

/* Words after the option's own word that its value takes; next: the word after it, or NULL. */
static int value_words(const option *o, const char *word, size_t n, const char *next)
{
    if (!o->argument || word[n] != '\0') return 0;
    return o->pair && next && !strchr(next, '=') ? 2 : 1;
}

int option_words(int argc, char **argv)
{
    size_t n;
    const option *const o = option_of(FOR_TASKS, argv[0], &n);
    const int words = o ? 1 + value_words(o, argv[0], n, argc > 1 ? argv[1] : NULL) : 1;
    return words < argc ? words : argc;
}

const char *option_help(const option *o, unsigned bit)
{
    const option_text *text = o->help;
    while (text->commands && !(text->commands & bit))
        text++;
    return text->text;
}

/* The value of an option may start with '-', as a negative number does; but it is neither an option
 * nor "--". */
static bool looks_like_option(const char *word)
{
    size_t n;
    return strcmp(word, "--") == 0 || option_of(0, word, &n) != NULL;
}

static bool unknown(const request *r, const char *word)
{
    nearest n = {.word = word};
    for (int i = 0; i < n_options; i++)
        if (option_table[i].commands & r->command->bit) nearest_offer(&n, option_table[i].name);
    if (n.name)
        complain(r->command, "%s: no such option; did you mean %s? See %s --help", word, n.name,
                 r->command->name);
    else
        complain(r->command, "%s: no such option; see %s --help", word, r->command->name);
    return false;
}

/* The commands of all options of this name: an option may have other values in other commands. */
static unsigned commands_with(const char *name)
{
    unsigned commands = 0;
    for (int i = 0; i < n_options; i++)
        if (strcmp(option_table[i].name, name) == 0) commands |= option_table[i].commands;
    return commands;
}

/* Reports an option that the command (bit: its own, or the planned task's) does not have, and the
 * commands that have it: the tasks among them, or, where there is none, the others. */
static bool misplaced(const request *r, const option *o, unsigned bit)
{
    static const struct {
        unsigned bit;
        const char *name;
    } all[] = {{FOR_LABEL, "qfz label"},       {FOR_SIMPLIFY, "qfz simplify"},
               {FOR_SALIENCY, "qfz saliency"}, {FOR_CUT, "qfz cut"},
               {FOR_CURVE, "qfz curve"},       {FOR_TREE, "qfz tree"},
               {FOR_REGIONS, "qfz regions"},   {FOR_EXPLORE, "qfz explore"},
               {FOR_INFO, "qfz info"},         {FOR_BENCH, "qfz-bench"},
               {FOR_HELP, "qfz help"}};
    const unsigned commands = commands_with(o->name);
    const bool of_task = (commands & FOR_TASKS) != 0;
    char owners[128] = "";
    const char *here = r->command->name;
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].bit == bit) here = all[i].name;
        if (!(commands & all[i].bit) || (of_task && !(all[i].bit & FOR_TASKS))) continue;
        n += (size_t)snprintf(owners + n, sizeof owners - n, "%s%s", n ? ", " : "", all[i].name);
    }
    complain(r->command, "%s: not an option of %s, but of %s", o->name, here, owners);
    return false;
}

/* ---------------------------------------------------------------------------------------- parsing
 */

/* Reports a wrong value, with its words as they were typed. */
static bool wrong_value(const request *r, const option *o, const char *const *values,
                        const char *why)
{
    if (values[1])
        complain(r->command, "%s %s %s: %s", o->name, values[0], values[1], why);
    else
        complain(r->command, "%s %s: %s", o->name, values[0], why);
    return false;
}

static bool set(request *r, const option *o, const char *const *values)
{
    const ptrdiff_t i = o - option_table;
    if (r->given[i] && o->argument && !o->repeats)
        return wrong_value(r, o, values, "the option is given twice");
    r->given[i] = true;
    if (strcmp(o->name, "--help") == 0)
        r->action = ACTION_HELP;
    else if (strcmp(o->name, "--version") == 0)
        r->action = ACTION_VERSION;
    else {
        const char *const why = o->set(o, r, values);
        if (why) return wrong_value(r, o, values, why);
    }
    return true;
}

/* Parses the option at argv[*at] and moves *at behind its value. */
static bool take_option(request *r, int argc, char **argv, int *at)
{
    const char *const word = argv[(*at)++];
    size_t n;
    const option *const o = option_of(r->command->bit, word, &n);
    const char *values[3] = {0};
    if (!o) return unknown(r, word);
    if (!(o->commands & r->command->bit)) return misplaced(r, o, r->command->bit);
    if (word[n] == '=' && !o->argument) {
        complain(r->command, "%s: the option takes no value", word);
        return false;
    }
    if (word[n] != '\0') {
        values[0] = word + n + (word[n] == '=');
        return set(r, o, values);
    }
    const int n_words = value_words(o, word, n, *at < argc ? argv[*at] : NULL);
    for (int i = 0; i < n_words; i++) {
        if (*at >= argc || (i == 0 && looks_like_option(argv[*at]))) {
            complain(r->command, "%s: the value is missing: %s %s", word, o->name, o->argument);
            return false;
        }
        values[i] = argv[(*at)++];
    }
    return set(r, o, values);
}

static bool take_operand(request *r, const char *word)
{
    if (r->n_operands == r->command->max_operands) {
        complain(r->command, "%s: one argument too many; usage: %s [options]%s%s", word,
                 r->command->name, r->command->operands[0] ? " " : "", r->command->operands);
        return false;
    }
    r->operands[r->n_operands++] = word;
    return true;
}

/* `info` accepts the options of one task at a time. */
static bool check_task(const request *r)
{
    const unsigned bit = 1u << r->job.task;
    if (r->command->bit != FOR_INFO) return true;
    for (int i = 0; i < n_options; i++) {
        const option *const o = &option_table[i];
        if (r->given[i] && o->commands & FOR_TASKS && !(o->commands & bit))
            return misplaced(r, o, bit);
    }
    return true;
}

/* With --count-only there is no output: neither DST nor options of outputs are accepted. */
static bool check_count_only(const request *r)
{
    static const char *const of_outputs[] = {
        "--labels", "--regions", "--columns", "--neighbours", "--polygons",  "--simplify-tolerance",
        "--stats",  "-of",       "-ot",       "-co",          "--overwrite", "--merge"};
    if (!r->job.count_only) return true;
    if (r->n_operands > 1)
        complain(r->command, "%s: one argument too many; --count-only writes no output",
                 r->operands[1]);
    for (size_t i = 0; i < sizeof of_outputs / sizeof *of_outputs; i++)
        if (request_has(r, of_outputs[i])) {
            complain(r->command, "%s: not with --count-only, which writes no output",
                     of_outputs[i]);
            return false;
        }
    return r->n_operands <= 1;
}

/* In a cut, --edges FILE takes the place of the operand SALIENCY. */
static void place_edges(request *r)
{
    if (r->job.task != QFZ_CUT || !r->job.edges || r->n_operands == r->command->max_operands)
        return;
    r->operands[1] = r->operands[0];
    r->operands[0] = r->job.edges;
    r->n_operands++;
}

static bool check(request *r)
{
    place_edges(r);
    if (r->n_operands < (r->job.count_only ? 1 : r->command->min_operands)) {
        const char *const operands = r->command->operands;
        complain(r->command, "arguments are missing; usage: %s [options] %.*s", r->command->name,
                 (int)(r->job.count_only ? strcspn(operands, " ") : strlen(operands)), operands);
        return false;
    }
    if (!check_count_only(r)) return false;
    if (!check_task(r)) return false;
    const char *const why = r->command->check ? r->command->check(r) : NULL;
    if (why) complain(r->command, "%s", why);
    return why == NULL;
}

/* Sets the job's lists, which move in memory as long as options are added. */
static void lend_lists(request *r)
{
    r->job.open_options = (const char *const *)r->open_options.items;
    r->job.config = (const char *const *)r->config.items;
    r->job.creation_options = (const char *const *)r->creation_options.items;
}

bool request_parse(request *r, int argc, char **argv)
{
    bool options_end = false;
    for (int i = 0; i < argc && r->action == ACTION_RUN;) {
        const char *const word = argv[i];
        if (!options_end && strcmp(word, "--") == 0) {
            options_end = true;
            i++;
        } else if (!options_end && strcmp(word, "--man") == 0) { /* for the build; not in --help */
            r->action = ACTION_MAN;
        } else if (!options_end && word[0] == '-' && word[1] != '\0') {
            if (!take_option(r, argc, argv, &i)) return false;
        } else {
            if (!take_operand(r, word)) return false;
            i++;
        }
    }
    lend_lists(r);
    return r->action != ACTION_RUN || check(r);
}
