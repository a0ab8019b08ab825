/* SPDX-License-Identifier: MIT */
#include "gpus.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char variable[] = "CUDA_VISIBLE_DEVICES";

/* Reads the list of the variable.  CUDA ignores everything from the first invalid entry on, such as
 * -1; so does this function. */
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

/* Lists the numbers of all GPUs of the driver; nothing if GPUs are divided into MIG instances,
 * which have names instead of numbers. */
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

static int count_gpus(void *arg)
{
    gpu_list *const list = arg;
    const char *const value = getenv(variable);
    if (list->text) return list->n; /* show_gpus() may have changed the variable */
    if (value)
        read_variable(list, value);
    else
        count_all(list);
    return list->n;
}

/* Sets the variable to the names of the given GPUs. */
static bool show_gpus(const int *gpus, int n, void *arg)
{
    const gpu_list *const list = arg;
    size_t size = 1;
    for (int i = 0; i < n; i++)
        size += strlen(list->names[gpus[i]]) + 1;
    char *const value = calloc(size, 1);
    for (int i = 0; value && i < n; i++) {
        if (i > 0) strcat(value, ",");
        strcat(value, list->names[gpus[i]]);
    }
    const bool shown = value && setenv(variable, value, 1) == 0;
    free(value);
    return shown;
}

qfz_gpu_view gpus_view(gpu_list *list)
{
    return (qfz_gpu_view){.count = count_gpus, .show = show_gpus, .arg = list};
}

void gpus_close(gpu_list *list)
{
    free(list->text);
    *list = (gpu_list){0};
}
