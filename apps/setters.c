/* SPDX-License-Identifier: MIT */
#include "setters.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static const char *const no_memory = "out of memory";

static void *place(const option *o, request *r)
{
    return (char *)r + o->at;
}

static void mark(const option *o, request *r)
{
    if (o->at_has) *(bool *)((char *)r + o->at_has) = true;
}

const char *set_flag(const option *o, request *r, const char *const *values)
{
    (void)values;
    *(bool *)place(o, r) = true;
    return NULL;
}

const char *set_text(const option *o, request *r, const char *const *values)
{
    if (values[0][0] == '\0') return "must not be empty";
    *(const char **)place(o, r) = values[0];
    return NULL;
}

/* -------------------------------------------------------------------------------------- numbers */
static const char *read_integer(const option *o, request *r, const char *text, int64_t *number)
{
    if (!value_integer(text, number)) return "must be a whole number";
    if ((double)*number >= o->low && (double)*number <= o->high) return NULL;
    (void)snprintf(r->why, sizeof r->why, "must be %.0f to %.0f", o->low, o->high);
    return r->why;
}

const char *set_int(const option *o, request *r, const char *const *values)
{
    int64_t number;
    const char *const wrong = read_integer(o, r, values[0], &number);
    if (wrong) return wrong;
    *(int *)place(o, r) = (int)number;
    mark(o, r);
    return NULL;
}

const char *set_int64(const option *o, request *r, const char *const *values)
{
    int64_t number;
    const char *const wrong = read_integer(o, r, values[0], &number);
    if (wrong) return wrong;
    *(int64_t *)place(o, r) = number;
    mark(o, r);
    return NULL;
}

const char *set_any_number(const option *o, request *r, const char *const *values)
{
    double number;
    if (!value_number(values[0], &number)) return "must be a number";
    *(double *)place(o, r) = number;
    mark(o, r);
    return NULL;
}

static const char *read_limit(const option *o, request *r, const char *text, double *number)
{
    if (!value_number(text, number)) return "must be a number";
    if (isnan(*number)) return "must be a number, not NaN";
    if (*number >= o->low) return NULL;
    (void)snprintf(r->why, sizeof r->why, "must be at least %g", o->low);
    return r->why;
}

const char *set_number(const option *o, request *r, const char *const *values)
{
    double number;
    const char *const wrong = read_limit(o, r, values[0], &number);
    if (wrong) return wrong;
    *(double *)place(o, r) = number;
    mark(o, r);
    return NULL;
}

const char *set_memory(const option *o, request *r, const char *const *values)
{
    if (!value_memory(values[0], place(o, r)))
        return "must be a size such as 2GB or 512MiB, or a share of the physical memory such as "
               "50%";
    return NULL;
}

const char *set_bytes(const option *o, request *r, const char *const *values)
{
    if (strchr(values[0], '%') || !value_memory(values[0], place(o, r)))
        return "must be a size such as 2GB or 512MiB";
    return NULL;
}

/* --------------------------------------------------------------------------------- alternatives */

/* "a|b|c" as "must be a, b or c". */
static const char *must_be(const option *o, request *r)
{
    const char *const last = strrchr(o->argument, '|');
    size_t n = (size_t)snprintf(r->why, sizeof r->why, "must be ");
    for (const char *c = o->argument; *c && n + 8 < sizeof r->why; c++) {
        if (*c != '|')
            r->why[n++] = *c;
        else
            n += (size_t)snprintf(r->why + n, sizeof r->why - n, c == last ? " or " : ", ");
    }
    r->why[n] = '\0';
    return r->why;
}

const char *set_choice(const option *o, request *r, const char *const *values)
{
    const int choice = value_choice(values[0], o->argument);
    if (choice < 0) return must_be(o, r);
    *(int *)place(o, r) = choice;
    return NULL;
}

const char *set_chosen_int(const option *o, request *r, const char *const *values)
{
    int64_t number;
    if (value_choice(values[0], o->argument) < 0) return must_be(o, r);
    if (!value_integer(values[0], &number)) return "must be a whole number";
    *(int *)place(o, r) = (int)number;
    return NULL;
}

const char *set_chosen_text(const option *o, request *r, const char *const *values)
{
    if (value_choice(values[0], o->argument) < 0) return must_be(o, r);
    *(const char **)place(o, r) = values[0];
    return NULL;
}

enum { PARTS_MAX = 100000 };

