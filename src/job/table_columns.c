/* SPDX-License-Identifier: MIT */
#include "job/table_columns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* --------------------------------------------------------------------------------------- choice */
/* True if the n characters are the name of a column, or the name without the number of its band. */
static bool is_named(const char *column, const char *name, size_t n)
{
    if (strncmp(column, name, n) != 0) return false;
    const char *rest = column + n;
    if (*rest == '\0') return true;
    if (*rest++ != '_' || *rest == '\0') return false;
    while (isdigit((unsigned char)*rest))
        rest++;
    return *rest == '\0';
}

static qfz_status fail_unknown(const qfz_column *all, int n_all, const char *name, int n,
                               qfz_error *err)
{
    char known[512] = "";
    size_t used = 0;
    for (int i = 0; i < n_all && used + 64 < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", all[i].name);
    return qfz_fail(err, QFZ_EARG, "the table of regions has no column '%.*s'; it has %s%s", n,
                    name, known, used + 64 < sizeof known ? "" : " ...");
}

/* Appends the columns of one name to the chosen ones. */
static qfz_status choose_name(const qfz_column *all, int n_all, const char *name, size_t n,
                              int *chosen, int *n_chosen, qfz_error *err)
{
    const int before = *n_chosen;
    for (int i = 0; i < n_all; i++) {
        if (!is_named(all[i].name, name, n)) continue;
        for (int k = 0; k < *n_chosen; k++)
            if (chosen[k] == i)
                return qfz_fail(err, QFZ_EARG, "column '%s' is chosen twice", all[i].name);
        chosen[(*n_chosen)++] = i;
    }
    return *n_chosen > before ? QFZ_OK : fail_unknown(all, n_all, name, (int)n, err);
}

/* chosen: room for n_all numbers of columns. */
static qfz_status choose(const qfz_column *all, int n_all, const char *names, int *chosen,
                         int *n_chosen, qfz_error *err)
{
    *n_chosen = 0;
    for (int i = 0; i < n_all && !names; i++)
        chosen[(*n_chosen)++] = i;
    for (const char *name = names; name;) {
        const size_t n = strcspn(name, ",");
        QFZ_TRY(choose_name(all, n_all, name, n, chosen, n_chosen, err));
        name = name[n] ? name + n + 1 : NULL;
    }
    return QFZ_OK;
}

/* Columns of zones are known only when their statistics are. */
qfz_status qfz_table_columns_check(const qfz_source *source, int n_stats, bool has_zones,
                                   const char *names, qfz_error *err)
{
    qfz_region_columns *regions = NULL;
    int *chosen = NULL, n_chosen = 0;
    qfz_status st;
    if (!names || has_zones) return QFZ_OK;
    QFZ_TRY(qfz_region_columns_open(&regions, source, n_stats, n_stats, 1, 1, err));
    const qfz_table_spec all = qfz_region_columns_spec(regions, NULL, 0, 1);
    QFZ_TRY_OR(st, cleanup, QFZ_NEW(&chosen, all.n_columns, err));
    st = choose(all.columns, all.n_columns, names, chosen, &n_chosen, err);

cleanup:
    free(chosen);
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
    const int n_zones = take_zones ? qfz_zone_columns_n(take_zones) : 0;
    const int n_all = c->n_regions + n_zones;
    qfz_column *all = NULL;
    qfz_status st = QFZ_NEW(&all, n_all, err);
    if (st == QFZ_OK) st = QFZ_NEW(&c->specs, n_all, err);
    if (st == QFZ_OK) st = QFZ_NEW(&c->values, n_all, err);
    if (st == QFZ_OK) st = QFZ_NEW(&c->chosen, n_all, err);
    if (st == QFZ_OK) {
        memcpy(all, c->spec.columns, (size_t)c->n_regions * sizeof *all);
        if (n_zones > 0)
            memcpy(all + c->n_regions, qfz_zone_columns_specs(take_zones),
                   (size_t)n_zones * sizeof *all);
        st = choose(all, n_all, names, c->chosen, &c->n, err);
    }
    for (int k = 0; st == QFZ_OK && k < c->n; k++)
        c->specs[k] = all[c->chosen[k]];
    c->spec.columns = c->specs;
    c->spec.n_columns = c->n;
    free(all);
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
