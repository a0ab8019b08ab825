/* SPDX-License-Identifier: MIT */
#include "job/output_links.h"

qfz_status qfz_output_links_follow(qfz_job *job, char *owned[QFZ_OUTPUTS_MAX], qfz_error *err)
{
    const char **const names[] = {&job->dst,    &job->labels,    &job->regions, &job->neighbours,
                                  &job->colors, &job->quicklook, &job->forest,  &job->polygons};
    _Static_assert(sizeof names / sizeof *names <= QFZ_OUTPUTS_MAX, "owned has too few elements");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!*names[i] || !**names[i]) continue;
        QFZ_TRY(qfz_path_follow(&owned[i], *names[i], err));
        *names[i] = owned[i];
    }
    return QFZ_OK;
}