/* ---------------------------------------------------------------------------------------- lists */
static const char *push(string_list *list, const char *key, const char *between, const char *value)
{
    const size_t size = strlen(key) + strlen(between) + strlen(value) + 1;
    char *const item = malloc(size);
    char **const items = realloc(list->items, ((size_t)list->n + 2) * sizeof *items);
    if (items) list->items = items;
    if (!item || !items) {
        free(item);
        return no_memory;
    }
    (void)snprintf(item, size, "%s%s%s", key, between, value);
    list->items[list->n++] = item;
    list->items[list->n] = NULL;
    return NULL;
}

const char *add_key_value(const option *o, request *r, const char *const *values)
{
    const char *const equals = strchr(values[0], '=');
    if (!equals || equals == values[0]) return "must be KEY=VALUE";
    return push(place(o, r), values[0], "", "");
}

const char *add_pair(const option *o, request *r, const char *const *values)
{
    if (!values[1]) return add_key_value(o, r, values);
    if (values[0][0] == '\0') return "must be KEY=VALUE";
    return push(place(o, r), values[0], "=", values[1]);
}

/* Appends one band to the request's list. */
static const char *add_one_band(const option *o, request *r, const char *text)
{
    int64_t band;
    const char *const wrong = read_integer(o, r, text, &band);
    if (wrong) return wrong == r->why ? "must be a band, counted from 1" : wrong;
    int *const bands = realloc(r->bands, ((size_t)r->job.n_bands + 1) * sizeof *bands);
    if (!bands) return no_memory;
    bands[r->job.n_bands++] = (int)band;
    r->bands = bands;
    r->job.bands = bands;
    return NULL;
}

const char *add_bands(const option *o, request *r, const char *const *values)
{
    const char *wrong = NULL;
    char *const words = strdup(values[0]);
    if (!words) return no_memory;
    for (char *rest = words; rest && !wrong;)
        wrong = add_one_band(o, r, strsep(&rest, ","));
    free(words);
    return wrong;
}

const char *set_part(const option *o, request *r, const char *const *values)
{
    (void)o;
    int64_t part = 0, n = 0;
    char *const words = strdup(values[0]);
    if (!words) return no_memory;
    char *rest = words;
    const char *const first = strsep(&rest, "/");
    const bool good = rest && value_integer(first, &part) && value_integer(rest, &n) && part >= 1 &&
                      part <= n && n <= PARTS_MAX;
    free(words);
    if (!good) return "must be K/N, part K of N parts, such as 3/16";
    r->job.part = (int)part;
    r->job.n_parts = (int)n;
    return NULL;
}

static int count_commas(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += *text == ',';
    return n;
}

const char *set_gpus(const option *o, request *r, const char *const *values)
{
    (void)o;
    const int n = count_commas(values[0]) + 1;
    const char *wrong = NULL;
    char *const words = strdup(values[0]);
    int *const gpus = malloc((size_t)n * sizeof *gpus);
    if (!words || !gpus) wrong = no_memory;
    char *rest = words;
    for (int i = 0; !wrong && i < n; i++) {
        int64_t number = -1;
        if (!value_integer(strsep(&rest, ","), &number) || number < 0 || number > INT_MAX)
            wrong = "must be numbers of GPUs, such as 0 or 0,1,2";
        else
            gpus[i] = (int)number;
    }
    free(words);
    if (wrong) {
        free(gpus);
        return wrong;
    }
    free(r->gpus);
    r->gpus = gpus;
    r->job.gpus = gpus;
    r->job.n_gpus = n;
    return NULL;
}

const char *set_ranks(const option *o, request *r, const char *const *values)
{
    (void)o;
    static const char wrong[] =
        "must be N or N,M: the number of processes, and of processes per node, such as 64,4";
    char first[16], *const comma = strchr(values[0], ',');
    const size_t length = comma ? (size_t)(comma - values[0]) : strlen(values[0]);
    int64_t n = 0, n_local = 1;
    if (length >= sizeof first) return wrong;
    (void)snprintf(first, sizeof first, "%.*s", (int)length, values[0]);
    if (!value_integer(first, &n) || (comma && !value_integer(comma + 1, &n_local))) return wrong;
    if (n < 1 || n > 1000000 || n_local < 1 || n_local > n) return wrong;
    r->ranks = (qfz_ranks){.n = (int)n, .n_local = (int)n_local};
    r->job.ranks = &r->ranks;
    return NULL;
}

/* Replaces *list by the n numbers of a text like 1,2.5,3. */
static const char *read_limits(const option *o, request *r, const char *text, double **list, int *n)
{
    const int n_there = count_commas(text) + 1;
    const char *wrong = NULL;
    char *const words = strdup(text);
    double *const numbers = malloc((size_t)n_there * sizeof *numbers);
    if (!words || !numbers) wrong = no_memory;
    char *rest = words;
    for (int i = 0; !wrong && i < n_there; i++)
        wrong = read_limit(o, r, strsep(&rest, ","), &numbers[i]);
    free(words);
    if (wrong) {
        free(numbers);
        return wrong;
    }
    free(*list);
    *list = numbers;
    *n = n_there;
    return NULL;
}

