/* SPDX-License-Identifier: MIT */
/* polygon_chains.h - the borders of all labels of a pass, as chains: traced by this process, or by
 * the processes of a job, each its rows, and added up. */
#ifndef QFZ_POLYGON_CHAINS_H
#define QFZ_POLYGON_CHAINS_H

#include <pthread.h>

#include "job/label_pass.h"
#include "job/part_files.h"
#include "raster/raster.h"

/* The run time of tracing and of making the polygons, relative to the passes of the job. */
#define QFZ_POLYGONS_SHARE 1.0

typedef struct qfz_polygon_chains {
    /* Set by the caller; all is borrowed. */
    const qfz_label_pass *pass; /* its tiling is not used */
    const qfz_job *job;
    qfz_source *source;
    const char *folder; /* of temporary files */
    int64_t memory_bytes;

    qfz_arc_store *store;
    qfz_corner_map *map; /* NULL: lines are not simplified */

    int64_t tile_px;      /* traced at once */
    qfz_arcs *arcs;       /* for each thread */
    pthread_mutex_t lock; /* of store and map */
} qfz_polygon_chains;

/* QFZ_ENOMEM if simplified lines of a raster of this size need more memory. */
qfz_status qfz_polygon_chains_check(const qfz_job *job, const qfz_source_info *info,
                                    int64_t memory_bytes, qfz_error *err);

/* The caller calls close() in any case, after this function and after join(). */
qfz_status qfz_polygon_chains_trace(qfz_polygon_chains *chains, qfz_error *err);
void qfz_polygon_chains_close(qfz_polygon_chains *chains);

/* Writes the traced chains into the file of part `part`, from 0, of the files.  Reads the store. */
qfz_status qfz_polygon_chains_save(qfz_polygon_chains *chains, const qfz_part_files *files,
                                   int part, qfz_error *err);

/* Instead of trace(): adds the chains that were saved of all parts. */
qfz_status qfz_polygon_chains_join(qfz_polygon_chains *chains, const qfz_part_files *files,
                                   qfz_error *err);

/* Deletes the file of a part, if it exists. */
void qfz_polygon_chains_delete(const qfz_part_files *files, int part);

/* For polygon_chains.c and polygon_chain_parts.c. */
qfz_status qfz_polygon_chains_open(qfz_polygon_chains *chains, qfz_error *err);

#endif
