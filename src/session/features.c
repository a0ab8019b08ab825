/* SPDX-License-Identifier: MIT */
/* features.c - features and painted means of the regions of a session's last run. */
#include "session/state.h"

static void put_shape(const qfz_features *to, int64_t i, const qfz_record *record)
{
    const double pixels = (double)record->pixels;
    if (to->pixels) to->pixels[i] = record->pixels;
    if (to->x) to->x[i] = (double)record->sum_x / pixels + 0.5;
    if (to->y) to->y[i] = (double)record->sum_y / pixels + 0.5;
    if (to->x0) to->x0[i] = record->x0;
    if (to->y0) to->y0[i] = record->y0;
    if (to->x1) to->x1[i] = record->x1;
    if (to->y1) to->y1[i] = record->y1;
}

static void put_band(const qfz_features *to, int64_t at, const qfz_record *record, qfz_type type,
                     int band)
{
    const qfz_record_band of = qfz_record_get_band(record, type, band);
    if (to->mean) to->mean[at] = of.mean;
    if (to->min) to->min[at] = of.min;
    if (to->max) to->max[at] = of.max;
    if (to->stddev) to->stddev[at] = of.stddev;
}

static void put_records(const qfz_session *s, const qfz_features *to, int64_t at, uint64_t *records,
                        int64_t n)
{
    const int n_bands = s->image.n_bands;
    const int words = qfz_record_words(s->image.type, n_bands);
    const bool has_bands = to->mean || to->min || to->max || to->stddev;
    for (int64_t i = 0; i < n; i++) {
        const qfz_record *const record = qfz_record_at(records, words, i);
        put_shape(to, at + i, record);
        for (int b = 0; has_bands && b < n_bands; b++)
            put_band(to, (at + i) * n_bands + b, record, s->image.type, b);
    }
}

qfz_status qfz_session_features(qfz_session *s, uint32_t first, uint32_t n,
                                const qfz_features *features, qfz_error *err)
{
    qfz_error own;
    qfz_features to = qfz_features_default();
    err = qfz_api_error(err, &own);
    QFZ_TRY(qfz_api_read(&to, sizeof to, features, "qfz_features", err));
    if (!s->has_partition)
        return qfz_fail(err, QFZ_EARG,
                        "the last run found no regions; features need LABEL, ALPHA_OMEGA or "
                        "FEATURES");
    if (first > s->n_partition || n > s->n_partition - first)
        return qfz_fail(err, QFZ_EARG, "regions %u..%llu; there are %u", first,
                        (unsigned long long)first + n, s->n_partition);
    for (int64_t done = 0, part; done < n; done += part) {
        uint64_t *records;
        QFZ_TRY(qfz_session_records(s, first + done, n - done, &records, &part, err));
        put_records(s, &to, done, records, part);
    }
    return QFZ_OK;
}

qfz_status qfz_session_paint(qfz_session *s, int band, const void *invalid, qfz_memory memory,
                             void *out, qfz_error *err)
{
    static const uint32_t zero = 0;
    const void *const value = invalid ? invalid : &zero;
    qfz_error own;
    err = qfz_api_error(err, &own);
    if (!out) return qfz_fail(err, QFZ_EARG, "the pointer to painted pixels is NULL");
    if (band < 0 || band >= s->image.n_bands)
        return qfz_fail(err, QFZ_EARG, "there is no band %d; there are %d, from 0", band,
                        s->image.n_bands);
    if (!s->has_partition || s->kind != QFZ_OMEGA)
        return qfz_fail(err, QFZ_EARG,
                        "the last run was not ALPHA_OMEGA, whose regions are painted");
    if (memory == QFZ_MEMORY_HOST) return s->engine->paint(s->worker, band, NULL, value, out, err);
    if (memory != QFZ_MEMORY_DEVICE)
        return qfz_fail(err, QFZ_EARG, "%d is no kind of memory", (int)memory);
    if (!s->engine->device)
        return qfz_fail(err, QFZ_EARG,
                        "pixels in device memory need the CUDA engine; this session uses the CPU");
    return s->engine->device->paint(s->worker, band, value, out, s->options.cuda_stream, err);
}
