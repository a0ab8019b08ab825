/* SPDX-License-Identifier: MIT */
#include "job/zone_columns.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"

enum { NAME_BYTES = 32, OF_BAND = 5 };

/* The first column is the number of pixels that have values; then come OF_BAND for each band. */
static const char *const of_band[OF_BAND] = {"sum", "mean", "min", "max", "stddev"};

struct qfz_zone_columns {
    const qfz_zones *zones;
    int n, n_bands;
    char (*names)[NAME_BYTES];
    qfz_column *specs;
    void **values; /* of types of 64 bits */
};

static qfz_status make(qfz_zone_columns *c, const qfz_source *source, int64_t n_rows,
                       qfz_error *err)
{
    QFZ_TRY(QFZ_NEW(&c->names, c->n, err));
    QFZ_TRY(QFZ_NEW(&c->specs, c->n, err));
    QFZ_TRY(QFZ_NEW_ZERO(&c->values, c->n, err));
    for (int i = 0; i < c->n; i++) {
        if (i == 0)
            (void)snprintf(c->names[i], NAME_BYTES, "stats_pixels");
        else
            (void)snprintf(c->names[i], NAME_BYTES, "stats_%s_%d", of_band[(i - 1) % OF_BAND],
                           qfz_source_band_number(source, (i - 1) / OF_BAND));
        c->specs[i] = (qfz_column){.name = c->names[i],
                                   .type = i == 0 ? QFZ_COLUMN_UINT64 : QFZ_COLUMN_DOUBLE};
        QFZ_TRY(qfz_alloc(&c->values[i], n_rows, sizeof(uint64_t), err));
    }
    return QFZ_OK;
}

qfz_status qfz_zone_columns_open(qfz_zone_columns **columns, const qfz_source *source,
                                 const qfz_zones *zones, int64_t n_rows, qfz_error *err)
{
    qfz_zone_columns *c = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&c, 1, err));
    c->zones = zones;
    c->n_bands = qfz_source_get_info(source)->n_bands;
    c->n = 1 + OF_BAND * c->n_bands;
    const qfz_status st = make(c, source, n_rows, err);
    if (st == QFZ_OK)
        *columns = c;
    else
        qfz_zone_columns_close(c);
    return st;
}

void qfz_zone_columns_close(qfz_zone_columns *c)
{
    if (!c) return;
    for (int i = 0; c->values && i < c->n; i++)
        free(c->values[i]);
    free(c->values);
    free(c->specs);
    free(c->names);
    free(c);
}

int qfz_zone_columns_n(const qfz_zone_columns *c)
{
    return c->n;
}

const qfz_column *qfz_zone_columns_specs(const qfz_zone_columns *c)
{
    return c->specs;
}

void qfz_zone_columns_set(qfz_zone_columns *c, int64_t row, const qfz_record *record)
{
    ((uint64_t *)c->values[0])[row] = qfz_zones_pixels(record);
    for (int b = 0; b < c->n_bands; b++) {
        const qfz_band_values band = qfz_zones_band(c->zones, record, b);
        const double of[OF_BAND] = {band.sum, band.mean, band.min, band.max, band.stddev};
        for (int i = 0; i < OF_BAND; i++)
            ((double *)c->values[1 + b * OF_BAND + i])[row] = of[i];
    }
}

const void *const *qfz_zone_columns_values(const qfz_zone_columns *c)
{
    return (const void *const *)c->values;
}
