/* SPDX-License-Identifier: MIT */
#include "raster/attributes.h"

#include <cpl_string.h>
#include <gdal.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/object_store.h"
#include "raster/output_format.h"
#include "raster/sink_blocks.h"

struct qfz_attributes {
    const char *path; /* of the raster */
    GDALRasterAttributeTableH table;
    qfz_column_type *types;
    int n_columns;
    bool is_by_row; /* row i belongs to value i: row 0 is of no region */
    int64_t n;      /* rows added */
};

qfz_status qfz_attributes_check(const char *format, const char *path, qfz_error *err)
{
    const char *name;
    QFZ_TRY(qfz_output_format(format, path, &name, err));
    if (qfz_object_is(path))
        return qfz_fail(err, QFZ_EARG,
                        "%s: an object gets no attribute table; name a local file, or leave out "
                        "--attribute-table and join the table by its column label",
                        path);
    if (EQUAL(name, "GTiff") || EQUAL(name, "HFA") || EQUAL(name, "KEA")) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: a raster of the format %s gets no attribute table; use .tif or .img, or "
                    "leave out --attribute-table and join the table by its column label",
                    path, name);
}

/* GDAL has the table and, for a GTiff, its XML in memory: 24,368 rows of 19 columns took about 100
 * MB with GDAL 3.6. */
enum { CELL_BYTES = 260 };

int64_t qfz_attributes_bytes(int64_t n_columns, int64_t n_rows)
{
    return n_columns * n_rows * CELL_BYTES;
}

qfz_status qfz_attributes_check_rows(const char *path, int n_columns, int64_t n_rows,
                                     int64_t memory_bytes, qfz_error *err)
{
    if (n_rows > QFZ_ATTRIBUTE_ROWS)
        return qfz_fail(err, QFZ_EARG,
                        "%s: there are %lld regions, and an attribute table holds %d; leave out "
                        "--attribute-table and join the table by its column label, or ask for "
                        "larger regions (--min-area)",
                        path, (long long)n_rows, QFZ_ATTRIBUTE_ROWS);
    const int64_t bytes = qfz_attributes_bytes(n_columns, n_rows);
    if (bytes <= memory_bytes) return QFZ_OK;
    return qfz_fail(err, QFZ_ENOMEM,
                    "%s: an attribute table of %lld rows and %d columns takes about %.0f MB, and "
                    "--memory leaves %lld MB for it; name fewer columns by --columns",
                    path, (long long)n_rows, n_columns, (double)bytes / 1e6,
                    (long long)memory_bytes / 1000000);
}

/* ------------------------------------------------------------------------------------------ rows
 */
/* Whole numbers of GDAL's attribute tables have 32 bits: enough for labels only. */
static bool add_column(qfz_attributes *a, const qfz_column *column)
{
    const bool is_label = strcmp(column->name, "label") == 0;
    const bool is_count = strcmp(column->name, "pixels") == 0;
    const char *const name = is_label ? "Value" : is_count ? "Count" : column->name;
    const GDALRATFieldUsage usage = is_label ? GFU_MinMax : is_count ? GFU_PixelCount : GFU_Generic;
    const GDALRATFieldType type = is_label                            ? GFT_Integer
                                  : column->type == QFZ_COLUMN_STRING ? GFT_String
                                                                      : GFT_Real;
    return GDALRATCreateColumn(a->table, name, type, usage) == CE_None;
}

static qfz_status create(qfz_attributes *a, const qfz_column *columns, int n_columns,
                         int64_t n_rows, qfz_error *err)
{
    qfz_error_trap trap;
    bool has_label = false;
    QFZ_TRY(QFZ_NEW(&a->types, n_columns, err));
    qfz_error_trap_begin(&trap);
    a->table = GDALCreateRasterAttributeTable();
    bool ok = a->table && GDALRATSetTableType(a->table, GRTT_THEMATIC) == CE_None;
    for (int c = 0; c < n_columns && ok; c++) {
        a->types[c] = columns[c].type;
        has_label |= strcmp(columns[c].name, "label") == 0;
        ok = add_column(a, &columns[c]);
    }
    if (ok) GDALRATSetRowCount(a->table, (int)n_rows + a->is_by_row);
    qfz_error_trap_end(&trap);
    if (!ok || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, a->path,
                                   "its attribute table could not be made");
    if (has_label) return QFZ_OK;
    return qfz_fail(err, QFZ_EARG,
                    "%s: an attribute table needs the column label; name it in --columns", a->path);
}

