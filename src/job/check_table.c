/* SPDX-License-Identifier: MIT */
#include "job/check_table.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/raster.h"
#include "regions/regions.h"

enum { PIXELS, BOX_X0, BOX_Y0, BOX_X1, BOX_Y1, VALUES, ROWS_PER_REPORT = 1 << 14 };

/* The label's is column 0 of those that are read; VALUES columns follow. */
static const char *const columns[1 + VALUES] = {"label", "pixels", "px_x0",
                                                "px_y0", "px_x1",  "px_y1"};

/* What is known of a label, as words of a gather. */
typedef struct entry {
    uint64_t label;
    uint64_t n_rows, n_regions;
    int64_t x, y; /* first pixel of the region */
    int64_t of_row[VALUES], of_region[VALUES];
    qfz_outline row_outline, region_outline;
    int64_t row_inside; /* pixels inside the polygon of the row */
    uint64_t row_fault; /* outline_fault */
} entry;

/* What is wrong in a polygon itself. */
typedef enum outline_fault {
    NO_FAULT = QFZ_RING_RIGHT,
    OFF_CORNERS = QFZ_RING_OFF_CORNERS,
    SLANTS = QFZ_RING_SLANTS,
    NO_POLYGON
} outline_fault;

enum { ENTRY_WORDS = sizeof(entry) / sizeof(uint64_t) };

struct qfz_check_table {
    qfz_check_table_spec spec;
    const char *noun;
    qfz_table_reader *reader;
    qfz_table_rings rings;
    qfz_gather *gather;
    uint64_t n_regions, n_rows;
};

/* ------------------------------------------------------------------------------------- gathering
 */
static void merge(entry *into, const entry *more)
{
    if (into->n_rows == 0) {
        memcpy(into->of_row, more->of_row, sizeof into->of_row);
        into->row_outline = more->row_outline;
        into->row_inside = more->row_inside;
        into->row_fault = more->row_fault;
    }
    if (into->n_regions == 0) {
        into->x = more->x;
        into->y = more->y;
        memcpy(into->of_region, more->of_region, sizeof into->of_region);
        into->region_outline = more->region_outline;
    }
    into->n_rows += more->n_rows;
    into->n_regions += more->n_regions;
}

static void merge_words(void *arg, uint64_t *into, const uint64_t *more)
{
    (void)arg;
    merge((entry *)(void *)into, (const entry *)(const void *)more);
}

static qfz_status gather(qfz_check_table *table, const entry *more, qfz_error *err)
{
    uint64_t *words;
    bool is_new;
    QFZ_TRY(qfz_gather_find(table->gather, 0, &more->label, &words, &is_new, err));
    merge((entry *)(void *)words, more);
    return QFZ_OK;
}

qfz_status qfz_check_table_add(void *arg, const qfz_piece *region, qfz_error *err)
{
    qfz_check_table *const table = arg;
    const entry more = {
        .label = region->label,
        .n_regions = 1,
        .x = region->x,
        .y = region->y,
        .of_region = {(int64_t)region->pixels, region->x0, region->y0, region->x1, region->y1},
        .region_outline = region->outline};
    table->n_regions++;
    return gather(table, &more, err);
}

/* The outline of the row whose rings were read. */
static void measure(const qfz_check_table *table, entry *row)
{
    const qfz_table_rings *const rings = &table->rings;
    row->row_fault = rings->n == 0 ? NO_POLYGON : NO_FAULT;
    for (int64_t i = 0; i < rings->n && row->row_fault == NO_FAULT; i++) {
        const qfz_table_ring ring = rings->rings[i];
        row->row_fault = qfz_outline_add_ring(&row->row_outline, rings->x + ring.first,
                                              rings->y + ring.first, ring.n, ring.is_hole,
                                              table->spec.w, table->spec.h, &row->row_inside);
    }
}

static qfz_status add_row(qfz_check_table *table, const int64_t *values, qfz_faults *faults,
                          qfz_error *err)
{
    table->n_rows++;
    if (values[0] == QFZ_COLUMN_NULL) {
        qfz_faults_add(faults, -1, -1, "row %llu of the %s: the label is no whole number",
                       (unsigned long long)table->n_rows, table->noun);
        return QFZ_OK;
    }
    if (values[0] <= 0) {
        qfz_faults_add(faults, -1, -1, "row %llu of the %s: label %lld, which no region has",
                       (unsigned long long)table->n_rows, table->noun, (long long)values[0]);
        return QFZ_OK;
    }
    entry more = {.label = (uint64_t)values[0], .n_rows = 1};
    memcpy(more.of_row, values + 1, sizeof more.of_row);
    if (table->spec.has_polygons) measure(table, &more);
    return gather(table, &more, err);
}

static qfz_status read_rows(qfz_check_table *table, qfz_faults *faults, qfz_job_progress *progress,
                            qfz_error *err)
{
    for (;;) {
        int64_t values[1 + VALUES];
        bool more;
        QFZ_TRY(qfz_table_reader_next(table->reader, values,
                                      table->spec.has_polygons ? &table->rings : NULL,
                                      table->spec.transform, &more, err));
        if (!more) return QFZ_OK;
        QFZ_TRY(add_row(table, values, faults, err));
        if (table->n_rows % ROWS_PER_REPORT || table->n_rows > table->n_regions) continue;
        const double part = (double)table->n_rows / (double)table->n_regions;
        QFZ_TRY(qfz_progress_advance_to(progress, part / 2, err));
    }
}

