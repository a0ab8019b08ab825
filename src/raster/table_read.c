/* SPDX-License-Identifier: MIT */
#include "raster/table_read.h"

#include <errno.h>
#include <gdal.h>
#include <math.h>
#include <ogr_api.h>
#include <stdlib.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/network.h"
#include "raster/table.h"
#include "raster/text.h"

struct qfz_table_reader {
    GDALDatasetH dataset;
    OGRLayerH layer;
    char *name;
    int n;
    int *fields; /* the field of each column; -1: there is none */
};

static qfz_status open_layer(qfz_table_reader *reader, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    reader->dataset = GDALOpenEx(
        reader->name, GDAL_OF_VECTOR | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR, NULL, NULL, NULL);
    if (reader->dataset) reader->layer = GDALDatasetGetLayer(reader->dataset, 0);
    qfz_error_trap_end(&trap);
    if (!reader->layer)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, reader->name,
                                   "not a table that GDAL can open");
    return QFZ_OK;
}

static qfz_status make(qfz_table_reader *reader, const char *name, const char *const *columns,
                       bool allow_network, qfz_error *err)
{
    QFZ_TRY(qfz_text_copy(&reader->name, name, err));
    QFZ_TRY(QFZ_NEW(&reader->fields, reader->n, err));
    QFZ_TRY(qfz_network_check(name, allow_network, err));
    QFZ_TRY(open_layer(reader, err));
    const OGRFeatureDefnH row = OGR_L_GetLayerDefn(reader->layer);
    for (int i = 0; i < reader->n; i++)
        reader->fields[i] = OGR_FD_GetFieldIndex(row, columns[i]);
    return QFZ_OK;
}

qfz_status qfz_table_reader_open(qfz_table_reader **reader, const char *name,
                                 const char *const *columns, int n, bool allow_network,
                                 qfz_error *err)
{
    qfz_table_reader *made = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&made, 1, err));
    made->n = n;
    const qfz_status st = make(made, name, columns, allow_network, err);
    if (st == QFZ_OK)
        *reader = made;
    else
        qfz_table_reader_close(made);
    return st;
}

void qfz_table_reader_close(qfz_table_reader *reader)
{
    qfz_error_trap trap;
    if (!reader) return;
    qfz_error_trap_begin(&trap);
    if (reader->dataset) GDALClose(reader->dataset);
    qfz_error_trap_end(&trap);
    free(reader->fields);
    free(reader->name);
    free(reader);
}

bool qfz_table_reader_has(const qfz_table_reader *reader, int i)
{
    return reader->fields[i] >= 0;
}

static int64_t of_text(const char *text)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return end == text || *end != '\0' || errno != 0 ? QFZ_COLUMN_NULL : value;
}

static int64_t of_real(double value)
{
    return fabs(value) < 0x1p63 && value == floor(value) ? (int64_t)value : QFZ_COLUMN_NULL;
}

/* Formats without types, CSV for example, have text in every column. */
static int64_t read_field(OGRFeatureH row, int field)
{
    if (field < 0 || !OGR_F_IsFieldSetAndNotNull(row, field)) return QFZ_COLUMN_NULL;
    switch (OGR_Fld_GetType(OGR_F_GetFieldDefnRef(row, field))) {
    case OFTInteger:
    case OFTInteger64: return OGR_F_GetFieldAsInteger64(row, field);
    case OFTReal: return of_real(OGR_F_GetFieldAsDouble(row, field));
    case OFTString: return of_text(OGR_F_GetFieldAsString(row, field));
    default: return QFZ_COLUMN_NULL;
    }
}

qfz_status qfz_table_reader_next(qfz_table_reader *reader, int64_t *values, qfz_table_rings *rings,
                                 const double transform[6], bool *more, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_status st = QFZ_OK;
    qfz_error_trap_begin(&trap);
    const OGRFeatureH row = OGR_L_GetNextFeature(reader->layer);
    for (int i = 0; row && i < reader->n; i++)
        values[i] = read_field(row, reader->fields[i]);
    *more = row != NULL;
    if (row && rings) st = qfz_table_rings_read(rings, OGR_F_GetGeometryRef(row), transform, err);
    if (row) OGR_F_Destroy(row);
    qfz_error_trap_end(&trap);
    if (trap.failed)
        return qfz_error_trap_fail(&trap, err, QFZ_EIO, reader->name, "it cannot be read");
    return st;
}
