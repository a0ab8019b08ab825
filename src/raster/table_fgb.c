/* SPDX-License-Identifier: MIT */
/* table_fgb.c - points or multipolygons with attributes as FlatGeobuf, in one pass.
 *
 * Header, index and features lie in the file in this order.  The number of rows, known before,
 * gives the size of the index; so features are written once, behind the place of the index.  Each
 * 2^14 rows (fewer, if they are large) are sorted along a Hilbert curve, as features must lie in
 * the order of the index. */
#include <cpl_vsi.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/fgb_header.h"
#include "raster/fgb_index.h"
#include "raster/fgb_polygons.h"
#include "raster/retry_vsi.h"
#include "raster/table_writer.h"

enum { ROWS = 1 << 14, WAITING_BYTES = 1 << 23, OUT_BYTES = 1 << 18, CELL_BYTES = 10 };

/* A feature before its attributes: its size; the FlatBuffer of a feature with geometry and
 * properties, of a geometry with xy, and the vector xy; then the length of the properties.  All
 * numbers are little-endian, offsets relative to their place. */
enum { SIZE_AT = 0, X_AT = 48, Y_AT = 56, PROPERTIES_AT = 64, FEATURE_BYTES = 68 };

typedef struct fgb_table {
    const qfz_table_target *target;
    VSILFILE *file;
    qfz_fgb_header header;
    qfz_fgb_index *index;
    int64_t features_at; /* in the file */
    int64_t n_rows;      /* so far */
    int64_t n_bytes;     /* of the features in the file */

    int64_t n; /* rows that wait */
    char *features;
    int64_t used, room;
    int64_t *starts; /* of each feature that waits, and the end of the last */
    qfz_extent *boxes;
    uint32_t *order;
    uint64_t *keys;
    char *out;
} fgb_table;

/* ------------------------------------------------------------------------------------- features */
static char *put_16(char *to, uint16_t value)
{
    memcpy(to, &value, sizeof value);
    return to + sizeof value;
}

static char *put_32(char *to, uint32_t value)
{
    memcpy(to, &value, sizeof value);
    return to + sizeof value;
}

static char *put_64(char *to, const void *value)
{
    memcpy(to, value, 8);
    return to + 8;
}

/* Most bytes of a row. */
static int64_t room_of(const qfz_table_spec *spec, const qfz_table_rows *rows, int64_t i)
{
    int64_t bytes = FEATURE_BYTES + spec->n_columns * (int64_t)CELL_BYTES + 8;
    if (spec->geometry == QFZ_MULTIPOLYGONS)
        bytes += qfz_fgb_polygons_room(rows->wkb + rows->wkb_starts[i],
                                       rows->wkb_starts[i + 1] - rows->wkb_starts[i]);
    for (int c = 0; c < spec->n_columns; c++) {
        const char *const *const texts = rows->columns[c];
        if (spec->columns[c].type == QFZ_COLUMN_STRING && texts[i])
            bytes += (int64_t)strlen(texts[i]);
    }
    return bytes;
}

/* The number of the column and its value; nothing for null. */
static char *put_cell(char *to, qfz_column_type type, int column, const void *values, int64_t i)
{
    if (type == QFZ_COLUMN_STRING) {
        const char *const text = ((const char *const *)values)[i];
        if (!text) return to;
        const size_t n = strlen(text);
        to = put_32(put_16(to, (uint16_t)column), (uint32_t)n);
        memcpy(to, text, n);
        return to + n;
    }
    if (type == QFZ_COLUMN_DOUBLE && isnan(((const double *)values)[i])) return to;
    if (type != QFZ_COLUMN_DOUBLE && ((const int64_t *)values)[i] == QFZ_COLUMN_NULL) return to;
    return put_64(put_16(to, (uint16_t)column), (const char *)values + 8 * i);
}

