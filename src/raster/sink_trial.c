/* SPDX-License-Identifier: MIT */
/* sink_trial.c - formats and options that change values are found before a job begins.
 *
 * GDAL does not say which formats, codecs and options are lossy, or scale values, or cannot hold
 * several bands; a raster of noise that is read back does. */
#include "raster/sink_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/out_type_facts.h"
#include "raster/sink_state.h"
#include "raster/sink_write.h"

/* A raster of few bands holds a whole tile of 256 x 256: formats store incomplete tiles otherwise.
 */
enum { SIDE = 64, LARGE_SIDE = 320, FEW_BANDS = 4 };

/* Equal numbers in all runs (Knuth's linear congruential generator). */
static uint32_t next_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* Values that both the caller's type and the file's hold. */
static void fill_noise(const qfz_sink *sink, const char *file_type, double *values, int64_t n)
{
    const qfz_out_type_facts *const from = qfz_out_type_get_facts(sink->spec.type);
    const qfz_out_type_facts *const named = file_type ? qfz_out_type_find(file_type) : NULL;
    const qfz_out_type_facts *const to = named ? named : from;
    const double lo = fmax(from->lo, to->lo);
    const double hi = fmin(fmin(from->hi, to->hi), fmin(sink->format.most, 0x1p53));
    uint64_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        const double part = (double)next_number(&state) / UINT32_MAX;
        values[i] = from->is_float ? (double)(float)(1000 * part) : floor(lo + part * (hi - lo));
    }
}

/* Reads the finished file.  False if it cannot be read as written. */
static bool keeps(const qfz_sink *sink, const double *values, double *read)
{
    const int n_bands = sink->spec.n_bands, side = (int)sink->spec.w;
    const GDALDatasetH made =
        GDALOpenEx(sink->temp, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    bool same = made && GDALGetRasterCount(made) >= n_bands && GDALGetRasterXSize(made) == side &&
                GDALGetRasterYSize(made) == side;
    for (int b = 0; b < n_bands && same; b++) {
        const CPLErr done = GDALRasterIO(GDALGetRasterBand(made, b + 1), GF_Read, 0, 0, side, side,
                                         read, side, side, GDT_Float64, 0, 0);
        same = done == CE_None && memcmp(read, values + (int64_t)b * side * side,
                                         (size_t)(side * side) * sizeof *read) == 0;
    }
    if (made) GDALClose(made);
    return same;
}

/* True also if the file cannot be written. */
static bool try_noise(qfz_sink *sink, const char *file_type, double *values, double *read,
                      void *pixels)
{
    const qfz_box all = {0, 0, sink->spec.h, sink->spec.w};
    const int64_t n = sink->spec.n_bands * sink->spec.h * sink->spec.w;
    const GDALDataType type = sink->format.buffer_type;
    qfz_error ignored = {.status = QFZ_OK};
    fill_noise(sink, file_type, values, n);
    GDALCopyWords(values, GDT_Float64, sizeof *values, pixels, type, GDALGetDataTypeSizeBytes(type),
                  (int)n);
    GDALCopyWords(pixels, type, GDALGetDataTypeSizeBytes(type), values, GDT_Float64, sizeof *values,
                  (int)n);
    if (qfz_sink_write(sink, all, pixels, NULL, &ignored) != QFZ_OK) return true;
    if (qfz_sink_finish(sink, NULL, NULL, &ignored) != QFZ_OK) return !sink->differs;
    return keeps(sink, values, read);
}

static qfz_status try_sink(qfz_sink *sink, const char *file_type, bool *same, qfz_error *err)
{
    const int64_t n = sink->spec.n_bands * sink->spec.h * sink->spec.w;
    double *values = NULL, *read = NULL;
    void *pixels = NULL;
    qfz_error_trap trap;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&values, n, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&read, sink->spec.h * sink->spec.w, err));
    QFZ_TRY_OR(st, cleanup, qfz_alloc(&pixels, n, sizeof(uint64_t), err));
    qfz_error_trap_begin(&trap);
    *same = try_noise(sink, file_type, values, read, pixels);
    qfz_error_trap_end(&trap);

cleanup:
    free(values);
    free(read);
    free(pixels);
    return st;
}

static qfz_status try_type(const qfz_source *source, const qfz_sink_options *options,
                           const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_sink_spec small = *spec;
    qfz_sink *sink = NULL;
    qfz_error ignored = {.status = QFZ_OK};
    bool same = true;
    small.w = small.h = spec->n_bands <= FEW_BANDS ? LARGE_SIDE : SIDE;
    small.n_parts = 0;
    small.has_mask = false;
    if (qfz_sink_create(&sink, source, options, &small, &ignored) != QFZ_OK) return QFZ_OK;
    const char *const format = GDALGetDriverShortName(sink->format.driver);
    const qfz_status st = try_sink(sink, options->type, &same, err);
    qfz_sink_close(sink);
    if (st != QFZ_OK || same) return st;
    return qfz_fail(
        err, QFZ_EARG, "%s: the format %s%s does not keep exact values%s; write a GTiff (.tif)",
        spec->path, format,
        options->creation_options && *options->creation_options ? " with these creation options"
                                                                : "",
        spec->n_bands > 1 ? " of several bands" : "");
}

/* The type of saliency is known after the first pass, and may be narrower than that of the spec.  A
 * format may hold two bands of one type alone, as grey and alpha. */
qfz_status qfz_sink_try(const qfz_source *source, const qfz_sink_options *options,
                        const qfz_sink_spec *spec, qfz_error *err)
{
    static const qfz_out_type narrow[] = {QFZ_OUT_U8, QFZ_OUT_U16};
    const qfz_out_type_facts *const widest = qfz_out_type_get_facts(spec->type);
    const bool may_be_narrow =
        spec->content == QFZ_CONTENT_SALIENCY && !options->type && !widest->is_float;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0] && may_be_narrow; i++) {
        const qfz_out_type_facts *const facts = qfz_out_type_get_facts(narrow[i]);
        qfz_sink_spec narrower = *spec;
        narrower.type = narrow[i];
        narrower.max_value = narrower.nodata = facts->hi;
        if (facts->bytes < widest->bytes) QFZ_TRY(try_type(source, options, &narrower, err));
    }
    return try_type(source, options, spec, err);
}
