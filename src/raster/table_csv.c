/* SPDX-License-Identifier: MIT */
/* table_csv.c - tables as text, each batch of rows made into text by several threads.
 *
 * The separator is a comma; rows end with \n; null is an empty cell.  Text is quoted where it holds
 * a comma, a quote or an end of line, or is empty. */
#include <cpl_vsi.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/parallel.h"
#include "raster/error_trap.h"
#include "raster/number_text.h"
#include "raster/retry_vsi.h"
#include "raster/table_writer.h"

enum { ROWS_PER_PIECE = 1024 };

typedef struct csv_table {
    const qfz_table_target *target;
    VSILFILE *file;
    qfz_table_text *pieces;
    int64_t n_pieces;
    const qfz_table_rows *rows; /* of the batch being written */
} csv_table;

/* ---------------------------------------------------------------------------------------- cells */
static bool needs_quotes(const char *text)
{
    return text[0] == '\0' || strpbrk(text, ",\"\n\r\t") != NULL;
}

/* Most characters of a cell of this text. */
static int64_t text_room(const char *text)
{
    return text ? 2 * (int64_t)strlen(text) + 2 : 0;
}

static char *write_text(char *to, const char *text)
{
    if (!text) return to;
    const bool quotes = needs_quotes(text);
    if (quotes) *to++ = '"';
    for (; *text; text++) {
        if (*text == '"') *to++ = '"';
        *to++ = *text;
    }
    if (quotes) *to++ = '"';
    return to;
}

static char *write_cell(char *to, qfz_column_type type, const void *values, int64_t i)
{
    double real;
    int64_t whole;
    switch (type) {
    case QFZ_COLUMN_INT64:
    case QFZ_COLUMN_UINT64:
        whole = ((const int64_t *)values)[i];
        return whole == QFZ_COLUMN_NULL ? to : to + qfz_whole_write(to, whole);
    case QFZ_COLUMN_DOUBLE:
        real = ((const double *)values)[i];
        return isnan(real) ? to : to + qfz_real_write(to, real);
    case QFZ_COLUMN_STRING: break;
    }
    return write_text(to, ((const char *const *)values)[i]);
}

/* A row of one cell is never an empty line, which readers skip. */
static char *write_row(char *to, const qfz_table_spec *spec, const qfz_table_rows *rows, int64_t i)
{
    char *const start = to;
    for (int c = 0; c < spec->n_columns; c++) {
        to = write_cell(to, spec->columns[c].type, rows->columns[c], i);
        *to++ = ',';
    }
    if (spec->n_columns == 1 && to == start + 1) {
        memcpy(start, "\"\"", 2);
        to = start + 3;
    }
    to[-1] = '\n';
    return to;
}

/* --------------------------------------------------------------------------------------- pieces */
/* Most characters of rows first .. end - 1. */
static int64_t room_of(const qfz_table_spec *spec, const qfz_table_rows *rows, int64_t first,
                       int64_t end)
{
    int64_t bytes = 0;
    for (int c = 0; c < spec->n_columns; c++) {
        const char *const *const texts = rows->columns[c];
        bytes += (end - first) * (QFZ_NUMBER_BYTES + 1);
        for (int64_t i = first; i < end && spec->columns[c].type == QFZ_COLUMN_STRING; i++)
            bytes += text_room(texts[i]);
    }
    return bytes;
}

/* Makes the text of rows first .. end - 1. */
static qfz_status make_text(const qfz_table_spec *spec, const qfz_table_rows *rows, int64_t first,
                            int64_t end, qfz_table_text *text, qfz_error *err)
{
    const int64_t room = room_of(spec, rows, first, end);
    if (room > text->room) {
        QFZ_TRY(qfz_realloc((void **)&text->text, room, 1, err));
        text->room = room;
    }
    char *to = text->text;
    for (int64_t i = first; i < end; i++)
        to = write_row(to, spec, rows, i);
    text->n = to - text->text;
    return QFZ_OK;
}

static qfz_status make_piece(void *arg, int64_t item, int worker, qfz_error *err)
{
    const csv_table *const table = arg;
    const int64_t first = item * ROWS_PER_PIECE, left = table->rows->n - first;
    const int64_t end = first + (left < ROWS_PER_PIECE ? left : ROWS_PER_PIECE);
    (void)worker;
    return make_text(table->target->spec, table->rows, first, end, &table->pieces[item], err);
}

