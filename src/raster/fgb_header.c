/* SPDX-License-Identifier: MIT */
/* fgb_header.c - GDAL writes a table of one row into memory, whose header is taken over.
 *
 * The header is a FlatBuffer: a table that begins with the distance back to its vtable, which holds
 * the offset of each field in the table, 0 for one that is absent. */
#include "raster/fgb_header.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/temp_file.h"
#include "raster/error_trap.h"

enum { MAGIC_BYTES = 8, EXTENT_FIELD = 1, COUNT_FIELD = 8, NODE_SIZE_FIELD = 9 };

static uint32_t word_at(const qfz_fgb_header *h, int64_t at)
{
    uint32_t word = 0;
    if (at >= 0 && at + 4 <= h->n) memcpy(&word, h->bytes + at, 4);
    return word;
}

/* The place of a field; 0 if it is absent. */
static int64_t field_at(const qfz_fgb_header *h, int field)
{
    const int64_t start = MAGIC_BYTES + 4, table = start + word_at(h, start);
    const int64_t vtable = table - (int32_t)word_at(h, table);
    const int64_t entry = vtable + 4 + 2 * field;
    if (entry + 2 > vtable + (int64_t)(word_at(h, vtable) & 0xffff)) return 0;
    const int64_t offset = word_at(h, entry) & 0xffff;
    return offset ? table + offset : 0;
}

/* Finds the fields that are set later; false if this is not the expected header. */
static bool understand(qfz_fgb_header *h)
{
    const int64_t extent = field_at(h, EXTENT_FIELD);
    h->count_at = field_at(h, COUNT_FIELD);
    if (!extent || !h->count_at || field_at(h, NODE_SIZE_FIELD)) return false;
    h->extent_at = extent + word_at(h, extent) + 4;
    return word_at(h, h->count_at) == 1 && word_at(h, h->extent_at - 4) == 4 &&
           h->extent_at + 32 <= h->n;
}

static qfz_status write_model(const qfz_table_target *target, const char *path, qfz_error *err)
{
    static const double at[1] = {0};
    /* A multipolygon of one polygon of one ring of four points 0, 0. */
    static const uint8_t polygon[86] = {1, 6, 0, 0, 0, 1, 0, 0, 0, 1, 3, 0, 0, 0, 1, 0, 0, 0, 4};
    static const int64_t starts[2] = {0, sizeof polygon};
    const void **const columns = CPLCalloc((size_t)target->spec->n_columns + 1, sizeof *columns);
    int64_t *const values = CPLCalloc((size_t)target->spec->n_columns + 1, sizeof *values);
    const qfz_table_rows row = {
        .n = 1, .columns = columns, .x = at, .y = at, .wkb = polygon, .wkb_starts = starts};
    const qfz_table_writer *const writer = &qfz_table_writer_ogr;
    qfz_table_spec spec = *target->spec;
    qfz_table_target model = *target;
    void *state = NULL;
    spec.n_rows = 1;
    model.spec = &spec;
    model.temp = path;
    for (int c = 0; c < target->spec->n_columns; c++)
        columns[c] = &values[c]; /* a number 0, or no string */
    qfz_status st = writer->create(&state, &model, err);
    if (st == QFZ_OK) st = writer->write(state, &row, err);
    if (st == QFZ_OK) st = writer->finish(state, err);
    writer->close(state);
    CPLFree(columns);
    CPLFree(values);
    return st;
}

static qfz_status read_model(qfz_fgb_header *header, const char *path, qfz_error *err)
{
    vsi_l_offset n = 0;
    const GByte *const bytes = VSIGetMemFileBuffer(path, &n, FALSE);
    uint32_t size = 0;
    if (bytes && n > MAGIC_BYTES + 4) memcpy(&size, bytes + MAGIC_BYTES, 4);
    if (!bytes || n < size + MAGIC_BYTES + 4)
        return qfz_fail(err, QFZ_EIO, "%s: GDAL writes no FlatGeobuf header", path);
    header->n = MAGIC_BYTES + 4 + (int64_t)size;
    QFZ_TRY(QFZ_NEW(&header->bytes, header->n, err));
    memcpy(header->bytes, bytes, (size_t)header->n);
    return QFZ_OK;
}

qfz_status qfz_fgb_header_make(qfz_fgb_header *header, const qfz_table_target *target,
                               qfz_error *err)
{
    char number[QFZ_RANDOM_BYTES];
    qfz_fgb_header made = {0};
    QFZ_TRY(qfz_random_name(number, err));
    char *const path = CPLStrdup(CPLSPrintf("/vsimem/qfz-%s.fgb", number));
    qfz_status st = write_model(target, path, err);
    if (st == QFZ_OK) st = read_model(&made, path, err);
    (void)VSIUnlink(path);
    CPLFree(path);
    if (st == QFZ_OK && !understand(&made))
        st = qfz_fail(err, QFZ_EIO,
                      "%s: GDAL writes a FlatGeobuf header that this version of qfz does not know; "
                      "use .gpkg",
                      target->path);
    if (st == QFZ_OK)
        *header = made;
    else
        free(made.bytes);
    return st;
}

void qfz_fgb_header_set(qfz_fgb_header *header, int64_t n_features, const qfz_extent *extent)
{
    const double corners[4] = {extent->x0, extent->y0, extent->x1, extent->y1};
    memcpy(header->bytes + header->count_at, &n_features, sizeof n_features);
    memcpy(header->bytes + header->extent_at, corners, sizeof corners);
}
