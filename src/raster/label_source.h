/* SPDX-License-Identifier: MIT */
/* label_source.h - a raster of labels as a source: one band of integers of up to 64 bits. */
#ifndef QFZ_RASTER_LABEL_SOURCE_H
#define QFZ_RASTER_LABEL_SOURCE_H

#include "core/box.h"
#include "raster/source_state.h"

/* QFZ_EARG unless one band of integers is in use. */
qfz_status qfz_label_source_init(qfz_source *source, qfz_error *err);

/* Reads a box: labels, 0 where there is none.  QFZ_EARG: a label is negative. */
qfz_status qfz_label_source_read(qfz_source *source, qfz_box box, uint64_t *labels, qfz_error *err);

#endif