/* ----------------------------------------------------------------------------------- comparison
 */
static void compare_values(const qfz_check_table *table, const entry *e, qfz_faults *faults)
{
    for (int i = 0; i < VALUES; i++) {
        const char *const column = columns[1 + i];
        if (!qfz_table_reader_has(table->reader, 1 + i) || e->of_row[i] == e->of_region[i])
            continue;
        if (e->of_row[i] == QFZ_COLUMN_NULL)
            qfz_faults_add(faults, e->x, e->y,
                           "label %llu: %s is no whole number in the %s, but %lld in the raster",
                           (unsigned long long)e->label, column, table->noun,
                           (long long)e->of_region[i]);
        else
            qfz_faults_add(faults, e->x, e->y,
                           "label %llu: %s is %lld in the %s, but %lld in the raster",
                           (unsigned long long)e->label, column, (long long)e->of_row[i],
                           table->noun, (long long)e->of_region[i]);
    }
}

static void compare_outlines(const entry *e, qfz_faults *faults)
{
    const unsigned long long label = e->label;
    const qfz_outline *const row = &e->row_outline, *const region = &e->region_outline;
    if (e->row_fault == NO_POLYGON)
        qfz_faults_add(faults, e->x, e->y, "label %llu: the row has no polygon", label);
    else if (e->row_fault == OFF_CORNERS)
        qfz_faults_add(faults, e->x, e->y,
                       "label %llu: the polygon has a point that is no corner of pixels", label);
    else if (e->row_fault == SLANTS)
        qfz_faults_add(faults, e->x, e->y,
                       "label %llu: the polygon has a slanting line; simplified polygons cannot be "
                       "checked",
                       label);
    else if (e->row_inside != e->of_region[PIXELS])
        qfz_faults_add(faults, e->x, e->y,
                       "label %llu: the polygon covers %lld pixels, but the region has %lld", label,
                       (long long)e->row_inside, (long long)e->of_region[PIXELS]);
    else if (row->n_sides != region->n_sides || row->sum != region->sum)
        qfz_faults_add(faults, e->x, e->y, "label %llu: the polygon is not the region's outline",
                       label);
}

static void compare_entry(const qfz_check_table *table, const entry *e, qfz_faults *faults)
{
    const unsigned long long label = e->label;
    if (e->n_regions == 0)
        qfz_faults_add(faults, -1, -1, "label %llu has a row in the %s, but no pixel", label,
                       table->noun);
    else if (e->n_rows == 0)
        qfz_faults_add(faults, e->x, e->y, "label %llu has no row in the %s", label, table->noun);
    else if (e->n_rows > 1)
        qfz_faults_add(faults, e->x, e->y, "label %llu has %llu rows in the %s", label,
                       (unsigned long long)e->n_rows, table->noun);
    else
        compare_values(table, e, faults);
    if (table->spec.has_polygons && e->n_regions == 1 && e->n_rows == 1)
        compare_outlines(e, faults);
}

qfz_status qfz_check_table_compare(qfz_check_table *table, qfz_faults *faults,
                                   qfz_job_progress *progress, qfz_error *err)
{
    const uint64_t *words;
    qfz_progress_begin(progress, "table", 0, 0);
    QFZ_TRY(read_rows(table, faults, progress, err));
    QFZ_TRY(qfz_gather_begin_reading(table->gather, err));
    for (uint64_t n = 1;; n++) {
        QFZ_TRY(qfz_gather_next(table->gather, &words, err));
        if (!words) return QFZ_OK;
        compare_entry(table, (const entry *)(const void *)words, faults);
        if (n % ROWS_PER_REPORT) continue;
        const double part = 0.5 + qfz_gather_part(table->gather) / 2;
        QFZ_TRY(qfz_progress_advance_to(progress, part, err));
    }
}

/* ------------------------------------------------------------------------------------- open, close
 */
static qfz_status make(qfz_check_table *table, qfz_error *err)
{
    const qfz_gather_format format = {.words = ENTRY_WORDS, .key_words = 1, .add = merge_words};
    const qfz_check_table_spec *const spec = &table->spec;
    QFZ_TRY(qfz_table_reader_open(&table->reader, spec->name, columns, 1 + VALUES,
                                  spec->allow_network, err));
    if (!qfz_table_reader_has(table->reader, 0))
        return qfz_fail(err, QFZ_EARG, "%s: no table of regions: it has no column \"%s\"",
                        spec->name, columns[0]);
    return qfz_gather_open(&table->gather, &format, 1, spec->bytes, spec->folder, err);
}

qfz_status qfz_check_table_open(qfz_check_table **table, const qfz_check_table_spec *spec,
                                qfz_error *err)
{
    qfz_check_table *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->spec = *spec;
    made->noun = spec->has_polygons ? "table of polygons" : "table";
    const qfz_status st = make(made, err);
    if (st == QFZ_OK)
        *table = made;
    else
        qfz_check_table_close(made);
    return st;
}

void qfz_check_table_close(qfz_check_table *table)
{
    if (!table) return;
    qfz_table_reader_close(table->reader);
    qfz_table_rings_fini(&table->rings);
    qfz_gather_close(table->gather);
    free(table);
}
