/* SPDX-License-Identifier: MIT */
/* outputs.h - what a task leaves: one raster or two, and a table.
 *
 * Tiles are given in any order.  They go straight into the files; or, where a killed run shall be
 * able to go on, into a spool first, and at the end from there. */
#ifndef QFZ_OUTPUTS_H
#define QFZ_OUTPUTS_H

#include "job/region_records.h"
#include "job/output_journal.h"

enum { QFZ_MAIN = 0, QFZ_SECOND, QFZ_RASTERS };
enum { QFZ_PATH_BYTES = 4096 };

typedef struct qfz_outputs {
    qfz_run *run;

    /* Told by the task. */
    int n_rasters;
    qfz_sink_spec specs[QFZ_RASTERS];

    char edges[QFZ_PATH_BYTES];   /* the path of specs[QFZ_MAIN], if that is not the result */
    qfz_sink *sinks[QFZ_RASTERS]; /* NULL: this process has no rows */
    qfz_output_journal *spool;    /* NULL: none */
    qfz_region_records *regions;
    qfz_table *table;
} qfz_outputs;

/* Gives a spec the part of this process, if the output is written in parts.  n_parts: processes
 * that write. */
void qfz_outputs_place(qfz_sink_spec *spec, const qfz_setup *setup, int part, int n_parts);

/* Layouts that are not of edges are made of a raster of edges, which is not the result itself. */
bool qfz_outputs_has_layout(const qfz_job *job);

/* As qfz_sink_check(), of the raster that processes make together of edges, before it becomes a
 * layout. */
qfz_status qfz_outputs_check_edges(const qfz_setup *setup, qfz_source *source, int n_parts,
                                   qfz_error *err);

/* specs are set; everything else is zero. */
qfz_status qfz_outputs_open(qfz_outputs *outputs, qfz_error *err);
void qfz_outputs_close(qfz_outputs *outputs); /* what is not finished vanishes */

/* Is everything of this tile there, from an earlier run? */
bool qfz_outputs_have(const qfz_outputs *outputs, int64_t tile);

/* The loaded tile's pixels of raster i; and its regions, as just numbered. */
qfz_status qfz_outputs_write(qfz_outputs *outputs, int i, const qfz_thread_context *context,
                             int64_t tile, const void *pixels, qfz_error *err);
qfz_status qfz_outputs_regions(qfz_outputs *outputs, qfz_thread_context *context, int64_t tile,
                               uint32_t n_regions, qfz_error *err);

/* All tiles of this process are in: its part of the outputs is made. */
qfz_status qfz_outputs_finish(qfz_outputs *outputs, qfz_error *err);

/* What of the job's time is spent on a table and on one file of all parts, where the passes' is 1.
 */
double qfz_outputs_share(const qfz_run *run);

/* All processes have finished theirs: one of them gives the outputs their names. */
qfz_status qfz_outputs_join(qfz_outputs *outputs, qfz_error *err);

/* Whatever processes have left of parts that will never be joined; by one of them. */
void qfz_outputs_abandon(const qfz_outputs *outputs);

#endif
