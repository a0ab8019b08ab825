/* SPDX-License-Identifier: MIT */
/* sink.c - creates, finishes and names a raster that is written box by box. */
#include "raster/sink.h"

#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/driver.h"
#include "raster/error_trap.h"
#include "raster/object_store.h"
#include "raster/out_type_facts.h"
#include "raster/output_header.h"
#include "raster/overviews.h"
#include "raster/part_folder.h"
#include "raster/paths.h"
#include "raster/retry_vsi.h"
#include "raster/sink_blocks.h"
#include "raster/sink_copy.h"
#include "raster/sink_pixels.h"
#include "raster/sink_state.h"
#include "raster/temp_output.h"
#include "raster/text.h"

/* ------------------------------------------------------------------------------------- creation */

/* GTiff and COG are written through the file system that repeats failed writes. */
static qfz_status name_for_driver(const qfz_sink *sink, GDALDriverH driver, const char *path,
                                  char **name, qfz_error *err)
{
    const char *const format = GDALGetDriverShortName(driver);
    if (EQUAL(format, "GTiff") || EQUAL(format, "COG"))
        return qfz_retry_vsi_name(name, path, &sink->retry, err);
    return qfz_text_copy(name, path, err);
}

static qfz_status create_file(qfz_sink *sink, qfz_error *err)
{
    const qfz_format *const f = &sink->format;
    const qfz_sink_spec *const spec = &sink->spec;
    const GDALDriverH driver = f->copies ? GDALGetDriverByName("GTiff") : f->driver;
    char *name = NULL;
    qfz_error_trap trap;
    if (EQUAL(GDALGetDriverShortName(driver), "GTiff"))
        QFZ_TRY(qfz_temp_reserve(f->copies ? sink->work : sink->temp, sink->path, err));
    QFZ_TRY(name_for_driver(sink, driver, f->copies ? sink->work : sink->temp, &name, err));
    qfz_error_trap_begin(&trap);
    sink->dataset =
        GDALCreate(driver, name, (int)spec->w, (int)(spec->y1 - spec->y0), spec->n_bands,
                   f->file_type, f->copies ? f->work_options : f->options);
    qfz_error_trap_end(&trap);
    free(name);
    if (!sink->dataset || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "it could not be created");
    return QFZ_OK;
}

/* Common to sinks that are created and sinks that are opened. */
static qfz_status init_sink(qfz_sink *sink, const qfz_sink_options *options,
                            const qfz_sink_spec *spec, qfz_error *err)
{
    sink->spec = *spec;
    sink->overwrite = options->output.overwrite || spec->n_parts > 0;
    sink->retry = options->output.retry;
    sink->n_threads = options->n_threads;
    if (spec->n_parts > 0) {
        QFZ_TRY(qfz_part_path(&sink->path, spec, err));
        if (qfz_object_is(spec->path)) QFZ_TRY(qfz_text_copy(&sink->whole, spec->path, err));
    } else {
        sink->spec.y0 = 0;
        sink->spec.y1 = spec->h;
        QFZ_TRY(qfz_text_copy(&sink->path, spec->path, err));
    }
    sink->spec.path = sink->path;
    if (pthread_mutex_init(&sink->lock, NULL) != 0 ||
        pthread_rwlock_init(&sink->blocks_lock, NULL) != 0)
        return qfz_fail(err, QFZ_ENOMEM, "%s: out of memory for a lock", sink->path);
    sink->has_lock = true;
    return QFZ_OK;
}

static void find_blocks(qfz_sink *sink)
{
    const GDALRasterBandH band = GDALGetRasterBand(sink->dataset, 1);
    const char *const order = GDALGetMetadataItem(sink->dataset, "INTERLEAVE", "IMAGE_STRUCTURE");
    if (!EQUAL(GDALGetDriverShortName(GDALGetDatasetDriver(sink->dataset)), "GTiff")) return;
    GDALGetBlockSize(band, &sink->block_w, &sink->block_h);
    sink->takes_blocks = GDALGetRasterDataType(band) == sink->format.buffer_type &&
                         (sink->spec.n_bands == 1 || (order && EQUAL(order, "BAND")));
}