/* Pieces 0 .. n - 1 exist afterwards. */
static qfz_status add_pieces(csv_table *table, int64_t n, qfz_error *err)
{
    if (n <= table->n_pieces) return QFZ_OK;
    QFZ_TRY(qfz_realloc((void **)&table->pieces, n, sizeof *table->pieces, err));
    memset(table->pieces + table->n_pieces, 0,
           (size_t)(n - table->n_pieces) * sizeof *table->pieces);
    table->n_pieces = n;
    return QFZ_OK;
}

/* ----------------------------------------------------------------------------------------- file */
static qfz_status fail(const csv_table *table, const qfz_error_trap *trap, qfz_error *err)
{
    return qfz_error_trap_fail(trap, err, QFZ_EIO, table->target->path,
                               "a row could not be written");
}

static qfz_status put(const csv_table *table, const char *text, int64_t n, qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool ok = VSIFWriteL(text, 1, (size_t)n, table->file) == (size_t)n;
    qfz_error_trap_end(&trap);
    return ok && !trap.failed ? QFZ_OK : fail(table, &trap, err);
}

static qfz_status csv_prepare(const void *state, const qfz_table_rows *rows, qfz_table_text *text,
                              qfz_error *err)
{
    const csv_table *const table = state;
    return make_text(table->target->spec, rows, 0, rows->n, text, err);
}

static qfz_status csv_write_text(void *state, const qfz_table_text *text, qfz_error *err)
{
    return put(state, text->text, text->n, err);
}

static qfz_status csv_write(void *state, const qfz_table_rows *rows, qfz_error *err)
{
    csv_table *const table = state;
    const int64_t n = (rows->n + ROWS_PER_PIECE - 1) / ROWS_PER_PIECE;
    table->rows = rows;
    QFZ_TRY(add_pieces(table, n, err));
    QFZ_TRY(qfz_parallel_for(table->target->spec->n_threads, n, make_piece, table, err));
    for (int64_t i = 0; i < n; i++)
        QFZ_TRY(put(table, table->pieces[i].text, table->pieces[i].n, err));
    return QFZ_OK;
}

static qfz_status write_header(const csv_table *table, qfz_error *err)
{
    const qfz_table_spec *const spec = table->target->spec;
    char *text = NULL;
    int64_t room = 0;
    for (int c = 0; c < spec->n_columns; c++)
        room += text_room(spec->columns[c].name) + 1;
    QFZ_TRY(QFZ_NEW(&text, room, err));
    char *to = text;
    for (int c = 0; c < spec->n_columns; c++) {
        to = write_text(to, spec->columns[c].name);
        *to++ = c + 1 < spec->n_columns ? ',' : '\n';
    }
    const qfz_status st = put(table, text, to - text, err);
    free(text);
    return st;
}

static qfz_status open_file(csv_table *table, qfz_error *err)
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

static void csv_close(void *state)
{
    csv_table *const table = state;
    qfz_error_trap trap;
    if (!table) return;
    qfz_error_trap_begin(&trap);
    if (table->file) (void)VSIFCloseL(table->file);
    qfz_error_trap_end(&trap);
    for (int64_t i = 0; i < table->n_pieces; i++)
        qfz_table_text_fini(&table->pieces[i]);
    free(table->pieces);
    free(table);
}

static qfz_status csv_create(void **state, const qfz_table_target *target, qfz_error *err)
{
    csv_table *table = NULL;
    QFZ_TRY(QFZ_NEW_ZERO(&table, 1, err));
    table->target = target;
    qfz_status st = open_file(table, err);
    if (st == QFZ_OK) st = write_header(table, err);
    if (st == QFZ_OK)
        *state = table;
    else
        csv_close(table);
    return st;
}

static qfz_status csv_finish(void *state, qfz_error *err)
{
    csv_table *const table = state;
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const bool ok = VSIFCloseL(table->file) == 0;
    table->file = NULL;
    qfz_error_trap_end(&trap);
    return ok && !trap.failed ? QFZ_OK : fail(table, &trap, err);
}

const qfz_table_writer qfz_table_writer_csv = {.create = csv_create,
                                               .write = csv_write,
                                               .prepare = csv_prepare,
                                               .write_text = csv_write_text,
                                               .finish = csv_finish,
                                               .close = csv_close};
