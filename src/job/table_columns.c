/* SPDX-License-Identifier: MIT */
#include "job/table_columns.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "job/column_names.h"

/* --------------------------------------------------------------------------------------- choice */
/* All columns that a table can have: those of regions, then those of zones. */
typedef struct candidates {
    qfz_column *all;
    int n, n_default; /* the first n_default are chosen where none are named */
} candidates;

static qfz_status list_all(candidates *c, const qfz_table_spec *of_regions,
                           const qfz_zone_columns *zones, qfz_error *err)
{
    const int n_regions = of_regions->n_columns;
    int n_default = 0;
    const int n_zones = zones ? qfz_zone_columns_n(zones, &n_default) : 0;
    *c = (candidates){.n = n_regions + n_zones, .n_default = n_regions + n_default};
    QFZ_TRY(QFZ_NEW(&c->all, c->n, err));
    memcpy(c->all, of_regions->columns, (size_t)n_regions * sizeof *c->all);
    if (n_zones > 0)
        memcpy(c->all + n_regions, qfz_zone_columns_specs(zones), (size_t)n_zones * sizeof *c->all);
    return QFZ_OK;
}

static qfz_status fail_unknown(const candidates *of, const char *name, int n, qfz_error *err)
{
    char known[1024] = "";
    size_t used = 0;
    int i = 0;
    for (; i < of->n && used + 64 < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 of->all[i].name);
    return qfz_fail(err, QFZ_EARG, "the table of regions has no column '%.*s'; it has %s%s", n,
                    name, known, i == of->n ? "" : " ...");
}

/* Appends the columns of one name to the chosen ones. */
static qfz_status choose_name(const candidates *of, const char *name, size_t n, int *chosen,
                              int *n_chosen, qfz_error *err)
{
    const int before = *n_chosen;
    const bool by_default =
        n == strlen(QFZ_COLUMNS_DEFAULT) && strncmp(name, QFZ_COLUMNS_DEFAULT, n) == 0;
    for (int i = 0; i < of->n; i++) {
        if (by_default ? i >= of->n_default : !qfz_column_is_named(of->all[i].name, name, n))
            continue;
        for (int k = 0; k < *n_chosen; k++)
            if (chosen[k] == i)
                return qfz_fail(err, QFZ_EARG, "column '%s' is chosen twice", of->all[i].name);
        chosen[(*n_chosen)++] = i;
    }
    return *n_chosen > before ? QFZ_OK : fail_unknown(of, name, (int)n, err);
}

/* chosen: room for of->n numbers of columns. */
static qfz_status choose(const candidates *of, const char *names, int *chosen, int *n_chosen,
                         qfz_error *err)
{
    *n_chosen = 0;
    if (!names) names = QFZ_COLUMNS_DEFAULT;
    while (names) {
        size_t n;
        const char *const name = names;
        names = qfz_column_names_next(names, &n);
        QFZ_TRY(choose_name(of, name, n, chosen, n_chosen, err));
    }
    return QFZ_OK;
}

const qfz_source *qfz_table_columns_image(const qfz_job *job, const qfz_source *source)
{
    return job->task == QFZ_CUT || job->task == QFZ_REGIONS ? NULL : source;
}

qfz_status qfz_table_columns_check(const qfz_job *job, const qfz_source *source,
                                   const qfz_source *stats, qfz_error *err)
{
    const qfz_source *const image = qfz_table_columns_image(job, source);
    const int n_bands = image ? qfz_source_get_info(image)->n_bands : 0;
    qfz_region_columns *regions = NULL;
    qfz_zone_columns *zones = NULL;
    candidates of = {0};
    int *chosen = NULL, n_chosen = 0;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, qfz_region_columns_open(&regions, source, n_bands, n_bands, 1, 1, err));
    QFZ_TRY_OR(st, cleanup, qfz_zone_columns_open(&zones, source, image, stats, 1, err));
    const qfz_table_spec of_regions = qfz_region_columns_spec(regions, NULL, 0, 1);
    QFZ_TRY_OR(st, cleanup, list_all(&of, &of_regions, zones, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&chosen, of.n, err));
    st = choose(&of, job->columns, chosen, &n_chosen, err);

cleanup:
    free(chosen);
    free(of.all);
    qfz_zone_columns_close(zones);
    qfz_region_columns_close(regions);
    return st;
}

/* --------------------------------------------------------------------------------- columns, rows
 */
qfz_status qfz_table_columns_init(qfz_table_columns *c, qfz_region_columns *take_regions,
                                  qfz_zone_columns *take_zones, const char *names, qfz_error *err)
{
    *c = (qfz_table_columns){.regions = take_regions, .zones = take_zones};
    c->spec = qfz_region_columns_spec(take_regions, NULL, 0, 1);
    c->n_regions = c->spec.n_columns;
    candidates of = {0};
    bool *is_chosen = NULL;
    qfz_status st;
    QFZ_TRY_OR(st, cleanup, list_all(&of, &c->spec, take_zones, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&c->specs, of.n, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&c->values, of.n, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&c->chosen, of.n, err));
    QFZ_TRY_OR(st, cleanup, QFZ_NEW_ZERO(&is_chosen, of.n, err));
    QFZ_TRY_OR(st, cleanup, choose(&of, names, c->chosen, &c->n, err));
    for (int k = 0; k < c->n; k++) {
        c->specs[k] = of.all[c->chosen[k]];
        is_chosen[c->chosen[k]] = true;
    }
    qfz_region_columns_use(take_regions, is_chosen);
    c->spec.columns = c->specs;
    c->spec.n_columns = c->n;

cleanup:
    free(is_chosen);
    free(of.all);
    return st;
}

void qfz_table_columns_fini(qfz_table_columns *c)
{
    qfz_region_columns_close(c->regions);
    qfz_zone_columns_close(c->zones);
    free(c->specs);
    free(c->values);
    free(c->chosen);
    *c = (qfz_table_columns){0};
}

qfz_status qfz_table_columns_fill(qfz_table_columns *c, uint64_t *records, int64_t n,
                                  qfz_table_rows *rows, qfz_error *err)
{
    const qfz_table_rows *of_regions;
    QFZ_TRY(qfz_region_columns_fill(c->regions, records, n, &of_regions, err));
    const void *const *const of_zones = c->zones ? qfz_zone_columns_values(c->zones) : NULL;
    for (int k = 0; k < c->n; k++) {
        const int i = c->chosen[k];
        c->values[k] = i < c->n_regions ? of_regions->columns[i] : of_zones[i - c->n_regions];
    }
    *rows = *of_regions;
    rows->columns = c->values;
    return QFZ_OK;
}
