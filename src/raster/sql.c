/* SPDX-License-Identifier: MIT */
#include "raster/sql.h"

#include <ogr_api.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "raster/error_trap.h"
#include "raster/number_text.h"
#include "raster/text.h"

/* SQLite parses a row of values into about a kilobyte. */
enum { STATEMENT_BYTES = 20000 };

qfz_status qfz_sql_run(GDALDatasetH dataset, const char *statement, const char *path,
                       qfz_error *err)
{
    qfz_error_trap trap;
    qfz_error_trap_begin(&trap);
    const OGRLayerH rows = GDALDatasetExecuteSQL(dataset, statement, NULL, NULL);
    if (rows) GDALDatasetReleaseResultSet(dataset, rows);
    qfz_error_trap_end(&trap);
    if (!trap.failed) return QFZ_OK;
    return qfz_error_trap_fail(&trap, err, QFZ_EIO, path, "a statement of SQL failed");
}

qfz_status qfz_sql_quote(char **quoted, const char *name, qfz_error *err)
{
    char *made = NULL;
    QFZ_TRY(QFZ_NEW(&made, 2 * (int64_t)strlen(name) + 3, err));
    char *to = made;
    *to++ = '"';
    for (; *name; name++) {
        if (*name == '"') *to++ = '"';
        *to++ = *name;
    }
    *to++ = '"';
    *to = '\0';
    *quoted = made;
    return QFZ_OK;
}

qfz_status qfz_sql_insert_init(qfz_sql_insert *insert, GDALDatasetH dataset, const char *table,
                               const char *path, qfz_error *err)
{
    *insert = (qfz_sql_insert){.dataset = dataset, .path = path};
    QFZ_TRY(qfz_text_print(&insert->text, err, "INSERT INTO %s VALUES ", table));
    insert->n = insert->n_head = insert->room = (int64_t)strlen(insert->text);
    return QFZ_OK;
}

void qfz_sql_insert_fini(qfz_sql_insert *insert)
{
    free(insert->text);
    *insert = (qfz_sql_insert){0};
}

qfz_status qfz_sql_insert_run(qfz_sql_insert *insert, qfz_error *err)
{
    if (insert->n == insert->n_head) return QFZ_OK;
    insert->text[insert->n - 1] = '\0'; /* the last comma */
    insert->n = insert->n_head;
    return qfz_sql_run(insert->dataset, insert->text, insert->path, err);
}

static qfz_status make_room(qfz_sql_insert *insert, int64_t n, qfz_error *err)
{
    if (insert->n + n > STATEMENT_BYTES) QFZ_TRY(qfz_sql_insert_run(insert, err));
    if (insert->n + n <= insert->room) return QFZ_OK;
    const int64_t room = insert->n + n > STATEMENT_BYTES ? insert->n + n : STATEMENT_BYTES;
    QFZ_TRY(qfz_realloc((void **)&insert->text, room, 1, err));
    insert->room = room;
    return QFZ_OK;
}

static void put(qfz_sql_insert *insert, const char *text)
{
    const size_t n = strlen(text);
    memcpy(insert->text + insert->n, text, n);
    insert->n += (int64_t)n;
}

static void put_whole(qfz_sql_insert *insert, int64_t value)
{
    insert->n += qfz_whole_write(insert->text + insert->n, value);
}

qfz_status qfz_sql_insert_pair(qfz_sql_insert *insert, int64_t a, int64_t b, qfz_error *err)
{
    QFZ_TRY(make_room(insert, 2 * QFZ_NUMBER_BYTES + 4, err));
    put(insert, "(");
    put_whole(insert, a);
    put(insert, ",");
    put_whole(insert, b);
    put(insert, "),");
    return QFZ_OK;
}

qfz_status qfz_sql_insert_blob(qfz_sql_insert *insert, int64_t a, const uint8_t *blob,
                               int64_t n_blob, qfz_error *err)
{
    static const char digits[] = "0123456789ABCDEF";
    QFZ_TRY(make_room(insert, QFZ_NUMBER_BYTES + 2 * n_blob + 8, err));
    put(insert, "(");
    put_whole(insert, a);
    put(insert, ",X'");
    for (int64_t i = 0; i < n_blob; i++) {
        insert->text[insert->n++] = digits[blob[i] >> 4];
        insert->text[insert->n++] = digits[blob[i] & 15];
    }
    put(insert, "'),");
    return QFZ_OK;
}
