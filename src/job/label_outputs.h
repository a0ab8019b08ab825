/* SPDX-License-Identifier: MIT */
/* label_outputs.h - what a job makes from labels that are complete: its own, or those of a raster
 * that it reads.  One pass over the labels gathers records (room regions); then tables are written.
 */
#ifndef QFZ_LABEL_OUTPUTS_H
#define QFZ_LABEL_OUTPUTS_H

#include "job/label_paint.h"
#include "job/label_pass.h"
#include "job/polygon_rows.h"
#include "job/part_files.h"
#include "job/values.h"
#include "job/zone_columns.h"

typedef struct qfz_label_outputs {
    /* Set by the caller before open(). */
    const qfz_job *job;
    qfz_source *source;   /* of the georeference; located by plan(), or while polygons are traced */
    qfz_label_pass pass;  /* without tiling */
    int64_t memory_bytes; /* for all that is below */
    qfz_zone_needs needs; /* of the table of regions */
    qfz_source *image;    /* whose values are counted, and give levels, by rule; NULL: those of
                             --stats do, or none */
    const qfz_rule *rule;
    qfz_part_files files; /* n_parts > 0: the labels are not read for records and chains, since the
                             processes of the job have saved them (label_output_parts.h) */

    const qfz_source *shown; /* by the quicklook; NULL: none */
    char folder[4096];
    qfz_source *stats; /* of --stats, or NULL */
    qfz_rule stats_rule;
    qfz_values *image_values, *stats_values; /* NULL: none, or the same */
    qfz_zone_facts facts;
    qfz_neighbours *neighbours;
    qfz_table *pairs, *polygons;
    qfz_polygon_counts counts; /* of polygons, after finish() */
    bool paints;
    qfz_label_paint paint; /* if paints */
} qfz_label_outputs;

/* True if the job has outputs of this kind beside the table of regions. */
bool qfz_label_outputs_wanted(const qfz_job *job);

/* True if these outputs are made from a raster of labels that is no output: it is written beside
 * the others, and never gets a name. */
bool qfz_label_outputs_hide_labels(const qfz_job *job);

/* Checks what is known before labels are: names of outputs and columns, the raster of --stats, and
 * whether the memory that qfz_label_outputs will have suffices for polygons. */
qfz_status qfz_label_outputs_check(const qfz_job *job, qfz_source *source, int64_t memory_bytes,
                                   qfz_error *err);

/* *bytes = what a thread that reads the raster of --stats needs; 0 if there is none. */
qfz_status qfz_label_outputs_stats_bytes(const qfz_job *job, int64_t *bytes, qfz_error *err);

/* Deletes temporary files that killed runs have left beside the outputs. */
void qfz_label_outputs_clean(const qfz_job *job);

/* Opens the raster of --stats and plans the tiles of the pass, for qfz_label_outputs_open(), or for
 * a plan alone.  The caller calls close() in any case. */
qfz_status qfz_label_outputs_plan(qfz_label_outputs *outputs, qfz_error *err);

/* After plan(): opens what the pass needs.  The caller calls close() in any case. */
qfz_status qfz_label_outputs_open(qfz_label_outputs *outputs, qfz_error *err);
void qfz_label_outputs_close(qfz_label_outputs *outputs); /* deletes unfinished files */

/* The pass over the labels for tables and pictures; nothing if none of them needs it. */
qfz_status qfz_label_outputs_pass(qfz_label_outputs *outputs, qfz_error *err);

/* The pass; then outputs->facts can be read, once. */
qfz_status qfz_label_outputs_gather(qfz_label_outputs *outputs, qfz_error *err);

/* What polygons are made from. */
qfz_polygon_chains qfz_label_outputs_chains(const qfz_label_outputs *outputs);

/* Writes the outputs, complete but under temporary names; polygons by passes of their own.  The
 * facts are closed. */
qfz_status qfz_label_outputs_finish(qfz_label_outputs *outputs, qfz_error *err);

/* As qfz_sink_place() and qfz_sink_commit(). */
qfz_status qfz_label_outputs_place(qfz_label_outputs *outputs, qfz_error *err);
qfz_status qfz_label_outputs_commit(qfz_label_outputs *outputs, qfz_error *err);

/* The run time of gather() and finish(), relative to the passes of the job. */
#define QFZ_LABEL_OUTPUTS_SHARE 0.6

#endif