static void find_mask(qfz_sink *sink)
{
    if (sink->spec.has_mask) sink->mask = GDALGetMaskBand(GDALGetRasterBand(sink->dataset, 1));
}

/* overviews.h says why. */
static bool gets_nodata_last(const qfz_sink *sink)
{
    return sink->format.overviews != QFZ_OVERVIEWS_NONE && sink->format.file_type == GDT_UInt64 &&
           sink->spec.has_nodata;
}

static qfz_status fill_header(qfz_sink *sink, const qfz_source *source, qfz_error *err)
{
    qfz_sink_spec spec = sink->spec;
    spec.has_nodata &= !gets_nodata_last(sink);
    return qfz_output_header_fill(sink->dataset, source, &spec, sink->path, err);
}

static qfz_status create(qfz_sink *sink, const qfz_source *source, const qfz_sink_options *options,
                         const qfz_sink_spec *spec, qfz_error *err)
{
    const char *const stage = options->output.stage;
    QFZ_TRY(init_sink(sink, options, spec, err));
    if (spec->n_parts > 0) QFZ_TRY(qfz_part_folder_make(spec, err));
    QFZ_TRY(qfz_temp_name(&sink->temp, sink->path, "tmp", NULL, stage, err));
    if (sink->format.copies)
        QFZ_TRY(qfz_temp_name(&sink->work, sink->path, "work", ".tif", stage, err));
    QFZ_TRY(create_file(sink, err));
    sink->is_fresh = !options->has_journal;
    if (sink->is_fresh) QFZ_TRY(qfz_temp_check(sink->temp, sink->path, err));
    QFZ_TRY(fill_header(sink, source, err));
    find_blocks(sink);
    find_mask(sink);
    return QFZ_OK;
}

qfz_status qfz_sink_create(qfz_sink **sink, const qfz_source *source,
                           const qfz_sink_options *options, const qfz_sink_spec *spec,
                           qfz_error *err)
{
    qfz_sink *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    qfz_status st = qfz_format_init(&made->format, source, options, spec, err);
    if (st == QFZ_OK) st = create(made, source, options, spec, err);
    if (st != QFZ_OK) {
        qfz_sink_close(made);
        return st;
    }
    *sink = made;
    return QFZ_OK;
}

static qfz_status close_dataset(qfz_sink *sink, qfz_error *err)
{
    qfz_error_trap trap;
    if (!sink->dataset) return QFZ_OK;
    qfz_error_trap_begin(&trap);
    GDALFlushCache(sink->dataset);
    GDALClose(sink->dataset);
    qfz_error_trap_end(&trap);
    sink->dataset = NULL;
    sink->mask = NULL;
    if (trap.failed) return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "");
    return QFZ_OK;
}

static qfz_status reopen(qfz_sink *sink, qfz_error *err)
{
    qfz_error_trap trap;
    if (sink->dataset) return QFZ_OK;
    qfz_error_trap_begin(&trap);
    sink->dataset =
        GDALOpenEx(sink->path, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (sink->dataset) find_mask(sink);
    qfz_error_trap_end(&trap);
    if (!sink->dataset)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path, "it cannot be read back");
    return QFZ_OK;
}

/* QFZ_EIO unless the open file has the size and the bands of the spec. */
static qfz_status check_opened(const qfz_sink *sink, qfz_error *err)
{
    const qfz_sink_spec *const spec = &sink->spec;
    const int w = GDALGetRasterXSize(sink->dataset), h = GDALGetRasterYSize(sink->dataset);
    const int n_bands = GDALGetRasterCount(sink->dataset);
    if (w == spec->w && h == spec->y1 - spec->y0 && n_bands == spec->n_bands) return QFZ_OK;
    return qfz_fail(err, QFZ_EIO, "%s: %d x %d pixels, bands: %d; not the %lld x %lld, %d expected",
                    sink->path, w, h, n_bands, (long long)spec->w, (long long)(spec->y1 - spec->y0),
                    spec->n_bands);
}

