/* SPDX-License-Identifier: MIT */
#include "job/output_names.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { ALPHA_BYTES = 40 };

void qfz_output_names_of(qfz_job *job, const char **names[QFZ_OUTPUTS_MAX])
{
    const char **const all[] = {&job->dst,    &job->labels,    &job->regions, &job->neighbours,
                                &job->colors, &job->quicklook, &job->forest,  &job->polygons};
    _Static_assert(sizeof all / sizeof *all == QFZ_OUTPUTS_MAX, "every output has a name");
    memcpy(names, all, sizeof all);
}

/* *filled = the name, with text for each place of the alpha. */
static qfz_status fill(char **filled, const char *name, const char *text, qfz_error *err)
{
    const size_t place = strlen(QFZ_ALPHA_PLACE), length = strlen(text);
    size_t bytes = strlen(name) + 1;
    for (const char *at = name; (at = strstr(at, QFZ_ALPHA_PLACE)); at += place)
        bytes += length;
    QFZ_TRY(QFZ_NEW_ZERO(filled, (int64_t)bytes, err));
    char *to = *filled;
    for (const char *at; (at = strstr(name, QFZ_ALPHA_PLACE)); name = at + place) {
        memcpy(to, name, (size_t)(at - name));
        to += at - name;
        memcpy(to, text, length);
        to += length;
    }
    memcpy(to, name, strlen(name));
    return QFZ_OK;
}

/* text NULL: names contain no place of an alpha. */
static qfz_status complete(qfz_job *job, const char *text, char *owned[QFZ_OUTPUTS_MAX],
                           qfz_error *err)
{
    const char **names[QFZ_OUTPUTS_MAX];
    qfz_output_names_of(job, names);
    for (int i = 0; i < QFZ_OUTPUTS_MAX; i++) {
        char *filled = NULL;
        if (!*names[i] || !**names[i]) continue;
        if (text) QFZ_TRY(fill(&filled, *names[i], text, err));
        const qfz_status st = qfz_path_follow(&owned[i], filled ? filled : *names[i], err);
        free(filled);
        QFZ_TRY(st);
        *names[i] = owned[i];
    }
    return QFZ_OK;
}

qfz_status qfz_output_names_follow(qfz_job *job, char *owned[QFZ_OUTPUTS_MAX], qfz_error *err)
{
    return complete(job, NULL, owned, err);
}

qfz_status qfz_output_names_fill(qfz_job *job, double alpha, char *owned[QFZ_OUTPUTS_MAX],
                                 qfz_error *err)
{
    char text[ALPHA_BYTES];
    qfz_real_print(text, sizeof text, alpha);
    return complete(job, text, owned, err);
}
