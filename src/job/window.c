/* SPDX-License-Identifier: MIT */
/* window.c - qfz_job_read_window(): the pixels of a window as a job takes them, and their place. */
#include <stdlib.h>

#include "core/api.h"
#include "core/memory.h"
#include "job/defaults.h"
#include "job/raster_options.h"
#include "job/setup_memory.h"

static qfz_status check(const qfz_job *job, const qfz_window *window, qfz_source_info info,
                        qfz_error *err)
{
    static const int64_t px_max = (int64_t)1 << 29; /* of a session's image */
    if (window->w >= 1 && window->h >= 1 && window->x >= 0 && window->y >= 0 &&
        window->x < info.w && window->y < info.h && window->w <= info.w - window->x &&
        window->h <= info.h - window->y) {
        if (window->h <= px_max / window->w) return QFZ_OK;
        return qfz_fail(err, QFZ_EARG,
                        "%s: the window has %lld x %lld pixels; at most 2^29 in all are allowed",
                        job->src, (long long)window->w, (long long)window->h);
    }
    return qfz_fail(err, QFZ_EARG,
                    "%s: the window of %lld x %lld pixels from column %lld, row %lld on is not "
                    "inside the raster of %lld x %lld pixels",
                    job->src, (long long)window->w, (long long)window->h, (long long)window->x,
                    (long long)window->y, (long long)info.w, (long long)info.h);
}

static qfz_status read_pixels(qfz_window *window, qfz_source *source, qfz_error *err)
{
    const qfz_source_info *const info = qfz_source_get_info(source);
    const qfz_box box = {
        .y0 = window->y, .x0 = window->x, .y1 = window->y + window->h, .x1 = window->x + window->w};
    const int64_t n_px = window->w * window->h;
    window->n_bands = info->n_bands;
    window->type = info->type;
    QFZ_TRY(qfz_alloc(&window->pixels, n_px * info->n_bands, qfz_type_bytes(info->type), err));
    QFZ_TRY(QFZ_NEW(&window->valid, n_px, err));
    return qfz_source_read(source, box, window->pixels, window->valid, err);
}

static qfz_status read_place(qfz_window *window, qfz_source *source, qfz_error *err)
{
    uint64_t *weights = NULL;
    QFZ_TRY(qfz_source_locate(source, err));
    window->has_transform = qfz_source_transform(source, window->transform);
    QFZ_TRY(qfz_source_crs(source, &window->crs, err));
    QFZ_TRY(QFZ_NEW(&window->row_areas, window->h, err));
    QFZ_TRY(QFZ_NEW(&weights, window->h, err));
    const qfz_status st = qfz_source_row_areas(source, window->y, window->h, weights, err);
    for (int64_t y = 0; st == QFZ_OK && y < window->h; y++)
        window->row_areas[y] = (double)weights[y] * qfz_source_area_unit(source);
    free(weights);
    return st;
}

static qfz_status read_names(qfz_window *window, const qfz_source *source, qfz_error *err)
{
    QFZ_TRY(QFZ_NEW_ZERO(&window->band_names, window->n_bands, err));
    for (int b = 0; b < window->n_bands; b++)
        QFZ_TRY(qfz_source_band_name(source, b, &window->band_names[b], err));
    return QFZ_OK;
}

static qfz_status read_window(qfz_window *window, const qfz_job *job, qfz_error *err)
{
    const qfz_source_options options = qfz_job_source_options(job);
    qfz_source *source = NULL;
    qfz_status st;
    QFZ_TRY(qfz_raster_setup(job->config, qfz_setup_first_cache(job), err));
    QFZ_TRY_OR(st, cleanup, qfz_source_open(&source, &options, err));
    QFZ_TRY_OR(st, cleanup, check(job, window, *qfz_source_get_info(source), err));
    QFZ_TRY_OR(st, cleanup, read_pixels(window, source, err));
    QFZ_TRY_OR(st, cleanup, read_place(window, source, err));
    QFZ_TRY_OR(st, cleanup, read_names(window, source, err));

cleanup:
    qfz_source_close(source);
    return st;
}

void qfz_window_release(qfz_window *window)
{
    free(window->pixels);
    free(window->valid);
    free(window->row_areas);
    free(window->crs);
    for (int b = 0; window->band_names && b < window->n_bands; b++)
        free(window->band_names[b]);
    free(window->band_names);
    window->pixels = NULL;
    window->valid = NULL;
    window->row_areas = NULL;
    window->crs = NULL;
    window->band_names = NULL;
}

qfz_status qfz_job_read_window(const qfz_job *job, qfz_window *window, qfz_error *err)
{
    qfz_error own;
    qfz_job complete;
    qfz_window asked = qfz_window_default();
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_job_read(&complete, job, err));
    QFZ_TRY(qfz_api_read(&asked, sizeof asked, window, "qfz_window", err));
    qfz_window made = qfz_window_default();
    made.x = asked.x;
    made.y = asked.y;
    made.w = asked.w;
    made.h = asked.h;
    const qfz_status st = read_window(&made, &complete, err);
    if (st == QFZ_OK)
        qfz_api_write(window, &made, sizeof made);
    else
        qfz_window_release(&made);
    return st;
}
