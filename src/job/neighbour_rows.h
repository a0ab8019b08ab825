/* SPDX-License-Identifier: MIT */
/* neighbour_rows.h - the table of pairs of neighbours. */
#ifndef QFZ_NEIGHBOUR_ROWS_H
#define QFZ_NEIGHBOUR_ROWS_H

#include "job/progress.h"
#include "raster/raster.h"
#include "regions/regions.h"

/* Writes all pairs into a new table.  source: of the georeference, located.  The caller commits and
 * closes *table. */
qfz_status qfz_neighbour_rows_write(qfz_neighbours *neighbours, bool has_levels, int n_threads,
                                    const qfz_job *job, const qfz_source *source,
                                    qfz_job_progress *progress, qfz_table **table, qfz_error *err);

#endif