/* A feature up to its properties, as qfz_fgb_put_polygons(). */
static char *put_point(char *start, double x, double y)
{
    char *to = put_32(start + 4, 12); /* the feature begins 12 bytes after this offset, at 16 */
    to = put_16(put_16(to, 8), 12);   /* its vtable of 8 bytes: the feature has 12 bytes, */
    to = put_16(put_16(to, 4), 8);    /* the geometry at its byte 4, the properties at 8 */
    to = put_32(to, 8);               /* at 16: the vtable lies 8 bytes before */
    to = put_32(to, 16);              /* the geometry lies at 20 + 16 */
    to = put_32(to, PROPERTIES_AT - 24);
    to = put_16(put_16(to, 8), 8); /* at 28: the vtable of the geometry, which has 8 bytes, */
    to = put_16(put_16(to, 0), 4); /* no ends, and xy at its byte 4 */
    to = put_32(to, 8);            /* at 36: the vtable lies 8 bytes before */
    to = put_32(to, 4);            /* xy lies at 40 + 4 */
    to = put_32(to, 2);            /* two numbers */
    return put_64(put_64(to, &x), &y);
}

static char *put_feature(char *start, const qfz_table_spec *spec, const qfz_table_rows *rows,
                         int64_t i, qfz_extent *box)
{
    char *length;
    if (spec->geometry == QFZ_MULTIPOLYGONS) {
        length = qfz_fgb_put_polygons(start, rows->wkb + rows->wkb_starts[i], box);
    } else {
        *box = (qfz_extent){rows->x[i], rows->y[i], rows->x[i], rows->y[i]};
        length = put_point(start, rows->x[i], rows->y[i]);
    }
    char *to = length + 4;
    for (int c = 0; c < spec->n_columns; c++)
        to = put_cell(to, spec->columns[c].type, c, rows->columns[c], i);
    (void)put_32(length, (uint32_t)(to - length - 4));
    while ((to - start) % 8 != 0)
        *to++ = 0;
    (void)put_32(start + SIZE_AT, (uint32_t)(to - start - 4));
    return to;
}

/* ----------------------------------------------------------------------------------------- file */
static bool put(VSILFILE *file, const void *bytes, int64_t n)
{
    return VSIFWriteL(bytes, 1, (size_t)n, file) == (size_t)n;
}

/* Writes the features that wait, in the order of the curve, and their leaves. */
static bool flush(fgb_table *table)
{
    int64_t n_out = 0;
    const int64_t start = table->features_at + table->n_bytes;
    if (VSIFSeekL(table->file, (vsi_l_offset)start, SEEK_SET) != 0) return false;
    qfz_hilbert_order(table->boxes, table->n, table->order, table->keys);
    for (int64_t k = 0; k < table->n; k++) {
        const uint32_t i = table->order[k];
        const char *const feature = table->features + table->starts[i];
        const int64_t n = table->starts[i + 1] - table->starts[i];
        if (n_out + n > OUT_BYTES && !put(table->file, table->out, n_out)) return false;
        if (n_out + n > OUT_BYTES) n_out = 0;
        if (n > OUT_BYTES) {
            if (!put(table->file, feature, n)) return false;
        } else {
            memcpy(table->out + n_out, feature, (size_t)n);
            n_out += n;
        }
    }
    if (!put(table->file, table->out, n_out)) return false;
    for (int64_t k = 0; k < table->n; k++) {
        const uint32_t i = table->order[k];
        if (!qfz_fgb_index_add(table->index, &table->boxes[i], table->n_bytes)) return false;
        table->n_bytes += table->starts[i + 1] - table->starts[i];
    }
    table->n = table->used = 0;
    return true;
}

static qfz_status fail(const fgb_table *table, const qfz_error_trap *trap, qfz_error *err)
{
    return qfz_error_trap_fail(trap, err, QFZ_EIO, table->target->path,
                               "a row could not be written");
}

static qfz_status flush_checked(fgb_table *table, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool ok = flush(table);
    qfz_error_trap_end(&trap);
    return ok && !trap.failed ? QFZ_OK : fail(table, &trap, err);
}

static qfz_status add_row(fgb_table *table, const qfz_table_rows *rows, int64_t i, qfz_error *err)
{
    const qfz_table_spec *const spec = table->target->spec;
    const int64_t most = room_of(spec, rows, i), needed = table->used + most;
    if (most > INT32_MAX)
        return qfz_fail(err, QFZ_EARG, "%s: a row of %lld bytes; FlatGeobuf holds 2 GB in a row",
                        table->target->path, (long long)most);
    if (needed > table->room) {
        const int64_t room = needed < WAITING_BYTES / 2 ? WAITING_BYTES : 2 * needed;
        QFZ_TRY(qfz_realloc((void **)&table->features, room, 1, err));
        table->room = room;
    }
    char *const start = table->features + table->used;
    table->starts[table->n] = table->used;
    table->used += put_feature(start, spec, rows, i, &table->boxes[table->n]) - start;
    table->starts[++table->n] = table->used;
    table->n_rows++;
    return table->n == ROWS || table->used >= WAITING_BYTES ? flush_checked(table, err) : QFZ_OK;
}

