/* SPDX-License-Identifier: MIT */
#include "job/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"

void qfz_comparison_init(qfz_comparison *c, qfz_made *made, qfz_content content, qfz_faults *faults)
{
    *c = (qfz_comparison){.made = made, .content = content, .faults = faults};
    (void)pthread_mutex_init(&c->lock, NULL);
}

void qfz_comparison_fini(qfz_comparison *c)
{
    (void)pthread_mutex_destroy(&c->lock);
}

/* Pixel i as a number; no edge: NaN. */
static double value_of(const qfz_sink_spec *spec, const void *pixels, int64_t i)
{
    double value;
    switch (spec->type) {
    case QFZ_OUT_U8: value = ((const uint8_t *)pixels)[i]; break;
    case QFZ_OUT_U16: value = ((const uint16_t *)pixels)[i]; break;
    case QFZ_OUT_U32: value = ((const uint32_t *)pixels)[i]; break;
    case QFZ_OUT_U64: value = (double)((const uint64_t *)pixels)[i]; break;
    default: value = (double)((const float *)pixels)[i];
    }
    return spec->content == QFZ_CONTENT_SALIENCY && value == spec->nodata ? NAN : value;
}

enum { VALUE_BYTES = 32 };

static const char *print_level(double value, char text[VALUE_BYTES])
{
    if (isnan(value)) return "no level";
    (void)snprintf(text, VALUE_BYTES, "level %.9g", value);
    return text;
}

static void add_difference(const qfz_comparison *c, int b, int64_t x, int64_t y, double there,
                           double computed)
{
    char texts[2][VALUE_BYTES];
    if (c->content == QFZ_CONTENT_LABELS)
        qfz_faults_add(c->faults, x, y, "label %.17g, but %.17g when computed anew", there,
                       computed);
    else
        qfz_faults_add(c->faults, x, y, "band %d: %s, but %s when computed anew", b + 1,
                       print_level(there, texts[0]), print_level(computed, texts[1]));
}

static qfz_status compare_band(qfz_comparison *c, const qfz_sink_spec *spec, int b, qfz_box box,
                               const void *pixels, double *values, qfz_error *err)
{
    const int64_t w = qfz_box_w(box), n = qfz_box_h(box) * w;
    QFZ_TRY(qfz_made_read(c->made, b, box, values, err));
    for (int64_t i = 0; i < n; i++) {
        const double computed = value_of(spec, pixels, b * n + i);
        const bool is_unlabelled = c->content == QFZ_CONTENT_LABELS && isnan(values[i]);
        const double there = is_unlabelled ? 0 : values[i];
        if (there == computed || (isnan(there) && isnan(computed))) continue;
        add_difference(c, b, box.x0 + i % w, box.y0 + i / w, there, computed);
    }
    return QFZ_OK;
}

qfz_status qfz_comparison_tile(qfz_comparison *c, const qfz_sink_spec *spec, qfz_box box,
                               const void *pixels, qfz_error *err)
{
    double *values = NULL;
    qfz_status st = QFZ_OK;
    if (spec->content != c->content) return QFZ_OK;
    (void)pthread_mutex_lock(&c->lock);
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_LARGE(&values, qfz_box_h(box) * qfz_box_w(box), err));
    for (int b = 0; b < spec->n_bands && st == QFZ_OK; b++)
        st = compare_band(c, spec, b, box, pixels, values, err);

cleanup:
    (void)pthread_mutex_unlock(&c->lock);
    free(values);
    return st;
}
