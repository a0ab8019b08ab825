/* SPDX-License-Identifier: MIT */
#include "job/table_columns.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

qfz_status qfz_table_columns_init(qfz_table_columns *c, qfz_region_columns *take_regions,
                                  qfz_zone_columns *take_zones, qfz_error *err)
{
    const qfz_table_spec of_regions = qfz_region_columns_spec(take_regions, NULL, 0, 1);
    *c = (qfz_table_columns){.regions = take_regions, .zones = take_zones};
    c->n_zones = take_zones ? qfz_zone_columns_n(take_zones) : 0;
    c->n = of_regions.n_columns + c->n_zones;
    QFZ_TRY(QFZ_NEW(&c->specs, c->n, err));
    QFZ_TRY(QFZ_NEW(&c->values, c->n, err));
    memcpy(c->specs, of_regions.columns, (size_t)of_regions.n_columns * sizeof *c->specs);
    if (take_zones)
        memcpy(c->specs + of_regions.n_columns, qfz_zone_columns_specs(take_zones),
               (size_t)c->n_zones * sizeof *c->specs);
    c->spec = of_regions;
    c->spec.columns = c->specs;
    c->spec.n_columns = c->n;
    return QFZ_OK;
}

void qfz_table_columns_fini(qfz_table_columns *c)
{
    qfz_region_columns_close(c->regions);
    qfz_zone_columns_close(c->zones);
    free(c->specs);
    free(c->values);
    *c = (qfz_table_columns){0};
}

qfz_table_rows qfz_table_columns_fill(qfz_table_columns *c, uint64_t *records, int64_t n)
{
    qfz_table_rows rows = *qfz_region_columns_fill(c->regions, records, n);
    const int n_regions = c->n - c->n_zones;
    memcpy(c->values, rows.columns, (size_t)n_regions * sizeof *c->values);
    if (c->zones)
        memcpy(c->values + n_regions, qfz_zone_columns_values(c->zones),
               (size_t)c->n_zones * sizeof *c->values);
    rows.columns = c->values;
    return rows;
}
