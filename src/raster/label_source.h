/* SPDX-License-Identifier: MIT */
/* label_source.h - a raster of labels as a source: one band of integers of up to 64 bits. */
#ifndef QFZ_RASTER_LABEL_SOURCE_H
#define QFZ_RASTER_LABEL_SOURCE_H

#include "core/box.h"
#include "core/label_grid.h"
#include "raster/source_state.h"

/* QFZ_EARG unless one band of integers is in use. */
qfz_status qfz_label_source_init(qfz_source *source, qfz_error *err);

/* As qfz_source_read_labels() and qfz_source_has_narrow_labels(). */
qfz_status qfz_label_source_read(qfz_source *source, qfz_box box, qfz_label_grid labels,
                                 qfz_error *err);
bool qfz_label_source_is_narrow(const qfz_source *source);

#endif
