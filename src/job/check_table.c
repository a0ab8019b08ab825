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
} entry;

enum { ENTRY_WORDS = sizeof(entry) / sizeof(uint64_t) };

struct qfz_check_table {
    const char *name;
    qfz_table_reader *reader;
    qfz_gather *gather;
    uint64_t n_regions, n_rows;
};

/* ------------------------------------------------------------------------------------- gathering
 */
static void merge(entry *into, const entry *more)
{
    if (into->n_rows == 0) memcpy(into->of_row, more->of_row, sizeof into->of_row);
    if (into->n_regions == 0) {
        into->x = more->x;
        into->y = more->y;
        memcpy(into->of_region, more->of_region, sizeof into->of_region);
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
        .of_region = {(int64_t)region->pixels, region->x0, region->y0, region->x1, region->y1}};
    table->n_regions++;
    return gather(table, &more, err);
}

static qfz_status add_row(qfz_check_table *table, const int64_t *values, qfz_faults *faults,
                          qfz_error *err)
{
    table->n_rows++;
    if (values[0] == QFZ_COLUMN_NULL) {
        qfz_faults_add(faults, -1, -1, "row %llu of the table: the label is no whole number",
                       (unsigned long long)table->n_rows);
        return QFZ_OK;
    }
    if (values[0] <= 0) {
        qfz_faults_add(faults, -1, -1, "row %llu of the table: label %lld, which no region has",
                       (unsigned long long)table->n_rows, (long long)values[0]);
        return QFZ_OK;
    }
    entry more = {.label = (uint64_t)values[0], .n_rows = 1};
    memcpy(more.of_row, values + 1, sizeof more.of_row);
    return gather(table, &more, err);
}

static qfz_status read_rows(qfz_check_table *table, qfz_faults *faults, qfz_job_progress *progress,
                            qfz_error *err)
{
    for (;;) {
        int64_t values[1 + VALUES];
        bool more;
        QFZ_TRY(qfz_table_reader_next(table->reader, values, &more, err));
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
                           "label %llu: %s is no whole number in the table, but %lld in the raster",
                           (unsigned long long)e->label, column, (long long)e->of_region[i]);
        else
            qfz_faults_add(faults, e->x, e->y,
                           "label %llu: %s is %lld in the table, but %lld in the raster",
                           (unsigned long long)e->label, column, (long long)e->of_row[i],
                           (long long)e->of_region[i]);
    }
}

static void compare_entry(const qfz_check_table *table, const entry *e, qfz_faults *faults)
{
    const unsigned long long label = e->label;
    if (e->n_regions == 0)
        qfz_faults_add(faults, -1, -1, "label %llu has a row in the table, but no pixel", label);
    else if (e->n_rows == 0)
        qfz_faults_add(faults, e->x, e->y, "label %llu has no row in the table", label);
    else if (e->n_rows > 1)
        qfz_faults_add(faults, e->x, e->y, "label %llu has %llu rows in the table", label,
                       (unsigned long long)e->n_rows);
    else
        compare_values(table, e, faults);
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
static qfz_status make(qfz_check_table *table, bool allow_network, int64_t bytes,
                       const char *folder, qfz_error *err)
{
    const qfz_gather_format format = {.words = ENTRY_WORDS, .key_words = 1, .add = merge_words};
    QFZ_TRY(qfz_table_reader_open(&table->reader, table->name, columns, 1 + VALUES, allow_network,
                                  err));
    if (!qfz_table_reader_has(table->reader, 0))
        return qfz_fail(err, QFZ_EARG, "%s: no table of regions: it has no column \"%s\"",
                        table->name, columns[0]);
    return qfz_gather_open(&table->gather, &format, 1, bytes, folder, err);
}

qfz_status qfz_check_table_open(qfz_check_table **table, const char *name, bool allow_network,
                                int64_t bytes, const char *folder, qfz_error *err)
{
    qfz_check_table *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->name = name;
    const qfz_status st = make(made, allow_network, bytes, folder, err);
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
    qfz_gather_close(table->gather);
    free(table);
}
