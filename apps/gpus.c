/* SPDX-License-Identifier: MIT */
#include "gpus.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

/* GPUs by number or by name, as the variable lists them, or would. */
typedef struct gpu_list {
    char *text;
    const char *names[QFZ_GPUS_MAX];
    int n;
} gpu_list;

/* What the variable lists already.  CUDA stops at the first that is none, as -1. */
static void read_variable(gpu_list *list, const char *value)
{
    char *rest = list->text = strdup(value);
    while (rest && list->n < QFZ_GPUS_MAX) {
        const char *const name = strsep(&rest, ",");
        if (name[0] == '\0' || name[0] == '-') return;
        list->names[list->n++] = name;
    }
}

static size_t count_files(const char *pattern)
{
    glob_t found;
    size_t n = 0;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) n = found.gl_pathc;
    globfree(&found);
    return n;
}

/* Numbers for all that the driver has.  Parts of GPUs (MIG) are counted otherwise. */
static void count_all(gpu_list *list)
{
    enum { NUMBER_BYTES = 4 };
    const size_t n = count_files("/dev/nvidia[0-9]*");
    if (n > QFZ_GPUS_MAX || count_files("/proc/driver/nvidia/capabilities/gpu*/mig/gi*") > 0)
        return;
    list->text = malloc(n * NUMBER_BYTES + 1);
    for (size_t i = 0; list->text && i < n; i++) {
        char *const name = list->text + i * NUMBER_BYTES;
        (void)snprintf(name, NUMBER_BYTES, "%d", (int)i);
        list->names[list->n++] = name;
    }
}

/* The names of those n, with commas between them; false: no memory. */
static bool show(const gpu_list *list, const int *numbers, int n)
{
    size_t size = 1;
    for (int i = 0; i < n; i++)
        size += strlen(list->names[numbers[i]]) + 1;
    char *const value = calloc(size, 1);
    for (int i = 0; value && i < n; i++) {
        if (i > 0) strcat(value, ",");
        strcat(value, list->names[numbers[i]]);
    }
    const bool shown = value && setenv(variable, value, 1) == 0;
    free(value);
    return shown;
}

void gpus_hide_others(request *r)
{
    const char *const value = getenv(variable);
    gpu_list list = {0};
    qfz_error ignored; /* what is wrong will be found, and said, once more */
    int n = 0;
    if (r->job.engine == QFZ_ENGINE_CPU) return;
    if (value)
        read_variable(&list, value);
    else
        count_all(&list);
    if (list.n > 0 && qfz_job_gpus(&r->job, list.n, r->gpus_shown, &n, &ignored) == QFZ_OK &&
        n < list.n && show(&list, r->gpus_shown, n)) {
        r->job.gpus_shown = r->gpus_shown;
        r->job.n_gpus_shown = n;
    }
    free(list.text);
}
