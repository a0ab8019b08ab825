/* SPDX-License-Identifier: MIT */
/* fgb_index.h - the spatial index of a FlatGeobuf file: a packed tree of nodes of 16, written level
 * by level while features come.  Memory does not grow with their number. */
#ifndef QFZ_RASTER_FGB_INDEX_H
#define QFZ_RASTER_FGB_INDEX_H

#include <cpl_vsi.h>

#include "core/status.h"
#include "raster/hilbert.h"

typedef struct qfz_fgb_index qfz_fgb_index;

/* Of n > 0 features, at offset `at` of a file, which is borrowed. */
qfz_status qfz_fgb_index_open(qfz_fgb_index **index, VSILFILE *file, int64_t at, int64_t n,
                              qfz_error *err);
void qfz_fgb_index_close(qfz_fgb_index *index); /* NULL is allowed */

/* Bytes of the index in the file. */
int64_t qfz_fgb_index_bytes(const qfz_fgb_index *index);

/* Adds the next feature, which begins `start` bytes after the index.  False: writing failed. */
bool qfz_fgb_index_add(qfz_fgb_index *index, const qfz_extent *box, int64_t start);

/* Writes what is left, after the n-th feature. */
bool qfz_fgb_index_finish(qfz_fgb_index *index);

/* The extent of all features, after finish(). */
qfz_extent qfz_fgb_index_extent(const qfz_fgb_index *index);

#endif
