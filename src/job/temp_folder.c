/* SPDX-License-Identifier: MIT */
#include "job/temp_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *first_output(const qfz_job *job)
{
    const char *const outputs[] = {job->dst,    job->regions,   job->neighbours,
                                   job->colors, job->quicklook, job->polygons};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i]) return outputs[i];
    return NULL;
}

const char *qfz_temp_folder_local(const qfz_job *job)
{
    const char *const named = getenv("TMPDIR");
    if (job->work) return job->work;
    return named && *named ? named : "/tmp";
}

void qfz_temp_folder(const qfz_job *job, char *folder, size_t size)
{
    if (job->work && (size_t)snprintf(folder, size, "%s", job->work) < size) return;
    const char *const output = first_output(job), *const slash =
                                                      output ? strrchr(output, '/') : NULL;
    struct stat status;
    const int length =
        slash ? snprintf(folder, size, "%.*s", (int)(slash - output + 1), output) : 0;
    if (length > 0 && (size_t)length < size && stat(folder, &status) == 0 &&
        S_ISDIR(status.st_mode))
        return;
    const bool is_virtual = output && strncmp(output, "/vsi", 4) == 0;
    if (!is_virtual || (size_t)snprintf(folder, size, "%s", qfz_temp_folder_local(job)) >= size)
        (void)snprintf(folder, size, ".");
}
