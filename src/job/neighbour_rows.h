/* SPDX-License-Identifier: MIT */
/* neighbour_rows.h - the table of pairs of neighbours. */
#ifndef QFZ_NEIGHBOUR_ROWS_H
#define QFZ_NEIGHBOUR_ROWS_H

#include "job/label_outputs.h"

/* Reads all pairs of outputs->neighbours, and writes them into a new table, which the caller
 * commits and closes. */
qfz_status qfz_neighbour_rows_write(qfz_label_outputs *outputs, qfz_table **table, qfz_error *err);

#endif
