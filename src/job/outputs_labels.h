/* SPDX-License-Identifier: MIT */
/* outputs_labels.h - the outputs that a job makes from its own labels, once the raster of labels is
 * complete (label_outputs.h). */
#ifndef QFZ_OUTPUTS_LABELS_H
#define QFZ_OUTPUTS_LABELS_H

#include "job/outputs.h"

/* Bytes of memory that these outputs have. */
int64_t qfz_outputs_labels_bytes(const qfz_setup *setup);

/* Reads labels of a box, after qfz_outputs_open_parts(); as qfz_label_pass.read().  arg: the
 * outputs. */
qfz_status qfz_outputs_labels_read(void *arg, int thread, qfz_box box, qfz_label_grid labels,
                                   qfz_error *err);

/* After the last tile is in the raster of labels, before its sink is finished: reads all labels and
 * sets outputs->labels; does nothing if the job has no such outputs.  The memory of thread contexts
 * and tile cache, which the job needs no more, is freed. */
qfz_status qfz_outputs_labels_gather(qfz_outputs *outputs, qfz_error *err);

/* Before qfz_outputs_read(), after the last tile: opens the parts that several processes have
 * written; nothing in a job of one. */
qfz_status qfz_outputs_open_parts(qfz_outputs *outputs, qfz_error *err);

/* Reads a box of the last raster of the task; of several bands, one row of it at a time. */
qfz_status qfz_outputs_read(const qfz_outputs *outputs, int thread, qfz_box box, void *pixels,
                            qfz_error *err);

#endif