static qfz_status fgb_write(void *state, const qfz_table_rows *rows, qfz_error *err)
{
    fgb_table *const table = state;
    if (table->n_rows + rows->n > table->target->spec->n_rows)
        return qfz_fail(err, QFZ_EARG, "%s: more rows come than were announced",
                        table->target->path);
    for (int64_t i = 0; i < rows->n; i++)
        QFZ_TRY(add_row(table, rows, i, err));
    return QFZ_OK;
}

/* ------------------------------------------------------------------------------- begin and end */
static qfz_status open_file(fgb_table *table, qfz_error *err)
{
    char *name = NULL;
    qfz_error_trap trap;
    QFZ_TRY(qfz_retry_vsi_name(&name, table->target->temp, &table->target->retry, err));
    qfz_error_trap_begin(&trap);
    table->file = VSIFOpenL(name, "wb");
    qfz_error_trap_end(&trap);
    free(name);
    if (table->file) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, table->target->path,
                               "the table could not be created");
}

static qfz_status open_table(fgb_table *table, qfz_error *err)
{
    QFZ_TRY(qfz_fgb_header_make(&table->header, table->target, err));
    QFZ_TRY(QFZ_NEW(&table->starts, ROWS + 1, err));
    QFZ_TRY(QFZ_NEW(&table->boxes, ROWS, err));
    QFZ_TRY(QFZ_NEW(&table->order, ROWS, err));
    QFZ_TRY(QFZ_NEW(&table->keys, ROWS, err));
    QFZ_TRY(QFZ_NEW(&table->out, OUT_BYTES, err));
    QFZ_TRY(open_file(table, err));
    QFZ_TRY(qfz_fgb_index_open(&table->index, table->file, table->header.n,
                               table->target->spec->n_rows, err));
    table->features_at = table->header.n + qfz_fgb_index_bytes(table->index);
    return QFZ_OK;
}

static void fgb_close(void *state)
{
    fgb_table *const table = state;
    qfz_error_trap trap;
    if (!table) return;
    qfz_error_trap_begin(&trap);
    if (table->file) (void)VSIFCloseL(table->file);
    qfz_error_trap_end(&trap);
    qfz_fgb_index_close(table->index);
    free(table->header.bytes);
    free(table->features);
    free(table->starts);
    free(table->boxes);
    free(table->order);
    free(table->keys);
    free(table->out);
    free(table);
}

static qfz_status fgb_create(void **state, const qfz_table_target *target, qfz_error *err)
{
    fgb_table *table = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&table, 1, err));
    table->target = target;
    const qfz_status st = open_table(table, err);
    if (st == QFZ_OK)
        *state = table;
    else
        fgb_close(table);
    return st;
}

/* The header is written last, when the extent is known. */
static bool finish(fgb_table *table)
{
    if (!flush(table) || !qfz_fgb_index_finish(table->index)) return false;
    const qfz_extent all = qfz_fgb_index_extent(table->index);
    qfz_fgb_header_set(&table->header, table->n_rows, &all);
    if (VSIFSeekL(table->file, 0, SEEK_SET) != 0) return false;
    if (!put(table->file, table->header.bytes, table->header.n)) return false;
    const bool ok = VSIFCloseL(table->file) == 0;
    table->file = NULL;
    return ok;
}

static qfz_status fgb_finish(void *state, qfz_error *err)
{
    fgb_table *const table = state;
    qfz_error_trap trap;
    if (table->n_rows != table->target->spec->n_rows)
        return qfz_fail(err, QFZ_EARG, "%s: %lld rows came, %lld were announced",
                        table->target->path, (long long)table->n_rows,
                        (long long)table->target->spec->n_rows);
    qfz_error_trap_begin(&trap);
    const bool ok = finish(table);
    qfz_error_trap_end(&trap);
    return ok && !trap.failed ? QFZ_OK : fail(table, &trap, err);
}

const qfz_table_writer qfz_table_writer_fgb = {
    .create = fgb_create, .write = fgb_write, .finish = fgb_finish, .close = fgb_close};
