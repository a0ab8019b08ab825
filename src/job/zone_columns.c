/* SPDX-License-Identifier: MIT */
#include "job/zone_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/exact.h"
#include "core/memory.h"
#include "job/column_names.h"

enum { NAME_BYTES = 40 };

/* Groups of columns, in their order. */
typedef enum group { STATS_PIXELS, STATS, PLACE, BORDER, NEIGHBOURS, VALUES, STATS_VALUES } group;

/* Columns of the groups STATS, VALUES and STATS_VALUES come once for each band. */
static const struct kind {
    group group;
    qfz_column column;
} kinds[] = {
    {STATS_PIXELS, {"stats_pixels", QFZ_COLUMN_UINT64}},
    {STATS, {"stats_sum", QFZ_COLUMN_DOUBLE}},
    {STATS, {"stats_mean", QFZ_COLUMN_DOUBLE}},
    {STATS, {"stats_min", QFZ_COLUMN_DOUBLE}},
    {STATS, {"stats_max", QFZ_COLUMN_DOUBLE}},
    {STATS, {"stats_stddev", QFZ_COLUMN_DOUBLE}},
    {PLACE, {"px_first_x", QFZ_COLUMN_INT64}},
    {PLACE, {"px_first_y", QFZ_COLUMN_INT64}},
    {BORDER, {"perimeter_edges", QFZ_COLUMN_UINT64}},
    {BORDER, {"perimeter", QFZ_COLUMN_DOUBLE}},
    {BORDER, {"compactness", QFZ_COLUMN_DOUBLE}},
    {NEIGHBOURS, {"neighbours", QFZ_COLUMN_UINT64}},
    {VALUES, {"majority", QFZ_COLUMN_INT64}},
    {VALUES, {"majority_share", QFZ_COLUMN_DOUBLE}},
    {VALUES, {"minority", QFZ_COLUMN_INT64}},
    {VALUES, {"minority_share", QFZ_COLUMN_DOUBLE}},
    {STATS_VALUES, {"stats_majority", QFZ_COLUMN_INT64}},
    {STATS_VALUES, {"stats_majority_share", QFZ_COLUMN_DOUBLE}},
    {STATS_VALUES, {"stats_minority", QFZ_COLUMN_INT64}},
    {STATS_VALUES, {"stats_minority_share", QFZ_COLUMN_DOUBLE}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct qfz_zone_columns {
    const qfz_source *source, *image, *stats; /* the latter two NULL: none */
    double area_unit, side_units[QFZ_SIDES];
    int n, n_default;
    int first[KINDS + 1]; /* columns of each group begin here */
    char (*names)[NAME_BYTES];
    qfz_column *specs;
    void **values; /* of types of 64 bits */
    qfz_tally_mode *modes;
};

qfz_zone_needs qfz_zone_columns_needs(const char *names)
{
    qfz_zone_needs needs = {0};
    while (names) {
        size_t n;
        const char *const name = names;
        names = qfz_column_names_next(names, &n);
        for (int i = 0; i < KINDS; i++) {
            if (!qfz_column_kind_is_named(kinds[i].column.name, name, n)) continue;
            needs.zones = true;
            needs.borders |= kinds[i].group == BORDER;
            needs.neighbours |= kinds[i].group == NEIGHBOURS;
            needs.values |= kinds[i].group == VALUES;
            needs.stats_values |= kinds[i].group == STATS_VALUES;
        }
    }
    return needs;
}

/* ------------------------------------------------------------------------------- names and types
 */
/* The raster of whose bands a group has columns; NULL: of none. */
static const qfz_source *bands_of(const qfz_zone_columns *c, group of)
{
    if (of == VALUES) return c->image;
    return of == STATS_PIXELS || of == STATS || of == STATS_VALUES ? c->stats : NULL;
}

/* The number of times that the columns of a group come. */
static int times(const qfz_zone_columns *c, group of)
{
    const qfz_source *const bands = bands_of(c, of);
    if (of == PLACE || of == BORDER || of == NEIGHBOURS) return 1;
    if (!bands) return 0;
    if (of == STATS_PIXELS) return 1;
    const qfz_source_info *const info = qfz_source_get_info(bands);
    return of != STATS && info->type == QFZ_F32 ? 0 : info->n_bands;
}

static bool has_bands(group of)
{
    return of == STATS || of == VALUES || of == STATS_VALUES;
}

static void add(qfz_zone_columns *c, const struct kind *kind, int band)
{
    char *const name = c->names[c->n];
    if (has_bands(kind->group))
        (void)snprintf(name, NAME_BYTES, "%s_%d", kind->column.name,
                       qfz_source_band_number(bands_of(c, kind->group), band));
    else
        (void)snprintf(name, NAME_BYTES, "%s", kind->column.name);
    c->specs[c->n++] = (qfz_column){.name = name, .type = kind->column.type};
}

/* All columns of a band follow each other. */
static void add_all(qfz_zone_columns *c)
{
    for (int k = 0, end; k < KINDS; k = end) {
        const group of = kinds[k].group;
        for (end = k + 1; end < KINDS && kinds[end].group == of;)
            end++;
        if (of == PLACE) c->n_default = c->n;
        c->first[of] = c->n;
        for (int band = 0; band < times(c, of); band++)
            for (int i = k; i < end; i++)
                add(c, &kinds[i], band);
    }
}

static qfz_status make(qfz_zone_columns *c, int64_t n_rows, qfz_error *err)
{
    int most = 0, n_modes = 1;
    for (int k = 0; k < KINDS; k++) {
        const int n = times(c, kinds[k].group);
        most += n;
        n_modes = n > n_modes ? n : n_modes;
    }
    QFZ_TRY(QFZ_NEW(&c->names, most, err));
    QFZ_TRY(QFZ_NEW(&c->specs, most, err));
    QFZ_TRY(QFZ_NEW_ZERO(&c->values, most, err));
    QFZ_TRY(QFZ_NEW(&c->modes, n_modes, err));
    add_all(c);
    for (int i = 0; i < c->n; i++)
        QFZ_TRY(qfz_alloc(&c->values[i], n_rows, sizeof(uint64_t), err));
    return QFZ_OK;
}

qfz_status qfz_zone_columns_open(qfz_zone_columns **columns, const qfz_source *source,
                                 const qfz_source *image, const qfz_source *stats, int64_t n_rows,
                                 qfz_error *err)
{
    qfz_zone_columns *c = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&c, 1, err));
    c->source = source;
    c->image = image;
    c->stats = stats;
    c->area_unit = qfz_source_area_unit(source);
    qfz_source_side_units(source, c->side_units);
    const qfz_status st = make(c, n_rows, err);
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
    free(c->modes);
    free(c);
}