qfz_status qfz_sink_open(qfz_sink **sink, const qfz_sink_options *options,
                         const qfz_sink_spec *spec, qfz_error *err)
{
    qfz_sink *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->finished = made->committed = true;
    made->format.buffer_type = qfz_gdal_type(spec->type);
    qfz_status st = init_sink(made, options, spec, err);
    if (st == QFZ_OK) st = reopen(made, err);
    if (st == QFZ_OK) st = check_opened(made, err);
    if (st != QFZ_OK) {
        qfz_sink_close(made);
        return st;
    }
    *sink = made;
    return QFZ_OK;
}

static qfz_status read_locked(qfz_sink *sink, qfz_box box, void *pixels, uint8_t *valid,
                              qfz_error *err)
{
    const int64_t n = qfz_box_h(box) * qfz_box_w(box);
    qfz_error_trap trap;
    if (sink->committed)
        QFZ_TRY(reopen(sink, err));
    else
        QFZ_TRY(qfz_sink_blocks_end(sink, true, err));
    if (!sink->dataset) return qfz_fail(err, QFZ_EIO, "%s: writing failed before", sink->path);
    qfz_error_trap_begin(&trap);
    if (!sink->committed && !sink->is_read) GDALFlushCache(sink->dataset);
    sink->is_read = true;
    CPLErr done = qfz_sink_move_pixels(sink, GF_Read, box, pixels);
    if (done == CE_None && valid && sink->mask)
        done = qfz_sink_move_mask(sink, GF_Read, box, valid);
    qfz_error_trap_end(&trap);
    if (done != CE_None || trap.failed) {
        const qfz_status st = qfz_error_trap_fail_box(&trap, err, sink->path, box);
        if (sink->committed) (void)close_dataset(sink, NULL); /* the next try opens it again */
        return st;
    }
    for (int64_t i = 0; valid && i < n; i++)
        valid[i] = !sink->mask || valid[i] != 0;
    return QFZ_OK;
}

typedef struct reading {
    qfz_sink *sink;
    qfz_box box;
    void *pixels;
    uint8_t *valid;
} reading;

static qfz_status read_once(void *arg, qfz_error *err)
{
    const reading *const r = arg;
    return read_locked(r->sink, r->box, r->pixels, r->valid, err);
}