qfz_status qfz_attributes_open(qfz_attributes **attributes, const char *format, const char *path,
                               const qfz_column *columns, int n_columns, int64_t n_rows,
                               qfz_error *err)
{
    qfz_attributes *made = NULL;
    const char *name;
    QFZ_TRY(qfz_output_format(format, path, &name, err));
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    *made =
        (qfz_attributes){.path = path, .n_columns = n_columns, .is_by_row = !EQUAL(name, "GTiff")};
    const qfz_status st = create(made, columns, n_columns, n_rows, err);
    if (st == QFZ_OK)
        *attributes = made;
    else
        qfz_attributes_close(made);
    return st;
}

void qfz_attributes_close(qfz_attributes *attributes)
{
    if (!attributes) return;
    if (attributes->table) GDALDestroyRasterAttributeTable(attributes->table);
    free(attributes->types);
    free(attributes);
}

static void set_cell(const qfz_attributes *a, int row, int column, const void *values, int64_t i)
{
    switch (a->types[column]) {
    case QFZ_COLUMN_INT64: {
        const int64_t value = ((const int64_t *)values)[i];
        GDALRATSetValueAsDouble(a->table, row, column,
                                value == QFZ_COLUMN_NULL ? NAN : (double)value);
        break;
    }
    case QFZ_COLUMN_UINT64:
        GDALRATSetValueAsDouble(a->table, row, column, (double)((const uint64_t *)values)[i]);
        break;
    case QFZ_COLUMN_DOUBLE:
        GDALRATSetValueAsDouble(a->table, row, column, ((const double *)values)[i]);
        break;
    case QFZ_COLUMN_STRING: {
        const char *const text = ((const char *const *)values)[i];
        GDALRATSetValueAsString(a->table, row, column, text ? text : "");
        break;
    }
    }
}

qfz_status qfz_attributes_add(qfz_attributes *attributes, const qfz_table_rows *rows,
                              qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    for (int64_t i = 0; i < rows->n; i++, attributes->n++)
        for (int c = 0; c < attributes->n_columns; c++)
            set_cell(attributes, (int)attributes->n + attributes->is_by_row, c, rows->columns[c],
                     i);
    qfz_error_trap_end(&trap);
    if (!trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, attributes->path,
                               "its attribute table could not be made");
}

qfz_status qfz_attributes_write(const qfz_attributes *attributes, qfz_sink *sink, qfz_error *err)
{
    qfz_error_trap trap;
    QFZ_TRY(qfz_sink_blocks_end(sink, true, err));
    qfz_error_trap_begin(&trap);
    const bool ok =
        GDALSetDefaultRAT(GDALGetRasterBand(sink->dataset, 1), attributes->table) == CE_None;
    qfz_error_trap_end(&trap);
    if (!ok || trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path,
                                   "its attribute table could not be written");
    sink->n_attributes = attributes->n + attributes->is_by_row;
    return QFZ_OK;
}

qfz_status qfz_sink_check_attributes(const qfz_sink *sink, qfz_error *err)
{
    qfz_error_trap trap;
    if (sink->n_attributes == 0) return QFZ_OK;
    qfz_error_trap_begin(&trap);
    const GDALDatasetH file =
        GDALOpenEx(sink->temp, GDAL_OF_RASTER | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    const GDALRasterAttributeTableH table =
        file ? GDALGetDefaultRAT(GDALGetRasterBand(file, 1)) : NULL;
    const int n = table ? GDALRATGetRowCount(table) : 0;
    if (file) GDALClose(file);
    qfz_error_trap_end(&trap);
    if (n == sink->n_attributes) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, sink->path,
                               "its attribute table could not be written (GDAL_PAM_ENABLED must "
                               "not be NO)");
}
