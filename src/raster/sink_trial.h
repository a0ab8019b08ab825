/* SPDX-License-Identifier: MIT */
/* sink_trial.h - does a format keep every value, with the options given? */
#ifndef QFZ_RASTER_SINK_TRIAL_H
#define QFZ_RASTER_SINK_TRIAL_H

#include "raster/sink.h"

/* Writes a small raster of noise beside the output, in its format, type and options, reads it back
 * and deletes it.  QFZ_EARG if values differ.  A format that cannot write such a small raster is
 * not refused here. */
qfz_status qfz_sink_try(const qfz_source *source, const qfz_sink_options *options,
                        const qfz_sink_spec *spec, qfz_error *err);

#endif