int qfz_zone_columns_n(const qfz_zone_columns *c, int *n_default)
{
    *n_default = c->n_default;
    return c->n;
}

const qfz_column *qfz_zone_columns_specs(const qfz_zone_columns *c)
{
    return c->specs;
}

/* --------------------------------------------------------------------------------------- values */
static void put_real(qfz_zone_columns *c, int column, int64_t row, double value)
{
    ((double *)c->values[column])[row] = value;
}

static void put_whole(qfz_zone_columns *c, int column, int64_t row, int64_t value)
{
    ((int64_t *)c->values[column])[row] = value;
}

static void set_stats(qfz_zone_columns *c, int64_t row, const qfz_zones *zones,
                      const qfz_record *record)
{
    int k = c->first[STATS];
    if (!c->stats) return;
    put_whole(c, c->first[STATS_PIXELS], row, (int64_t)qfz_zones_pixels(zones, record));
    for (int b = 0; b < times(c, STATS); b++) {
        const qfz_band_values band = qfz_zones_band(zones, record, b);
        put_real(c, k++, row, band.sum);
        put_real(c, k++, row, band.mean);
        put_real(c, k++, row, band.min);
        put_real(c, k++, row, band.max);
        put_real(c, k++, row, band.stddev);
    }
}

static void set_border(qfz_zone_columns *c, int64_t row, const qfz_zones *zones,
                       const qfz_record *record)
{
    const double pi = 3.14159265358979323846;
    const qfz_zone_border border = qfz_zones_border(zones, record);
    const double length = (double)border.length_below * c->side_units[QFZ_SIDE_BELOW] +
                          (double)border.length_right * c->side_units[QFZ_SIDE_RIGHT];
    const double area = qfz_sum_value(record->area, QFZ_U32) * c->area_unit;
    const int k = c->first[BORDER];
    put_whole(c, k, row, (int64_t)border.sides);
    put_real(c, k + 1, row, length);
    put_real(c, k + 2, row, length > 0 ? 4 * pi * area / (length * length) : NAN);
}

/* tally NULL: the columns are not chosen. */
static qfz_status set_modes(qfz_zone_columns *c, group of, int64_t row, qfz_tally *tally,
                            uint64_t label, qfz_error *err)
{
    const int n_bands = times(c, of);
    int k = c->first[of];
    if (!tally || n_bands == 0) return QFZ_OK;
    const qfz_source_info *const info = qfz_source_get_info(bands_of(c, of));
    QFZ_TRY(qfz_tally_modes(tally, label, info->type, n_bands, c->modes, err));
    for (int b = 0; b < n_bands; b++) {
        const qfz_tally_mode *const m = &c->modes[b];
        const double n = m->n > 0 ? (double)m->n : NAN;
        put_whole(c, k++, row, m->n > 0 ? m->majority : QFZ_COLUMN_NULL);
        put_real(c, k++, row, (double)m->n_majority / n);
        put_whole(c, k++, row, m->n > 0 ? m->minority : QFZ_COLUMN_NULL);
        put_real(c, k++, row, (double)m->n_minority / n);
    }
    return QFZ_OK;
}

qfz_status qfz_zone_columns_set(qfz_zone_columns *c, int64_t row, qfz_zone_facts *facts,
                                const qfz_record *record, qfz_error *err)
{
    const uint64_t label = record->label;
    uint64_t n_neighbours;
    set_stats(c, row, facts->zones, record);
    put_whole(c, c->first[PLACE], row, qfz_zones_first_x(record));
    put_whole(c, c->first[PLACE] + 1, row, record->y0);
    if (facts->needs.borders) set_border(c, row, facts->zones, record);
    if (facts->neighbours) {
        QFZ_TRY(qfz_tally_number(facts->neighbours, label, &n_neighbours, err));
        put_whole(c, c->first[NEIGHBOURS], row, (int64_t)n_neighbours);
    }
    QFZ_TRY(set_modes(c, VALUES, row, facts->values, label, err));
    return set_modes(c, STATS_VALUES, row, facts->stats_values, label, err);
}

const void *const *qfz_zone_columns_values(const qfz_zone_columns *c)
{
    return (const void *const *)c->values;
}
