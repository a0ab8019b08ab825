/* SPDX-License-Identifier: MIT */
/* outputs.h - the outputs of a task: one raster or two, a table of regions and a table of
 * the hierarchy.
 *
 * Tiles are written in any order.  Without a work folder they go into the output files at once.
 * With one, they go into a journal (output_journal.h), and from the journal into the files after
 * the last tile.  Several processes write parts (ranges of rows), which one process joins at the
 * end. Invariant: no output has its final name before all of them are complete, those
 * of all alphas of the job. */
#ifndef QFZ_OUTPUTS_H
#define QFZ_OUTPUTS_H

#include "job/forest_gather.h"
#include "job/label_outputs.h"
#include "job/label_parts.h"
#include "job/output_journal.h"
#include "job/region_records.h"

enum { QFZ_MAIN = 0, QFZ_SECOND, QFZ_RASTERS };
enum { QFZ_PATH_BYTES = 4096 };

typedef struct qfz_outputs {
    qfz_run *run;

    /* Set by the task before open(). */
    int n_rasters;
    qfz_sink_spec specs[QFZ_RASTERS];
    bool type_is_open; /* the type of specs[QFZ_MAIN] follows from the pixels of the only tile */
    bool hides_labels; /* specs[QFZ_SECOND] are labels that never get a name */

    char edges[QFZ_PATH_BYTES];      /* path of the raster of edges, if that is not the result */
    char hidden[QFZ_PATH_BYTES];     /* path of hidden labels */
    qfz_sink *sinks[QFZ_RASTERS];    /* NULL: not open, or this process has no rows */
    qfz_joined *joined[QFZ_RASTERS]; /* VRTs that have their names; else NULL */
    qfz_output_journal *journal;     /* NULL: none */
    qfz_region_records *regions;
    qfz_table *table;
    qfz_attributes *attributes;   /* of the raster of labels, until it is finished; NULL: none */
    qfz_label_outputs *labels;    /* NULL: none */
    qfz_label_parts *label_parts; /* what they read in a job of several processes; else NULL */
    qfz_forest_gather *forest;    /* rows of the hierarchy; NULL: none */
    qfz_png *picture;             /* of saliency; NULL: none */
    qfz_table *forest_table;
} qfz_outputs;

/* Sets the part and rows of a spec, if the output is written in parts: part `part`, from 0, of
 * n_parts processes that write.  format: GDAL's name of the format, or NULL for the extension's. */
void qfz_outputs_place(qfz_sink_spec *spec, const qfz_setup *setup, const char *format, int part,
                       int n_parts);

/* True if the job's layout of saliency is converted from a raster of edges (saliency_layout.h). */
bool qfz_outputs_has_layout(const qfz_job *job);

/* qfz_sink_check() of the raster of edges that several processes write before it is converted. */
qfz_status qfz_outputs_check_edges(const qfz_setup *setup, qfz_source *source, int n_parts,
                                   qfz_error *err);

/* run, n_rasters and specs are set, everything else is 0. */
qfz_status qfz_outputs_open(qfz_outputs *outputs, qfz_error *err);
void qfz_outputs_close(qfz_outputs *outputs); /* deletes unfinished files */

/* Where the type is open, when run->level_bytes is known: sets type, nodata and largest value of
 * the main output.  Before its only tile is written, or in a process that has no tile. */
qfz_status qfz_outputs_set_type(qfz_outputs *outputs, qfz_error *err);

/* True if the journal holds all output of this tile, from an earlier run. */
bool qfz_outputs_have(const qfz_outputs *outputs, int64_t tile);

/* Writes the pixels of the context's tile into raster i.  Any thread. */
qfz_status qfz_outputs_write(qfz_outputs *outputs, int i, const qfz_thread_context *context,
                             int64_t tile, const void *pixels, qfz_error *err);

/* Computes and writes the region records of the context's tile, after numbering; does nothing
 * without a table.  Any thread. */
qfz_status qfz_outputs_regions(qfz_outputs *outputs, qfz_thread_context *context, int64_t tile,
                               uint32_t n_regions, qfz_error *err);

/* Makes and writes the rows of the hierarchy of the context's tile, from the labels of its pixels
 * (forest_rows.h).  Any thread. */
qfz_status qfz_outputs_forest(qfz_outputs *outputs, const qfz_thread_context *context, int64_t tile,
                              const void *labels, bool wide, qfz_error *err);

/* After the last tile of this process: completes its part of the outputs. */
qfz_status qfz_outputs_finish(qfz_outputs *outputs, qfz_error *err);

/* The run time of tables, merging, layouts and copies, relative to the passes, whose share is 1. */
double qfz_outputs_share(const qfz_run *run);

/* After finish() in all processes: one of them joins the parts, makes the tables, and gives the
 * outputs of all n alphas their final names. */
qfz_status qfz_outputs_join(qfz_outputs *list, int64_t n, qfz_error *err);

/* Deletes the files beside outputs that parts have left for the process that joins them. */
void qfz_outputs_delete_parts(const qfz_job *job, int n_parts);

/* Deletes the parts of all processes after a failure.  Called by one of them, after all have closed
 * their outputs. */
void qfz_outputs_abandon(const qfz_outputs *outputs);

#endif
