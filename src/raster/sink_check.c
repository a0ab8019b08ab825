/* SPDX-License-Identifier: MIT */
/* sink_check.c - what can be said of an output before the job begins. */
#include "raster/creation_options.h"
#include "raster/driver.h"
#include "raster/format.h"
#include "raster/part_folder.h"
#include "raster/sink.h"
#include "raster/sink_trial.h"

/* The default options are known to keep values, too. */
static bool is_exact_gtiff(const qfz_format *format, const qfz_sink_options *options)
{
    return qfz_driver_is(format->driver, "GTiff") &&
           qfz_creation_options_are_exact(options->creation_options);
}

qfz_status qfz_sink_check(qfz_source *source, const qfz_sink_options *options,
                          const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_format format;
    if (spec->w < 1 || spec->h < 1 || spec->w > INT32_MAX || spec->h > INT32_MAX)
        return qfz_fail(err, QFZ_EARG, "%s: %lld x %lld pixels are more than GDAL supports",
                        spec->path, (long long)spec->w, (long long)spec->h);
    QFZ_TRY(qfz_output_check(source, &options->output, spec->path, err));
    QFZ_TRY(qfz_format_init(&format, source, options, spec, err));
    const bool is_exact = is_exact_gtiff(&format, options);
    qfz_format_fini(&format);
    if (spec->n_parts == 0) return is_exact ? QFZ_OK : qfz_sink_try(source, options, spec, err);
    QFZ_TRY(qfz_part_folder_check(options, spec, err));
    if (!options->merge) return QFZ_OK;
    qfz_sink_spec whole = *spec;
    whole.n_parts = 0;
    QFZ_TRY(qfz_format_init(&format, source, options, &whole, err));
    qfz_format_fini(&format);
    return qfz_sink_try(source, options, &whole, err);
}