const char *set_omega(const option *o, request *r, const char *const *values)
{
    qfz_criterion *const criterion = &r->job.criterion;
    const char *const wrong = read_limits(o, r, values[0], &r->omega, &criterion->n_omega);
    if (!wrong) criterion->omega = r->omega;
    return wrong;
}

/* One alpha is that of the criterion; several are a list. */
const char *set_alpha(const option *o, request *r, const char *const *values)
{
    int n = 0;
    const char *const wrong = read_limits(o, r, values[0], &r->alphas, &n);
    if (wrong) return wrong;
    r->job.criterion.has_alpha = n == 1;
    r->job.criterion.alpha = n == 1 ? r->alphas[0] : 0;
    r->job.alphas = r->alphas;
    r->job.n_alphas = n > 1 ? n : 0;
    r->alpha_regions = calloc((size_t)n, sizeof *r->alpha_regions);
    r->job.alpha_regions = r->alpha_regions;
    return r->alpha_regions ? NULL : no_memory;
}

const char *set_weights(const option *o, request *r, const char *const *values)
{
    qfz_criterion *const criterion = &r->job.criterion;
    const char *const wrong = read_limits(o, r, values[0], &r->weights, &criterion->n_weights);
    if (!wrong) criterion->weights = r->weights;
    return wrong;
}

const char *set_min_area(const option *o, request *r, const char *const *values)
{
    (void)o;
    int64_t pixels;
    if (!value_area(values[0], &pixels, &r->job.min_area_m2))
        return "must be a number of pixels such as 25, or an area such as 5000m2, 0.5ha or 0.01km2";
    r->job.criterion.min_area = (uint64_t)pixels;
    return NULL;
}

const char *add_window(const option *o, request *r, const char *const *values)
{
    (void)o;
    static const char wrong[] = "must be four whole numbers X,Y,W,H: the first column and row, "
                                "counted from 0, and the size, such as 2000,3000,512,512";
    int64_t numbers[4];
    char text[128];
    if (snprintf(text, sizeof text, "%s", values[0]) >= (int)sizeof text) return wrong;
    char *rest = text;
    for (int i = 0; i < 4; i++)
        if (!rest || !value_integer(strsep(&rest, ","), &numbers[i])) return wrong;
    if (rest || numbers[0] < 0 || numbers[1] < 0 || numbers[2] < 1 || numbers[3] < 1) return wrong;
    if (r->explore.n_windows == EXPLORE_WINDOWS_MAX) {
        (void)snprintf(r->why, sizeof r->why, "a page has at most %d windows; write several pages",
                       EXPLORE_WINDOWS_MAX);
        return r->why;
    }
    r->explore.windows[r->explore.n_windows++] =
        (explore_window){numbers[0], numbers[1], numbers[2], numbers[3]};
    return NULL;
}

/* The numbers of bands behind a file name: FILE,1,2.  Returns where they begin: the first of
 * the commas behind which there are only digits and commas; else the end of the text. */
static const char *bands_of(const char *text)
{
    const char *bands = text + strlen(text);
    for (const char *end = bands; end > text; end--) {
        if (end[-1] == ',' && end[0] >= '0' && end[0] <= '9') bands = end - 1;
        if (end[-1] != ',' && (end[-1] < '0' || end[-1] > '9')) break;
    }
    return bands;
}

const char *set_stats(const option *o, request *r, const char *const *values)
{
    const char *const bands = bands_of(values[0]);
    const int n = count_commas(bands);
    r->stats = strndup(values[0], (size_t)(bands - values[0]));
    r->stats_bands = malloc(((size_t)n + 1) * sizeof *r->stats_bands);
    char *const words = strdup(bands);
    if (!r->stats || !r->stats_bands || !words) {
        free(words);
        return no_memory;
    }
    char *rest = words;
    const char *wrong = NULL;
    (void)strsep(&rest, ",");
    for (int i = 0; i < n && !wrong; i++) {
        int64_t band;
        if (read_integer(o, r, strsep(&rest, ","), &band))
            wrong = "must be FILE or FILE,B,B...: bands are counted from 1";
        else
            r->stats_bands[i] = (int)band;
    }
    free(words);
    r->job.stats = r->stats;
    r->job.stats_bands = n > 0 ? r->stats_bands : NULL;
    r->job.n_stats_bands = n;
    return wrong;
}