qfz_status qfz_sink_read(qfz_sink *sink, qfz_box box, void *pixels, uint8_t *valid, qfz_error *err)
{
    QFZ_TRY(qfz_sink_check_box(sink, box, err));
    reading r = {.sink = sink, .box = box, .pixels = pixels, .valid = valid};
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st =
        sink->committed ? qfz_retry_call(&sink->retry, read_once, &r, err) : read_once(&r, err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

/* ------------------------------------------------------------------------------------ the end */

static qfz_status copy_work(qfz_sink *sink, qfz_error *err)
{
    char *name = NULL;
    if (!sink->format.copies) return QFZ_OK;
    QFZ_TRY(name_for_driver(sink, sink->format.driver, sink->temp, &name, err));
    const qfz_status st = qfz_sink_copy(sink, name, err);
    free(name);
    return st;
}

/* Files of HFA hold each other's names, so the driver must rename them; they are not taken back. */
static qfz_status place_temp(qfz_sink *sink, qfz_error *err)
{
    qfz_error_trap trap;
    const GDALDriverH driver = sink->format.driver;
    if (!EQUAL(GDALGetDriverShortName(driver), "HFA"))
        return qfz_temp_place(sink->temp, sink->path, sink->overwrite, &sink->placement, err);
    if (!sink->overwrite && qfz_path_exists(sink->path))
        return qfz_fail(err, QFZ_EARG, "%s: already exists; use --overwrite", sink->path);
    qfz_error_trap_begin(&trap);
    const CPLErr done = GDALRenameDataset(driver, sink->path, sink->temp);
    qfz_error_trap_end(&trap);
    if (done != CE_None)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path,
                                   "the finished file could not be renamed to its name");
    return QFZ_OK;
}

/* Share of overviews in the end of a raster that is copied then. */
static const double overviews_share = 0.3;

static qfz_status report_overviews(void *arg, double share, qfz_error *err)
{
    const qfz_sink *const sink = arg;
    const double of_all = sink->format.copies ? overviews_share : 1;
    return sink->progress ? sink->progress(sink->progress_arg, of_all * share, err) : QFZ_OK;
}

static qfz_status build_overviews(qfz_sink *sink, qfz_error *err)
{
    if (sink->format.overviews == QFZ_OVERVIEWS_NONE) return QFZ_OK;
    QFZ_TRY(qfz_overviews_build(sink->dataset, sink->format.overviews, sink->path, report_overviews,
                                sink, err));
    sink->copy_from = overviews_share;
    if (!gets_nodata_last(sink)) return QFZ_OK;
    return qfz_output_header_set_nodata(sink->dataset, &sink->spec, sink->path, err);
}

static qfz_status finish_locked(qfz_sink *sink, qfz_error *err)
{
    if (sink->finished) return QFZ_OK;
    if (sink->why.status != QFZ_OK) return qfz_fail(err, sink->why.status, "%s", sink->why.message);
    QFZ_TRY(qfz_sink_blocks_end(sink, false, err));
    QFZ_TRY(build_overviews(sink, err));
    QFZ_TRY(close_dataset(sink, err));
    QFZ_TRY(qfz_sink_check_attributes(sink, err));
    QFZ_TRY(copy_work(sink, err));
    sink->finished = true;
    return QFZ_OK;
}

static qfz_status place_locked(qfz_sink *sink, qfz_error *err)
{
    if (sink->placed || sink->committed) return QFZ_OK;
    QFZ_TRY(finish_locked(sink, err));
    if (sink->is_fresh) QFZ_TRY(qfz_temp_check(sink->temp, sink->path, err));
    if (sink->whole) (void)VSIUnlink(sink->whole);
    sink->placement.retry = sink->retry;
    sink->placement.advance = sink->progress;
    sink->placement.arg = sink->progress_arg;
    QFZ_TRY(place_temp(sink, err));
    sink->placed = true;
    return QFZ_OK;
}

static qfz_status commit_locked(qfz_sink *sink, qfz_error *err)
{
    if (sink->committed) return QFZ_OK;
    QFZ_TRY(place_locked(sink, err));
    QFZ_TRY(qfz_placement_settle(&sink->placement, err));
    qfz_temp_delete(sink->work);
    sink->committed = true;
    return QFZ_OK;
}

static qfz_status call_locked(qfz_sink *sink, qfz_status (*step)(qfz_sink *sink, qfz_error *err),
                              qfz_error *err)
{
    (void)pthread_mutex_lock(&sink->lock);
    const qfz_status st = qfz_sink_keep_failure(sink, step(sink, err), err);
    (void)pthread_mutex_unlock(&sink->lock);
    return st;
}

qfz_status qfz_sink_finish(qfz_sink *sink, qfz_advance_fn progress, void *arg, qfz_error *err)
{
    sink->progress = progress;
    sink->progress_arg = arg;
    return call_locked(sink, finish_locked, err);
}

qfz_status qfz_sink_place(qfz_sink *sink, qfz_error *err)
{
    return call_locked(sink, place_locked, err);
}

qfz_status qfz_sink_commit(qfz_sink *sink, qfz_error *err)
{
    return call_locked(sink, commit_locked, err);
}

void qfz_sink_close(qfz_sink *sink)
{
    if (!sink) return;
    (void)close_dataset(sink, NULL);
    qfz_sink_blocks_close(sink);
    if (!sink->committed) {
        qfz_placement_take_back(&sink->placement);
        qfz_temp_delete(sink->temp);
        qfz_temp_delete(sink->work);
    }
    if (sink->has_lock) {
        (void)pthread_mutex_destroy(&sink->lock);
        (void)pthread_rwlock_destroy(&sink->blocks_lock);
    }
    qfz_format_fini(&sink->format);
    free(sink->mask_rows);
    free(sink->work);
    free(sink->temp);
    free(sink->path);
    free(sink->whole);
    free(sink);
}
