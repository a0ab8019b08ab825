/* SPDX-License-Identifier: MIT */
/* label_output_parts.h - records and chains of labels that the processes of a job gather, each from
 * the rows of its part, saved in files; one process adds them up. */
#ifndef QFZ_LABEL_OUTPUT_PARTS_H
#define QFZ_LABEL_OUTPUT_PARTS_H

#include "job/label_outputs.h"

/* After open() of outputs whose pass has the rows of a part: passes over them, and saves the
 * records and the chains of part `part`, from 0, of the files.  Closes the outputs. */
qfz_status qfz_label_output_parts_save(qfz_label_outputs *outputs, const qfz_part_files *files,
                                       int part, qfz_error *err);

/* True if a part is saved. */
bool qfz_label_output_parts_have(const qfz_part_files *files, int part);

/* After open(), in place of qfz_label_outputs_gather(): adds the records of all parts of
 * outputs->files; then outputs->facts can be read, once. */
qfz_status qfz_label_output_parts_add(qfz_label_outputs *outputs, qfz_error *err);

/* Deletes the files of a part. */
void qfz_label_output_parts_delete(const qfz_part_files *files, int part);

#endif
